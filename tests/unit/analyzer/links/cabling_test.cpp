// SPDX-License-Identifier: Apache-2.0
// MISCABLED and DUPLICATE_GUID.
#include "tests/unit/analyzer/watch.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;

void cross(FabricBuilder& fabric, PortIndex a, PortIndex b) {
  const PortIndex a_peer = fabric.ports()[a].peer;
  const PortIndex b_peer = fabric.ports()[b].peer;
  fabric.connect(a, b_peer);
  fabric.connect(b, a_peer);
  fabric.port(a);
}

TEST(Miscabled, CrossedCablesNameWhereTheyShouldGo) {
  FabricBuilder fabric = FabricBuilder::fat_tree(2, 4, 4);
  const auto expected = fabric.topology();
  const PortIndex a = fabric.port_towards("leaf-1", "host-1-0 mlx5_0");
  const PortIndex b = fabric.port_towards("leaf-2", "host-2-3 mlx5_0");
  cross(fabric, a, b);
  Watch watch(std::move(fabric), {}, expected);
  watch.sweeps(2);
  const std::vector<Incident> open = watch.open();
  ASSERT_EQ(open.size(), 2U) << watch.describe();
  for (const Incident& incident : open) EXPECT_EQ(incident.finding.kind, IncidentKind::kMiscabled);
  EXPECT_EQ(link_of(open[0]), watch.fabric.link_of(a));
  EXPECT_NE(open[0].finding.evidence[0].description.find("should be connected with host-1-0 mlx5_0 port 1"),
            std::string::npos)
      << open[0].finding.evidence[0].description;
  EXPECT_NE(open[0].finding.evidence[0].description.find("found host-2-3 mlx5_0 port 1"), std::string::npos);
  watch.restart();
  watch.sweeps(4);
  EXPECT_EQ(watch.open().size(), 2U);
  EXPECT_EQ(watch.book.all()->size(), 2U);
  cross(watch.fabric, a, b);
  watch.sweeps(3);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST(Miscabled, ALinkThatNobodyPlannedBetweenPlannedNodesIsExtra) {
  FabricBuilder fabric = FabricBuilder::fat_tree(2, 4, 4);
  const NodeIndex one = fabric.add_switch("one", 4), other = fabric.add_switch("other", 4);
  const auto at = [&](NodeIndex node, PortIndex number) { return fabric.nodes()[node].first_port + number; };
  fabric.connect(at(one, 1), at(other, 1));
  const auto expected = fabric.topology();
  fabric.connect(at(one, 2), at(other, 2));
  Watch watch(std::move(fabric), {}, expected);
  watch.sweeps(1);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kMiscabled);
  EXPECT_EQ(watch.only().finding.severity, Severity::kInfo);
}

TEST(Miscabled, APlanOfAPartSaysNothingOfTheRest) {
  // The switches alone are planned, and of those a spine and two leaves; one of its cables went to another leaf.
  FabricBuilder fabric = FabricBuilder::fat_tree(2, 4, 4);
  FabricBuilder part;
  for (const char* name : {"spine-1", "leaf-1", "leaf-2"}) {
    const Node& node = fabric.nodes()[fabric.find(name)];
    part.node(part.add_switch(name, node.port_count)).guid = node.guid;
  }
  const auto plan = [&](const std::string& a, const std::string& a_peer, const std::string& b,
                        const std::string& b_peer) {
    const auto port = [&](const std::string& name, const std::string& peer) {
      return part.port_of(name, fabric.key_of(fabric.port_towards(name, peer)).port.value);
    };
    part.connect(port(a, a_peer), port(b, b_peer));
  };
  plan("spine-1", "leaf-1", "leaf-1", "spine-1");
  plan("spine-1", "leaf-3", "leaf-2", "spine-1");
  Watch watch(std::move(fabric), {}, part.topology());
  watch.sweeps(2);
  const std::vector<Incident> open = watch.open();
  ASSERT_EQ(open.size(), 2U) << watch.describe();
  for (const Incident& incident : open) {
    EXPECT_EQ(incident.finding.kind, IncidentKind::kMiscabled);
    EXPECT_NE(incident.finding.cause.label.find("spine-1"), std::string::npos) << incident.finding.cause.label;
  }
}

