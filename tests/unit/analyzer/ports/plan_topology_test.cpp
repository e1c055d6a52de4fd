// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/plan_topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/unit/analyzer/ports/ethernet_hosts.hpp"

namespace weft::analyzer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(PlanTopology, SortsPortNamesByTheirNumbers) {
  std::vector<std::string> names{"swp10", "swp2", "swp1", "swp1s3", "swp1s10", "Ethernet0", "swp", "swp02"};
  std::ranges::sort(names, comes_before);
  EXPECT_THAT(names, ElementsAre("Ethernet0", "swp", "swp1", "swp1s3", "swp1s10", "swp02", "swp2", "swp10"));
}

TEST(PlanTopology, HasSwitchesWithNumberedPortsAndAnAdapterForEachInterface) {
  const auto made = make_topology(plan_of({{"leaf01", "swp10", "gpu-01", "eth2"},
                                           {"leaf01", "swp2", "gpu-01", "eth3"},
                                           {"leaf01", "swp51", "spine01", "swp1"}}));
  ASSERT_TRUE(made) << made.error().message;
  const Topology& topology = **made;
  EXPECT_TRUE(topology.is_ethernet());
  std::vector<std::string> names, labels;
  for (const Node& node : topology.nodes()) names.push_back(node.name);
  EXPECT_THAT(names, ElementsAre("gpu-01 eth2", "gpu-01 eth3", "leaf01", "spine01"));
  EXPECT_EQ(host_name(topology.node(1)), "gpu-01");
  const Node& leaf = topology.node(2);
  EXPECT_EQ(leaf.type, NodeType::kSwitch);
  ASSERT_EQ(leaf.port_count, 3);
  for (const Port& port : topology.ports_of(leaf))
    labels.push_back(std::string(topology.port_name(static_cast<PortIndex>(&port - topology.ports().data()))));
  EXPECT_THAT(labels, ElementsAre("", "swp2", "swp10", "swp51"));
  EXPECT_EQ(port_label(topology, topology.port(leaf.first_port + 1).peer), "gpu-01 eth3");
  EXPECT_EQ(topology.port(leaf.first_port).peer, kNoIndex);
  for (const Port& port : topology.ports()) EXPECT_EQ(port.state, PortState::kUnknown);
  for (const Node& node : topology.nodes()) {
    EXPECT_EQ(node.guid.value >> 56 & 3, 2U) << "locally administered, and no group";
    EXPECT_EQ(node.guid, guid_of_name(node.name));
  }
}

TEST(PlanTopology, TheOrderOfThePlanMakesNoDifference) {
  CablePlan plan = small_plan();
  const auto one = make_topology(plan);
  std::ranges::reverse(plan.cables);
  for (CablePlan::Cable& cable : plan.cables) std::swap(cable.a, cable.b);
  const auto other = make_topology(plan);
  ASSERT_TRUE(one && other);
  EXPECT_EQ((*one)->epoch(), (*other)->epoch());
  ASSERT_EQ((*one)->ports().size(), (*other)->ports().size());
  for (PortIndex port = 0; port < (*one)->ports().size(); ++port) {
    EXPECT_EQ((*one)->key_of(port), (*other)->key_of(port));
    EXPECT_EQ((*one)->port(port).peer, (*other)->port(port).peer);
  }
  plan.cables.pop_back();
  EXPECT_NE((*make_topology(plan))->epoch(), (*one)->epoch()) << "indices mean something else";
}

/// A switch with that many ports, each with a host.
CablePlan chassis(std::uint32_t ports) {
  CablePlan plan{{{"chassis", true}}, {}};
  for (std::uint32_t i = 1; i <= ports; ++i) {
    plan.nodes.push_back({"host-" + std::to_string(i), false});
    plan.cables.push_back({{0, "swp" + std::to_string(i)}, {i, "eth0"}});
  }
  return plan;
}

TEST(PlanTopology, ASwitchMayHaveMorePortsThanInfinibandCounts) {
  for (const unsigned ports : {255U, 512U, 1024U}) {
    const auto made = make_topology(chassis(ports));
    ASSERT_TRUE(made) << made.error().message;
    const Topology& topology = **made;
    const Node& node = topology.node(topology.find_node(guid_of_name("chassis")));
    EXPECT_EQ(node.port_count, ports);
    // The same number modulo 256 is another port, with another host.
    for (unsigned number = 1; number <= ports; ++number) {
      const PortIndex port = topology.find_port({node.guid, {static_cast<std::uint16_t>(number)}});
      ASSERT_NE(port, kNoIndex);
      EXPECT_EQ(topology.port_name(port), "swp" + std::to_string(number));
      EXPECT_EQ(topology.node_of(topology.port(topology.port(port).peer)).name,
                "host-" + std::to_string(number) + " eth0");
    }
  }
}

TEST(PlanTopology, ASwitchHas65535PortsAtMost) {
  const auto full = make_topology(chassis(kMostPorts));
  ASSERT_TRUE(full) << full.error().message;
  EXPECT_EQ((*full)->node((*full)->find_node(guid_of_name("chassis"))).port_count, kMostPorts);
  const auto too_many = make_topology(chassis(kMostPorts + 1));
  ASSERT_FALSE(too_many);
  EXPECT_EQ(too_many.error().message, "switch \"chassis\" has cables at 65536 ports; 65535 is the maximum");
}

TEST(PlanTopology, NamesThatGiveOneGuidAreRefused) {
  // A switch that is called as a host's interface is.
  const auto made = make_topology(CablePlan{{{"gpu-01 eth2", true}, {"gpu-01", false}, {"leaf", true}},
                                            {{{0, "swp1"}, {2, "swp1"}}, {{1, "eth2"}, {2, "swp2"}}}});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("have the same generated GUID"));
}

TEST(PlanTopology, GuidsOfAGreatFabricDiffer) {
  std::vector<std::uint64_t> guids;
  for (int host = 0; host < 20'000; ++host)
    for (int interface = 0; interface < 8; ++interface)
      guids.push_back(guid_of_name("gpu-" + std::to_string(host) + " eth" + std::to_string(interface)).value);
  std::ranges::sort(guids);
  EXPECT_EQ(std::ranges::adjacent_find(guids), guids.end());
}

}  // namespace
}  // namespace weft::analyzer
