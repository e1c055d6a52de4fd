// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/named_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/ports/plan_topology.hpp"
#include "tests/fakes/fabric_builder.hpp"
#include "tests/unit/analyzer/ports/ethernet_hosts.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

/// Each cable of `expected`, as the fabric names its ends.
std::vector<std::string> cables(const Topology& expected) {
  EXPECT_EQ(Topology::validate(expected.nodes(), expected.ports()), "");
  std::vector<std::string> list;
  for (PortIndex i = 0; i < expected.ports().size(); ++i)
    if (const PortIndex peer = expected.port(i).peer; peer != kNoIndex && peer > i)
      list.push_back(port_label(expected, i) + " - " + port_label(expected, peer));
  return list;
}

struct NamedPlan : testing::Test {
  std::shared_ptr<const Topology> on(const CablePlan& plan) {
    return plan_on_subnet(plan, *fabric.topology(), known).topology;
  }
  /// "line: cable: why" of the cables that are not used.
  std::vector<std::string> ignored(const CablePlan& plan) {
    std::vector<std::string> texts;
    for (const IgnoredCable& cable : plan_on_subnet(plan, *fabric.topology(), known).ignored)
      texts.push_back(std::to_string(cable.line) + ": " + cable.cable + ": " + cable.why);
    return texts;
  }
  NodeGuid guid(const std::string& name) { return fabric.nodes()[fabric.find(name)].guid; }

  FabricBuilder fabric = FabricBuilder::fat_tree(2, 2, 2);
  std::vector<KnownNode> known;
};

TEST_F(NamedPlan, FindsNodesByNameAndByGuid) {
  const std::string leaf = to_string(guid("leaf-1"));
  const auto expected = on(plan_of({{"leaf-1", "1", "host-1-0 mlx5_0", "1"}, {leaf.c_str(), "2", "spine-1", "1"}}));
  EXPECT_THAT(cables(*expected),
              ElementsAre("leaf-1 port 1 - host-1-0 mlx5_0 port 1", "leaf-1 port 2 - spine-1 port 1"));
  EXPECT_EQ(expected->nodes().size(), 3U) << "two names of one node are one node";
  EXPECT_EQ(expected->find_node(guid("spine-1")), 2U);
}

TEST_F(NamedPlan, FindsManagedSwitchesByTheirShortNames) {
  fabric.node(fabric.find("leaf-1")).description = "MF0;ib-01:MQM9700/U1";
  fabric.node(fabric.find("spine-1")).description = "MF0;core:CS8500/L06/U2";
  EXPECT_THAT(cables(*on(plan_of({{"ib-01", "1", "core/L6/U2", "20"}}))),
              ElementsAre("leaf-1 port 1 - spine-1 port 20"));
}

TEST_F(NamedPlan, AHostWithOneAdapterIsThatAdapter) {
  EXPECT_THAT(cables(*on(plan_of({{"host-1-0", "1", "leaf-1", "1"}}))),
              ElementsAre("host-1-0 mlx5_0 port 1 - leaf-1 port 1"));
}

TEST_F(NamedPlan, ExpectsNothingOfANameThatFitsTwoNodes) {
  fabric.node(fabric.find("host-1-1 mlx5_0")).name = "host-1-0 mlx5_0";
  EXPECT_THAT(cables(*on(plan_of({{"host-1-0 mlx5_0", "1", "leaf-1", "1"}, {"leaf-1", "2", "spine-1", "1"}}))),
              ElementsAre("leaf-1 port 2 - spine-1 port 1"));
}

TEST_F(NamedPlan, SaysWhichCablesAreNotUsedAndWhy) {
  fabric.node(fabric.find("host-1-1 mlx5_0")).name = "host-1-0 mlx5_1";
  const std::string leaf = to_string(guid("leaf-1"));
  CablePlan plan = plan_of({{"leaf-1", "1", "host-1-0", "1"},
                            {"leaf-1", "2", "spine-1", "1"},
                            {leaf.c_str(), "2", "spine-1", "2"},
                            {leaf.c_str(), "7", "leaf-1", "7"}});
  for (std::size_t i = 0; i < plan.cables.size(); ++i) plan.cables[i].line = i + 2;
  EXPECT_THAT(ignored(plan), ElementsAre("2: leaf-1:1 -- host-1-0:1: host-1-0 is the name of more than one node, " +
                                             to_string(guid("host-1-0 mlx5_0")) + " and " +
                                             to_string(guid("host-1-0 mlx5_1")) + ": write the adapter or the GUID",
                                         "4: " + leaf + ":2 -- spine-1:2: port 2 of the node " + leaf +
                                             " already has a cable, under another name",
                                         "5: " + leaf + ":7 -- leaf-1:7: both ends are one port, of the node " + leaf));
  EXPECT_THAT(ignored(plan_of({{"leaf-1", "2", "spine-1", "1"}})), IsEmpty());
}

