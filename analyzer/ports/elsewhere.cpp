// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/elsewhere.hpp"

#include <algorithm>

#include "analyzer/ports/freshness.hpp"

namespace weft::analyzer {
namespace {

bool is_read_since(const Sweep& sweep, PortIndex port, TimePoint since) {
  return port < sweep.state_read_at.size() && sweep.state_read_at[port] != kNever && sweep.state_read_at[port] >= since;
}

}  // namespace

bool is_cabled_in(const Sweep& sweep, PortKey end, NodeType type, PortKey other, TimePoint since) {
  const Topology& topology = *sweep.topology;
  if (type == NodeType::kSwitch) {
    const NodeIndex index = topology.find_node(end.node);
    if (index == kNoIndex || !topology.node(index).reachable) return false;
    const Node& node = topology.node(index);
    for (PortIndex port = node.first_port; port < node.first_port + node.port_entries(); ++port)
      if (is_read_since(sweep, port, since)) return true;
    return false;
  }
  const PortIndex port = topology.find_port(end);
  if (type != NodeType::kChannelAdapter || port == kNoIndex) return false;
  const PortIndex peer = topology.port(port).peer;
  return peer != kNoIndex && topology.key_of(peer) != other && topology.port(peer).is_up() &&
         topology.node_of(topology.port(peer)).reachable && is_read_since(sweep, peer, since);
}

bool has_moved_from(const FabricView& here, NodeIndex adapter, std::span<const FabricView> views) {
  const Topology& topology = *here.sweep->topology;
  const Node& node = topology.node(adapter);
  for (PortIndex port = node.first_port; port < node.first_port + node.port_entries(); ++port) {
    const PortIndex peer = topology.port(port).peer;
    if (peer == kNoIndex || topology.port(peer).is_up()) continue;
    const bool is_there = std::ranges::any_of(views, [&](const FabricView& view) {
      return view.name != here.name && view.sweep && view.sweep->topology && !view.sweep->topology->is_ethernet() &&
             !is_blind(view) &&
             is_cabled_in(*view.sweep, topology.key_of(port), node.type, topology.key_of(peer), kNever);
    });
    if (is_there) return true;
  }
  return false;
}

}  // namespace weft::analyzer
