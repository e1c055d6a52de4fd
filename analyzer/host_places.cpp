// SPDX-License-Identifier: Apache-2.0
// Where the ports of hosts stand on the fabrics that are watched.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/host_analyzer.hpp"
#include "fabric/host_names.hpp"

namespace weft::analyzer {
namespace {

std::string interface_key(std::string_view host, std::string_view interface) {
  return std::string(host) + ' ' + std::string(interface);
}

/// Hosts and switches in what an Ethernet fabric calls a port ("gpu-7 eth2"), a link ("gpu-7 eth2 - leaf-1 swp3") or a
/// node: nodes that are not there any more stand in no topology.
std::vector<std::string> hosts_in(const Entity& cause) {
  std::vector<std::string> names;
  const std::string& label = cause.label;
  for (std::size_t at = 0; at != std::string::npos;) {
    names.push_back(label.substr(at, label.find(' ', at) - at));
    const std::size_t other = cause.kind == EntityKind::kLink ? label.find(" - ", at) : std::string::npos;
    at = other == std::string::npos ? other : other + 3;
  }
  return names;
}

std::string known_label(PortKey key, const KnownEnd& end) {
  return (end.node_name.empty() ? to_string(key.node) : end.node_name) + " port " + std::to_string(key.port.value);
}

/// The other end of its cable says that it is up.
bool is_cabled(const Topology& topology, PortIndex port) {
  const PortIndex peer = topology.port(port).peer;
  return peer != kNoIndex && topology.port(peer).is_up();
}

/// The host in the name of an adapter, as its fabric has it; empty where no host wrote that name.
std::string host_in_name(const std::string& adapter) {
  Node node;
  node.type = NodeType::kChannelAdapter;
  node.name = adapter;
  return is_nobodys_description(adapter) ? std::string() : std::string(host_name(node));
}

/// What a collector tells may have been read so long before.
constexpr Duration kReadBefore = std::chrono::seconds(5);

}  // namespace

/// Other subnets, or other topologies.
void HostAnalyzer::rearrange(std::vector<Subnet> subnets) {
  subnets_ = std::move(subnets);
  by_port_guid_.clear();
  by_interface_.clear();
  held_before_ = std::exchange(host_of_node_, {});
  for (std::uint32_t subnet = 0; subnet < subnets_.size(); ++subnet) {
    const Topology& topology = *subnets_[subnet].topology;
    for (PortIndex port = 0; port < topology.ports().size(); ++port)
      if (topology.is_ethernet()) {
        if (const auto interface = topology.port_name(port); !interface.empty())
          by_interface_.emplace(interface_key(host_name(topology.node_of(topology.port(port))), interface),
                                std::pair(subnet, port));
      } else if (topology.port(port).guid && topology.node_of(topology.port(port)).type == NodeType::kChannelAdapter) {
        // Two subnets may show it: it was moved, or its other port is there.
        const auto [at, is_new] = by_port_guid_.emplace(topology.port(port).guid.value, std::pair(subnet, port));
        const auto& [before, port_before] = at->second;
        if (!is_new && !is_cabled(*subnets_[before].topology, port_before) && is_cabled(topology, port))
          at->second = {subnet, port};
      }
  }
  for (auto& [name, host] : hosts_) place(host);
}

bool HostAnalyzer::find_place(const HostWatch& host, const PortWatch& port,
                              std::pair<std::uint32_t, PortIndex>& place) const {
  if (const auto found = by_port_guid_.find(port.guid.value); port.guid && found != by_port_guid_.end()) {
    place = found->second;
    const auto& [name, topology, is_blind] = subnets_[place.first];
    if (is_cabled(*topology, place.second)) return true;
    // It may have left for another one that is not swept now.
    const auto known = known_ports_.find({port.node, PortNum{port.number}});
    return known == known_ports_.end() || known_[known->second.first].name == name;
  }
  if (port.netdev.empty() || by_interface_.empty()) return false;
  const auto found = by_interface_.find(interface_key(host.name, port.netdev));
  if (found == by_interface_.end()) return false;
  place = found->second;
  return true;
}

void HostAnalyzer::set_known(std::vector<KnownSubnet> subnets) {
  known_ = std::move(subnets);
  known_ports_.clear();
  for (std::uint32_t subnet = 0; subnet < known_.size(); ++subnet)
    for (std::uint32_t link = 0; link < known_[subnet].host_links->size(); ++link) {
      const KnownLink& known = (*known_[subnet].host_links)[link];
      for (const auto& [key, end] : {std::pair(known.key.low, &known.low), {known.key.high, &known.high}})
        if (end->type == NodeType::kChannelAdapter) {
          // One that was put into another subnet, or whose subnet has another name now, is known by two.
          const auto [at, is_new] = known_ports_.try_emplace(key, subnet, link);
          if (!is_new && known_[at->second.first].sight < known_[subnet].sight) at->second = {subnet, link};
        }
    }
  for (auto& [name, host] : hosts_) place(host);
}

std::optional<Entity> HostAnalyzer::known_link(const PortWatch& port) const {
  if (!port.node) return std::nullopt;
  const auto found = known_ports_.find({port.node, PortNum{port.number}});
  if (found == known_ports_.end()) return std::nullopt;
  const KnownSubnet& subnet = known_[found->second.first];
  const auto& [key, low, high] = (*subnet.host_links)[found->second.second];
  return Entity{.kind = EntityKind::kLink,
                .fabric = subnet.name,
                .port = key.low,
                .peer = key.high,
                .label = known_label(key.low, low) + " - " + known_label(key.high, high)};
}

std::optional<PlaceBefore> HostAnalyzer::place_before(const PortWatch& port,
                                                      const std::optional<SubnetPlace>& was) const {
  // Of a fabric that is not shown any more, or not under that name, nobody is told.
  const auto where_shown = [this](Entity link) -> std::optional<PlaceBefore> {
    if (const auto swept = std::ranges::find(subnets_, link.fabric, &Subnet::name); swept != subnets_.end())
      return PlaceBefore{std::move(link), !swept->is_blind};
    if (const auto known = std::ranges::find(known_, link.fabric, &KnownSubnet::name); known != known_.end())
      return PlaceBefore{std::move(link), known->sight != SubnetSight::kUnswept};
    return std::nullopt;
  };
  // By its GUIDs first: a name may be another subnet's by now.
  std::optional<PlaceBefore> before;
  if (auto link = known_link(port)) before = where_shown(std::move(*link));
  if (!before && was && !was->is_ethernet && was->link.kind == EntityKind::kLink) before = where_shown(was->link);
  if (!before && port.place_before) before = where_shown(port.place_before->link);
  return before;
}

/// Finds the host's ports on the subnets. Of one that was not heard yet they are only remembered.
void HostAnalyzer::place(HostWatch& host) {
  if (!host.inventory) return;
  for (PortWatch& port : host.ports) {
    const auto was = std::exchange(port.place, std::nullopt);
    std::pair<std::uint32_t, PortIndex> found;
    const bool is_there = find_place(host, port, found);
    port.place_before = is_there ? std::nullopt : place_before(port, was);
    if (port.place_before) claim(port.node, host.name);
    if (!is_there) continue;
    const auto& [name, topology, is_blind] = subnets_[found.first];
    const PortIndex index = found.second;
    const PortKey key = topology->key_of(index);
    claim(key.node, host.name);
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
                             .is_ethernet = topology->is_ethernet(),
                             .is_blind = is_blind};
  }
}

