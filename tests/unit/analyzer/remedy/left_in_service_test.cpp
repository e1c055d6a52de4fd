// SPDX-License-Identifier: Apache-2.0
// A person ends a plan that waits for what may never come, and its target stays in service as it is.

#include <gtest/gtest.h>

#include "fabric/plan_prospects.hpp"
#include "tests/unit/analyzer/remedy/probation.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

Result<Plan> leave(Book& b, std::uint64_t id) {
  return b.book->leave(id, "the cable is well", "ann", b.look());
}

TEST(LeftInService, AReturnOnProbationEndsAndNothingIsSent) {
  Probation b;
  b.comes_up(3);
  ASSERT_TRUE(leave(b, 2));
  EXPECT_EQ(b.plan(2).state, PlanState::kCommitted);
  EXPECT_EQ(b.plan(2).outcome, "left in service by ann: the cable is well; its probation was not over");
  EXPECT_FALSE(b.plan(1).in_force);
  b.sweeps(50);
  EXPECT_TRUE(b.orders().empty());
}

TEST(LeftInService, AReturnThatFailedIsNotTakenOutAgain) {
  Probation b;
  b.managers["test"] = ManagerSign::kHeard;
  b.comes_up(5);
  b.fabric.unlink(b.end);
  b.sweeps(1);
  b.managers["test"] = ManagerSign::kSilent;
  b.tell(TargetState::kClear);
  ASSERT_EQ(b.plan(2).state, PlanState::kRollingBack) << b.plan(2).outcome;
  EXPECT_EQ(leave(b, 2).error().message,
            "PLAN-2 cannot be ended so: its link is not in service, it is down: weftctl plan PLAN-2");
  b.comes_up(1);
  ASSERT_TRUE(leave(b, 2));
  EXPECT_EQ(b.plan(2).state, PlanState::kRejected);
  EXPECT_EQ(b.plan(2).outcome,
            "left in service by ann: the cable is well; before, it failed again: the link went down");
  EXPECT_FALSE(b.plan(2).in_force);
  b.managers["test"] = ManagerSign::kHeard;
  b.sweeps(50);
  EXPECT_TRUE(b.orders().empty());
}

TEST(LeftInService, AnUndoingThatNobodyCanLookAtIsOver) {
  Isolated b;
  Plan plan = b.plan(1);
  plan.state = PlanState::kRollingBack;
  plan.intent = PlanIntent::kNone;
  plan.in_force = false;
  plan.outcome = "aborted by bob: wrong link";
  plan.finished = kNever;
  RemedyMemory memory;
  memory.plans = {plan};
  b.book.emplace(b.settings, memory, b.fabric.now());
  EXPECT_EQ(leave(b, 1).error().message,
            "PLAN-1 is being undone, and its link was not read to be back yet: weftctl plan PLAN-1");
  b.tell(TargetState::kClear);
  ASSERT_EQ(b.plan(1).state, PlanState::kRollingBack) << b.plan(1).outcome;
  EXPECT_EQ(leave(b, 1).error().message,
            "PLAN-1 cannot be ended so: its link is not in service, it is down: weftctl plan PLAN-1");
  b.managers["test"] = ManagerSign::kSilent;
  b.fabric.relink(b.end, PortState::kInitialize);
  b.fabric.route();
  b.sweeps(1);
  ASSERT_TRUE(leave(b, 1));
  EXPECT_EQ(b.plan(1).state, PlanState::kRolledBack);
  EXPECT_EQ(b.plan(1).outcome,
            "aborted by bob: wrong link; left as it is by ann: the cable is well; its ports are enabled, and the link "
            "is not active");
}

// Its enabling got no answer, and nobody can read what became of it.
TEST(LeftInService, AReturnThatWasNotReadToBeBackIsNot) {
  Isolated b;
  ASSERT_TRUE(b.book->request(RemedyAction::kRestoreLink, b.target, "", "ann", b.look()));
  b.tell(TargetState::kOurs);
  b.book->answer_action(b.next(), fail(ErrorCode::kTimeout, "no answer"), b.fabric.now());
  ASSERT_TRUE(b.book->abort(2, "stop it", "ann", b.fabric.now()));
  EXPECT_EQ(leave(b, 2).error().message,
            "PLAN-2 is being undone, and its link was not read to be back yet: weftctl plan PLAN-2");
  const auto trail = b.book->drain_changes(b.fabric.now()).audit;
  ASSERT_FALSE(trail.empty());
  EXPECT_EQ(trail.back().what, "refused");
  EXPECT_EQ(trail.back().who, "ann");
}