TEST_F(NamedPlan, WhoHasGoneLeavesItsNameToWhoHasItNow) {
  const NodeIndex gone = fabric.find("host-1-1 mlx5_0");
  Node& old = fabric.node(gone);
  old.name = old.description = "host-1-0 mlx5_0";
  old.reachable = false;
  for (const char* name : {"host-1-0 mlx5_0", "host-1-0"}) {
    const auto expected = on(plan_of({{name, "1", "leaf-1", "1"}}));
    EXPECT_THAT(cables(*expected), ElementsAre("host-1-0 mlx5_0 port 1 - leaf-1 port 1")) << name;
    EXPECT_EQ(expected->find_node(fabric.nodes()[gone].guid), kNoIndex) << name;
  }
  // Of two that have gone nobody knows which one is meant.
  fabric.node(fabric.find("host-1-0 mlx5_0")).reachable = false;
  EXPECT_THAT(cables(*on(plan_of({{"host-1-0 mlx5_0", "1", "leaf-1", "1"}}))), IsEmpty());
}

TEST_F(NamedPlan, AReplacedSwitchLeavesItsShortName) {
  fabric.node(fabric.find("leaf-1")).description = "MF0;ib-01:MQM9700/U1";
  fabric.node(fabric.find("leaf-1")).reachable = false;
  fabric.node(fabric.find("leaf-0")).description = "MF0;ib-01:MQM9790/U1";
  EXPECT_THAT(cables(*on(plan_of({{"ib-01", "1", "spine-1", "1"}}))), ElementsAre("leaf-0 port 1 - spine-1 port 1"));
}

TEST_F(NamedPlan, AHostOfWhichOneAdapterHasGoneStillHasTwo) {
  Node& second = fabric.node(fabric.find("host-1-1 mlx5_0"));
  second.name = second.description = "host-1-0 mlx5_1";
  second.reachable = false;
  EXPECT_THAT(cables(*on(plan_of({{"host-1-0", "1", "leaf-1", "1"}}))), IsEmpty());
}

TEST_F(NamedPlan, ANodeThatIsNotThereIsKnownByItsName) {
  const auto expected = on(plan_of({{"leaf-9", "30", "gpu-09 mlx5_0", "1"}}));
  const NodeIndex leaf = expected->find_node(guid_of_name("leaf-9"));
  ASSERT_NE(leaf, kNoIndex);
  EXPECT_EQ(expected->node(leaf).type, NodeType::kSwitch);
  EXPECT_EQ(expected->node(expected->find_node(guid_of_name("gpu-09 mlx5_0"))).type, NodeType::kChannelAdapter);
  EXPECT_EQ(cables(*expected).size(), 1U);
}

TEST_F(NamedPlan, ANodeThatWasSeenBeforeKeepsItsGuid) {
  known.push_back({.guid = NodeGuid{0x99}, .name = "leaf-9", .type = NodeType::kSwitch});
  known.push_back({.guid = guid_of_name("leaf-8"), .name = "leaf-8", .type = NodeType::kSwitch});
  const auto expected = on(plan_of({{"leaf-9", "2", "leaf-8", "1"}}));
  EXPECT_NE(expected->find_node(NodeGuid{0x99}), kNoIndex);
  EXPECT_NE(expected->find_node(guid_of_name("leaf-8")), kNoIndex);
}

TEST_F(NamedPlan, OfTwoCablesAtAPortWithTwoNamesTheFirstCounts) {
  const std::string leaf = to_string(guid("leaf-1"));
  EXPECT_THAT(cables(*on(plan_of({{"leaf-1", "1", "spine-1", "1"}, {leaf.c_str(), "1", "spine-1", "2"}}))),
              ElementsAre("leaf-1 port 1 - spine-1 port 1"));
  EXPECT_THAT(cables(*on(CablePlan{})), IsEmpty());
}

}  // namespace
}  // namespace weft::analyzer
