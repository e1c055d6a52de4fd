// SPDX-License-Identifier: Apache-2.0
// What lies between a decision and its act: an order that waits for its actuator is stopped by either brake, by time,
// and by a plan that was ended or changed meanwhile.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "daemon/platform/runtime/boot_time.hpp"
#include "tests/unit/daemon/programs/weftd/remedy_fixture.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class RemedyBrakesTest : public RemedyControllerTest {
 protected:
  RemedyBrakesTest() {
    std::string made = (std::filesystem::temp_directory_path() / "weft-remedy-XXXXXX").string();
    if (!mkdtemp(made.data())) throw std::runtime_error("no temporary folder");
    folder = made;
    hands_off_file = folder / "hands-off";
  }
  ~RemedyBrakesTest() override {
    stop_lanes();
    std::filesystem::remove_all(folder);
  }

  /// The order to isolate a link waits in the lane of its actuator, behind something that takes long.
  BlockedLane let_an_order_wait() {
    start_with_plan(RemedyMode::kAuto);
    settle([this] { return journal.plan(1).intent == PlanIntent::kApply; });
    BlockedLane busy(actuate_lane());
    run_without_actuators();
    return busy;
  }
  /// One line for each thing that happened to PLAN-1.
  std::string story() const {
    std::string text;
    for (const PlanStep& step : journal.plan(1).steps) text += step.what + '\n';
    return text;
  }
  void create_file() const { std::ofstream(hands_off_file) << ""; }

  std::filesystem::path folder;
};

TEST_F(RemedyBrakesTest, NothingIsSentOnceHandsOffIsAcknowledged) {
  BlockedLane busy = let_an_order_wait();
  controller->set_hands_off(true, "a look at it", "ann", note_status());
  run_without_actuators();
  ASSERT_EQ(statuses.size(), 1U) << "it does not wait for a scheduler that hangs";
  ASSERT_TRUE(statuses[0]);
  EXPECT_TRUE(statuses[0]->hands_off);
  EXPECT_TRUE(statuses[0]->under_way.empty());
  busy.let_go();
  settle();
  pass(5s);
  EXPECT_EQ(world.actions(), 0);
  EXPECT_EQ(journal.plan(1).intent, PlanIntent::kNone);
  EXPECT_EQ(journal.plan(1).started, kNever) << "it spends no budget";
  EXPECT_THAT(story(), HasSubstr("held before it was sent: all automation is stopped: ann: a look at it"));
  look();
  controller->set_hands_off(false, "done", "ann", note_status());
  settle();
  EXPECT_EQ(world.actions(), 1) << "judged anew, and right";
}

TEST_F(RemedyBrakesTest, TheAnswerToHandsOffSaysWhatWasUnderWay) {
  start_with_plan(RemedyMode::kAuto);
  settle([this] { return journal.plan(1).intent == PlanIntent::kApply; });
  world.hold("fake");
  while (world.actions() == 0) {
    drain(*store_lane);
    run_one_posted();
  }
  controller->set_hands_off(true, "a look at it", "ann", note_status());
  run_without_actuators();
  ASSERT_EQ(statuses.size(), 1U);
  ASSERT_TRUE(statuses[0]);
  const OrderUnderWay expected{1, RemedyAction::kIsolateLink, "leaf-0 - spine-0", clock.now()};
  EXPECT_THAT(statuses[0]->under_way, ::testing::ElementsAre(expected));
  EXPECT_EQ(look().remedy.under_way.size(), 1U);
  world.hold("");
  settle();
  EXPECT_TRUE(look().remedy.under_way.empty());
  EXPECT_EQ(world.actions(), 1);
}

TEST_F(RemedyBrakesTest, HandsOffHoldsAlsoWhenTheDiskRefusesIt) {
  BlockedLane busy = let_an_order_wait();
  journal.refuse(true);
  controller->set_hands_off(true, "a look at it", "ann", note_status());
  run_without_actuators();
  ASSERT_EQ(statuses.size(), 1U);
  ASSERT_FALSE(statuses[0]);
  EXPECT_THAT(statuses[0].error().message, HasSubstr("automation is stopped, but"));
  EXPECT_EQ(look().remedy.hands_off_reason, "ann: a look at it") << "the status says so, too";
  busy.let_go();
  settle();
  EXPECT_EQ(world.actions(), 0);
  journal.refuse(false);
  pass(2s);
  EXPECT_TRUE(journal.state().hands_off);
  EXPECT_EQ(world.actions(), 0);
}

