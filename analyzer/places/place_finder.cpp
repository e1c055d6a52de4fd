// SPDX-License-Identifier: Apache-2.0
#include "analyzer/places/place_finder.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/places/ranks.hpp"
#include "fabric/list_text.hpp"

namespace weft::analyzer {
namespace {

/// Of the adapters of a leaf. A crossed pair of cables, a host with an adapter less and some storage do not hide a
/// rail.
constexpr double kClearMajority = 0.75;

/// Gives positions to names, in the order in which people count.
void number(const std::vector<std::string>& names, std::vector<std::uint32_t>& of, std::vector<std::string>& list) {
  std::map<std::string_view, std::uint32_t> found;
  for (const std::string& name : names)
    if (!name.empty()) found.emplace(name, 0);
  std::vector<std::string_view> sorted;
  for (const auto& [name, position] : found) sorted.push_back(name);
  std::ranges::stable_sort(sorted, counts_before);
  for (std::uint32_t position = 0; position < sorted.size(); ++position) {
    found[sorted[position]] = position;
    list.emplace_back(sorted[position]);
  }
  of.assign(names.size(), kNoIndex);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!names[i].empty()) of[i] = found[names[i]];
}

std::string named(const std::string& name, const std::regex& pattern) {
  std::smatch match;
  return std::regex_search(name, match, pattern) ? match[1].str() : std::string();
}

bool is_adapter(const Node& node) {
  return node.type == NodeType::kChannelAdapter && !node.aggregation_node;
}

using HostPorts = std::map<std::string_view, std::vector<PortIndex>>;

/// Cabled ports of the adapters of each host, in the order of the adapters' descriptions. Without those whose adapters
/// nobody can tell apart: "MT4129 ConnectX7   Mellanox Technologies" is what adapters call themselves before a host
/// gives them a name.
HostPorts ports_of_hosts(const Topology& topology) {
  HostPorts hosts;
  for (const Node& node : topology.nodes()) {
    if (!is_adapter(node)) continue;
    for (PortIndex port = node.first_port; port < node.first_port + node.port_entries(); ++port)
      if (topology.port(port).peer != kNoIndex) hosts[host_name(node)].push_back(port);
  }
  const auto description = [&](PortIndex port) -> std::string_view {
    return topology.node_of(topology.port(port)).description;
  };
  for (auto& [name, ports] : hosts) std::ranges::stable_sort(ports, {}, description);
  std::erase_if(hosts, [&](const auto& host) {
    const std::vector<PortIndex>& ports = host.second;
    return std::ranges::adjacent_find(ports, [&](PortIndex one, PortIndex next) {
             return topology.port(one).node != topology.port(next).node && description(one) == description(next);
           }) != ports.end();
  });
  return hosts;
}

/// What hangs together: each node's group is known by one of its nodes.
class Groups {
 public:
  explicit Groups(std::size_t count) : parents_(count) { std::iota(parents_.begin(), parents_.end(), 0U); }
  NodeIndex of(NodeIndex node) {
    while (parents_[node] != node) node = parents_[node] = parents_[parents_[node]];
    return node;
  }
  void join(NodeIndex a, NodeIndex b) { parents_[of(a)] = of(b); }

