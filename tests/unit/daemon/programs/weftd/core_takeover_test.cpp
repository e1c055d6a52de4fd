// SPDX-License-Identifier: Apache-2.0
// A standby takes the lead that has seen less than the leader before it, or something else.

#include <algorithm>
#include <string>
#include <utility>

#include "tests/unit/daemon/programs/weftd/core_fixture.hpp"

namespace weft::daemon {
namespace {

class CoreTakeoverTest : public CoreTest {
 protected:
  static constexpr const char* kDown = "host-1-0 mlx5_0";
  static constexpr const char* kSilent = "host-1-1 mlx5_0";

  static constexpr NodeType kAdapter = NodeType::kChannelAdapter;

  NodeIndex node(const char* name) const { return fabric.find(name); }
  NodeGuid guid_of(const char* name) const { return fabric.nodes()[node(name)].guid; }
  // What a leader stores of a subnet in which the only link of one host fails, and another host does not answer.
  store::Restored ledger_of_leader() {
    start();
    core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
    sweep(3);
    down_link = fabric.link_of(fabric.port_of(kDown, 1));
    cut_off();
    fabric.silence(node(kSilent));
    sweep(20);
    store::Restored restored = ledger_of("test");
    EXPECT_EQ(restored.incidents.size(), 2U);
    return restored;
  }
  void cut_off() {
    fabric.unlink(fabric.port_of(kDown, 1));
    fabric.silence(node(kDown));
  }
  // A standby that was started when the ledger was empty, or knew less.
  void stand_by_blank(store::Restored at_start = {}) {
    start(std::move(at_start));
    core->stand_by();
    core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
    fabric.rediscover();
    sweep(5);
  }
  void take_over(store::Restored restored) {
    core->lead(std::move(restored));
    for (int i = 0; i < 20; ++i) sweep(), core->tick(), settle();
  }
  HealthVerdict verdict_of(const std::string& host) const {
    const auto health = publication.load()->health;
    const auto found = std::ranges::find(*health, host, &NodeHealth::node);
    EXPECT_NE(found, health->end()) << host;
    return found == health->end() ? HealthVerdict::kHealthy : found->verdict;
  }
  void expect_it_is_known_by_another_name(bool is_swept_before);
  LinkKey down_link;
};

TEST_F(CoreTakeoverTest, WhatIsStillTrueStaysOpenWhereOnlyTheLeaderKnewOfIt) {
  store::Restored restored = ledger_of_leader();
  const std::size_t links = restored.fabrics[0].state.links.size();
  stand_by_blank();
  take_over(std::move(restored));
  const auto incidents = shown();
  ASSERT_EQ(incidents.size(), 2U);
  for (const Incident& incident : incidents) EXPECT_TRUE(incident.is_open()) << incident.finding.summary;
  EXPECT_EQ(verdict_of("host-1-0"), HealthVerdict::kUnhealthy);
  EXPECT_EQ(verdict_of("host-1-1"), HealthVerdict::kUnknown);
  EXPECT_EQ(store.copy_of_links()["test"].size(), links) << "later starts are to know it, too";
}

// The standby knew the link, was blind when it went down, and now sees it trained: its own rules have nothing to tell.
TEST_F(CoreTakeoverTest, WhatWaitsForTheManagerStaysOpenWhereTheStandbyWasBlind) {
  start();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  sweep(3);
  fabric.unlink(fabric.port_of(kDown, 1));
  sweep(20);
  fabric.relink(fabric.port_of(kDown, 1), PortState::kInitialize);
  sweep(20);
  store::Restored restored = ledger_of("test");
  ASSERT_EQ(restored.incidents.size(), 1U);
  start();
  core->stand_by();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  fabric.relink(fabric.port_of(kDown, 1));
  sweep(5);
  fabric.relink(fabric.port_of(kDown, 1), PortState::kInitialize);
  clock.time += 60s;
  fabric.advance(60s);
  sweep(1);
  core->lead(std::move(restored));
  for (int i = 0; i < 30; ++i) {
    sweep(), core->tick(), settle();
    ASSERT_TRUE(shown()[0].is_open()) << i;
    ASSERT_EQ(verdict_of("host-1-0"), HealthVerdict::kUnhealthy) << i;
  }
  fabric.relink(fabric.port_of(kDown, 1));
  for (int i = 0; i < 20; ++i) sweep(), core->tick(), settle();
  EXPECT_FALSE(shown()[0].is_open());
}

// The two hosts of a pair call their ports otherwise, so they call the subnet otherwise.
void CoreTakeoverTest::expect_it_is_known_by_another_name(bool is_swept_before) {
  config.infiniband.enabled = config.infiniband.ports.automatic = true;
  store::Restored restored = ledger_of_leader();
  start();
  core->stand_by();
  const std::string other = "mlx5_3-1";
  core->add_fabric(other, LinkLayer::kInfiniBand, "mlx5_3:1");
  fabric.rediscover();
  if (is_swept_before) sweep_as(other, fabric, 5);
  core->lead(std::move(restored));
  for (const int sweeps : {30, 700}) {
    sweep_as(other, fabric, sweeps);
    const auto incidents = shown();
    ASSERT_EQ(incidents.size(), 2U) << sweeps << ": none is doubled";
    for (const Incident& incident : incidents) {
      EXPECT_TRUE(incident.is_open()) << incident.finding.summary;
      EXPECT_EQ(incident.finding.cause.fabric, other);
    }
    EXPECT_EQ(verdict_of("host-1-0"), HealthVerdict::kUnhealthy);
    EXPECT_EQ(verdict_of("host-1-1"), HealthVerdict::kUnknown);
    EXPECT_EQ(publication.load()->fabrics.size(), 1U);
  }
  EXPECT_TRUE(store.copy_of_links()["test"].empty());
}

TEST_F(CoreTakeoverTest, TheSubnetIsTheSameWhereThePortOfTheStandbyHasAnotherName) {
  expect_it_is_known_by_another_name(true);
}

TEST_F(CoreTakeoverTest, SoItIsWhereTheStandbyHadNotSweptIt) {
  expect_it_is_known_by_another_name(false);
}

TEST_F(CoreTakeoverTest, ItEndsWhenItIsSeenWell) {
  store::Restored restored = ledger_of_leader();
  stand_by_blank();
  take_over(std::move(restored));
  const auto [leaf, host] = down_link.low.node == guid_of("leaf-1") ? std::pair(down_link.low, down_link.high)
                                                                    : std::pair(down_link.high, down_link.low);
  fabric.node(fabric.add_adapter(kDown)).guid = host.node;
  fabric.port(fabric.port_of(kDown, 1)).guid = {host.node.value + 1};
  fabric.connect(fabric.port_of("leaf-1", leaf.port.value), fabric.port_of(kDown, 1));
  sweep(20);
  settle();
  for (const Incident& incident : shown())
    EXPECT_EQ(incident.is_open(), incident.finding.kind == IncidentKind::kTelemetryLost) << incident.finding.summary;
}

// It watched until its own port was down for a while, and a host was cabled meanwhile.
TEST_F(CoreTakeoverTest, AHostThatCameAndFailedWhileTheStandbyWasBlindStaysDown) {
  store::Restored restored = ledger_of_leader();
  store::Restored before = restored;
  before.incidents.clear();
  std::erase_if(before.fabrics[0].state.links, [&](const KnownLink& link) { return link.key == down_link; });
  stand_by_blank(std::move(before));
  take_over(std::move(restored));
  for (const Incident& incident : shown()) EXPECT_TRUE(incident.is_open()) << incident.finding.summary;
  EXPECT_EQ(verdict_of("host-1-0"), HealthVerdict::kUnhealthy);
}

TEST_F(CoreTakeoverTest, ALinkThatOnlyTheLeaderSawFlapKeepsFlapping) {
  start();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  sweep(3);
  store::Restored restored = ledger_of("test");
  const LinkKey link = fabric.link_of(fabric.port_of(kDown, 1));
  FlapState& flaps = restored.fabrics[0].state.flaps.emplace_back();
  flaps.link = link;
  flaps.fast = flaps.slow = 20'000;
  flaps.updated = flaps.slow_counted = flaps.last_flap = clock.time;
  flaps.flaps = 9;
  flaps.suppressed = true;
  Incident& flapping = restored.incidents.emplace_back();
  flapping.id = 1;
  flapping.finding.kind = IncidentKind::kLinkFlap;
  flapping.finding.cause = {
      .kind = EntityKind::kLink, .fabric = "test", .port = link.low, .peer = link.high, .label = {}};
  restored.incident_ids = IdSeries(2);
  stand_by_blank();
  take_over(std::move(restored));
  ASSERT_EQ(shown().size(), 1U);
  EXPECT_TRUE(shown()[0].is_open()) << shown()[0].listed_summary();
}

// What has been brought into service for less than ten minutes alarms nobody: rules made anew do not know that.
TEST_F(CoreTakeoverTest, OneThatLacksNothingKeepsItsRules) {
  fabric.unlink(fabric.port_of(kDown, 1));
  start();
  core->stand_by();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  sweep(3);
  fabric.relink(fabric.port_of(kDown, 1));
  sweep(3);
  store::Restored restored;
  restored.fabrics.push_back({"test", {}, clock.time});
  KnownLink& link = restored.fabrics[0].state.links.emplace_back(
      KnownLink{fabric.link_of(fabric.port_of(kDown, 1)), {"leaf-1", NodeType::kSwitch}, {kDown, kAdapter}});
  if (link.key.low.node != guid_of("leaf-1")) std::swap(link.low, link.high);
  fabric.unlink(fabric.port_of(kDown, 1));
  take_over(std::move(restored));
  EXPECT_TRUE(shown().empty()) << shown()[0].finding.summary;
}

}  // namespace
}  // namespace weft::daemon
