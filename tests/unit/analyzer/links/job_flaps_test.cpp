// SPDX-License-Identifier: Apache-2.0
// One flap beneath a running job.
#include <gtest/gtest.h>

#include "analyzer/links/job_flaps.hpp"
#include "tests/unit/analyzer/host_watching.hpp"
#include "tests/unit/analyzer/watch.hpp"

namespace weft::analyzer {
namespace {

constexpr unsigned kCarrierDown = 0;
constexpr unsigned kRetriesExhausted = 2;

bool says(const Incident& incident, std::string_view words) {
  return incident.finding.summary.find(words) != std::string::npos;
}

/// Hosts of which the first two run one job together and the last one none.
struct JobFlapsTest : testing::Test {
  JobFlapsTest() : watching(3) {
    watching.jobs = {"slurm:77", "slurm:77", ""};
    watching.seconds(30);
  }
  /// So short that no reading sees the port down.
  void flap(unsigned host) { ++watching.values[host][kCarrierDown]; }
  HostWatching watching;
};

TEST_F(JobFlapsTest, IsAnInfoAtOnceAndEndsByItself) {
  flap(0);
  watching.seconds(3);
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkFlap});
  const Incident told = watching.open().front();
  EXPECT_EQ(told.finding.severity, Severity::kInfo);
  EXPECT_EQ(told.finding.summary,
            "Link at node-0 mlx5_0 port 1 (eth0) went down and came back; it may have hurt job slurm:77");
  EXPECT_EQ(told.finding.jobs, std::vector<std::string>{"slurm:77"});
  watching.seconds(310);
  EXPECT_TRUE(watching.open().empty());
  EXPECT_EQ(watching.book.all()->size(), 1U);
}

TEST_F(JobFlapsTest, IsAWarningWhenTransfersOfTheJobFail) {
  flap(0);
  watching.seconds(20);
  ++watching.values[1][kRetriesExhausted];
  watching.seconds(3);
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkFlap}) << "the failed transfers are part of it";
  EXPECT_EQ(watching.open().front().finding.severity, Severity::kWarning);
  EXPECT_TRUE(says(watching.open().front(), "it may have hurt job slurm:77: transfers failed"));
  watching.seconds(120);
  EXPECT_EQ(watching.open().front().finding.severity, Severity::kWarning) << "while it is told";
}

TEST_F(JobFlapsTest, IsNotToBlameForWhatFailsMinutesLater) {
  flap(0);
  watching.seconds(100);
  ++watching.values[1][kRetriesExhausted];
  watching.seconds(3);
  EXPECT_EQ(watching.kinds(), (Kinds{IncidentKind::kLinkFlap, IncidentKind::kRdmaErrors}));
  EXPECT_EQ(watching.open().front().finding.severity, Severity::kInfo);
}

TEST_F(JobFlapsTest, WithoutAJobIsNotWorthAWordNorOfAJobThatBeginsLater) {
  flap(2);
  watching.seconds(20);
  watching.jobs[2] = "slurm:78";
  watching.seconds(20);
  EXPECT_TRUE(watching.book.all()->empty());
}

TEST_F(JobFlapsTest, ThatWasToldAsAnOutageIsNotToldAgain) {
  watching.event(false, 0);
  watching.set_up(false, 0);
  watching.seconds(2);
  watching.event(true, 0);
  watching.set_up(true, 0);
  watching.seconds(60);
  ASSERT_EQ(watching.book.all()->size(), 1U);
  EXPECT_EQ(watching.book.all()->front()->finding.kind, IncidentKind::kLinkDown);
}

TEST_F(JobFlapsTest, TheThirdOneIsAFlappingLinkUnderTheSameIncident) {
  for (unsigned i = 0; i < 3; ++i) {
    flap(0);
    watching.seconds(10);
  }
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkFlap});
  EXPECT_EQ(watching.open().front().finding.severity, Severity::kWarning);
  EXPECT_TRUE(says(watching.open().front(), "is flapping"));
  EXPECT_EQ(watching.book.all()->size(), 1U);
}

