// SPDX-License-Identifier: Apache-2.0
// Outages while the clock is set back.
#include "tests/unit/analyzer/watch.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;
using std::chrono::hours;

TEST(ClockSetBack, ALinkThatTrainsIsStillToldInTime) {
  Watch watch(FabricBuilder::fat_tree(2, 3, 4));
  watch.sweeps(3);
  watch.fabric.relink(watch.fabric.port_towards("leaf-1", "spine-0"), PortState::kInitialize);
  watch.sweeps(5);
  watch.fabric.advance(-hours(1));
  watch.sweeps(65);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kLinkDown) << watch.describe();
}

// Each has its own cause, whatever the clock says.
TEST(ClockSetBack, LinksThatWentDownOneAfterTheOtherDidNotGoDownTogether) {
  Watch watch(FabricBuilder::fat_tree(4, 3, 4));
  watch.sweeps(3);
  for (const char* leaf : {"leaf-0", "leaf-1", "leaf-2"}) {
    watch.fabric.unlink(watch.fabric.port_towards(leaf, "spine-0"));
    watch.sweeps(60);
  }
  ASSERT_EQ(watch.open().size(), 3U) << watch.describe();
  watch.fabric.advance(-hours(1));
  watch.sweeps(10);
  EXPECT_EQ(watch.open().size(), 3U) << watch.describe();
  for (const auto& incident : watch.open()) EXPECT_EQ(incident.finding.cause.kind, EntityKind::kLink);
}

TEST(ClockSetBack, BlindnessOfMostOfTheFabricEndsInTime) {
  Watch watch(FabricBuilder::fat_tree(2, 6, 4));
  watch.sweeps(3);
  for (NodeIndex i = 0; i < watch.fabric.nodes().size(); ++i) {
    const std::string name = watch.fabric.nodes()[i].name;
    if (name.starts_with("leaf-") && name != "leaf-0") watch.fabric.power_off(i);
    if (name.starts_with("host-") && !name.starts_with("host-0-")) watch.fabric.silence(i);
  }
  watch.sweeps(60);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kTelemetryLost) << watch.describe();
  watch.fabric.advance(-hours(1));
  watch.sweeps(605);
  EXPECT_EQ(watch.open().size(), 5U) << watch.describe();
}

TEST(ClockSetBack, ASubnetManagerThatWasAtWorkIsNotTakenForBusyForLong) {
  Watch watch(FabricBuilder::fat_tree(2, 3, 4));
  watch.sweeps(3);
  const PortIndex end = watch.fabric.port_towards("leaf-1", "spine-0");
  watch.fabric.relink(end, PortState::kInitialize);
  watch.sweeps(2);
  watch.fabric.relink(end);
  watch.sweeps(2);
  watch.fabric.advance(-hours(1));
  watch.sweeps(70);
  watch.fabric.freeze_counters(watch.fabric.find("leaf-2"));
  watch.sweeps(100);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kTelemetryLost) << watch.describe();
}

}  // namespace
}  // namespace weft::analyzer