 private:
  std::vector<NodeIndex> parents_;
};

std::vector<std::string> pods_by_cables(const Topology& topology, const HostPorts& hosts,
                                        const std::vector<std::uint8_t>& tiers) {
  std::vector<std::string> names(topology.nodes().size());
  std::uint8_t top = 0;
  for (const std::uint8_t tier : tiers)
    if (tier != kNoTier) top = std::max(top, tier);
  if (top < 2) return names;
  Groups groups(names.size());
  const auto below_top = [&](NodeIndex node) { return tiers[node] < top; };
  for (const Port& port : topology.ports())
    if (port.peer != kNoIndex && below_top(port.node) && below_top(topology.port(port.peer).node))
      groups.join(port.node, topology.port(port.peer).node);
  for (const auto& [host, ports] : hosts)
    for (const PortIndex port : ports) groups.join(topology.port(ports.front()).node, topology.port(port).node);

  struct Group {
    std::uint32_t switches = 0;
    std::string_view first;  // of the names of its switches
  };
  std::map<NodeIndex, Group> found;
  for (NodeIndex node = 0; node < names.size(); ++node) {
    if (!below_top(node) || topology.node(node).type != NodeType::kSwitch) continue;
    Group& group = found[groups.of(node)];
    const std::string_view name = topology.node(node).name;
    if (group.switches++ == 0 || counts_before(name, group.first)) group.first = name;
  }
  std::erase_if(found, [](const auto& entry) { return entry.second.switches < 2; });
  if (found.size() < 2) return names;
  std::vector<std::pair<std::string_view, NodeIndex>> sorted;
  for (const auto& [root, group] : found) sorted.emplace_back(group.first, root);
  std::ranges::stable_sort(sorted, counts_before, &std::pair<std::string_view, NodeIndex>::first);
  std::map<NodeIndex, std::string> numbers;
  for (std::size_t i = 0; i < sorted.size(); ++i) numbers[sorted[i].second] = std::to_string(i);
  for (NodeIndex node = 0; node < names.size(); ++node) {
    if (!below_top(node)) continue;
    if (const auto group = numbers.find(groups.of(node)); group != numbers.end()) names[node] = group->second;
  }
  return names;
}

std::vector<std::string> pods_by_names(const Topology& topology, const std::regex& pattern) {
  std::vector<std::string> names;
  for (const Node& node : topology.nodes()) names.push_back(named(node.name, pattern));
  for (const Port& port : topology.ports()) {
    if (port.peer == kNoIndex || topology.node_of(port).type == NodeType::kSwitch || !names[port.node].empty())
      continue;
    names[port.node] = names[topology.port(port.peer).node];
  }
  return names;
}

using Votes = std::vector<std::uint32_t>;  // by rail

void vote(Votes& votes, std::uint32_t rail) {
  if (votes.size() <= rail) votes.resize(rail + 1);
  ++votes[rail];
}

/// Of equals the last: an adapter that is missing moves those behind it up, and none down.
std::uint32_t winner(const Votes& votes) {
  return static_cast<std::uint32_t>(std::max_element(votes.rbegin(), votes.rend()).base() - votes.begin()) - 1;
}

/// "HCA-6" of "dgx-05 HCA-6", with the port's number: what the same adapter of other hosts is called as well.
std::pair<std::string_view, std::uint16_t> label_of(const Topology& topology, PortIndex port) {
  const Node& node = topology.node_of(topology.port(port));
  // A name map may call the host otherwise than its adapter does.
  std::string_view label = node.description;
  if (const std::string_view host = host_name(node); label.starts_with(host)) label.remove_prefix(host.size());
  return {label, topology.port(port).number.value};
}

using Label = std::pair<std::string_view, std::uint16_t>;

/// Labels that have leaves of their own: rails, however many hosts lack that adapter.
std::set<Label> labels_with_leaves(const Topology& topology, const HostPorts& hosts) {
  std::vector<std::map<Label, std::uint32_t>> at_leaf(topology.nodes().size());
  for (const auto& [host, ports] : hosts)
    for (const PortIndex port : ports)
      ++at_leaf[topology.port(topology.port(port).peer).node][label_of(topology, port)];
  std::set<Label> found;
  for (const auto& labels : at_leaf) {
    std::uint32_t all = 0;
    for (const auto& [label, count] : labels) all += count;
    for (const auto& [label, count] : labels)
      if (count > 1 && count >= kClearMajority * all) found.insert(label);
  }
  return found;
}

/// Which of its host's adapters one of that label is, to most hosts: where one is missing those behind it move up.
/// Where it is missing in most, they would take its place: none is before the one behind a label that has leaves of its
/// own.
std::map<Label, std::uint32_t> rails_of_labels(const Topology& topology, const HostPorts& hosts) {
  const std::set<Label> with_leaves = labels_with_leaves(topology, hosts);
  std::map<Label, Votes> votes;
  std::map<Label, std::set<Label>> before;
  for (const auto& [host, ports] : hosts)
    for (std::uint32_t rail = 0; rail < ports.size() && ports.size() > 1; ++rail) {
      const Label label = label_of(topology, ports[rail]);
      vote(votes[label], rail);
      if (rail == 0) continue;
      if (const Label previous = label_of(topology, ports[rail - 1]); with_leaves.contains(previous))
        before[label].insert(previous);
    }
  // Adapters of a host are in the order of their labels: what is before one has its rail already.
  std::map<Label, std::uint32_t> rails;
  for (const auto& [label, of_label] : votes) {
    std::uint32_t rail = winner(of_label);
    for (const Label& previous : before[label])
      if (const auto found = rails.find(previous); found != rails.end()) rail = std::max(rail, found->second + 1);
    rails[label] = rail;
  }
  return rails;
}

std::vector<std::string> rails_by_cables(const Topology& topology, const HostPorts& hosts) {
  const std::map<Label, std::uint32_t> of_label = rails_of_labels(topology, hosts);
  std::vector<Votes> votes(topology.nodes().size());
  for (const auto& [host, ports] : hosts)
    for (const PortIndex port : ports)
      if (const auto label = of_label.find(label_of(topology, port)); label != of_label.end())
        vote(votes[topology.port(topology.port(port).peer).node], label->second);
  std::vector<std::string> of_leaf(votes.size());
  std::uint32_t most = 0;
  for (std::size_t leaf = 0; leaf < votes.size(); ++leaf) {
    const auto all = std::accumulate(votes[leaf].begin(), votes[leaf].end(), 0U);
    if (all == 0) continue;
    const std::uint32_t rail = winner(votes[leaf]);
    if (votes[leaf][rail] < kClearMajority * all) continue;
    of_leaf[leaf] = std::to_string(rail);
    most = std::max(most, rail);
  }
  std::vector<std::string> names(topology.ports().size());
  if (most == 0) return names;
  for (PortIndex port = 0; port < names.size(); ++port)
    if (const PortIndex peer = topology.port(port).peer;
        peer != kNoIndex && is_adapter(topology.node_of(topology.port(port))))
      names[port] = of_leaf[topology.port(peer).node];
  return names;
}

std::vector<std::string> rails_by_names(const Topology& topology, const std::regex& pattern) {
  std::vector<std::string> of_node;
  for (const Node& node : topology.nodes()) of_node.push_back(named(node.name, pattern));
  std::vector<std::string> names(topology.ports().size());
  for (PortIndex port = 0; port < names.size(); ++port) {
    const PortIndex peer = topology.port(port).peer;
    if (peer == kNoIndex || !is_adapter(topology.node_of(topology.port(port)))) continue;
    const std::string& own = of_node[topology.port(port).node];
    names[port] = own.empty() ? of_node[topology.port(peer).node] : own;
  }
  return names;
}

/// Gives the leaves' ports the rails of the adapters behind them, and those upwards that of all that have one.
void spread_to_leaves(const Topology& topology, std::vector<std::string>& rails) {
  const std::string kMixed(1, '\0');
  std::vector<std::string> of_leaf(topology.nodes().size());
  for (PortIndex port = 0; port < rails.size(); ++port) {
    const PortIndex peer = topology.port(port).peer;
    if (peer == kNoIndex || !is_adapter(topology.node_of(topology.port(port)))) continue;
    rails[peer] = rails[port];
    if (rails[port].empty()) continue;
    std::string& leaf = of_leaf[topology.port(peer).node];
    leaf = leaf.empty() || leaf == rails[port] ? rails[port] : kMixed;
  }
  for (PortIndex port = 0; port < rails.size(); ++port) {
    const Port& up = topology.port(port);
    if (up.peer == kNoIndex || !rails[port].empty() || of_leaf[up.node].empty() || of_leaf[up.node] == kMixed) continue;
    rails[port] = of_leaf[up.node];
  }
}

}  // namespace

