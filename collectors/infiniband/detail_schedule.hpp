// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which ports' optional attributes are read in a sweep: each port's once in the detail interval, at once where errors
// moved, and for a minute in every sweep where a link is in trouble.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/topology.hpp"

namespace weft::infiniband {

/// One step each sweep. Ports are those of one epoch.
class DetailSchedule {
 public:
  /// Ports that are read in every sweep at the same time, at most: five requests each.
  static constexpr std::size_t kMostWatched = 256;
  /// Ports that are read once because their errors moved, in one sweep, at most.
  static constexpr std::size_t kMostAtOnce = 512;
  /// How long a port is read in every sweep after its link was in trouble.
  static constexpr Duration kWatchFor = std::chrono::seconds(60);

  /// Forgets everything: a new epoch.
  void restart();
  /// The ports to read now, each once, at `now`, the start of the sweep. `troubled`: ports whose link errors moved;
  /// `moved`: ports whose other errors did. `ports`: how many there are; so many that all have their turn in
  /// `detail_interval`, with a sweep every `interval`, are added in their order, but those that `takes_turns` denies.
  std::vector<PortIndex> next(std::span<const PortIndex> troubled, std::span<const PortIndex> moved, std::size_t ports,
                              Duration interval, Duration detail_interval, TimePoint now,
                              const std::function<bool(PortIndex)>& takes_turns);
  /// Ports that are read in every sweep at present.
  std::size_t watched() const { return watched_.size(); }

 private:
  struct Watched {
    PortIndex port;
    TimePoint until;
  };
  void watch(PortIndex port, TimePoint until);

  std::vector<Watched> watched_;
  PortIndex turn_ = 0;  // whose turn is next
};

}  // namespace weft::infiniband
