// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which way is up: the tiers of a tree of switches, and whether it is one.

#include <cstdint>
#include <span>
#include <vector>

#include "fabric/places.hpp"
#include "fabric/topology.hpp"

namespace weft::analyzer {

/// How well tiers fit the cables of switches that hang together. Shares are 0..1; 1 where there is nothing to count.
struct TierFit {
  double steps = 1;   ///< of the cables between switches, but those in pairs of leaves (MLAG): lead to the next tier
  double bottom = 1;  ///< of the adapters and routers: are at switches of the lowest tier
  double joined = 1;  ///< of the pairs of a switch with adapters and another: lead up to a common switch (of a sample)
  /// Nearly all cables and pairs, and most adapters: some gateway, a spare switch or a cable astray hides no tree.
  bool is_tree() const { return steps >= 0.9 && bottom >= 0.75 && joined >= 0.9; }
};

/// Tiers of all nodes, and what they are worth.
struct Tiers {
  /// By node: 0 for adapters and routers, 1 for leaf switches, 2 for those above, …; kNoTier for what no cable joins
  /// with an adapter. SHARP engines, which sit in switches of every tier, do not count.
  std::vector<std::uint8_t> of;
  /// By node: which switches hang together by cables between switches, a position in `fits`; kNoIndex for adapters
  /// and for switches without tier.
  std::vector<std::uint32_t> parts;
  std::vector<TierFit> fits;
};

/// The topmost switches are those that are nearest to nine tenths of the adapters, as OpenSM finds the roots of up/down
/// routing (opensm, osm_ucast_updn.c); tiers are counted down from them, so that a gateway at a spine and leaves
/// without adapters do not count otherwise than their like. Where that gives no tree, tiers are steps from the nearest
/// adapter. O(ports × greatest distance).
Tiers find_tiers(const Topology& topology);

/// Tiers::of.
std::vector<std::uint8_t> node_ranks(const Topology& topology);

}  // namespace weft::analyzer
