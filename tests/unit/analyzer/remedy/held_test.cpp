// SPDX-License-Identifier: Apache-2.0
// Plans that had begun, and which a guard or a list holds directly before they act.

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/unit/analyzer/remedy/carried_out.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

// An outage that lasts for one sweep is no reason to do nothing for as long as the incident lasts.
TEST(HeldPlans, OneThatAGuardRefusesForAMomentIsCarriedOutThen) {
  CarriedOut b;
  b.errors("leaf-0", "spine-0");
  b.step();
  ASSERT_EQ(b.plan(1).state, PlanState::kExecuting);
  b.rack(true);
  b.step();
  EXPECT_EQ(b.plan(1).state, PlanState::kApproved) << b.plan(1).outcome;
  EXPECT_EQ(b.verdict(b.plan(1), Guard::kFreshData).result, GuardResult::kRefused) << "whoever looks sees why";
  EXPECT_NE(b.plan(1).steps.back().what.find("held before it was sent: FRESH_DATA"), std::string::npos);
  b.steps(60);
  EXPECT_EQ(b.acts, 0);
  b.rack(false);
  b.steps(30);
  EXPECT_EQ(b.acts, 1);
  EXPECT_EQ(b.plan(1).state, PlanState::kCommitted) << b.plan(1).outcome;
}

TEST(HeldPlans, OneForWhichTheHourHasNoRoomHasItsTurnLater) {
  CarriedOut b;
  b.settings.limits.budget.actions_per_hour = 1;
  b.settings.limits.confidence = 0.1;
  b.restart({});
  b.errors("leaf-0", "spine-0");
  b.errors("leaf-1", "host-1-0 mlx5_0");
  b.collector("host-1-0", {"host-1-0 mlx5_0"});
  b.steps(60);
  ASSERT_EQ(b.acts, 1);
  EXPECT_EQ(b.plan(2).state, PlanState::kApproved) << b.plan(2).outcome;
  for (int minute = 0; minute < 62; ++minute) {
    b.fabric.advance(58s);
    b.step();
  }
  b.steps(10);
  EXPECT_EQ(b.acts, 2) << b.plan(2).outcome;
}

// Each time it waits longer: what comes and goes between its beginning and its act does not fill the journal.
TEST(HeldPlans, OneThatIsHeldAgainAndAgainWaitsLonger) {
  CarriedOut b;
  b.errors("leaf-0", "spine-0");
  for (int i = 0; i < 4000; ++i) {
    const PlanPtr plan = b.book->find(1);
    b.rack(plan && plan->state == PlanState::kExecuting);
    b.step();
    ASSERT_EQ(b.acts, 0);
  }
  EXPECT_LT(b.recorded, 200U);
}

TEST(HeldPlans, OneThatFindsItsLinkDownEachTimeWaitsLonger) {
  CarriedOut b;
  b.errors("leaf-0", "spine-0");
  const PortIndex end = b.fabric.port_towards("leaf-0", "spine-0");
  for (int i = 0; i < 4000; ++i) {
    b.step_down_when_sent(1, end);
    ASSERT_EQ(b.acts, 0);
  }
  EXPECT_LT(b.recorded, 200U);
  b.fabric.relink(end);
  b.steps(600);
  EXPECT_EQ(b.acts, 1) << b.plan(1).outcome;
}

TEST(HeldPlans, OneThatIsHeldSaysUntilWhen) {
  CarriedOut b;
  b.errors("leaf-0", "spine-0");
  for (int i = 0; i < 300; ++i) {
    const PlanPtr plan = b.book->find(1);
    b.rack(plan && plan->state == PlanState::kExecuting);
    b.step();
  }
  ASSERT_EQ(b.plan(1).state, PlanState::kApproved);
  ASSERT_FALSE(b.plan(1).refused());
  const auto all = b.book->all();
  auto stored = std::make_shared<Plan>(*all->front());
  const std::string says = std::exchange(stored->waits_for, {});
  EXPECT_TRUE(says.starts_with("held until ")) << says;
  const auto plans = std::make_shared<const std::vector<PlanPtr>>(std::vector<PlanPtr>{stored});
  EXPECT_EQ(with_progress(plans, *b.book)->front()->waits_for, says) << "it is not stored";
  while (b.acts == 0 && b.fabric.now() < stored->expires) {
    b.step();
    EXPECT_EQ(b.plan(1).waits_for.empty(), b.plan(1).state != PlanState::kApproved);
  }
  EXPECT_EQ(b.acts, 1);
}

