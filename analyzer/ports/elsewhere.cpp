// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/elsewhere.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/ports/freshness.hpp"

namespace weft::analyzer {
namespace {

/// That port has said so itself, after `since`.
bool is_up(const Sweep& sweep, PortIndex port, TimePoint since) {
  const Topology& topology = *sweep.topology;
  return topology.port(port).is_up() && topology.node_of(topology.port(port)).reachable &&
         port < sweep.state_read_at.size() && sweep.state_read_at[port] > since;
}

}  // namespace

bool is_link_up(const Sweep& sweep, PortIndex port, TimePoint since) {
  const PortIndex peer = sweep.topology->port(port).peer;
  return peer != kNoIndex && (is_up(sweep, port, since) || is_up(sweep, peer, since));
}

bool has_answered(const Sweep& sweep, NodeIndex index, TimePoint since) {
  const Node& node = sweep.topology->node(index);
  const auto end =
      std::min<std::size_t>(std::size_t{node.first_port} + node.port_entries(), sweep.state_read_at.size());
  for (std::size_t port = node.first_port; port < end; ++port)
    if (node.reachable && sweep.state_read_at[port] > since) return true;
  return false;
}

const Sweep* OtherSubnets::find_port(PortKey key, TimePoint since) const {
  for (const auto& sweep : sweeps_) {
    const PortIndex port = sweep->topology->find_port(key);
    if (port != kNoIndex && is_link_up(*sweep, port, since)) return sweep.get();
  }
  return nullptr;
}

const Sweep* OtherSubnets::find_switch(NodeGuid guid, TimePoint since) const {
  for (const auto& sweep : sweeps_) {
    const NodeIndex node = sweep->topology->find_node(guid);
    if (node != kNoIndex && has_answered(*sweep, node, since)) return sweep.get();
  }
  return nullptr;
}

const Sweep* OtherSubnets::find_node(NodeGuid guid) const {
  for (const auto& sweep : sweeps_) {
    const Topology& topology = *sweep->topology;
    const NodeIndex index = topology.find_node(guid);
    if (index == kNoIndex) continue;
    const Node& node = topology.node(index);
    if (node.type == NodeType::kSwitch && has_answered(*sweep, index, kNever)) return sweep.get();
    for (PortIndex port = node.first_port; port < node.first_port + node.port_entries(); ++port)
      if (find_port(topology.key_of(port)) == sweep.get()) return sweep.get();
  }
  return nullptr;
}

bool OtherSubnets::has(std::string_view fabric) const {
  return std::ranges::any_of(sweeps_, [&](const auto& sweep) { return sweep->fabric == fabric; });
}

std::vector<std::shared_ptr<const Topology>> OtherSubnets::graphs() const {
  std::vector<std::shared_ptr<const Topology>> graphs;
  for (const auto& sweep : sweeps_) graphs.push_back(sweep->topology);
  return graphs;
}

MovedAdapters::MovedAdapters(std::span<const FabricView> views,
                             std::span<const std::shared_ptr<const Incident>> incidents) {
  for (const FabricView& view : views)
    if (view.sweep && !view.sweep->topology->is_ethernet() && !is_blind(view))
      subnets_.push_back({view.name, OtherSubnets({view.sweep})});
  for (const auto& incident : incidents)
    if (incident->is_open() && incident->finding.kind == IncidentKind::kDuplicateGuid)
      double_.push_back(incident->finding.cause.port.node);
  std::ranges::sort(double_, {}, &NodeGuid::value);
}

bool MovedAdapters::has_left(const FabricView& here, NodeIndex adapter) const {
  const Topology& topology = *here.sweep->topology;
  const Node& node = topology.node(adapter);
  if (std::ranges::binary_search(double_, node.guid.value, {}, &NodeGuid::value)) return false;
  // Of a port that has no place here the other subnet says nothing: each port of an adapter may be in one of its own.
  for (PortIndex port = node.first_port; port < node.first_port + node.port_entries(); ++port)
    if (topology.port(port).peer != kNoIndex && std::ranges::any_of(subnets_, [&](const Subnet& other) {
          return other.name != here.name && other.alone.find_port(topology.key_of(port));
        }))
      return true;
  return false;
}

}  // namespace weft::analyzer
