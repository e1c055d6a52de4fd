// SPDX-License-Identifier: Apache-2.0
#pragma once
// What kind of network the switches form: which rules may judge it.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/places/ranks.hpp"
#include "analyzer/places/torus.hpp"
#include "fabric/topology.hpp"

namespace weft::analyzer {

/// The kinds that are told apart by cables alone.
enum class Shape : std::uint8_t {
  kFatTree,    ///< tiers of switches, or a single switch
  kRailOnly,   ///< several trees that only hosts join: one for each adapter of a host
  kDragonfly,  ///< groups that are each cabled to all others: of equal switches, or of leaves and spines (Dragonfly+)
  kTorus,      ///< rings in one or more dimensions
  kUnclear,    ///< none of these
};
const char* to_string(Shape shape);  ///< "fat tree", "rail-only trees", "dragonfly", "torus", "unclear"

/// A shape, and one sentence with the numbers that tell it.
struct FabricShape {
  Shape shape = Shape::kUnclear;
  std::string why;
  /// Of a dragonfly, by node: its group, from 0; kNoIndex for what is no switch of the part that was looked at. Empty
  /// for any other shape.
  std::vector<std::uint32_t> groups{};
  bool has_spines = false;  ///< of a dragonfly: leaves are cabled to the spines of their group alone (Dragonfly+)
  /// Of a torus, by node; nullopt while not each of its cables is known.
  std::optional<TorusGrid> grid{};

  /// Tiers tell what is left when a link is out.
  bool has_tiers() const { return shape == Shape::kFatTree || shape == Shape::kRailOnly; }
  /// Its switches have no tiers and are judged by cross-sections: a dragonfly or a torus.
  bool is_direct() const { return shape == Shape::kDragonfly || shape == Shape::kTorus; }
};

/// A fabric is a fat tree, or rail-only, when all its parts are trees by TierFit; else its largest part that is none
/// is looked at. A Dragonfly has at least three groups, nine tenths of all pairs of which are cabled (Kim et al.,
/// Technology-Driven, Highly-Scalable Dragonfly Topology, ISCA 2008; Shpiner et al., Dragonfly+, HiPINEB 2017). In a
/// torus of n dimensions a switch has at most 2n neighbours, and each cable is a side of 2n - 2 squares, of at least
/// half of them where a neighbouring cable is missing.
/// `tiers` are those of the topology. `missing`: ends of cables that it does not show and that are known to belong to
/// the fabric. O(cables between switches × ports of a switch).
FabricShape find_shape(const Topology& topology, const Tiers& tiers,
                       std::span<const std::pair<PortIndex, PortIndex>> missing = {});

}  // namespace weft::analyzer
