// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files that say how an Ethernet fabric is cabled: DOT, in the form that the Prescriptive Topology Manager of Cumulus
// Linux reads (ptmd(8), /etc/ptm.d/topology.dot) and NVIDIA Air exports.

#include <cstddef>
#include <string_view>

#include "fabric/cable_plan.hpp"
#include "fabric/result.hpp"

namespace weft::cabling {

/// Bounds of what is accepted, so that a wrong file costs little.
struct CablingLimits {
  static constexpr std::size_t kMostBytes = 64UL << 20;
  static constexpr std::size_t kMostNodes = 131'072;
  static constexpr std::size_t kMostCables = 1'000'000;
  static constexpr std::size_t kLongestName = 255;
};

/// Reads one graph whose edges are cables between named ports:
///
///   graph "fabric" {
///     "leaf01" [function="leaf"]
///     "leaf01":"swp1" -- "gpu-01":"eth2"
///   }
///
/// A node with the attribute `function` is a host where that is "host" or "server", else a switch. Without it, it is a
/// switch when the name of one of its ports matches `switch_ports`, a regular expression of ECMAScript. Other
/// attributes are left alone, and so are nodes without a cable. Graphviz' libcgraph does the reading, one text at a
/// time.
///
/// Fails with kInvalidArgument and one "line N: reason" on each line of the message, twenty at most: text that is no
/// DOT, a second graph, a name that is empty, too long, not printable ASCII or begins with %, a cable without a port's
/// name, from a node to itself, or at a port that has one already, no cable at all, a bound exceeded, a `switch_ports`
/// that is no regular expression. libcgraph does not tell where an edge stands: its lines are those that name its port.
Result<CablePlan> parse_cabling(std::string_view text, std::string_view switch_ports);

}  // namespace weft::cabling