Result<std::optional<std::regex>> place_pattern(const std::string& text) {
  if (text.empty()) return std::nullopt;
  try {
    std::regex pattern(text, std::regex::ECMAScript | std::regex::optimize);
    if (pattern.mark_count() != 1)
      return fail(ErrorCode::kInvalidArgument,
                  "needs exactly one group in parentheses, the name; write others as (?:…)");
    return pattern;
  } catch (const std::regex_error& error) {
    return fail(ErrorCode::kInvalidArgument, std::string("is not a regular expression: ") + error.what());
  }
}

Places find_places(const Topology& topology, const PlaceHints& hints) {
  const HostPorts hosts = ports_of_hosts(topology);
  Places places;
  places.tiers = node_ranks(topology);
  number(hints.pod ? pods_by_names(topology, *hints.pod) : pods_by_cables(topology, hosts, places.tiers), places.pods,
         places.pod_names);
  auto rails = hints.rail ? rails_by_names(topology, *hints.rail) : rails_by_cables(topology, hosts);
  spread_to_leaves(topology, rails);
  number(rails, places.rails, places.rail_names);
  return places;
}

bool same_cabling(const Topology& a, const Topology& b) {
  return a.epoch() == b.epoch() && a.nodes().size() == b.nodes().size() &&
         std::ranges::equal(a.ports(), b.ports(), {}, &Port::peer, &Port::peer);
}

}  // namespace weft::analyzer
