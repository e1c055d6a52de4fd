// SPDX-License-Identifier: Apache-2.0
#pragma once
// What ports counted since they are watched without a break.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/counters.hpp"
#include "fabric/ids.hpp"
#include "fabric/sweep.hpp"

namespace weft::analyzer {

/// Counters of errors that an acceptance looks at.
inline constexpr std::array kAcceptanceCounters{CounterId::kSymbolErrors,
                                                CounterId::kLinkErrorRecovery,
                                                CounterId::kLinkDowned,
                                                CounterId::kReceiveErrors,
                                                CounterId::kReceiveRemotePhysicalErrors,
                                                CounterId::kTransmitConstraintErrors,
                                                CounterId::kReceiveConstraintErrors,
                                                CounterId::kLocalLinkIntegrityErrors,
                                                CounterId::kExcessiveBufferOverrunErrors};

/// What one port did since it is up and its counters are read without a break.
struct WatchedPort {
  TimePoint since = kNever;   ///< of its first reading; kNever: it is not watched now
  TimePoint last = kNever;    ///< of its last one
  double line_bits = 0;       ///< line rate after coding × time
  double transmit_bytes = 0;  ///< negative: not counted
  std::array<std::uint64_t, kAcceptanceCounters.size()> moved{};
  std::uint16_t read = 0;   ///< bit i: kAcceptanceCounters[i] was read at both ends of each interval
  std::uint16_t stuck = 0;  ///< bit i: it is at its top, and how many more there were is not known

  // What error correction tells, which is read less often.
  TimePoint fec_since = kNever, fec_last = kNever;
  double fec_bits = 0;
  std::uint64_t corrected_symbols = 0;
  std::uint64_t uncorrectable_blocks = 0;
  bool has_corrected = false, has_uncorrectable = false;

  // Breaks: what is above begins anew with each. Counted since the watch began.
  std::uint32_t downs = 0;   ///< it was not Active
  std::uint32_t clears = 0;  ///< somebody cleared its counters
  std::uint32_t gaps = 0;    ///< they were not read for too long

  /// How long it is watched without a break.
  Duration span() const { return since == kNever ? Duration{} : last - since; }
  /// That counter was read all the time.
  bool has(CounterId id) const { return (read >> place(id) & 1) != 0; }
  /// That counter is at its top.
  bool is_stuck(CounterId id) const { return (stuck >> place(id) & 1) != 0; }
  /// What that counter grew by.
  std::uint64_t grown(CounterId id) const { return moved[place(id)]; }
  /// Position in kAcceptanceCounters, which `id` is one of.
  static constexpr std::size_t place(CounterId id) {
    std::size_t at = 0;
    while (at + 1 < kAcceptanceCounters.size() && kAcceptanceCounters[at] != id) ++at;
    return at;
  }
};

/// Follows ports of one fabric, sweep after sweep. What a port counts while it trains is not its fault: the watch of it
/// begins with the first reading after it became Active. A port whose counters went back, or were not read for more
/// than a minute and than `stale_after`, is watched anew: what was counted in between is not known.
class AcceptanceWatch {
 public:
  /// Takes the readings of these ports, which are indices of the sweep's topology. Ports that are left out keep what
  /// they have; the next sweep with them may be a gap.
  void update(const Sweep& sweep, std::span<const PortIndex> ports, Duration stale_after);
  /// What is known of that port; null: nothing.
  const WatchedPort* find(PortKey port) const;
  /// When the first port was read; kNever: none was.
  TimePoint began() const { return began_; }

 private:
  void remap(const std::shared_ptr<const Topology>& topology, std::span<const PortIndex> ports);
  /// Of the port in before_ and details_before_; none where the graph before did not have it.
  std::size_t row_before(PortIndex port) const;
  void follow(const Sweep& sweep, PortIndex port, Duration longest_gap, WatchedPort& watched);
  void follow_fec(const Sweep& sweep, PortIndex port, WatchedPort& watched) const;

  std::unordered_map<PortKey, WatchedPort> known_;
  std::vector<PortIndex> ports_;              ///< of the last update
  std::vector<WatchedPort*> watched_;         ///< for each of ports_; null: the graph has no such port
  std::shared_ptr<const Topology> topology_;  ///< of the last sweep; null before the first one
  /// While the first sweep of an epoch is taken in: of the one before.
  std::shared_ptr<const Topology> topology_before_;
  std::shared_ptr<const SampleTable> before_, details_before_;
  TimePoint began_ = kNever;
};

}  // namespace weft::analyzer
