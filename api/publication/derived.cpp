// SPDX-License-Identifier: Apache-2.0
#include "api/publication/derived.hpp"

#include <algorithm>
#include <unordered_map>

#include "api/publication/utf8.hpp"
#include "fabric/host_names.hpp"

namespace weft::api {
namespace {

/// A standby is a second or two behind at any time.
constexpr Duration kLongBehind = std::chrono::seconds(10);

bool is_swept(const FabricView& fabric) {
  return fabric.sweep && fabric.sweep->topology;
}

}  // namespace

std::string own_shard(const Snapshot& snapshot) {
  return snapshot.site ? snapshot.site->own : std::string();
}

bool is_ready(const Snapshot& snapshot) {
  if (!snapshot.health || (snapshot.fabrics.empty() && snapshot.watches_subnets)) return false;
  // What no port leads to keeps nobody from asking about all others.
  return (snapshot.fabrics.empty() || std::ranges::any_of(snapshot.fabrics, is_swept)) &&
         std::ranges::all_of(snapshot.fabrics,
                             [](const FabricView& fabric) { return is_swept(fabric) || fabric.is_unreachable; });
}

std::string not_ready_text(const Snapshot& snapshot) {
  if (is_ready(snapshot)) return {};
  if (!snapshot.fabrics.empty() || !snapshot.watches_subnets) return "a fabric has not been read completely yet";
  return "no fabric is monitored yet" + (snapshot.no_port.empty() ? "" : ": " + valid_utf8(snapshot.no_port));
}

bool is_before_first_sweep(const Snapshot& snapshot) {
  return (snapshot.watches_subnets || !snapshot.fabrics.empty()) && std::ranges::none_of(snapshot.fabrics, is_swept);
}

std::string not_swept_text(std::string_view name) {
  return std::string(name) + " is not known yet: the first sweep of the fabric is not complete";
}

Error unknown_name(const Snapshot& snapshot, std::string_view name, std::string unknown) {
  const bool is_early = !snapshot.site && is_before_first_sweep(snapshot);
  return {ErrorCode::kNotFound, is_early ? not_swept_text(valid_utf8(name)) : std::move(unknown)};
}

std::string leadership_text(const Leadership& leadership) {
  const auto in_seconds = [](Duration time) { return std::to_string(time / std::chrono::seconds(1)) + " s"; };
  std::string text;
  if (leadership.leads)
    text = "leader: " + leadership.leader;
  else if (leadership.leader.empty())
    text = "standby: nobody leads";
  else
    text = "standby: " + leadership.leader + " leads at " + leadership.address;
  if (leadership.leads && !leadership.is_held)
    text += "; its lease is not renewed, so it acts on nothing and refuses changes";
  if (!leadership.leads && leadership.behind > kLongBehind)
    text += "; incidents and plans shown here may be " + in_seconds(leadership.behind) + " old";
  if (!leadership.trouble.empty())
    text += (leadership.leads ? "; the database has not answered for " : "; it could not take over for ") +
            in_seconds(leadership.silence) + ": " + leadership.trouble;
  return text;
}

const char* role_name(const Leadership& leadership) {
  return leadership.leads ? "leader" : "standby";
}

bool knows_too_little(const Leadership& leadership) {
  return leadership.stands_by() && !leadership.trouble.empty();
}

std::string seconds_behind(const Leadership& leadership) {
  return std::to_string(std::chrono::ceil<std::chrono::seconds>(leadership.behind).count());
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
    if (is_unread(topology, i)) ++counts.links_unknown;
  }
  return counts;
}

std::vector<FoundNode> find_nodes(const Snapshot& snapshot, std::string_view name, std::size_t limit) {
  std::vector<FoundNode> found;
  if (name.size() > kLongestNodeName) return found;  // to compare it with each node's would take long
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
  if (collect([&](const Node& node) { return host_name(node) == name; })) return found;
  if (collect(
          [&](const Node& node) { return node.type == NodeType::kChannelAdapter && same_host(host_name(node), name); }))
    return found;
  collect([&](const Node& node) { return same_name(node.name, name) || same_name(host_name(node), name); });
  return found;
}

std::string no_such_port_text(const Node& node, std::string_view number) {
  return node.name + " has no port " + std::string(number) + ": its ports are 1 to " + std::to_string(node.port_count);
}

std::string several_nodes_text(std::string_view name, std::span<const FoundNode> nodes) {
  constexpr std::size_t kMostListed = 5;
  std::string list;
  for (const FoundNode& found : nodes.first(std::min(nodes.size(), kMostListed))) {
    const Node& node = found.fabric->sweep->topology->node(found.node);
    list += (list.empty() ? "" : ", ") + to_string(node.guid) + " (" + valid_utf8(node.name) + ')';
  }
  if (nodes.size() > kMostListed) list += " and others";
  return '\'' + valid_utf8(name) + "' matches several nodes: " + list + ": use a GUID or the full name of one";
}

