// SPDX-License-Identifier: Apache-2.0
// What the book of plans remembers, for how long, and how much of it: nothing that is needed later may be forgotten,
// and what stands for weeks must not fill it.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

/// PLAN-1: eight days ago ann made a link costly, and it still is.
Plan made_costly(const Book& b) {
  Plan plan;
  plan.id = 1;
  plan.state = PlanState::kCommitted;
  plan.action = RemedyAction::kRaiseLinkCost;
  plan.target = b.link("leaf-0", "spine-0");
  plan.actuator = "fake";
  plan.requested_by = plan.approved_by = "ann";
  plan.started = plan.finished = b.fabric.now() - 8 * 24h;
  plan.in_force = true;
  return plan;
}

TEST(PlanJournal, AProposalThatNobodyTookUpIsToldAnewAsTheSamePlan) {
  Book b;
  b.errors("leaf-0", "spine-0");
  b.book->review(b.look());
  const std::uint64_t read = b.plan(1).revision;
  b.fabric.advance(b.settings.limits.expiry + 1s);
  const auto late = b.book->approve(1, 0, "ann", b.look());
  ASSERT_FALSE(late) << "what she read is hours old";
  EXPECT_NE(late.error().message.find("Read it again"), std::string::npos) << late.error().message;
  b.book->review(b.look());
  EXPECT_EQ(b.plan(1).state, PlanState::kProposed);
  EXPECT_GT(b.plan(1).revision, read);
  EXPECT_EQ(b.plan(1).expires, b.fabric.now() + b.settings.limits.expiry);
  EXPECT_FALSE(b.book->find(2));
  EXPECT_TRUE(b.book->approve(1, b.plan(1).revision, "ann", b.look()));
}

TEST(PlanJournal, AnApprovalThatCouldNotStartInTimeIsAProposalAgain) {
  Book b;
  b.errors("leaf-0", "spine-0");
  b.book->review(b.look());
  ASSERT_TRUE(b.book->approve(1, 0, "ann", b.look()));
  b.book->set_hands_off(true, "", "bob", b.fabric.now());
  b.fabric.advance(b.settings.limits.expiry + 1s);
  b.book->review(b.look());
  b.book->set_hands_off(false, "", "bob", b.fabric.now());
  b.book->review(b.look());
  EXPECT_EQ(b.plan(1).state, PlanState::kProposed) << "her approval was for the morning";
  EXPECT_TRUE(b.plan(1).approved_by.empty());
  EXPECT_TRUE(b.orders().empty());
}

TEST(PlanJournal, APersonsOwnWishThatCouldNotStartIsNotRepeated) {
  Book b;
  ASSERT_TRUE(b.book->request(RemedyAction::kIsolateLink, b.link("leaf-0", "spine-0"), "why", "ann", b.look()));
  b.book->set_hands_off(true, "", "bob", b.fabric.now());
  b.fabric.advance(b.settings.limits.expiry + 1s);
  b.book->review(b.look());
  EXPECT_EQ(b.plan(1).state, PlanState::kExpired);
}

TEST(PlanJournal, AWishThatIsRefusedUsesUpNoNumber) {
  Book b;
  b.settings.deny = {"leaf-0"};
  b.book.emplace(b.settings, RemedyMemory{}, b.fabric.now());
  ASSERT_FALSE(b.book->request(RemedyAction::kIsolateLink, b.link("leaf-0", "spine-0"), "why", "ann", b.look()));
  const auto audit = b.book->drain_changes(b.fabric.now()).audit;
  ASSERT_EQ(audit.size(), 1U);
  EXPECT_EQ(audit[0].what, "refused");
  EXPECT_EQ(audit[0].plan, 0U) << "the number is given to the next one";
  const auto next = b.book->request(RemedyAction::kIsolateLink, b.link("leaf-1", "spine-0"), "why", "ann", b.look());
  ASSERT_TRUE(next);
  EXPECT_EQ(next->id, 1U);
}

TEST(PlanJournal, WhatIsOutMayComeBackAlthoughItIsNotOnTheAllowList) {
  Book b;
  const Plan out = made_costly(b);
  b.settings.allow = {"leaf-1"};
  RemedyMemory memory;
  memory.plans = {out};
  b.book.emplace(b.settings, memory, b.fabric.now());
  const auto back = b.book->request(RemedyAction::kRestoreLink, out.target, "new cable", "ann", b.look());
  EXPECT_TRUE(back) << back.error().message;
}

TEST(PlanJournal, AWishThatIsRefusedLeavesTheProposalAsItIs) {
  Book b;
  b.errors("leaf-0", "spine-0");
  b.book->review(b.look());
  b.book->set_hands_off(true, "", "bob", b.fabric.now());
  EXPECT_FALSE(b.book->request(RemedyAction::kIsolateLink, b.link("leaf-0", "spine-0"), "why", "ann", b.look()));
  EXPECT_EQ(b.plan(1).state, PlanState::kProposed);
  b.book->set_hands_off(false, "", "bob", b.fabric.now());
  EXPECT_TRUE(b.book->request(RemedyAction::kIsolateLink, b.link("leaf-0", "spine-0"), "why", "ann", b.look()));
  EXPECT_EQ(b.plan(1).state, PlanState::kExpired) << "her word stands for it";
}

