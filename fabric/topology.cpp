// SPDX-License-Identifier: Apache-2.0
#include "fabric/topology.hpp"

#include <utility>

namespace weft {

const char* to_string(NodeType type) {
  switch (type) {
    case NodeType::kChannelAdapter:
      return "ca";
    case NodeType::kSwitch:
      return "switch";
    case NodeType::kRouter:
      return "router";
    case NodeType::kUnknown:
      break;
  }
  return "unknown";
}

const char* to_string(PortState state) {
  switch (state) {
    case PortState::kDown:
      return "Down";
    case PortState::kInitialize:
      return "Initialize";
    case PortState::kArmed:
      return "Armed";
    case PortState::kActive:
      return "Active";
    case PortState::kUnknown:
      break;
  }
  return "Unknown";
}

const char* to_string(PortPhysicalState state) {
  switch (state) {
    case PortPhysicalState::kSleep:
      return "Sleep";
    case PortPhysicalState::kPolling:
      return "Polling";
    case PortPhysicalState::kDisabled:
      return "Disabled";
    case PortPhysicalState::kTraining:
      return "PortConfigurationTraining";
    case PortPhysicalState::kLinkUp:
      return "LinkUp";
    case PortPhysicalState::kLinkErrorRecovery:
      return "LinkErrorRecovery";
    case PortPhysicalState::kPhyTest:
      return "PhyTest";
    case PortPhysicalState::kUnknown:
      break;
  }
  return "Unknown";
}

Topology::Topology(std::uint64_t epoch, std::vector<Node> nodes, std::vector<Port> ports,
                   std::vector<DuplicateGuid> duplicates, LinkLayer layer, std::vector<std::string> port_names)
    : epoch_(epoch),
      layer_(layer),
      port_names_(std::move(port_names)),
      nodes_(std::move(nodes)),
      ports_(std::move(ports)),
      duplicates_(std::move(duplicates)) {
  by_guid_.reserve(nodes_.size());
  for (NodeIndex i = 0; i < nodes_.size(); ++i) by_guid_.emplace(nodes_[i].guid, i);
}

NodeIndex Topology::find_node(NodeGuid guid) const {
  const auto found = by_guid_.find(guid);
  return found == by_guid_.end() ? kNoIndex : found->second;
}

PortIndex Topology::find_port(PortKey key) const {
  const NodeIndex index = find_node(key.node);
  if (index == kNoIndex) return kNoIndex;
  const Node& node = nodes_[index];
  if (key.port.value < node.lowest_port() || key.port.value > node.port_count) return kNoIndex;
  return node.first_port + key.port.value - node.lowest_port();
}

std::optional<LinkKey> Topology::link_of(PortIndex index) const {
  const PortIndex peer = ports_[index].peer;
  if (peer == kNoIndex) return std::nullopt;
  return make_link_key(key_of(index), key_of(peer));
}

std::string Topology::validate(std::span<const Node> nodes, std::span<const Port> ports) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    if (node.first_port != next || node.port_entries() > ports.size() - next)
      return "node " + to_string(node.guid) + " claims ports that are not its own";
    for (std::size_t p = 0; p < node.port_entries(); ++p) {
      const Port& port = ports[next + p];
      if (port.node != i || port.number.value != p + node.lowest_port())
        return "port " + std::to_string(p + node.lowest_port()) + " of node " + to_string(node.guid) + " is misplaced";
    }
    next += node.port_entries();
  }
  if (next != ports.size()) return "there are ports without a node";
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const PortIndex peer = ports[i].peer;
    if (peer == kNoIndex) continue;
    if (peer >= ports.size() || ports[peer].peer != i) return "the two ends of a link do not name each other";
  }
  return {};
}

std::string_view host_name(const Node& node) {
  const std::string_view name = node.name;
  if (node.type != NodeType::kChannelAdapter || node.aggregation_node) return name;
  const std::size_t space = name.rfind(' ');
  if (space == std::string_view::npos || space == 0) return name;
  return name.substr(0, space);
}

bool is_unread(const Topology& topology, PortIndex index) {
  const Port& end = topology.port(index);
  return topology.is_ethernet() && end.peer != kNoIndex && end.state == PortState::kUnknown &&
         topology.port(end.peer).state == PortState::kUnknown;
}

std::string port_label(const Topology& topology, PortIndex index) {
  const Port& port = topology.port(index);
  const Node& node = topology.node_of(port);
  if (topology.is_ethernet()) {
    if (node.type != NodeType::kSwitch) return node.name;
    if (const std::string_view name = topology.port_name(index); !name.empty())
      return node.name + ' ' + std::string(name);
  }
  return node.name + " port " + std::to_string(port.number.value);
}

}  // namespace weft