TEST(LeftInService, ALinkThatIsDownOnItsProbationIsNot) {
  Probation b;
  b.sweeps(2);
  EXPECT_EQ(leave(b, 2).error().message,
            "PLAN-2 cannot be ended so: its link is not in service, it is down; to end it and take it out again: "
            "weftctl abort PLAN-2 --reason ...");
}

TEST(LeftInService, SaysThatNobodyActivatesTheLink) {
  Probation b;
  b.managers["test"] = ManagerSign::kSilent;
  b.fabric.relink(b.end, PortState::kInitialize);
  b.fabric.route();
  b.sweeps(3);
  ASSERT_TRUE(leave(b, 2));
  EXPECT_EQ(b.plan(2).outcome,
            "left as it is by ann: the cable is well; its ports are enabled, and the link is not active; its probation "
            "was not over");
}

TEST(LeftInService, WhatIsOutOfServiceIsAborted) {
  Book b;
  ASSERT_TRUE(b.book->request(RemedyAction::kIsolateLink, b.link("leaf-1", "spine-0"), "why", "ann", b.look()));
  EXPECT_EQ(leave(b, 1).error().message,
            "PLAN-1 has sent nothing, and its target is in service; to end it: weftctl abort PLAN-1 --reason ...");
  ASSERT_TRUE(b.book->abort(1, "no", "ann", b.fabric.now()));
  EXPECT_EQ(leave(b, 1).error().message.substr(0, 18), "PLAN-1 is REJECTED") << "it is over";
  EXPECT_EQ(leave(b, 7).error().code, ErrorCode::kNotFound);
}

TEST(LeftInService, AReturnThatWasNotSentYetIsAborted) {
  Isolated b;
  ASSERT_TRUE(b.book->request(RemedyAction::kRestoreLink, b.target, "", "ann", b.look()));
  EXPECT_EQ(leave(b, 2).error().message,
            "PLAN-2 has not brought its target back yet; to end it: weftctl abort PLAN-2 --reason ...");
}

TEST(LeftInService, IsNamedWhereAGuardForbidsToTakeItOutAgain) {
  Probation b;
  b.comes_up(3);
  b.managers["test"] = ManagerSign::kSilent;
  const auto refused = b.book->abort(2, "end it", "ann", b.look());
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.ends_with(
      ". It stays in service, and PLAN-2 goes on; to end it and leave the link in service: weftctl abort PLAN-2 "
      "--leave-in-service --reason ..."))
      << refused.error().message;
}

TEST(LeftInService, IsNamedToWhoAbortsOrOrdersSomethingElseOnlyWhereItWouldWork) {
  constexpr const char* kOr = ", or end it and leave the link in service: weftctl abort PLAN-2 --leave-in-service";
  Probation b;
  b.managers["test"] = ManagerSign::kHeard;
  b.comes_up(5);
  b.fabric.unlink(b.end);
  b.sweeps(1);
  b.managers["test"] = ManagerSign::kSilent;
  b.tell(TargetState::kClear);
  for (const bool is_up : {false, true}) {
    if (is_up) b.comes_up(1);
    ASSERT_TRUE(b.book->abort(2, "end it", "ann", b.look()));
    EXPECT_EQ(may_be_left(b.plan(2).waits_for), is_up) << b.plan(2).waits_for;
    for (const RemedyAction action : {RemedyAction::kRestoreLink, RemedyAction::kIsolateLink}) {
      const auto refused = b.book->request(action, b.target, "", "ann", b.look());
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().message.find(kOr) != std::string::npos, is_up) << refused.error().message;
    }
  }
}

// All of what is seen is seen again, a minute later.
void see_again(Book& b) {
  b.fabric.advance(1min);
  for (auto& incident : b.incidents) {
    auto later = std::make_shared<Incident>(*incident);
    for (Evidence& each : later->finding.evidence) each.observed = b.fabric.now();
    incident = std::move(later);
  }
  b.sweep();
}

