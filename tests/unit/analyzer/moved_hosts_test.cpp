// SPDX-License-Identifier: Apache-2.0
// Hosts whose cable was put into another place, in the same subnet or in another one.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/unit/analyzer/lost_cables.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;

struct MovedHosts : testing::Test {
  static constexpr const char* kHost = "host-1-0 mlx5_0";
  MovedHosts() { watch.sweeps(3); }
  void silence_host() {
    watch.fabric.silence(watch.fabric.find(kHost));
    watch.sweeps(20);
    ASSERT_EQ(watch.only().finding.kind, IncidentKind::kTelemetryLost) << watch.describe();
    ASSERT_EQ(watch.only().finding.cause.label, kHost);
  }
  void plug_another() {
    const PortIndex place = watch.fabric.port_towards("leaf-1", kHost);
    watch.fabric.port(watch.fabric.port_of(kHost, 1)).peer = kNoIndex;
    watch.fabric.add_adapter("other mlx5_0");
    watch.fabric.connect(place, watch.fabric.port_of("other mlx5_0", 1));
  }
  Watch watch{FabricBuilder::fat_tree(2, 4, 4)};
};

TEST_F(MovedHosts, ASilentOneInWhosePlaceIsAnotherIsMissedNoMore) {
  silence_host();
  plug_another();
  watch.sweeps(20);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST_F(MovedHosts, ASilentOneThatIsInNoGraphAfterARestartIsMissedNoMore) {
  silence_host();
  plug_another();
  watch.sweeps(1);
  watch.restart();
  const NodeGuid host = watch.fabric.nodes()[watch.fabric.find(kHost)].guid;
  watch.fabric.rediscover();
  ASSERT_EQ(watch.fabric.topology()->find_node(host), kNoIndex);
  watch.sweeps(20);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST_F(MovedHosts, ASilentOneThatARestartDoesNotFindIsStillMissed) {
  silence_host();
  watch.restart();
  watch.fabric.rediscover();
  watch.sweeps(20);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kTelemetryLost) << "the switch says that its link is up";
}

TEST_F(MovedHosts, ASilentOneWhoseLinkGoesDownIsDownAndNotSilent) {
  silence_host();
  watch.fabric.power_off(watch.fabric.find(kHost));
  watch.sweeps(20);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kLinkDown) << watch.describe();
}

TEST_F(LostCables, AnAdapterThatCameAfterItsLinkWasLostIsMissedNoMore) {
  const LinkKey cable = here.link("leaf-1", kHost);
  here.fabric.power_off(here.fabric.find(kHost));
  sweeps(10);
  EXPECT_EQ(open_here(), Kinds{kDown}) << here.describe();
  const PortIndex place = plug_there(kHost);
  sweeps(10);
  EXPECT_TRUE(here.open().empty()) << here.describe();
  EXPECT_TRUE(
      std::ranges::none_of(here.analyzer.state().links, [&](const KnownLink& link) { return link.key == cable; }));
  there.fabric.unlink(place);
  sweeps(10);
  EXPECT_TRUE(here.open().empty()) << "what becomes of it there is told there" << here.describe();
}

TEST_F(LostCables, OneThatIsCabledThereAtOnceIsMissedNoMore) {
  here.fabric.power_off(here.fabric.find(kHost));
  plug_there(kHost);
  sweeps(10);
  EXPECT_TRUE(here.open().empty()) << here.describe();
}

TEST_F(LostCables, OneThatIsBackHereIsMissedHere) {
  const PortIndex own = here.fabric.port_towards("leaf-1", kHost);
  here.fabric.power_off(here.fabric.find(kHost));
  plug_there(kHost);
  sweeps(kBroughtUp);
  there.fabric.power_off(there.fabric.find(kHost));
  sweeps(10);
  EXPECT_EQ(there.only().finding.kind, kDown) << there.describe();
  here.fabric.power_on(here.fabric.find(kHost));
  here.fabric.relink(own);
  sweeps(400);
  EXPECT_TRUE(here.open().empty()) << here.describe();
  EXPECT_TRUE(there.open().empty()) << there.describe();
  here.fabric.unlink(own);
  sweeps(10);
  EXPECT_EQ(open_here(), Kinds{kDown}) << here.describe();
}