TEST(Miscabled, PlannedNodesThatNobodySeesAreSaid) {
  FabricBuilder planned = FabricBuilder::fat_tree(2, 4, 4);
  const NodeIndex far = planned.add_switch("far", 4), farther = planned.add_switch("farther", 4);
  planned.connect(planned.nodes()[far].first_port + 1, planned.nodes()[farther].first_port + 1);
  Watch watch(FabricBuilder::fat_tree(2, 4, 4), {}, planned.topology());
  watch.sweeps(2);
  const Finding said = watch.only().finding;
  EXPECT_EQ(said.kind, IncidentKind::kMiscabled);
  EXPECT_EQ(said.severity, Severity::kInfo);
  EXPECT_TRUE(said.summary.starts_with("2 planned nodes are not in fabric")) << said.summary;
  ASSERT_EQ(said.evidence.size(), 2U);
  EXPECT_TRUE(said.evidence[0].description.starts_with("far (")) << said.evidence[0].description;
}

TEST(Miscabled, APlanOfAnotherFabricIsOneIncident) {
  FabricBuilder other;
  const NodeIndex far = other.add_switch("far", 4), farther = other.add_switch("farther", 4);
  other.node(far).guid = NodeGuid{0x77770001};
  other.node(farther).guid = NodeGuid{0x77770002};
  other.connect(other.nodes()[far].first_port + 1, other.nodes()[farther].first_port + 1);
  Watch watch(FabricBuilder::fat_tree(2, 4, 4), {}, other.topology());
  watch.sweeps(2);
  EXPECT_EQ(watch.only().finding.severity, Severity::kWarning);
  EXPECT_NE(watch.only().finding.summary.find("check that the file is of this fabric"), std::string::npos);
}

TEST(Miscabled, ASwitchThatIsDownIsNoPlannedNodeThatNobodySees) {
  FabricBuilder fabric = FabricBuilder::fat_tree(2, 4, 4);
  const auto expected = fabric.topology();
  Watch watch(std::move(fabric), {}, expected);
  watch.sweeps(2);
  watch.fabric.power_off(watch.fabric.find("spine-1"));
  watch.fabric.rediscover();
  watch.sweeps(4);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kSwitchDown) << watch.describe();
}

TEST(Miscabled, AnExpectedLinkThatIsDownIsLinkDownEvenIfItNeverWasUp) {
  FabricBuilder fabric = FabricBuilder::fat_tree(2, 4, 4);
  const auto expected = fabric.topology();
  const PortIndex end = fabric.port_towards("leaf-1", "spine-1");
  const LinkKey link = fabric.link_of(end);
  fabric.unlink(end);
  fabric.rediscover();
  Watch watch(std::move(fabric), {}, expected);
  watch.sweeps(2);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kLinkDown) << watch.describe();
  EXPECT_EQ(link_of(watch.only()), link);
}

TEST(Miscabled, AHostThatIsExpectedAndMissingIsNamed) {
  FabricBuilder fabric = FabricBuilder::fat_tree(2, 4, 4);
  const auto expected = fabric.topology();
  fabric.power_off(fabric.find("host-2-2 mlx5_0"));
  fabric.rediscover();
  Watch watch(std::move(fabric), {}, expected);
  watch.sweeps(2);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kLinkDown);
  EXPECT_NE(watch.only().finding.summary.find("host-2-2"), std::string::npos) << watch.only().finding.summary;
}

TEST(Miscabled, TheWrongFileIsOneIncident) {
  FabricBuilder planned = FabricBuilder::fat_tree(2, 4, 8);
  const auto expected = planned.topology();
  FabricBuilder fabric = FabricBuilder::fat_tree(2, 4, 8);
  for (unsigned h = 0; h < 8; ++h)
    cross(fabric, fabric.port_towards("leaf-1", "host-1-" + std::to_string(h) + " mlx5_0"),
          fabric.port_towards("leaf-2", "host-2-" + std::to_string(h) + " mlx5_0"));
  Watch watch(std::move(fabric), {}, expected);
  watch.sweeps(2);
  EXPECT_EQ(watch.only().finding.cause.kind, EntityKind::kFabric) << watch.describe();
}

TEST(Miscabled, WhatIsAsPlannedIsNone) {
  FabricBuilder fabric = FabricBuilder::fat_tree(2, 4, 4);
  const auto expected = fabric.topology();
  fabric.rediscover();
  Watch watch(std::move(fabric), {}, expected);
  watch.sweeps(5);
  EXPECT_TRUE(watch.book.all()->empty()) << watch.describe();
}

/// The cables of the fabric, by the names of its nodes.
std::shared_ptr<CablePlan> plan_in_names(FabricBuilder& fabric) {
  auto plan = std::make_shared<CablePlan>();
  for (const Node& node : fabric.nodes()) plan->nodes.push_back({node.name, false});
  const auto end = [&](PortIndex port) {
    return CableEnd{fabric.ports()[port].node, std::to_string(fabric.ports()[port].number.value)};
  };
  for (PortIndex i = 0; i < fabric.ports().size(); ++i)
    if (const PortIndex peer = fabric.ports()[i].peer; peer != kNoIndex && peer > i)
      plan->cables.push_back({end(i), end(peer)});
  return plan;
}

