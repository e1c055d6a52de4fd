// SPDX-License-Identifier: Apache-2.0
// Many links at once: a line card of one switch, or a subnet manager that does not activate them.
#include "tests/unit/analyzer/watch.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;

TEST(LinkGroups, ManyLinksOfOneSwitchAtOnceAreOneIncident) {
  Watch watch(FabricBuilder::fat_tree(4, 16, 4));
  watch.sweeps(3);
  const NodeIndex spine = watch.fabric.find("spine-2");
  const auto each = [&](int first, int last, auto change) {
    for (int l = first; l <= last; ++l) change(watch.fabric.port_towards("spine-2", "leaf-" + std::to_string(l)));
  };
  // One sweep may see the first of them only.
  each(0, 1, [&](PortIndex port) { watch.fabric.unlink(port); });
  watch.sweeps(1);
  EXPECT_EQ(watch.open().size(), 2U);
  each(2, 7, [&](PortIndex port) { watch.fabric.unlink(port); });
  watch.sweeps(2);
  const Incident down = watch.only();
  EXPECT_EQ(down.finding.kind, IncidentKind::kLinkDown) << watch.describe();
  EXPECT_EQ(down.finding.cause.port.node, watch.fabric.nodes()[spine].guid);
  EXPECT_EQ(down.finding.affected.size(), 8U);
  EXPECT_NE(down.finding.summary.find("8 links of spine-2 went down together"), std::string::npos)
      << down.finding.summary;
  watch.restart();
  watch.sweeps(5);
  EXPECT_EQ(watch.only().id, down.id) << watch.describe();
  each(0, 7, [&](PortIndex port) { watch.fabric.relink(port, PortState::kInitialize); });
  watch.sweeps(20);
  EXPECT_EQ(watch.only().id, down.id) << "they wait for the subnet manager: " << watch.describe();
  each(0, 6, [&](PortIndex port) { watch.fabric.relink(port); });
  watch.sweeps(20);
  EXPECT_EQ(watch.only().id, down.id) << "the last one is still down: " << watch.describe();
  each(7, 7, [&](PortIndex port) { watch.fabric.relink(port); });
  watch.sweeps(3);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST(LinkGroups, NameOneOfThoseThatLoseAsMuchAndCountTheOthers) {
  Watch watch(FabricBuilder::fat_tree(4, 6, 8));
  watch.sweeps(3);
  for (int h = 0; h < 4; ++h) watch.fabric.unlink(watch.fabric.port_of("host-2-" + std::to_string(h) + " mlx5_0", 1));
  watch.sweeps(2);
  EXPECT_EQ(watch.only().finding.summary,
            "4 links of leaf-2 went down together; host-2-0 and 3 others have lost their only link");
  EXPECT_EQ(watch.only().finding.severity, Severity::kWarning) << "as for any link, in the first seconds";
}

TEST(LinkGroups, ThatNobodyActivatesAreTheSubnetManagers) {
  Watch watch(FabricBuilder::fat_tree(4, 16, 4));
  watch.sweeps(3);
  const auto each = [&](int last, auto change) {
    for (int l = 0; l <= last; ++l) change(watch.fabric.port_towards("spine-2", "leaf-" + std::to_string(l)));
  };
  each(7, [&](PortIndex port) { watch.fabric.unlink(port); });
  watch.sweeps(40);
  ASSERT_EQ(watch.only().finding.kind, IncidentKind::kLinkDown) << watch.describe();
  each(7, [&](PortIndex port) { watch.fabric.relink(port, PortState::kInitialize); });
  watch.sweeps(30);
  EXPECT_EQ(watch.only().finding.severity, Severity::kWarning) << "no cable is at fault: " << watch.describe();
  watch.sweeps(60);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kLinksNotActivated) << watch.describe();
  EXPECT_EQ(watch.only().finding.affected.size(), 8U);
  each(5, [&](PortIndex port) { watch.fabric.relink(port); });
  watch.sweeps(5);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kLinksNotActivated) << watch.describe();
  each(7, [&](PortIndex port) { watch.fabric.relink(port); });
  watch.sweeps(5);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST(LinkGroups, ThatAreTrainedAreNotCritical) {
  Watch watch(FabricBuilder::fat_tree(4, 8, 8));
  watch.sweeps(3);
  const auto each = [&](auto change) {
    for (int host = 0; host < 8; ++host)
      change(watch.fabric.port_towards("leaf-1", "host-1-" + std::to_string(host) + " mlx5_0"));
  };
  each([&](PortIndex port) { watch.fabric.unlink(port); });
  watch.sweeps(40);
  EXPECT_EQ(watch.only().finding.severity, Severity::kCritical) << watch.describe();
  each([&](PortIndex port) { watch.fabric.relink(port, PortState::kInitialize); });
  watch.sweeps(5);
  EXPECT_EQ(watch.only().finding.severity, Severity::kWarning) << watch.describe();
}

TEST(LinkGroups, LinksThatWereDownBeforeARestartStayOneByOne) {
  Watch watch(FabricBuilder::fat_tree(8, 4, 4));
  watch.sweeps(3);
  for (int s = 0; s < 4; ++s) {
    watch.fabric.unlink(watch.fabric.port_towards("leaf-1", "spine-" + std::to_string(s)));
    watch.sweeps(10);
  }
  const std::vector<Incident> before = watch.open();
  ASSERT_EQ(before.size(), 4U) << "each at its own time: " << watch.describe();
  watch.restart();
  watch.sweeps(5);
  ASSERT_EQ(watch.open().size(), 4U) << watch.describe();
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(watch.open()[i].id, before[i].id);
}

TEST(LinksNotActivated, IsOneIncidentOfTheSubnetManager) {
  Watch watch(FabricBuilder::fat_tree(4, 16, 4));
  watch.sweeps(3);
  const auto each = [&](PortState state) {
    for (int l = 0; l < 12; ++l)
      watch.fabric.relink(watch.fabric.port_towards("spine-" + std::to_string(l % 4), "leaf-" + std::to_string(l)),
                          state);
  };
  each(PortState::kInitialize);
  watch.sweeps(60);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  watch.sweeps(2);
  const Incident waiting = watch.only();
  EXPECT_EQ(waiting.finding.kind, IncidentKind::kLinksNotActivated);
  EXPECT_EQ(waiting.finding.cause.kind, EntityKind::kFabric);
  EXPECT_EQ(waiting.finding.affected.size(), 12U);
  EXPECT_EQ(waiting.finding.severity, Severity::kWarning) << "each leaf has three more uplinks";
  // The last ones wait for the same.
  for (int l = 0; l < 11; ++l)
    watch.fabric.relink(watch.fabric.port_towards("spine-" + std::to_string(l % 4), "leaf-" + std::to_string(l)));
  watch.sweeps(10);
  EXPECT_EQ(watch.only().id, waiting.id);
  EXPECT_EQ(watch.only().finding.affected.size(), 1U);
  each(PortState::kActive);
  watch.sweeps(3);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  EXPECT_EQ(watch.book.all()->size(), 1U);
}

}  // namespace
}  // namespace weft::analyzer
