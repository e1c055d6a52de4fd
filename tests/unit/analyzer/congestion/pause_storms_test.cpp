// SPDX-License-Identifier: Apache-2.0
// Storms of pauses that a device itself warns of, or ends.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/analyzer/ethernet_watch.hpp"
#include "tests/unit/analyzer/host_watching.hpp"

namespace weft::analyzer {
namespace {

/// One port that stands on no watched fabric; its counters stood at some number when the collector began.
struct StormyHost : testing::Test {
  StormyHost() {
    auto inventory = std::make_shared<HostInventory>();
    inventory->ports.push_back(watching.inventory->ports.front());
    for (const char* name : {"pause_storm_warnings", "pause_storm_errors"})
      inventory->series.push_back({.device = "mlx5_0", .port = 1, .name = name});
    watching.inventories[0] = inventory;
    watching.values[0] = {7, 3};
    watching.seconds(5);
  }
  std::uint64_t& warnings() { return watching.values[0][0]; }
  std::uint64_t& ended() { return watching.values[0][1]; }
  HostWatching watching;
};

TEST_F(StormyHost, WhatWasCountedBeforeIsHistory) {
  watching.seconds(100);
  EXPECT_TRUE(watching.book.all()->empty());
}

TEST_F(StormyHost, AWarningOfTheDeviceIsAWarning) {
  ++warnings();
  watching.seconds(1);
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kPfcStorm});
  const Incident storm = watching.open().front();
  EXPECT_EQ(storm.finding.severity, Severity::kWarning);
  EXPECT_EQ(storm.finding.cause.kind, EntityKind::kHostPort);
  ASSERT_EQ(storm.finding.evidence.size(), 1U);
  EXPECT_EQ(storm.finding.evidence.front().signal, "pause_storm_warnings");
  EXPECT_EQ(storm.finding.evidence.front().value, 1);
}

TEST_F(StormyHost, AStormThatTheDeviceEndedIsCritical) {
  ++warnings();
  watching.seconds(8);
  ++ended();
  watching.seconds(1);
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kPfcStorm});
  EXPECT_EQ(watching.open().front().finding.severity, Severity::kCritical);
}

TEST_F(StormyHost, ABurstOfEventsIsOneIncidentThatResolves) {
  for (int event = 0; event < 10; ++event) {
    ++ended();
    watching.seconds(30);
  }
  ASSERT_EQ(watching.book.all()->size(), 1U);
  EXPECT_EQ(watching.book.all()->front()->occurrences, 1U);
  EXPECT_EQ(watching.open().size(), 1U);
  watching.seconds(60);
  EXPECT_TRUE(watching.open().empty());
}

TEST_F(StormyHost, EndsInTimeWhenTheClockIsSetBack) {
  ++ended();
  watching.seconds(1);
  ASSERT_EQ(watching.open().size(), 1U);
  watching.now -= std::chrono::hours(1);
  watching.seconds(70);
  EXPECT_TRUE(watching.open().empty());
}

TEST_F(StormyHost, ADriverThatIsLoadedAnewHasNoStorm) {
  warnings() = ended() = 0;
  watching.seconds(30);
  EXPECT_TRUE(watching.book.all()->empty());
}

TEST_F(StormyHost, WhatHappenedInALongGapIsNoNews) {
  ++ended();
  watching.now += std::chrono::minutes(10);
  watching.seconds(30);
  EXPECT_EQ(std::ranges::count(watching.kinds(), IncidentKind::kPfcStorm), 0);
}

/// On a watched fabric the port has its name there, and what the sweeps see of the same storm is the same incident.
struct StormyFabric : testing::Test {
  StormyFabric() {
    for (const char* name : {"pause_storm_warnings", "pause_storm_errors"})
      watch.told.host("gpu-02").add_series(name, "eth2");
    watch.seconds(10);
  }
  void storm(unsigned seconds) {
    for (unsigned second = 0; second < seconds; ++second) {
      watch.load("gpu-01", 0, 0.05, 1);
      watch.load("gpu-02", 0.05, 0, 0, 1);
      watch.step();
    }
  }
  EthernetWatch watch;
};

TEST_F(StormyFabric, TheDevicesWordIsOfThePortOnTheFabric) {
  ++watch.told.host("gpu-02").value("pause_storm_errors", "eth2");
  watch.seconds(2);
  const Incident storm = watch.only();
  EXPECT_EQ(storm.finding.kind, IncidentKind::kPfcStorm) << watch.describe();
  EXPECT_EQ(storm.finding.cause.kind, EntityKind::kPort);
  EXPECT_EQ(storm.finding.cause.label, "gpu-02 eth2");
  EXPECT_EQ(storm.finding.severity, Severity::kCritical);
  watch.seconds(90);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST_F(StormyFabric, ASwitchThatPausedForLongIsNoCulprit) {
  watch.told.add(watch.plan, "leaf01").add_series("pause_storm_errors", "swp1");
  watch.seconds(5);
  ++watch.told.host("leaf01").value("pause_storm_errors", "swp1");
  watch.seconds(5);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST_F(StormyFabric, TheSweepsAndTheDeviceTellOfOneStorm) {
  storm(5);
  for (int event = 0; event < 5; ++event) {  // evidence that changes is shown once a minute
    ++watch.told.host("gpu-02").value("pause_storm_warnings", "eth2");
    storm(20);
  }
  const Incident found = watch.only();
  EXPECT_EQ(found.finding.kind, IncidentKind::kPfcStorm) << watch.describe();
  EXPECT_EQ(found.occurrences, 1U);
  EXPECT_EQ(found.finding.severity, Severity::kCritical) << "a warning takes nothing back";
  const auto& evidence = found.finding.evidence;
  EXPECT_NE(std::ranges::find(evidence, "pause_storm_warnings", &Evidence::signal), evidence.end());
}

}  // namespace
}  // namespace weft::analyzer
