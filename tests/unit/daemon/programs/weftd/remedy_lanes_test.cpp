// SPDX-License-Identifier: Apache-2.0
// Orders on the lanes of actuators: which goes first, which is held up by none, and which is not sent at all.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/daemon/programs/weftd/remedy_fixture.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

using RemedyLanesTest = RemedyControllerTest;

TEST_F(RemedyLanesTest, APlanIsChangingSomethingUntilItIsInForce) {
  start_with_plan(RemedyMode::kAuto);
  settle_until_read();
  EXPECT_TRUE(controller->is_changing());
  settle();
  ASSERT_EQ(journal.plan(1).state, PlanState::kVerifying);
  EXPECT_FALSE(controller->is_changing());
}

TEST_F(RemedyLanesTest, AnAbortWhileTheOrderIsWrittenStopsIt) {
  start_with_plan(RemedyMode::kAuto);
  settle_until_read();
  journal.hold(true);
  while (run_one_posted()) {
  }
  journal.wait_until_held();
  controller->abort(1, "wrong link", "ann", note_plan());
  journal.hold(false);
  drain(*store_lane);
  ASSERT_EQ(journal.plan(1).intent, PlanIntent::kApply) << "the order was on its way to the disk";
  settle();
  ASSERT_EQ(plans.size(), 1U);
  ASSERT_TRUE(plans[0]) << plans[0].error().message;
  EXPECT_EQ(world.actions(), 0);
  EXPECT_EQ(journal.plan(1).state, PlanState::kRejected) << journal.plan(1).outcome;
}

TEST_F(RemedyLanesTest, WhateverManyAskOfTheAuditTrailAWriteIsNotRefused) {
  start_with_plan(RemedyMode::kPropose);
  settle();
  std::mutex answers_mutex;
  std::vector<std::size_t> answered;
  std::size_t refused = 0;
  journal.hold(true);
  controller->approve(1, 0, "ann", note_plan());
  journal.wait_until_held();
  for (std::size_t i = 0; i < 300; ++i)
    controller->audit(0, 10, [&, i](const Result<std::vector<AuditRecord>>& records) {
      const std::lock_guard lock(answers_mutex);
      if (records) answered.push_back(i);
      refused += !records && records.error().code == ErrorCode::kResourceExhausted;
    });
  EXPECT_LE(store_lane->figures().queue.depth, 1U) << "a write waits behind one question at most";
  EXPECT_EQ(refused, 300 - 1 - AuditReads::kMostWaiting);
  journal.hold(false);
  settle();
  EXPECT_EQ(store_lane->figures().queue.refused, 0U);
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_TRUE(plans[0]) << plans[0].error().message;
  const std::lock_guard lock(answers_mutex);
  EXPECT_EQ(answered.size(), 1 + AuditReads::kMostWaiting) << "the others were answered";
  EXPECT_TRUE(std::ranges::is_sorted(answered)) << "in turn";
}

TEST_F(RemedyLanesTest, ARollBackGoesBeforeWhatWaits) {
  RemedyMemory restored;
  for (const std::uint64_t id : {1, 2, 3, 4}) {
    Plan& plan = restored.plans.emplace_back();
    plan.id = id;
    plan.state = id == 4 ? PlanState::kRollingBack : PlanState::kCommitted;
    plan.target = link("leaf-" + std::to_string(id - 1), "spine-0");
    plan.actuator = "fake";
    plan.in_force = true;
    plan.finished = id == 4 ? kNever : clock.time;
    world.set(plan.target, TargetState::kOurs);
  }
  restored.ids = 5;
  settings.modes.fill(RemedyMode::kOff);
  start(restored);
  BlockedLane busy(actuate_lane());
  look();
  run_without_actuators();
  busy.let_go();
  settle();
  const auto asked = world.asked();
  ASSERT_GE(asked.size(), 4U);
  EXPECT_EQ(asked[0].order.plan, 4U);
  EXPECT_TRUE(asked[0].order.undo);
}

TEST_F(RemedyLanesTest, AnActuatorThatHangsDoesNotHoldUpTheOthers) {
  RemedyMemory restored;
  Plan& plan = restored.plans.emplace_back();
  plan.id = 1;
  plan.state = PlanState::kCommitted;
  plan.target = link("leaf-1", "spine-1");
  plan.actuator = "slow";
  plan.in_force = true;
  plan.finished = clock.time;
  restored.ids = 2;
  settings.modes.fill(RemedyMode::kAuto);
  settings.limits.budget.cool_down = {};
  world.set(plan.target, TargetState::kOurs);
  world.hold("slow");
  start(restored);
  open_incident("leaf-0", "spine-0");
  look();
  const auto began = std::chrono::steady_clock::now();
  while (journal.plan(2).state != PlanState::kVerifying) {
    drain(*store_lane);
    drain(actuate_lane());
    run_one_posted();
    ASSERT_LT(std::chrono::steady_clock::now() - began, 60s) << "PLAN-2 waits for the actuator of PLAN-1";
  }
  EXPECT_EQ(world.actions(), 1);
  world.hold("");
}

}  // namespace
}  // namespace weft::daemon
