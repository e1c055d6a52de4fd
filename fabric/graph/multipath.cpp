// SPDX-License-Identifier: Apache-2.0
#include "fabric/graph/multipath.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

namespace weft {
namespace {

bool is_switch(const Topology& topology, NodeIndex node) {
  return topology.node(node).type == NodeType::kSwitch;
}

}  // namespace

Multipath::Multipath(std::shared_ptr<const Topology> topology) : topology_(std::move(topology)) {
  const std::size_t nodes = topology_->nodes().size();
  switch_of_.assign(nodes, kNoIndex);
  position_.assign(nodes, kNoIndex);
  for (NodeIndex node = 0; node < nodes; ++node)
    if (is_switch(*topology_, node)) switch_of_[node] = static_cast<std::uint32_t>(switches_++);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> cables;  // between switches, both directions
  for (PortIndex index = 0; index < topology_->ports().size(); ++index) {
    const Port& port = topology_->port(index);
    if (port.peer == kNoIndex || !is_switch(*topology_, port.node)) continue;
    const NodeIndex other = topology_->port(port.peer).node;
    if (is_switch(*topology_, other)) {
      if (is_usable(index)) cables.emplace_back(switch_of_[port.node], switch_of_[other]);
    } else if (position_[port.node] == kNoIndex) {
      position_[port.node] = static_cast<std::uint32_t>(edges_.size());
      edges_.push_back(port.node);
    }
  }
  // Parallel cables are as good as one here.
  std::ranges::sort(cables);
  cables.erase(std::unique(cables.begin(), cables.end()), cables.end());
  distances_.assign(edges_.size() * switches_, kUnreachable);

  // All edges at once, breadth first: a bit for each edge says whether a switch was reached from it.
  const std::size_t words = (edges_.size() + 63) / 64;
  std::vector<std::uint64_t> reached(switches_ * words), next;
  for (std::uint32_t edge = 0; edge < edges_.size(); ++edge) {
    const std::size_t at = switch_of_[edges_[edge]];
    reached[at * words + edge / 64] |= 1ULL << (edge % 64);
    distances_[edge * switches_ + at] = 0;
  }
  bool grows = true;
  for (std::uint8_t away = 1; grows && away < kUnreachable; ++away) {
    next = reached;
    for (const auto& [from, to] : cables)
      for (std::size_t word = 0; word < words; ++word) next[to * words + word] |= reached[from * words + word];
    grows = false;
    for (std::size_t i = 0; i < next.size(); ++i)
      for (std::uint64_t fresh = next[i] & ~reached[i]; fresh != 0; fresh &= fresh - 1) {
        const std::size_t edge = i % words * 64 + static_cast<std::size_t>(std::countr_zero(fresh));
        distances_[edge * switches_ + i / words] = away;
        grows = true;
      }
    reached.swap(next);
  }
}

bool Multipath::is_usable(PortIndex sender) const {
  const Port& port = topology_->port(sender);
  return port.peer != kNoIndex && port.state != PortState::kDown &&
         topology_->port(port.peer).state != PortState::kDown;
}

std::uint32_t Multipath::edge_of(PortIndex host_port) const {
  const PortIndex peer = topology_->port(host_port).peer;
  return peer == kNoIndex || is_switch(*topology_, topology_->port(host_port).node)
             ? kNoIndex
             : position_[topology_->port(peer).node];
}

bool Multipath::leads_to(PortIndex egress, std::uint32_t edge) const {
  if (!is_usable(egress)) return false;
  const Port& port = topology_->port(egress);
  const NodeIndex other = topology_->port(port.peer).node;
  if (!is_switch(*topology_, port.node) || !is_switch(*topology_, other)) return false;
  const std::uint8_t here = distance(edge, port.node);
  return here != kUnreachable && here > 0 && distance(edge, other) == here - 1;
}

std::vector<PortIndex> Multipath::next_hops(NodeIndex node, PortIndex to) const {
  std::vector<PortIndex> ports;
  const std::uint32_t edge = edge_of(to);
  if (edge == kNoIndex || topology_->port(to).node == node) return ports;
  const Node& from = topology_->node(node);
  if (from.type != NodeType::kSwitch) {
    for (PortIndex port = from.first_port; port < from.first_port + from.port_entries(); ++port)
      if (is_usable(port)) ports.push_back(port);
    return ports;
  }
  if (node == edges_[edge]) {
    const PortIndex last = topology_->port(to).peer;
    if (is_usable(last)) ports.push_back(last);
    return ports;
  }
  for (PortIndex port = from.first_port; port < from.first_port + from.port_entries(); ++port)
    if (leads_to(port, edge)) ports.push_back(port);
  return ports;
}

bool Multipath::connects(PortIndex from, PortIndex to) const {
  const std::uint32_t edge = edge_of(to);
  const NodeIndex destination = topology_->port(to).node;
  if (edge == kNoIndex || edge_of(from) == kNoIndex || topology_->port(from).node == destination) return false;
  const NodeIndex first = topology_->port(topology_->port(from).peer).node;
  return is_usable(from) && is_usable(topology_->port(to).peer) && distance(edge, first) != kUnreachable;
}

std::vector<Multipath::Share> Multipath::shares(PortIndex from, PortIndex to) const {
  if (!connects(from, to)) return {};
  const std::uint32_t edge = edge_of(to);
  const PortIndex last = topology_->port(to).peer;
  const NodeIndex first = topology_->port(topology_->port(from).peer).node;
  std::vector<Share> found{{from, 1.0}};
  // Switches equally far from the end, and what comes to each; all have a next one.
  std::map<NodeIndex, double> here{{first, 1.0}}, next;
  while (!here.contains(edges_[edge])) {
    next.clear();
    for (const auto& [node, amount] : here) {
      const std::vector<PortIndex> ports = next_hops(node, to);
      for (const PortIndex port : ports) {
        const double share = amount / static_cast<double>(ports.size());
        found.push_back({port, share});
        next[topology_->port(topology_->port(port).peer).node] += share;
      }
    }
    here.swap(next);
  }
  found.push_back({last, 1.0});
  return found;
}

bool Multipath::carries(PortIndex egress, PortIndex next) const {
  const Port& port = topology_->port(egress);
  if (!is_usable(egress) || !is_usable(next) || port.peer == next) return false;
  const NodeIndex between = topology_->port(next).node;
  const bool from_host = !is_switch(*topology_, port.node);
  if (!is_switch(*topology_, topology_->port(topology_->port(next).peer).node))
    return from_host || leads_to(egress, position_[between]);
  for (std::uint32_t edge = 0; edge < edges_.size(); ++edge)
    if ((from_host || leads_to(egress, edge)) && leads_to(next, edge)) return true;
  return false;
}

bool Multipath::may_pass(PortIndex from, PortIndex egress) const {
  const std::uint32_t first = edge_of(from);
  const Port& port = topology_->port(egress);
  if (first == kNoIndex || !is_usable(from) || !is_usable(egress) || port.peer == from) return false;
  if (!is_switch(*topology_, port.node)) return false;
  const std::uint8_t before = distance(first, port.node);  // cables are as long in both directions
  if (before == kUnreachable) return false;
  if (!is_switch(*topology_, topology_->port(port.peer).node)) return true;
  for (std::uint32_t edge = 0; edge < edges_.size(); ++edge)
    if (leads_to(egress, edge) && distance(edge, edges_[first]) == before + distance(edge, port.node)) return true;
  return false;
}

std::vector<NodeIndex> Multipath::destinations_over(PortIndex egress) const {
  std::vector<NodeIndex> nodes;
  const Port& port = topology_->port(egress);
  if (!is_usable(egress) || !is_switch(*topology_, port.node)) return nodes;
  if (!is_switch(*topology_, topology_->port(port.peer).node)) return {port.node};
  for (std::uint32_t edge = 0; edge < edges_.size(); ++edge)
    if (leads_to(egress, edge)) nodes.push_back(edges_[edge]);
  return nodes;
}

}  // namespace weft
