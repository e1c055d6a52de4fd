// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which subnet known links are of, and what becomes of them when switches are moved.

#include <span>
#include <vector>

#include "fabric/analyzer_state.hpp"
#include "fabric/incident.hpp"
#include "fabric/topology.hpp"

namespace weft::daemon {

/// The switches at those links, sorted.
std::vector<NodeGuid> switches_at(std::span<const KnownLink> links);

/// The cable of our own port as it is in that graph; of nobody where it leads nowhere.
LinkKey own_cable(const Topology& topology, PortKey local_port);

/// Are those links of the subnet that a port sees? `reached`: the switches that it reaches, sorted; `own`: our cable
/// there. Most switches of the smaller of the two decide: single ones are moved or replaced. Where that is half of
/// them, it is the same one if our own cable leads to the same switch as in `links`. False where nothing is known.
bool are_of_subnet(std::span<const KnownLink> links, std::span<const NodeGuid> reached, const LinkKey& own);

/// Two subnets have grown together.
void add_state(AnalyzerState& state, const AnalyzerState& more);

/// What becomes of the links of a lost subnet when switches of it are found in another.
struct MovedLinks {
  std::vector<KnownLink> stay, along;
  std::vector<NodeGuid> switches;  ///< that were found there
  /// An incident with that cause goes along, too.
  bool has(const Entity& cause) const;
};

/// `found`: the switches that are reached in that other one, sorted. What hangs from such a switch goes along as far as
/// it is in `seen`, the graph there; its cables to switches that are not reached there are gone.
MovedLinks moved_links(std::span<const KnownLink> links, std::span<const NodeGuid> found, const Topology& seen);

}  // namespace weft::daemon
