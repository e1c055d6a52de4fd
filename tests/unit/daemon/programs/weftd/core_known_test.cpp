// SPDX-License-Identifier: Apache-2.0
// Subnets that the ledger knows, and that no port of this host leads to.

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "fabric/sight.hpp"
#include "tests/unit/daemon/programs/weftd/core_known_fixture.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

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
  sweep(10);
  settle();
  ASSERT_EQ(publication.load()->fabrics.size(), 1U);
  EXPECT_EQ(publication.load()->fabrics[0].name, "test");
  ASSERT_EQ(shown().size(), 1U);
  EXPECT_FALSE(shown()[0].is_open()) << shown()[0].finding.cause.fabric;
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

TEST_F(CoreKnownTest, WhatAPortLeadsToIsAwaitedForSomeMinutes) {
  memory.fabric = "before";
  begin();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_1:1");
  pass(4min);
  EXPECT_EQ(publication.load()->fabrics.size(), 1U) << "the first sweep of a great fabric takes its time";
  pass(2min);
  EXPECT_EQ(publication.load()->fabrics.size(), 2U);
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

// Its sweeper began anew behind a port that is down: the graph has ourselves alone.
class BlindLeaderTest : public CoreKnownTest {
 protected:
  void go_blind() {
    fabric.unlink(fabric.port_of("host-0-0 mlx5_0", 1));
    const NodeIndex ourselves = fabric.find("host-0-0 mlx5_0");
    for (NodeIndex node = 0; node < fabric.nodes().size(); ++node)
      if (node != ourselves) fabric.silence(node);
    fabric.rediscover();
  }
  void expect_blind_for(const std::vector<NodeGuid>& switches) {
    const auto sights = core->sights();
    ASSERT_EQ(sights.size(), 1U);
    EXPECT_FALSE(sights[0].is_seen);
    EXPECT_EQ(sights[0].switches, switches);
    const std::vector<FabricSight> other{{"", true, choose_switches(switches, 4)}};
    EXPECT_EQ(compare_sight(sights, other).gained, std::vector<std::string>{"test"});
  }
};

TEST_F(BlindLeaderTest, ThatSweptASubnetIsBlindForThat) {
  start();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  sweep(5);
  const auto switches = switches_of(*fabric.topology(), false);
  go_blind();
  sweep(5);
  expect_blind_for(switches);
}

TEST_F(BlindLeaderTest, ThatTookOverIsBlindForWhatTheLedgerKnowsThere) {
  start();
  core->stand_by();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  go_blind();
  sweep(5);
  EXPECT_TRUE(core->sights()[0].switches.empty()) << "names in the ledger are the leader's";
  store::Restored restored;
  const auto link = memory.state.links[0].key;
  restored.fabrics.push_back(memory);
  core->lead(std::move(restored));
  sweep(5);
  expect_blind_for(choose_switches(std::vector{link.low.node, link.high.node}, 2));
}

class CoreUnsweptTest : public CoreKnownTest {
 protected:
  // What is known of a host whose cable is down when weftd starts, and nobody sweeps its subnet.
  void expect_down_all_the_time(bool has_port) {
    const KnownLink cable{{{NodeGuid{0x10}, PortNum{7}}, {NodeGuid{0xA0}, PortNum{1}}},
                          {"leaf-1", NodeType::kSwitch},
                          {"gpu-7 mlx5_0", NodeType::kChannelAdapter}};
    memory.state.links.push_back(cable);
    store::Restored restored;
    restored.fabrics.push_back(memory);
    Incident& down = restored.incidents.emplace_back();
    down.id = 7;
    down.finding.kind = IncidentKind::kLinkDown;
    down.finding.cause = {
        .kind = EntityKind::kLink, .fabric = "test", .port = cable.key.low, .peer = cable.key.high, .label = {}};
    start(std::move(restored));
    for (int i = 0; i < 80; ++i) {
      if (has_port && i == 2) core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
      core->tick();
      settle();
      const auto health = publication.load()->health;
      ASSERT_EQ(health->size(), 1U) << i;
      EXPECT_EQ(health->front().node, "gpu-7");
      EXPECT_EQ(health->front().verdict, HealthVerdict::kUnhealthy) << i;
      EXPECT_EQ(health->front().action, RecommendedAction::kDrain) << i;
      clock.time += 1s;
    }
  }
};

TEST_F(CoreUnsweptTest, AHostIsNoBetterThanWhatIsOpenWhereNoPortLeadsThere) {
  expect_down_all_the_time(false);
}

TEST_F(CoreUnsweptTest, AHostIsNoBetterThanWhatIsOpenUntilTheFirstSweep) {
  expect_down_all_the_time(true);
}

// The sweeper begins anew while our own port is down: it finds ourselves alone.
TEST_F(CoreKnownTest, HostsThatWereFoundSinceTheStartDoNotVanish) {
  start();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  sweep(5);
  settle();
  const std::size_t all = publication.load()->health->size();
  fabric.unlink(fabric.port_of("host-0-0 mlx5_0", 1));
  const NodeIndex ourselves = fabric.find("host-0-0 mlx5_0");
  for (NodeIndex node = 0; node < fabric.nodes().size(); ++node)
    if (node != ourselves) fabric.silence(node);
  fabric.rediscover();
  sweep(2);
  settle();
  core->tick();
  const auto health = publication.load()->health;
  const auto hosts = static_cast<std::size_t>(
      std::ranges::count_if(*health, [](const NodeHealth& host) { return host.node.starts_with("host-"); }));
  EXPECT_EQ(hosts, all - 5) << "all but the switches";
  for (const NodeHealth& host : *health) EXPECT_EQ(host.verdict, HealthVerdict::kUnknown) << host.node;
}

TEST_F(CoreOtherSubnetTest, OneUnderTheSameNameIsKeptApartAfterARestart) {
  start(ledger());
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  sweep_for(50s);
  EXPECT_EQ(publication.load()->fabrics.size(), 1U) << "its port may be found yet";
  sweep_for(20s);
  expect_apart();
}

TEST_F(CoreOtherSubnetTest, OneUnderTheSameNameIsKeptApartAfterATakeover) {
  start();
  core->stand_by();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  sweep_for(10s);
  core->lead(ledger());
  sweep_for(70s);
  expect_apart();
}

TEST_F(CoreOtherSubnetTest, AStandbyThatStartsTakesNothingOverFromIt) {
  start(ledger());
  core->stand_by();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  sweep_for(10s);
  EXPECT_TRUE(store.copy_of_apart().empty());
  EXPECT_EQ(shown()[0].finding.cause.fabric, "test") << "as the leader has it";
  core->lead(ledger());
  sweep_for(70s);
  expect_apart();
}

TEST_F(CoreOtherSubnetTest, OneThatLeadsBeforeItsFirstSweepKnowsWhatTheLeaderStored) {
  start();
  core->stand_by();
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  core->lead(ledger());
  sweep_for(70s);
  expect_apart();
}

TEST_F(CoreOtherSubnetTest, ACableMovedWhileItRunsIsSeen) {
  start(ledger());
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  const auto swap_subnets = [&] { std::swap(fabric, before), fabric.advance(clock.time - fabric.now()); };
  swap_subnets();
  sweep_for(70s);
  EXPECT_EQ(publication.load()->fabrics.size(), 1U);
  swap_subnets();
  sweep_for(10s);
  ASSERT_EQ(publication.load()->fabrics.size(), 2U);
  EXPECT_EQ(publication.load()->fabrics[1].name, kName);
  ASSERT_EQ(shown().size(), 2U);
  EXPECT_EQ(shown()[1].finding.cause.fabric, kName);
  swap_subnets();
  sweep_for(10s);
  EXPECT_EQ(publication.load()->fabrics[0].name, "test");
  EXPECT_EQ(publication.load()->fabrics[1].name, "test@0x0002c90300000100");
  EXPECT_EQ(shown()[1].finding.cause.fabric, "test") << "it is back under its name";
  EXPECT_FALSE(shown()[1].is_open());
}

TEST_F(CoreOtherSubnetTest, WhatIsBackUnderItsNameHasItsLinksAndIncidents) {
  known.fabric = down.finding.cause.fabric = kName;
  store::Restored restored = ledger();
  restored.fabrics.push_back(memory_of(fabric));
  start(std::move(restored));
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  std::swap(fabric, before);
  fabric.unlink(fabric.port_towards("leaf-1", "spine-0"));
  fabric.rediscover();
  sweep_for(70s);
  const auto fabrics = publication.load()->fabrics;
  ASSERT_EQ(fabrics.size(), 2U);
  EXPECT_TRUE(fabrics[0].watching);
  EXPECT_EQ(fabrics[1].name, "test@0x0002c90300000100");
  ASSERT_EQ(shown().size(), 2U) << "LINK_DOWN goes on under its id";
  EXPECT_EQ(shown()[0].id, 7U);
  EXPECT_TRUE(shown()[0].is_open());
  EXPECT_EQ(shown()[0].finding.cause.fabric, "test");
  EXPECT_TRUE(store.copy_of_links()[kName].empty()) << "it is forgotten under that name";
}

TEST_F(CoreOtherSubnetTest, OneThatGrowsTogetherWithWhatIsWatchedKeepsItsIncidents) {
  known.fabric = down.finding.cause.fabric = kName;
  start(ledger());
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  sweep_for(70s);
  ASSERT_EQ(publication.load()->fabrics.size(), 2U);
  // Switches of the other one are cabled to leaves, and the ports that their link had are down there.
  for (const auto& [leaf, name, guid] :
       {std::tuple("leaf-0", "joined", link.low.node), {"leaf-1", "joined as well", link.high.node}}) {
    const PortIndex free = fabric.port_towards(leaf, "host-" + std::string(leaf).substr(5) + "-1 mlx5_0");
    fabric.unlink(free);
    fabric.node(fabric.add_switch(name, 8)).guid = guid;
    fabric.connect(fabric.port_of(name, 8), free);
  }
  sweep_for(30s);
  ASSERT_EQ(publication.load()->fabrics.size(), 1U);
  EXPECT_EQ(shown()[0].id, 7U);
  EXPECT_EQ(shown()[0].finding.cause.fabric, "test");
  EXPECT_TRUE(shown()[0].is_open()) << "nobody repaired that cable";
}

TEST_F(CoreOtherSubnetTest, OneSwitchOfItThatIsMovedTakesAlongWhatHangsFromItAlone) {
  const NodeGuid leaf = link.low.node == NodeGuid{0x0002c90300100100} ? link.high.node : link.low.node;
  const KnownLink cable{make_link_key({leaf, PortNum{5}}, {NodeGuid{0xA0}, PortNum{1}}), {}, {}};
  KnownLink of_host = cable;
  of_host.low = {"leaf-1", NodeType::kSwitch};
  of_host.high = {"gpu-9 mlx5_0", NodeType::kChannelAdapter};
  if (cable.key.low.node != leaf) std::swap(of_host.low, of_host.high);
  KnownLink of_other = of_host;
  of_other.key = make_link_key({NodeGuid{0x0002c90300100100}, PortNum{7}}, {NodeGuid{0xB0}, PortNum{1}});
  of_other.low = {"gpu-8 mlx5_0", NodeType::kChannelAdapter};
  of_other.high = {"spine-0", NodeType::kSwitch};
  known.state.links.push_back(of_host);
  known.state.links.push_back(of_other);
  known.fabric = down.finding.cause.fabric = kName;
  store::Restored restored = ledger();
  Incident& hangs = restored.incidents.emplace_back(down);
  hangs.id = 8;
  hangs.finding.cause.port = cable.key.low;
  hangs.finding.cause.peer = cable.key.high;
  start(std::move(restored));
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  sweep_for(70s);
  ASSERT_EQ(publication.load()->fabrics.size(), 2U);
  const PortIndex free = fabric.port_towards("leaf-0", "host-0-1 mlx5_0");
  fabric.unlink(free);
  const NodeIndex joined = fabric.add_switch("joined", 8);
  fabric.node(joined).guid = leaf;
  fabric.connect(fabric.port_of("joined", 8), free);
  const NodeIndex gpu = fabric.add_adapter("gpu-9 mlx5_0");
  fabric.node(gpu).guid = NodeGuid{0xA0};
  fabric.connect(fabric.port_of("joined", 5), fabric.port_of("gpu-9 mlx5_0", 1));
  sweep_for(30s);
  ASSERT_EQ(publication.load()->fabrics.size(), 2U) << "all its other switches are out of sight";
  EXPECT_EQ(publication.load()->fabrics[1].name, kName);
  EXPECT_FALSE(publication.load()->fabrics[1].watching);
  for (const Incident& each : shown()) {
    EXPECT_NE(each.finding.kind, IncidentKind::kSwitchDown) << each.finding.summary;
    const bool is_lost = each.finding.kind == IncidentKind::kTelemetryLost;
    if (each.id == 7 || is_lost) {
      EXPECT_EQ(each.finding.cause.fabric, kName);
      EXPECT_TRUE(each.is_open()) << each.finding.summary;
    }
    if (each.id == 8) {
      EXPECT_EQ(each.finding.cause.fabric, "test");
      EXPECT_FALSE(each.is_open()) << "it is up there";
    }
  }
  const auto health = publication.load()->health;
  const auto other = std::ranges::find(*health, "gpu-8", &NodeHealth::node);
  ASSERT_NE(other, health->end());
  EXPECT_EQ(other->verdict, HealthVerdict::kUnknown);
  EXPECT_EQ(std::ranges::find(*health, "gpu-9", &NodeHealth::node)->verdict, HealthVerdict::kHealthy);
  const auto links = store.copy_of_links()[kName];
  EXPECT_TRUE(std::ranges::all_of(links, [&](const KnownLink& each) { return each.key != cable.key; }));
  EXPECT_EQ(links.size(), 2U) << "the link between the moved leaf and its spine is gone, too";
}

TEST_F(CoreOtherSubnetTest, ItEndsWhereAPortOfAnotherNameLeadsToIt) {
  known.fabric = down.finding.cause.fabric = kName;
  start(ledger());
  sweep_for(70s);
  ASSERT_EQ(publication.load()->fabrics.size(), 1U);
  core->add_fabric("other", LinkLayer::kInfiniBand, "mlx5_1:1");
  for (int i = 0; i < 10; ++i) {
    before.advance(clock.time - before.now());
    Sweep next = before.sweep();
    next.fabric = "other";
    clock.time = next.finished;
    core->take_sweep(std::move(next));
    core->tick();
  }
  settle();
  ASSERT_EQ(publication.load()->fabrics.size(), 1U);
  EXPECT_EQ(publication.load()->fabrics[0].name, "other");
  for (const Incident& each : shown()) EXPECT_FALSE(each.is_open()) << each.finding.summary;
  EXPECT_TRUE(store.copy_of_links()[kName].empty());
}

TEST_F(CoreOtherSubnetTest, ItEndsAfterSevenDays) {
  start(ledger());
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  sweep_for(70s);
  expect_apart();
  fabric.advance(7 * 24h);
  sweep_for(10s);
  EXPECT_EQ(publication.load()->fabrics.size(), 1U);
  for (const Incident& each : shown()) EXPECT_FALSE(each.is_open()) << each.finding.summary;
  EXPECT_NE(shown()[1].listed_summary().find("nothing has read it for 7 days"), std::string::npos)
      << shown()[1].listed_summary();
  EXPECT_TRUE(store.copy_of_links()[kName].empty());
}

TEST_F(CoreOtherSubnetTest, ItDoesNotEndBecauseTheClockWasSet) {
  start(ledger());
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  sweep_for(70s);
  clock.set_forward = 8 * 24h;
  fabric.advance(8 * 24h);
  sweep_for(30s);
  expect_apart();
}

TEST_F(CoreOtherSubnetTest, WherePortsAreNamedItIsToldWhileItsNameIsOneOfThem) {
  config.infiniband.ports = {.automatic = false, .named = {{"test", "mlx5_0", 1}}};
  start(ledger());
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  sweep_for(70s);
  expect_apart();
}

TEST_F(CoreOtherSubnetTest, APortWithoutACableHidesNone) {
  config.infiniband.ports = {.automatic = false, .named = {{"test", "mlx5_0", 1}, {"spare", "mlx5_1", 1}}};
  fakes::FabricBuilder spare("spare");
  spare.add_adapter("host-0-0 mlx5_1");
  spare.set_local_port(spare.key_of(spare.port_of("host-0-0 mlx5_1", 1)));
  start(ledger());
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  core->add_fabric("spare", LinkLayer::kInfiniBand, "mlx5_1:1");
  const auto sweep_both_for = [&](Duration time) {
    for (const TimePoint until = clock.time + time; clock.time < until; sweep_for(1s)) {
      spare.advance(clock.time - spare.now());
      core->take_sweep(spare.sweep());
    }
  };
  sweep_both_for(70s);
  const auto fabrics = publication.load()->fabrics;
  const auto lost = std::ranges::find(fabrics, kName, &FabricView::name);
  ASSERT_NE(lost, fabrics.end());
  EXPECT_FALSE(lost->watching);
  ASSERT_EQ(shown().size(), 2U);
  EXPECT_EQ(shown()[1].finding.kind, IncidentKind::kTelemetryLost);
  EXPECT_EQ(shown()[1].finding.cause.fabric, kName);
  sweep_both_for(12min);
  for (const Incident& each : shown()) EXPECT_TRUE(each.is_open()) << each.listed_summary();
}

TEST_F(CoreOtherSubnetTest, WhereItsNameIsNotNamedItIsNotWanted) {
  config.infiniband.ports = {.automatic = false, .named = {{"new", "mlx5_0", 1}}};
  known.fabric = down.finding.cause.fabric = kName;
  start(ledger());
  core->add_fabric("new", LinkLayer::kInfiniBand, "mlx5_0:1");
  pass(11min);
  EXPECT_EQ(publication.load()->fabrics.size(), 1U);
  EXPECT_FALSE(shown()[0].is_open());
}

TEST_F(CoreOtherSubnetTest, NothingIsStoredUnderTheNameBeforeTheOtherIsKept) {
  start(ledger());
  core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
  store.refuses_apart = true;
  sweep_for(10s);
  EXPECT_TRUE(store.copy_of_links().empty());
  store.refuses_apart = false;
  sweep_for(60s);
  expect_apart();
}

}  // namespace
}  // namespace weft::daemon
