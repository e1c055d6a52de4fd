// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/fat_tree.hpp"

#include <cstdio>
#include <string>
#include <unordered_map>

#include "analyzer/ports/plan_topology.hpp"

namespace weft::scenarios {
namespace {

constexpr WidthMask k1X = 1;
constexpr WidthMask k4X = 2;
constexpr unsigned kMostPorts = 254;
constexpr unsigned kMostEndpoints = 0xBFFF - 8192;  // the switches need LIDs too

std::string name(const char* format, unsigned number, unsigned rail = 0) {
  char text[48];
  std::snprintf(text, sizeof text, format, number, rail);
  return text;
}

unsigned divided_up(unsigned a, unsigned b) {
  return (a + b - 1) / b;
}

class Builder {
 public:
  explicit Builder(Plan& plan) : plan_(plan) {}

  NodeIndex add(std::string node_name, Tier tier, unsigned ports) {
    const auto index = static_cast<NodeIndex>(plan_.nodes.size());
    const bool is_switch = tier != Tier::kAdapter;
    Node node;
    const bool ethernet = plan_.is_ethernet();
    node.guid =
        ethernet ? analyzer::guid_of_name(node_name) : NodeGuid{0x0002'c903'0000'0000ULL + 0x100ULL * (index + 1)};
    node.system_image_guid = node.guid.value;
    node.type = is_switch ? NodeType::kSwitch : NodeType::kChannelAdapter;
    node.port_count = static_cast<std::uint16_t>(ports);
    node.first_port = static_cast<PortIndex>(plan_.ports.size());
    node.name = node.description = std::move(node_name);
    for (unsigned i = 0; i < node.port_entries(); ++i) {
      Port port;
      port.node = index;
      port.number = {static_cast<std::uint16_t>(i + node.lowest_port())};
      port.guid = {node.guid.value + (is_switch || ethernet ? 0 : i + 1)};
      if (!ethernet) port.lid = {static_cast<std::uint16_t>(index + 1)};
      const bool management = port.number.value == 0;
      port.state = management ? PortState::kActive : PortState::kDown;
      port.physical_state = management ? PortPhysicalState::kLinkUp : PortPhysicalState::kPolling;
      port.width_supported = port.width_enabled = k1X | k4X;
      port.speed_supported = port.speed_enabled = static_cast<SpeedMask>(plan_.spec.speed * 2 - 1);
      plan_.ports.push_back(port);
    }
    plan_.nodes.push_back(std::move(node));
    plan_.tiers.push_back(tier);
    plan_.endpoint_of.push_back(kNoIndex);
    return index;
  }

  void connect(NodeIndex a, unsigned a_port, NodeIndex b, unsigned b_port) {
    const PortIndex ends[] = {plan_.port(a, a_port), plan_.port(b, b_port)};
    for (const int i : {0, 1}) {
      Port& port = plan_.ports[ends[i]];
      port.peer = ends[1 - i];
      port.state = PortState::kActive;
      port.physical_state = PortPhysicalState::kLinkUp;
      port.width_active = k4X;
      port.speed_active = plan_.spec.speed;
    }
  }

 private:
  Plan& plan_;
};

}  // namespace

std::vector<PortIndex> Plan::cables() const {
  std::vector<PortIndex> found;
  for (PortIndex port = 0; port < ports.size(); ++port)
    if (ports[port].peer != kNoIndex && port < ports[port].peer) found.push_back(port);
  return found;
}

std::string Plan::interface_of(PortIndex port) const {
  const Node& node = nodes[ports[port].node];
  if (node.type == NodeType::kSwitch) return "swp" + std::to_string(ports[port].number.value);
  return node.name.substr(node.name.find(' ') + 1);
}

CablePlan cables_of(const Plan& plan) {
  CablePlan cabling;
  std::unordered_map<std::string, std::uint32_t> known;
  const auto end_at = [&](PortIndex port) {
    const Node& node = plan.nodes[plan.ports[port].node];
    const auto [found, is_new] =
        known.try_emplace(std::string(host_name(node)), static_cast<std::uint32_t>(cabling.nodes.size()));
    if (is_new) cabling.nodes.push_back({found->first, node.type == NodeType::kSwitch});
    return CableEnd{found->second, plan.interface_of(port)};
  };
  for (const PortIndex port : plan.cables()) {
    CableEnd a = end_at(port), b = end_at(plan.ports[port].peer);
    cabling.cables.push_back({std::move(a), std::move(b)});
  }
  return cabling;
}

Result<Plan> lay_out(const FatTreeSpec& spec) {
  const auto refuse = [](std::string why) { return fail(ErrorCode::kInvalidArgument, std::move(why)); };
  if (spec.levels != 2 && spec.levels != 3) return refuse("levels must be 2 or 3");
  if (spec.hosts < 2 || spec.rails < 1 || spec.hosts_per_leaf < 1 || spec.uplinks < 1)
    return refuse("hosts must be at least 2; rails, hosts_per_leaf and uplinks at least 1");
  if (spec.hosts > kMostEndpoints / spec.rails) return refuse("more adapters than a subnet has LIDs for");
  if (lane_bits_per_second(spec.speed) == 0) return refuse("no such speed");
  const unsigned units = divided_up(spec.hosts, spec.hosts_per_leaf);
  const unsigned leaves = units * spec.rails;
  if (spec.hosts_per_leaf + spec.uplinks > kMostPorts) return refuse("a leaf would have more than 254 ports");
  const bool three = spec.levels == 3;
  if (three && (spec.leaves_per_pod < 1 || spec.core_uplinks < 1))
    return refuse("three levels need leaves_per_pod and core_uplinks of at least 1");
  const unsigned pods = three ? divided_up(leaves, spec.leaves_per_pod) : 1;
  const unsigned down = three ? spec.leaves_per_pod : leaves;
  const unsigned up = three ? spec.core_uplinks : 0;
  if (down + up > kMostPorts) return refuse("a spine would have more than 254 ports");
  if (pods > kMostPorts) return refuse("a core switch would have more than 254 ports");

  const bool ethernet = spec.layer == LinkLayer::kEthernet;
  if (ethernet && (spec.hosts % spec.hosts_per_leaf != 0 || (three && leaves % spec.leaves_per_pod != 0)))
    return refuse("the leaves, and pods, of an Ethernet fabric must be full");

  Plan plan;
  plan.spec = spec;
  Builder build(plan);
  for (unsigned i = 0; i < leaves; ++i)
    plan.leaves.push_back(build.add(name("leaf-%03u", i), Tier::kLeaf, spec.hosts_per_leaf + spec.uplinks));
  for (unsigned i = 0; i < pods * spec.uplinks; ++i)
    plan.spines.push_back(build.add(name("spine-%03u", i), Tier::kSpine, down + up));
  if (three)
    for (unsigned i = 0; i < spec.uplinks * spec.core_uplinks; ++i)
      plan.cores.push_back(build.add(name("core-%03u", i), Tier::kCore, pods));

  for (unsigned leaf = 0; leaf < leaves; ++leaf)
    for (unsigned s = 0; s < spec.uplinks; ++s) {
      const unsigned pod = leaf / down;
      build.connect(plan.leaves[leaf], spec.hosts_per_leaf + 1 + s, plan.spines[pod * spec.uplinks + s],
                    leaf % down + 1);
    }
  if (three)
    for (unsigned spine = 0; spine < plan.spines.size(); ++spine)
      for (unsigned c = 0; c < spec.core_uplinks; ++c)
        build.connect(plan.spines[spine], down + 1 + c, plan.cores[spine % spec.uplinks * spec.core_uplinks + c],
                      spine / spec.uplinks + 1);
  for (unsigned host = 0; host < spec.hosts; ++host)
    for (unsigned rail = 0; rail < spec.rails; ++rail) {
      const NodeIndex adapter =
          build.add(name(ethernet ? "node-%04u eth%u" : "node-%04u mlx5_%u", host, rail), Tier::kAdapter, 1);
      plan.endpoint_of[adapter] = static_cast<std::uint32_t>(plan.adapters.size());
      plan.adapters.push_back(adapter);
      build.connect(plan.leaves[host / spec.hosts_per_leaf * spec.rails + rail], host % spec.hosts_per_leaf + 1,
                    adapter, 1);
    }
  return plan;
}

}  // namespace weft::scenarios
