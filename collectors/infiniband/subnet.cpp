// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/subnet.hpp"

#include <algorithm>

#include "collectors/infiniband/node_description.hpp"
#include "fabric/host_names.hpp"

namespace weft::infiniband {
namespace {

// FDR10 is QDR to PortInfo.
bool is_qdr_or_fdr10(SpeedMask speed) {
  return speed == kSpeedQdr || speed == kSpeedFdr10;
}

bool not_down(const Port& port) {
  return port.physical_state == PortPhysicalState::kLinkUp || port.physical_state == PortPhysicalState::kUnknown;
}

}  // namespace

NodeIndex Subnet::find(NodeGuid guid) const {
  const auto found = by_guid_.find(guid);
  return found == by_guid_.end() ? kNoIndex : found->second;
}

PortIndex Subnet::port_of(NodeIndex node, PortNum number) const {
  const Node& n = nodes_[node];
  if (number.value < n.lowest_port() || number.value > n.port_count) return kNoIndex;
  return n.first_port + number.value - n.lowest_port();
}

NodeIndex Subnet::add(const NodeInfo& info) {
  const auto index = static_cast<NodeIndex>(nodes_.size());
  Node& node = nodes_.emplace_back();
  node.guid = info.guid;
  node.system_image_guid = info.system_image_guid;
  node.type = info.type;
  node.port_count = info.port_count;
  node.vendor_id = info.vendor_id;
  node.device_id = info.device_id;
  node.first_port = static_cast<PortIndex>(ports_.size());
  node.name = to_string(info.guid);
  for (std::uint32_t i = 0; i < node.port_entries(); ++i) {
    Port& port = ports_.emplace_back();
    port.node = index;
    port.number = {static_cast<std::uint16_t>(i + node.lowest_port())};
    // Of an adapter only the port we came in by has said its GUID; a switch's port GUID stands for all of its ports.
    if (node.type == NodeType::kSwitch || port.number.value == info.local_port) port.guid = info.port_guid;
  }
  vendor_speeds_.resize(ports_.size());
  reach_.emplace_back();
  agents_.emplace_back();
  switch_capabilities_.emplace_back();
  by_guid_.emplace(info.guid, index);
  changed_ = true;
  return index;
}

void Subnet::note_subnet_manager(PortIndex index, const PortInfo& info) {
  if (ports_[index].node != local_node() || ports_[index].number != local_port_) return;
  subnet_manager_lid_ = info.subnet_manager_lid;
  subnet_manager_sl_ = info.subnet_manager_sl;
}

bool Subnet::connect(PortIndex a, PortIndex b) {
  if (ports_[a].peer == b && ports_[b].peer == a) return false;
  for (const PortIndex end : {a, b})
    if (const PortIndex old = ports_[end].peer; old != kNoIndex) ports_[old].peer = kNoIndex;
  ports_[a].peer = b;
  ports_[b].peer = a;
  changed_ = true;
  return true;
}

bool Subnet::update(PortIndex index, const PortInfo& info) {
  Port& port = ports_[index];
  const Port before = port;
  port.state = info.state;
  port.physical_state = info.physical_state;
  if (port.number.value == 0 || nodes_[port.node].type != NodeType::kSwitch) {
    port.lid = info.lid;
    port.lid_mask_control = info.lid_mask_control;
    agents_[port.node].beside_subnet_manager = info.capabilities.mask & PortCapabilities::kIsSubnetManager;
  }
  if (info.is_link_up()) {
    port.width_active = info.width_active;
    port.width_enabled = info.width_enabled;
    port.width_supported = info.width_supported;
    const VendorPortInfo& vendor = vendor_speeds_[index].info;
    const bool is_fdr10 = info.speed_active == kSpeedQdr && vendor.speed_active != 0;
    port.speed_active = is_fdr10 ? vendor.speed_active : info.speed_active;
    port.speed_enabled = info.speed_enabled | vendor.speed_enabled;
    port.speed_supported = info.speed_supported | vendor.speed_supported;
  } else {
    vendor_speeds_[index] = {};
    // What is enabled and supported stays as last seen: PortInfo of a port that is down does not say it.
    port.width_active = 0;
    port.speed_active = 0;
  }
  if (port.number.value == 0 && nodes_[port.node].type == NodeType::kSwitch && port.lid != before.lid) {
    const Node& node = nodes_[port.node];
    for (PortIndex p = node.first_port; p < node.first_port + node.port_entries(); ++p) ports_[p].lid = port.lid;
  }
  const bool news = port.state != before.state || port.physical_state != before.physical_state ||
                    port.lid != before.lid || port.lid_mask_control != before.lid_mask_control ||
                    port.width_active != before.width_active || port.width_enabled != before.width_enabled ||
                    port.width_supported != before.width_supported || port.speed_active != before.speed_active ||
                    port.speed_enabled != before.speed_enabled || port.speed_supported != before.speed_supported;
  changed_ |= news;
  return news;
}

bool Subnet::update_vendor_speeds(PortIndex index, const VendorPortInfo& info) {
  Port& port = ports_[index];
  VendorPortInfo& known = vendor_speeds_[index].info;
  const Port before = port;
  const auto replace = [](SpeedMask mask, SpeedMask old, SpeedMask now) {
    return static_cast<SpeedMask>((mask & ~old) | now);
  };
  port.speed_enabled = replace(port.speed_enabled, known.speed_enabled, info.speed_enabled);
  port.speed_supported = replace(port.speed_supported, known.speed_supported, info.speed_supported);
  if (is_qdr_or_fdr10(port.speed_active)) port.speed_active = info.speed_active ? info.speed_active : kSpeedQdr;
  known = info;
  const bool news = port.speed_active != before.speed_active || port.speed_enabled != before.speed_enabled ||
                    port.speed_supported != before.speed_supported;
  changed_ |= news;
  return news;
}

void Subnet::describe(NodeIndex index, std::span<const std::uint8_t> description, const NodeNameMap& names) {
  Node& node = nodes_[index];
  std::string text = to_valid_utf8(std::as_bytes(description));
  const auto mapped = names.find(node.guid);
  const bool is_given = mapped != names.end();
  const bool aggregation = is_aggregation_node(node.type, node.vendor_id, node.device_id, text);
  // Thousands of adapters have their maker's text: none of them is a host of that name.
  const bool is_nobodys = node.type == NodeType::kChannelAdapter && !aggregation && is_nobodys_description(text);
  std::string name = is_given ? mapped->second : text.empty() || is_nobodys ? to_string(node.guid) : text;
  if (text == node.description && name == node.name && is_given == node.name_is_given &&
      aggregation == node.aggregation_node)
    return;
  node.description = std::move(text);
  node.name = std::move(name);
  node.name_is_given = is_given;
  node.aggregation_node = aggregation;
  changed_ = true;
}

bool Subnet::is_here(PortIndex index) const {
  const Port& port = ports_[index];
  if (nodes_[port.node].type == NodeType::kSwitch) return true;
  if (port.node == local_node() && port.number == local_port_) return true;
  return port.peer != kNoIndex && not_down(ports_[port.peer]);
}

bool Subnet::link_usable(const Port& port) const {
  if (port.peer == kNoIndex || !not_down(port)) return false;
  // What a node that could not be reached said last is out of date; of one that is read in each sweep it counts.
  const Port& far = ports_[port.peer];
  return not_down(far) || !nodes_[far.node].reachable;
}

bool Subnet::recompute_routes() {
  if (nodes_.empty()) return false;
  std::vector<bool> reached(nodes_.size(), false);
  queue_.clear();
  queue_.push_back(local_node());
  reached[local_node()] = true;
  reach_[local_node()].parent = kNoIndex;
  reach_[local_node()].hops = 0;
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    const NodeIndex here = queue_[head];
    const Node& node = nodes_[here];
    // Adapters do not forward: only our own may be left, and only by the port we sit on.
    if (node.type != NodeType::kSwitch && here != local_node()) continue;
    if (reach_[here].hops >= DirectedRoute::kMaximumHops) continue;
    for (PortIndex p = node.first_port; p < node.first_port + node.port_entries(); ++p) {
      const Port& port = ports_[p];
      if (here == local_node() && node.type != NodeType::kSwitch && port.number != local_port_) continue;
      if (!link_usable(port)) continue;
      const NodeIndex there = ports_[port.peer].node;
      if (reached[there]) continue;
      reached[there] = true;
      if (Port& arrival = ports_[port.peer]; !not_down(arrival)) {
        // It said so before it was cut off, and this side knows better: unknown until it is read again.
        arrival.state = PortState::kUnknown;
        arrival.physical_state = PortPhysicalState::kUnknown;
        changed_ = true;
      }
      Reach& reach = reach_[there];
      reach.parent = here;
      reach.parent_exit = port.number;
      reach.hops = static_cast<std::uint8_t>(reach_[here].hops + 1);
      queue_.push_back(there);
    }
  }
  bool news = false;
  for (NodeIndex i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].reachable == reached[i]) continue;
    nodes_[i].reachable = reached[i];
    if (reached[i]) {
      reach_[i].silent_sweeps = 0;  // the way to it is open again: ask at once
      reach_[i].ask_again_at = 0;
    }
    news = true;
  }
  changed_ |= news;
  return news;
}

std::optional<DirectedRoute> Subnet::route_to(NodeIndex index) const {
  DirectedRoute route;
  route.hops = reach_[index].hops;
  NodeIndex here = index;
  for (std::size_t hop = route.hops; hop > 0; --hop) {
    if (here == kNoIndex) return std::nullopt;
    route.ports[hop] = static_cast<std::uint8_t>(reach_[here].parent_exit.value);
    here = reach_[here].parent;
  }
  if (here != local_node()) return std::nullopt;
  return route;
}

std::uint32_t Subnet::silent_neighbors() const {
  std::uint32_t count = 0;
  for (const Port& port : ports_) {
    const Node& node = nodes_[port.node];
    const bool may_leave_by_it = node.type == NodeType::kSwitch
                                     ? port.number.value != 0
                                     : port.node == local_node() && port.number == local_port_;
    count += may_leave_by_it && port.peer == kNoIndex && port.physical_state == PortPhysicalState::kLinkUp &&
             node.reachable && reach_[port.node].silent_sweeps == 0;
  }
  return count;
}

std::shared_ptr<const Topology> Subnet::publish() {
  changed_ = false;
  return std::make_shared<const Topology>(epoch_, nodes_, ports_, duplicates_);
}

}  // namespace weft::infiniband
