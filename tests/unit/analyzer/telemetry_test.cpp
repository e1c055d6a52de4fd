// SPDX-License-Identifier: Apache-2.0
// TELEMETRY_LOST: not seeing is neither up nor down.
#include "tests/unit/analyzer/watch.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;
using std::chrono::seconds;

void silence(Watch& watch, std::string_view reason) {
  watch.fabric.advance(seconds(1));
  watch.analysis = watch.analyzer.silent(watch.fabric.now(), reason);
  watch.changed = watch.book.update("test", watch.analysis.findings, watch.analysis.coverage, watch.fabric.now());
}

TEST(TelemetryLost, ASwitchThatDoesNotAnswerWhileItsLinksAreUpIsNotDown) {
  Watch watch(FabricBuilder::fat_tree(4, 6, 8));
  watch.sweeps(3);
  const NodeIndex spine = watch.fabric.find("spine-2");
  watch.fabric.silence(spine);
  watch.sweeps(1);
  EXPECT_TRUE(watch.open().empty()) << "one sweep may fail";
  watch.sweeps(1);
  const Incident lost = watch.only();
  EXPECT_EQ(lost.finding.kind, IncidentKind::kTelemetryLost);
  EXPECT_EQ(lost.finding.cause.port.node, watch.fabric.nodes()[spine].guid);
  watch.restart();
  watch.sweeps(5);
  EXPECT_EQ(watch.only().id, lost.id);
  watch.fabric.silence(spine, false);
  watch.sweeps(3);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST(TelemetryLost, ASilentLeafHidesItsHosts) {
  Watch watch(FabricBuilder::fat_tree(4, 6, 8));
  watch.sweeps(3);
  watch.fabric.silence(watch.fabric.find("leaf-2"));
  for (int h = 0; h < 8; ++h) watch.fabric.silence(watch.fabric.find("host-2-" + std::to_string(h) + " mlx5_0"));
  watch.sweeps(3);
  const Incident lost = watch.only();
  EXPECT_EQ(lost.finding.kind, IncidentKind::kTelemetryLost) << watch.describe();
  EXPECT_EQ(lost.finding.affected.size(), 8U);
}

TEST(TelemetryLost, ASilentSwitchIsBlamedForTheNeighboursBehindIt) {
  Watch watch(FabricBuilder::fat_tree(4, 10, 20));
  watch.sweeps(3);
  // The way to three leaves led through spine-1; their other uplinks look well.
  std::vector<std::string> leaves{"leaf-2", "leaf-3", "leaf-5"};
  for (const std::string& leaf : leaves) watch.fabric.silence(watch.fabric.find(leaf));
  watch.sweeps(2);
  EXPECT_EQ(watch.open().size(), 3U) << watch.describe();
  const NodeIndex spine = watch.fabric.find("spine-1");
  watch.fabric.silence(spine);
  watch.sweeps(2);
  const Incident lost = watch.only();
  EXPECT_EQ(lost.finding.cause.port.node, watch.fabric.nodes()[spine].guid) << watch.describe();
  EXPECT_EQ(lost.finding.affected.size(), 3U);
  for (const std::string& leaf : leaves) watch.fabric.silence(watch.fabric.find(leaf), false);
  watch.fabric.silence(spine, false);
  watch.sweeps(3);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST(TelemetryLost, ThatTurnsOutToBeAPowerCutIsFoldedIn) {
  Watch watch(FabricBuilder::fat_tree(4, 6, 8));
  watch.sweeps(3);
  const NodeIndex spine = watch.fabric.find("spine-2");
  watch.fabric.silence(spine);
  watch.sweeps(3);
  watch.fabric.power_off(spine);
  watch.sweeps(2);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kSwitchDown) << watch.describe();
}

/// An adapter that stops answering, and whose link a subnet manager takes to Initialize, since it cannot configure it.
struct SilentAdapter : testing::Test {
  SilentAdapter() : watch(FabricBuilder::fat_tree(4, 6, 8)), adapter(watch.fabric.find(kName)) { watch.sweeps(3); }
  void train(PortState state) { watch.fabric.relink(watch.fabric.port_of(kName, 1), state); }
  bool is_blamed(const Incident& incident) const {
    return incident.finding.kind == IncidentKind::kTelemetryLost &&
           incident.finding.cause.port.node == watch.fabric.nodes()[adapter].guid;
  }

  static constexpr const char* kName = "host-2-3 mlx5_0";
  Watch watch;
  NodeIndex adapter;
};

TEST_F(SilentAdapter, WhoseLinkCannotBeActivatedIsTheCause) {
  watch.fabric.silence(adapter);
  train(PortState::kInitialize);
  watch.sweeps(2);
  const Incident lost = watch.only();
  EXPECT_TRUE(is_blamed(lost)) << watch.describe();
  EXPECT_EQ(lost.finding.severity, Severity::kWarning) << "it may be back in a moment";
  EXPECT_NE(lost.finding.summary.find("trained, but the subnet manager cannot activate"), std::string::npos)
      << lost.finding.summary;
  ASSERT_EQ(lost.finding.affected.size(), 1U);
  EXPECT_EQ(lost.finding.affected[0].port, watch.link(kName, "leaf-2").low);
  watch.sweeps(200);
  EXPECT_EQ(watch.only().id, lost.id) << watch.describe();
  EXPECT_EQ(watch.only().finding.severity, Severity::kCritical) << "its only link carries nothing";
  watch.restart();
  watch.sweeps(70);
  EXPECT_EQ(watch.only().id, lost.id) << watch.describe();
  // From now on it is the subnet manager that its link waits for.
  watch.fabric.silence(adapter, false);
  watch.sweeps(50);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  train(PortState::kActive);
  watch.sweeps(3);
  EXPECT_EQ(watch.book.all()->size(), 1U) << watch.describe();
  // Which has taken 50 s, and not five minutes.
  watch.fabric.relink(watch.fabric.port_of("host-1-0 mlx5_0", 1), PortState::kInitialize);
  watch.sweeps(110);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kLinkDown) << watch.describe();
}

