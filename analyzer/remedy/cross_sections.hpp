// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is left of a dragonfly or a torus when a link is out: of the cables that the traffic of a group, of a pair of
// groups or of a half of the fabric must cross.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/places/shape.hpp"
#include "fabric/topology.hpp"

namespace weft::analyzer {

/// The two ports that a cable joins, or did.
using CableEnds = std::pair<PortIndex, PortIndex>;

struct TorusCounts;

/// A fabric without tiers, as it is now. What it refers to must outlive it, unchanged.
struct CabledShape {
  const Topology& topology;
  const FabricShape& shape;
  std::span<const CableEnds> missing{};  ///< cables that the topology does not show and that belong to it
  std::span<const PortIndex> avoided{};  ///< both ends of links that are up and no way for anybody, ascending
  std::span<const NodeIndex> busy{};     ///< switches with adapters of a job, ascending
  /// Of a torus: what is counted when it is first asked for.
  mutable std::shared_ptr<const TorusCounts> counts{};
};

/// Cables that some traffic must cross.
struct CrossSection {
  std::string name;            ///< "the global links of the group of s-0-0"
  std::uint32_t designed = 0;  ///< with every cable up
  std::uint32_t kept = 0;      ///< now; at least so many where that cannot be told exactly
  bool is_busy = false;        ///< a job runs where its traffic comes from
  bool has_detour = false;     ///< traffic may go another way, of twice the length
};

/// The cross-sections that the cable at `port` is a part of. Empty: it is none of the shape's cables, and what is left
/// without it cannot be told.
///
/// A dragonfly's global link: all global links of either group, and those between the two (Kim et al., ISCA 2008,
/// section 3; minimal ways take one of the latter, all others two of the former). Its local link: the local links of
/// either switch, and the least number of cables between two halves of the group, of which each missing cable is taken
/// to be one. A torus: the cables between two halves of the ring's dimension (Dally and Towles, Principles and
/// Practices of Interconnection Networks, chapter 5: the bisection of a torus), for all halves that the cable parts.
/// O(switches and ports of the groups); of a torus O(ports) for the first one.
std::vector<CrossSection> cross_sections(const CabledShape& fabric, PortIndex port);

/// How whole the rings of a torus are.
struct RingBreaks {
  std::uint32_t of_own = 0;    ///< neighbours that no cable joins, in the ring of the cable, without that cable
  NodeIndex twice = kNoIndex;  ///< a switch of another ring that is broken twice or more; kNoIndex: there is none
  /// False: the cable, or one that is down, is of a dimension of two or four switches, whose rings cables do not tell.
  bool is_told = true;
};
/// Of a torus with a grid, if the cable at `port`, which is one of it, were out. As for cross_sections().
RingBreaks ring_breaks(const CabledShape& fabric, PortIndex port);

}  // namespace weft::analyzer
