// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/incidents/health.hpp"
#include "tests/fakes/fabric_builder.hpp"
#include "tests/unit/analyzer/host_watching.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

TEST(HostAnalyzer, SaysNothingOfAnUndisturbedHour) {
  HostWatching watching(3);
  watching.seconds(3600);
  EXPECT_TRUE(watching.book.all()->empty());
}

TEST(HostAnalyzer, ALinkThatGoesDownIsToldAtOnceAndEndsWhenItStaysUp) {
  HostWatching watching;
  watching.seconds(3);
  watching.event(false);
  watching.set_up(false);
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkDown}) << "without waiting for a reading";
  EXPECT_EQ(watching.open().front().finding.cause.kind, EntityKind::kHostPort);
  EXPECT_EQ(watching.open().front().finding.jobs, std::vector<std::string>{"slurm:0"});
  watching.seconds(30);
  EXPECT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkDown});
  watching.event(true);
  watching.set_up(true);
  watching.seconds(2);
  EXPECT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkDown}) << "it may fall again";
  watching.seconds(6);
  EXPECT_TRUE(watching.open().empty());
  EXPECT_EQ(watching.book.all()->size(), 1U);
}

TEST(HostAnalyzer, WhatWasNeverUpOrIsSetDownOrBelongsToOthersIsNoTrouble) {
  HostWatching watching(3);
  watching.set_up(false, 0);
  watching.port(2).is_virtual_function = true;
  watching.seconds(5);
  watching.event(false, 1, true);
  watching.set_up(false, 1);
  watching.port(1).administratively_down = true;
  watching.event(false, 2);
  watching.set_up(false, 2);
  watching.seconds(20);
  EXPECT_TRUE(watching.book.all()->empty());
}

TEST(HostAnalyzer, AFlapShorterThanAReadingCountsOnceAndThreeAreAFlappingLink) {
  HostWatching watching;
  watching.seconds(3);
  for (int flap = 0; flap < 3; ++flap) {
    watching.event(false);
    watching.event(true);
    ++watching.values[0][1];  // the adapter's own count of the same
    watching.seconds(10);
    if (flap < 1) {
      const auto kinds = watching.kinds();
      EXPECT_EQ(std::ranges::count(kinds, IncidentKind::kLinkFlap), 0);
    }
  }
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkFlap});
  const auto incident = watching.open().front();
  const auto flaps = std::ranges::find(incident.finding.evidence, "flaps", &Evidence::signal);
  ASSERT_NE(flaps, incident.finding.evidence.end());
  EXPECT_EQ(flaps->value, 3);
  watching.seconds(3600);
  EXPECT_TRUE(watching.open().empty()) << "its penalty has decayed";
}

TEST(HostAnalyzer, ErrorsThatEndTransfersAreTroubleUntilAQuietMinute) {
  HostWatching watching;
  watching.seconds(3);
  watching.values[0][3] += 1;
  watching.seconds(30);
  EXPECT_TRUE(watching.open().empty()) << "one failed request is not confirmed";
  watching.values[0][2] += 1;
  watching.seconds(1);
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kRdmaErrors}) << "a queue pair in error is";
  watching.seconds(58);
  EXPECT_EQ(watching.kinds(), Kinds{IncidentKind::kRdmaErrors});
  watching.seconds(6);
  EXPECT_TRUE(watching.open().empty());
  watching.values[0][3] += 2;
  watching.seconds(1);
  watching.values[0][3] += 2;
  watching.seconds(1);
  EXPECT_EQ(watching.kinds(), Kinds{IncidentKind::kRdmaErrors});
  watching.values[0] = {0, 0, 0, 0};  // the driver was loaded anew
  watching.seconds(70);
  EXPECT_TRUE(watching.open().empty());
}

TEST(HostAnalyzer, ALinkThatRunsSlowerThanItDidIsDegraded) {
  HostWatching watching;
  watching.seconds(3);
  watching.port().rate_bits_per_second = 100'000'000'000;
  watching.seconds(5);
  EXPECT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkDegraded});
  watching.port().rate_bits_per_second = 400'000'000'000;
  watching.seconds(5);
  EXPECT_TRUE(watching.open().empty());
}

