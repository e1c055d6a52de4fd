// SPDX-License-Identifier: Apache-2.0
// What is a new revision of a plan, and what of it moves without one.

#include <gtest/gtest.h>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

TEST(Revisions, StayWhileGuardsBeginAndCeaseToRefuse) {
  Book b;
  b.errors("leaf-0", "spine-0");
  b.book->review(b.look());
  const std::uint64_t read = b.plan(1).revision;
  EXPECT_EQ(b.book->approve(1, read + 90, "ann", b.look()).error().message,
            "PLAN-1 has changed since you read it, or never had revision " + std::to_string(read + 90) +
                ": it is now at revision " + std::to_string(read) + ". Read it again");
  b.book->set_hands_off(true, "a visitor", "kim", b.fabric.now());
  b.book->review(b.look());
  EXPECT_TRUE(b.plan(1).refused());
  EXPECT_EQ(b.plan(1).revision, read);
  EXPECT_NE(b.book->approve(1, read, "ann", b.look()).error().message.find("HANDS_OFF"), std::string::npos)
      << "the guard says why, and not that the plan is another one";
  b.book->set_hands_off(false, "", "kim", b.fabric.now());
  b.fabric.advance(10min);
  b.views[0].sweep = std::make_shared<const Sweep>(b.fabric.sweep());
  RemedyView stale = b.look();
  stale.now += 10min;
  b.book->review(stale);
  EXPECT_TRUE(b.plan(1).refused()) << "the sweep is old";
  b.fabric.advance(10min);
  b.book->review(b.look());
  EXPECT_FALSE(b.plan(1).refused());
  EXPECT_EQ(b.plan(1).revision, read);
  EXPECT_TRUE(b.book->approve(1, read, "ann", b.look()));
}

TEST(Revisions, ARefusalThatLastsSaysItsReasonOfNow) {
  Book b;
  b.errors("leaf-0", "spine-0");
  b.book->set_hands_off(true, "a visitor", "kim", b.fabric.now());
  b.book->review(b.look());
  const std::uint64_t read = b.plan(1).revision;
  b.book->set_hands_off(false, "", "kim", b.fabric.now());
  b.book->set_file_brake("/var/lib/weft/hands-off exists", b.fabric.now());
  b.book->review(b.look());
  EXPECT_EQ(b.verdict(b.plan(1), Guard::kHandsOff).explanation,
            "everything is stopped, also what persons order: /var/lib/weft/hands-off exists; to let it go on: remove "
            "that file");
  EXPECT_EQ(b.plan(1).revision, read);
}

TEST(Revisions, WhatTheActionCostsIsOfTheLastSweepWithoutBeingStored) {
  Book b(proposing());
  const PortIndex end = b.fabric.port_towards("leaf-0", "spine-0"), other = b.fabric.port_towards("leaf-0", "spine-1");
  b.errors("leaf-0", "spine-0");
  b.fabric.unlink(end);
  b.sweep();
  const auto cost = [&b](const Plan& plan) {
    return std::ranges::find(plan.candidates, plan.action, &Candidate::action)->explanation;
  };
  ASSERT_EQ(cost(b.plan(1)).substr(0, 25), "it carries no traffic now") << cost(b.plan(1));
  b.orders();
  const auto stored = b.book->all();
  const std::uint64_t read = b.plan(1).revision;
  b.fabric.relink(end);
  b.sweep();
  EXPECT_EQ(cost(b.plan(1)).substr(0, 33), "leaf-0 keeps 7 of 8 uplink paths:") << cost(b.plan(1));
  EXPECT_NE(b.verdict(b.plan(1), Guard::kBenefit).explanation.find("keeps 7 of 8"), std::string::npos);
  EXPECT_EQ(cost(*with_progress(stored, *b.book)->front()), cost(b.plan(1)));
  b.orders();
  b.fabric.unlink(other);
  b.sweep();
  EXPECT_EQ(cost(b.plan(1)).substr(0, 33), "leaf-0 keeps 6 of 7 uplink paths:") << cost(b.plan(1));
  EXPECT_EQ(b.plan(1).revision, read);
  EXPECT_TRUE(b.book->drain_changes(b.fabric.now()).plans.empty());
  ASSERT_TRUE(b.book->approve(1, read, "ann", b.look()));
  b.book->set_hands_off(true, "", "kim", b.fabric.now());
  b.fabric.relink(other);
  b.sweep();
  EXPECT_EQ(cost(b.plan(1)).substr(0, 33), "leaf-0 keeps 7 of 8 uplink paths:") << "also of one that is approved";
}