TEST(Miscabled, APlanInNamesIsComparedAsOneByGuids) {
  FabricBuilder fabric = FabricBuilder::fat_tree(2, 4, 4);
  const auto plan = plan_in_names(fabric);
  const PortIndex a = fabric.port_towards("leaf-1", "host-1-0 mlx5_0");
  cross(fabric, a, fabric.port_towards("leaf-2", "host-2-3 mlx5_0"));
  Watch watch(std::move(fabric));
  watch.analyzer.expect({nullptr, plan});
  watch.sweeps(2);
  const std::vector<Incident> open = watch.open();
  ASSERT_EQ(open.size(), 2U) << watch.describe();
  EXPECT_EQ(link_of(open[0]), watch.fabric.link_of(a));
  EXPECT_NE(open[0].finding.summary.find("should be connected with host-1-0 mlx5_0 port 1"), std::string::npos);
}

TEST(Miscabled, AHostThatIsPlannedByNameIsMissedUntilItComes) {
  FabricBuilder fabric = FabricBuilder::fat_tree(2, 4, 4);
  const auto plan = plan_in_names(fabric);
  const std::uint16_t at = fabric.key_of(fabric.port_towards("leaf-2", "host-2-2 mlx5_0")).port.value;
  fabric.power_off(fabric.find("host-2-2 mlx5_0"));
  fabric.rediscover();
  Watch watch(std::move(fabric));
  watch.analyzer.expect({nullptr, plan});
  watch.sweeps(3);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kLinkDown) << watch.describe();
  EXPECT_NE(watch.only().finding.summary.find("host-2-2"), std::string::npos) << watch.only().finding.summary;
  watch.fabric.node(watch.fabric.add_adapter("host-2-2 mlx5_0")).guid = NodeGuid{0x77770001};
  watch.fabric.connect(watch.fabric.port_of("leaf-2", at), watch.fabric.port_of("host-2-2 mlx5_0", 1));
  watch.fabric.rediscover();
  watch.sweeps(6);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST(Miscabled, ANewPlanIsComparedWithTheNextSweep) {
  FabricBuilder fabric = FabricBuilder::fat_tree(2, 4, 4);
  const auto before = fabric.topology();
  const PortIndex a = fabric.port_towards("leaf-1", "host-1-0 mlx5_0");
  cross(fabric, a, fabric.port_towards("leaf-2", "host-2-3 mlx5_0"));
  const auto after = fabric.topology();
  Watch watch(std::move(fabric), {}, before);
  watch.sweeps(2);
  ASSERT_EQ(watch.open().size(), 2U) << watch.describe();
  watch.analyzer.expect({after, nullptr});
  watch.sweeps(3);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  // What is expected no longer is not missed: the first plan has a cable where nothing is.
  watch.analyzer.expect({before, nullptr});
  watch.sweeps(2);
  EXPECT_EQ(watch.open().size(), 2U) << watch.describe();
  watch.analyzer.expect({});
  watch.sweeps(3);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST(DuplicateGuid, IsShownWithBothPlacesUntilItIsGone) {
  Watch watch(FabricBuilder::fat_tree(2, 3, 4));
  watch.sweeps(2);
  const NodeIndex host = watch.fabric.find("host-1-1 mlx5_0");
  const PortKey first = watch.fabric.key_of(watch.fabric.port_towards("leaf-1", "host-1-1 mlx5_0"));
  const PortKey second = watch.fabric.key_of(watch.fabric.port_of("leaf-2", 6));
  watch.fabric.duplicates().push_back({watch.fabric.nodes()[host].guid, first, second, "clone mlx5_0"});
  watch.sweeps(1);
  const Incident twice = watch.only();
  EXPECT_EQ(twice.finding.kind, IncidentKind::kDuplicateGuid);
  EXPECT_EQ(twice.finding.cause.port.node, watch.fabric.nodes()[host].guid);
  EXPECT_EQ(twice.finding.affected.size(), 2U);
  EXPECT_NE(twice.finding.summary.find("leaf-2 port 6"), std::string::npos) << twice.finding.summary;
  watch.fabric.duplicates().clear();
  watch.sweeps(3);
  EXPECT_TRUE(watch.open().empty());
}

}  // namespace
}  // namespace weft::analyzer