TEST_F(RemedyBrakesTest, AReleaseThatIsNotStoredReleasesNothing) {
  start_with_plan(RemedyMode::kAuto);
  settle([this] { return journal.plan(1).intent == PlanIntent::kApply; });
  journal.refuse(true);
  controller->set_hands_off(true, "a look at it", "ann", note_status());
  settle();
  controller->set_hands_off(false, "done", "ann", note_status());
  settle();
  ASSERT_EQ(statuses.size(), 2U);
  ASSERT_FALSE(statuses[1]);
  EXPECT_EQ(statuses[1].error().message, "not done because it could not be stored yet");
  EXPECT_TRUE(look().remedy.hands_off) << "as she was told";
  EXPECT_EQ(look().remedy.hands_off_reason, "ann: a look at it");
  journal.refuse(false);
  pass(2s);
  EXPECT_FALSE(look().remedy.hands_off);
}

TEST_F(RemedyBrakesTest, ADiskThatHangsDoesNotKeepThePersonAtTheBrakeWaiting) {
  start_with_plan(RemedyMode::kAuto);
  settle([this] { return journal.plan(1).intent == PlanIntent::kApply; });
  world.hold("fake");
  while (world.actions() == 0) {
    drain(*store_lane);
    run_one_posted();
  }
  journal.hold(true);
  controller->set_hands_off(true, "a look at it", "ann", note_status());
  clock.time += 4s;
  controller->tick();
  EXPECT_TRUE(statuses.empty());
  clock.time += 2s;
  controller->tick();
  ASSERT_EQ(statuses.size(), 1U);
  ASSERT_FALSE(statuses[0]);
  EXPECT_THAT(statuses[0].error().message, ::testing::AllOf(HasSubstr("automation is stopped, but"),
                                                            HasSubstr("PLAN-1 ISOLATE_LINK leaf-0 - spine-0")));
  EXPECT_TRUE(look().remedy.hands_off);
  journal.hold(false);
  world.hold("");
  settle();
  EXPECT_TRUE(journal.state().hands_off);
  EXPECT_EQ(statuses.size(), 1U) << "answered once";
}

TEST_F(RemedyBrakesTest, TheStopsOfTwoPersonsAreBothRecorded) {
  start();
  look();
  controller->set_hands_off(true, "work on the spines", "ann", note_status());
  controller->set_hands_off(true, "work on the leaves", "bob", note_status());
  controller->set_hands_off(true, "work on the leaves", "bob", note_status());
  settle();
  EXPECT_EQ(look().remedy.hands_off_reason, "ann: work on the spines; bob: work on the leaves");
  for (int i = 0; i < 500; ++i) controller->set_hands_off(true, "visit " + std::to_string(i), "eve", note_status());
  settle();
  EXPECT_LT(look().remedy.hands_off_reason.size(), 2200U);
  controller->set_hands_off(false, "done", "ann", note_status());
  settle();
  EXPECT_EQ(look().remedy.hands_off_reason, "");
  EXPECT_FALSE(look().remedy.hands_off);
}

TEST_F(RemedyBrakesTest, AnAbortThatCouldNotBeStoredGoesOnAndSaysSo) {
  start_with_plan(RemedyMode::kAuto);
  settle([this] { return world.actions() == 1; });
  settle();
  ASSERT_EQ(journal.plan(1).state, PlanState::kVerifying);
  journal.refuse(true);
  controller->abort(1, "wrong link", "ann", note_plan());
  settle();
  ASSERT_EQ(plans.size(), 1U);
  ASSERT_FALSE(plans[0]);
  EXPECT_EQ(
      plans[0].error().message,
      "the abort is taken, but that could not be stored yet: the plan will be undone when that can be stored; its "
      "target stays out until then. After a restart of weftd, abort it again");
  EXPECT_EQ(world.actions(), 1) << "nothing is sent before";
  journal.refuse(false);
  pass(2s);
  EXPECT_EQ(journal.plan(1).state, PlanState::kRollingBack);
}

TEST_F(RemedyBrakesTest, WhatWasDecidedTooLongAgoIsDecidedAnew) {
  BlockedLane busy = let_an_order_wait();
  clock.unseen = 11s;
  busy.let_go();
  drain(actuate_lane());
  EXPECT_EQ(world.actions(), 0);
  look(), settle();  // sweeps went on meanwhile
  EXPECT_THAT(story(), HasSubstr("held before it was sent: the guards looked 11 s ago"));
  EXPECT_EQ(world.actions(), 1) << "they still allow it";
}

TEST_F(RemedyBrakesTest, GuardsThatRefuseMeanwhileHoldWhatWaited) {
  BlockedLane busy = let_an_order_wait();
  // Half of the leaf's other links go down.
  for (const char* spine : {"spine-1", "spine-2", "spine-3"}) fabric.unlink(fabric.port_towards("leaf-0", spine));
  fabric.route();
  look();
  clock.unseen = 11s;
  busy.let_go();
  settle();
  EXPECT_EQ(world.actions(), 0);
  EXPECT_EQ(journal.plan(1).state, PlanState::kApproved) << journal.plan(1).outcome;
}

