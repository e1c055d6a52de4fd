// SPDX-License-Identifier: Apache-2.0
// Plans that had begun, and which a guard or a list holds directly before they act.

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

struct Held : Book {
  Held() : Book(automatic()) { restart({}); }

  void restart(RemedyMemory memory) {
    book.emplace(settings, std::move(memory), fabric.now(), fabric.now().time_since_epoch());
  }
  void restart() {
    RemedyMemory memory;
    memory.ids = book->all()->back()->id + 1;
    for (const PlanPtr& plan : *book->all()) memory.plans.push_back(*plan);
    restart(std::move(memory));
  }
  // Whatever is asked is answered, whatever is ordered is done.
  void step() {
    sweep();
    for (const RemedyOrder& order : orders()) {
      if (order.kind == OrderKind::kRead) {
        const TargetState state = out.contains(order.target.label) ? TargetState::kOurs : TargetState::kClear;
        book->answer_reading(order.number, TargetReading{state, ""}, fabric.now());
        continue;
      }
      ++acts;
      if (takes_out(order.action))
        out.insert(order.target.label);
      else
        out.erase(order.target.label);
      book->answer_action(order.number, {}, fabric.now());
      if (order.target.kind != EntityKind::kLink) continue;
      const PortIndex end = fabric.topology()->find_port(order.target.port);
      if (takes_out(order.action))
        fabric.unlink(end);
      else
        fabric.relink(end);
      fabric.route();
    }
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) step();
  }
  void rack(bool is_gone) {
    for (const char* host : {"host-1-0 mlx5_0", "host-2-0 mlx5_0", "host-3-0 mlx5_0"})
      fabric.silence(fabric.find(host), is_gone);
  }

  std::set<std::string> out;
  int acts = 0;
};

// An outage that lasts for one sweep is no reason to do nothing for as long as the incident lasts.
TEST(HeldPlans, OneThatAGuardRefusesForAMomentIsCarriedOutThen) {
  Held b;
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
  Held b;
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
  Held b;
  b.errors("leaf-0", "spine-0");
  for (int i = 0; i < 4000; ++i) {
    const PlanPtr plan = b.book->find(1);
    b.rack(plan && plan->state == PlanState::kExecuting);
    b.step();
    ASSERT_EQ(b.acts, 0);
  }
  EXPECT_LT(b.book->drain_changes(b.fabric.now()).audit.size(), 200U);
}

// What waited for a list has its turn before what came later, and is not overtaken while it is read anew.
TEST(HeldPlans, OneThatWaitedForAListIsNotOvertaken) {
  Held b;
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
  Held b;
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
  Held b;
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
    Held b;
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
  Held b;
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
  Held b;
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
