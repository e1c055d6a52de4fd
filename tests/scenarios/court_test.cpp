// SPDX-License-Identifier: Apache-2.0
// What the first alarm of a truth must say, what is said twice, and what nobody planted.
#include "tests/scenarios/court.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/scenarios/report.hpp"

namespace weft::scenarios {
namespace {

struct Court : testing::Test {
  Court() : plan(*lay_out({.levels = 2, .hosts = 64, .hosts_per_leaf = 8, .uplinks = 8})) {
    scenario.fabric = plan.spec;
    scenario.noisy = false;
    scenario.duration = 60;
  }
  Place link_at(PortIndex port) const {
    const LinkKey key = plan.link_of(port);
    return {EntityKind::kLink, key.low, key.high};
  }
  Place node(NodeIndex index) const { return {EntityKind::kNode, {plan.nodes[index].guid, {}}, {}}; }
  static Alarm alarm(double at, IncidentKind kind, Place cause) {
    return {.at = at, .sweep = static_cast<unsigned>(at), .kind = kind, .cause = cause, .severity = Severity::kWarning};
  }
  Outcome judged(std::vector<Alarm> alarms) {
    scenario.truths = truths_of(scenario, plan);
    Simulator simulator(scenario, plan);
    std::vector<double> begun;
    for (Tick tick; simulator.next(tick);) begun.push_back(tick.at);
    Outcome outcome{.group = "judged", .alarms = std::move(alarms)};
    weigh(scenario, plan, simulator, begun, outcome);
    return outcome;
  }

