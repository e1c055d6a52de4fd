// SPDX-License-Identifier: Apache-2.0
// What RemedyController promises: journal before act, answers after the write, and what follows when either fails. How
// plans are judged is tested in tests/unit/analyzer/remedy.

#include "daemon/programs/weftd/remedy_controller.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>

#include "tests/unit/daemon/programs/weftd/remedy_fixture.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

TEST_F(RemedyControllerTest, ReadsTheWorldOnlyAfterThePlanIsOnDisk) {
  settings.modes.fill(RemedyMode::kAuto);
  start();
  open_incident("leaf-0", "spine-0");
  journal.hold(true);
  look();
  journal.wait_until_held();
  while (run_one_posted()) {
  }
  drain(actuate_lane());
  EXPECT_TRUE(world.asked().empty());
  journal.hold(false);
  settle();
  ASSERT_FALSE(world.asked().empty());
  EXPECT_FALSE(world.asked().front().is_action) << "it is read first";
  EXPECT_EQ(world.asked().front().journalled.state, PlanState::kExecuting);
}

TEST_F(RemedyControllerTest, SendsAnActionOnceAndOnlyAfterItsIntentIsOnDisk) {
  start_with_plan(RemedyMode::kAuto);
  settle_until_read();
  journal.hold(true);
  while (run_one_posted()) {
  }
  journal.wait_until_held();
  controller->tick();
  drain(actuate_lane());
  EXPECT_EQ(world.actions(), 0);
  journal.hold(false);
  settle();
  ASSERT_EQ(world.actions(), 1);
  const auto asked = world.asked();
  const auto action = std::ranges::find(asked, true, &FakeWorld::Asked::is_action);
  EXPECT_EQ(action->journalled.intent, PlanIntent::kApply);
  EXPECT_EQ(action->order.action, RemedyAction::kIsolateLink);
  EXPECT_EQ(action->order.incident, 1U);
  EXPECT_TRUE(action->order.sweep) << "ways to the port are worked out from it";
  EXPECT_EQ(journal.plan(1).state, PlanState::kVerifying);
  pass(10s);
  EXPECT_EQ(world.actions(), 1);
}

TEST_F(RemedyControllerTest, SendsNothingWhileTheDiskIsFull) {
  expect_no_action_while([this](bool on) { journal.refuse(on); });
}

TEST_F(RemedyControllerTest, SendsNothingWhileTheStoreThrows) {
  expect_no_action_while([this](bool on) { journal.break_off(on); });
}

TEST_F(RemedyControllerTest, WritesWhatWasRefusedLaterInOrderAndOnce) {
  journal.refuse(true);
  start_with_plan(RemedyMode::kPropose);
  settle();
  pass(3s);
  EXPECT_EQ(journal.plan(1).id, 0U);
  EXPECT_EQ(news, 0);
  controller->set_hands_off(true, "a look at it", "ann", note_status());
  settle();
  journal.refuse(false);
  pass(1s);
  EXPECT_EQ(journal.plan(1).state, PlanState::kProposed);
  EXPECT_TRUE(journal.state().hands_off);
  const auto audit = journal.audit();
  ASSERT_EQ(audit.size(), 2U);
  EXPECT_EQ(audit[0].what, "PROPOSED");
  EXPECT_EQ(audit[1].what, "automation stopped");
}

// Nothing of ours is stored for it.
TEST_F(RemedyControllerTest, TellsWhatOthersTookOutAtOnce) {
  settings.modes.fill(RemedyMode::kPropose);
  start();
  look(), settle();
  const PortIndex end = fabric.port_towards("leaf-0", "spine-0");
  fabric.unlink(end);
  fabric.port(end).physical_state = PortPhysicalState::kDisabled;
  look(), settle();
  EXPECT_EQ(look().remedy.out_by_others, 1U);
  fabric.relink(end);
  look(), settle();
  EXPECT_EQ(look().remedy.out_by_others, 0U);
}

