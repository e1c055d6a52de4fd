// SPDX-License-Identifier: Apache-2.0
// A switch of one subnet is cabled into another, and weftd's own cable is moved, in any order.

#include <algorithm>
#include <string>
#include <utility>

#include "tests/unit/daemon/programs/weftd/moved_switch_fixture.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

TEST_F(MovedSwitchTest, TheSwitchFirstAndThenOurCable) {
  start();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  swap_subnets();
  sweep_for(70s);
  put_leaf_into_b(fabric, before, leaf, host);
  sweep_for(10s);
  ASSERT_EQ(shown().size(), 1U);
  EXPECT_EQ(shown()[0].finding.kind, IncidentKind::kSwitchDown);
  swap_subnets();
  sweep_for(80s);
  expect_a_is_lost();
  EXPECT_FALSE(shown()[0].is_open()) << "it is up in B";
}

TEST_F(MovedSwitchTest, BothWhileNobodyRuns) {
  const store::Restored restored = ledger_of_a();
  put_leaf_into_b(before, fabric, leaf, host);
  start(restored);
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  sweep_for(80s);
  expect_a_is_lost();
}

TEST_F(MovedSwitchTest, IntoTheSubnetOfTheOtherWeftdThatTakesOver) {
  const store::Restored restored = ledger_of_a();
  start();
  core->stand_by();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  sweep_for(10s);
  put_leaf_into_b(before, fabric, leaf, host);
  sweep_for(10s);
  core->lead(restored);
  sweep_for(80s);
  expect_a_is_lost();
}

TEST_F(MovedSwitchTest, AndBackAgainTheSwitchFirst) {
  start();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  swap_subnets();
  sweep_for(70s);
  const std::string first = "a-spine-0";  // the names of lost subnets are of their first switches
  swap_subnets();
  sweep_for(10s);
  EXPECT_EQ(publication.load()->fabrics.at(1).name, "test@" + to_string(guid_of(first)));
  put_leaf_into_b(before, fabric, first, host);
  sweep_for(10s);
  expect_a_is_lost();
  fabric.power_off(fabric.find(first));
  before.power_on(before.find(first));
  sweep_for(10s);
  swap_subnets();
  sweep_for(20s);
  const auto fabrics = publication.load()->fabrics;
  ASSERT_EQ(fabrics.size(), 2U) << "B is lost";
  EXPECT_TRUE(fabrics[0].watching);
  EXPECT_EQ(fabrics[1].name, "test@0x0002c90300000100");
  EXPECT_FALSE(fabrics[1].watching);
  EXPECT_EQ(verdict_of("a-host-0-0"), HealthVerdict::kHealthy);
  EXPECT_EQ(verdict_of("host-1-0"), HealthVerdict::kUnknown);
}

TEST_F(MovedSwitchTest, OursTogetherWithUs) {
  start();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  swap_subnets();
  sweep_for(70s);
  // The graph goes on to show what was found of A before.
  const PortIndex up = fabric.port_towards("a-leaf-0", "a-spine-0");
  fabric.unlink(up);
  fabric.unlink(fabric.port_towards("a-leaf-0", "a-spine-1"));
  for (NodeIndex node = 0; node < fabric.nodes().size(); ++node)
    if (const std::string& name = fabric.nodes()[node].name; name != "a-leaf-0" && !name.starts_with("a-host-0-"))
      fabric.silence(node);
  for (const char* name : {"b-leaf-0", "b-leaf-1", "b-leaf-2"}) fabric.add_switch(name, 8);
  fabric.connect(fabric.port_of("b-leaf-0", 1), fabric.port_of("b-leaf-1", 1));
  fabric.connect(fabric.port_of("b-leaf-0", 2), fabric.port_of("b-leaf-2", 1));
  fabric.port(fabric.ports()[up].peer).peer = kNoIndex;
  fabric.connect(fabric.port_of("b-leaf-0", 8), up);
  sweep_for(80s);
  const auto fabrics = publication.load()->fabrics;
  ASSERT_EQ(fabrics.size(), 2U);
  EXPECT_TRUE(fabrics[0].watching);
  EXPECT_FALSE(fabrics[1].watching);
  for (const Incident& each : shown())
    EXPECT_FALSE(each.is_open() && each.finding.cause.fabric == "test") << each.finding.summary;
  EXPECT_EQ(verdict_of("a-host-2-0"), HealthVerdict::kUnknown);
  EXPECT_EQ(verdict_of("a-host-0-1"), HealthVerdict::kHealthy);
}

