// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/named_plan.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/ports/plan_topology.hpp"

namespace weft::analyzer {
namespace {

constexpr std::uint8_t kMostPortsOfAdapter = 4;

/// "MF0;core:CS8500/L06/U1" → "core/L6/U1", "MF0;leaf-1:MQM9700/U1" → "leaf-1"; empty for other descriptions.
std::string managed_name(std::string_view description) {
  constexpr std::string_view kManaged = "MF0;";
  const std::size_t colon = description.rfind(':');
  if (!description.starts_with(kManaged) || colon == std::string_view::npos) return {};
  std::string name(description.substr(kManaged.size(), colon - kManaged.size()));
  std::string_view module = description.substr(colon);
  module.remove_prefix(std::min(module.find('/'), module.size()));
  if (std::ranges::count(module, '/') < 2) return name;
  for (std::size_t at = 0; at < module.size(); ++at)
    if (module[at] != '0' || (module[at - 1] >= '0' && module[at - 1] <= '9')) name += module[at];
  return name;
}

/// Nodes by what they are called, the most certain way first.
class NamedNodes {
 public:
  NamedNodes(const Topology& seen, std::span<const KnownNode> known) {
    // Who has gone keeps its name only as long as nobody else has it: it may have been replaced.
    for (const bool reachable : {true, false})
      for (const Node& node : seen.nodes())
        if (node.reachable == reachable) add(node);
    for (const KnownNode& node : known)
      if (seen.find_node(node.guid) == kNoIndex && node.guid != guid_of_name(node.name))
        add(kKnown, node.name, {node.guid, false});
  }

  /// Who is called so.
  struct Bearer {
    NodeGuid guid;
    bool reachable = false;
    NodeGuid rival{};  ///< another one that the name fits as well; zero: there is none
  };

  Bearer find(const std::string& name) const {
    if (name.starts_with("0x"))
      if (const auto guid = parse_guid(name)) return {.guid = {*guid}};
    for (const auto& names : names_)
      if (const auto found = names.find(name); found != names.end()) return found->second;
    return {.guid = guid_of_name(name)};
  }

 private:
  enum Way : std::size_t { kCalled, kManaged, kHost, kKnown, kWays };

  void add(const Node& node) {
    const Bearer bearer{node.guid, node.reachable};
    add(kCalled, node.name, bearer);
    add(kCalled, node.description, bearer);
    add(kManaged, managed_name(node.description), bearer);
    // An adapter that does not answer is still one of its host's, unless another one is in its place.
    if (node.type == NodeType::kChannelAdapter && !node.aggregation_node &&
        (node.reachable || !names_reachable(node.description)))
      add(kHost, std::string(host_name(node)), bearer);
  }

  void add(Way way, std::string name, const Bearer& bearer) {
    if (name.empty()) return;
    const auto [found, added] = names_[way].try_emplace(std::move(name), bearer);
    Bearer& before = found->second;
    if (!added && before.guid != bearer.guid && (way == kHost || before.reachable == bearer.reachable))
      before.rival = bearer.guid;
  }

  bool names_reachable(const std::string& description) const {
    const auto found = names_[kCalled].find(description);
    return found != names_[kCalled].end() && found->second.reachable;
  }

