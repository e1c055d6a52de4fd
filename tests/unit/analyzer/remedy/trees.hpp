// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the tests of remedies share.

#include <vector>

#include "analyzer/remedy/live_tree.hpp"
#include "tests/fakes/three_tiers.hpp"

namespace weft::analyzer {

using fakes::three_tiers;

inline std::vector<std::uint32_t> all_leaves(const FabricTree& tree) {
  std::vector<std::uint32_t> all(tree.leaves().size());
  for (std::uint32_t leaf = 0; leaf < all.size(); ++leaf) all[leaf] = leaf;
  return all;
}

/// By uplink: 1 where both ends are up.
inline std::vector<std::uint8_t> up_states(const FabricTree& tree, const Topology& topology) {
  std::vector<std::uint8_t> up;
  for (const Uplink& uplink : tree.uplinks()) {
    const Port& port = topology.port(uplink.port);
    up.push_back(port.is_up() && topology.port(port.peer).is_up());
  }
  return up;
}

}  // namespace weft::analyzer