TEST_F(SilentAdapter, StaysOneIncidentWhateverTheSubnetManagerDoesToItsLink) {
  watch.fabric.silence(adapter);
  watch.sweeps(2);
  const Incident lost = watch.only();
  EXPECT_EQ(lost.finding.severity, Severity::kWarning) << "its link carries data";
  for (const PortState state : {PortState::kInitialize, PortState::kActive, PortState::kInitialize}) {
    train(state);
    for (int i = 0; i < 80; ++i) {
      watch.sweeps(1);
      ASSERT_EQ(watch.only().id, lost.id) << watch.describe();
      ASSERT_TRUE(is_blamed(watch.only())) << watch.describe();
    }
  }
  EXPECT_EQ(watch.book.all()->size(), 1U) << watch.describe();
}

TEST_F(SilentAdapter, ThatIsOffIsStillALinkDown) {
  watch.fabric.silence(adapter);
  watch.fabric.unlink(watch.fabric.port_of(kName, 1));
  watch.sweeps(2);
  const Incident down = watch.only();
  EXPECT_EQ(down.finding.kind, IncidentKind::kLinkDown) << watch.describe();
  // Power is back, and it does not answer: what went down is not up yet.
  train(PortState::kInitialize);
  for (int i = 0; i < 100; ++i) {
    watch.sweeps(1);
    ASSERT_EQ(watch.only().id, down.id) << watch.describe();
  }
  EXPECT_NE(watch.only().finding.summary.find("is trained, but host-2-3 mlx5_0 port 1 does not respond"),
            std::string::npos)
      << watch.only().finding.summary;
}

TEST_F(SilentAdapter, WhoseLinkGoesDownIsPartOfThat) {
  watch.fabric.silence(adapter);
  train(PortState::kInitialize);
  watch.sweeps(10);
  const Incident lost = watch.only();
  EXPECT_TRUE(is_blamed(lost)) << watch.describe();
  watch.fabric.unlink(watch.fabric.port_of(kName, 1));
  watch.sweeps(2);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kLinkDown) << watch.describe();
  EXPECT_NE(watch.book.find(lost.id)->headline.find("now part of"), std::string::npos);
}

