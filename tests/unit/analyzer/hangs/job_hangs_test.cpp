// SPDX-License-Identifier: Apache-2.0
#include "analyzer/hangs/job_hangs.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/analyzer/hangs/job_hosts.hpp"

namespace weft::analyzer {
namespace {

using Kinds = std::vector<std::string>;

const Evidence* evidence_of(const Incident& incident, std::string_view signal) {
  const auto found = std::ranges::find(incident.finding.evidence, signal, &Evidence::signal);
  return found == incident.finding.evidence.end() ? nullptr : &*found;
}

TEST(JobHangs, NamesThePortThatGoesOnRetrying) {
  JobHosts world;
  world.seconds(120);
  world.move(false);
  world.seconds(110, world.retrying(3, 1));
  EXPECT_TRUE(world.open_kinds().empty()) << describe_incidents(world.book);
  world.seconds(20, world.retrying(3, 1));
  const Incident incident = only_incident(world.book);
  EXPECT_EQ(incident.finding.kind, IncidentKind::kJobHang);
  EXPECT_EQ(incident.finding.severity, Severity::kCritical);
  EXPECT_EQ(incident.finding.cause.identity(), "host_port::gpu-3:mlx5_1:1");
  EXPECT_EQ(incident.finding.jobs, Kinds{"slurm:7"});
  EXPECT_EQ(incident.finding.summary,
            "Job slurm:7 hangs: its 6 hosts move no data, and gpu-3 mlx5_1 port 1 goes on retrying without an answer");
  ASSERT_TRUE(evidence_of(incident, "retries"));
  EXPECT_GE(evidence_of(incident, "retries")->value, 25);
  ASSERT_TRUE(evidence_of(incident, kHangSignal));
  EXPECT_GE(evidence_of(incident, kHangSignal)->value, 120);
  EXPECT_EQ(evidence_of(incident, kHangSignal)->threshold, 120);
  world.seconds(200);
  EXPECT_EQ(world.open_kinds(), Kinds{"JOB_HANG"}) << "its retries are used up, and it hangs all the same";
  world.move(true);
  world.seconds(10);
  EXPECT_TRUE(world.open_kinds().empty());
  EXPECT_EQ(world.told(), 1U);
}

TEST(JobHangs, AHostThatHasNoPartInItDoesNotKeepItAlive) {
  JobHosts world;
  world.hosts[5].moves = false;
  // Its system moves 2 MB/s all the time.
  const auto chat = [&](unsigned) { world.hosts[5].ports[0].counters["transmit_bytes"] += 2'000'000; };
  world.seconds(120, chat);
  world.move(false);
  world.seconds(130, [&](unsigned i) {
    chat(i);
    world.retrying(3, 1)(i);
  });
  const Incident incident = only_incident(world.book);
  EXPECT_EQ(incident.finding.kind, IncidentKind::kJobHang);
  EXPECT_NE(incident.finding.summary.find("its 5 hosts"), std::string::npos) << incident.finding.summary;
}

TEST(JobHangs, NamesWhoTakesNothing) {
  JobHosts world;
  world.seconds(120);
  world.move(false);
  // All others wait for it, and are told so by it.
  world.seconds(130, [&](unsigned i) {
    if (i % 3 == 0) world.hosts[2].ports[0].counters["out_of_buffer"] += 5;
  });
  const Incident incident = only_incident(world.book);
  EXPECT_EQ(incident.finding.kind, IncidentKind::kJobHang);
  EXPECT_EQ(incident.finding.cause.identity(), "host_port::gpu-2:mlx5_0:1");
}

TEST(JobHangs, BelongsToTheLinkThatIsDown) {
  JobHosts world;
  world.seconds(120);
  world.hosts[3].ports[1].up = false;
  world.seconds(3);
  world.move(false);
  world.seconds(100);
  Incident incident = only_incident(world.book);
  EXPECT_EQ(incident.finding.kind, IncidentKind::kLinkDown);
  const std::string before = incident.finding.summary;
  // Its peers retry, which is the same.
  world.seconds(30, world.retrying(2, 1));
  incident = only_incident(world.book);
  EXPECT_EQ(incident.finding.kind, IncidentKind::kLinkDown);
  EXPECT_EQ(incident.finding.summary, before + "; job slurm:7 hangs");
  EXPECT_EQ(incident.finding.severity, Severity::kCritical);
  EXPECT_TRUE(evidence_of(incident, kHangSignal));
  EXPECT_EQ(world.told(), 1U);
  // The link comes back, and the job does not go on.
  world.hosts[3].ports[1].up = true;
  world.seconds(60);
  EXPECT_TRUE(world.open_kinds().empty());
  world.seconds(60);
  incident = only_incident(world.book);
  EXPECT_EQ(incident.finding.kind, IncidentKind::kJobHang);
  EXPECT_EQ(incident.finding.cause.identity(), "host_port::gpu-3:mlx5_1:1");
  EXPECT_NE(incident.finding.summary.find("since LINK_DOWN of gpu-3 mlx5_1 port 1, which is over"), std::string::npos)
      << incident.finding.summary;
}

TEST(JobHangs, ALinkThatIsDownForLongIsNoReason) {
  JobHosts world;
  world.seconds(60);
  world.hosts[3].ports[1].up = false;  // the job goes on over the others
  world.seconds(200);
  world.move(false);
  world.seconds(150);
  EXPECT_EQ(world.open_kinds(), Kinds{"LINK_DOWN"});
  EXPECT_FALSE(evidence_of(only_incident(world.book), kHangSignal));
}

TEST(JobHangs, KeepsRdmaErrorsWhileTheirJobStandsStill) {
  JobHosts world;
  world.seconds(120);
  ++world.hosts[1].ports[0].counters["retries_exhausted"];
  world.seconds(2);
  world.move(false);
  world.seconds(200);
  const Incident incident = only_incident(world.book);
  EXPECT_EQ(incident.finding.kind, IncidentKind::kRdmaErrors);
  EXPECT_EQ(incident.finding.severity, Severity::kCritical);
  EXPECT_NE(incident.finding.summary.find("; job slurm:7 hangs"), std::string::npos) << incident.finding.summary;
  EXPECT_EQ(world.told(), 1U);
  EXPECT_EQ(incident.occurrences, 1U) << "it was not over in between";
  world.move(true);
  world.seconds(90);
  EXPECT_TRUE(world.open_kinds().empty());
}

TEST(JobHangs, RdmaErrorsOfAJobThatGoesOnEndAsEver) {
  JobHosts world;
  world.seconds(120);
  ++world.hosts[1].ports[0].counters["retries_exhausted"];
  world.seconds(90);
  EXPECT_TRUE(world.open_kinds().empty()) << describe_incidents(world.book);
}

TEST(JobHangs, WhatFailsAfterItWasToldIsPartOfIt) {
  JobHosts world;
  world.seconds(120);
  world.move(false);
  world.seconds(130, world.retrying(3, 1));
  EXPECT_EQ(world.open_kinds(), Kinds{"JOB_HANG"});
  ++world.hosts[3].ports[1].counters["retries_exhausted"];
  world.seconds(80);  // evidence is brought up to date once a minute
  const Incident incident = only_incident(world.book);
  EXPECT_EQ(incident.finding.kind, IncidentKind::kJobHang);
  EXPECT_TRUE(evidence_of(incident, "retries_exhausted"));
  EXPECT_EQ(world.told(), 1U);
}

TEST(JobHangs, BelongsToTheAdapterThatIsDegraded) {
  JobHosts world;
  world.seconds(60);
  world.hosts[3].pcie = "32x4";
  world.seconds(400);
  EXPECT_EQ(world.open_kinds(), (Kinds{"HOST_DEGRADED", "HOST_DEGRADED"}));
  world.move(false);
  world.seconds(130, world.retrying(3, 1));
  EXPECT_EQ(world.open_kinds(), (Kinds{"HOST_DEGRADED", "HOST_DEGRADED"}));
  const std::vector<Incident> open = open_incidents(world.book);
  EXPECT_EQ(std::ranges::count_if(open, [](const Incident& one) { return evidence_of(one, kHangSignal) != nullptr; }),
            1);
}

TEST(JobHangs, WhereMostRetryNobodyIsBlamed) {
  JobHosts world;
  world.seconds(120);
  world.move(false);
  world.seconds(130, [&](unsigned i) {
    for (unsigned host = 0; host < 5; ++host) world.retrying(host, 0)(i);
  });
  const Incident incident = only_incident(world.book);
  EXPECT_EQ(incident.finding.kind, IncidentKind::kJobHang);
  EXPECT_EQ(incident.finding.severity, Severity::kWarning);
  EXPECT_EQ(incident.finding.cause.kind, EntityKind::kCohort);
  EXPECT_EQ(incident.finding.affected.size(), 5U);
}

TEST(JobHangs, GoesOnWhileACollectorIsSilentAndOverARestart) {
  JobHosts world;
  world.seconds(120);
  world.move(false);
  world.seconds(130, world.retrying(3, 1));
  const Incident before = only_incident(world.book);
  for (const unsigned host : {0U, 1U, 2U, 4U}) world.hosts[host].silent = true;
  world.seconds(60);
  const std::vector<Incident> open = open_incidents(world.book);
  EXPECT_TRUE(std::ranges::any_of(open, [&](const Incident& one) { return one.id == before.id; }));
  for (JobHosts::Host& host : world.hosts) host.silent = false;
  world.begin();
  world.seconds(60);
  Incident after = only_incident(world.book);
  EXPECT_EQ(after.id, before.id);
  EXPECT_EQ(after.occurrences, 1U);
  EXPECT_EQ(after.finding.cause.identity(), before.finding.cause.identity());
  world.move(true);
  world.seconds(10);
  EXPECT_TRUE(world.open_kinds().empty());
}

}  // namespace
}  // namespace weft::analyzer