TEST_F(RemedyBrakesTest, TheFileStopsAnOrderThatWaits) {
  BlockedLane busy = let_an_order_wait();
  create_file();
  busy.let_go();
  settle();
  EXPECT_EQ(world.actions(), 0) << "no tick has passed since the file appeared";
  EXPECT_THAT(look().remedy.file_brake, HasSubstr("exists"));
  EXPECT_FALSE(journal.state().hands_off) << "that is the person's";
  std::filesystem::remove(hands_off_file);
  pass(1s);
  look();
  settle();
  EXPECT_EQ(world.actions(), 1);
}

TEST_F(RemedyBrakesTest, AnAbortStopsAnOrderThatWaits) {
  BlockedLane busy = let_an_order_wait();
  controller->abort(1, "wrong link", "ann", note_plan());
  run_without_actuators();
  ASSERT_EQ(plans.size(), 1U) << "it does not wait for a scheduler that hangs";
  ASSERT_TRUE(plans[0]);
  busy.let_go();
  settle();
  EXPECT_EQ(world.actions(), 0);
  EXPECT_EQ(journal.plan(1).state, PlanState::kRejected) << journal.plan(1).outcome;
}

TEST_F(RemedyBrakesTest, WithoutTheLeaseAnOrderThatWaitsIsNotSent) {
  BlockedLane busy = let_an_order_wait();
  is_lease_held = false;
  busy.let_go();
  settle();
  EXPECT_EQ(world.actions(), 0);
  is_lease_held = true;
  pass(1s);
  look();
  settle();
  EXPECT_EQ(world.actions(), 1);
}

// The clock of a paused virtual machine stands still, so the lease seems to hold.
TEST_F(RemedyBrakesTest, NothingIsSentThatTheDatabaseDoesNotConfirm) {
  is_confirmed.emplace(false);
  start_with_plan(RemedyMode::kAuto);
  settle([&] { return story().find("held before it was sent: another weftd leads") != std::string::npos; });
  EXPECT_EQ(world.actions(), 0);
  EXPECT_FALSE(is_over(journal.plan(1).state)) << journal.plan(1).outcome;
  *is_confirmed = true;
  look();
  settle();
  EXPECT_EQ(world.actions(), 1);
}

TEST_F(RemedyBrakesTest, TheEpochThatAReadingShowsIsToldBeforeTheAct) {
  world.show_epoch(9);
  is_confirmed.emplace(false);
  start_with_plan(RemedyMode::kAuto);
  settle([&] { return story().find("held before it was sent") != std::string::npos; });
  ASSERT_FALSE(epochs_seen.empty());
  EXPECT_EQ(epochs_seen.front(), 9);
  EXPECT_EQ(world.actions(), 0);
}

TEST_F(RemedyBrakesTest, WhatIsRefusedWhenThePermitIsOverIsJudgedAnew) {
  start_with_plan(RemedyMode::kAuto);
  lease_left_ms = 0;
  world.fail_actions({ErrorCode::kFailedPrecondition, "the time to send it is over; nothing was sent"});
  const char* const kHeld = "held before it was sent: the time to send it is over";
  settle([&] { return story().find(kHeld) != std::string::npos; });
  EXPECT_FALSE(is_over(journal.plan(1).state)) << "it did not fail: " << journal.plan(1).outcome;
  lease_left_ms = 3'600'000;
  world.let_actions_succeed();
  look();
  settle();
  EXPECT_EQ(journal.plan(1).state, PlanState::kVerifying);
}

TEST_F(RemedyBrakesTest, EachActCarriesThePermit) {
  start_with_plan(RemedyMode::kAuto);
  settle();
  ASSERT_EQ(world.actions(), 1);
  for (const FakeWorld::Asked& asked : world.asked()) {
    EXPECT_EQ(asked.order.permit.has_value(), asked.is_action);
    if (asked.is_action) {
      EXPECT_EQ(asked.order.permit->epoch, 4);
      EXPECT_GT(asked.order.permit->until, runtime::boot_time());
    }
  }
}

TEST_F(RemedyBrakesTest, AfterALeaderThatDidNotEndNothingIsAskedForAWhile) {
  patience = 30s;
  start_with_plan(RemedyMode::kAuto);
  settle();
  const TimePoint until = look().remedy.orders_from;
  EXPECT_GT(until, clock.now() + 20s);
  EXPECT_LE(until, clock.now() + 30s);
  pass(25s);
  EXPECT_TRUE(world.asked().empty());
  EXPECT_EQ(look().remedy.orders_from, until);
  for (int second = 0; second < 10; ++second) {
    pass(1s);
    look();
    settle();
  }
  EXPECT_EQ(world.actions(), 1);
  EXPECT_EQ(look().remedy.orders_from, kNever) << "nothing waits for it any more";
}

