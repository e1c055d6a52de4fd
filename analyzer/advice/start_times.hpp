// SPDX-License-Identifier: Apache-2.0
#pragma once
// When hosts, or single adapters of theirs, were started anew: a reboot, a driver that was loaded again, a reset of the
// adapter. And when their ports went down.

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/ports/host_watch.hpp"
#include "analyzer/ports/per_port.hpp"
#include "analyzer/ports/series_movement.hpp"

namespace weft::analyzer {

/// What collectors show of it: a device is gone from a reading, or its counters of bytes and carriers begin anew.
/// Somebody who clears all of those looks the same. Not thread-safe.
class StartTimes {
 public:
  /// After its series or ports have changed; adds the series that it wants to `followed`.
  void follow(const HostWatch& host, std::vector<std::uint32_t>& followed);
  /// A reading that is no history.
  void take(const HostWatch& host, const HostMovement& movement);

  /// Of those times at which the port's link went down, at how many it was being started anew.
  std::uint32_t starts_among(const PortWatch& port, std::span<const TimePoint> downs) const;
  /// When the port was found down, oldest first, at most kMostDowns.
  const std::vector<TimePoint>& downs(const PortWatch& port) const { return ports_[port.slot].downs; }

 private:
  /// From the last reading before it to the first one after it.
  struct Start {
    TimePoint from = kNever, to = kNever;
  };
  struct Memory {
    std::vector<std::uint32_t> followed;  ///< positions of series
    std::vector<Start> starts;            ///< oldest first
    std::vector<TimePoint> downs;
    std::uint32_t times_away = 0;
    bool was_missing = false;
    bool is_known = false;
  };
  PerPort<Memory> ports_;
};

}  // namespace weft::analyzer
