// SPDX-License-Identifier: Apache-2.0
// Jobs that are silent and do not hang.
#include <gtest/gtest.h>

#include "analyzer/hangs/job_hangs.hpp"
#include "tests/unit/analyzer/hangs/job_hosts.hpp"

namespace weft::analyzer {
namespace {

using Kinds = std::vector<std::string>;
constexpr unsigned kMinute = 60;

TEST(QuietJobs, OneThatNeverUsedTheFabricDoesNotHang) {
  JobHosts world;
  world.move(false);
  world.seconds(30 * kMinute, world.retrying(3, 1));
  EXPECT_EQ(world.told(), 0U) << describe_incidents(world.book);
}

TEST(QuietJobs, ASilenceWithoutASuspectIsInfoAfterLong) {
  JobHosts world;
  world.seconds(120);
  world.move(false);
  // A peer that goes away makes a burst of timeouts, and that is all.
  world.hosts[2].ports[0].counters["ack_timeout"] += 800;
  world.seconds(14 * kMinute);
  EXPECT_EQ(world.told(), 0U) << describe_incidents(world.book);
  world.seconds(2 * kMinute);
  const Incident incident = only_incident(world.book);
  EXPECT_EQ(incident.finding.kind, IncidentKind::kJobHang);
  EXPECT_EQ(incident.finding.severity, Severity::kInfo);
  EXPECT_EQ(incident.finding.summary, "Job slurm:7 may hang: its 6 hosts move no data; no port of them is suspect");
  world.move(true);
  world.seconds(10);
  EXPECT_TRUE(world.open_kinds().empty());
}

TEST(QuietJobs, OneThatIsSilentAgainAndAgainHasTime) {
  JobHosts world;
  for (unsigned checkpoint = 0; checkpoint < 3; ++checkpoint) {
    world.move(true);
    world.seconds(5 * kMinute);
    world.move(false);
    world.seconds(4 * kMinute);
  }
  world.hosts[0].ports[0].counters["ack_timeout"] += 10;
  world.seconds(15 * kMinute);
  EXPECT_EQ(world.told(), 0U) << describe_incidents(world.book);
  world.seconds(3 * kMinute);
  EXPECT_EQ(world.open_kinds(), Kinds{"JOB_HANG"});
}

TEST(QuietJobs, AllAtOnceDoNotHang) {
  JobHosts world(8);
  for (unsigned host = 4; host < 8; ++host) world.hosts[host].jobs = {"slurm:8"};
  world.seconds(120);
  world.move(false);
  world.seconds(60 * kMinute);
  EXPECT_EQ(world.told(), 0U) << describe_incidents(world.book);
}

TEST(QuietJobs, OneThatEndsDoesNotHang) {
  JobHosts world;
  world.seconds(120);
  world.move(false);
  world.seconds(100, world.retrying(3, 1));
  world.hosts[5].jobs.clear();
  world.seconds(100, world.retrying(3, 1));
  for (JobHosts::Host& host : world.hosts) host.jobs.clear();
  world.seconds(20 * kMinute);
  EXPECT_EQ(world.told(), 0U) << describe_incidents(world.book);
}

TEST(QuietJobs, ItIsOverWhenTheJobIsGone) {
  JobHosts world;
  world.seconds(120);
  world.move(false);
  world.seconds(130, world.retrying(3, 1));
  EXPECT_EQ(world.open_kinds(), Kinds{"JOB_HANG"});
  for (JobHosts::Host& host : world.hosts) host.jobs.clear();
  world.seconds(10);
  EXPECT_TRUE(world.open_kinds().empty());
}

TEST(QuietJobs, OneHostThatMovesIsEnough) {
  JobHosts world;
  world.seconds(120);
  world.move(false);
  world.hosts[0].moves = true;
  world.seconds(10 * kMinute, world.retrying(3, 1));
  EXPECT_EQ(world.told(), 0U) << describe_incidents(world.book);
}

TEST(QuietJobs, BytesThatAreNotReadAreNotZero) {
  JobHosts world;
  world.seconds(120);
  for (JobHosts::Host& host : world.hosts) host.has_bytes = false;
  world.seconds(10 * kMinute, world.retrying(3, 1));
  EXPECT_EQ(world.told(), 0U) << describe_incidents(world.book);
}

TEST(QuietJobs, NothingIsToldWhereItIsTurnedOff) {
  JobHosts world;
  world.thresholds.hang.enabled = false;
  world.begin();
  world.seconds(120);
  world.move(false);
  world.seconds(30 * kMinute, world.retrying(3, 1));
  EXPECT_EQ(world.told(), 0U) << describe_incidents(world.book);
}

}  // namespace
}  // namespace weft::analyzer
