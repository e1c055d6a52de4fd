// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/analyzer/acceptance/accepting.hpp"

namespace weft::analyzer {
namespace {

using enum AcceptanceVerdict;
using Judging = Accepting;

TEST_F(Judging, ACleanFabricPassesWhenItsTimeIsOver) {
  sweeps(61);
  const AcceptanceReport now = report();
  EXPECT_EQ(now.verdict, kPass);
  for (const AcceptanceKind kind : {AcceptanceKind::kPresence, AcceptanceKind::kCabling, AcceptanceKind::kLinkRate,
                                    AcceptanceKind::kBitErrors, AcceptanceKind::kErrors, AcceptanceKind::kIncidents})
    EXPECT_EQ(now.find(kind)->verdict, kPass) << to_string(kind) << ": " << now.find(kind)->told;
  // What nothing tells of is named, and is no pass.
  for (const AcceptanceKind kind : {AcceptanceKind::kFec, AcceptanceKind::kConfiguration, AcceptanceKind::kTemperature,
                                    AcceptanceKind::kPcie, AcceptanceKind::kBalance})
    EXPECT_EQ(now.find(kind)->verdict, kNotMeasured) << to_string(kind) << ": " << now.find(kind)->told;
  EXPECT_EQ(now.find(AcceptanceKind::kBitErrors)->passed, 24U);
  ASSERT_EQ(now.hosts.size(), 6U);
  for (const AcceptanceHost& host : now.hosts) EXPECT_EQ(host.verdict, kPass) << host.name;
}

TEST_F(Judging, WhatIsNotMeasuredLongEnoughIsNoPass) {
  sweeps(11);  // five minutes
  const AcceptanceReport now = report();
  EXPECT_EQ(now.verdict, kNotYet);
  const AcceptanceCheck& bits = *now.find(AcceptanceKind::kBitErrors);
  EXPECT_EQ(bits.verdict, kNotYet);
  // 2.9957 / 1e-14 bits at 200 Gb/s are 1,498 s, of which 300 are over.
  EXPECT_EQ(bits.judged_at, fabric.now() + std::chrono::seconds(1198));
  EXPECT_NE(bits.ports.front().told.find("0 errors in 5 min: shows at most 4.99e-14 errors/bit, and 1e-14"),
            std::string::npos)
      << bits.ports.front().told;
  const AcceptanceCheck& errors = *now.find(AcceptanceKind::kErrors);
  EXPECT_EQ(errors.verdict, kNotYet);
  EXPECT_EQ(errors.judged_at, run.started + std::chrono::seconds(30) + run.length);
  EXPECT_EQ(of_host("host-0-0"), kNotYet);
}

TEST_F(Judging, ALowerLimitTakesLonger) {
  run.ber_limit = 1e-15;
  sweeps(61);
  const AcceptanceCheck bits = check(AcceptanceKind::kBitErrors);
  EXPECT_EQ(bits.verdict, kNotYet);
  EXPECT_NE(bits.source.find("asked for"), std::string::npos);
  EXPECT_EQ(report().verdict, kNotYet);
}

TEST_F(Judging, SymbolErrorsFailWithTheirPort) {
  sweeps(30);
  const PortIndex port = fabric.port_towards("leaf-1", "spine-0");
  fabric.add_counter(port, CounterId::kSymbolErrors, 12);
  sweeps(31);
  const AcceptanceCheck failed = only_failure();
  EXPECT_EQ(failed.kind, AcceptanceKind::kBitErrors);
  EXPECT_EQ(failed.failed, 1U);
  EXPECT_TRUE(names(failed, label(port)));
  EXPECT_NE(failed.ports.front().told.find("12 errors in 30 min: at least "), std::string::npos)
      << failed.ports.front().told;
}

TEST_F(Judging, OneErrorMustBeOutweighed) {
  sweeps(2);
  fabric.add_counter(fabric.port_towards("leaf-1", "spine-0"), CounterId::kSymbolErrors, 1);
  sweeps(59);
  EXPECT_EQ(check(AcceptanceKind::kBitErrors).verdict, kNotYet) << "one in 3.6e14 bits may be above 1e-14 or below";
  sweeps(40);
  EXPECT_EQ(check(AcceptanceKind::kBitErrors).verdict, kPass) << "upper(1) = 4.74 takes 4.74e14 bits";
}

TEST_F(Judging, EachCounterOfErrorsFailsWithItsPort) {
  const PortIndex port = fabric.port_of("host-2-1 mlx5_0", 1);
  for (const CounterId id : kAcceptanceCounters) {
    if (id == CounterId::kSymbolErrors) continue;
    watches.clear();
    sweeps(30);
    fabric.add_counter(port, id, 1);
    sweeps(31);
    const AcceptanceCheck failed = only_failure();
    EXPECT_EQ(failed.kind, AcceptanceKind::kErrors);
    EXPECT_TRUE(names(failed, label(port)));
    EXPECT_NE(failed.ports.front().told.find(counter_info(id).name), std::string::npos) << failed.ports.front().told;
    EXPECT_EQ(failed.ports.front().host, "host-2-1");
    EXPECT_EQ(of_host("host-2-1"), kFail);
    EXPECT_EQ(of_host("host-2-0"), kPass);
  }
}

TEST_F(Judging, ALinkThatIsDownFails) {
  sweeps(61);
  const PortIndex port = fabric.port_of("host-0-1 mlx5_0", 1);
  fabric.unlink(port);
  sweeps(1);
  const AcceptanceCheck presence = check(AcceptanceKind::kPresence);
  EXPECT_EQ(presence.verdict, kFail);
  EXPECT_TRUE(names(presence, label(port)));
  EXPECT_TRUE(names(check(AcceptanceKind::kCabling), label(port)) ||
              names(check(AcceptanceKind::kCabling), label(fabric.ports()[port].peer)));
}

TEST_F(Judging, ALinkThatWentDownInTheWindowFailsAlsoWhenItIsBack) {
  sweeps(30);
  const PortIndex port = fabric.port_of("host-0-1 mlx5_0", 1);
  fabric.unlink(port);
  sweeps(2);
  fabric.relink(port);
  sweeps(62);
  const AcceptanceCheck failed = only_failure();
  EXPECT_EQ(failed.kind, AcceptanceKind::kPresence);
  EXPECT_TRUE(names(failed, label(port)));
  EXPECT_EQ(failed.ports.front().told, "went down once while it was watched");
  run.id = 0;  // now: it is up, and long enough
  EXPECT_EQ(report().verdict, kPass);
}

TEST_F(Judging, ClearedCountersBeginTheTimeAnew) {
  sweeps(40);
  fabric.add_counter(fabric.port_of("host-0-1 mlx5_0", 1), CounterId::kSymbolErrors, 1);
  sweeps(1);
  fabric.reset_counters(fabric.port_of("host-0-1 mlx5_0", 1));
  sweeps(30);
  const AcceptanceReport now = report();
  EXPECT_EQ(now.verdict, kNotYet);
  const AcceptanceCheck& errors = *now.find(AcceptanceKind::kErrors);
  EXPECT_EQ(errors.unfinished, 1U);
  EXPECT_NE(errors.ports.front().told.find("cleared meanwhile"), std::string::npos) << errors.ports.front().told;
  EXPECT_EQ(errors.judged_at, fabric.now() + std::chrono::seconds(30) * 31);
}

TEST_F(Judging, AMiscabledLinkFailsWithThePlannedPort) {
  const PortIndex a = fabric.port_of("host-0-0 mlx5_0", 1), b = fabric.port_of("host-1-0 mlx5_0", 1);
  const PortIndex a_peer = fabric.ports()[a].peer, b_peer = fabric.ports()[b].peer;
  fabric.connect(a, b_peer);
  fabric.connect(b, a_peer);
  sweeps(61);
  const AcceptanceCheck failed = only_failure();
  EXPECT_EQ(failed.kind, AcceptanceKind::kCabling);
  EXPECT_EQ(failed.failed, 2U);
  EXPECT_NE(failed.ports.front().told.find("the plan has"), std::string::npos) << failed.ports.front().told;
}

TEST_F(Judging, WithoutAPlanTheCablingIsNotMeasured) {
  planned.reset();
  sweeps(61);
  EXPECT_EQ(check(AcceptanceKind::kCabling).verdict, kNotMeasured);
  EXPECT_EQ(report().verdict, kPass);
}

TEST_F(Judging, ANarrowAndASlowLinkFail) {
  const PortIndex port = fabric.port_towards("leaf-2", "spine-1");
  for (const PortIndex end : {port, fabric.ports()[port].peer}) fabric.port(end).width_active = 1;
  sweeps(61);
  const AcceptanceCheck narrow = check(AcceptanceKind::kLinkRate);
  EXPECT_EQ(narrow.failed, 2U);
  EXPECT_TRUE(names(narrow, label(port)));
  EXPECT_EQ(narrow.ports.front().told, "runs at 1X HDR of 4X HDR");
  for (const PortIndex end : {port, fabric.ports()[port].peer}) {
    fabric.port(end).width_active = 2;
    fabric.port(end).speed_active = kSpeedEdr;
  }
  sweeps(1);
  EXPECT_EQ(check(AcceptanceKind::kLinkRate).ports.front().told, "runs at 4X EDR of 4X HDR");
}

TEST_F(Judging, ALinkHeldToFewerLanesFails) {
  const PortIndex port = fabric.port_towards("leaf-2", "spine-1");
  for (const PortIndex end : {port, fabric.ports()[port].peer}) fabric.port(end).width_active = 1;
  fabric.port(port).width_enabled = 1;
  sweeps(61);
  const AcceptanceCheck failed = check(AcceptanceKind::kLinkRate);
  EXPECT_EQ(failed.verdict, kFail);
  EXPECT_NE(failed.ports.front().told.find("enabled widths"), std::string::npos);
}

TEST_F(Judging, ALinkHeldToALowerSpeedFailsWhereOthersOfItsSwitchAreFaster) {
  const PortIndex port = fabric.port_towards("leaf-2", "spine-1");
  for (const PortIndex end : {port, fabric.ports()[port].peer}) {
    fabric.port(end).speed_active = kSpeedEdr;
    fabric.port(end).speed_enabled = kSpeedEdr;
  }
  sweeps(61);
  EXPECT_EQ(check(AcceptanceKind::kLinkRate).ports.front().told.find("runs at 4X EDR of 4X HDR, held back"), 0U);
}

TEST_F(Judging, WhatEndsCanBeyondWhatIsEnabledIsNotAskedForWhereNoLinkRunsSo) {
  // A port for cables of 12 lanes, at a cable of 4.
  for (PortIndex port = 0; port < fabric.ports().size(); ++port) fabric.port(port).width_supported |= 8;
  sweeps(61);
  EXPECT_EQ(check(AcceptanceKind::kLinkRate).verdict, kPass);
}

TEST_F(Judging, PortsWhoseCountersAreNotReadMakeItIncomplete) {
  fabric.freeze_counters(fabric.find("host-1-1 mlx5_0"));
  sweeps(61);
  const AcceptanceReport now = report();
  EXPECT_EQ(now.verdict, kIncomplete);
  EXPECT_EQ(now.find(AcceptanceKind::kBitErrors)->verdict, kNotMeasured);
  EXPECT_EQ(now.find(AcceptanceKind::kBitErrors)->unmeasured, 1U);
  EXPECT_EQ(of_host("host-1-1"), kIncomplete);
  EXPECT_EQ(of_host("host-1-0"), kPass);
}

TEST_F(Judging, AFabricThatIsNotWatchedIsIncomplete) {
  EXPECT_EQ(report().verdict, kIncomplete) << "never swept";
  sweeps(61);
  watching = false;
  EXPECT_EQ(report().verdict, kIncomplete);
  EXPECT_EQ(of_host("host-1-0"), kIncomplete);
}

TEST_F(Judging, NothingReadForLongIsNoPass) {
  sweeps(61);
  fabric.advance(std::chrono::minutes(5));
  EXPECT_EQ(report().verdict, kIncomplete);
}

TEST_F(Judging, AHostIsJudgedAloneWithBothEndsOfItsCables) {
  fabric.add_counter(fabric.port_of("host-0-0 mlx5_0", 1), CounterId::kReceiveErrors, 0);
  sweeps(30);
  fabric.add_counter(fabric.ports()[fabric.port_of("host-1-0 mlx5_0", 1)].peer, CounterId::kReceiveErrors, 4);
  sweeps(31);
  run.targets = {{AcceptanceTargetKind::kHost, "host-1-0"}};
  EXPECT_EQ(report().ports, 2U);
  EXPECT_EQ(report().verdict, kFail) << "the errors are counted at the switch";
  run.targets = {{AcceptanceTargetKind::kHost, "host-1-1.example.org"}};
  EXPECT_EQ(report().verdict, kPass);
  run.targets = {{AcceptanceTargetKind::kLink, "x", fabric.key_of(fabric.port_of("host-1-0 mlx5_0", 1))}};
  EXPECT_EQ(report().verdict, kFail);
  run.targets = {{AcceptanceTargetKind::kSwitch, "leaf-2", {fabric.nodes()[fabric.find("leaf-2")].guid, {}}}};
  EXPECT_EQ(report().verdict, kPass);
  EXPECT_EQ(report().ports, 8U);
}

TEST_F(Judging, AHostThatIsNotThereFails) {
  sweeps(61);
  run.targets = {{AcceptanceTargetKind::kHost, "host-1-0"}, {AcceptanceTargetKind::kHost, "host-9-9"}};
  const AcceptanceCheck failed = only_failure();
  EXPECT_EQ(failed.kind, AcceptanceKind::kPresence);
  EXPECT_TRUE(names(failed, "host-9-9"));
  EXPECT_EQ(of_host("host-9-9"), kFail);
  EXPECT_EQ(of_host("host-1-0"), kPass);
}

TEST_F(Judging, AnOpenIncidentFailsAndOneOfElsewhereDoesNot) {
  sweeps(61);
  auto incident = std::make_shared<Incident>();
  incident->id = 3;
  incident->finding.kind = IncidentKind::kSilentLoss;
  const PortKey key = fabric.key_of(fabric.port_of("host-1-0 mlx5_0", 1));
  incident->finding.cause = {EntityKind::kPort, fabric.name(), key, {}, "host-1-0 port 1"};
  incident->finding.summary = "packets are lost";
  incidents = {incident};
  const AcceptanceCheck failed = only_failure();
  EXPECT_EQ(failed.kind, AcceptanceKind::kIncidents);
  EXPECT_TRUE(names(failed, "host-1-0 port 1"));
  EXPECT_EQ(of_host("host-1-0"), kFail);
  run.targets = {{AcceptanceTargetKind::kHost, "host-2-0"}};
  EXPECT_EQ(report().verdict, kPass);
}

TEST_F(Judging, AnIncidentOfTheWindowCountsWhenItIsOver) {
  sweeps(61);
  auto incident = std::make_shared<Incident>();
  incident->id = 3;
  incident->finding.kind = IncidentKind::kSilentLoss;
  incident->finding.cause = {
      EntityKind::kPort, fabric.name(), fabric.key_of(fabric.port_of("host-1-0 mlx5_0", 1)), {}, "host-1-0 port 1"};
  incident->state = IncidentState::kResolved;
  incident->worst_severity = Severity::kWarning;
  incident->opened = run.watched_since + std::chrono::minutes(1);
  incident->resolved = incident->opened + std::chrono::minutes(1);
  incidents = {incident};
  EXPECT_EQ(check(AcceptanceKind::kIncidents).verdict, kFail);
  run.id = 0;
  EXPECT_EQ(check(AcceptanceKind::kIncidents).verdict, kPass);
}

TEST_F(Judging, UplinksThatDoNotShareTheLoadFail) {
  const PortIndex idle = fabric.port_towards("leaf-0", "spine-1");
  for (int i = 0; i < 61; ++i) {
    fabric.load(fabric.port_towards("leaf-0", "spine-0"), 0.6, 0);
    for (const char* leaf : {"leaf-1", "leaf-2"})
      for (const char* spine : {"spine-0", "spine-1"}) fabric.load(fabric.port_towards(leaf, spine), 0.4, 0);
    sweeps(1);
  }
  const AcceptanceCheck balance = check(AcceptanceKind::kBalance);
  EXPECT_EQ(balance.verdict, kFail);
  EXPECT_EQ(balance.failed, 1U) << "twice the mean is not above it";
  EXPECT_TRUE(names(balance, label(idle)));
  EXPECT_EQ(balance.passed, 2U);
}

}  // namespace
}  // namespace weft::analyzer