TEST(HostAnalyzer, ManySilentCollectorsAreOneIncident) {
  HostWatching watching(100);
  watching.seconds(70);  // beyond the grace after the start
  watching.silent[0] = watching.silent[1] = 1;
  watching.seconds(10);
  EXPECT_EQ(watching.kinds(), (Kinds{IncidentKind::kTelemetryLost, IncidentKind::kTelemetryLost}));
  std::ranges::fill(watching.silent, 1);
  watching.seconds(10);
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kTelemetryLost});
  EXPECT_EQ(watching.open().front().finding.cause.kind, EntityKind::kFabric);
  std::ranges::fill(watching.silent, 0);
  watching.seconds(10);
  EXPECT_TRUE(watching.open().empty());
  EXPECT_EQ(watching.book.all()->size(), 3U);
}

TEST(HostAnalyzer, AfterOurOwnStartCollectorsHaveAMoment) {
  HostWatching watching;
  watching.analyzer = HostAnalyzer(Thresholds{}, watching.now);
  watching.analyzer.expect("node-0", watching.now - 1h);
  watching.silent[0] = 1;
  watching.seconds(55);
  EXPECT_TRUE(watching.open().empty());
  watching.seconds(10);
  EXPECT_EQ(watching.kinds(), Kinds{IncidentKind::kTelemetryLost});
}

TEST(HostAnalyzer, ACollectorThatWasLostBeforeARestartStaysLostUntilItReports) {
  HostWatching watching(2);
  watching.seconds(70);
  watching.silent[0] = 1;
  watching.seconds(10);
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kTelemetryLost});
  watching.analyzer = HostAnalyzer(Thresholds{}, watching.now);
  for (const char* const host : {"node-0", "node-1"}) watching.analyzer.expect(host, watching.now - 10s);
  for (int i = 0; i < 90; ++i) {
    watching.seconds(1);
    ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kTelemetryLost}) << i << " s after the restart";
  }
  EXPECT_EQ(watching.book.all()->front()->occurrences, 1U);
  watching.silent[0] = 0;
  watching.seconds(10);
  EXPECT_TRUE(watching.open().empty());
}

TEST(HostAnalyzer, ManyThatWereLostBeforeARestartStayLostWhileWeftdIsExcused) {
  HostWatching watching(6);
  watching.seconds(70);
  for (std::size_t i = 0; i < 5; ++i) watching.silent[i] = 1;
  watching.seconds(20);
  ASSERT_EQ(watching.open().size(), 1U);
  watching.analyzer = HostAnalyzer(Thresholds{}, watching.now);
  for (std::size_t i = 0; i < 6; ++i) watching.analyzer.expect("node-" + std::to_string(i), watching.now - 20s);
  for (int i = 0; i < 150; ++i) {
    if (i < 30) watching.analyzer.excuse_silence(watching.now);
    watching.seconds(1);
    ASSERT_EQ(watching.open().size(), 1U) << i << " s after the restart";
  }
  for (std::size_t i = 0; i < 5; ++i) watching.silent[i] = 0;
  watching.seconds(70);
  EXPECT_TRUE(watching.open().empty());
}

TEST(HostAnalyzer, ACollectorThatDoesNotComeBackAfterARestartHurtsTheJobsOfItsHost) {
  HostWatching watching;
  watching.analyzer = HostAnalyzer(Thresholds{}, watching.now);
  watching.analyzer.expect("node-0", watching.now - 1s, {"train-1"});
  watching.silent[0] = 1;
  watching.seconds(65);
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kTelemetryLost});
  EXPECT_EQ(watching.open().front().finding.jobs, std::vector<std::string>{"train-1"});
}

