// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tree of links that wait for a congested one, as people are shown it.

#include <span>
#include <vector>

#include "analyzer/congestion/congestion_finder.hpp"
#include "analyzer/ports/describe.hpp"
#include "fabric/incident.hpp"
#include "fabric/snapshot.hpp"

namespace weft::analyzer {

/// The root's links, then those that wait for them, the worst with all that are between them and the root; at most
/// kMostLinksInTree. `rates` has one entry for each port.
WaitingTree describe_waiting(const CongestionRoot& root, const Topology& topology, const std::vector<PortRates>& rates,
                             std::span<const float> line_rates, const Describe& describe);

/// Enough for a drawing that a person reads; every revision of the incident is stored with it.
inline constexpr std::size_t kMostLinksInTree = 48;

}  // namespace weft::analyzer
