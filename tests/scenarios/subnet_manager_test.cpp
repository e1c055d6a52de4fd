// SPDX-License-Identifier: Apache-2.0
// A slow subnet manager: when links become active, which reads fail meanwhile, and what sweeps show of it.
#include "tests/scenarios/subnet_manager.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/scenarios/simulator.hpp"

namespace weft::scenarios {
namespace {

using Step = SubnetManager::Step;

TEST(SubnetManager, WithoutASweepHasNothingToDo) {
  SubnetManager manager({}, 1, 10);
  manager.notice(5);
  EXPECT_FALSE(manager.is_slow());
  EXPECT_TRUE(std::isinf(manager.next()));
}

TEST(SubnetManager, TakesASweepForAChangeAndAnotherForWhatChangesMeanwhile) {
  SubnetManager manager({.sweep = 10, .lost_traps = 0}, 1, 10);
  manager.notice(5);
  EXPECT_NEAR(manager.next(), 5, 0.1) << "the trap arrives";
  EXPECT_EQ(manager.step(), Step::kBegin);
  manager.notice(6);
  EXPECT_EQ(manager.step(), Step::kProgram);
  const double done = manager.next();
  EXPECT_GE(done, 5 + 8);
  EXPECT_LE(done, 5.1 + 12.5);
  EXPECT_EQ(manager.step(), Step::kDone);
  EXPECT_NEAR(manager.next(), done, 0.1) << "what changed at 6 may have been missed";
  for (const Step step : {Step::kBegin, Step::kProgram, Step::kDone}) EXPECT_EQ(manager.step(), step);
  EXPECT_TRUE(std::isinf(manager.next()));
}

TEST(SubnetManager, FindsAChangeWithoutATrapInItsPeriodicSweep) {
  SubnetManager manager({.sweep = 3, .lost_traps = 1}, 1, 10);
  manager.notice(12);
  EXPECT_DOUBLE_EQ(manager.next(), 20);
}

TEST(SubnetManager, LosesReadsOnlyWhileItPrograms) {
  SubnetManager manager({.sweep = 10, .lost_traps = 0, .failing_reads = 1}, 1, 100);
  manager.notice(0);
  manager.step();
  const double program = manager.next();
  manager.step();
  const double done = manager.next();
  const auto failing = [&](double at) {
    unsigned nodes = 0;
    for (NodeIndex node = 0; node < 100; ++node) nodes += manager.reads_fail(node, at);
    return nodes;
  };
  EXPECT_EQ(failing(program - 0.01), 0U);
  EXPECT_GT(failing((program + done) / 2), 10U);
  EXPECT_EQ(failing(done), 0U);
}

TEST(SubnetManager, DoesNothingWhileItIsStoppedAndEverythingAfterwards) {
  SubnetManager manager({.sweep = 4, .lost_traps = 0}, 1, 10);
  manager.stop();
  manager.notice(3);
  EXPECT_TRUE(std::isinf(manager.next()));
  manager.start(20);
  EXPECT_EQ(manager.next(), 20);
  EXPECT_EQ(manager.step(), Step::kBegin);
}

/// A leaf that is off from 5 s to 9 s, and what sweeps show of it.
struct ReturningSwitch : testing::Test {
  ReturningSwitch() : plan(*lay_out({.levels = 2, .hosts = 64, .hosts_per_leaf = 8, .uplinks = 8})) {
    scenario.fabric = plan.spec;
    scenario.noisy = false;
    scenario.duration = 60;
    scenario.assumptions.manager = {.sweep = 10, .lost_traps = 0};
    scenario.faults = {{.kind = FaultKind::kSwitchDown, .node = plan.leaves[3], .start = 5, .end = 9}};
  }
  /// In the last sweep: its ports in that state.
  std::ptrdiff_t ports(const Sweep& sweep, PortState state) const {
    const Node& leaf = sweep.topology->node(plan.leaves[3]);
    return std::ranges::count(sweep.topology->ports_of(leaf).subspan(1), state, &Port::state);
  }
  Plan plan;
  Scenario scenario;
};

TEST_F(ReturningSwitch, StandsInInitializeUntilTheSubnetManagerIsThrough) {
  Simulator simulator(scenario, plan);
  Tick tick;
  while (tick.at < 14) ASSERT_TRUE(simulator.next(tick));
  const PortIndex port = plan.port(plan.leaves[3], 1);
  EXPECT_EQ(ports(*tick.sweep, PortState::kInitialize), 16);
  EXPECT_GE(tick.sweep->state_read_at[port], tick.sweep->started) << "directed routes pass links in Initialize";
  EXPECT_LT(tick.sweep->counters->read_at(port), tick.sweep->started) << "it has no LID yet";
  while (tick.at < 9 + scenario.assumptions.manager.settling() + 12) ASSERT_TRUE(simulator.next(tick));
  EXPECT_EQ(ports(*tick.sweep, PortState::kActive), 16);
  EXPECT_GE(tick.sweep->counters->read_at(port), tick.sweep->started);
}

TEST_F(ReturningSwitch, LosesReadsOfOthersWhileTablesChange) {
  Simulator simulator(scenario, plan);
  std::size_t failed = 0;
  const PortIndex elsewhere = plan.port(plan.spines[2], 1);
  for (Tick tick; simulator.next(tick);)
    for (const NodeIndex node : plan.spines) {
      const PortIndex port = plan.port(node, 1);
      failed += tick.sweep->counters->read_at(port) < tick.sweep->started;
      EXPECT_GE(tick.sweep->state_read_at[port], tick.sweep->started) << "its states are read all the same";
    }
  EXPECT_GT(failed, 0U);
  scenario.assumptions.manager = {};
  Simulator fast(scenario, plan);
  for (Tick tick; fast.next(tick);)
    EXPECT_GE(tick.sweep->counters->read_at(elsewhere), tick.sweep->started) << "but not with a fast one";
}

TEST_F(ReturningSwitch, WaitsWhileThereIsNoSubnetManager) {
  scenario.faults.push_back(
      {.kind = FaultKind::kManagerFailover, .port = plan.endpoint_port(40), .start = 7, .end = 30});
  Simulator simulator(scenario, plan);
  Tick tick;
  while (tick.at < 29) ASSERT_TRUE(simulator.next(tick));
  EXPECT_EQ(ports(*tick.sweep, PortState::kInitialize), 16);
  EXPECT_EQ(tick.sweep->subnet_manager, tick.sweep->local_port);
  while (tick.at < 58) ASSERT_TRUE(simulator.next(tick));
  EXPECT_EQ(ports(*tick.sweep, PortState::kActive), 16);
  EXPECT_EQ(tick.sweep->subnet_manager, plan.key_of(plan.endpoint_port(40)));
}

}  // namespace
}  // namespace weft::scenarios