TEST(HostAnalyzer, CollectorsThatLeaveBecauseOfWeftdAreNotLost) {
  HostWatching watching(2);
  watching.seconds(70);
  watching.silent[0] = 1;
  watching.seconds(10);
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kTelemetryLost});
  watching.silent[1] = 1;
  for (int i = 0; i < 60; ++i) {
    watching.analyzer.excuse_silence(watching.now);
    watching.seconds(1);
  }
  EXPECT_EQ(watching.kinds(), Kinds{IncidentKind::kTelemetryLost}) << "who was lost before stays so";
  watching.seconds(58);
  EXPECT_EQ(watching.kinds(), Kinds{IncidentKind::kTelemetryLost});
  watching.seconds(3);
  EXPECT_EQ(watching.kinds(), (Kinds{IncidentKind::kTelemetryLost, IncidentKind::kTelemetryLost}))
      << "it has not come back";
  EXPECT_EQ(watching.book.all()->size(), 2U);
}

TEST(HostAnalyzer, AClockThatIsSetForwardSilencesNobody) {
  HostWatching watching(6);
  watching.seconds(70);
  // The hosts have not told anything since when it is judged next.
  watching.now += 1h;
  watching.judge();
  EXPECT_TRUE(watching.open().empty());
  watching.seconds(3);
  EXPECT_TRUE(watching.open().empty());
}

TEST(HostAnalyzer, WhatWasOpenBeforeARestartStaysOpenUntilItIsSeenToBeOver) {
  HostWatching watching;
  watching.seconds(3);
  watching.event(false);
  watching.set_up(false);
  watching.seconds(3);
  std::vector<Incident> stored;
  for (const IncidentPtr& incident : *watching.book.all()) stored.push_back(*incident);
  watching.analyzer = HostAnalyzer(Thresholds{}, watching.now);
  for (const Incident& incident : stored) watching.analyzer.remember(incident);
  watching.book = IncidentManager(IncidentPolicy{}, stored, 1);
  watching.seconds(10);
  EXPECT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkDown});
  watching.event(true);
  watching.set_up(true);
  watching.seconds(10);
  EXPECT_TRUE(watching.open().empty());
}

TEST(HostAnalyzer, FlapPenaltiesOutliveARestart) {
  HostWatching watching;
  watching.seconds(3);
  const auto flap = [&] {
    watching.event(false);
    watching.event(true);
    watching.seconds(10);
  };
  flap();
  const auto saved = watching.analyzer.flaps("node-0");
  ASSERT_EQ(saved.size(), 1U);
  EXPECT_EQ(saved[0].device, "mlx5_0");
  EXPECT_EQ(saved[0].state.flaps, 1U);
  watching.analyzer = HostAnalyzer(Thresholds{}, watching.now);
  watching.analyzer.restore("node-0", saved);
  watching.seconds(3);
  flap();
  EXPECT_EQ(std::ranges::count(watching.kinds(), IncidentKind::kLinkFlap), 0);
  flap();
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkFlap}) << "the third one in half a minute";
  // While it flaps: it stays open with its penalty.
  std::vector<Incident> stored;
  for (const IncidentPtr& incident : *watching.book.all()) stored.push_back(*incident);
  const auto flapping = watching.analyzer.flaps("node-0");
  watching.analyzer = HostAnalyzer(Thresholds{}, watching.now);
  for (const Incident& incident : stored) watching.analyzer.remember(incident);
  watching.analyzer.restore("node-0", flapping);
  watching.book = IncidentManager(IncidentPolicy{}, stored, 1);
  watching.seconds(60);
  EXPECT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkFlap});
  watching.seconds(3600);
  EXPECT_TRUE(watching.open().empty());
}

TEST(HostAnalyzer, PenaltiesOfAPortThatIsNotThereGoWithoutAWord) {
  HostWatching watching;
  HostFlapState flap;
  flap.device = "mlx5_9";
  flap.port = 1;
  flap.state.fast = 2000;
  flap.state.updated = watching.now;
  watching.analyzer.restore("node-0", std::span(&flap, 1));
  watching.seconds(10);
  EXPECT_TRUE(watching.book.all()->empty());
  EXPECT_TRUE(watching.analyzer.flaps("node-0").empty());
}

