// SPDX-License-Identifier: Apache-2.0
// Cables whose switch or host is known to be down, and of which somebody else tells.

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include "analyzer/incidents/incident_manager.hpp"

namespace weft::analyzer {

/// Where nobody sweeps, the outage of a switch stays as it was told, and a collector at each of its cables tells of its
/// own one: that is no incident beside it. One that is open already goes on.
void IncidentManager::leave_out_parts(std::vector<Finding>& findings, std::string_view fabric) const {
  const auto is_others_cable = [&](const Finding& finding) {
    return finding.kind == IncidentKind::kLinkDown && finding.cause.kind == EntityKind::kLink &&
           finding.cause.fabric != fabric;
  };
  if (std::ranges::none_of(findings, is_others_cable)) return;
  const auto node_in = [](const std::string& of, NodeGuid node) { return of + '|' + to_string(node); };
  std::unordered_set<std::string> parts, nodes;
  for (const Entry& entry : entries_) {
    const Finding& whole = entry.incident->finding;
    // What alarms does not vanish in what does not.
    if (!entry.incident->is_open() || !is_node_outage(whole.kind) || whole.maintenance != 0) continue;
    nodes.insert(node_in(whole.cause.fabric, whole.cause.port.node));
    for (const Entity& part : whole.affected) parts.insert(part.identity());
  }
  if (nodes.empty()) return;
  std::erase_if(findings, [&](const Finding& finding) {
    if (!is_others_cable(finding)) return false;
    const Entity& link = finding.cause;
    if (!parts.contains(link.identity()) && !nodes.contains(node_in(link.fabric, link.port.node)) &&
        !nodes.contains(node_in(link.fabric, link.peer.node)))
      return false;
    const auto own = newest_.find(key_of(finding));
    const IncidentPtr known = own == newest_.end() ? nullptr : find(own->second);
    return !known || !known->is_open();
  });
}

}  // namespace weft::analyzer
