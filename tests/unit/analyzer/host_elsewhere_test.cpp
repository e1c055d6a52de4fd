// SPDX-License-Identifier: Apache-2.0
// Hosts whose collectors another shard hears.
#include <gtest/gtest.h>

#include "tests/unit/analyzer/host_watching.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

/// The port of the first host goes down, and its collector is not heard any more.
void go_down_and_leave(HostWatching& watching) {
  watching.seconds(60);
  watching.set_up(false);
  watching.seconds(2);
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkDown});
  watching.silent[0] = 1;
}

TEST(HostAnalyzer, WhatAnotherShardSeesToBeOverEndsHere) {
  HostWatching watching(3);
  watching.seconds(60);
  watching.values[0][2] += 1;
  watching.seconds(2);
  watching.event(false, 1);
  watching.set_up(false, 1);
  watching.seconds(2);
  const auto cause_of = [&](IncidentKind kind) {
    for (const Incident& incident : watching.open())
      if (incident.finding.kind == kind) return incident.finding.cause.host;
    return std::string();
  };
  EXPECT_EQ(cause_of(IncidentKind::kRdmaErrors), "node-0");
  EXPECT_EQ(cause_of(IncidentKind::kLinkDown), "node-1");
  watching.silent[0] = watching.silent[1] = 1;
  const auto pass = [&](unsigned count, bool is_up) {
    for (unsigned i = 0; i < count; ++i) {
      watching.analyzer.hear_elsewhere("node-0", "south", {}, watching.now);
      watching.analyzer.hear_elsewhere(
          "node-1", "south",
          {.active = is_up ? std::vector<std::string>{"mlx5_0 1"} : std::vector<std::string>{"mlx5_1 1"}},
          watching.now);
      watching.seconds(1);
    }
  };
  pass(40, false);
  EXPECT_EQ(cause_of(IncidentKind::kRdmaErrors), "node-0") << "they may go on";
  EXPECT_EQ(cause_of(IncidentKind::kLinkDown), "node-1");
  const auto open = watching.open();
  const auto lost = std::ranges::find(open, IncidentKind::kTelemetryLost, incident_kind);
  ASSERT_NE(lost, open.end());
  EXPECT_EQ(lost->finding.summary,
            "No data from the collector of " + lost->finding.cause.host + ", which reports to shard south now");
  pass(40, true);
  EXPECT_EQ(cause_of(IncidentKind::kRdmaErrors), "") << "south counts them, and would tell";
  EXPECT_EQ(cause_of(IncidentKind::kLinkDown), "");
  EXPECT_EQ(watching.open().size(), 2U) << "their silence here is not over";
}

TEST(HostAnalyzer, AnotherShardMayCallADeviceByAnotherName) {
  for (const bool is_up : {true, false}) {
    HostWatching watching;
    watching.port().port_guid = PortGuid{0x77};
    ASSERT_NO_FATAL_FAILURE(go_down_and_leave(watching));
    // The host was installed anew: what was mlx5_0 is ens1 now.
    for (unsigned i = 0; i < 10; ++i) {
      watching.analyzer.hear_elsewhere(
          "node-0", "south",
          {.active = {is_up ? "ens1 1" : "mlx5_0 1"}, .active_guids = {PortGuid{is_up ? 0x77U : 0x78U}}}, watching.now);
      watching.seconds(1);
    }
    EXPECT_EQ(std::ranges::count(watching.kinds(), IncidentKind::kLinkDown), is_up ? 0 : 1);
  }
}

TEST(HostAnalyzer, APortThatAnotherShardReportsDownIsNotReportedTwice) {
  for (const bool is_same : {true, false}) {
    HostWatching watching;
    ASSERT_NO_FATAL_FAILURE(go_down_and_leave(watching));
    for (unsigned i = 0; i < 10; ++i) {
      watching.analyzer.hear_elsewhere("node-0", "south", {.reported_down = {is_same ? "mlx5_0 1" : "mlx5_1 1"}},
                                       watching.now);
      watching.seconds(1);
    }
    EXPECT_EQ(std::ranges::count(watching.kinds(), IncidentKind::kLinkDown), is_same ? 0 : 1);
  }
}

TEST(HostAnalyzer, WhatAnotherShardHeardBeforeItStoppedDoesNotCount) {
  HostWatching watching;
  watching.seconds(60);
  watching.values[0][2] += 1;
  watching.seconds(2);
  watching.silent[0] = 1;
  const auto errors = [&] { return std::ranges::count(watching.kinds(), IncidentKind::kRdmaErrors); };
  const auto quiet = static_cast<unsigned>(seconds(Thresholds{}.rdma_error_quiet));
  const auto pass = [&](unsigned count, bool is_heard) {
    for (unsigned i = 0; i < count; ++i) {
      if (is_heard) watching.analyzer.hear_elsewhere("node-0", "south", {}, watching.now);
      watching.seconds(1);
    }
    return errors();
  };
  EXPECT_EQ(pass(quiet - 10, true), 1);
  EXPECT_EQ(pass(120, false), 1);
  const auto open = watching.open();
  const auto lost = std::ranges::find(open, IncidentKind::kTelemetryLost, incident_kind);
  ASSERT_NE(lost, open.end());
  EXPECT_EQ(lost->finding.summary, "No data from the collector of node-0, which reported to shard south before");
  EXPECT_EQ(pass(quiet - 10, true), 1) << "nobody saw whether they went on meanwhile";
  EXPECT_EQ(pass(20, true), 0);
}

}  // namespace
}  // namespace weft::analyzer