TEST(HostAnalyzer, HistoryCountsAndSaysNothingOfNow) {
  HostWatching watching;
  watching.seconds(3);
  watching.event(false, 0, false, true);
  watching.seconds(5);
  EXPECT_TRUE(watching.open().empty());
}

/// A small subnet that was swept once.
struct WatchedSubnet {
  WatchedSubnet() {
    view.name = fabric.name();
    view.watching = true;
    view.sweep = std::make_shared<const Sweep>(fabric.sweep());
  }
  /// Its first port of an adapter that has a GUID; as many as there are ports when there is none.
  PortIndex adapter() const {
    const Topology& topology = *view.sweep->topology;
    PortIndex port = 0;
    while (port < topology.ports().size() &&
           (topology.node_of(topology.port(port)).type != NodeType::kChannelAdapter || !topology.port(port).guid))
      ++port;
    return port;
  }
  fakes::FabricBuilder fabric = fakes::FabricBuilder::fat_tree(2, 3, 2);
  FabricView view;
};

TEST(HostAnalyzer, APortOfAWatchedSubnetIsNamedAsTheSubnetDoes) {
  const WatchedSubnet subnet;
  const FabricView& view = subnet.view;
  const Topology& topology = *view.sweep->topology;
  const PortIndex adapter = subnet.adapter();
  ASSERT_LT(adapter, topology.ports().size());
  HostWatching watching;
  watching.port().port_guid = topology.port(adapter).guid;
  watching.analyzer.join(std::span(&view, 1));
  watching.seconds(3);
  watching.analyzer.join(std::span(&view, 1));
  watching.event(false);
  watching.set_up(false);
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkDown});
  const Incident told = watching.open().front();
  EXPECT_EQ(told.finding.cause.kind, EntityKind::kLink);
  EXPECT_EQ(told.finding.cause.fabric, view.name);
  watching.seconds(10);
  EXPECT_EQ(watching.open().size(), 1U) << "only sweeps of the subnet end it";
  std::vector<Finding> findings(1);
  findings[0].cause.port.node = topology.node_of(topology.port(adapter)).guid;
  watching.analyzer.complete("fabric", findings, watching.now);
  EXPECT_EQ(findings[0].jobs, std::vector<std::string>{"slurm:0"});
  watching.seconds(70);  // what fails at once is its outage's doing
  watching.values[0][2] += 1;
  watching.seconds(1);
  const auto open = watching.open();
  const auto errors = std::ranges::find(open, IncidentKind::kRdmaErrors, incident_kind);
  ASSERT_NE(errors, open.end());
  EXPECT_EQ(errors->finding.cause.kind, EntityKind::kPort);
  // A sweep does not know of them, and does not resolve them.
  const Coverage coverage(view.sweep->topology, std::vector<std::uint8_t>(topology.ports().size(), 0xFF), true);
  EXPECT_FALSE(coverage.observed(IncidentKind::kRdmaErrors, errors->finding.cause));
  watching.seconds(70);
  EXPECT_EQ(watching.open().size(), 1U);
}

TEST(HostAnalyzer, WhatAHostToldOfAPortOnASubnetEndsWhenItIsForgotten) {
  const WatchedSubnet subnet;
  const FabricView& view = subnet.view;
  const Topology& topology = *view.sweep->topology;
  const PortIndex adapter = subnet.adapter();
  ASSERT_LT(adapter, topology.ports().size());
  HostWatching watching(2);
  watching.port().port_guid = topology.port(adapter).guid;
  watching.seconds(60);
  watching.analyzer.join(std::span(&view, 1));
  watching.values[0][2] += 1;
  watching.seconds(1);
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kRdmaErrors});
  const Incident told = watching.open().front();
  EXPECT_EQ(told.finding.cause.kind, EntityKind::kPort);
  EXPECT_EQ(told.finding.cause.host, "node-0");
  watching.silent[0] = 1;
  watching.seconds(200);
  EXPECT_EQ(watching.open().size(), 2U) << "nobody sees whether it is over";

  // The same after a restart, and when its adapter is not found again.
  HostWatching restarted(2);
  restarted.now = watching.now;
  restarted.analyzer = HostAnalyzer(Thresholds{}, restarted.now);
  restarted.book = IncidentManager(IncidentPolicy{}, {told}, 1);
  restarted.analyzer.remember(told);
  restarted.analyzer.expect("node-0", watching.now - 200s);
  restarted.silent[0] = 1;
  restarted.seconds(300);
  EXPECT_EQ(restarted.open().size(), 2U);

  for (HostWatching* each : {&watching, &restarted}) {
    each->analyzer.forget("node-0");
    each->seconds(5);
    EXPECT_TRUE(each->open().empty());
  }
}

