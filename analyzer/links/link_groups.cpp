// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/link_groups.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace weft::analyzer {

/// Of the links that are down alone, the most that went down together at one switch, until no switch has enough.
void LinkGroups::form(const LinkTable& table, const std::vector<Outage>& outages) {
  // By switch that answers: its links, the one that went down first before the others.
  std::map<NodeId, std::vector<LinkId>> by_switch;
  for (const Outage& outage : outages) {
    if (outage.kind != OutageKind::kLink) continue;
    const LinkState& link = table.links()[outage.link];
    // Of what was down before we looked nobody knows when it went down.
    if (link.is_disabled() || !link.fell || link.view == LinkView::kTraining) continue;
    for (const NodeId end : {link.low_node, link.high_node}) {
      const KnownNode& node = table.nodes()[end];
      if (node.type == NodeType::kSwitch && !node.quiet) by_switch[end].push_back(outage.link);
    }
  }
  const auto since = [&](LinkId id) { return table.links()[id].down_since; };
  while (true) {
    Group most;
    for (auto& [node, links] : by_switch) {
      std::ranges::sort(links, {}, since);
      for (auto first = links.begin(); first != links.end(); ++first) {
        const auto end = std::find_if(
            first, links.end(), [&](LinkId id) { return since(id) - since(*first) > thresholds_.link_group_spacing; });
        if (static_cast<std::size_t>(end - first) > most.links.size()) most = {node, {first, end}};
      }
    }
    if (most.links.size() < std::max(2U, thresholds_.link_group_minimum)) return;
    std::ranges::sort(most.links);
    for (auto& [node, links] : by_switch)
      std::erase_if(links, [&](LinkId id) { return std::ranges::binary_search(most.links, id); });
    groups_.push_back(std::move(most));
  }
}

void LinkGroups::remember(const LinkTable& table, const Incident& incident) {
  const Finding& finding = incident.finding;
  if (!incident.is_open() || finding.kind != IncidentKind::kLinkDown || finding.cause.kind != EntityKind::kNode) return;
  Group group{table.find_node(finding.cause.port.node), {}};
  if (group.node == kNoIndex) return;
  for (const Entity& entity : finding.affected) {
    const LinkId id = entity.kind == EntityKind::kLink ? table.find_link({entity.port, entity.peer}) : kNoIndex;
    if (id != kNoIndex) group.links.push_back(id);
  }
  std::ranges::sort(group.links);
  const bool is_known = std::ranges::any_of(
      groups_, [&](const Group& other) { return other.node == group.node && other.links == group.links; });
  if (!group.links.empty() && !is_known) groups_.push_back(std::move(group));
}

void LinkGroups::gather(const LinkTable& table, std::vector<Outage>& outages) {
  std::vector<Outage> gathered;
  const auto take_known = [&](const Group& group) {
    const auto waits = [&](LinkId id) {
      const LinkState& link = table.links()[id];
      return link.counts() && link.view != LinkView::kUp;
    };
    Outage outage{.kind = OutageKind::kLinkGroup, .node = group.node, .links_before = group.links.size()};
    // What a greater outage has taken in is told there.
    const std::size_t taken = std::erase_if(outages, [&](const Outage& single) {
      if (single.kind != OutageKind::kLink || !std::ranges::binary_search(group.links, single.link)) return false;
      outage.links.push_back(single.link);
      return true;
    });
    if (taken == 0 && std::ranges::none_of(group.links, waits)) return false;
    outage.is_returning = taken < group.links.size();
    std::ranges::sort(outage.links);
    if (taken > 0) gathered.push_back(std::move(outage));
    return true;
  };
  std::erase_if(groups_, [&](const Group& group) { return !take_known(group); });
  const std::size_t known = groups_.size();
  form(table, outages);
  for (std::size_t i = known; i < groups_.size(); ++i) take_known(groups_[i]);
  std::ranges::move(gathered, std::back_inserter(outages));
}

}  // namespace weft::analyzer
