// SPDX-License-Identifier: Apache-2.0
#pragma once
// PFC_STORM by the word of the device: adapters guard the network against themselves. A receiver that stands still, and
// pauses its switch for too long, is counted and in the end not allowed to pause any more.

#include <cstdint>
#include <vector>

#include "analyzer/ports/host_watch.hpp"

namespace weft::analyzer {

/// Counts each port's warnings of a storm of its own pauses, and the storms that the device ended (mlx5:
/// tx_pause_storm_warning_events, tx_pause_storm_error_events, see
/// Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst). What was counted before the first
/// reading is history.
class PauseStorms {
 public:
  /// The host's series or ports are others; `followed` gets the positions of what is asked for.
  void follow(const HostWatch& host, std::vector<std::uint32_t>& followed);
  /// Takes a reading of the host that is no history.
  void take(const HostWatch& host, const HostMovement& movement);
  /// Did any device ever tell of a storm since we began? Else report() has nothing to say.
  bool any() const { return any_; }
  /// Adds a finding while events of the port are at most a minute old, so that a burst of them is one incident: a
  /// WARNING, or CRITICAL where the device ended a storm. If `findings` hold PFC_STORM of the same port, its evidence
  /// becomes part of that.
  void report(const HostWatch& host, const PortWatch& port, TimePoint now, std::vector<Finding>& findings) const;

 private:
  enum What : std::uint8_t { kWarnings, kEnded, kWhatCount };
  struct Count {
    std::uint64_t total = 0;  ///< in this burst
    TimePoint moved = kNever;
  };
  struct Storms {
    Count counts[kWhatCount];
    std::vector<FollowedSeries<What>> followed;
  };

  PerPort<Storms> storms_;
  bool any_ = false;
};

}  // namespace weft::analyzer
