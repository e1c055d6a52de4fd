// SPDX-License-Identifier: Apache-2.0
// The clock is set forward: nothing is due for it, and no budget is filled up again.

#include "analyzer/remedy/clock_steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

TimePoint at(Duration since) {
  return TimePoint(1000h + since);
}

TEST(ClockSteps, TellTimeThatPassedFromTimeThatWasSet) {
  ClockSteps clock;
  EXPECT_EQ(clock.look(at(0s), 7s), 0s);
  EXPECT_EQ(clock.look(at(1s), 8s), 0s);
  EXPECT_EQ(clock.look(at(25h + 2s), 9s), 25h);
  EXPECT_EQ(clock.look(at(25h + 3s), 10s), 0s);
  EXPECT_EQ(clock.ages(at(25h + 3s)).of(at(1s)), 2s);
  EXPECT_EQ(clock.ages(at(25h + 3s)).of(at(25h + 2s)), 1s) << "it was after the step";
  EXPECT_EQ(clock.look(at(4s), 11s), 0s) << "set back is no step forward";
  EXPECT_EQ(clock.look(at(26h), 12s), 26h - 5s);
}

TEST(ClockSteps, AClockThatIsOnlyCorrectedALittleMakesNone) {
  ClockSteps clock;
  for (int second = 0; second < 1000; ++second)
    EXPECT_EQ(clock.look(at(second * 1s + second * 500us), second * 1s), 0s);
}

struct Stepped : Book {
  Stepped() : Book(automatic()) {}

  void pass(Duration time) {
    fabric.advance(time);
    book->review(look());
  }
  void set(Duration forward) {
    set_forward += forward;
    pass(forward);
  }

  // Links that plans took out so long ago.
  void out(const std::vector<Entity>& links, Duration ago) {
    RemedyMemory memory;
    for (const Entity& target : links) {
      Plan plan;
      plan.id = memory.plans.size() + 1;
      plan.state = PlanState::kCommitted;
      plan.action = RemedyAction::kIsolateLink;
      plan.target = target;
      plan.actuator = "fake";
      plan.requested_by = plan.approved_by = "ann";
      plan.started = plan.finished = fabric.now() - ago;
      plan.in_force = true;
      memory.plans.push_back(plan);
    }
    book.emplace(settings, memory, fabric.now());
  }

  // The world does what it is asked at once; a link that is on shows up.
  void obey() {
    for (int round = 0; round < 4; ++round)
      for (const RemedyOrder& order : orders()) {
        const bool back = off.contains(order.target.label);
        if (order.kind == OrderKind::kAct) {
          off.erase(order.target.label);
          book->answer_action(order.number, {}, fabric.now());
        } else {
          book->answer_reading(order.number, TargetReading{back ? TargetState::kOurs : TargetState::kClear, ""},
                               fabric.now());
        }
        book->review(look());
      }
  }
  std::set<std::string> off{};

  std::size_t returns(PlanState state) const {
    return static_cast<std::size_t>(std::ranges::count_if(*book->all(), [&](const PlanPtr& plan) {
      return plan->action == RemedyAction::kRestoreLink && plan->state == state;
    }));
  }
};

TEST(ClockSteps, ADayThatDidNotPassBringsNothingBack) {
  Stepped b;
  b.out({b.link("leaf-0", "spine-0"), b.link("leaf-1", "spine-1"), b.link("leaf-2", "spine-2")}, 1h);
  b.pass(1s);
  b.set(25h);
  b.pass(1s);
  EXPECT_EQ(b.book->all()->size(), 3U) << "they were taken out an hour ago";
  b.pass(23h);
  b.pass(1s);
  EXPECT_EQ(b.book->all()->size(), 6U);
}

TEST(ClockSteps, AnHourThatDidNotPassGivesNoNewBudget) {
  Stepped b;
  b.settings.limits.budget.actions_per_hour = 1;
  b.settings.limits.reinstate_after = 100h;
  b.out({b.link("leaf-0", "spine-0")}, 10min);
  b.pass(1s);
  b.errors("leaf-1", "spine-1");
  b.pass(1s);
  ASSERT_EQ(b.verdict(b.plan(2), Guard::kBudget).result, GuardResult::kRefused);
  b.set(2h);
  b.pass(1s);
  EXPECT_EQ(b.verdict(b.plan(2), Guard::kBudget).result, GuardResult::kRefused);
  EXPECT_EQ(b.plan(2).state, PlanState::kProposed);
}

TEST(ClockSteps, WhatIsBeingVerifiedIsNotLateForIt) {
  Stepped b;
  b.out({b.link("leaf-0", "spine-0")}, 25h);
  b.off = {"leaf-0 - spine-0"};
  b.pass(1s);
  b.obey();
  ASSERT_EQ(b.plan(2).state, PlanState::kVerifying);
  b.set(25h);
  b.pass(1s);
  EXPECT_EQ(b.plan(2).state, PlanState::kVerifying) << b.plan(2).outcome;
}

TEST(Returns, AreOneProbationASwitchAtATime) {
  Stepped b;
  b.out({b.link("leaf-0", "spine-0"), b.link("leaf-0", "spine-1"), b.link("leaf-1", "spine-2")}, 25h);
  b.off = {"leaf-0 - spine-0", "leaf-0 - spine-1", "leaf-1 - spine-2"};
  for (int i = 0; i < 5; ++i) {
    b.pass(1s);
    b.obey();
  }
  EXPECT_EQ(b.returns(PlanState::kVerifying), 2U);
  EXPECT_EQ(b.plan(5).state, PlanState::kApproved);
  EXPECT_EQ(b.verdict(b.plan(5), Guard::kOneActor).result, GuardResult::kRefused);
  EXPECT_TRUE(b.book->request(RemedyAction::kRestoreLink, b.link("leaf-0", "spine-1"), "", "ann", b.look()))
      << "a person need not wait for it";
}

TEST(Returns, HaveABudgetThatPeopleDoNotHave) {
  Stepped b;
  b.settings.limits.budget.returns_per_hour = 1;
  b.out({b.link("leaf-0", "spine-0"), b.link("leaf-1", "spine-1")}, 25h);
  b.off = {"leaf-0 - spine-0", "leaf-1 - spine-1"};
  for (int i = 0; i < 5; ++i) {
    b.pass(1s);
    b.obey();
  }
  EXPECT_EQ(b.returns(PlanState::kVerifying), 1U);
  EXPECT_EQ(b.plan(4).state, PlanState::kApproved);
  EXPECT_EQ(b.verdict(b.plan(4), Guard::kBudget).result, GuardResult::kRefused);
  EXPECT_TRUE(b.book->request(RemedyAction::kRestoreLink, b.link("leaf-1", "spine-1"), "", "ann", b.look()));
}

}  // namespace
}  // namespace weft::analyzer
