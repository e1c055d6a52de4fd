// SPDX-License-Identifier: Apache-2.0
// What a person ended stays ended, and what was approved long ago is not done.

#include <gtest/gtest.h>

#include "tests/unit/analyzer/remedy/drained_host.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

TEST(KeptOut, AReturnThatAPersonRejectedIsNotProposedAgain) {
  for (const RemedySettings& settings : {automatic(), proposing()}) {
    DrainedHost b(settings);
    b.book->set_hands_off(true, "", "ann", b.fabric.now());
    b.pass(11min);
    ASSERT_EQ(b.returns(), 1U);
    ASSERT_TRUE(b.book->reject(2, "I change its memory", "ann", b.fabric.now()));
    b.book->set_hands_off(false, "", "ann", b.fabric.now());
    for (int hour = 0; hour < 10 * 24; ++hour) b.pass(1h);
    b.restart();
    b.pass(11min);
    EXPECT_TRUE(b.obey().empty());
    EXPECT_EQ(b.plan(1).kept_out, "ann rejected its return PLAN-2: I change its memory");
    EXPECT_EQ(b.plan(1).steps.back().what,
              "automation does not return it by itself: ann rejected its return PLAN-2: I change its memory");
    EXPECT_LE(b.returns(), 1U);
    ASSERT_TRUE(b.book->request(RemedyAction::kUndrainNode, host_entity("n1"), "done", "ann", b.look()));
    b.pass(1s);
    EXPECT_EQ(b.obey(), std::vector{RemedyAction::kUndrainNode}) << "a person asks";
  }
}

TEST(KeptOut, AReturnThatAPersonAbortedIsNotDoneAgain) {
  DrainedHost b;
  b.pass(11min);
  b.obey();
  ASSERT_EQ(b.plan(2).state, PlanState::kVerifying);
  ASSERT_TRUE(b.book->abort(2, "keep it drained", "ann", b.fabric.now()));
  b.pass(1s);
  EXPECT_EQ(b.obey(), std::vector{RemedyAction::kDrainNode});
  ASSERT_EQ(b.plan(2).state, PlanState::kRolledBack);
  EXPECT_TRUE(b.plan(2).in_force);
  EXPECT_EQ(b.plan(2).kept_out, "ann aborted its return PLAN-2: keep it drained");
  b.pass(3h);
  b.restart();
  b.pass(3h);
  EXPECT_TRUE(b.obey().empty());
  EXPECT_EQ(b.returns(), 1U);
}

TEST(KeptOut, TheFirstOfTwoAbortsSaysWhy) {
  DrainedHost b;
  b.pass(11min);
  b.obey();
  ASSERT_TRUE(b.book->abort(2, "keep it drained", "ann", b.fabric.now()));
  ASSERT_TRUE(b.book->abort(2, "me too", "eve", b.fabric.now()));
  b.pass(1s);
  b.obey();
  EXPECT_EQ(b.plan(2).outcome, "aborted by ann: keep it drained");
  EXPECT_EQ(b.plan(2).kept_out, "ann aborted its return PLAN-2: keep it drained");
}

TEST(KeptOut, AReturnThatAPersonAbortedBeforeItWasSentIsNotDoneAgain) {
  DrainedHost b;
  b.pass(11min);
  ASSERT_EQ(b.plan(2).state, PlanState::kExecuting);
  ASSERT_TRUE(b.book->abort(2, "", "ann", b.fabric.now()));
  b.pass(3h);
  EXPECT_TRUE(b.obey().empty());
  EXPECT_EQ(b.plan(1).kept_out, "ann aborted its return PLAN-2");
}

TEST(KeptOut, ALinkSaysWhenItIsTriedAgainUntilAPersonKeepsItOut) {
  DrainedHost b(proposing());
  EXPECT_EQ(b.plan(1).return_after, kNever) << "of a host no time decides it";
  Plan off = b.plan(1);
  off.action = RemedyAction::kIsolateLink;
  off.target = b.link("leaf-0", "spine-0");
  off.started = off.finished = b.fabric.now() - 1h;
  b.begin({off});
  EXPECT_EQ(b.plan(1).return_after, off.finished + b.settings.limits.reinstate_after);
  b.pass(23h + 1min);
  ASSERT_EQ(b.returns(), 1U) << "it is proposed then";
  ASSERT_TRUE(b.book->reject(2, "the cable is out", "ann", b.fabric.now()));
  EXPECT_EQ(b.plan(1).return_after, kNever);
}