TEST(TelemetryLost, CountersThatCanNoLongerBeRead) {
  Watch watch(FabricBuilder::fat_tree(2, 3, 4));
  watch.sweeps(3);
  const NodeIndex leaf = watch.fabric.find("leaf-1");
  watch.fabric.freeze_counters(leaf);
  watch.sweeps(60);
  EXPECT_TRUE(watch.open().empty()) << "routes may be changing: " << watch.describe();
  watch.sweeps(2);
  const Incident lost = watch.only();
  EXPECT_EQ(lost.finding.kind, IncidentKind::kTelemetryLost);
  EXPECT_NE(lost.finding.summary.find("counters"), std::string::npos);
  EXPECT_EQ(lost.finding.cause.port.node, watch.fabric.nodes()[leaf].guid);
  watch.fabric.freeze_counters(leaf, false);
  watch.sweeps(3);
  EXPECT_TRUE(watch.open().empty());
}

TEST(TelemetryLost, CountersOfASwitchThatCameBackMayTakeAMoment) {
  Watch watch(FabricBuilder::fat_tree(2, 3, 2));
  watch.sweeps(3);
  const NodeIndex spine = watch.fabric.find("spine-1");
  watch.fabric.power_off(spine);
  watch.sweeps(6);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kSwitchDown) << watch.describe();
  // It answers by directed route at once; its counters can be read when the subnet manager has given it a LID again.
  watch.fabric.power_on(spine);
  watch.fabric.freeze_counters(spine);
  watch.sweeps(55);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  watch.sweeps(9);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kTelemetryLost) << "but not for ever";
}

TEST(TelemetryLost, CountersOfSeveralNodesAreOneTroubleOfTheRoutes) {
  Watch watch(FabricBuilder::fat_tree(4, 6, 8));
  watch.sweeps(3);
  const auto freeze = [&](int first, int last, bool frozen) {
    for (int h = first; h <= last; ++h)
      watch.fabric.freeze_counters(watch.fabric.find("host-2-" + std::to_string(h) + " mlx5_0"), frozen);
  };
  freeze(0, 1, true);
  watch.sweeps(5);
  freeze(2, 4, true);
  watch.sweeps(58);
  const Incident lost = watch.only();
  EXPECT_EQ(lost.finding.kind, IncidentKind::kTelemetryLost);
  EXPECT_EQ(lost.finding.severity, Severity::kWarning) << "the rest of the fabric is seen";
  EXPECT_EQ(lost.finding.cause.kind, EntityKind::kFabric);
  EXPECT_EQ(lost.finding.affected.size(), 5U) << watch.describe();
  freeze(1, 4, false);
  watch.sweeps(20);
  EXPECT_EQ(watch.only().id, lost.id) << "the last of them is still the same trouble: " << watch.describe();
  EXPECT_EQ(watch.only().finding.affected.size(), 1U);
  freeze(0, 0, false);
  watch.sweeps(3);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  EXPECT_EQ(watch.book.all()->size(), 1U) << watch.describe();
}

/// The counters of five adapters could not be read; now it is one.
struct LastUnread : Watch {
  LastUnread() : Watch(FabricBuilder::fat_tree(4, 6, 8)) {
    sweeps(3);
    freeze(0, 4, true);
    sweeps(70);
    EXPECT_EQ(only().finding.cause.kind, EntityKind::kFabric) << describe();
    freeze(1, 4, false);
    sweeps(20);
    EXPECT_EQ(only().finding.cause.kind, EntityKind::kFabric) << "it may come back, too: " << describe();
  }
  NodeIndex adapter(int host) const { return fabric.find("host-2-" + std::to_string(host) + " mlx5_0"); }
  void freeze(int first, int last, bool frozen) {
    for (int host = first; host <= last; ++host) fabric.freeze_counters(adapter(host), frozen);
  }
  /// As a sweeper that was started anew sees it: the counters of the last adapter were never read.
  void sweeps_of_a_new_sweeper(int count) {
    const Node& node = fabric.nodes()[adapter(0)];
    for (int i = 0; i < count; ++i) {
      last_sweep = fabric.sweep();
      auto counters = std::make_shared<SampleTable>(*last_sweep.counters);
      for (PortIndex port = 0; port < node.port_entries(); ++port)
        counters->set_read_at(node.first_port + port, kNever);
      last_sweep.counters = std::move(counters);
      analysis = analyzer.analyze(last_sweep, fabric.now());
      changed = book.update(fabric.name(), analysis.findings, analysis.coverage, fabric.now());
    }
  }
  void expect_that_of_the_adapter() const {
    EXPECT_EQ(only().finding.kind, IncidentKind::kTelemetryLost) << describe();
    EXPECT_EQ(only().finding.cause.port.node, fabric.nodes()[adapter(0)].guid) << describe();
  }
};

