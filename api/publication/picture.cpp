#include "api/publication/picture.hpp"

#include <algorithm>

namespace weft::api {

bool is_ready(const Snapshot& snapshot) {
  if (!snapshot.health || (snapshot.fabrics.empty() && snapshot.watches_subnets)) return false;
  return std::all_of(snapshot.fabrics.begin(), snapshot.fabrics.end(),
                     [](const FabricView& fabric) { return fabric.sweep && fabric.sweep->topology; });
}

bool never_seen(const Sweep& sweep, PortIndex port) {
  return sweep.topology->port(port).state == PortState::kUnknown && counters_read_at(sweep, port) == kNever &&
         (port >= sweep.state_read_at.size() || sweep.state_read_at[port] == kNever);
}

TimePoint counters_read_at(const Sweep& sweep, PortIndex port) {
  return sweep.counters && port < sweep.counters->rows() ? sweep.counters->read_at(port) : kNever;
}

bool is_stale(const FabricView& fabric, PortIndex port, TimePoint now) {
  const Sweep& sweep = *fabric.sweep;
  const Duration limit = fabric.stale_after > Duration::zero() ? fabric.stale_after : 3 * sweep.interval;
  const TimePoint oldest_allowed = now - limit;
  const TimePoint state = port < sweep.state_read_at.size() ? sweep.state_read_at[port] : kNever;
  if (state < oldest_allowed) return true;
  const TimePoint counters = counters_read_at(sweep, port);
  return sweep.topology->port(port).is_up() && counters != kNever && counters < oldest_allowed;
}

FabricCounts count(const Topology& topology) {
  FabricCounts counts;
  for (const Node& node : topology.nodes()) {
    ++counts.nodes[static_cast<std::size_t>(node.type) & 3];
    if (!node.reachable) ++counts.unreachable_nodes;
  }
  const auto ports = topology.ports();
  for (PortIndex i = 0; i < ports.size(); ++i) {
    const Port& port = ports[i];
    if (port.number.value == 0) continue;
    ++counts.ports[std::min(static_cast<std::size_t>(port.state), counts.ports.size() - 1)];
    if (port.peer == kNoIndex || port.peer < i) continue;
    ++counts.links;
    if (port.is_up() && ports[port.peer].is_up()) ++counts.links_up;
  }
  return counts;
}

std::vector<FoundNode> find_nodes(const Snapshot& snapshot, std::string_view name, std::size_t limit) {
  std::vector<FoundNode> found;
  const auto collect = [&](auto&& matches) {
    for (const FabricView& fabric : snapshot.fabrics) {
      if (!fabric.sweep || !fabric.sweep->topology) continue;
      const auto nodes = fabric.sweep->topology->nodes();
      for (NodeIndex i = 0; i < nodes.size() && found.size() < limit; ++i)
        if (matches(nodes[i])) found.push_back({&fabric, i});
    }
    return !found.empty();
  };
  if (const auto guid = parse_guid(name)) {
    for (const FabricView& fabric : snapshot.fabrics) {
      if (!fabric.sweep || !fabric.sweep->topology || found.size() >= limit) continue;
      const NodeIndex node = fabric.sweep->topology->find_node(NodeGuid{*guid});
      if (node != kNoIndex) found.push_back({&fabric, node});
    }
    if (!found.empty()) return found;
  }
  if (collect([&](const Node& node) { return node.name == name; })) return found;
  collect([&](const Node& node) { return host_name(node) == name; });
  return found;
}

const NodeHealth* find_health(const Snapshot& snapshot, std::string_view name) {
  if (!snapshot.health) return nullptr;
  const auto& health = *snapshot.health;
  const auto by_name = [&](std::string_view wanted) -> const NodeHealth* {
    const auto found =
        std::lower_bound(health.begin(), health.end(), wanted,
                         [](const NodeHealth& entry, std::string_view text) { return entry.node < text; });
    return found != health.end() && found->node == wanted ? &*found : nullptr;
  };
  if (const NodeHealth* found = by_name(name)) return found;
  for (const FoundNode& candidate : find_nodes(snapshot, name, 1)) {
    const Node& node = candidate.fabric->sweep->topology->node(candidate.node);
    for (const NodeHealth& entry : health)
      if (std::find(entry.guids.begin(), entry.guids.end(), node.guid) != entry.guids.end()) return &entry;
    return by_name(host_name(node));
  }
  return nullptr;
}

std::shared_ptr<const Incident> find_incident(const Snapshot& snapshot, std::uint64_t id) {
  if (!snapshot.incidents) return nullptr;
  for (const auto& incident : *snapshot.incidents)
    if (incident->id == id) return incident;
  return nullptr;
}

}  // namespace weft::api