TEST(KeptOut, SaysThatOnlyAPersonBringsItBackWhereThatIsSo) {
  DrainedHost b(proposing());
  EXPECT_FALSE(b.plan(1).only_by_hand);
  Plan off = b.plan(1);
  off.requested_by = off.approved_by = "ann";
  b.begin({off});
  EXPECT_TRUE(b.plan(1).only_by_hand) << "ann drained it, though an incident is open";
  off.requested_by = off.approved_by = kOurselves;
  b.settings.modes[static_cast<std::size_t>(RemedyAction::kUndrainNode)] = RemedyMode::kOff;
  b.begin({off});
  EXPECT_TRUE(b.plan(1).only_by_hand) << "returns are off";
}

TEST(KeptOut, ALinkWhoseReturnAPersonRejectedStaysIsolated) {
  DrainedHost b(proposing());
  Plan off = b.plan(1);
  off.action = RemedyAction::kIsolateLink;
  off.target = b.link("leaf-0", "spine-0");
  off.started = off.finished = b.fabric.now() - 30h;
  b.begin({off});
  for (int i = 0; i < 10; ++i) {
    for (const PlanPtr& plan : *b.book->all())
      if (plan->state == PlanState::kProposed) {
        ASSERT_TRUE(b.book->reject(plan->id, "the cable is out", "ann", b.fabric.now()));
      }
    b.pass(1s);
  }
  EXPECT_EQ(b.returns(), 1U);
}

TEST(KeptOut, WhatAPersonTookOutAndFailedOnItsReturnIsAPersonsStill) {
  DrainedHost b;
  Plan out = b.plan(1);
  out.requested_by = out.approved_by = "ann";  // in place of a proposal for INC-1
  Plan back = out;
  back.id = 2;
  back.state = PlanState::kRolledBack;
  back.action = RemedyAction::kUndrainNode;
  back.undoes = 1;
  out.in_force = false;
  b.begin({out, back});
  EXPECT_EQ(b.plan(2).kept_out, "ann took it out of service, with PLAN-1");
  b.pass(3h);
  EXPECT_TRUE(b.obey().empty());
  EXPECT_EQ(b.returns(), 1U);
}

// Its plan may be forgotten while the return is on its way.
TEST(KeptOut, WhatAPersonTookOutLongAgoAndFailedOnItsReturnIsAPersonsStill) {
  DrainedHost b;
  Plan out = b.plan(1);
  out.requested_by = out.approved_by = "ann";  // in place of a proposal for INC-1
  out.started = out.finished = b.fabric.now() - 8 * 24h;
  b.begin({out});
  ASSERT_TRUE(b.book->request(RemedyAction::kUndrainNode, host_entity("n1"), "try", "ann", b.look()));
  b.pass(1s);
  ASSERT_EQ(b.obey(), std::vector{RemedyAction::kUndrainNode});
  ASSERT_FALSE(b.book->find(1)) << "it is older than remedy.limits.retention";
  b.hurt(7, HealthVerdict::kUnhealthy);
  b.pass(1s);
  ASSERT_EQ(b.obey(), std::vector{RemedyAction::kDrainNode});
  ASSERT_TRUE(b.plan(2).in_force);
  EXPECT_EQ(b.plan(2).kept_out, "ann took it out of service, with PLAN-1");
  b.hurt(0);
  for (int minute = 0; minute < 60; ++minute) {
    b.pass(1min);
    ASSERT_TRUE(b.obey().empty()) << minute;
  }
}

struct Approved : Book {
  Approved() : Book(proposing()) {
    book.emplace(settings, RemedyMemory{}, fabric.now(), fabric.now().time_since_epoch());
    errors("leaf-0", "spine-0");
    book->review(look());
  }
  // Hands-off comes while the target is read.
  void begin() {
    book->review(look());
    const auto reading = orders();
    ASSERT_EQ(reading.size(), 1U);
    book->set_hands_off(true, "", "bob", fabric.now());
    book->answer_reading(reading[0].number, TargetReading{TargetState::kClear, ""}, fabric.now());
    pass(1s);
    ASSERT_EQ(book->all()->back()->state, PlanState::kExecuting);
  }
  void pass(Duration time) {
    fabric.advance(time);
    book->review(look());
    orders();
  }
  bool acts() {
    for (int second = 0; second < 5; ++second) {
      fabric.advance(1s);
      book->review(look());
      for (const RemedyOrder& order : orders()) {
        if (order.kind == OrderKind::kAct) return true;
        book->answer_reading(order.number, TargetReading{TargetState::kClear, ""}, fabric.now());
      }
    }
    return false;
  }
  Entity target = link("leaf-0", "spine-0");
};