  Plan plan;
  Scenario scenario;
};

struct DeadLink : Court {
  DeadLink() : port(plan.port(plan.leaves[2], 9)) {
    scenario.faults = {{.kind = FaultKind::kLinkDown, .port = port, .start = 20, .end = 40}};
  }
  PortIndex port;
};

TEST_F(DeadLink, IsFoundWhenTheFirstAlarmSaysAllThatIsRight) {
  const Outcome outcome = judged({alarm(21, IncidentKind::kLinkDown, link_at(port))});
  ASSERT_EQ(outcome.verdicts.size(), 1U);
  EXPECT_TRUE(outcome.verdicts[0].joint);
  EXPECT_FALSE(outcome.verdicts[0].wrong_blame);
  EXPECT_EQ(outcome.verdicts[0].alarms, 1U);
}

TEST_F(DeadLink, IsBlamedOnWhatIsHealthyWhenThatIsNamedFirst) {
  const Outcome outcome = judged(
      {alarm(21, IncidentKind::kSilentLoss, node(plan.spines[5])), alarm(22, IncidentKind::kLinkDown, link_at(port))});
  EXPECT_TRUE(outcome.verdicts[0].found) << "later";
  EXPECT_FALSE(outcome.verdicts[0].joint);
  EXPECT_TRUE(outcome.verdicts[0].wrong_blame);
}

TEST_F(DeadLink, IsNotFoundUnderAnotherNameAtFirst) {
  const Outcome outcome =
      judged({alarm(21, IncidentKind::kLinkErrors, link_at(port)), alarm(24, IncidentKind::kLinkDown, link_at(port))});
  EXPECT_TRUE(outcome.verdicts[0].right_kind) << "later";
  EXPECT_FALSE(outcome.verdicts[0].joint);
  EXPECT_FALSE(outcome.verdicts[0].wrong_blame) << "the culprit was named";
}

TEST_F(DeadLink, IsToldOnce) {
  const Outcome outcome =
      judged({alarm(21, IncidentKind::kLinkDown, link_at(port)), alarm(33, IncidentKind::kLinkDown, link_at(port))});
  EXPECT_FALSE(outcome.alarms[0].repeated);
  EXPECT_TRUE(outcome.alarms[1].repeated);
  const Row row = summarise({outcome}, "1-1").all;
  EXPECT_EQ(row.false_alarms, 0U) << "the columns of old do not count it";
  EXPECT_EQ(row.strict.part, 1U);
  EXPECT_EQ(row.strict.whole, 2U);
  EXPECT_DOUBLE_EQ(row.alarms_per_truth(), 2);
}

TEST_F(DeadLink, IsNoExcuseForAnAlarmLongAfterwards) {
  const Outcome outcome = judged({alarm(55, IncidentKind::kLinkDown, link_at(port))});
  EXPECT_FALSE(outcome.verdicts[0].found);
  EXPECT_EQ(summarise({outcome}, "1-1").all.false_alarms, 1U);
}

TEST_F(DeadLink, DoesNotMakeAnotherTruthsAlarmWrongBlame) {
  const PortIndex other = plan.port(plan.leaves[5], 12);
  scenario.faults.push_back({.kind = FaultKind::kLinkDown, .port = other, .start = 20, .end = 40});
  const Outcome outcome =
      judged({alarm(21, IncidentKind::kLinkDown, link_at(other)), alarm(22, IncidentKind::kLinkDown, link_at(port))});
  for (const Verdict& verdict : outcome.verdicts) {
    EXPECT_TRUE(verdict.joint);
    EXPECT_FALSE(verdict.wrong_blame);
  }
}

struct DeadHost : Court {
  DeadHost() { scenario.faults = {{.kind = FaultKind::kHostDown, .node = plan.adapters[17], .start = 20, .end = 40}}; }
};

TEST_F(DeadHost, WantsTheNameOfTheHost) {
  const Outcome of_link = judged({alarm(21, IncidentKind::kLinkDown, link_at(plan.endpoint_port(17)))});
  EXPECT_TRUE(of_link.verdicts[0].culprit_first) << "the columns of old take it";
  EXPECT_FALSE(of_link.verdicts[0].joint);
  EXPECT_FALSE(of_link.verdicts[0].wrong_blame) << "the link is down indeed";
  const Outcome of_host = judged({alarm(21, IncidentKind::kNodeDown, node(plan.adapters[17]))});
  EXPECT_TRUE(of_host.verdicts[0].joint);
  EXPECT_TRUE(of_host.alarms[0].justified);
}

TEST_F(DeadHost, TakesItsOwnCollectorAndNoOther) {
  Alarm silent = alarm(25, IncidentKind::kTelemetryLost, {EntityKind::kCollector, {}, {}});
  silent.host = "node-0017";
  EXPECT_TRUE(judged({silent}).verdicts[0].joint);
  silent.host = "node-0018";
  EXPECT_FALSE(judged({silent}).verdicts[0].joint);
  EXPECT_TRUE(judged({silent}).verdicts[0].wrong_blame);
}

TEST_F(Court, ARetrainingMayBeMentionedAndNoMore) {
  const PortIndex port = plan.port(plan.leaves[2], 9);
  scenario.faults = {{.kind = FaultKind::kRetraining, .port = port, .start = 20, .end = 21}};
  Alarm mention = alarm(22, IncidentKind::kLinkFlap, link_at(port));
  EXPECT_EQ(summarise({judged({mention})}, "1-1").all.false_alarms, 1U) << "a WARNING";
  mention.severity = Severity::kInfo;
  const Outcome outcome = judged({mention});
  EXPECT_EQ(summarise({outcome}, "1-1").all.false_alarms, 0U);
  EXPECT_TRUE(outcome.verdicts.empty()) << "nor need it be";
}

TEST_F(Court, CongestionThatNobodyPlantedMustBeFoundWhenItLasts) {
  scenario.jobs = {{.kind = JobKind::kSteady, .members = {8, 16, 24, 32}, .targets = {5}, .load = 0.9, .start = 10}};
  const Outcome missed = judged({});
  ASSERT_EQ(missed.unplanted.size(), 1U);
  EXPECT_FALSE(missed.unplanted[0].found);
  Row row = summarise({missed}, "1-1").all;
  EXPECT_EQ(row.joint.part, 0U);
  EXPECT_EQ(row.joint.whole, 1U);
  const Alarm named = alarm(20, IncidentKind::kCongestionIncast, link_at(plan.access_port(5)));
  EXPECT_EQ(summarise({judged({named})}, "1-1").all.joint.part, 1U);
  const Alarm elsewhere = alarm(20, IncidentKind::kCongestionIncast, link_at(plan.access_port(6)));
  row = summarise({judged({elsewhere})}, "1-1").all;
  EXPECT_EQ(row.joint.part, 0U);
  EXPECT_EQ(row.false_alarms, 1U);
  scenario.jobs[0].end = 14;
  EXPECT_TRUE(judged({}).unplanted.empty()) << "four seconds are a burst";
}

TEST_F(Court, CongestionBetweenSwitchesThatNobodyReadsIsHidden) {
  scenario.fabric.layer = LinkLayer::kEthernet;
  plan = *lay_out(scenario.fabric);
  // Eight flows of one leaf to hosts behind one other leaf: hashes put some of them together.
  scenario.jobs = {{.kind = JobKind::kSteady,
                    .members = {8, 9, 10, 11, 12, 13, 14, 15},
                    .targets = {32, 33, 34, 35, 36, 37, 38, 39},
                    .load = 0.9,
                    .start = 10}};
  const Outcome unread = judged({});
  EXPECT_TRUE(unread.unplanted.empty());
  EXPECT_GT(unread.without_effect, 0U);
  scenario.switch_collectors = true;
  const Outcome read = judged({});
  EXPECT_EQ(read.unplanted.size(), unread.without_effect);
  EXPECT_EQ(read.without_effect, 0U);
}

TEST_F(Court, PlantedCongestionIsNotCountedTwice) {
  scenario.faults = {
      {.kind = FaultKind::kIncast, .port = plan.access_port(5), .endpoints = {8, 16, 24, 32}, .start = 10, .end = 50}};
  const Outcome outcome = judged({alarm(15, IncidentKind::kCongestionIncast, link_at(plan.access_port(5)))});
  EXPECT_TRUE(outcome.unplanted.empty());
  ASSERT_EQ(outcome.verdicts.size(), 1U);
  EXPECT_TRUE(outcome.verdicts[0].joint);
}

TEST_F(DeadLink, StandsInTheTableBesideWhatWasBefore) {
  const Outcome found = judged({alarm(21, IncidentKind::kLinkDown, link_at(port))});
  const Outcome missed = judged({});
  const std::string before = to_json(summarise({missed}, "1-1"), {missed});
  const Report now = summarise({found}, "1-1");
  const auto table = markdown(now, before);
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_NE(table->find("| judged | 1 | 0.000 | 1.000 ("), std::string::npos) << *table;
  EXPECT_EQ(std::ranges::count(*table, '|') % std::ranges::count(*table, '\n'), 0) << "all rows have all columns";
  EXPECT_TRUE(markdown(now, ""));
  EXPECT_FALSE(markdown(now, "[]"));
  EXPECT_FALSE(markdown(now, "nonsense"));
}

}  // namespace
}  // namespace weft::scenarios
