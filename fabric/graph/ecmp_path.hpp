// SPDX-License-Identifier: Apache-2.0
#pragma once
// The ways that flows between two ends take through an Ethernet fabric, worked out from its equal-cost ways. Pure
// functions.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fabric/graph/multipath.hpp"
#include "fabric/graph/path.hpp"

namespace weft {

/// All cables that flows from one end to the other may take.
struct EcmpPath {
  /// One cable of the paths, in the direction of travel.
  struct Hop {
    PortIndex from = kNoIndex;  ///< sends; its peer receives
    std::uint32_t stage = 0;    ///< cables equally far from the sender are of one stage; from 1
    double share = 0;           ///< of a great many flows, 0..1; 0 where none passes: it is down, or no way is whole
    bool operator==(const Hop&) const = default;
  };
  std::vector<Hop> hops;            ///< in the order of travel: by stage, then by port
  std::uint32_t ways = 0;           ///< how many there are, at most 2³² - 1; 0: none
  std::uint32_t ways_intact = 0;    ///< how many there were if every cable were up
  bool detour = false;              ///< the ways are longer than they were if every cable were up
  PathEnd end = PathEnd::kArrived;  ///< also kNoCable, kLinkDown (of a host's end) and kNoRoute (between switches)
  PortIndex way_out = kNoIndex;     ///< of kNoCable and kLinkDown: the host's port
  /// True when at least one path is whole.
  bool arrived() const { return end == PathEnd::kArrived; }
};

/// The ways there were if every cable were up: of the same nodes and ports, with no state known.
Multipath intact_ways(const Topology& topology);

/// The ways from `from` to `to`, each a host's port or any port of a switch, which stands for the switch. `intact` is
/// intact_ways() of the same topology, or `ways` itself where nothing is down. Nullopt between two switches that no
/// host hangs on: ways are known to hosts only.
std::optional<EcmpPath> find_flow_path(const Multipath& ways, const Multipath& intact, PortIndex from, PortIndex to);

/// One sentence for people: "flows are spread over 4 equal ways", "the link of gpu-01 eth2 is down".
std::string describe(const Topology& topology, const EcmpPath& path, PortIndex from, PortIndex to);

}  // namespace weft
