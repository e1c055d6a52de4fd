// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/neighbours.hpp"

#include <algorithm>
#include <array>

#include "fabric/graph/directed_path.hpp"

namespace weft::analyzer {
namespace {

bool answers(const Sweep& sweep, NodeIndex index, unsigned stale_intervals) {
  const Node& node = sweep.topology->node(index);
  if (!node.reachable) return false;
  const TimePoint since = sweep.started - sweep.interval * stale_intervals - sweep.statistics.duration;
  for (PortIndex port = node.first_port; port < node.first_port + node.port_entries(); ++port)
    // What lies ahead was read before the clock was set back.
    if (port < sweep.state_read_at.size() && sweep.state_read_at[port] >= since &&
        sweep.state_read_at[port] <= sweep.finished)
      return true;
  return false;
}

/// Calls `visit(node, way)` for both ends of the link with kNoIndex, and for what has a cable to one of them with the
/// end's port. A node may be visited more than once.
template <typename Visit>
void visit_neighbours(const Entity& link, const Topology& topology, Visit visit) {
  for (const PortKey end : {link.port, link.peer}) {
    const NodeIndex node = topology.find_node(end.node);
    if (node == kNoIndex) continue;
    visit(node, PortIndex{kNoIndex});
    const Node& at = topology.node(node);
    for (PortIndex port = at.first_port; port < at.first_port + at.port_entries(); ++port)
      if (topology.port(port).peer != kNoIndex) visit(topology.port(topology.port(port).peer).node, port);
  }
}

void sort_unique(std::vector<NodeGuid>& nodes) {
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
}

}  // namespace

std::optional<PortKey> end_to_set(const Entity& target, const FabricView* fabric) {
  if (target.kind != EntityKind::kLink || !fabric || !fabric->sweep) return std::nullopt;
  const auto ends =
      find_link_ends(*fabric->sweep->topology, fabric->sweep->local_port, make_link_key(target.port, target.peer));
  return ends ? std::optional(ends->ours) : std::nullopt;
}

bool is_link_read(const Entity& link, const Sweep& sweep) {
  return std::ranges::any_of(std::array{link.port, link.peer}, [&sweep](PortKey end) {
    const NodeIndex node = sweep.topology->find_node(end.node);
    return node != kNoIndex && answers(sweep, node, 0);
  });
}

bool is_port_read(PortIndex port, const Sweep& sweep) {
  return port < sweep.state_read_at.size() && sweep.state_read_at[port] >= sweep.started &&
         sweep.state_read_at[port] <= sweep.finished;
}

std::vector<NodeGuid> answering_neighbours(const Entity& link, const FabricView& fabric, unsigned stale_intervals) {
  std::vector<NodeGuid> nodes;
  if (!fabric.sweep) return nodes;
  visit_neighbours(link, *fabric.sweep->topology, [&](NodeIndex node, PortIndex) {
    if (answers(*fabric.sweep, node, stale_intervals)) nodes.push_back(fabric.sweep->topology->node(node).guid);
  });
  sort_unique(nodes);
  return nodes;
}

std::string silent_neighbours(const std::vector<NodeGuid>& before, const Entity& link, const FabricView& fabric,
                              unsigned stale_intervals) {
  if (before.empty() || !fabric.sweep) return {};
  const Topology& topology = *fabric.sweep->topology;
  std::vector<NodeGuid> silent;
  visit_neighbours(link, topology, [&](NodeIndex node, PortIndex way) {
    if (way != kNoIndex && !topology.port(way).is_up()) return;
    const NodeGuid guid = topology.node(node).guid;
    if (std::ranges::binary_search(before, guid) && !answers(*fabric.sweep, node, stale_intervals))
      silent.push_back(guid);
  });
  sort_unique(silent);
  if (silent.empty()) return {};
  const std::string& first = topology.node(topology.find_node(silent.front())).name;
  return first + (silent.size() == 1 ? " answers no more"
                                     : " and " + std::to_string(silent.size() - 1) + " more neighbours answer no more");
}

}  // namespace weft::analyzer