TEST(TelemetryLost, TheLastOfSeveralThatStaysUnreadGetsAnIncidentOfItsOwn) {
  LastUnread watch;
  watch.sweeps(60);
  watch.expect_that_of_the_adapter();
  watch.freeze(0, 0, false);
  watch.sweeps(3);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST(TelemetryLost, TheLastOfSeveralThatStaysUnreadHasAnIncidentOfItsOwnAfterARestart) {
  for (const bool was_told : {false, true}) {
    LastUnread watch;
    if (was_told) watch.sweeps(60);
    watch.restart();
    watch.sweeps_of_a_new_sweeper(30);
    EXPECT_EQ(watch.open().size(), 1U) << "unread for a moment is no news: " << watch.describe();
    watch.sweeps_of_a_new_sweeper(60);
    watch.expect_that_of_the_adapter();
  }
}

TEST(TelemetryLost, TheLastOfSeveralThatStaysUnreadHasAnIncidentOfItsOwnWhenTheSweeperIsStartedAnew) {
  LastUnread watch;
  watch.sweeps_of_a_new_sweeper(70);
  watch.expect_that_of_the_adapter();
}

TEST(TelemetryLost, IncidentsOfSingleUnreadNodesArePartOfTheFabricsWhenTheyAreSeveralAgain) {
  LastUnread watch;
  const std::uint64_t fabrics = watch.only().id;
  watch.sweeps(60);
  watch.freeze(1, 4, true);
  watch.sweeps(5);
  EXPECT_EQ(watch.only().id, fabrics) << watch.describe();
  EXPECT_EQ(watch.only().finding.affected.size(), 5U);
}

// Now and then for a moment.
TEST(TelemetryLost, OneMoreUnreadNodeBesideTwoIsNotTheFabrics) {
  LastUnread watch;
  watch.freeze(1, 1, true);
  watch.sweeps(140);
  EXPECT_EQ(watch.open().size(), 2U) << watch.describe();
  for (int round = 0; round < 2; ++round) {
    if (round == 1) watch.restart();
    watch.freeze(2, 2, true);
    for (int i = 0; i < 120; ++i) {
      if (i == 12) watch.freeze(2, 2, false);
      watch.sweeps(1);
      for (const Incident& incident : watch.open())
        ASSERT_EQ(incident.finding.cause.kind, EntityKind::kNode) << watch.describe();
    }
  }
}

TEST(TelemetryLost, OneMoreUnreadNodeBesideFiveForAMomentIsNotTheFabrics) {
  Watch watch(FabricBuilder::fat_tree(4, 6, 8));
  watch.sweeps(3);
  const auto freeze = [&](int host, bool frozen) {
    watch.fabric.freeze_counters(watch.fabric.find("host-2-" + std::to_string(host) + " mlx5_0"), frozen);
  };
  for (int host = 0; host < 5; ++host) {
    freeze(host, true);
    watch.sweeps(140);
  }
  ASSERT_EQ(watch.open().size(), 5U) << watch.describe();
  freeze(5, true);
  watch.sweeps(12);
  freeze(5, false);
  watch.sweeps(100);
  EXPECT_EQ(watch.open().size(), 5U) << watch.describe();
  for (const Incident& incident : watch.open()) EXPECT_EQ(incident.finding.cause.kind, EntityKind::kNode);
}

TEST(TelemetryLost, CountersMayWaitForLongWhileTheSubnetManagerWorks) {
  Watch watch(FabricBuilder::fat_tree(4, 6, 8));
  watch.sweeps(3);
  const auto freeze = [&](bool frozen) {
    for (int h = 0; h < 5; ++h)
      watch.fabric.freeze_counters(watch.fabric.find("host-2-" + std::to_string(h) + " mlx5_0"), frozen);
  };
  const auto port = watch.fabric.port_towards("leaf-3", "spine-1");
  watch.fabric.relink(port, PortState::kInitialize);
  freeze(true);
  watch.sweeps(20);
  watch.fabric.relink(port);
  watch.sweeps(50);
  EXPECT_TRUE(watch.open().empty()) << "it was at work less than its patience ago: " << watch.describe();
  watch.sweeps(20);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kTelemetryLost) << "now it is not any more: " << watch.describe();
  freeze(false);
  watch.sweeps(5);
  // One that never ends cannot hide it for ever.
  watch.fabric.relink(port, PortState::kInitialize);
  watch.sweeps(80);
  freeze(true);
  watch.sweeps(290);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kLinkDown) << watch.describe();
  watch.sweeps(20);
  EXPECT_EQ(watch.open().size(), 2U) << watch.describe();
}

