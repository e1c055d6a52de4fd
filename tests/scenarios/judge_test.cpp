// SPDX-License-Identifier: Apache-2.0
// What counts as found, as false and as neither.
#include "tests/scenarios/judge.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/scenarios/report.hpp"

namespace weft::scenarios {
namespace {

struct Judge : testing::Test {
  Judge() {
    scenario.group = "judged";
    scenario.fabric = {.levels = 2, .hosts = 64, .hosts_per_leaf = 8, .uplinks = 8};
    scenario.noisy = false;
    scenario.duration = 40;
    plan = *lay_out(scenario.fabric);
  }
  Row run() {
    scenario.truths = truths_of(scenario, plan);
    return summarise({judge(scenario, plan)}, "1-1").all;
  }
  Scenario scenario;
  Plan plan;
};

TEST_F(Judge, CongestionThatNobodyPlantedAndThatIsRealIsNoFalseAlarm) {
  scenario.jobs = {{.kind = JobKind::kSteady, .members = {8, 16, 24, 32}, .targets = {5}, .load = 0.9}};
  const Row row = run();
  EXPECT_EQ(row.unplanted, 1U);
  EXPECT_EQ(row.false_alarms, 0U);
  EXPECT_EQ(row.precision.whole, 0U) << "nor does it count for precision";
}

TEST_F(Judge, PlantedCongestionThatHoldsUpNobodyIsNoTruth) {
  scenario.faults = {{.kind = FaultKind::kSlowReceiver, .port = plan.access_port(5), .start = 5, .amount = 0.2}};
  const Row idle = run();
  EXPECT_EQ(idle.without_effect, 1U);
  EXPECT_EQ(idle.recall.whole, 0U);
  scenario.jobs = {{.kind = JobKind::kSteady, .members = {8}, .targets = {5}, .load = 0.9}};
  const Row busy = run();
  EXPECT_EQ(busy.without_effect, 0U);
  EXPECT_EQ(busy.recall.part, 1U);
  EXPECT_EQ(busy.kind.part, 1U);
  EXPECT_EQ(busy.unplanted, 0U) << "it is planted";
}

TEST_F(Judge, AllFullLinksOfACollisionAreItsCulprits) {
  // Two hosts of one leaf to hosts of two others: only the links of that leaf can be on both ways.
  const std::uint32_t there[] = {16, 24};
  Fault fault{.kind = FaultKind::kCollision, .port = plan.port(plan.leaves[0], 9), .start = 5};
  for (std::uint32_t i = 0; i < 2; ++i) fault.endpoints.insert(fault.endpoints.end(), {i, there[i]});
  scenario.faults = {fault};
  const std::vector<Truth> truths = truths_of(scenario, plan);
  ASSERT_EQ(truths.size(), 1U);
  const LinkKey link = plan.link_of(fault.port);
  EXPECT_NE(std::ranges::find(truths[0].culprits, Place{EntityKind::kLink, link.low, link.high}),
            truths[0].culprits.end());
  for (const Place& place : truths[0].culprits)
    EXPECT_NE(place.a.node, plan.nodes[plan.adapters[0]].guid) << "what only one of them passes is none";
}

TEST_F(Judge, TheSubnetManagerMayBeNamedWhileItHasWorkAndNotAllDay) {
  scenario.assumptions.manager.sweep = 4;
  const double settling = scenario.assumptions.manager.settling();
  scenario.duration = 10'000;
  const auto retrain = [&](double at) {
    scenario.faults.push_back({.kind = FaultKind::kRetraining,
                               .port = plan.port(plan.leaves[0], static_cast<unsigned>(9 + scenario.faults.size())),
                               .start = at,
                               .end = at + 1});
  };
  retrain(5000);
  retrain(100);
  retrain(110);  // before the manager is done with the one before
  std::vector<Truth> truths = truths_of(scenario, plan);
  std::erase_if(truths, [](const Truth& truth) { return truth.fault != FaultKind::kManagerRestart; });
  ASSERT_EQ(truths.size(), 2U);
  EXPECT_EQ(truths[0].start, 100);
  EXPECT_EQ(truths[0].end, 111 + settling);
  EXPECT_EQ(truths[1].start, 5000);
  EXPECT_EQ(truths[1].end, 5001 + settling);
}

}  // namespace
}  // namespace weft::scenarios
