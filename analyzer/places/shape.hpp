// SPDX-License-Identifier: Apache-2.0
#pragma once
// What kind of network the switches form: which rules may judge it.

#include <cstdint>
#include <string>

#include "analyzer/places/ranks.hpp"
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
  /// Tiers tell what is left when a link is out: nothing else is judged without a person.
  bool has_tiers() const { return shape == Shape::kFatTree || shape == Shape::kRailOnly; }
};

/// A fabric is a fat tree, or rail-only, when all its parts are trees by TierFit; else its largest part that is none
/// is looked at. A Dragonfly has at least three groups, nine tenths of all pairs of which are cabled (Kim et al.,
/// Technology-Driven, Highly-Scalable Dragonfly Topology, ISCA 2008; Shpiner et al., Dragonfly+, HiPINEB 2017). In a
/// torus of n dimensions a switch has at most 2n neighbours, and each cable is a side of 2n - 2 squares, of at least
/// half of them where a neighbouring cable is missing.
/// `tiers` are those of the topology. O(cables between switches × ports of a switch).
FabricShape find_shape(const Topology& topology, const Tiers& tiers);

}  // namespace weft::analyzer