// Whatever happens to either, also when weftd is started anew, and when its clock is set back.
TEST_F(LostCables, AnotherWithItsGuidIsNotIt) {
  const PortIndex place = plug_there(kHost);
  sweeps(5);
  EXPECT_EQ(open_here(), Kinds{kDouble}) << here.describe();
  EXPECT_NE(here.open()[0].finding.summary.find("answers in two subnets, test and test-2"), std::string::npos)
      << here.open()[0].finding.summary;
  for (Watch* const each : {&here, &there}) each->fabric.advance(-std::chrono::hours(1));
  sweeps(5);
  there.fabric.unlink(place);
  sweeps(60);
  here.fabric.power_off(here.fabric.find(kHost));
  sweeps(10);
  EXPECT_EQ(open_here(), (Kinds{kDouble, kDown})) << here.describe();
  there.fabric.relink(place);
  sweeps(10);
  EXPECT_EQ(open_here(), (Kinds{kDouble, kDown})) << here.describe();
  restart();
  sweeps(1000);
  EXPECT_EQ(open_here(), (Kinds{kDouble, kDown})) << here.describe();
  there.fabric.unlink(place);
  sweeps(1000);
  EXPECT_EQ(open_here(), Kinds{kDown}) << "there is one only" << here.describe();
}

TEST_F(LostCables, OfTwoWithOneGuidTheOtherIsMissedToo) {
  const PortIndex place = plug_there(kHost);
  sweeps(kBroughtUp);
  there.fabric.unlink(place);
  sweeps(10);
  EXPECT_EQ(there.open().size(), 2U) << "that it is double is told as well" << there.describe();
  restart();
  sweeps(10);
  EXPECT_EQ(there.open().size(), 2U) << there.describe();
}

TEST_F(LostCables, OfTwoWithOneGuidTheOtherIsMissedForAsLongAsThisOneIsThere) {
  plug_there(kHost);
  sweeps(kBroughtUp);
  there.fabric.power_off(there.fabric.find(kHost));
  sweeps(kBroughtUp);
  EXPECT_TRUE(here.open().empty()) << "one is here, and the other subnet has none" << here.describe();
  EXPECT_EQ(there.open().size(), 2U) << "it is dead, and another one has its GUID" << there.describe();
  restart();
  sweeps(20);
  EXPECT_EQ(there.open().size(), 2U) << there.describe();
}

TEST_F(LostCables, NothingIsForgottenOfTwoWhileTheOtherSubnetIsNotRead) {
  plug_there(kHost);
  sweeps(5);
  here.others = {};
  here.sweeps(60);
  here.fabric.power_off(here.fabric.find(kHost));
  here.sweeps(kBroughtUp);
  EXPECT_EQ(open_here(), (Kinds{kDouble, kDown})) << here.describe();
  here.restart();
  here.fabric.advance(std::chrono::minutes(11));
  here.sweeps(2);
  here.others = {&there};
  sweeps_there(1);
  sweeps(20);
  EXPECT_EQ(open_here(), (Kinds{kDouble, kDown})) << here.describe();
}

TEST_F(LostCables, WhatIsPluggedToAndFroIsNoTwoNodes) {
  const PortIndex own = here.fabric.port_towards("leaf-1", kHost);
  const PortIndex place = plug_there(kHost);
  there.fabric.unlink(place);
  sweeps(kBroughtUp);
  for (int i = 0; i < 20; ++i) {
    here.fabric.unlink(own), there.fabric.relink(place);
    sweeps(7);
    there.fabric.unlink(place), here.fabric.relink(own);
    sweeps(7);
  }
  EXPECT_EQ(std::ranges::count(open_here(), kDouble), 0) << here.describe();
}

// An adapter with two ports has one GUID, and may have a port in each subnet; its own state tells of both in each.
TEST_F(LostCables, TwoPortsOfOneAdapterAreNoTwoNodes) {
  const PortIndex place = free_place();
  there.fabric.node(there.fabric.add_adapter(kHost, 2)).guid = guids.at(kHost);
  there.fabric.connect(place, there.fabric.port_of(kHost, 2));
  const PortIndex own = here.fabric.port_towards("leaf-1", kHost);
  here.fabric.port(here.fabric.port_of(kHost, 1)).peer = kNoIndex;
  const NodeIndex before = here.fabric.find(kHost);
  here.fabric.node(before).guid = NodeGuid{0xdead};
  here.fabric.node(before).name = "gone";
  here.fabric.node(here.fabric.add_adapter(kHost, 2)).guid = guids.at(kHost);
  here.fabric.connect(own, here.fabric.port_of(kHost, 1));
  for (const auto& [fabric, number] : {std::pair(&here.fabric, 2), std::pair(&there.fabric, 1)}) {
    Port& port = fabric->port(fabric->port_of(kHost, static_cast<std::uint16_t>(number)));
    port.state = PortState::kActive, port.physical_state = PortPhysicalState::kLinkUp;
  }
  sweeps(10);
  EXPECT_TRUE(here.open().empty()) << here.describe();
  here.fabric.power_off(here.fabric.find(kHost));
  here.fabric.rediscover();
  sweeps(20);
  EXPECT_EQ(open_here(), Kinds{kDown}) << here.describe();
  // Whether it is still down nobody tells.
  here.fabric.silence(here.fabric.find("leaf-1"));
  for (const char* name : {"host-1-1 mlx5_0", "host-1-2 mlx5_0", "host-1-3 mlx5_0"})
    here.fabric.silence(here.fabric.find(name));
  sweeps(30);
  EXPECT_EQ(std::ranges::count(open_here(), kDown), 1) << here.describe();
}