namespace {

std::span<const NodeHealth> health_named(const Snapshot& snapshot, std::string_view name) {
  if (!snapshot.health) return {};
  const auto begin = std::ranges::lower_bound(*snapshot.health, name, {},
                                              [](const NodeHealth& entry) { return std::string_view(entry.node); });
  auto end = begin;
  while (end != snapshot.health->end() && end->node == name) ++end;
  return {begin, end};
}

/// The entry that the node belongs to: its host's, or of several switches of one name its own.
const NodeHealth* health_of(const Snapshot& snapshot, const Node& node) {
  const auto entries = health_named(snapshot, host_name(node));
  for (const NodeHealth& entry : entries)
    if (std::ranges::find(entry.guids, node.guid) != entry.guids.end()) return &entry;
  return entries.empty() ? nullptr : &entries.front();
}

const NodeHealth* health_by_guid(const Snapshot& snapshot, std::string_view name) {
  const auto guid = parse_guid(name);
  if (!guid) return nullptr;
  for (const FabricView& fabric : snapshot.fabrics) {
    if (!fabric.sweep || !fabric.sweep->topology) continue;
    const NodeIndex node = fabric.sweep->topology->find_node(NodeGuid{*guid});
    if (node != kNoIndex) return health_of(snapshot, fabric.sweep->topology->node(node));
  }
  return nullptr;
}

/// Names that are looked for, by their short forms.
using ByShortName = std::unordered_multimap<std::string, std::size_t>;

/// Collectors of hosts that may be one of those names, by the short names of their hosts.
class AdapterHolders {
 public:
  AdapterHolders(const Snapshot& snapshot, const ByShortName& names) {
    if (!snapshot.hosts) return;
    for (const auto& host : *snapshot.hosts)
      if (std::string name = short_host_name(host->host); names.contains(name))
        by_short_.emplace(std::move(name), host.get());
  }
  /// The adapters of `entry`, which has a short name, are those of a host of another full name than `name`, as that
  /// one's collector says.
  bool has_another(const NodeHealth& entry, std::string_view name) const {
    bool is_other = false;
    const auto [begin, end] = by_short_.equal_range(short_host_name(entry.node));
    for (auto at = begin; at != end; ++at) {
      const HostView& host = *at->second;
      const bool has_it = host.reading && host.reading->inventory &&
                          std::ranges::any_of(host.reading->inventory->ports, [&](const HostPort& port) {
                            return std::ranges::find(entry.guids, port.node_guid) != entry.guids.end();
                          });
      if (!has_it || !same_host(host.host, entry.node)) continue;
      if (same_host(host.host, name)) return false;
      is_other = true;
    }
    return is_other;
  }

 private:
  std::unordered_multimap<std::string, const HostView*> by_short_;
};

}  // namespace

const NodeHealth* find_health(const Snapshot& snapshot, std::string_view name) {
  const std::string_view names[] = {name};
  return find_health(snapshot, names).front();
}

std::vector<const NodeHealth*> find_health(const Snapshot& snapshot, std::span<const std::string_view> names) {
  std::vector<const NodeHealth*> found(names.size());
  std::unordered_multimap<std::string_view, std::size_t> missing;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto entries = health_named(snapshot, names[i]);
    found[i] = entries.empty() ? health_by_guid(snapshot, names[i]) : &entries.front();
    if (!found[i]) missing.emplace(names[i], i);
  }
  if (missing.empty()) return found;
  for (const FabricView& fabric : snapshot.fabrics) {
    if (!fabric.sweep || !fabric.sweep->topology) continue;
    for (const Node& node : fabric.sweep->topology->nodes()) {
      const auto [begin, end] = missing.equal_range(node.name);
      for (auto at = begin; at != end; ++at)
        if (!found[at->second]) found[at->second] = health_of(snapshot, node);
    }
  }
  if (!snapshot.health) return found;
  ByShortName hosts;
  for (const auto& [name, i] : missing)
    if (!found[i]) hosts.emplace(short_host_name(name), i);
  if (hosts.empty()) return found;
  const AdapterHolders holders(snapshot, hosts);
  for (const NodeHealth& entry : *snapshot.health) {
    const auto [begin, end] = hosts.equal_range(short_host_name(entry.node));
    for (auto at = begin; at != end; ++at)
      if (!found[at->second] && same_host(entry.node, names[at->second]) &&
          !holders.has_another(entry, names[at->second]))
        found[at->second] = &entry;
  }
  return found;
}

std::shared_ptr<const Incident> find_incident(const Snapshot& snapshot, std::uint64_t id) {
  if (!snapshot.incidents) return nullptr;
  for (const auto& incident : *snapshot.incidents)
    if (incident->id == id) return incident;
  return nullptr;
}

}  // namespace weft::api
