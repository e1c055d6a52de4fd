// SPDX-License-Identifier: Apache-2.0
// Jobs that are silent and do not hang.
#include <gtest/gtest.h>

#include "analyzer/hangs/job_hangs.hpp"
#include "tests/unit/analyzer/hangs/job_hosts.hpp"

namespace weft::analyzer {
namespace {

using Kinds = std::vector<std::string>;

/// Of less patience, for less to be computed: half a minute, and three without a suspect.
struct QuickHosts : JobHosts {
  explicit QuickHosts(unsigned count = 6) : JobHosts(count, 1) {
    thresholds.hang.silence = std::chrono::seconds(30);
    thresholds.hang.silence_without_suspect = std::chrono::minutes(3);
    begin();
  }
};

TEST(QuietJobs, OneThatNeverUsedTheFabricDoesNotHang) {
  QuickHosts world;
  world.move(false);
  world.seconds(240, world.retrying(3, 0));
  EXPECT_EQ(world.told(), 0U) << describe_incidents(world.book);
}

TEST(QuietJobs, ASilenceWithoutASuspectIsInfoAfterLong) {
  QuickHosts world;
  world.seconds(60);
  world.move(false);
  // A peer that goes away makes a burst of timeouts, and that is all.
  world.hosts[2].ports[0].counters["ack_timeout"] += 800;
  world.seconds(170);
  EXPECT_EQ(world.told(), 0U) << describe_incidents(world.book);
  world.seconds(20);
  const Incident incident = only_incident(world.book);
  EXPECT_EQ(incident.finding.kind, IncidentKind::kJobHang);
  EXPECT_EQ(incident.finding.severity, Severity::kInfo);
  EXPECT_EQ(incident.finding.summary, "Job slurm:7 may hang: its 6 hosts move no data; no port of them is suspect");
  world.move(true);
  world.seconds(10);
  EXPECT_TRUE(world.open_kinds().empty());
}

TEST(QuietJobs, OneThatIsSilentAgainAndAgainHasTime) {
  QuickHosts world;
  for (unsigned checkpoint = 0; checkpoint < 3; ++checkpoint) {
    world.move(true);
    world.seconds(40);
    world.move(false);
    world.seconds(50);
  }
  world.hosts[0].ports[0].counters["ack_timeout"] += 10;
  world.seconds(180);
  EXPECT_EQ(world.told(), 0U) << describe_incidents(world.book);
  world.seconds(40);
  EXPECT_EQ(world.open_kinds(), Kinds{"JOB_HANG"});
}

TEST(QuietJobs, AllAtOnceDoNotHang) {
  QuickHosts world(8);
  for (unsigned host = 4; host < 8; ++host) world.hosts[host].jobs = {"slurm:8"};
  world.seconds(60);
  world.move(false);
  world.seconds(400);
  EXPECT_EQ(world.told(), 0U) << describe_incidents(world.book);
}

TEST(QuietJobs, OneThatEndsDoesNotHang) {
  QuickHosts world;
  world.seconds(60);
  world.move(false);
  world.seconds(25, world.retrying(3, 0));
  world.hosts[5].jobs.clear();
  world.seconds(60, world.retrying(3, 0));
  for (JobHosts::Host& host : world.hosts) host.jobs.clear();
  world.seconds(200);
  EXPECT_EQ(world.told(), 0U) << describe_incidents(world.book);
}

TEST(QuietJobs, ItIsOverWhenTheJobIsGone) {
  QuickHosts world;
  world.seconds(60);
  world.move(false);
  world.seconds(45, world.retrying(3, 0));
  EXPECT_EQ(world.open_kinds(), Kinds{"JOB_HANG"});
  for (JobHosts::Host& host : world.hosts) host.jobs.clear();
  world.seconds(10);
  EXPECT_TRUE(world.open_kinds().empty());
}

TEST(QuietJobs, OneHostThatMovesIsEnough) {
  QuickHosts world;
  world.seconds(60);
  world.move(false);
  world.hosts[0].moves = true;
  world.seconds(120, world.retrying(3, 0));
  EXPECT_EQ(world.told(), 0U) << describe_incidents(world.book);
}

TEST(QuietJobs, BytesThatAreNotReadAreNotZero) {
  QuickHosts world;
  world.seconds(60);
  for (JobHosts::Host& host : world.hosts) host.has_bytes = false;
  world.seconds(120, world.retrying(3, 0));
  EXPECT_EQ(world.told(), 0U) << describe_incidents(world.book);
}

TEST(QuietJobs, NothingIsToldWhereItIsTurnedOff) {
  QuickHosts world;
  world.thresholds.hang.enabled = false;
  world.begin();
  world.seconds(60);
  world.move(false);
  world.seconds(240, world.retrying(3, 0));
  EXPECT_EQ(world.told(), 0U) << describe_incidents(world.book);
}

TEST(QuietJobs, AreNotSilentForTheTimeThatAClockWasSetForward) {
  JobHosts world;
  world.seconds(120);
  world.now += std::chrono::hours(1);
  world.seconds(30);
  EXPECT_EQ(world.told(), 0U) << describe_incidents(world.book);
  world.move(false);
  world.seconds(60);
  world.now += std::chrono::hours(1);
  world.seconds(30, world.retrying(3, 1));
  EXPECT_EQ(world.told(), 0U) << describe_incidents(world.book);
  world.seconds(60, world.retrying(3, 1));
  EXPECT_EQ(world.open_kinds(), std::vector<std::string>{"JOB_HANG"}) << "it is silent for two minutes";
}

}  // namespace
}  // namespace weft::analyzer
