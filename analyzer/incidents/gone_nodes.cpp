// SPDX-License-Identifier: Apache-2.0
#include "analyzer/incidents/gone_nodes.hpp"

#include <algorithm>

#include "fabric/host_names.hpp"

namespace weft::analyzer {

std::string name_in(const Entity& link, PortKey end, const Topology& topology) {
  const PortKey known = end == link.port ? link.peer : link.port;
  const PortIndex port = topology.find_port(known);
  if (port != kNoIndex) {
    const std::string other = port_label(topology, port), own = " port " + std::to_string(end.port.value);
    std::string_view rest = link.label;
    if (rest.starts_with(other + " - "))
      rest.remove_prefix(other.size() + 3);
    else if (rest.ends_with(" - " + other))
      rest.remove_suffix(other.size() + 3);
    if (rest.size() < link.label.size())
      return rest.ends_with(own) ? std::string(rest.substr(0, rest.size() - own.size())) : std::string();
  }
  const std::string between = " port " + std::to_string(link.port.port.value) + " - ";
  const std::string last = " port " + std::to_string(link.peer.port.value);
  const std::size_t at = link.label.find(between);
  const std::size_t second = at + between.size();
  if (at == std::string::npos || !link.label.ends_with(last) || link.label.size() < second + last.size()) return {};
  return end == link.port ? link.label.substr(0, at)
                          : link.label.substr(second, link.label.size() - second - last.size());
}

bool is_switch_gone(const Finding& finding, NodeGuid node) {
  bool is_named = false, are_others = false;
  if (finding.cause.kind == EntityKind::kLink)
    for (const Entity& affected : finding.affected) {
      if (affected.kind != EntityKind::kNode) continue;
      const bool is_end =
          affected.port.node == finding.cause.port.node || affected.port.node == finding.cause.peer.node;
      (is_end ? is_named : are_others) |= !is_end || affected.port.node == node;
    }
  return is_named && are_others;
}

bool is_adapter_name(const std::string& name) {
  Node adapter;
  adapter.type = NodeType::kChannelAdapter;
  adapter.name = name;
  const std::string_view host = host_name(adapter);
  if (host == name || is_nobodys_description(name)) return false;
  return std::ranges::any_of(name.substr(host.size()), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace weft::analyzer
