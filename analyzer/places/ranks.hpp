// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which way is up: how far each node is from the nearest adapter.

#include <cstdint>
#include <vector>

#include "fabric/places.hpp"
#include "fabric/topology.hpp"

namespace weft::analyzer {

/// 0 for adapters and routers, 1 for switches with an adapter, 2 for those above, …; kNoTier for what no cable joins
/// with an adapter. SHARP engines, which sit in switches of every tier, do not count. O(ports).
std::vector<std::uint8_t> node_ranks(const Topology& topology);

}  // namespace weft::analyzer
