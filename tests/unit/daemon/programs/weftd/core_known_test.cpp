// SPDX-License-Identifier: Apache-2.0
// Subnets that the ledger knows, and that no port of this host leads to.

#include "tests/unit/daemon/programs/weftd/core_fixture.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

class CoreKnownTest : public CoreTest {
 protected:
  CoreKnownTest() {
    config.infiniband.enabled = config.infiniband.ports.automatic = true;
    const PortIndex end = fabric.port_towards("leaf-1", "spine-0");
    memory.fabric = "test";
    memory.seen = clock.time - 1h;
    memory.state.links.push_back({fabric.link_of(end), {"leaf-1", NodeType::kSwitch}, {"spine-0", NodeType::kSwitch}});
  }
  void begin() {
    store::Restored restored;
    restored.fabrics.push_back(memory);
    start(std::move(restored));
  }
  void pass(Duration time) {
    for (const TimePoint until = clock.time + time; clock.time < until; clock.time += 1s) core->tick();
    settle();
  }
  store::FabricMemory memory;
};

TEST_F(CoreKnownTest, OneThatNobodyWatchesIsTold) {
  begin();
  pass(50s);
  EXPECT_TRUE(publication.load()->fabrics.empty()) << "its port may be found yet";
  pass(20s);
  ASSERT_EQ(publication.load()->fabrics.size(), 1U);
  EXPECT_EQ(publication.load()->fabrics[0].name, "test");
  EXPECT_FALSE(publication.load()->fabrics[0].watching);
  EXPECT_TRUE(publication.load()->fabrics[0].is_unreachable);
  EXPECT_EQ(publication.load()->fabrics[0].status, "waiting: no active port of this host leads to it");
  ASSERT_EQ(shown().size(), 1U);
  EXPECT_EQ(shown()[0].finding.kind, IncidentKind::kTelemetryLost);
  EXPECT_EQ(shown()[0].finding.severity, Severity::kCritical);
  EXPECT_EQ(shown()[0].finding.summary, "Fabric test is not monitored: no active port of this host leads to it");
  pass(20min);
  EXPECT_TRUE(shown()[0].is_open()) << "it is not given up";
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  EXPECT_EQ(publication.load()->fabrics[0].through, "mlx5_0:1");
  EXPECT_FALSE(publication.load()->fabrics[0].is_unreachable);
  sweep(10);
  settle();
  EXPECT_FALSE(shown()[0].is_open());
  pass(1s);
  EXPECT_EQ(publication.load()->fabrics.size(), 1U);
}

TEST_F(CoreKnownTest, TheSameSubnetByAnotherNameIsWatched) {
  memory.fabric = "before";
  begin();
  pass(70s);
  ASSERT_EQ(shown().size(), 1U);
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_1:1");
  sweep(80);
  pass(1s);
  ASSERT_EQ(publication.load()->fabrics.size(), 1U);
  EXPECT_EQ(publication.load()->fabrics[0].name, "test");
  EXPECT_FALSE(shown()[0].is_open());
}

TEST_F(CoreKnownTest, OneThatASubnetOfAnotherNameIsIsNotTold) {
  memory.fabric = "before";
  begin();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_1:1");
  sweep(100);
  settle();
  EXPECT_EQ(publication.load()->fabrics.size(), 1U);
  EXPECT_TRUE(shown().empty());
}

TEST_F(CoreKnownTest, WhatNobodySawForAWeekIsNotTold) {
  memory.seen = clock.time - 8 * 24h;
  begin();
  pass(5min);
  EXPECT_TRUE(publication.load()->fabrics.empty());
}

TEST_F(CoreKnownTest, WhereAPersonNamedThePortsNoOtherIsTold) {
  config.infiniband.ports.automatic = false;
  begin();
  pass(5min);
  EXPECT_TRUE(publication.load()->fabrics.empty());
}

TEST_F(CoreKnownTest, AStandbyTellsNone) {
  begin();
  core->stand_by();
  pass(5min);
  EXPECT_TRUE(publication.load()->fabrics.empty());
}

}  // namespace
}  // namespace weft::daemon