// What is not allowed for a while is not given up for as long as the incident lasts.
TEST(HeldPlans, OneWhoseActionIsTurnedDownIsProposedAgain) {
  for (const RemedyMode mode : {RemedyMode::kPropose, RemedyMode::kOff}) {
    CarriedOut b;
    b.errors("leaf-0", "spine-0");
    b.step();
    ASSERT_EQ(b.plan(1).state, PlanState::kExecuting);
    b.settings.modes.fill(mode);
    b.restart();
    b.steps(5);
    EXPECT_EQ(b.plan(1).state, PlanState::kProposed) << b.plan(1).outcome;
    EXPECT_EQ(b.plan(1).approved_by, "");
    EXPECT_EQ(b.acts, 0);
    b.settings.modes.fill(RemedyMode::kAuto);
    b.restart();
    b.steps(10);
    EXPECT_EQ(b.acts, 1);
  }
}

TEST(HeldPlans, OneThatWasOnTheDenyListForAWhileIsCarriedOutThen) {
  CarriedOut b;
  b.errors("leaf-0", "spine-0");
  b.step();
  ASSERT_EQ(b.plan(1).state, PlanState::kExecuting);
  b.settings.deny = {"leaf-0"};
  b.restart();
  b.steps(20);
  EXPECT_EQ(b.acts, 0);
  b.settings.deny = {};
  b.restart();
  b.steps(10);
  EXPECT_EQ(b.acts, 1) << b.plan(1).outcome;
}

// What waited for a list has its turn before what came later, and is not overtaken while it is read anew.
TEST(HeldPlans, OneThatWaitedForAListIsNotOvertaken) {
  CarriedOut b;
  b.settings.limits.budget.actions_per_hour = 1;
  b.settings.limits.budget.cool_down = 0s;
  b.restart({});
  b.book->set_avoided_ports("ufm", {{}, *b.look().steady});
  ASSERT_TRUE(b.book->request(RemedyAction::kIsolateLink, b.link("leaf-0", "spine-0"), "why", "ann", b.look()));
  b.sweep();
  b.restart();
  b.book->set_avoided_ports("ufm", {});
  b.errors("leaf-2", "spine-2");
  b.steps(10);
  ASSERT_EQ(b.acts, 0);
  b.book->set_avoided_ports("ufm", {{}, *b.look().steady});
  b.steps(10);
  EXPECT_EQ(b.plan(1).state, PlanState::kCommitted) << b.plan(1).outcome;
  EXPECT_EQ(b.acts, 1) << "the hour has room for one";
}

// The approval was of what the guards said then.
TEST(HeldPlans, OneThatAPersonApprovedNeedsThatAnew) {
  CarriedOut b;
  b.settings.modes.fill(RemedyMode::kPropose);
  b.restart({});
  b.errors("leaf-0", "spine-0");
  b.sweep();
  ASSERT_TRUE(b.book->approve(1, 0, "ann", b.look()));
  b.step();
  ASSERT_EQ(b.plan(1).state, PlanState::kExecuting);
  b.rack(true);
  b.step();
  EXPECT_EQ(b.plan(1).state, PlanState::kProposed);
  EXPECT_EQ(b.plan(1).approved_by, "");
  b.rack(false);
  b.steps(20);
  EXPECT_EQ(b.acts, 0);
  ASSERT_TRUE(b.book->approve(1, 0, "ann", b.look()));
  b.steps(10);
  EXPECT_EQ(b.acts, 1);
}

TEST(HeldPlans, WhatAPersonOrderedEndsWithTheReason) {
  CarriedOut b;
  const auto asked = b.book->request(RemedyAction::kIsolateLink, b.link("leaf-0", "spine-0"), "why", "ann", b.look());
  ASSERT_TRUE(asked);
  b.step();
  b.rack(true);
  b.step();
  EXPECT_EQ(b.plan(1).state, PlanState::kExpired);
  EXPECT_TRUE(b.plan(1).outcome.starts_with("not done: FRESH_DATA")) << b.plan(1).outcome;
}

