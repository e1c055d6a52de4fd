// SPDX-License-Identifier: Apache-2.0
#pragma once
// How much of a fabric was read lately.

#include <cstdint>
#include <string>

#include "fabric/snapshot.hpp"

namespace weft::api {

/// Nodes that can be reached and have a port that is_stale(): nobody knows how it is now. O(ports).
std::uint32_t count_stale_nodes(const FabricView& fabric, TimePoint now);
/// FabricView::status, and how many nodes have no fresh data, where any: "monitoring 2 switches, 4 adapters; 3 nodes
/// have no fresh data".
std::string status_text(const FabricView& fabric, TimePoint now);

}  // namespace weft::api