TEST_F(RemedyControllerTest, WithdrawsAnApprovalThatTheDiskRefused) {
  start_with_plan(RemedyMode::kPropose);
  settle();
  journal.refuse(true);
  controller->approve(1, 0, "ann", note_plan());
  settle();
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_EQ(plans[0].error().code, ErrorCode::kResourceExhausted);
  journal.refuse(false);
  pass(2s);
  look();
  settle();
  EXPECT_EQ(journal.plan(1).state, PlanState::kProposed) << "she was told that it is not done";
  EXPECT_EQ(journal.plan(1).approved_by, "");
  EXPECT_TRUE(world.asked().empty());
  controller->approve(1, 0, "ann", note_plan());
  settle();
  ASSERT_EQ(plans.size(), 2U);
  EXPECT_TRUE(plans[1]) << "she may say it again";
  EXPECT_EQ(world.actions(), 1);
}

TEST_F(RemedyControllerTest, EndsAPersonsWishThatTheDiskRefused) {
  settings.modes.fill(RemedyMode::kPropose);
  start();
  look();
  journal.refuse(true);
  controller->request({RemedyAction::kIsolateLink, name_of_link("leaf-1", "spine-1"), "looks bad", "bob"}, note_plan());
  settle();
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_EQ(plans[0].error().code, ErrorCode::kResourceExhausted);
  journal.refuse(false);
  pass(2s);
  EXPECT_EQ(journal.plan(1).state, PlanState::kExpired);
  EXPECT_TRUE(world.asked().empty());
}

TEST_F(RemedyControllerTest, NeverDoesWhatAPersonWasToldIsNotDone) {
  settings.modes.fill(RemedyMode::kPropose);
  start();
  look();
  journal.hold(true);
  controller->request({RemedyAction::kIsolateLink, name_of_link("leaf-1", "spine-1"), "looks bad", "bob"}, note_plan());
  journal.wait_until_held();
  clock.time += 4s;
  controller->tick();
  EXPECT_TRUE(plans.empty());
  clock.time += 2s;
  controller->tick();
  ASSERT_EQ(plans.size(), 1U) << "clients give up after 15 s";
  EXPECT_EQ(plans[0].error().message, "not done because it could not be stored");
  look();
  journal.hold(false);
  settle();
  EXPECT_EQ(world.actions(), 0);
  EXPECT_EQ(journal.plan(1).state, PlanState::kExpired);
  EXPECT_EQ(journal.plan(1).outcome, "not done because it could not be stored");
  EXPECT_EQ(plans.size(), 1U);
}

TEST_F(RemedyControllerTest, WithdrawsAnApprovalThatADiskDoesNotTakeInTime) {
  start_with_plan(RemedyMode::kPropose);
  settle();
  journal.hold(true);
  controller->approve(1, 0, "ann", note_plan());
  journal.wait_until_held();
  clock.time += 6s;
  controller->tick();
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_EQ(plans[0].error().message, "not done because it could not be stored");
  journal.hold(false);
  settle();
  pass(5s);
  EXPECT_EQ(world.actions(), 0);
  EXPECT_EQ(journal.plan(1).state, PlanState::kProposed);
}

TEST_F(RemedyControllerTest, ARejectionHoldsAlsoWhenTheDiskDoesNotTakeIt) {
  start_with_plan(RemedyMode::kPropose);
  settle();
  journal.hold(true);
  controller->reject(1, "no", "ann", note_plan());
  journal.wait_until_held();
  clock.time += 6s;
  controller->tick();
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_EQ(plans[0].error().message,
            "the plan is ended, but that could not be stored yet: after a restart of weftd, end it again");
  journal.hold(false);
  settle();
  EXPECT_EQ(journal.plan(1).state, PlanState::kRejected);
}

TEST_F(RemedyControllerTest, AnswersACommandOnlyAfterItsWrite) {
  start_with_plan(RemedyMode::kPropose);
  settle();
  journal.hold(true);
  Plan on_disk;
  controller->approve(1, 0, "ann", [&](const Result<Plan>& answer) {
    on_disk = journal.plan(1);
    plans.push_back(answer);
  });
  controller->set_hands_off(true, "a look at it", "bob", note_status());
  journal.wait_until_held();
  while (run_one_posted()) {
  }
  EXPECT_TRUE(plans.empty());
  EXPECT_TRUE(statuses.empty());
  EXPECT_TRUE(look().remedy.hands_off) << "it holds before it is on disk, and is shown";
  journal.hold(false);
  settle();
  ASSERT_EQ(plans.size(), 1U);
  ASSERT_TRUE(plans[0]) << plans[0].error().message;
  EXPECT_EQ(on_disk.approved_by, "ann");
  ASSERT_EQ(statuses.size(), 1U);
  EXPECT_TRUE(statuses[0] && statuses[0]->hands_off);
  EXPECT_TRUE(look().remedy.hands_off);
}

