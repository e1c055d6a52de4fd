// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a host's Ethernet port says of congestion, as shares: who pauses whom, how much was marked, what really arrived.

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/congestion/port_marks.hpp"
#include "analyzer/ports/host_watch.hpp"
#include "analyzer/thresholds/congestion.hpp"

namespace weft::analyzer {

inline constexpr std::size_t kPriorities = 8;  ///< IEEE 802.1Q priority code points

/// Of one port, between its last two readings. What could not be told from them is nullopt, not 0.
struct PortSignals {
  /// Share of the time (0..1) in which the port told its peer to pause a priority, or the whole link (IEEE 802.1Qbb,
  /// 802.3x): it does not take what comes.
  std::array<std::optional<double>, kPriorities> pause_sent;
  /// … in which it was told to pause: what is behind its peer does not take what it sends.
  std::array<std::optional<double>, kPriorities> pause_received;
  std::optional<double> link_pause_sent, link_pause_received;
  /// Share of the packets received that a switch on the way marked (RFC 3168's congestion experienced).
  std::optional<double> marked;
  /// Share of the packets sent that the port itself marked so, where a collector runs on a switch.
  std::optional<double> marks_made;
  /// Congestion notification packets obeyed for each packet sent (InfiniBand Architecture, vol. 1, A17.9.3): how hard
  /// its senders are held back.
  std::optional<double> notified;
  std::optional<double> notifications_per_second;  ///< the same by time
  std::optional<double> sent_bits_per_second, received_bits_per_second;
  /// What was sent and did not have to be sent again, bits per second. Counts retransmits as packets of mean length.
  std::optional<double> goodput_bits_per_second;

  /// The greatest of the pauses sent, and its priority (none: the whole link).
  struct Pause {
    double share = 0;
    std::optional<unsigned> priority;
  };
  /// Nullopt when no pause could be told from the last two readings.
  std::optional<Pause> worst_pause_sent() const;
};

/// The signals of all ports of hosts, and what a port that stands on no watched fabric says alone.
class HostSignals {
 public:
  /// Keeps a copy of its limits.
  explicit HostSignals(const CongestionThresholds& thresholds) : thresholds_(thresholds) {}

  /// The host's series or ports are others; `followed` gets the positions of what is asked for.
  void follow(const HostWatch& host, std::vector<std::uint32_t>& followed);
  /// Makes signals of what moved since the reading before. A gap of more than ten intervals, a counter that was reset
  /// or not read leaves out what it is part of. Not for readings that are history.
  void take(const HostWatch& host, const HostMovement& movement);
  /// The port's signals of the last reading.
  const PortSignals& of(const PortWatch& port) const { return ports_[port.slot].now; }

  /// The port's marks of the last reading; nullopt where it tells none, or was not read for long.
  std::optional<PortMarks> marks(const HostWatch& host, const PortWatch& port, TimePoint now) const;

  /// SLOW_RECEIVER and PFC_STORM of a port that stands on no watched fabric: there its own pauses are all that is
  /// known.
  void report(const HostWatch& host, const PortWatch& port, TimePoint now, std::vector<Finding>& findings) const;
  /// Adds to congestion of a fabric what the port where it ends tells of it.
  void add(const PortWatch& port, TimePoint now, Finding& finding) const;

 private:
  /// The greatest in half a minute, for explaining what a fabric's sweeps say, and when it was.
  struct Peak {
    double value = 0;
    TimePoint seen = kNever;
  };
  struct Signals {
    PortSignals now;
    TimePoint taken = kNever;  ///< the reading of `now`
    std::bitset<5> slow{};     ///< of the last five readings: the port made its peer wait for long; bit 0 is the last
    unsigned storm_readings = 0;  ///< in a row in which it took nothing at all
    Peak pause_sent, marked, notified;
    std::vector<FollowedSeries<std::uint8_t>> followed;
  };

  static void raise(Peak& peak, const std::optional<double>& value, TimePoint at);

  CongestionThresholds thresholds_;
  PerPort<Signals> ports_;
};

}  // namespace weft::analyzer
