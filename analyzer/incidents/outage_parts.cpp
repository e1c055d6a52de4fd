// SPDX-License-Identifier: Apache-2.0
// Cables whose switch or host is known to be down, and of which somebody else tells.

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include "analyzer/incidents/incident_manager.hpp"
#include "analyzer/incidents/timeline.hpp"

namespace weft::analyzer {

/// Where nobody sweeps, the outage of a switch stays as it was told, and a collector at each of its cables tells of its
/// own one: that is no incident beside it. One that is open already goes on, and one that was up since is no part.
void IncidentManager::leave_out_parts(std::vector<Finding>& findings, std::string_view fabric) const {
  const auto is_others_cable = [&](const Finding& finding) {
    return finding.kind == IncidentKind::kLinkDown && finding.cause.kind == EntityKind::kLink &&
           finding.cause.fabric != fabric;
  };
  if (std::ranges::none_of(findings, is_others_cable)) return;
  std::unordered_set<std::string> parts;
  for (const Entry& entry : entries_) {
    const Finding& whole = entry.incident->finding;
    // What alarms does not vanish in what does not.
    if (!entry.incident->is_open() || !is_node_outage(whole.kind) || whole.maintenance != 0) continue;
    for (const Entity& part : whole.affected) parts.insert(part.identity());
  }
  if (parts.empty()) return;
  std::erase_if(findings, [&](const Finding& finding) {
    if (!is_others_cable(finding)) return false;
    if (!parts.contains(finding.cause.identity())) return false;
    const auto own = newest_.find(key_of(finding));
    const IncidentPtr known = own == newest_.end() ? nullptr : find(own->second);
    return !known || !known->is_open();
  });
}

std::vector<Incident> IncidentManager::take_up(const UpSince& is_up_since, TimePoint now) {
  Changed changed;
  for (Entry& entry : entries_) {
    const Finding& whole = entry.incident->finding;
    if (!entry.incident->is_open() || !is_node_outage(whole.kind)) continue;
    const TimePoint began =
        entry.incident->beginnings.empty() ? entry.incident->opened : entry.incident->beginnings.back();
    const auto is_up = [&](PortKey port) { return is_up_since(port, began); };
    const auto is_part_up = [&](const Entity& part) {
      if (part.kind == EntityKind::kNode) return is_up({part.port.node, {}});
      return (part.kind == EntityKind::kLink || part.kind == EntityKind::kPort) &&
             (is_up(part.port) || (part.kind == EntityKind::kLink && is_up(part.peer)));
    };
    if (whole.kind == IncidentKind::kNodeDown &&
        (is_part_up(whole.cause) || std::ranges::any_of(whole.affected, is_part_up))) {
      resolve(entry, "its collector says that a port of it is up", now, changed);
      continue;
    }
    if (std::ranges::none_of(whole.affected, is_part_up)) continue;
    Incident next = *entry.incident;
    std::erase_if(next.finding.affected, is_part_up);
    note_update(next, now);
    change(entry, std::move(next), now, changed);
  }
  return changed;
}

}  // namespace weft::analyzer