/// A subnet whose hosts run jobs as `jobs` says.
struct SweptJobFlaps : testing::Test {
  SweptJobFlaps() : watch(fakes::FabricBuilder::fat_tree(2, 3, 4)), flaps(Thresholds{}) {
    leaf = watch.fabric.port_towards("leaf-1", "host-1-0 mlx5_0");
    watch.sweeps(3);
  }
  /// What is left of the findings of one sweep more.
  std::vector<Finding> sweep() {
    watch.sweeps(1);
    std::vector<Finding> findings = watch.analysis.findings;
    for (Finding& finding : findings) finding.jobs = {"slurm:77"};
    flaps.apply(findings, watch.fabric.name(), true, watch.fabric.now());
    return findings;
  }
  void flap(PortIndex port) {
    watch.fabric.add_counter(port, CounterId::kLinkDowned, 1);
    watch.fabric.add_counter(watch.fabric.ports()[port].peer, CounterId::kLinkDowned, 1);
  }
  Watch watch;
  JobFlaps flaps;
  PortIndex leaf;
};

TEST_F(SweptJobFlaps, ShorterThanASweepIsToldOfAnAdaptersLink) {
  flap(leaf);
  sweep();
  const std::vector<Finding> findings = sweep();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, IncidentKind::kLinkFlap);
  EXPECT_EQ(findings[0].severity, Severity::kInfo);
  EXPECT_EQ(findings[0].cause.port, watch.fabric.link_of(leaf).low);
}

TEST_F(SweptJobFlaps, StaysToldWhileItWaitsForTheSubnetManagerAfterAnother) {
  flap(leaf);
  sweep();
  sweep();
  flap(leaf);
  const auto become = [&](PortState state) {
    for (const PortIndex port : {leaf, watch.fabric.ports()[leaf].peer}) watch.fabric.port(port).state = state;
  };
  become(PortState::kInitialize);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(sweep().size(), 1U) << i;
  become(PortState::kActive);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(sweep().size(), 1U) << i;
}

TEST_F(SweptJobFlaps, OfALinkBetweenSwitchesNobodyKnowsWhoSendsOverIt) {
  flap(watch.fabric.port_towards("leaf-1", "spine-0"));
  sweep();
  EXPECT_TRUE(sweep().empty());
}

TEST_F(SweptJobFlaps, ThatLeftALinkNarrowerOrEndedThatIsPartOfIt) {
  const auto retrain = [&](std::uint8_t width) {
    flap(leaf);
    for (const PortIndex port : {leaf, watch.fabric.ports()[leaf].peer}) watch.fabric.port(port).width_active = width;
  };
  const auto only_degraded = [&](unsigned sweeps) {
    for (unsigned i = 0; i < sweeps; ++i)
      for (const Finding& finding : sweep()) EXPECT_EQ(finding.kind, IncidentKind::kLinkDegraded);
  };
  retrain(1);
  only_degraded(30);
  retrain(2);
  only_degraded(30);
}

TEST_F(SweptJobFlaps, IsNotHiddenByATroubleOfLongThatAnotherJudgeTells) {
  std::vector<Finding> slow(1);
  slow[0].kind = IncidentKind::kLinkDegraded;
  slow[0].cause = {EntityKind::kLink, watch.fabric.name(), watch.fabric.link_of(leaf).low,
                   watch.fabric.link_of(leaf).high, ""};
  const auto tell = [&] { flaps.apply(slow, kHostsFabric, true, watch.fabric.now() + std::chrono::milliseconds(500)); };
  for (int i = 0; i < 200; ++i) {
    sweep();
    tell();
  }
  flap(leaf);
  sweep();
  tell();
  EXPECT_EQ(sweep().size(), 1U) << "the link was slow for minutes before";
}

}  // namespace
}  // namespace weft::analyzer
