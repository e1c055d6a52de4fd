// SPDX-License-Identifier: Apache-2.0
// The clock is set back: no proposal and no approval is good for longer, and new trouble is not hidden behind plans
// that ended "later".

#include <gtest/gtest.h>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

struct SetBack : Book {
  SetBack() {
    errors("leaf-0", "spine-0");
    book->review(look());
  }
  void set_back(Duration by) {
    fabric.advance(-by);
    set_forward -= by;
    book->review(look());
  }
  void pass(Duration time) {
    for (; time > 0s; time -= 30min) {
      fabric.advance(std::min<Duration>(time, 30min));
      book->review(look());
    }
  }
  void begins_again() {
    auto again = std::make_shared<Incident>(*incidents[0]);
    again->beginnings = {fabric.now()};
    for (auto& evidence : again->finding.evidence) evidence.observed = fabric.now();
    ++again->revision;
    incidents[0] = std::move(again);
    pass(1min);
  }
};

TEST(ClockBack, DoesNotProlongAProposal) {
  SetBack b;
  const std::uint64_t read = b.plan(1).revision;
  b.set_back(10h);
  b.pass(3h);
  EXPECT_EQ(b.plan(1).revision, read);
  b.pass(2h);
  EXPECT_GT(b.plan(1).revision, read) << "judged anew after its four hours";
}

TEST(ClockBack, DoesNotProlongAnApproval) {
  SetBack b;
  ASSERT_TRUE(b.book->approve(1, 0, "ann", b.look()));
  b.book->set_hands_off(true, "", "ann", b.fabric.now());
  b.book->review(b.look());
  b.set_back(10h);
  b.pass(5h);
  EXPECT_EQ(b.plan(1).state, PlanState::kProposed) << "she approved it five hours ago";
  b.book->set_hands_off(false, "", "ann", b.fabric.now());
  b.book->review(b.look());
  EXPECT_TRUE(b.orders().empty());
}

TEST(ClockBack, WhileNobodyRanDoesNotProlongMoreThanOnce) {
  SetBack b;
  RemedyMemory memory;
  memory.plans = {b.plan(1)};
  b.fabric.advance(-10h);
  b.book.emplace(b.settings, memory, b.fabric.now());
  EXPECT_EQ(b.plan(1).expires, b.fabric.now() + b.settings.limits.expiry);
}

TEST(ClockBack, WhileNobodyRanDoesNotProlongAnApproval) {
  SetBack b;
  ASSERT_TRUE(b.book->approve(1, 0, "ann", b.look()));
  b.book->set_hands_off(true, "", "ann", b.fabric.now());
  b.pass(3h + 50min);
  ASSERT_EQ(b.plan(1).state, PlanState::kApproved);
  RemedyMemory memory;
  memory.plans = {b.plan(1)};
  memory.holds = b.book->brakes();
  const ClockMemory left = b.book->clock_memory();
  b.fabric.advance(-3h);
  b.set_forward = -3h;
  b.book.emplace(b.settings, memory, b.fabric.now(), b.fabric.now().time_since_epoch() - b.set_forward);
  b.book->resume_clock(left, b.fabric.now());
  b.pass(12min);
  EXPECT_NE(b.plan(1).state, PlanState::kApproved) << "it had ten minutes left";
}

TEST(ClockBack, AStepBackThatIsAsLongAsNobodyWatchedIsSeenOnTheClockThatNobodySets) {
  const TimePoint then(1000h);
  const ClockMemory left{then, {}, 100s, "boot"};
  const auto resumed = [&left](TimePoint now, Duration steady, std::string boot, ClockSteps& after) {
    after.look(now, steady);
    return after.resume(left, now, std::move(boot));
  };
  ClockSteps after;
  EXPECT_EQ(resumed(then, 2h + 100s, "boot", after), -2h);
  EXPECT_EQ(after.memory().steps, (std::vector<ClockStep>{{then, 2h}, {then + 2h, -2h}}));
  EXPECT_EQ(after.memory().steady, 2h + 100s);
  EXPECT_EQ(after.memory().boot, "boot");
  EXPECT_EQ(after.ages(then).of(then - 1s), 1s) << "what nobody watched makes nothing older";
  ClockSteps at_once;
  EXPECT_EQ(resumed(then - 2h, 101s, "boot", at_once), -2h - 1s);
  EXPECT_EQ(at_once.memory().steps.size(), 1U);
  for (const auto& [boot, steady, what] : {std::tuple{"other", 2h + 100s, "the machine was started anew"},
                                           std::tuple{"", 2h + 100s, "which start it is cannot be read"},
                                           std::tuple{"boot", 99s + 0h, "a machine that went back to a snapshot"}}) {
    ClockSteps other;
    EXPECT_EQ(resumed(then, steady, boot, other), 0s) << what;
    EXPECT_TRUE(other.memory().steps.empty()) << what;
  }
  ClockSteps forward;
  EXPECT_EQ(resumed(then + 3h, 1h + 100s, "boot", forward), 3h) << "an hour passed and two were set";
}

