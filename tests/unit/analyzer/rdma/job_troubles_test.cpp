// SPDX-License-Identifier: Apache-2.0
// Transfers that fail together are one trouble.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/analyzer/host_watching.hpp"

namespace weft::analyzer {
namespace {

constexpr unsigned kRetriesExhausted = 2;

/// Hosts of which all but the last run one job together.
struct JobTroublesTest : testing::Test {
  JobTroublesTest() : watching(9) {
    watching.jobs.assign(9, "slurm:77");
    watching.jobs.back() = "slurm:78";
    watching.seconds(30);
  }
  void fail(unsigned host) { ++watching.values[host][kRetriesExhausted]; }
  const Evidence* fact(const Incident& incident, std::string_view signal) {
    const auto found = std::ranges::find(incident.finding.evidence, signal, &Evidence::signal);
    return found == incident.finding.evidence.end() ? nullptr : &*found;
  }
  HostWatching watching;
};

TEST_F(JobTroublesTest, AreTheOutagesThatCausedThem) {
  watching.event(false, 0);
  watching.set_up(false, 0);
  watching.seconds(25);
  for (unsigned host = 1; host < 8; ++host) fail(host);
  watching.seconds(45);  // numbers are shown once a minute
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkDown});
  const Incident down = watching.open().front();
  ASSERT_NE(fact(down, "transfers_failed"), nullptr);
  EXPECT_EQ(fact(down, "transfers_failed")->value, 7);
  EXPECT_EQ(watching.book.all()->size(), 1U) << "not even for a moment";
}

TEST_F(JobTroublesTest, OfAnotherJobAreTheirOwn) {
  watching.event(false, 0);
  watching.set_up(false, 0);
  watching.seconds(25);
  fail(8);
  watching.seconds(5);
  EXPECT_EQ(watching.kinds(), (Kinds{IncidentKind::kLinkDown, IncidentKind::kRdmaErrors}));
}

TEST_F(JobTroublesTest, LongAfterAnOutageHaveAnotherCause) {
  watching.event(false, 0);
  watching.set_up(false, 0);
  watching.seconds(600);
  fail(3);
  watching.seconds(5);
  EXPECT_EQ(watching.kinds(), (Kinds{IncidentKind::kLinkDown, IncidentKind::kRdmaErrors}));
}

TEST_F(JobTroublesTest, WithoutAnOutageManyOfOneJobAreOne) {
  for (unsigned host = 0; host < 8; ++host) fail(host);
  watching.seconds(10);
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kRdmaErrors});
  const Incident whole = watching.open().front();
  EXPECT_EQ(whole.finding.cause.kind, EntityKind::kFabric);
  EXPECT_EQ(whole.finding.affected.size(), 8U);
  EXPECT_EQ(whole.finding.jobs, std::vector<std::string>{"slurm:77"});
  EXPECT_NE(whole.finding.summary.find("slurm:77"), std::string::npos) << whole.finding.summary;
  EXPECT_NE(whole.finding.summary.find("retries_exhausted"), std::string::npos) << whole.finding.summary;
  watching.seconds(120);
  EXPECT_TRUE(watching.open().empty());
}

TEST_F(JobTroublesTest, ThoseToldBeforeTheOthersCameBecomePartOfTheWhole) {
  fail(0);
  watching.seconds(3);
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kRdmaErrors});
  for (unsigned host = 1; host < 6; ++host) {
    fail(host);
    watching.seconds(2);
  }
  const auto open = watching.open();
  ASSERT_EQ(open.size(), 1U);
  EXPECT_EQ(open.front().finding.cause.kind, EntityKind::kFabric);
  for (const IncidentPtr& incident : *watching.book.all()) {
    if (incident->is_open()) continue;
    EXPECT_NE(incident->finding.summary.find("now part of"), std::string::npos) << incident->finding.summary;
  }
}

TEST(HostMassAlarms, OfAllJobsAtOnceAreTheSensors) {
  HostWatching watching(20);  // each with a job of its own
  watching.seconds(40);
  for (unsigned host = 0; host < 10; ++host) ++watching.values[host][kRetriesExhausted];
  watching.seconds(10);
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kCounterStuck});
  EXPECT_EQ(watching.open().front().finding.cause.kind, EntityKind::kFabric);
  EXPECT_EQ(watching.open().front().finding.affected.size(), 10U);
  watching.seconds(120);
  EXPECT_TRUE(watching.open().empty());
}

TEST_F(JobTroublesTest, FewAreWhatTheyAre) {
  for (unsigned host = 0; host < 3; ++host) fail(host);
  watching.seconds(10);
  EXPECT_EQ(watching.open().size(), 3U);
  for (const Incident& incident : watching.open()) EXPECT_EQ(incident.finding.cause.kind, EntityKind::kHostPort);
}

TEST_F(JobTroublesTest, OneAfterTheOtherAreWhatTheyAre) {
  // Each fails on, in two readings of ten seconds, while the next ones begin minutes later.
  for (unsigned host = 0; host < 6; ++host)
    for (unsigned i = 0; i < 4; ++i) {
      for (unsigned other = 0; other <= host; ++other) fail(other);
      watching.seconds(25);
    }
  EXPECT_EQ(watching.open().size(), 6U);
}

}  // namespace
}  // namespace weft::analyzer