std::string HostAnalyzer::name_on_fabric(NodeGuid adapter) const {
  for (const Subnet& subnet : subnets_)
    if (const NodeIndex node = subnet.topology->find_node(adapter); node != kNoIndex)
      return host_in_name(subnet.topology->node(node).name);
  const auto known = known_ports_.lower_bound({adapter, PortNum{}});
  if (known == known_ports_.end() || known->first.node != adapter) return {};
  const KnownLink& link = (*known_[known->second.first].host_links)[known->second.second];
  return host_in_name((link.key.low == known->first ? link.low : link.high).node_name);
}

// Any collector may claim any adapter: the one that has the name of its host is believed, else who had it before, else
// the first one.
void HostAnalyzer::claim(NodeGuid adapter, const std::string& host) {
  std::string& holder = host_of_node_[adapter];
  if (holder == host) return;
  if (!holder.empty() && find_host(holder)) {
    const std::string name = name_on_fabric(adapter);
    const auto before = held_before_.find(adapter);
    const auto right = [&](const std::string& of) {
      const int fit = of == name ? 2 : !name.empty() && same_host(of, name);
      return std::pair(fit, before != held_before_.end() && before->second == of);
    };
    if (right(host) <= right(holder)) return;
  }
  holder = host;
}

bool HostAnalyzer::is_up_without_sweeps(PortKey key, TimePoint since) const {
  const HostWatch* const host = host_at(key.node);
  if (!host || !host->has_reading || host->lost) return false;
  if (const std::string name = name_on_fabric(key.node); !name.empty() && !same_host(name, host->name)) return false;
  // What it told a moment later it may have read before.
  if (since != kNever && host->heard - since < std::max<Duration>(2 * host->interval, kReadBefore)) return false;
  return std::ranges::any_of(host->ports, [&](const PortWatch& port) {
    return port.node == key.node && (key.port.value == 0 || port.number == key.port.value) && is_unswept(port) &&
           port.present && port.known && port.up;
  });
}

