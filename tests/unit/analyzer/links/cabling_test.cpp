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

TEST(Miscabled, ALinkThatNobodyPlannedIsExtra) {
  FabricBuilder fabric = FabricBuilder::fat_tree(2, 4, 4);
  const auto expected = fabric.topology();
  const NodeIndex leaf = fabric.add_switch("extra", 4);
  const NodeIndex host = fabric.add_adapter("guest mlx5_0");
  fabric.connect(fabric.nodes()[leaf].first_port + 1, fabric.nodes()[host].first_port);
  Watch watch(std::move(fabric), {}, expected);
  watch.sweeps(1);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kMiscabled);
  EXPECT_EQ(watch.only().finding.severity, Severity::kInfo);
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