// Its actuator reads without a sweep; the guards do not.
TEST(HeldPlans, OneThatNeedsNoSweepToReadWaitsForTheFirstAfterARestart) {
  for (const bool by_person : {false, true}) {
    CarriedOut b;
    b.settings.sweepless = {"fake"};
    b.restart({});
    if (by_person) {
      ASSERT_TRUE(b.book->request(RemedyAction::kIsolateLink, b.link("leaf-0", "spine-0"), "why", "ann", b.look()));
    } else {
      b.errors("leaf-0", "spine-0");
    }
    b.sweep();
    ASSERT_EQ(b.plan(1).state, PlanState::kExecuting);
    b.restart();
    RemedyView blind = b.look();
    b.views[0].sweep = nullptr;
    b.book->review(blind);
    for (const RemedyOrder& order : b.orders())
      b.book->answer_reading(order.number, TargetReading{TargetState::kClear, ""}, b.fabric.now());
    b.book->review(blind);
    EXPECT_EQ(b.plan(1).state, PlanState::kExecuting) << b.plan(1).outcome;
    EXPECT_NE(b.plan(1).waits_for.find("for the first sweep"), std::string::npos) << b.plan(1).waits_for;
    b.steps(6);
    EXPECT_EQ(b.acts, 1) << b.plan(1).outcome;
  }
}

// Watched time counts; and when that is over it is read at once, and not at the next turn.
TEST(HeldPlans, WhatMayStillLandIsReadAsSoonAsItCannotAnyMore) {
  CarriedOut b;
  const TimePoint now = b.fabric.now();
  RemedyMemory memory;
  Plan& out = memory.plans.emplace_back();
  out.id = 1;
  out.state = PlanState::kRolledBack;
  out.action = RemedyAction::kIsolateLink;
  out.target = b.link("leaf-3", "spine-7");
  out.actuator = "fake";
  out.unresolved = true;
  out.started = out.finished = now - 5min;
  memory.ids = 2;
  const Duration late = b.settings.late_watch("fake");
  b.restart(std::move(memory));
  b.book->resume_clock({.until = now - 2min, .steps = {}, .steady = {}, .boot = {}}, now, {});
  TimePoint resolved = kNever;
  while (b.fabric.now() < now + late + 1h && resolved == kNever) {
    b.step();
    if (!b.plan(1).unresolved) resolved = b.fabric.now();
  }
  const Duration passed = resolved - (now - 5min + late + 2min);  // since so much time was watched
  EXPECT_GE(passed, 0s);
  EXPECT_LE(passed, 30s) << passed / 1s;
}

// A list that does not come, of a partner that has nothing to do with it.
TEST(HeldPlans, OneThatWaitsForAListHoldsUpNoReturn) {
  CarriedOut b;
  b.settings.limits.budget.cool_down = 0s;
  const Entity held = b.link("leaf-3", "spine-7");
  RemedyMemory memory;
  Plan& out = memory.plans.emplace_back();
  out.id = 1;
  out.state = PlanState::kCommitted;
  out.action = RemedyAction::kIsolateLink;
  out.target = held;
  out.actuator = "fake";
  out.requested_by = out.approved_by = "ann";
  out.in_force = true;
  out.started = out.finished = b.fabric.now() - 2h;
  b.out.insert(held.label);
  b.fabric.unlink(b.fabric.port_towards("leaf-3", "spine-7"));
  b.fabric.route();
  memory.ids = 2;
  b.restart(std::move(memory));
  b.book->set_avoided_ports("ufm", {{}, *b.look().steady});
  b.errors("leaf-0", "spine-0");
  b.sweep();
  ASSERT_EQ(b.plan(2).state, PlanState::kExecuting);
  b.restart();
  b.book->set_avoided_ports("ufm", {});
  b.steps(5);
  ASSERT_EQ(b.plan(2).waits_for, "ufm has not told yet which links are avoided");
  ASSERT_TRUE(b.book->request(RemedyAction::kRestoreLink, held, "back please", "ann", b.look()));
  b.steps(5);
  EXPECT_EQ(b.plan(3).state, PlanState::kVerifying) << b.plan(3).outcome;
  EXPECT_EQ(b.acts, 1);
  EXPECT_EQ(b.plan(2).state, PlanState::kExecuting) << b.plan(2).outcome;
  // Once the list is there it acts, one after the other.
  b.book->set_avoided_ports("ufm", {{}, *b.look().steady});
  b.steps(5);
  EXPECT_EQ(b.acts, 2) << b.plan(2).waits_for << b.plan(2).outcome;
}

}  // namespace
}  // namespace weft::analyzer
