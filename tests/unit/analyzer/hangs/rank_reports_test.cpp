// SPDX-License-Identifier: Apache-2.0
// What NCCL says of the ranks of a job that hangs.
#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/hangs/job_hangs.hpp"
#include "tests/unit/analyzer/hangs/job_hosts.hpp"

namespace weft::analyzer {
namespace {

struct RankHosts : JobHosts {
  RankHosts() {
    for (unsigned i = 0; i < hosts.size(); ++i)
      hosts[i].addresses = "10.0.0." + std::to_string(i) + ",192.0.2." + std::to_string(i);
    seconds(120);
    move(false);
  }
  void say(const std::string& text, unsigned from = 0, unsigned to = 3) {
    for (unsigned i = from; i < to; ++i) hosts[i].ranks = text;
  }
};

bool has_report(const Incident& incident) {
  return std::ranges::find(incident.finding.evidence, "nccl_ranks", &Evidence::signal) !=
         incident.finding.evidence.end();
}

TEST(RankReports, NameTheHostOfARankThatDoesNotAnswer) {
  RankHosts world;
  world.seconds(70);
  world.say("48 ranks: missing 33 at 10.0.0.4");
  world.seconds(60);
  const Incident incident = only_incident(world.book);
  EXPECT_EQ(incident.finding.kind, IncidentKind::kJobHang);
  EXPECT_EQ(incident.finding.severity, Severity::kCritical);
  EXPECT_EQ(incident.finding.cause.identity(), "host::gpu-4");
  EXPECT_EQ(incident.finding.summary,
            "Job slurm:7 hangs: its 6 hosts move no data, and NCCL says that rank 33 on gpu-4 is missing");
  EXPECT_TRUE(has_report(incident));
  world.say("");
  world.move(true);
  world.seconds(10);
  EXPECT_TRUE(world.open_kinds().empty());
}

TEST(RankReports, AreSurerThanAPortOfAnotherHost) {
  RankHosts world;
  world.say("48 ranks: dead 33 at 10.0.0.4");
  world.seconds(130, world.retrying(1, 0));
  EXPECT_EQ(only_incident(world.book).finding.cause.identity(), "host::gpu-4");
}

TEST(RankReports, OneThatIsBehindMayWaitForAPort) {
  RankHosts world;
  world.say("48 ranks: behind 33 at 10.0.0.4");
  world.seconds(130, world.retrying(1, 0));
  const Incident incident = only_incident(world.book);
  EXPECT_EQ(incident.finding.cause.identity(), "host_port::gpu-1:mlx5_0:1");
  EXPECT_TRUE(has_report(incident));
}

TEST(RankReports, ConfirmAPortOfTheSameHost) {
  RankHosts world;
  world.say("48 ranks: missing 33 at 192.0.2.1");
  world.seconds(130, world.retrying(1, 0));
  const Incident incident = only_incident(world.book);
  EXPECT_EQ(incident.finding.cause.identity(), "host_port::gpu-1:mlx5_0:1");
  EXPECT_GT(incident.finding.confidence, 0.9);
}

TEST(RankReports, AnAddressOfTwoHostsNamesNone) {
  RankHosts world;
  world.hosts[5].addresses = "10.0.0.4";
  world.say("48 ranks: missing 33 at 10.0.0.4");
  world.seconds(130);
  const Incident incident = only_incident(world.book);
  EXPECT_EQ(incident.finding.cause.kind, EntityKind::kCohort);
  EXPECT_NE(incident.finding.summary.find("rank 33 on 10.0.0.4 is missing"), std::string::npos);
}

TEST(RankReports, AHostOfAnotherJobIsNotNamed) {
  RankHosts world;
  world.hosts[5].jobs = {"slurm:8"};
  world.seconds(10);
  world.move(true);
  world.seconds(10);
  world.move(false);
  world.say("48 ranks: missing 33 at 10.0.0.5");
  world.seconds(130);
  EXPECT_EQ(only_incident(world.book).finding.cause.kind, EntityKind::kCohort);
}

TEST(RankReports, WhereHalfOfTheHostsAreMissingNoneIsNamed) {
  RankHosts world;
  world.say("48 ranks: missing 1 at 10.0.0.3, missing 2 at 10.0.0.4, 1 more");
  world.seconds(130);
  const Incident incident = only_incident(world.book);
  EXPECT_EQ(incident.finding.cause.kind, EntityKind::kCohort);
  EXPECT_EQ(incident.finding.severity, Severity::kWarning);
}

TEST(RankReports, AllAnswerIsNoSuspect) {
  RankHosts world;
  world.say("48 ranks: all answer");
  world.seconds(300);
  EXPECT_EQ(world.told(), 0U) << describe_incidents(world.book);
}

}  // namespace
}  // namespace weft::analyzer