// PLAN-3 waits first for PLAN-1, then for PLAN-2, which begins as PLAN-1 ends.
TEST(Revisions, AGuardThatLastsNamesThePlanOfNowWithoutBeingStored) {
  Book b;
  ASSERT_TRUE(b.book->request(RemedyAction::kIsolateLink, b.link("leaf-0", "spine-0"), "why", "ann", b.look()));
  b.book->review(b.look());
  ASSERT_TRUE(b.book->request(RemedyAction::kIsolateLink, b.link("leaf-1", "spine-1"), "why", "ann", b.look()));
  b.errors("leaf-2", "spine-2");
  b.book->review(b.look());
  b.book->review(b.look());
  ASSERT_EQ(b.verdict(b.plan(3), Guard::kOneActor).explanation, "PLAN-1 is under way");
  ASSERT_TRUE(b.book->abort(1, "wrong link", "ann", b.fabric.now()));
  (void)b.book->drain_changes(b.fabric.now());
  const auto stored = b.book->all();
  b.book->review(b.look());
  ASSERT_EQ(b.plan(2).state, PlanState::kExecuting);
  EXPECT_EQ(b.verdict(b.plan(3), Guard::kOneActor).explanation, "PLAN-2 is under way");
  for (const Plan& plan : b.book->drain_changes(b.fabric.now()).plans) EXPECT_NE(plan.id, 3U) << "stored at every tick";
  const Plan shown = *with_progress(stored, *b.book)->back();
  EXPECT_EQ(b.verdict(shown, Guard::kOneActor).explanation, "PLAN-2 is under way");
}

TEST(Revisions, GrowWhenAGuardLeavesItToAPerson) {
  Book b;
  b.collector("host-0-0", {"host-0-0 mlx5_0"});
  b.errors("leaf-0", "host-0-0 mlx5_0");
  b.book->review(b.look());
  ASSERT_EQ(b.plan(1).action, RemedyAction::kDrainNode);
  ASSERT_EQ(b.verdict(b.plan(1), Guard::kIdentity).result, GuardResult::kPassed);
  const std::uint64_t read = b.plan(1).revision;
  b.hosts.clear();
  b.book.emplace(b.settings, RemedyMemory{.plans = {b.plan(1)}, .holds = {}}, b.fabric.now());
  b.book->review(b.look());
  ASSERT_EQ(b.verdict(b.plan(1), Guard::kIdentity).result, GuardResult::kNeedsPerson);
  EXPECT_GT(b.plan(1).revision, read) << "who approved it then did not answer for the host's name";
}

TEST(Progress, IsShownWithoutBeingStored) {
  Book b(automatic());
  b.settings.limits.verification.windows = 5;
  b.book.emplace(b.settings, RemedyMemory{}, b.fabric.now());
  b.errors("leaf-0", "spine-0");
  const auto act = [&b](TargetState state) {
    b.book->review(b.look());
    for (const RemedyOrder& order : b.orders())
      if (order.kind == OrderKind::kRead)
        b.book->answer_reading(order.number, TargetReading{state, ""}, b.fabric.now());
      else
        b.book->answer_action(order.number, {}, b.fabric.now());
  };
  act(TargetState::kClear);
  act(TargetState::kClear);
  b.fabric.unlink(b.fabric.port_towards("leaf-0", "spine-0"));
  b.fabric.route();
  act(TargetState::kOurs);
  ASSERT_EQ(b.plan(1).state, PlanState::kVerifying) << b.plan(1).outcome;
  b.orders();
  const auto stored = b.book->all();
  const std::uint64_t revision = b.plan(1).revision;
  for (std::uint32_t sweep = 1; sweep <= 3; ++sweep) {
    b.fabric.advance(1s);
    b.book->review(b.look());
    EXPECT_TRUE(b.book->drain_changes(b.fabric.now()).plans.empty());
    const Plan shown = *with_progress(stored, *b.book)->front();
    EXPECT_EQ(shown.windows_good, sweep);
    EXPECT_EQ(shown.windows_needed, 5U);
    EXPECT_EQ(shown.updated, b.fabric.now());
    EXPECT_EQ(shown.revision, revision);
  }
  EXPECT_EQ(stored->front()->windows_good, 0U);
  const auto now = b.book->all();
  EXPECT_EQ(with_progress(now, *b.book), now) << "the same says the same";
}

}  // namespace
}  // namespace weft::analyzer
