// SPDX-License-Identifier: Apache-2.0
// A host that is down, and one that only lost its link.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/analyzer/host_watching.hpp"
#include "tests/unit/analyzer/watch.hpp"

namespace weft::analyzer {
namespace {

/// A subnet and the collector of one of its hosts, which has one link.
struct HostOutagesTest : testing::Test {
  explicit HostOutagesTest(unsigned collectors = 1)
      : watch(fakes::FabricBuilder::fat_tree(2, 3, 2)), hosts(collectors) {
    port = watch.fabric.port_of("host-1-0 mlx5_0", 1);
    watch.fabric.sweep();
    hosts.port().port_guid = watch.fabric.port(port).guid;
    seconds(10);
  }
  /// Sweeps of which the last one's kinds are left.
  std::vector<IncidentKind> seconds(unsigned count) {
    std::vector<IncidentKind> kinds;
    for (unsigned i = 0; i < count; ++i) {
      hosts.seconds(1);
      watch.sweeps(1);
      findings = watch.analysis.findings;
      hosts.analyzer.complete(watch.fabric.name(), findings, hosts.now);
      view.name = watch.fabric.name();
      view.watching = true;
      view.sweep = std::make_shared<const Sweep>(watch.last_sweep);
      hosts.analyzer.join({&view, 1});
    }
    for (const Finding& finding : findings) kinds.push_back(finding.kind);
    return kinds;
  }
  void unplug() {
    watch.fabric.unlink(watch.fabric.ports()[port].peer);
    watch.fabric.silence(watch.fabric.find("host-1-0 mlx5_0"));
  }
  Watch watch;
  HostWatching hosts;
  FabricView view;
  std::vector<Finding> findings;
  PortIndex port;
};

TEST_F(HostOutagesTest, OneWithoutPowerIsNodeDownAtTheFirstWord) {
  unplug();
  hosts.silent[0] = 1;
  EXPECT_EQ(seconds(1), Kinds{});
  EXPECT_EQ(seconds(1), Kinds{});
  ASSERT_EQ(seconds(1), Kinds{IncidentKind::kNodeDown});
  EXPECT_EQ(findings[0].cause.kind, EntityKind::kNode);
  EXPECT_EQ(findings[0].cause.label, "node-0");
  EXPECT_EQ(findings[0].severity, Severity::kCritical);
  EXPECT_EQ(findings[0].jobs, std::vector<std::string>{"slurm:0"});
  ASSERT_EQ(findings[0].affected.size(), 1U);
  EXPECT_EQ(findings[0].affected[0].kind, EntityKind::kLink);
  seconds(30);
  EXPECT_TRUE(hosts.book.all()->empty()) << "that its collector is silent is part of it";
}

TEST_F(HostOutagesTest, OneThatOnlyLostItsLinkIsLinkDownWhenItsCollectorSpeaks) {
  unplug();
  EXPECT_EQ(seconds(1), Kinds{});
  EXPECT_EQ(seconds(1), Kinds{IncidentKind::kLinkDown});
  EXPECT_EQ(seconds(20), Kinds{IncidentKind::kLinkDown});
}

TEST_F(HostOutagesTest, OneThatSaysSoItselfIsLinkDownAtOnce) {
  hosts.set_up(false);
  unplug();
  EXPECT_EQ(seconds(1), Kinds{IncidentKind::kLinkDown});
}

TEST_F(HostOutagesTest, ACollectorThatWasSilentBeforeTellsNothing) {
  hosts.silent[0] = 1;
  seconds(20);
  unplug();
  EXPECT_EQ(seconds(1), Kinds{IncidentKind::kLinkDown});
  EXPECT_EQ(seconds(10), Kinds{IncidentKind::kLinkDown});
}

TEST_F(HostOutagesTest, OneThatDiesAfterItsLinkIsOneIncident) {
  unplug();
  ASSERT_EQ(seconds(2), Kinds{IncidentKind::kLinkDown});
  hosts.silent[0] = 1;
  EXPECT_EQ(seconds(3), Kinds{IncidentKind::kLinkDown}) << "a report may be lost";
  EXPECT_EQ(seconds(2), Kinds{IncidentKind::kNodeDown});
  seconds(30);
  EXPECT_TRUE(hosts.book.all()->empty());
}

TEST_F(HostOutagesTest, OneThatSpeaksIsNotDownBecauseTheClockLeapt) {
  unplug();
  ASSERT_EQ(seconds(20), Kinds{IncidentKind::kLinkDown});
  hosts.now += std::chrono::seconds(10);
  watch.sweeps(1);  // before the host's next report
  findings = watch.analysis.findings;
  hosts.analyzer.complete(watch.fabric.name(), findings, hosts.now);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, IncidentKind::kLinkDown);
}

TEST_F(HostOutagesTest, OneThatComesBackStaysTheSameUntilItsLinkIsUpOrTheSubnetManagerHadItsTime) {
  unplug();
  hosts.silent[0] = 1;
  ASSERT_EQ(seconds(5), Kinds{IncidentKind::kNodeDown});
  hosts.silent[0] = 0;
  EXPECT_EQ(seconds(50), Kinds{IncidentKind::kNodeDown});
  EXPECT_NE(findings[0].summary.find("is coming back"), std::string::npos) << findings[0].summary;
  EXPECT_EQ(seconds(20), Kinds{IncidentKind::kLinkDown});
}

TEST_F(HostOutagesTest, OneThatIsDownStaysSoWhenTheClockIsSetBack) {
  unplug();
  hosts.silent[0] = 1;
  ASSERT_EQ(seconds(40), Kinds{IncidentKind::kNodeDown});
  hosts.now -= std::chrono::hours(1);
  watch.fabric.advance(-std::chrono::hours(1));
  for (int i = 0; i < 120; ++i) ASSERT_EQ(seconds(1), Kinds{IncidentKind::kNodeDown}) << i;
  EXPECT_TRUE(hosts.book.all()->empty());
}

TEST_F(HostOutagesTest, SilenceIsToldAgainSoonAfterTheClockWasSetBack) {
  seconds(400);
  unplug();
  hosts.silent[0] = 1;
  ASSERT_EQ(seconds(40), Kinds{IncidentKind::kNodeDown});
  hosts.now -= std::chrono::minutes(5);
  watch.fabric.advance(-std::chrono::minutes(5));
  watch.fabric.relink(watch.fabric.ports()[port].peer);
  watch.fabric.silence(watch.fabric.find("host-1-0 mlx5_0"), false);
  seconds(120);
  EXPECT_EQ(hosts.kinds(), Kinds{IncidentKind::kTelemetryLost}) << "its link is up, its collector is silent";
}

TEST_F(HostOutagesTest, OneThatIsDownStaysSoOverARestart) {
  unplug();
  hosts.silent[0] = 1;
  ASSERT_EQ(seconds(40), Kinds{IncidentKind::kNodeDown});
  IncidentManager book(IncidentPolicy{}, {}, 1);
  const std::vector<Incident> open = book.update(watch.fabric.name(), findings, Coverage::blind(), hosts.now);
  ASSERT_EQ(open.size(), 1U);
  watch.restart();
  hosts.analyzer = HostAnalyzer(Thresholds{}, hosts.now);
  hosts.analyzer.remember(open[0]);
  hosts.analyzer.expect("node-0", hosts.now - std::chrono::seconds(40));
  for (int i = 0; i < 120; ++i) ASSERT_EQ(seconds(1), Kinds{IncidentKind::kNodeDown}) << i;
  EXPECT_TRUE(hosts.book.all()->empty()) << "that its collector is silent is part of it";
  hosts.silent[0] = 0;
  EXPECT_EQ(seconds(50), Kinds{IncidentKind::kNodeDown});
  EXPECT_NE(findings[0].summary.find("is coming back"), std::string::npos) << findings[0].summary;
  EXPECT_EQ(seconds(20), Kinds{IncidentKind::kLinkDown});
}

TEST_F(HostOutagesTest, OneThatWasUpAgainAfterARestartIsJudgedAnew) {
  unplug();
  hosts.silent[0] = 1;
  ASSERT_EQ(seconds(40), Kinds{IncidentKind::kNodeDown});
  IncidentManager book(IncidentPolicy{}, {}, 1);
  const std::vector<Incident> open = book.update(watch.fabric.name(), findings, Coverage::blind(), hosts.now);
  watch.restart();
  hosts.analyzer = HostAnalyzer(Thresholds{}, hosts.now);
  hosts.analyzer.remember(open.at(0));
  hosts.analyzer.expect("node-0", hosts.now - std::chrono::seconds(40));
  hosts.silent[0] = 0;
  watch.fabric.relink(watch.fabric.ports()[port].peer);
  watch.fabric.silence(watch.fabric.find("host-1-0 mlx5_0"), false);
  EXPECT_EQ(seconds(90), Kinds{});
  unplug();
  EXPECT_EQ(seconds(5), Kinds{IncidentKind::kLinkDown});
}

/// One more collector, of a host elsewhere.
struct IdleHostTest : HostOutagesTest {
  IdleHostTest() : HostOutagesTest(2) {}
  bool is_said_idle() const {
    const std::vector<Evidence>& evidence = findings[0].evidence;
    return std::ranges::find(evidence, "no_job", &Evidence::signal) != evidence.end();
  }
};

TEST_F(IdleHostTest, ThatNoJobRunsThereIsEvidence) {
  hosts.jobs = {"", "slurm:1"};
  seconds(1);
  unplug();
  ASSERT_EQ(seconds(3), Kinds{IncidentKind::kLinkDown});
  EXPECT_TRUE(is_said_idle());
  hosts.silent[0] = 1;
  ASSERT_EQ(seconds(10), Kinds{IncidentKind::kNodeDown});
  EXPECT_TRUE(is_said_idle());
  ASSERT_EQ(seconds(60), Kinds{IncidentKind::kNodeDown});
  EXPECT_FALSE(is_said_idle()) << "that was a minute ago";
}

TEST_F(IdleHostTest, OneWithAJobIsNotIdle) {
  unplug();
  ASSERT_EQ(seconds(3), Kinds{IncidentKind::kLinkDown});
  EXPECT_FALSE(is_said_idle());
}

TEST_F(IdleHostTest, WhereNobodyNamesJobsNobodyKnows) {
  hosts.jobs = {"", ""};
  seconds(1);
  unplug();
  ASSERT_EQ(seconds(3), Kinds{IncidentKind::kLinkDown});
  EXPECT_FALSE(is_said_idle());
}

}  // namespace
}  // namespace weft::analyzer