TEST_F(RemedyBrakesTest, AStandbyJudgesNothingAndANewLeaderReadsFirst) {
  start_with_plan(RemedyMode::kAuto);
  settle([this] { return journal.plan(1).intent == PlanIntent::kApply; });
  crash();
  controller->stand_by();
  controller->follow(journal.restored());
  const int actions = world.actions(), readings = world.readings(), writes = journal.writes();
  pass(5s);
  EXPECT_EQ(look().plans->size(), 1U) << "it is shown";
  settle();
  EXPECT_EQ(world.actions(), actions);
  EXPECT_EQ(world.readings(), readings);
  EXPECT_EQ(journal.writes(), writes);
  controller->lead(journal.restored(), *journal.restore_clock(), 30s);
  look();
  settle();
  pass(25s);
  EXPECT_EQ(world.readings(), readings) << "what the leader before sent may still be on its way";
  EXPECT_EQ(world.actions(), actions);
  clock.time += 10s;
  controller->tick();
  look();
  settle([&] { return world.readings() > readings || world.actions() > actions; });
  EXPECT_EQ(world.actions(), actions) << "what may have been sent is read before it is sent again";
  EXPECT_GT(world.readings(), readings);
}

TEST_F(RemedyBrakesTest, AFileThatCannotBeLookedAtStops) {
  hands_off_file = folder / "loop" / "hands-off";
  BlockedLane busy = let_an_order_wait();
  std::filesystem::create_symlink("loop", folder / "loop");
  busy.let_go();
  settle();
  EXPECT_EQ(world.actions(), 0);
  EXPECT_THAT(look().remedy.file_brake, HasSubstr("cannot be looked at"));
  std::filesystem::remove(folder / "loop");
  pass(1s);
  look();
  settle();
  EXPECT_EQ(world.actions(), 1);
}

TEST_F(RemedyBrakesTest, TheFileIsReadBeforeAnythingIsJudged) {
  create_file();
  start_with_plan(RemedyMode::kAuto);
  settle();
  EXPECT_THAT(look().remedy.file_brake, HasSubstr("exists"));
  EXPECT_EQ(journal.plan(1).state, PlanState::kProposed);
  EXPECT_TRUE(world.asked().empty());
}

TEST_F(RemedyBrakesTest, NeitherBrakeReleasesTheOther) {
  settings.modes.fill(RemedyMode::kAuto);
  start();
  look();
  create_file();
  controller->set_hands_off(true, "a look at it", "ann", note_status());
  pass(1s);
  open_incident("leaf-0", "spine-0");
  EXPECT_THAT(look().remedy.stop_reason(), ::testing::AllOf(HasSubstr("ann: a look at it"), HasSubstr("exists")));

  std::filesystem::remove(hands_off_file);
  pass(2s);
  EXPECT_EQ(look().remedy.file_brake, "");
  EXPECT_TRUE(journal.state().hands_off) << "the file does not release a person's brake";
  EXPECT_EQ(world.actions(), 0);

  create_file();
  controller->set_hands_off(false, "done", "ann", note_status());
  settle();
  ASSERT_EQ(statuses.size(), 2U);
  ASSERT_TRUE(statuses[1]);
  EXPECT_FALSE(statuses[1]->hands_off);
  EXPECT_TRUE(statuses[1]->is_stopped()) << "the file was looked at for the answer";
  look();
  settle();
  EXPECT_EQ(world.actions(), 0) << "a person does not release the file's brake";

  std::filesystem::remove(hands_off_file);
  pass(1s);
  look();
  settle();
  EXPECT_EQ(world.actions(), 1);
}

TEST_F(RemedyBrakesTest, AFileSystemThatHangsStopsAndHoldsUpNothingElse) {
  std::mutex gate;
  std::condition_variable moved;
  bool hangs = false;
  hands_off_probe = [&](const std::filesystem::path&) {
    std::unique_lock lock(gate);
    moved.wait(lock, [&] { return !hangs; });
    return std::string();
  };
  const auto set = [&](bool to) {
    const std::lock_guard lock(gate);
    hangs = to;
    moved.notify_all();
  };
  settings.modes.fill(RemedyMode::kAuto);
  start();
  look();
  set(true);
  controller->tick();
  EXPECT_FALSE(look().remedy.is_stopped()) << "the thread that owns the plans did not wait";
  settle();
  EXPECT_THAT(look().remedy.file_brake, HasSubstr("did not answer"));
  open_incident("leaf-0", "spine-0");
  look();
  settle();
  EXPECT_EQ(world.actions(), 0);
  set(false);
  pass(1s);
  look();
  settle();
  EXPECT_EQ(world.actions(), 1);
}

}  // namespace
}  // namespace weft::daemon