bool HostAnalyzer::is_of_a_switch(const SubnetPlace& place) const {
  const Topology& topology = *subnets_[place.subnet].topology;
  return topology.node_of(topology.port(place.index)).type == NodeType::kSwitch;
}

bool HostAnalyzer::is_ethernet(std::string_view fabric) const {
  return std::ranges::any_of(
      subnets_, [&](const Subnet& subnet) { return subnet.name == fabric && subnet.topology->is_ethernet(); });
}

bool HostAnalyzer::is_told_by(const std::string& host, const Entity& cause) const {
  const auto subnet = std::ranges::find(subnets_, cause.fabric, &Subnet::name);
  if (cause.fabric.empty() || (subnet != subnets_.end() && !subnet->topology->is_ethernet())) return false;
  return std::ranges::any_of(hosts_in(cause), [&](const std::string& name) { return same_host(name, host); });
}

bool HostAnalyzer::is_forgotten_on_ethernet(IncidentKind kind, const Entity& cause) const {
  // Of a switch that is down others tell, of a cable that leads elsewhere whoever is at its end now.
  if (kind == IncidentKind::kMiscabled || kind == IncidentKind::kTelemetryLost) return false;
  if (cause.kind == EntityKind::kNode ? kind != IncidentKind::kNodeDown
                                      : cause.kind != EntityKind::kLink && cause.kind != EntityKind::kPort)
    return false;
  if (host_at(cause.port.node) || host_at(cause.peer.node)) return false;
  return std::ranges::none_of(hosts_in(cause), [&](const std::string& name) {
    return find_host(name) != nullptr ||
           std::ranges::any_of(hosts_, [&](const auto& entry) { return same_host(entry.first, name); });
  });
}

std::vector<MarkedPort> HostAnalyzer::marks(std::string_view fabric, TimePoint now) const {
  std::vector<MarkedPort> found;
  for (const auto& [name, host] : hosts_) {
    if (host.lost) continue;
    for (const PortWatch& port : host.ports)
      if (port.place && port.place->is_ethernet && port.place->port.fabric == fabric)
        if (const auto marks = signals_.marks(host, port, now)) found.push_back({port.place->port.port, *marks});
  }
  return found;
}

}  // namespace weft::analyzer