TEST_F(MovedSwitchTest, WhatIsOpenOfAHostBehindItGoesAlongAndEnds) {
  start();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  swap_subnets();
  sweep_for(70s);
  fabric.silence(fabric.find(host));
  sweep_for(20s);
  EXPECT_EQ(open_in("test"), (std::vector{IncidentKind::kTelemetryLost}));
  swap_subnets();
  sweep_for(20s);
  put_leaf_into_b(before, fabric, leaf, host);
  sweep_for(60s);
  const auto incidents = shown();
  ASSERT_FALSE(incidents.empty());
  EXPECT_FALSE(incidents[0].is_open()) << incidents[0].finding.cause.fabric << incidents[0].finding.summary;
  EXPECT_EQ(verdict_of("a-host-1-0"), HealthVerdict::kHealthy);
}

TEST_F(MovedSwitchTest, BetweenTwoThatAreWatchedOnlyWhatLostItsCableIsDown) {
  start();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  core->add_fabric("two", LinkLayer::kInfiniBand, "mlx5_1:1");
  const auto sweep_both = [&](int seconds) { MovedSwitchTest::sweep_both(seconds, before); };
  sweep_both(20);
  // A host by itself: its place in A is empty.
  const NodeGuid alone = guid_of("a-host-2-0 mlx5_0");
  const PortIndex free = fabric.port_towards("leaf-2", "host-2-1 mlx5_0");
  before.power_off(before.find("a-host-2-0 mlx5_0"));
  sweep_both(20);
  ASSERT_EQ(shown().size(), 1U);
  EXPECT_EQ(shown()[0].finding.kind, IncidentKind::kLinkDown);
  EXPECT_EQ(verdict_of("a-host-2-0"), HealthVerdict::kUnhealthy);
  fabric.power_off(fabric.find("host-2-1 mlx5_0"));
  fabric.unlink(free);
  fabric.node(fabric.add_adapter("a-host-2-0 mlx5_0")).guid = alone;
  fabric.connect(free, fabric.port_of("a-host-2-0 mlx5_0", 1));
  fabric.rediscover();
  sweep_both(30);
  for (const Incident& each : shown())
    EXPECT_FALSE(each.is_open() && each.finding.cause.fabric == "two") << each.finding.summary;
  EXPECT_EQ(verdict_of("a-host-2-0"), HealthVerdict::kHealthy);
  // A switch with one of its two hosts.
  put_leaf_into_b(before, fabric, leaf, host);
  sweep_both(40);
  EXPECT_EQ(open_in("two"), (std::vector{IncidentKind::kLinkDown}));
  EXPECT_EQ(verdict_of("a-host-1-0"), HealthVerdict::kHealthy);
  EXPECT_EQ(verdict_of("a-host-1-1"), HealthVerdict::kUnhealthy);
  EXPECT_EQ(verdict_of("a-leaf-1"), HealthVerdict::kHealthy);
  EXPECT_EQ(verdict_of("a-host-0-0"), HealthVerdict::kHealthy);
}

// The host stays at the port that it had.
TEST_F(MovedSwitchTest, AHostThatIsUpBehindItIsReadThere) {
  start();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  core->add_fabric("two", LinkLayer::kInfiniBand, "mlx5_1:1");
  sweep_both(20, before);
  const auto place = static_cast<std::uint16_t>(before.ports()[before.port_towards(leaf, host)].number.value);
  before.silence(before.find(host));
  before.silence(before.find("a-host-1-1 mlx5_0"));
  put_leaf_into_b(before, fabric, leaf, host);
  fabric.unlink(fabric.port_towards(leaf, host));
  for (const PortIndex end : {fabric.port_of(leaf, 1), fabric.port_of(host, 1)}) fabric.port(end).peer = kNoIndex;
  fabric.connect(fabric.port_of(leaf, place), fabric.port_of(host, 1));
  sweep_both(40, before);
  EXPECT_EQ(open_in("two"), (std::vector{IncidentKind::kLinkDown}));
  EXPECT_EQ(verdict_of("a-host-1-0"), HealthVerdict::kHealthy);
  EXPECT_EQ(verdict_of("a-host-1-1"), HealthVerdict::kUnhealthy);
}

