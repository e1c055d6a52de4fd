// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/link_findings.hpp"

#include <gtest/gtest.h>

#include "analyzer/links/link_trend.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

ReportedLink host_link(const char* device) {
  HostWatch host;
  host.name = "node-0";
  host.jobs = {"slurm:7"};
  PortWatch port;
  port.device = device;
  port.label = std::string("node-0 ") + device;
  return reported_link(host, port, entity_of(host, port));
}

TEST(LinkFindings, ASilentNodeWhoseLinksCarryNothingIsAsGraveForAJobAsThose) {
  Finding lost;
  lost.kind = IncidentKind::kTelemetryLost;
  lost.cause.kind = EntityKind::kNode;
  lost.jobs = {"slurm:7", "slurm:8"};
  weigh_jobs(lost);
  EXPECT_EQ(lost.severity, Severity::kWarning) << "its links carry data all the same";
  lost.affected.push_back(host_link("mlx5_0").cause);
  lost.affected.back().kind = EntityKind::kLink;
  weigh_jobs(lost);
  EXPECT_EQ(lost.severity, Severity::kCritical);
  EXPECT_EQ(lost.summary, "; it hurts job slurm:7 and 1 more");
}

TEST(LinkFindings, ADeviceThatIsGoneIsACriticalOutageOfItsJobs) {
  const Finding down = link_down(host_link("mlx5_0"), {.sight = LinkDown::Sight::kDeviceGone});
  EXPECT_EQ(down.kind, IncidentKind::kLinkDown);
  EXPECT_EQ(down.severity, Severity::kCritical);
  EXPECT_EQ(down.summary, "Link at node-0 mlx5_0 is down: the device is gone");
  EXPECT_EQ(down.jobs, std::vector<std::string>{"slurm:7"});
}

TEST(LinkFindings, WhatSomebodySwitchedOffIsLessThanAnOutage) {
  const Finding down = link_down(host_link("mlx5_0"), {.sight = LinkDown::Sight::kDisabled, .where = "leaf-1 port 3"});
  EXPECT_EQ(down.severity, Severity::kWarning);
  EXPECT_EQ(down.summary, "Link at node-0 mlx5_0 is down: administratively disabled at leaf-1 port 3");
}

TEST(LinkFindings, NodesBehindASilentEndMakeItLessSure) {
  LinkDown down{.sight = LinkDown::Sight::kNoResponse, .where = "leaf-1 port 3"};
  const Finding alone = link_down(host_link("mlx5_0"), down);
  down.behind = 12;
  const Finding many = link_down(host_link("mlx5_0"), down);
  EXPECT_GT(alone.confidence, many.confidence);
  EXPECT_TRUE(many.summary.ends_with("leaf-1 port 3 does not respond, 12 nodes behind it are unreachable"));
}

TEST(LinkFindings, OneLinkHasOneLinkDegradedWithTheGreatestSeverity) {
  std::vector<Finding> findings;
  const auto add = [&](const char* device, Severity severity) {
    Finding finding = link_degraded(host_link(device), severity, 0.8, "runs slower");
    finding.evidence.emplace_back();
    add_degraded(std::move(finding), findings);
  };
  add("mlx5_0", Severity::kInfo);
  add("mlx5_1", Severity::kInfo);
  add("mlx5_0", Severity::kWarning);
  add("mlx5_0", Severity::kInfo);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  EXPECT_EQ(findings[0].evidence.size(), 3U);
  EXPECT_EQ(findings[0].summary, "Link at node-0 mlx5_0 runs slower");
  EXPECT_EQ(findings[1].severity, Severity::kInfo);
}

/// A link at 100 Gb/s with a reading a minute.
struct Ageing : testing::Test {
  /// Each minute correction repairs so many bits of those received.
  void minutes(unsigned count, double ratio) {
    for (unsigned i = 0; i < count; ++i) {
      now += 60s;
      trend.add_repaired(static_cast<std::uint64_t>(100e9 * 60 * ratio));
      trend.take(now, 100e9, 55s, 0, thresholds);
    }
  }

  Thresholds thresholds;
  LinkTrend trend;
  TimePoint now{1'700'000'000s};
};

TEST_F(Ageing, MoreAndMoreRepairsAreWorse) {
  trend.take(now, 100e9, 55s, 0, thresholds);
  minutes(60, 1e-8);
  EXPECT_FALSE(trend.is_worse(thresholds));
  minutes(30, 1e-6);
  EXPECT_TRUE(trend.is_worse(thresholds));
  std::vector<Finding> findings;
  trend.report(host_link("mlx5_0"), {.label = "here", .unit = "symbols"}, thresholds, now, findings);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_TRUE(findings[0].evidence[0].description.starts_with("here received 1e-6 corrected symbols per bit"))
      << findings[0].evidence[0].description;
}

TEST_F(Ageing, AMinuteOfWhichNobodyKnowsIsNoFigure) {
  trend.take(now, 100e9, 55s, 0, thresholds);
  minutes(60, 1e-8);
  for (int i = 0; i < 60; ++i) {
    trend.add_repaired(std::nullopt);
    minutes(1, 1e-3);
  }
  EXPECT_FALSE(trend.is_worse(thresholds));
}

TEST_F(Ageing, AfterMinutesOutItMayBeAnotherCable) {
  trend.take(now, 100e9, 55s, 0, thresholds);
  minutes(60, 1e-8);
  trend.note_down();
  now += kTimeForRepair;
  minutes(60, 1e-6);
  EXPECT_FALSE(trend.is_worse(thresholds));
}

}  // namespace
}  // namespace weft::analyzer
