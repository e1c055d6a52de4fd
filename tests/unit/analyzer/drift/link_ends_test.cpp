// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "analyzer/incidents/health.hpp"
#include "tests/unit/analyzer/ethernet_watch.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

/// small_plan() with collectors on hosts and on leaf01, at once from when something differs.
struct EndsWatch : EthernetWatch {
  explicit EndsWatch(Duration rollout = 0s) {
    Thresholds thresholds;
    thresholds.config_drift.rollout = rollout;
    host_rules = HostAnalyzer(thresholds, told.now);
    told.add(plan, "leaf01");
    for (const char* name : {"gpu-01", "gpu-02", "gpu-03", "gpu-04"}) set(name, "eth2", "9000");
    for (const char* port : {"swp1", "swp2", "swp51", "swp52"}) set("leaf01", port, "9216");
  }
  void set(const std::string& host, const std::string& interface, const std::string& mtu,
           const std::string& pfc = "3") {
    PortFacts& port = facts[host].try_emplace(interface, PortFacts{interface, 0, {}}).first->second;
    port.facts = {{ConfigFact::kDriver, FactSource::kSysfs, host.starts_with("leaf") ? "mlxsw" : "mlx5"},
                  {ConfigFact::kMtu, FactSource::kSysfs, mtu},
                  {ConfigFact::kPfc, FactSource::kDcb, pfc}};
    FactTable table;
    for (const auto& [name, one] : facts[host]) table.ports.push_back(one);
    told.host(host).set_facts(table);
  }
  std::vector<Incident> drifts() const {
    std::vector<Incident> found = open();
    std::erase_if(found, [](const Incident& one) { return one.finding.kind != IncidentKind::kConfigDrift; });
    return found;
  }
  std::map<std::string, std::map<std::string, PortFacts>> facts;
};

TEST(LinkEnds, ASwitchMayTakeLargerFrames) {
  EndsWatch watch;
  watch.seconds(90);
  EXPECT_TRUE(watch.drifts().empty()) << watch.describe();
}

TEST(LinkEnds, ASmallerMtuOfTheSwitchIsTold) {
  EndsWatch watch;
  watch.seconds(90);
  watch.set("leaf01", "swp2", "1500");
  watch.seconds(10);
  ASSERT_EQ(watch.drifts().size(), 1U) << watch.describe();
  const Finding finding = watch.drifts()[0].finding;
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_EQ(finding.cause.kind, EntityKind::kLink);
  EXPECT_EQ(finding.affected.size(), 2U);
  EXPECT_NE(finding.summary.find("1500"), std::string::npos) << finding.summary;
  EXPECT_NE(finding.summary.find("leaf01 swp2"), std::string::npos) << finding.summary;
  EXPECT_NE(finding.summary.find("gpu-02 eth2"), std::string::npos) << finding.summary;
  EXPECT_EQ(watch.host_rules.drift()->differences.at(0).state, ConfigDriftState::kEndsDiffer);
  watch.set("leaf01", "swp2", "9216");
  watch.seconds(20);
  EXPECT_TRUE(watch.drifts().empty()) << watch.describe();
}

TEST(LinkEnds, PfcShouldBeTheSame) {
  EndsWatch watch;
  watch.set("gpu-01", "eth2", "9000", "none");
  watch.seconds(90);
  ASSERT_EQ(watch.drifts().size(), 1U) << watch.describe();
  EXPECT_NE(watch.drifts()[0].finding.summary.find("priorities with PFC"), std::string::npos);
}

TEST(LinkEnds, ADifferenceThatIsYoungIsShownAlone) {
  EndsWatch watch(1h);
  watch.set("leaf01", "swp2", "1500");
  watch.seconds(90);
  EXPECT_TRUE(watch.drifts().empty());
  // That the ports of the one switch differ among themselves is undecided.
  std::vector<ConfigDriftState> states;
  for (const DriftDifference& one : watch.host_rules.drift()->differences) states.push_back(one.state);
  EXPECT_EQ(states, (std::vector{ConfigDriftState::kTooFew, ConfigDriftState::kRollingOut}));
}

/// One host that differs from all others of its make is one incident, not a second one at its link.
TEST(LinkEnds, WhatTheCohortTellsIsNotToldTwice) {
  EndsWatch watch;
  for (unsigned i = 0; i < 6; ++i) {
    const std::string name = "gpu-1" + std::to_string(i);
    watch.told.hosts.try_emplace(name, name, std::vector<std::string>{"eth2"});
    watch.set(name, "eth2", "9000");
  }
  watch.set("gpu-01", "eth2", "9000", "none");
  watch.seconds(90);
  ASSERT_EQ(watch.drifts().size(), 1U) << watch.describe();
  EXPECT_EQ(watch.drifts()[0].finding.cause.kind, EntityKind::kCohort);
}

/// Another setting is no worse health: no verdict, no advice and no reason is another one.
TEST(LinkEnds, NoHostIsJudgedByIt) {
  EndsWatch watch;
  watch.set("leaf01", "swp2", "1500");
  watch.seconds(90);
  ASSERT_EQ(watch.drifts().size(), 1U);
  FabricView view;
  view.name = "ethernet";
  view.watching = true;
  view.sweep = std::make_shared<const Sweep>(watch.told.last);
  const auto judged = [&](const IncidentList& incidents) {
    return assess(std::vector{view}, watch.told.views(), incidents, {}, watch.told.now);
  };
  const auto with = judged(*watch.book.all());
  const auto without = judged({});
  ASSERT_EQ(with.size(), without.size());
  ASSERT_FALSE(with.empty());
  for (std::size_t i = 0; i < with.size(); ++i) {
    EXPECT_EQ(with[i].verdict, without[i].verdict) << with[i].node;
    EXPECT_EQ(with[i].action, without[i].action) << with[i].node;
    EXPECT_EQ(with[i].reasons.size(), without[i].reasons.size()) << with[i].node;
  }
}

/// Of the other leaf nobody tells: nothing is compared there.
TEST(LinkEnds, WhereOneEndIsNotKnownNothingIsSaid) {
  EndsWatch watch;
  watch.set("gpu-03", "eth2", "100");
  watch.seconds(90);
  EXPECT_TRUE(watch.drifts().empty()) << watch.describe();
}

/// A collector that falls silent takes nothing back.
TEST(LinkEnds, ASilentEndChangesNothing) {
  EndsWatch watch;
  watch.set("leaf01", "swp2", "1500");
  watch.seconds(90);
  ASSERT_EQ(watch.drifts().size(), 1U);
  watch.told.host("gpu-02").view().state = CollectorState::kDisconnected;
  watch.seconds(200);
  EXPECT_EQ(watch.drifts().size(), 1U) << watch.describe();
}

}  // namespace
}  // namespace weft::analyzer