TEST_F(RemedyControllerTest, AnswersWhatItRefusesAtOnce) {
  start_with_plan(RemedyMode::kPropose);
  settle();
  journal.hold(true);
  const auto code_of_last = [this] { return plans.back() ? ErrorCode::kInternal : plans.back().error().code; };
  controller->approve(99, 0, "ann", note_plan());
  EXPECT_EQ(code_of_last(), ErrorCode::kNotFound);
  controller->request({RemedyAction::kIsolateLink, "leaf-9:1", "", "ann"}, note_plan());
  EXPECT_EQ(code_of_last(), ErrorCode::kNotFound);
  controller->request({RemedyAction::kIsolateLink, "leaf-0", "", "ann"}, note_plan());
  EXPECT_EQ(code_of_last(), ErrorCode::kInvalidArgument) << "a link is named by one of its ends";
  controller->request({RemedyAction::kIsolateLink, "leaf-9 port 1 - spine-0 port 1", "", "ann"}, note_plan());
  EXPECT_EQ(plans.back().error().message, "no node named 'leaf-9'") << "a link is named by its label as well";
  controller->request({RemedyAction::kDrainNode, "nobody", "", "ann"}, note_plan());
  EXPECT_EQ(code_of_last(), ErrorCode::kNotFound);
  for (const bool dry_run : {false, true}) {
    controller->request({RemedyAction::kDrainNode, "leaf-0", "", "ann", false, dry_run}, note_plan());
    EXPECT_EQ(code_of_last(), ErrorCode::kInvalidArgument) << "a switch runs no jobs";
  }
  controller->reset_breaker("", "ann", note_status());
  ASSERT_EQ(statuses.size(), 1U);
  EXPECT_EQ(statuses[0].error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(plans.size(), 7U);
}

TEST_F(RemedyControllerTest, ShowsPlansThatAreOnDiskAndTellsOfThemOnce) {
  settings.modes.fill(RemedyMode::kPropose);
  start();
  open_incident("leaf-0", "spine-0");
  journal.hold(true);
  EXPECT_TRUE(look().plans->empty());
  journal.wait_until_held();
  EXPECT_TRUE(look().plans->empty());
  journal.hold(false);
  settle();
  EXPECT_EQ(news, 1);
  EXPECT_EQ(shown().size(), 1U);
  settle();
  EXPECT_EQ(news, 1) << "nothing new was written";
}

TEST_F(RemedyControllerTest, HandsOffStopsAPlanBeforeItsAction) {
  start_with_plan(RemedyMode::kAuto);
  settle_until_read();
  controller->set_hands_off(true, "a look at it", "ann", note_status());
  settle();
  pass(3s);
  EXPECT_EQ(world.actions(), 0);
  EXPECT_TRUE(journal.state().hands_off);
  EXPECT_EQ(journal.plan(1).intent, PlanIntent::kNone);
  look();
  controller->set_hands_off(false, "", "ann", note_status());
  settle();
  EXPECT_EQ(world.actions(), 1);
  EXPECT_EQ(statuses.size(), 2U);
}

TEST_F(RemedyControllerTest, ReadsAfterARestartWhatMayHaveBeenSentAndDoesNotSendItAgain) {
  start_with_plan(RemedyMode::kAuto);
  settle([this] { return journal.plan(1).intent == PlanIntent::kApply; });
  ASSERT_EQ(world.actions(), 0) << "killed between the journal and the action";
  crash();
  EXPECT_FALSE(world.asked().empty());
  look();
  settle();
  pass(1min);
  EXPECT_EQ(world.actions(), 0);
  EXPECT_EQ(journal.plan(1).state, PlanState::kRolledBack);
}

TEST_F(RemedyControllerTest, GoesOnAfterARestartWithWhatWasDone) {
  start_with_plan(RemedyMode::kAuto);
  settle([this] { return world.actions() > 0; });
  ASSERT_EQ(journal.plan(1).state, PlanState::kExecuting) << "killed before the answer";
  crash();
  look();
  settle();
  EXPECT_EQ(journal.plan(1).state, PlanState::kVerifying);
  EXPECT_EQ(world.actions(), 1);
}

TEST_F(RemedyControllerTest, ADayWithoutWeftdMakesNothingDue) {
  RemedyMemory memory;
  Plan& plan = memory.plans.emplace_back();
  plan.id = 1;
  plan.incident = 1;
  plan.requested_by = "weftd";
  plan.state = PlanState::kCommitted;
  plan.target = link("leaf-0", "spine-0");
  plan.actuator = "fake";
  plan.started = plan.finished = clock.time - 1h;
  plan.in_force = true;
  memory.ids = 2;
  fabric.unlink(fabric.port_towards("leaf-0", "spine-0"));  // it is out
  start(memory);
  world.set(plan.target, TargetState::kOurs);
  look();
  pass(2min);
  ASSERT_EQ(shown().size(), 1U);
  stop_lanes();
  controller.reset();
  clock.time += 25h;
  start(memory);
  look();
  settle();
  EXPECT_EQ(shown().size(), 1U) << "it went out an hour of ours ago, and stays out for 24";
  for (int hour = 0; hour < 23; ++hour) {
    clock.time += 1h;
    look();
    pass(2s);
  }
  EXPECT_EQ(shown().size(), 2U);
}

TEST_F(RemedyControllerTest, ReadsInsteadOfSendingAgainWhenThereWasNoAnswer) {
  world.fail_actions({ErrorCode::kTimeout, "no answer"});
  start_with_plan(RemedyMode::kAuto);
  settle();
  pass(1min);
  EXPECT_EQ(world.actions(), 1);
  EXPECT_GT(world.readings(), 2);
  EXPECT_EQ(journal.plan(1).state, PlanState::kRolledBack);
}

TEST_F(RemedyControllerTest, TakesAnActuatorThatThrowsForOneThatDidNotAnswer) {
  world.break_off_actions();
  start_with_plan(RemedyMode::kAuto);
  settle();
  world.set(link("leaf-0", "spine-0"), TargetState::kOurs);
  pass(5s);
  EXPECT_EQ(world.actions(), 1);
  EXPECT_EQ(journal.plan(1).state, PlanState::kVerifying) << "it was sent before it threw";
}

TEST_F(RemedyControllerTest, EndsAPlanWhoseActionIsRefused) {
  world.fail_actions({ErrorCode::kPermissionDenied, "not by you"});
  start_with_plan(RemedyMode::kAuto);
  settle();
  EXPECT_EQ(world.actions(), 1);
  EXPECT_EQ(journal.plan(1).state, PlanState::kFailed);
  EXPECT_FALSE(journal.plan(1).in_force);
}

TEST_F(RemedyControllerTest, LeavesAloneWhatSomebodyElseTookOut) {
  world.set(link("leaf-0", "spine-0"), TargetState::kForeign);
  start_with_plan(RemedyMode::kAuto);
  settle();
  EXPECT_EQ(world.actions(), 0);
  EXPECT_EQ(journal.plan(1).state, PlanState::kExpired);
}

TEST_F(RemedyControllerTest, SaysWhenNoSuchActuatorIsConfigured) {
  settings.actuators.fill("gone");
  settings.limits.failed_readings = 0;
  start_with_plan(RemedyMode::kAuto);
  settle();
  EXPECT_EQ(journal.plan(1).state, PlanState::kFailed);
  EXPECT_NE(journal.plan(1).outcome.find("'gone'"), std::string::npos) << journal.plan(1).outcome;
}

TEST_F(RemedyControllerTest, ReadsWhenTheLaneOfTheActuatorsHasNoRoom) {
  start_with_plan(RemedyMode::kAuto, 1);
  settle_until_read();
  BlockedLane busy(actuate_lane());
  do drain(*store_lane);
  while (run_one_posted());
  busy.let_go();
  pass(1min);
  EXPECT_EQ(world.actions(), 0);
  EXPECT_EQ(journal.plan(1).state, PlanState::kRolledBack) << journal.plan(1).outcome;
}

TEST_F(RemedyControllerTest, KeepsACommandWhileTheLaneOfTheStoreHasNoRoom) {
  start_with_plan(RemedyMode::kPropose, 1);
  settle();
  BlockedLane busy(*store_lane);
  controller->approve(1, 0, "ann", note_plan());
  while (run_one_posted()) {
  }
  EXPECT_TRUE(plans.empty());
  ErrorCode audit = ErrorCode::kInternal;
  controller->audit(0, 10, [&](const Result<std::vector<AuditRecord>>& answer) { audit = answer.error().code; });
  EXPECT_EQ(audit, ErrorCode::kUnavailable) << "what only reads is not waited for";
  busy.let_go();
  drain(*store_lane);
  pass(1s);
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_TRUE(plans[0]) << plans[0].error().message;
  EXPECT_EQ(world.actions(), 1);
}

TEST_F(RemedyControllerTest, AnnouncesWindowsForWhatPlansHold) {
  start_with_plan(RemedyMode::kAuto);
  EXPECT_TRUE(controller->windows().empty()) << "the plan is not on disk";
  settle();
  ASSERT_EQ(controller->windows().size(), 1U);
  EXPECT_TRUE(controller->windows().front().entity.same_as(link("leaf-0", "spine-0")));
}

TEST_F(RemedyControllerTest, CountsAPlanOnceWhenItEnds) {
  RemedyMemory restored;
  const auto action = static_cast<std::size_t>(RemedyAction::kIsolateLink);
  const auto state = static_cast<std::size_t>(PlanState::kRejected);
  restored.ended[action][state] = 5;
  settings.modes.fill(RemedyMode::kPropose);
  start(restored);
  open_incident("leaf-0", "spine-0");
  look();
  settle();
  journal.hold(true);
  controller->reject(1, "not now", "ann", note_plan());
  EXPECT_EQ(look().figures.plans_ended[action][state], 5U);
  journal.hold(false);
  settle();
  EXPECT_TRUE(plans.at(0));
  pass(3s);
  EXPECT_EQ(look().figures.plans_ended[action][state], 6U);
}

TEST_F(RemedyControllerTest, ForgetsPlansThatAreOverForLongButNotWhatIsInForce) {
  RemedyMemory restored;
  for (const std::uint64_t id : {1U, 2U}) {
    Plan& plan = restored.plans.emplace_back();
    plan.id = id;
    plan.state = PlanState::kCommitted;
    plan.target = link("leaf-" + std::to_string(id), "spine-0");
    plan.actuator = "fake";
    plan.finished = clock.time - settings.limits.retention - 1h;
  }
  restored.plans[1].in_force = true;
  restored.ids = 3;
  world.set(restored.plans[1].target, TargetState::kOurs);
  settings.modes.fill(RemedyMode::kOff);
  start(restored);
  EXPECT_EQ(shown().size(), 2U);
  settle();
  const auto left = shown();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].id, 2U);
  EXPECT_TRUE(left[0].in_force);
}

