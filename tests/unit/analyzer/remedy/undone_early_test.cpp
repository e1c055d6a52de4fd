// SPDX-License-Identifier: Apache-2.0
// Somebody else gives back what a plan took out while the plan is still verified: it ends at once, and says so.

#include <gtest/gtest.h>

#include "analyzer/remedy/windows.hpp"
#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

// An isolation that was read to be in force a moment ago. The routes have not left the link yet.
struct Verified : Book {
  /// So long ago.
  explicit Verified(Duration ago = 2s) : Book(automatic()) {
    settings.limits.verification.within = 5min;
    book.emplace(settings, RemedyMemory{}, fabric.now());
    errors("leaf-0", "spine-0");
    sweep();
    answer(TargetState::kClear);
    book->review(look());
    const auto sent = orders();
    EXPECT_EQ(sent.size(), 1U);
    book->answer_action(sent[0].number, {}, fabric.now());
    answer(TargetState::kOurs);
    EXPECT_EQ(plan(1).state, PlanState::kVerifying);
    fabric.advance(ago);
  }
  PortIndex end() const { return fabric.port_towards("leaf-0", "spine-0"); }
};

TEST(UndoneWhileItIsVerified, EndsThePlanAtOnceAndIsSaid) {
  Verified b;
  b.sweep();
  ASSERT_EQ(b.answer(TargetState::kClear), 1U) << "a sweep that shows it up is one sight, and orders the second";
  const Plan plan = b.plan(1);
  EXPECT_EQ(plan.state, PlanState::kRolledBack);
  EXPECT_FALSE(plan.in_force);
  EXPECT_FALSE(plan.unresolved) << "what was sent was read to be in force: nothing of it is on its way";
  EXPECT_EQ(plan.outcome, "somebody else enabled the link again: LinkUp");
  EXPECT_EQ(b.book->status(b.fabric.now()).undone_by_others, 1U);
  EXPECT_EQ(b.book->status(b.fabric.now()).out_of_service, 0U);
  for (int second = 0; second < 10; ++second) {
    b.sweep();
    EXPECT_TRUE(b.orders().empty()) << "nothing is to be undone, and it is not tried again for its incident";
  }
  EXPECT_EQ(b.book->all()->size(), 1U);
}

TEST(UndoneWhileItIsVerified, IsWatchedOnProbationWhenAPersonRestoresIt) {
  Verified b;
  b.sweep();
  b.answer(TargetState::kClear);
  const auto back = b.book->request(RemedyAction::kRestoreLink, b.link("leaf-0", "spine-0"), "", "ann", b.look());
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->undoes, 1U);
  b.sweep();
  b.answer(TargetState::kClear);
  EXPECT_EQ(b.plan(2).state, PlanState::kVerifying) << b.plan(2).outcome;
}

TEST(UndoneWhileItIsVerified, IsNotWhatASweepSaysAlone) {
  Verified b;
  for (int second = 0; second < 3; ++second) {
    b.sweep();
    EXPECT_EQ(b.answer(TargetState::kOurs), 1U) << "the link goes down a little late";
    EXPECT_EQ(b.plan(1).state, PlanState::kVerifying);
    EXPECT_TRUE(b.plan(1).in_force);
  }
  b.fabric.unlink(b.end());
  b.fabric.route();
  for (int second = 0; second < 4; ++second) b.sweep();
  EXPECT_EQ(b.plan(1).state, PlanState::kCommitted) << b.plan(1).outcome;
}

TEST(UndoneWhileItIsVerified, IsNotWhatASweepShowsDirectlyAfterOurOwnChange) {
  Verified b(0s);
  b.sweep();
  EXPECT_TRUE(b.orders().empty()) << "it goes down a moment after it is disabled";
}

TEST(UndoneWhileItIsVerified, IsAskedOnceASweepOfWhatCannotBeRead) {
  Verified b;
  for (int second = 0; second < 3; ++second) {
    const RemedyView seen = b.look();
    b.book->review(seen);
    for (int times = 0; times < 3; ++times) {
      const auto asked = b.orders();
      ASSERT_EQ(asked.size(), times == 0 ? 1U : 0U);
      for (const RemedyOrder& order : asked)
        b.book->answer_reading(order.number, fail(ErrorCode::kUnavailable, "silent"), b.fabric.now());
      b.book->review(seen);
    }
    EXPECT_EQ(b.plan(1).state, PlanState::kVerifying);
  }
}

TEST(UndoneWhileItIsVerified, WhatSomebodyElseHoldsIsLeftAsItIs) {
  Verified b;
  b.sweep();
  ASSERT_EQ(b.answer(TargetState::kForeign), 1U);
  EXPECT_EQ(b.plan(1).state, PlanState::kFailed);
  EXPECT_FALSE(b.plan(1).in_force);
  b.sweep();
  EXPECT_TRUE(b.orders().empty());
}

TEST(UndoneWhileItIsVerified, LeavesItsReadingBehindWhenItIsAborted) {
  Verified b;
  b.sweep();
  const auto asked = b.orders();
  ASSERT_EQ(asked.size(), 1U);
  ASSERT_TRUE(b.book->abort(1, "wrong link", "ann", b.fabric.now()));
  b.book->answer_reading(asked[0].number, TargetReading{TargetState::kClear, ""}, b.fabric.now());
  EXPECT_EQ(b.plan(1).state, PlanState::kRollingBack) << "its own reading decides";
}

}  // namespace
}  // namespace weft::analyzer
