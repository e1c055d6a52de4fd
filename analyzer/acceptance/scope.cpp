// SPDX-License-Identifier: Apache-2.0
#include "analyzer/acceptance/scope.hpp"

#include <algorithm>

#include "fabric/host_names.hpp"

namespace weft::analyzer {
namespace {

bool is_host(const Node& node) {
  return node.type == NodeType::kChannelAdapter && !node.aggregation_node;
}

template <typename T>
void sort_once(std::vector<T>& all) {
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

void add_port(const Topology& topology, PortIndex port, AcceptanceScope& scope) {
  if (topology.port(port).number.value == 0) return;
  scope.ports.push_back(port);
  if (const PortIndex peer = topology.port(port).peer; peer != kNoIndex && topology.port(peer).number.value != 0)
    scope.ports.push_back(peer);
}

void add_node(const Topology& topology, const Node& node, AcceptanceScope& scope) {
  for (PortIndex i = 0; i < node.port_entries(); ++i) add_port(topology, node.first_port + i, scope);
}

}  // namespace

std::string_view host_at(const Topology& topology, PortIndex port) {
  const Node& own = topology.node_of(topology.port(port));
  if (is_host(own)) return host_name(own);
  const PortIndex peer = topology.port(port).peer;
  if (peer == kNoIndex || !is_host(topology.node_of(topology.port(peer)))) return {};
  return host_name(topology.node_of(topology.port(peer)));
}

AcceptanceScope select_ports(const AcceptanceRun& run, const Topology& topology) {
  AcceptanceScope scope;
  std::unordered_multimap<std::string, std::size_t> wanted;  // by short name: same_host() decides
  std::vector<bool> is_found(run.targets.size());
  for (std::size_t i = 0; i < run.targets.size(); ++i) {
    const AcceptanceTarget& target = run.targets[i];
    if (target.kind == AcceptanceTargetKind::kHost) wanted.emplace(short_host_name(target.name), i);
    if (target.kind == AcceptanceTargetKind::kLink)
      if (const PortIndex port = topology.find_port(target.port); port != kNoIndex) {
        is_found[i] = true;
        add_port(topology, port, scope);
      }
    if (target.kind == AcceptanceTargetKind::kSwitch)
      if (const NodeIndex node = topology.find_node(target.port.node); node != kNoIndex) {
        is_found[i] = true;
        scope.switches.push_back(node);
        add_node(topology, topology.node(node), scope);
      }
  }
  for (NodeIndex i = 0; i < topology.nodes().size(); ++i) {
    const Node& node = topology.node(i);
    if (run.targets.empty()) {
      if (node.type == NodeType::kSwitch) scope.switches.push_back(i);
      if (is_host(node)) scope.hosts.emplace_back(host_name(node));
      add_node(topology, node, scope);
    } else if (is_host(node) && !wanted.empty()) {
      const auto [begin, end] = wanted.equal_range(short_host_name(host_name(node)));
      for (auto it = begin; it != end; ++it)
        if (same_host(host_name(node), run.targets[it->second].name)) {
          is_found[it->second] = true;
          scope.hosts.emplace_back(host_name(node));
          add_node(topology, node, scope);
        }
    }
  }
  for (std::size_t i = 0; i < is_found.size(); ++i)
    if (is_found[i]) scope.found.push_back(run.targets[i]);
  sort_once(scope.ports);
  sort_once(scope.switches);
  for (const PortIndex port : scope.ports)
    if (const auto host = host_at(topology, port); !host.empty()) scope.hosts.emplace_back(host);
  sort_once(scope.hosts);
  return scope;
}

}  // namespace weft::analyzer
