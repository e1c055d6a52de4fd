// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a host's Ethernet port says of congestion, as shares: who pauses whom, how much was marked, what really arrived.

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/ports/series_movement.hpp"
#include "analyzer/thresholds/thresholds.hpp"
#include "fabric/host.hpp"
#include "fabric/incident.hpp"

namespace weft::analyzer {

struct HostWatch;
struct PortWatch;

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
  /// Congestion notification packets obeyed for each packet sent (InfiniBand Architecture, vol. 1, A17.9.3): how hard
  /// its senders are held back.
  std::optional<double> notified;
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

/// The signals of one port, and what the last readings were.
struct SignalWatch {
  PortSignals now;
  TimePoint taken = kNever;  ///< the reading of `now`
  std::bitset<5> slow{};     ///< of the last five readings: the port made its peer wait for long; bit 0 is the last one
  unsigned storm_readings = 0;  ///< in a row in which it took nothing at all
  /// The greatest in half a minute, for explaining what a fabric's sweeps say, and when it was.
  struct Peak {
    double value = 0;
    TimePoint seen = kNever;
  };
  Peak pause_sent, marked, notified;
};

/// A counter that signals are made of.
struct SignalCounter {
  std::uint32_t series = 0;
  std::uint32_t port = 0;  ///< position in HostWatch::ports
  std::uint8_t what = 0;
};

/// Finds the counters again after the host's series or ports have changed.
void follow_signals(HostWatch& host, const HostInventory& inventory);
/// Makes signals of what moved since the reading before. A gap of more than ten intervals, a counter that was reset or
/// not read leaves out what it is part of.
void take_signals(HostWatch& host, const HostMovement& movement, const Thresholds& thresholds);

/// SLOW_RECEIVER and PFC_STORM of a port that stands on no watched fabric: there its own pauses are all that is known.
void report_pauses(const HostWatch& host, const PortWatch& port, const Thresholds& thresholds, TimePoint now,
                   std::vector<Finding>& findings);
/// Adds to congestion of a fabric what the port where it ends tells of it.
void add_signals(const PortWatch& port, TimePoint now, Finding& finding);

}  // namespace weft::analyzer