TEST(ClockBack, ByAsMuchAsNobodyRanDoesNotProlongAnApproval) {
  SetBack b;
  ASSERT_TRUE(b.book->approve(1, 0, "ann", b.look()));
  b.book->set_hands_off(true, "", "ann", b.fabric.now());
  b.pass(1s);
  RemedyMemory memory;
  memory.plans = {b.plan(1)};
  memory.holds = b.book->brakes();
  ClockMemory left = b.book->clock_memory();
  left.boot = "5b1d";
  b.set_forward = -b.settings.limits.expiry;  // as long as it takes to pass
  b.book.emplace(b.settings, memory, b.fabric.now(), b.fabric.now().time_since_epoch() - b.set_forward);
  b.book->resume_clock(left, b.fabric.now(), "5b1d");
  b.pass(1s);
  EXPECT_NE(b.plan(1).state, PlanState::kApproved) << "it is as old as it may be";
}

TEST(ClockBack, HidesNoNewTroubleBehindARejectedPlan) {
  SetBack b;
  b.fabric.advance(1min);
  ASSERT_TRUE(b.book->reject(1, "not now", "ann", b.fabric.now()));
  b.book->review(b.look());
  b.set_back(10h);
  b.pass(2h);
  EXPECT_EQ(b.book->all()->size(), 1U) << "it is still what she rejected";
  b.begins_again();
  EXPECT_EQ(b.book->all()->size(), 2U);
}

TEST(ClockBack, HidesNoNewTroubleAfterARestart) {
  SetBack b;
  b.fabric.advance(1min);
  ASSERT_TRUE(b.book->reject(1, "not now", "ann", b.fabric.now()));
  RemedyMemory memory;
  memory.plans = {b.plan(1)};
  b.fabric.advance(-10h);
  b.set_forward -= 10h;
  b.book.emplace(b.settings, memory, b.fabric.now());
  b.pass(2h);
  EXPECT_EQ(b.book->all()->size(), 1U);
  b.begins_again();
  EXPECT_EQ(b.book->all()->size(), 2U);
}

TEST(ClockBack, WhatAPersonRejectedWaitsForHerThoughTheIncidentBeganLaterByTheClock) {
  SetBack b;
  b.set_back(2h);
  ASSERT_TRUE(b.book->reject(1, "not now", "ann", b.fabric.now()));
  b.book->review(b.look());
  b.pass(3h);
  EXPECT_EQ(b.book->all()->size(), 1U) << "the clock passed the beginning once more, and it is the same trouble";
  b.begins_again();
  EXPECT_EQ(b.book->all()->size(), 2U);
}

TEST(ClockBack, WhatAPersonRejectedWaitsForHerAfterARestartToo) {
  SetBack b;
  b.set_back(2h);
  ASSERT_TRUE(b.book->abort(1, "not now", "ann", b.fabric.now()));
  RemedyMemory memory;
  for (const Plan& plan : b.book->drain_changes(b.fabric.now()).plans) memory.plans = {plan};
  ASSERT_EQ(memory.plans.size(), 1U);
  const ClockMemory left = b.book->clock_memory();
  b.book.emplace(b.settings, memory, b.fabric.now(), b.fabric.now().time_since_epoch() - b.set_forward);
  b.book->resume_clock(left, b.fabric.now());
  b.pass(3h);
  EXPECT_EQ(b.book->all()->size(), 1U);
  b.begins_again();
  EXPECT_EQ(b.book->all()->size(), 2U);
}

// A beginning that came while the plan stood is part of what she rejected.
TEST(ClockBack, ARejectedPlanIsForTheBeginningItEndedIn) {
  SetBack b;
  b.fabric.advance(1min);
  b.begins_again();
  ASSERT_EQ(b.book->all()->size(), 1U);
  b.set_back(2h);
  ASSERT_TRUE(b.book->reject(1, "not now", "ann", b.fabric.now()));
  b.pass(3h);
  EXPECT_EQ(b.book->all()->size(), 1U);
}

// As of a plan that an older weftd stored.
TEST(ClockBack, APlanThatDoesNotSayWhichBeginningItWasForIsJudgedByTime) {
  SetBack b;
  b.fabric.advance(1min);
  ASSERT_TRUE(b.book->reject(1, "not now", "ann", b.fabric.now()));
  RemedyMemory memory;
  memory.plans = {b.plan(1)};
  memory.plans[0].incident_began = kNever;
  b.book.emplace(b.settings, memory, b.fabric.now());
  b.pass(1h);
  EXPECT_EQ(b.book->all()->size(), 1U);
  b.begins_again();
  EXPECT_EQ(b.book->all()->size(), 2U);
}

}  // namespace
}  // namespace weft::analyzer