  std::array<std::unordered_map<std::string, Bearer>, kWays> names_;
};

std::uint16_t number_of(std::string_view port) {
  std::uint16_t number = 0;
  std::from_chars(port.data(), port.data() + port.size(), number);
  return number;
}

std::string written(const CablePlan& plan, const CablePlan::Cable& cable) {
  const auto end = [&plan](const CableEnd& one) { return plan.nodes[one.node].name + ':' + one.port; };
  return end(cable.a) + " -- " + end(cable.b);
}

std::string ambiguity(const std::string& name, const NamedNodes::Bearer& bearer) {
  return name + " is the name of more than one node, " + to_string(bearer.guid) + " and " + to_string(bearer.rival) +
         ": write the adapter or the GUID";
}

}  // namespace

PlanOnSubnet plan_on_subnet(const CablePlan& plan, const Topology& seen, std::span<const KnownNode> known) {
  const NamedNodes named(seen, known);
  PlanOnSubnet result;
  std::vector<std::string> unclear(plan.nodes.size());  // why, by node of the plan
  std::unordered_map<NodeGuid, const KnownNode*> known_nodes;
  for (const KnownNode& node : known) known_nodes.emplace(node.guid, &node);
  std::vector<Node> nodes;
  std::unordered_map<NodeGuid, NodeIndex> by_guid;
  // Two names of one node are one node.
  std::vector<NodeIndex> index_of(plan.nodes.size(), kNoIndex);
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    const NamedNodes::Bearer bearer = named.find(plan.nodes[i].name);
    if (bearer.rival) {
      unclear[i] = ambiguity(plan.nodes[i].name, bearer);
      continue;
    }
    const NodeGuid guid = bearer.guid;
    const auto [found, added] = by_guid.try_emplace(guid, static_cast<NodeIndex>(nodes.size()));
    index_of[i] = found->second;
    if (!added) continue;
    Node& node = nodes.emplace_back();
    node.guid = guid;
    node.name = node.description = plan.nodes[i].name;
    if (const NodeIndex at = seen.find_node(guid); at != kNoIndex) {
      node = seen.node(at);
    } else if (const auto before = known_nodes.find(guid); before != known_nodes.end()) {
      node.type = before->second->type;
      node.aggregation_node = before->second->aggregation_node;
    }
  }
  for (const CablePlan::Cable& cable : plan.cables)
    for (const CableEnd* end : {&cable.a, &cable.b})
      if (const NodeIndex index = index_of[end->node]; index != kNoIndex)
        nodes[index].port_count = std::max(nodes[index].port_count, number_of(end->port));
  std::vector<Port> ports;
  for (NodeIndex index = 0; index < nodes.size(); ++index) {
    Node& node = nodes[index];
    if (node.type == NodeType::kUnknown)
      node.type = node.port_count > kMostPortsOfAdapter ? NodeType::kSwitch : NodeType::kChannelAdapter;
    node.first_port = static_cast<PortIndex>(ports.size());
    for (std::uint32_t entry = 0; entry < node.port_entries(); ++entry) {
      Port& port = ports.emplace_back();
      port.node = index;
      port.number = PortNum{static_cast<std::uint16_t>(entry + node.lowest_port())};
    }
  }
  for (const CablePlan::Cable& cable : plan.cables) {
    const auto place = [&](const CableEnd& end) {
      const NodeIndex index = index_of[end.node];
      const std::uint16_t number = number_of(end.port);
      if (index == kNoIndex || number == 0) return kNoIndex;
      return nodes[index].first_port + number - nodes[index].lowest_port();
    };
    const auto ignore = [&](std::string why) {
      result.ignored.push_back({cable.line, written(plan, cable), std::move(why)});
    };
    const PortIndex a = place(cable.a), b = place(cable.b);
    if (a == kNoIndex || b == kNoIndex) {
      const bool first = !unclear[cable.a.node].empty();
      ignore(unclear[first ? cable.a.node : cable.b.node]);
      continue;
    }
    // Two names of one node may give a port two cables: the first one stays.
    if (a == b || ports[a].peer != kNoIndex || ports[b].peer != kNoIndex) {
      const PortIndex taken = a == b || ports[a].peer != kNoIndex ? a : b;
      ignore(a == b ? "both ends are one port, of the node " + to_string(nodes[ports[a].node].guid)
                    : "port " + std::to_string(ports[taken].number.value) + " of the node " +
                          to_string(nodes[ports[taken].node].guid) + " already has a cable, under another name");
      continue;
    }
    ports[a].peer = b;
    ports[b].peer = a;
  }
  result.topology =
      std::make_shared<const Topology>(1, std::move(nodes), std::move(ports), std::vector<DuplicateGuid>{});
  return result;
}

namespace {

/// Nodes of a plan by the GUIDs of a fabric that was found.
class NodesOnEthernet {
 public:
  explicit NodesOnEthernet(const Topology& seen) : seen_(seen) {
    for (const Node& node : seen.nodes()) {
      const auto [known, added] = by_name_.try_emplace(node.name, &node);
      if (!added) known->second = nullptr;  // two of one name
    }
  }