TEST(PlanJournal, AfterARestartTheCostsAreReckonedWhenTheCablesAreKnown) {
  Book b;
  b.errors("leaf-0", "spine-0");
  b.book->review(b.look());
  const Plan before = b.plan(1);
  RemedyMemory memory;
  memory.plans = {before};
  b.book.emplace(b.settings, memory, b.fabric.now());
  RemedyView blind = b.look();
  blind.fabrics = {};
  b.book->review(blind);
  ASSERT_EQ(b.plan(1).candidates.size(), before.candidates.size());
  for (std::size_t i = 0; i < before.candidates.size(); ++i)
    EXPECT_EQ(b.plan(1).candidates[i].explanation, before.candidates[i].explanation);
  EXPECT_TRUE(b.book->approve(1, 0, "ann", b.look()));
}

TEST(PlanJournal, TroubleThatStandsForWeeksLeavesRoomForNewTrouble) {
  RemedySettings settings;
  settings.limits.retained_plans = 8;
  Book b(settings);
  for (const char* spine : {"spine-0", "spine-1", "spine-2", "spine-3"}) b.errors("leaf-0", spine);
  for (int day = 0; day < 14; ++day) {
    b.fabric.advance(24h);
    b.book->review(b.look());
    b.book->drain_changes(b.fabric.now());
  }
  b.errors("leaf-1", "spine-0");
  b.book->review(b.look());
  EXPECT_EQ(b.book->all()->size(), 5U);
  EXPECT_TRUE(b.book->all()->back()->target.same_as(b.link("leaf-1", "spine-0")));
  EXPECT_EQ(b.book->status(b.fabric.now()).without_plan, 0U);
}

TEST(PlanJournal, TroubleThatGetsNoPlanIsCounted) {
  RemedySettings settings;
  settings.limits.retained_plans = 2;
  Book b(settings);
  for (const char* spine : {"spine-0", "spine-1", "spine-2", "spine-3"}) b.errors("leaf-0", spine);
  b.book->review(b.look());
  EXPECT_EQ(b.book->all()->size(), 2U);
  EXPECT_EQ(b.book->status(b.fabric.now()).without_plan, 2U);
  const auto audit = b.book->drain_changes(b.fabric.now()).audit;
  EXPECT_EQ(std::ranges::count(audit, "plans full", &AuditRecord::what), 1);
  b.book->review(b.look());
  EXPECT_TRUE(b.book->drain_changes(b.fabric.now()).audit.empty()) << "said once";
  ASSERT_TRUE(b.book->reject(1, "", "ann", b.fabric.now()));
  b.book->review(b.look());
  EXPECT_EQ(b.book->status(b.fabric.now()).without_plan, 1U);
}

// A link that was made costly eight days ago comes back, and fails: by then the plan that made it costly is forgotten.
TEST(PlanJournal, AReturnKnowsWhatItTakesBackWhenThePlanBeforeIsForgotten) {
  Book b;
  const Plan costly = made_costly(b);
  RemedyMemory memory;
  memory.plans = {costly};
  b.book.emplace(b.settings, memory, b.fabric.now());
  ASSERT_TRUE(b.book->request(RemedyAction::kRestoreLink, costly.target, "", "ann", b.look()));
  b.book->review(b.look());
  auto orders = b.orders();
  const auto of = [&](std::uint64_t plan) { return std::ranges::find(orders, plan, &RemedyOrder::plan)->number; };
  b.book->answer_reading(of(2), TargetReading{TargetState::kOurs, ""}, b.fabric.now());
  b.book->review(b.look());
  orders = b.orders();
  b.book->answer_action(of(2), {}, b.fabric.now());
  orders = b.orders();
  b.book->answer_reading(of(2), TargetReading{TargetState::kClear, ""}, b.fabric.now());
  ASSERT_EQ(b.plan(2).state, PlanState::kVerifying);
  for (int i = 0; i < 3; ++i) {
    b.orders();
    b.book->review(b.look());
  }
  ASSERT_FALSE(b.book->find(1)) << "given back, and over for eight days";
  b.fabric.advance(5s);
  b.errors("leaf-0", "spine-0");
  b.book->review(b.look());
  ASSERT_EQ(b.plan(2).state, PlanState::kRollingBack) << b.plan(2).outcome;
  orders = b.orders();
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_EQ(orders[0].action, RemedyAction::kRaiseLinkCost) << "it was never off";
}

TEST(PlanJournal, AReturnByAutomationKnowsWhatItTakesBackToo) {
  Book b(automatic());
  Plan costly = made_costly(b);
  costly.incident = 7;  // over, and forgotten: since when is not known
  costly.requested_by = kOurselves;
  RemedyMemory memory;
  memory.plans = {costly};
  b.book.emplace(b.settings, memory, b.fabric.now());
  b.book->review(b.look());
  EXPECT_FALSE(b.book->find(2));
  b.fabric.advance(b.settings.limits.undrain_after);
  b.book->review(b.look());
  ASSERT_TRUE(b.book->find(2));
  EXPECT_EQ(b.plan(2).action, RemedyAction::kRestoreLink);
  EXPECT_EQ(b.plan(2).inverse, RemedyAction::kRaiseLinkCost);
}

}  // namespace
}  // namespace weft::analyzer
