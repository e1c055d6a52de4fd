// SPDX-License-Identifier: Apache-2.0
// Where the ports of hosts stand on the fabrics that are watched.
#include <algorithm>
#include <utility>

#include "analyzer/host_analyzer.hpp"

namespace weft::analyzer {
namespace {

std::string interface_key(std::string_view host, std::string_view interface) {
  return std::string(host) + ' ' + std::string(interface);
}

}  // namespace

/// Other subnets, or other topologies.
void HostAnalyzer::rearrange(std::vector<Subnet> subnets) {
  subnets_ = std::move(subnets);
  by_port_guid_.clear();
  by_interface_.clear();
  host_of_node_.clear();
  for (std::uint32_t subnet = 0; subnet < subnets_.size(); ++subnet) {
    const Topology& topology = *subnets_[subnet].topology;
    for (PortIndex port = 0; port < topology.ports().size(); ++port)
      if (topology.is_ethernet()) {
        if (const auto interface = topology.port_name(port); !interface.empty())
          by_interface_.emplace(interface_key(host_name(topology.node_of(topology.port(port))), interface),
                                std::pair(subnet, port));
      } else if (topology.port(port).guid && topology.node_of(topology.port(port)).type == NodeType::kChannelAdapter)
        by_port_guid_.emplace(topology.port(port).guid.value, std::pair(subnet, port));
  }
  for (auto& [name, host] : hosts_) place(host);
}

bool HostAnalyzer::find_place(const HostWatch& host, const PortWatch& port,
                              std::pair<std::uint32_t, PortIndex>& place) const {
  if (const auto found = by_port_guid_.find(port.guid.value); port.guid && found != by_port_guid_.end()) {
    place = found->second;
    return true;
  }
  if (port.netdev.empty() || by_interface_.empty()) return false;
  const auto found = by_interface_.find(interface_key(host.name, port.netdev));
  if (found == by_interface_.end()) return false;
  place = found->second;
  return true;
}

/// Finds the host's ports on the subnets.
void HostAnalyzer::place(HostWatch& host) {
  for (PortWatch& port : host.ports) {
    port.place.reset();
    std::pair<std::uint32_t, PortIndex> found;
    if (!find_place(host, port, found)) continue;
    const auto& [name, topology] = subnets_[found.first];
    const PortIndex index = found.second;
    const PortKey key = topology->key_of(index);
    host_of_node_[key.node] = host.name;
    const Entity at{
        .kind = EntityKind::kPort, .fabric = name, .port = key, .peer = {}, .label = port_label(*topology, index)};
    Entity link = at;
    if (const auto cable = topology->link_of(index)) {
      const PortIndex low = topology->find_port(cable->low);
      const PortIndex high = topology->find_port(cable->high);
      link.kind = EntityKind::kLink;
      link.port = cable->low;
      link.peer = cable->high;
      link.label = port_label(*topology, low) + " - " + port_label(*topology, high);
    }
    const Port& there = topology->port(index);
    const bool is_up = there.is_up() && topology->node_of(there).reachable;
    if (!is_up) ++port.times_away;
    port.place = SubnetPlace{.port = at,
                             .link = std::move(link),
                             .subnet = found.first,
                             .index = index,
                             .is_up = is_up,
                             .is_ethernet = topology->is_ethernet()};
  }
}

bool HostAnalyzer::is_of_a_switch(const SubnetPlace& place) const {
  const Topology& topology = *subnets_[place.subnet].topology;
  return topology.node_of(topology.port(place.index)).type == NodeType::kSwitch;
}

/// Is it a link of an Ethernet fabric, whose rate and light hosts tell of?
bool HostAnalyzer::is_degradable(const Entity& cause) const {
  return std::ranges::any_of(
      subnets_, [&](const Subnet& subnet) { return subnet.name == cause.fabric && subnet.topology->is_ethernet(); });
}

}  // namespace weft::analyzer