// Another port of ours hangs on the leaf that lost its uplinks.
TEST_F(MovedSwitchTest, WhatIsCutOffAndReachedThroughAnotherPortIsNotMoved) {
  start();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  sweep_for(20s);
  cut_leaf_off();
  sweep_for(10s);
  EXPECT_EQ(open_in("test"), (std::vector{IncidentKind::kSwitchDown}));
  core->add_fabric("two", LinkLayer::kInfiniBand, "mlx5_1:1");
  sweep_both(40, before);
  EXPECT_EQ(open_in("test"), (std::vector{IncidentKind::kSwitchDown}));
  EXPECT_EQ(shown().size(), 1U);
  for (const char* name : {"host-1-0", "host-1-1"}) EXPECT_EQ(verdict_of(name), HealthVerdict::kUnhealthy) << name;
  // A switch that is new hangs on that leaf alone.
  before.node(before.add_switch("spine-new", 8)).guid = NodeGuid{0xABCDEF};
  before.connect(before.port_of("spine-new", 1), before.port_of("leaf-1", 1));
  sweep_both(40, before);
  EXPECT_EQ(open_in("test"), (std::vector{IncidentKind::kSwitchDown}));
  for (const char* name : {"host-1-0", "host-1-1"}) EXPECT_EQ(verdict_of(name), HealthVerdict::kUnhealthy) << name;
}

// Cloned: there is one in B as well.
TEST_F(MovedSwitchTest, AnotherWithTheGuidOfADeadHostIsNotThatHost) {
  const PortIndex place = fabric.port_towards("leaf-2", "host-2-1 mlx5_0");
  fabric.node(fabric.find("host-2-1 mlx5_0")).guid = guid_of(host);
  start();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  core->add_fabric("two", LinkLayer::kInfiniBand, "mlx5_1:1");
  sweep_both(20, before);
  before.power_off(before.find(host));
  sweep_both(20, before);
  EXPECT_EQ(open_in("two"), (std::vector{IncidentKind::kLinkDown, IncidentKind::kDuplicateGuid}));
  EXPECT_EQ(verdict_of("a-host-1-0"), HealthVerdict::kUnhealthy);
  fabric.unlink(place);
  sweep_both(5, before);
  fabric.relink(place);
  sweep_both(20, before);
  EXPECT_EQ(open_in("two"), (std::vector{IncidentKind::kLinkDown, IncidentKind::kDuplicateGuid}));
  EXPECT_EQ(verdict_of("a-host-1-0"), HealthVerdict::kUnhealthy);
  EXPECT_EQ(open_in("test"), (std::vector{IncidentKind::kDuplicateGuid}));
}

TEST_F(MovedSwitchTest, AfterARestartItIsNotMissedWhereItWas) {
  start();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  core->add_fabric("two", LinkLayer::kInfiniBand, "mlx5_1:1");
  sweep_both(20, before);
  before.power_off(before.find(leaf));
  for (const char* name : {"a-host-1-0 mlx5_0", "a-host-1-1 mlx5_0"}) before.silence(before.find(name));
  sweep_both(10, before);
  EXPECT_EQ(open_in("two"), (std::vector{IncidentKind::kSwitchDown}));
  put_leaf_into_b(before, fabric, leaf, host);
  before.rediscover();
  sweep_both(40, before);
  EXPECT_EQ(open_in("two"), (std::vector{IncidentKind::kLinkDown}));
  EXPECT_EQ(verdict_of("a-host-1-0"), HealthVerdict::kHealthy);
  EXPECT_EQ(verdict_of("a-host-1-1"), HealthVerdict::kUnhealthy);
}

// A switch that hung from it alone stays behind, without a cable.
TEST_F(MovedSwitchTest, WhatHungFromItAloneIsDown) {
  for (const char* name : {"a-host-x-0 mlx5_0", "a-host-x-1 mlx5_0"}) before.add_adapter(name);
  before.add_switch("a-leaf-x", 8);
  const PortIndex place = before.port_towards(leaf, "a-host-1-1 mlx5_0");
  before.port(before.port_of("a-host-1-1 mlx5_0", 1)).peer = kNoIndex;
  before.connect(place, before.port_of("a-leaf-x", 8));
  before.connect(before.port_of("a-leaf-x", 1), before.port_of("a-host-x-0 mlx5_0", 1));
  before.connect(before.port_of("a-leaf-x", 2), before.port_of("a-host-x-1 mlx5_0", 1));
  before.rediscover();
  start();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  core->add_fabric("two", LinkLayer::kInfiniBand, "mlx5_1:1");
  sweep_both(20, before);
  before.power_off(before.find(leaf));
  for (const char* name : {"a-host-1-0 mlx5_0", "a-leaf-x", "a-host-x-0 mlx5_0", "a-host-x-1 mlx5_0"})
    before.silence(before.find(name));
  sweep_both(20, before);
  put_leaf_into_b(before, fabric, leaf, host);
  sweep_both(60, before);
  EXPECT_EQ(open_in("two").size(), 1U) << "the cable of a-leaf-x is down";
  EXPECT_EQ(verdict_of("a-host-1-0"), HealthVerdict::kHealthy);
  for (const char* name : {"a-host-x-0", "a-host-x-1"}) EXPECT_NE(verdict_of(name), HealthVerdict::kHealthy) << name;
}