TEST(Expiry, AnApprovalOfWhatBeganAndWasNotSentEndsInTime) {
  Approved b;
  ASSERT_TRUE(b.book->approve(1, 0, "ann", b.look()));
  b.begin();
  b.pass(b.settings.limits.expiry - 1min);
  EXPECT_EQ(b.plan(1).state, PlanState::kExecuting);
  const std::uint64_t revision = b.plan(1).revision;
  b.pass(1min);
  EXPECT_EQ(b.plan(1).state, PlanState::kProposed);
  EXPECT_TRUE(b.plan(1).approved_by.empty());
  EXPECT_GT(b.plan(1).revision, revision);
  EXPECT_EQ(b.plan(1).steps.back().what, "it could not be carried out in time: proposed anew");
  b.book->set_hands_off(false, "", "bob", b.fabric.now());
  EXPECT_FALSE(b.acts());
}

TEST(Expiry, AnApprovalHoldsFromWhenItWasGiven) {
  Approved b;
  b.pass(b.settings.limits.expiry - 1min);
  ASSERT_TRUE(b.book->approve(1, 0, "ann", b.look()));
  b.book->set_hands_off(true, "drill", "bob", b.fabric.now());
  EXPECT_EQ(b.plan(1).expires, b.fabric.now() + b.settings.limits.expiry);
  b.pass(b.settings.limits.expiry - 1min);
  EXPECT_EQ(b.plan(1).state, PlanState::kApproved) << b.plan(1).steps.back().what;
  b.pass(1min);
  EXPECT_EQ(b.plan(1).state, PlanState::kProposed);
}

TEST(Expiry, AWishOfWhatBeganAndWasNotSentEndsInTime) {
  Approved b;
  ASSERT_TRUE(b.book->request(RemedyAction::kIsolateLink, b.target, "", "ann", b.look()));
  const std::uint64_t id = b.book->all()->back()->id;
  b.begin();
  b.pass(b.settings.limits.expiry);
  EXPECT_EQ(b.plan(id).state, PlanState::kExpired);
  EXPECT_EQ(b.plan(id).outcome, "it could not be carried out in time");
  b.book->set_hands_off(false, "", "bob", b.fabric.now());
  EXPECT_FALSE(b.acts());
}

TEST(Expiry, AnApprovalIsNoBetterForARestart) {
  for (const bool is_wish : {false, true}) {
    Approved b;
    if (is_wish)
      ASSERT_TRUE(b.book->request(RemedyAction::kIsolateLink, b.target, "", "ann", b.look()));
    else
      ASSERT_TRUE(b.book->approve(1, 0, "ann", b.look()));
    b.book->review(b.look());
    b.orders();  // the target is being read, and weftd is killed
    RemedyMemory memory;
    for (const PlanPtr& plan : *b.book->all()) memory.plans.push_back(*plan);
    const ClockMemory left = b.book->clock_memory();
    b.fabric.advance(72h);
    b.book.emplace(b.settings, memory, b.fabric.now(), b.fabric.now().time_since_epoch());
    b.book->resume_clock(left, b.fabric.now());
    EXPECT_FALSE(b.acts()) << is_wish;
  }
}

TEST(Expiry, WhatMayHaveBeenSentIsSeenToItsEnd) {
  Approved b;
  ASSERT_TRUE(b.book->approve(1, 0, "ann", b.look()));
  b.book->review(b.look());
  b.book->answer_reading(b.orders().at(0).number, TargetReading{TargetState::kClear, ""}, b.fabric.now());
  b.book->review(b.look());
  ASSERT_EQ(b.orders().at(0).kind, OrderKind::kAct);
  b.pass(b.settings.limits.expiry + 1min);
  EXPECT_EQ(b.plan(1).state, PlanState::kExecuting) << "its answer is on its way";
}

}  // namespace
}  // namespace weft::analyzer