TEST(TelemetryLost, CountersThatWaitForChangingRoutesBelongToTheOutage) {
  Watch watch(FabricBuilder::fat_tree(4, 6, 8));
  watch.sweeps(3);
  watch.fabric.unlink(watch.fabric.port_towards("leaf-3", "spine-1"));
  for (int h = 0; h < 4; ++h)
    watch.fabric.freeze_counters(watch.fabric.find("host-2-" + std::to_string(h) + " mlx5_0"));
  watch.sweeps(40);
  const Incident down = watch.only();
  EXPECT_EQ(down.finding.kind, IncidentKind::kLinkDown);
  const auto waiting = std::ranges::find(watch.analysis.findings.at(0).evidence, "counters_waiting", &Evidence::signal);
  ASSERT_NE(waiting, watch.analysis.findings.at(0).evidence.end());
  EXPECT_EQ(waiting->value, 4);
  EXPECT_EQ(waiting->description, "the counters of 4 nodes could not be read") << "nobody saw that routes changed";
}

TEST(TelemetryLost, OneLostAnswerAfterAGapOfOurOwnIsNotTheNodes) {
  Watch watch(FabricBuilder::fat_tree(2, 3, 2));
  watch.sweeps(5);
  const NodeIndex leaf = watch.fabric.find("leaf-1");
  watch.fabric.advance(std::chrono::seconds(30));
  watch.fabric.freeze_counters(leaf);
  watch.sweeps(2);
  watch.fabric.freeze_counters(leaf, false);
  watch.sweeps(3);
  EXPECT_TRUE(watch.book.all()->empty()) << watch.describe();
}

TEST(TelemetryLost, OfManyNodesAtOnceIsOneIncident) {
  Watch watch(FabricBuilder::fat_tree(4, 6, 8));
  watch.sweeps(3);
  for (int h = 0; h < 8; ++h) watch.fabric.silence(watch.fabric.find("host-2-" + std::to_string(h) + " mlx5_0"));
  watch.sweeps(3);
  const Incident lost = watch.only();
  EXPECT_EQ(lost.finding.cause.kind, EntityKind::kFabric) << watch.describe();
  EXPECT_EQ(lost.finding.affected.size(), 8U);
}

TEST(TelemetryLost, OfManyNodesIsNotHiddenByTheCountersOfOthers) {
  Watch watch(FabricBuilder::fat_tree(4, 6, 8));
  watch.sweeps(3);
  for (int h = 0; h < 3; ++h)
    watch.fabric.freeze_counters(watch.fabric.find("host-1-" + std::to_string(h) + " mlx5_0"));
  watch.sweeps(70);
  const Incident counters = watch.only();
  EXPECT_EQ(counters.finding.severity, Severity::kWarning);
  for (int h = 0; h < 8; ++h) watch.fabric.silence(watch.fabric.find("host-2-" + std::to_string(h) + " mlx5_0"));
  watch.sweeps(3);
  const Incident lost = watch.only();
  EXPECT_EQ(lost.id, counters.id);
  EXPECT_EQ(lost.finding.severity, Severity::kCritical) << lost.finding.summary;
  EXPECT_EQ(lost.finding.affected.size(), 11U);
}

