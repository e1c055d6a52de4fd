// SPDX-License-Identifier: Apache-2.0
#pragma once
// Recognises the tiers, pods and rails of a fat tree, from its cables or from names.

#include <optional>
#include <regex>
#include <string>

#include "fabric/places.hpp"
#include "fabric/result.hpp"
#include "fabric/topology.hpp"

namespace weft::analyzer {

/// Patterns with one group, searched for in nodes' names: what the group matches is the name of the pod or rail.
/// nullopt: cables tell.
struct PlaceHints {
  std::optional<std::regex> pod;
  std::optional<std::regex> rail;
};

/// Of two regular expressions (ECMAScript, as std::regex has it), empty for none. kInvalidArgument, with the reason,
/// for one that does not parse or has not exactly one group.
Result<std::optional<std::regex>> place_pattern(const std::string& text);

/// Tiers are those of find_tiers().
///
/// Pods by cables: what hangs together below the switches of the topmost tier, over the adapters of one host as well,
/// so that in a fabric of two tiers the leaves that serve the rails of the same hosts are one. There are none where
/// fewer than two groups have more than one switch. Numbered from 0 in the order of their first switch's name.
/// Pods by names: of each switch that the pattern fits; an adapter that it does not fit is of its leaf's pod.
///
/// Rails by cables: the adapters of each host in the order of their descriptions, from 0; one of a label ("HCA-6") is
/// what it is to most hosts, of two that are as many the greater; behind one that has leaves of its own, which most
/// hosts may lack, it is another rail. A leaf three quarters of whose adapters are the same
/// to their hosts serves that rail, and all its adapters are of it; one leaf must serve another rail than the first.
/// Rails by names: of each adapter, else leaf, that the pattern fits. A leaf's ports upwards are of the rail of its
/// adapters, if that is one.
///
/// Adapters of hosts whose descriptions nobody can tell apart join nothing.
///
/// O(nodes + ports), and one search for each node and pattern.
Places find_places(const Topology& topology, const PlaceHints& hints = {});

/// The same nodes and cables: places found for one hold for the other.
bool same_cabling(const Topology& a, const Topology& b);

}  // namespace weft::analyzer
