// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the switches of a torus stand, found and proved by their cables alone.

#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/ids.hpp"

namespace weft::analyzer {

/// Positions in a torus: in each dimension a switch is in one ring, and switches next to each other in it are cabled.
struct TorusGrid {
  /// Of each dimension: how many switches a ring has; 2: a pair. A ring of four switches has the same cables as two
  /// dimensions of two, and is told as those.
  std::vector<std::uint32_t> radix;
  std::vector<std::uint32_t> position;  ///< [switch * dimensions() + dimension], 0 to radix - 1; kNoIndex: outside

  std::size_t dimensions() const { return radix.size(); }  ///< how many rings a switch is in
  /// The switch stands in the torus.
  bool has(std::uint32_t at) const { return position[at * dimensions()] != kNoIndex; }
  /// Where in the ring of that dimension.
  std::uint32_t in(std::size_t dimension, std::uint32_t at) const { return position[at * dimensions() + dimension]; }
};

/// `next`: by switch, the others that it is cabled with, ascending, each once. nullopt unless every switch and every
/// cable of a torus is there, and none beyond: cables of one dimension are opposite sides of squares, or meet at a
/// switch without a square (the product relation of Feder, Product Graph Representations, Journal of Graph Theory 16,
/// 1992), and what that gives is checked switch by switch. O(cables × neighbours²).
std::optional<TorusGrid> find_torus(const std::vector<std::vector<std::uint32_t>>& next);

}  // namespace weft::analyzer