  /// kNoIndex: two nodes have the name.
  NodeIndex place(const std::string& name, bool is_switch) {
    const auto known = by_name_.find(name);
    if (known != by_name_.end() && known->second == nullptr) return kNoIndex;
    const Node* const seen = known == by_name_.end() ? nullptr : known->second;
    const NodeGuid guid = seen ? seen->guid : guid_of_name(name);
    const auto [found, added] = by_guid_.try_emplace(guid, static_cast<NodeIndex>(nodes.size()));
    if (!added) return found->second;
    Node& node = nodes.emplace_back();
    ports.emplace_back();
    if (seen) {
      node = *seen;
      for (const Port& port : seen_.ports_of(*seen))
        if (port.number.value > 0)
          ports.back().emplace_back(seen_.port_name(seen->first_port + port.number.value - seen->lowest_port()));
    } else {
      node.guid = guid;
      node.name = node.description = name;
      node.type = is_switch ? NodeType::kSwitch : NodeType::kChannelAdapter;
    }
    return found->second;
  }
  /// Its number at the node, from 1.
  std::size_t number(NodeIndex node, const std::string& port) {
    std::vector<std::string>& names = ports[node];
    const auto found = std::ranges::find(names, port);
    if (found == names.end()) names.push_back(port);
    return static_cast<std::size_t>(std::ranges::find(names, port) - names.begin()) + 1;
  }

  std::vector<Node> nodes;
  std::vector<std::vector<std::string>> ports;  ///< of each node, in the order of their numbers

 private:
  const Topology& seen_;
  std::unordered_map<std::string, const Node*> by_name_;
  std::unordered_map<NodeGuid, NodeIndex> by_guid_;
};

}  // namespace

PlanOnSubnet plan_on_ethernet(const CablePlan& plan, const Topology& seen) {
  struct Ends {
    NodeIndex a_node, b_node;
    std::size_t a, b;
  };
  NodesOnEthernet known(seen);
  PlanOnSubnet result;
  std::vector<Ends> cables;
  for (const CablePlan::Cable& cable : plan.cables) {
    const auto name = [&plan](const CableEnd& end) {
      const CablePlan::Node& node = plan.nodes[end.node];
      return node.is_switch ? node.name : node.name + ' ' + end.port;
    };
    const auto place = [&](const CableEnd& end) { return known.place(name(end), plan.nodes[end.node].is_switch); };
    const NodeIndex a = place(cable.a), b = place(cable.b);
    if (a == kNoIndex || b == kNoIndex) {
      result.ignored.push_back({cable.line, written(plan, cable),
                                name(a == kNoIndex ? cable.a : cable.b) + " is the name of more than one node"});
      continue;
    }
    cables.push_back({a, b, known.number(a, cable.a.port), known.number(b, cable.b.port)});
  }
  std::vector<Port> ports;
  std::vector<std::string> names;
  for (NodeIndex index = 0; index < known.nodes.size(); ++index) {
    Node& node = known.nodes[index];
    node.first_port = static_cast<PortIndex>(ports.size());
    node.port_count = static_cast<std::uint16_t>(known.ports[index].size());
    for (std::uint32_t entry = 0; entry < node.port_entries(); ++entry) {
      Port& port = ports.emplace_back();
      port.node = index;
      port.number = PortNum{static_cast<std::uint16_t>(entry + node.lowest_port())};
      names.push_back(port.number.value == 0 ? std::string() : known.ports[index][port.number.value - 1U]);
    }
  }
  for (const Ends& cable : cables) {
    const auto at = [&](NodeIndex node, std::size_t number) {
      return static_cast<PortIndex>(known.nodes[node].first_port + number - known.nodes[node].lowest_port());
    };
    const PortIndex a = at(cable.a_node, cable.a), b = at(cable.b_node, cable.b);
    ports[a].peer = b;
    ports[b].peer = a;
  }
  result.topology =
      std::make_shared<const Topology>(1, std::move(known.nodes), std::move(ports), std::vector<DuplicateGuid>{},
                                       LinkLayer::kEthernet, std::move(names));
  return result;
}

}  // namespace weft::analyzer
