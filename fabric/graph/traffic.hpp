// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which cables a group of ports uses among itself: along the forwarding tables of a subnet, or by the equal-cost ways
// of an Ethernet fabric. Pure functions.

#include <cstdint>
#include <span>
#include <vector>

#include "fabric/graph/multipath.hpp"
#include "fabric/graph/path.hpp"

namespace weft {

/// What following the ways from every port of a group to every other gave.
struct Traffic {
  /// A sending port and the port that it sends to.
  struct Pair {
    PortIndex from = kNoIndex;
    PortIndex target = kNoIndex;
    Lid to;  ///< base LID of `target`; 0 on Ethernet
    bool operator==(const Pair&) const = default;
  };
  static constexpr std::size_t kMostExamples = 16;

  std::vector<PortIndex>
      senders;                 ///< ports that something of it leaves by, ascending: each is one direction of a cable
  std::uint64_t pairs = 0;     ///< of a sending port and another's base LID
  std::uint64_t broken = 0;    ///< of these: do not arrive
  std::uint64_t unread = 0;    ///< of these: lead to a part of a table that was not read
  std::vector<Pair> examples;  ///< some that are broken, of different ends; on InfiniBand find_path() tells why
  bool complete = true;        ///< false: it was given up at `most_steps`, and all of the above is too little
};

/// Follows packets within each group: `groups` are adapters' ports, all up and cabled, that talk to each other, as
/// those of one rail do. Each switch is looked at once for each destination, so that it takes O(ports × switches on the
/// way) steps and not O(ports²) walks. Base LIDs only (vol. 1, 4.1.3).
Traffic follow_traffic(const Topology& topology, const Routes& routes, std::span<const std::vector<PortIndex>> groups,
                       std::uint64_t most_steps);
/// The same of an Ethernet fabric: every cable that some flow may take, with whatever share; broken is a pair between
/// which there is no way at all. A switch is looked at once for each switch with targets; each of its ports is a step.
Traffic follow_traffic(const Multipath& multipath, std::span<const std::vector<PortIndex>> groups,
                       std::uint64_t most_steps);

}  // namespace weft