// B had one switch before.
TEST_F(MovedSwitchTest, IntoASubnetOfOneSwitch) {
  fakes::FabricBuilder b("test");
  b.add_switch("leaf-0", 16);
  for (int i = 0; i < 2; ++i) {
    const std::string name = "host-0-" + std::to_string(i) + " mlx5_0";
    b.add_adapter(name);
    b.connect(b.port_of("leaf-0", static_cast<std::uint16_t>(i + 1)), b.port_of(name, 1));
  }
  for (NodeIndex node = 0; node < b.nodes().size(); ++node) b.node(node).guid.value += 0x900000;
  b.set_local_port(b.key_of(b.port_of("host-0-0 mlx5_0", 1)));
  b.advance(clock.time - b.now());
  fabric = std::move(b);
  start();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  core->add_fabric("two", LinkLayer::kInfiniBand, "mlx5_1:1");
  sweep_both(20, before);
  put_leaf_into_b(before, fabric, leaf, host);
  sweep_both(60, before);
  EXPECT_EQ(open_in("two"), (std::vector{IncidentKind::kLinkDown})) << "of the host that lost its cable";
  EXPECT_EQ(verdict_of("a-host-1-0"), HealthVerdict::kHealthy);
}

TEST_F(MovedSwitchTest, TwoPortsOnASubnetWithoutAManagerSeeNoTwoNodes) {
  before = fakes::FabricBuilder::fat_tree(2, 3, 2);
  before.set_local_port(before.key_of(before.port_of("host-1-1 mlx5_0", 1)));
  const auto set_all = [](fakes::FabricBuilder& of, PortState state) {
    for (PortIndex port = 0; port < of.ports().size(); ++port)
      if (of.ports()[port].peer != kNoIndex) of.port(port).state = state;
  };
  set_all(fabric, PortState::kInitialize), set_all(before, PortState::kInitialize);
  start();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  core->add_fabric("two", LinkLayer::kInfiniBand, "mlx5_1:1");
  sweep_both(20, before);
  for (const Incident& each : shown()) EXPECT_NE(each.finding.kind, IncidentKind::kDuplicateGuid);
  set_all(fabric, PortState::kActive), set_all(before, PortState::kActive);
  sweep_both(60, before);
  for (const Incident& each : shown()) EXPECT_NE(each.finding.kind, IncidentKind::kDuplicateGuid);
}

// At a restart our port at the part comes up a minute before the one that leads to the rest.
TEST_F(MovedSwitchTest, APartThatIsSeenFirstDoesNotGetTheNameOfTheWhole) {
  config.infiniband.ports.automatic = true;
  start();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  sweep_for(20s);
  cut_leaf_off();
  sweep_for(20s);
  EXPECT_EQ(open_in("test"), (std::vector{IncidentKind::kSwitchDown}));
  start(ledger_of("test"));
  core->add_fabric("two", LinkLayer::kInfiniBand, "mlx5_1:1");
  sweep_as("two", before, 90);
  fabric.advance(clock.time - fabric.now());
  fabric.rediscover();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  sweep_both(300, before);
  EXPECT_EQ(open_in("test"), (std::vector{IncidentKind::kSwitchDown}));
  EXPECT_TRUE(open_in("two").empty());
  for (const char* name : {"host-0-0", "host-0-1", "host-2-0", "host-2-1"})
    EXPECT_EQ(verdict_of(name), HealthVerdict::kHealthy) << name;
  EXPECT_EQ(verdict_of("host-1-0"), HealthVerdict::kUnhealthy);
}

// At a restart another port is up first; plans then want the subnet under the name that they know.
TEST_F(MovedSwitchTest, IncidentsGoOnUnderTheNameThatIsWatchedInTheEnd) {
  config.infiniband.enabled = config.infiniband.ports.automatic = true;
  start();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_1:1");
  sweep_for(20s);
  fabric.power_off(fabric.find("host-1-0 mlx5_0"));
  sweep_for(20s);
  start(ledger_of("test"));
  core->add_fabric("other", LinkLayer::kInfiniBand, "mlx5_0:1");
  fabric.rediscover();
  sweep_as("other", fabric, 120);
  ASSERT_EQ(shown().size(), 1U);
  EXPECT_EQ(open_in("other"), (std::vector{IncidentKind::kLinkDown}));
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_1:1");
  sweep_as("test", fabric, 1);
  core->remove_fabric("other");
  sweep_as("test", fabric, 60);
  ASSERT_EQ(shown().size(), 1U);
  EXPECT_EQ(open_in("test"), (std::vector{IncidentKind::kLinkDown}));
}

}  // namespace
}  // namespace weft::daemon