TEST(TelemetryLost, NoSweepForThreeIntervals) {
  Watch watch(FabricBuilder::fat_tree(2, 3, 4));
  watch.sweeps(3);
  watch.fabric.unlink(watch.fabric.port_towards("leaf-1", "spine-0"));
  watch.sweeps(2);
  const std::uint64_t down = watch.only().id;
  silence(watch, "");
  silence(watch, "");
  EXPECT_EQ(watch.open().size(), 1U);
  silence(watch, "");
  ASSERT_EQ(watch.open().size(), 2U);
  EXPECT_EQ(watch.open()[1].finding.kind, IncidentKind::kTelemetryLost);
  EXPECT_EQ(watch.open()[1].finding.severity, Severity::kWarning) << "it may only be late";
  for (int i = 0; i < 27; ++i) silence(watch, "");
  EXPECT_EQ(watch.open()[1].finding.severity, Severity::kCritical);
  const std::uint64_t revision = watch.open()[1].revision;
  for (int i = 0; i < 50; ++i) silence(watch, "");
  ASSERT_EQ(watch.open().size(), 2U) << "nothing resolves while nobody looks";
  EXPECT_EQ(watch.open()[0].id, down);
  EXPECT_EQ(watch.open()[1].revision, revision);
  watch.sweeps(3);
  EXPECT_EQ(watch.only().id, down) << watch.describe();
}

TEST(TelemetryLost, AnAdapterThatIsGoneIsSaidAtOnce) {
  Watch watch(FabricBuilder::fat_tree(2, 3, 4));
  silence(watch, "adapter mlx5_0 is gone");
  EXPECT_NE(watch.only().finding.summary.find("adapter mlx5_0 is gone"), std::string::npos);
}

TEST(TelemetryLost, AFirstDiscoveryMayTakeItsTime) {
  Watch watch(FabricBuilder::fat_tree(2, 3, 4));
  for (int i = 0; i < 60; ++i) silence(watch, "");
  EXPECT_TRUE(watch.open().empty());
  silence(watch, "");
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kTelemetryLost);
}

TEST(TelemetryLost, ASweepThatTakesLongerThanItsIntervalIsNotStale) {
  Watch watch(FabricBuilder::fat_tree(2, 3, 4));
  watch.sweeps(2);
  for (int i = 0; i < 10; ++i) {
    // Six seconds on the way, at an interval of one: the first readings are six seconds old at the end.
    Sweep slow = watch.fabric.sweep();
    watch.fabric.advance(seconds(6));
    slow.started = slow.finished;
    slow.finished = watch.fabric.now();
    const Analysis analysis = watch.analyzer.analyze(slow, watch.fabric.now());
    EXPECT_TRUE(analysis.findings.empty());
    EXPECT_FALSE(analysis.coverage.is_blind());
    for (const PortIndex end : {0U, 1U})
      EXPECT_TRUE(analysis.coverage.observed(IncidentKind::kTelemetryLost,
                                             {EntityKind::kPort, "test", watch.fabric.key_of(end), {}, ""}));
  }
}

TEST(TelemetryLost, ASweepWithoutItsTablesIsNone) {
  Watch watch(FabricBuilder::fat_tree(2, 3, 4));
  watch.sweeps(3);
  Sweep broken = watch.fabric.sweep();
  broken.counters = std::make_shared<const SampleTable>(SampleTable::of_group(CounterGroup::kEverySweep, 1));
  EXPECT_TRUE(watch.analyzer.analyze(broken, watch.fabric.now()).coverage.is_blind());
  broken.topology = nullptr;
  EXPECT_TRUE(watch.analyzer.analyze(broken, watch.fabric.now()).coverage.is_blind());
}

}  // namespace
}  // namespace weft::analyzer