// Its undoing was sent, and nobody can read what became of it: the person said no to it all the same.
TEST(Aborted, IsNotTakenOutForItsOtherTroubleThoughItsUndoingFailed) {
  Book b(automatic());
  b.errors("leaf-0", "spine-0");
  b.sweep();
  ASSERT_EQ(b.answer(TargetState::kClear), 1U);
  b.book->review(b.look());
  const auto sent = b.orders();
  ASSERT_EQ(sent.size(), 1U);
  b.errors("leaf-0", "spine-0", 1e-7);
  ASSERT_TRUE(b.book->abort(1, "wrong link", "bob", b.fabric.now()));
  b.book->answer_action(sent[0].number, {}, b.fabric.now());
  while (b.plan(1).state != PlanState::kFailed) ASSERT_TRUE(b.fails_to_read(ErrorCode::kTimeout));
  EXPECT_TRUE(b.plan(1).aborted);
  for (int minute = 0; minute < 120 && b.plan(1).unresolved; ++minute) {
    b.fabric.advance(1min);
    b.sweep();
    b.answer(TargetState::kClear);
  }
  ASSERT_FALSE(b.plan(1).unresolved) << "it was read to be in service";
  for (int minute = 0; minute < 10; ++minute) {
    see_again(b);
    ASSERT_EQ(b.book->all()->size(), 1U) << "minute " << minute;
  }
}

// Automation gave it up by itself, and a person left it as it was before the fabric was seen to be as before.
TEST(LeftInService, WhatAutomationWasUndoingIsNotTakenOutForItsOtherTrouble) {
  Isolated b;
  b.errors("leaf-0", "spine-0", 1e-7);
  Plan plan = b.plan(1);
  plan.target = b.incidents[0]->finding.cause;
  plan.state = PlanState::kRolledBack;
  plan.in_force = false;
  plan.outcome = "two ways were lost; left as it is by ann: the cable is well";
  plan.left_in_service = true;
  b.fabric.advance(1s);
  plan.started = plan.finished = b.fabric.now();
  RemedyMemory memory;
  memory.plans = {plan};
  b.settings = automatic();
  b.settings.actuators.fill("fake");
  b.book.emplace(b.settings, memory, b.fabric.now());
  for (int minute = 0; minute < 10; ++minute) {
    see_again(b);
    b.orders();
    ASSERT_EQ(b.book->all()->size(), 1U) << "minute " << minute;
  }
}

// Where weftd would refuse it, nobody is told to do it.
TEST(LeftInService, PeopleAreToldOfItWhereItIsPossible) {
  Probation b;
  b.comes_up(5);
  b.book->set_hands_off(true, "work", "bob", b.fabric.now());
  b.fabric.unlink(b.end);
  b.sweeps(1);
  b.tell(TargetState::kClear);
  b.sweeps(1);
  ASSERT_EQ(b.plan(2).state, PlanState::kRollingBack);
  EXPECT_EQ(b.plan(2).waits_for, "automation is stopped: bob: work");
  EXPECT_FALSE(b.book->leave(2, "", "ann", b.look()));
  b.comes_up(2);
  const std::string advice =
      "; to end it and leave the link in service: weftctl abort PLAN-2 --leave-in-service --reason ...";
  EXPECT_EQ(b.plan(2).waits_for,
            "automation is stopped: bob: work; its link is up again: its probation begins anew then" + advice);
  EXPECT_EQ(without_advice(b.plan(2).waits_for) + advice, b.plan(2).waits_for);
  b.book->drain_changes(b.fabric.now());
  ASSERT_TRUE(b.book->abort(2, "keep it out", "ann", b.look()));
  EXPECT_EQ(b.plan(2).steps.back().what, "abort of a plan that is being undone already: keep it out");
  for (const AuditRecord& record : b.book->drain_changes(b.fabric.now()).audit)
    EXPECT_EQ(record.detail.find("--leave-in-service"), std::string::npos) << record.detail << ": nobody said that";
  b.sweeps(1);
  EXPECT_EQ(b.plan(2).waits_for, "automation is stopped: bob: work" + advice) << "a person wants it out";
  EXPECT_TRUE(leave(b, 2));
}

// Only the stored plans are shown: nothing is sent before its reason is stored.
TEST(LeftInService, AnAbortThatCouldNotBeStoredIsToldOfWithTheStoredPlan) {
  Probation b;
  b.comes_up(5);
  const auto stored = std::make_shared<const std::vector<PlanPtr>>(*b.book->all());
  ASSERT_TRUE(b.book->abort(2, "keep it out", "ann", b.look()));
  const PlanPtr shown = with_progress(stored, *b.book)->back();
  EXPECT_EQ(shown->state, PlanState::kVerifying);
  EXPECT_EQ(shown->waits_for,
            "for its journal: it will be undone when that can be stored; its target stays in service until then");
}

}  // namespace
}  // namespace weft::analyzer