TEST_F(RemedyControllerTest, LeavesNobodyWithoutAnAnswerAtTheEnd) {
  start_with_plan(RemedyMode::kPropose);
  settle();
  journal.hold(true);
  controller->approve(1, 0, "ann", note_plan());
  journal.wait_until_held();
  controller->set_hands_off(true, "", "ann", note_status());
  journal.hold(false);
  store_lane->stop();
  controller->stop_lanes();
  while (run_one_posted()) {
  }
  controller->stop();
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_TRUE(plans[0]) << "it was on disk in time";
  ASSERT_EQ(statuses.size(), 1U);
  EXPECT_EQ(statuses[0].error().code, ErrorCode::kUnavailable);
  controller->approve(1, 0, "bob", note_plan());
  controller->reset_breaker("", "bob", note_status());
  EXPECT_EQ(plans.at(1).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(statuses.at(1).error().code, ErrorCode::kUnavailable);
}

TEST_F(RemedyControllerTest, ReadsTheAuditTrailFromTheStore) {
  start_with_plan(RemedyMode::kPropose);
  settle();
  std::promise<Result<std::vector<AuditRecord>>> answer;
  controller->audit(0, 10,
                    [&answer](Result<std::vector<AuditRecord>> records) { answer.set_value(std::move(records)); });
  const auto records = answer.get_future().get();
  ASSERT_TRUE(records);
  ASSERT_EQ(records->size(), 1U);
  EXPECT_EQ(records->front().what, "PROPOSED");
}

}  // namespace
}  // namespace weft::daemon