TEST(HostHealth, DoesNotDependOnClocks) {
  HostWatching watching;
  auto view = std::make_shared<HostView>();
  view->host = "node-0";
  view->heard = watching.now;
  view->interval = 1s;
  auto reading = std::make_shared<HostReading>();
  reading->taken = watching.now - 2min;
  reading->inventory = watching.inventory;
  view->reading = reading;
  const auto verdict = [&] {
    const std::vector<std::shared_ptr<const HostView>> hosts{view};
    return assess({}, hosts, {}, {}, watching.now)[0].verdict;
  };
  EXPECT_EQ(verdict(), HealthVerdict::kHealthy) << "a clock was set";
  view->is_late = true;
  EXPECT_EQ(verdict(), HealthVerdict::kUnknown) << "it waited, as it says";
  reading->taken = watching.now;
  EXPECT_EQ(verdict(), HealthVerdict::kUnknown) << "whatever time it bears";
  view->told = watching.now - 20s;
  EXPECT_EQ(verdict(), HealthVerdict::kHealthy) << "one that had not waited came just before";
  view->told = watching.now - 31s;
  EXPECT_EQ(verdict(), HealthVerdict::kUnknown);
}

TEST(HostHealth, ComesFromWhatTheCollectorTells) {
  HostWatching watching(2);
  watching.seconds(3);
  const auto view_of = [&](unsigned host, TimePoint heard) {
    auto view = std::make_shared<HostView>();
    view->host = watching.names[host];
    view->heard = heard;
    view->interval = 1s;
    auto reading = std::make_shared<HostReading>();
    reading->taken = heard;
    reading->inventory = watching.inventories[host];
    view->reading = reading;
    return view;
  };
  const auto assessed = [&](TimePoint heard) {
    const std::vector<std::shared_ptr<const HostView>> hosts{view_of(0, heard), view_of(1, watching.now)};
    return assess({}, hosts, *watching.book.all(), {}, watching.now);
  };
  auto health = assessed(watching.now);
  ASSERT_EQ(health.size(), 2U);
  EXPECT_EQ(health[0].verdict, HealthVerdict::kHealthy);
  EXPECT_EQ(assessed(watching.now - 10s)[0].verdict, HealthVerdict::kUnknown);
  watching.event(false);
  watching.set_up(false);
  watching.seconds(1);
  health = assessed(watching.now);
  EXPECT_EQ(health[0].verdict, HealthVerdict::kUnhealthy) << "its only port";
  EXPECT_EQ(health[0].reasons.size(), 1U);
  EXPECT_EQ(health[1].verdict, HealthVerdict::kHealthy);
}

TEST(HostAnalyzer, AHostThatWasForgottenIsAnotherOneWhenItIsHeardAgain) {
  HostWatching watching(2);
  watching.seconds(3);
  watching.analyzer.forget(watching.names[0]);
  EXPECT_FALSE(watching.analyzer.take(watching.names[0], {})) << "nobody knows it";
  ++watching.values[0][1];  // a flap while nobody watched it
  watching.seconds(5);
  EXPECT_TRUE(watching.analyzer.flaps(watching.names[0]).empty());
  ++watching.values[0][1];
  watching.seconds(2);
  EXPECT_EQ(watching.analyzer.flaps(watching.names[0]).size(), 1U) << "it is watched as all others are";
}

}  // namespace
}  // namespace weft::analyzer
