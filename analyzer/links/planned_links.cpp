// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/planned_links.hpp"

namespace weft::analyzer {

void PlannedLinks::mark_all(const LinkTable& table, const Topology& topology) {
  links_.assign(table.links().size(), 1);
  ports_.assign(topology.ports().size(), 1);
}

void PlannedLinks::mark(const LinkTable& table, LinkId id) {
  const LinkState& link = table.links()[id];
  links_[id] = 1;
  for (const PortIndex port : {link.low, link.high})
    if (port < ports_.size()) ports_[port] = 1;
}

void PlannedLinks::mark_node(const LinkTable& table, NodeGuid guid) {
  const NodeId node = table.find_node(guid);
  if (node == kNoIndex) return;
  for (const LinkId link : table.links_of(node)) mark(table, link);
}

void PlannedLinks::mark_at(const LinkTable& table, PortKey port) {
  const NodeId node = table.find_node(port.node);
  if (node == kNoIndex) return;
  for (const LinkId id : table.links_of(node)) {
    const LinkKey& key = table.links()[id].key;
    if (key.low == port || key.high == port) mark(table, id);
  }
}

void PlannedLinks::update(const LinkTable& table, const Topology& topology, std::string_view fabric, TimePoint now) {
  links_.clear();
  ports_.clear();
  if (!windows_) return;
  for (const MaintenanceWindow& window : *windows_) {
    if (state_at(window, now) != MaintenanceState::kActive) continue;
    const Entity& what = window.entity;
    if (what.kind == EntityKind::kFabric && (what.fabric.empty() || what.fabric == fabric))
      return mark_all(table, topology);
    links_.resize(table.links().size(), 0);
    ports_.resize(topology.ports().size(), 0);
    for (const NodeGuid node : window.nodes) mark_node(table, node);
    if (what.kind == EntityKind::kPort || what.kind == EntityKind::kLink) mark_at(table, what.port);
  }
}

}  // namespace weft::analyzer