TEST_F(LostCables, OneThatIsPlannedHereIsNotDownHere) {
  here.expected_topology = here.fabric.topology();
  here.analyzer.expect({here.expected_topology, nullptr});
  sweeps(10);
  here.fabric.power_off(here.fabric.find(kHost));
  plug_there(kHost);
  sweeps(20);
  const auto before = open_here();
  EXPECT_EQ(std::ranges::count(before, kDown), 0) << here.describe();
  here.restart();
  there.restart();
  sweeps(20);
  EXPECT_EQ(open_here(), before) << here.describe();
}

TEST_F(LostCables, OneThatMovedWhileNobodyRanIsMissedNoMore) {
  restart();
  here.fabric.power_off(here.fabric.find(kHost));
  plug_there(kHost);
  sweeps(10);
  EXPECT_TRUE(here.open().empty()) << here.describe();
}

TEST_F(LostCables, NorIsOneThatMovedWhileOnlyTheOtherWasRead) {
  here.fabric.power_off(here.fabric.find(kHost));
  plug_there(kHost);
  sweeps_there(20);
  restart();
  sweeps(10);
  EXPECT_TRUE(here.open().empty()) << here.describe();
}

TEST_F(LostCables, ASwitchThatWasMovedIsMissedNoMoreWheneverWeftdIsStartedAnew) {
  power_off_leaf();
  sweeps(10);
  EXPECT_EQ(open_here(), Kinds{IncidentKind::kSwitchDown}) << here.describe();
  plug_leaf_there(4);
  sweeps(2);
  restart();
  sweeps(20);
  EXPECT_TRUE(here.open().empty()) << here.describe();
}

TEST_F(LostCables, NorIsOneThatIsMovedAfterwards) {
  power_off_leaf();
  sweeps(10);
  restart();
  sweeps(10);
  EXPECT_EQ(open_here(), Kinds{IncidentKind::kSwitchDown}) << here.describe();
  plug_leaf_there(4);
  sweeps(20);
  EXPECT_TRUE(here.open().empty()) << here.describe();
}

TEST_F(LostCables, NorIsOneThatLeavesAHostBehindAfterwards) {
  power_off_leaf();
  sweeps(10);
  restart();
  sweeps(10);
  plug_leaf_there(3);
  sweeps(20);
  EXPECT_EQ(open_here(), Kinds{kDown}) << here.describe();
}

// Its own leaf says so still, for its agent hangs.
TEST_F(LostCables, OneThatLeavesASilentLeafIsNoTwoNodes) {
  const NodeIndex leaf = here.fabric.find("leaf-1"), host = here.fabric.find(kHost);
  here.fabric.silence(leaf), here.fabric.node(leaf).reachable = true;
  sweeps(20);
  here.fabric.silence(host), here.fabric.node(host).reachable = true;
  plug_there(kHost);
  sweeps(20);
  EXPECT_EQ(std::ranges::count(open_here(), kDouble), 0) << here.describe();
}

// With hosts at the ports that they had, and another one that lost its cable.
TEST_F(LostCables, ASwitchThatWasMovedLeavesBehindWhatLostItsCable) {
  power_off_leaf();
  sweeps(10);
  EXPECT_EQ(open_here(), Kinds{IncidentKind::kSwitchDown}) << here.describe();
  plug_leaf_there(3);
  sweeps(20);
  EXPECT_EQ(open_here(), Kinds{kDown}) << here.describe();
  EXPECT_NE(here.only().finding.cause.label.find("host-1-3"), std::string::npos) << here.describe();
  plug_behind_leaf(3);
  sweeps(20);
  EXPECT_TRUE(here.open().empty()) << here.describe();
}

}  // namespace
}  // namespace weft::analyzer
