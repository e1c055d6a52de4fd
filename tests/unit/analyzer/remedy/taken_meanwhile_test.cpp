// SPDX-License-Identifier: Apache-2.0
// Somebody disables, or enables, the port of a link while its plan is on probation, is being undone, or waits to be.

#include <gtest/gtest.h>

#include "analyzer/remedy/windows.hpp"
#include "fabric/maintenance.hpp"
#include "tests/unit/analyzer/remedy/probation.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

constexpr const char* kDisabledSince = "it was given back, and somebody else has disabled it since";

void disable_unseen(Isolated& b) {
  b.fabric.unlink(b.end);
  b.fabric.port(b.end).physical_state = PortPhysicalState::kDisabled;
  b.fabric.route();
}

void disable(Isolated& b) {
  disable_unseen(b);
  b.sweeps(1);
}

/// weftd is started anew, with its own plans.
void restart(Book& b) {
  RemedyMemory memory;
  memory.ids = b.book->all()->back()->id + 1;
  for (const PlanPtr& plan : *b.book->all()) memory.plans.push_back(*plan);
  b.book.emplace(b.settings, std::move(memory), b.fabric.now());
}

/// Sweeps until something is asked; the first of it.
RemedyOrder next_order(Isolated& b) {
  for (int second = 0; second < 200; ++second) {
    b.sweeps(1);
    if (auto asked = b.orders(); !asked.empty()) return asked.front();
  }
  ADD_FAILURE() << "nothing is asked";
  return {};
}

void answer(Isolated& b, const RemedyOrder& order, TargetState found) {
  ASSERT_EQ(order.kind, OrderKind::kRead);
  b.book->answer_reading(order.number, TargetReading{found, "read"}, b.fabric.now());
}

/// All readings of so many sweeps say that; nothing is sent.
void sweeps_that_read(Isolated& b, int count, TargetState found) {
  for (int i = 0; i < count; ++i) {
    b.sweeps(1);
    for (const RemedyOrder& order : b.orders()) answer(b, order, found);
  }
}

/// PLAN-1 is aborted, what undoes it is sent, and nobody activates the link. `is_answered`: else it got no answer.
struct Undoing : Isolated {
  explicit Undoing(bool is_answered = true) {
    settings.limits.verification.windows = 60;
    book.emplace(settings, RemedyMemory{}, fabric.now());
    fabric.relink(end);
    fabric.route();
    sweeps(1);
    EXPECT_TRUE(book->request(RemedyAction::kIsolateLink, target, "why", "ann", look()));
    tell(TargetState::kClear);
    act();
    disable(*this);
    tell(TargetState::kOurs);
    sweeps(2);
    managers["test"] = ManagerSign::kSilent;
    EXPECT_TRUE(book->abort(1, "wrong link", "ann", fabric.now()));
    tell(TargetState::kOurs);
    if (is_answered)
      act();
    else
      book->answer_action(next(), fail(ErrorCode::kTimeout, "no answer"), fabric.now());
    fabric.relink(end, PortState::kInitialize);
    fabric.route();
    while (plan(1).waits_for.empty()) sweeps_that_read(*this, 1, TargetState::kClear);
    EXPECT_EQ(plan(1).state, PlanState::kRollingBack) << plan(1).outcome;
    EXPECT_TRUE(plan(1).read_back);
  }
};

TEST(TakenMeanwhile, WhatAPersonDisablesOnProbationIsNotHeldByWeft) {
  Probation b;
  b.comes_up(5);
  disable(b);
  EXPECT_EQ(b.plan(2).state, PlanState::kVerifying) << b.plan(2).outcome;
  answer(b, next_order(b), TargetState::kOurs);
  EXPECT_EQ(b.plan(2).state, PlanState::kFailed);
  EXPECT_EQ(b.plan(2).outcome, "left as it is: somebody else disabled the link: read");
  EXPECT_TRUE(is_left_to_others(own_words(b.plan(2))))
      << "whoever disabled it enables it: nothing is to be taken out again";
  EXPECT_FALSE(b.plan(2).in_force);
  EXPECT_FALSE(b.plan(1).in_force);
  b.sweeps(50);
  EXPECT_TRUE(b.orders().empty());
}

TEST(TakenMeanwhile, ASweepThatIsOlderThanItLooksFailsNoReturn) {
  Probation b;
  b.comes_up(5);
  disable(b);
  b.comes_up(1);
  answer(b, next_order(b), TargetState::kClear);
  b.sweeps_that_read_it_back(40);
  EXPECT_EQ(b.plan(2).state, PlanState::kCommitted) << b.plan(2).outcome;
}

// Of what was sent before and may still land nobody knows who disabled it: automation does not enable it.
TEST(TakenMeanwhile, WhatMayHaveLandedLateIsHeldAndNotReturnedByAutomation) {
  Probation b;
  RemedyMemory memory;
  memory.plans = {b.plan(1), b.plan(2)};
  memory.plans[0].requested_by = kOurselves;
  memory.plans[1].kept_out.clear();
  memory.plans[1].unresolved = true;
  b.book.emplace(b.settings, memory, b.fabric.now());
  b.comes_up(5);
  disable(b);
  while (b.plan(2).state != PlanState::kRolledBack) answer(b, next_order(b), TargetState::kOurs);
  EXPECT_TRUE(b.plan(2).in_force);
  EXPECT_EQ(b.plan(2).kept_out, "it was disabled again after it was back, and it is not known by whom");
}

TEST(TakenMeanwhile, WhatAPersonDisablesWhileAFailedReturnWaitsIsNotHeldByWeft) {
  Probation b;
  b.comes_up(5);
  b.book->set_hands_off(true, "work", "bob", b.fabric.now());
  b.fabric.unlink(b.end);
  b.sweeps(1);
  b.tell(TargetState::kClear);
  ASSERT_EQ(b.plan(2).state, PlanState::kRollingBack);
  disable(b);
  const RemedyOrder order = next_order(b);
  EXPECT_LT(b.fabric.now() - b.plan(2).updated, 10s) << "it is read at once";
  answer(b, order, TargetState::kOurs);
  EXPECT_EQ(b.plan(2).state, PlanState::kFailed);
  EXPECT_EQ(b.plan(2).outcome, std::string("it failed again: the link went down; ") + kDisabledSince);
  EXPECT_FALSE(b.plan(2).in_force);
  EXPECT_FALSE(b.plan(1).in_force);
}

/// PLAN-2 failed, was read to be in service, and is about to take the link out again; the answer is that it is out
/// already.
void find_it_so(Probation& b) {
  b.comes_up(5);
  b.fabric.unlink(b.end);
  b.sweeps(1);
  b.tell(TargetState::kClear);
  ASSERT_EQ(b.plan(2).intent, PlanIntent::kUndo);
  b.book->answer_action(b.next(), fail(ErrorCode::kAlreadyExists, "it is Disabled; nothing was set"), b.fabric.now());
}

TEST(TakenMeanwhile, WhatIsDisabledBetweenTheReadingAndTheOrderIsNotHeldByWeft) {
  Probation b;
  find_it_so(b);
  EXPECT_EQ(b.plan(2).intent, PlanIntent::kApply) << "nothing was sent: a restart must not take it for ours";
  answer(b, next_order(b), TargetState::kOurs);
  EXPECT_EQ(b.plan(2).state, PlanState::kFailed);
  EXPECT_EQ(b.plan(2).outcome, std::string("it failed again: the link went down; ") + kDisabledSince);
  EXPECT_FALSE(b.plan(2).in_force);
  EXPECT_FALSE(b.plan(2).unresolved);
  b.sweeps(50);
  EXPECT_TRUE(b.orders().empty());
}

TEST(TakenMeanwhile, WhatIsDisabledWhileItCannotBeReadIsNotHeldByWeft) {
  Probation b;
  find_it_so(b);
  while (!is_over(b.plan(2).state)) {
    const RemedyOrder order = next_order(b);
    ASSERT_EQ(order.kind, OrderKind::kRead);
    b.book->answer_reading(order.number, fail(ErrorCode::kTimeout, "no answer"), b.fabric.now());
  }
  EXPECT_EQ(b.plan(2).state, PlanState::kFailed);
  EXPECT_FALSE(b.plan(2).unresolved) << "nothing was sent that may still take it out";
  for (int minute = 0; minute < 30; ++minute) sweeps_that_read(b, 60, TargetState::kOurs);
  EXPECT_FALSE(b.plan(2).in_force) << b.plan(2).steps.back().what;
}

TEST(TakenMeanwhile, WhatIsEnabledAgainBeforeTheReadingIsTakenOutAllTheSame) {
  Probation b;
  find_it_so(b);
  answer(b, next_order(b), TargetState::kClear);
  const RemedyOrder order = next_order(b);
  EXPECT_EQ(order.kind, OrderKind::kAct);
  b.book->answer_action(order.number, {}, b.fabric.now());
  answer(b, next_order(b), TargetState::kOurs);
  EXPECT_EQ(b.plan(2).state, PlanState::kRolledBack) << b.plan(2).outcome;
  EXPECT_TRUE(b.plan(2).in_force);
}

// weftd was killed between the order and its answer, and what it had sent lands when the next one is about to be sent.
TEST(TakenMeanwhile, WhatWasSentBeforeARestartAndIsFoundSoIsHeldByWeft) {
  Probation b;
  b.comes_up(5);
  b.fabric.unlink(b.end);
  b.sweeps(1);
  b.tell(TargetState::kClear);
  ASSERT_EQ(b.plan(2).intent, PlanIntent::kUndo);
  ASSERT_EQ(b.orders().size(), 1U);
  restart(b);
  RemedyOrder order = next_order(b);
  for (; order.kind == OrderKind::kRead; order = next_order(b)) answer(b, order, TargetState::kClear);
  b.book->answer_action(order.number, fail(ErrorCode::kAlreadyExists, "it is Disabled"), b.fabric.now());
  while (b.plan(2).state == PlanState::kRollingBack) answer(b, next_order(b), TargetState::kOurs);
  EXPECT_EQ(b.plan(2).state, PlanState::kRolledBack) << b.plan(2).outcome;
  EXPECT_TRUE(b.plan(2).in_force);
  EXPECT_FALSE(b.plan(2).kept_out.empty()) << "automation does not enable what a person may have disabled";
}

TEST(TakenMeanwhile, WhatIsDisabledBeforeAnIsolationIsSentIsLeftToWhoeverDidIt) {
  Book b(a_short_probation());
  const Entity target = b.link("leaf-1", "spine-0");
  ASSERT_TRUE(b.book->request(RemedyAction::kIsolateLink, target, "why", "ann", b.look()));
  b.book->review(b.look());
  b.book->answer_reading(b.orders().front().number, TargetReading{TargetState::kClear, ""}, b.fabric.now());
  b.book->review(b.look());
  b.book->answer_action(b.orders().front().number, fail(ErrorCode::kAlreadyExists, "it is Disabled"), b.fabric.now());
  EXPECT_EQ(b.plan(1).state, PlanState::kExpired);
  EXPECT_EQ(b.plan(1).outcome, "not needed: already in the wanted state: it is Disabled");
  EXPECT_FALSE(b.plan(1).in_force);
  EXPECT_EQ(b.plan(1).started, kNever) << "no budget is spent";
}

TEST(TakenMeanwhile, WhatIsUndoneAndDisabledSinceIsNotGivenBackTwice) {
  Undoing b;
  disable(b);
  EXPECT_EQ(b.plan(1).state, PlanState::kRollingBack) << "one sweep may be wrong: it is read";
  answer(b, next_order(b), TargetState::kOurs);
  EXPECT_EQ(b.plan(1).state, PlanState::kRolledBack);
  EXPECT_EQ(b.plan(1).outcome, std::string("aborted by ann: wrong link; ") + kDisabledSince);
  EXPECT_TRUE(b.orders().empty());
}

TEST(TakenMeanwhile, ASweepThatIsOlderThanItLooksEndsNoUndoing) {
  Undoing b;
  disable(b);
  answer(b, next_order(b), TargetState::kClear);
  EXPECT_EQ(b.plan(1).state, PlanState::kRollingBack) << b.plan(1).outcome;
  disable(b);
  answer(b, next_order(b), TargetState::kClear);
  b.managers.clear();
  b.comes_up(2);
  EXPECT_EQ(b.plan(1).state, PlanState::kRolledBack);
  EXPECT_EQ(b.plan(1).outcome, "aborted by ann: wrong link");
}

// What the topology says of an end that did not answer is of before.
TEST(TakenMeanwhile, AnEndThatNoSweepReadIsNotSaidToBeDisabled) {
  Undoing b;
  const NodeIndex leaf = b.fabric.topology()->port(b.end).node;
  b.fabric.silence(leaf, true);
  disable_unseen(b);
  for (int second = 0; second < 5; ++second) {
    b.sweeps(1);
    EXPECT_TRUE(b.orders().empty()) << "nobody is seen to have disabled it";
  }
  EXPECT_EQ(b.plan(1).state, PlanState::kRollingBack) << b.plan(1).outcome;
  RemedyView view = b.look();
  EXPECT_NE(sight_of(b.target, view, kNever), LinkSight::kDisabled);
  b.fabric.silence(leaf, false);
  EXPECT_EQ(sight_of(b.target, b.look(), kNever), LinkSight::kDisabled);
}

// Its other end, which answers, is linked: an end that does not answer says nothing.
TEST(TakenMeanwhile, OfALinkSightIsByTheEndsThatAnswer) {
  Isolated b;
  b.fabric.relink(b.end);
  b.look();
  b.fabric.silence(b.fabric.topology()->port(b.end).node, true);
  b.fabric.port(b.end).physical_state = PortPhysicalState::kDisabled;
  b.fabric.port(b.end).state = PortState::kDown;
  EXPECT_EQ(sight_of(b.target, b.look(), kNever), LinkSight::kUnknown);
  b.fabric.unlink(b.end);
  EXPECT_EQ(sight_of(b.target, b.look(), kNever), LinkSight::kDown);
}

// Neither abort nor leave is possible then: the reading ends it.
TEST(TakenMeanwhile, WhatAPersonDisablesOnProbationWhileNobodyActivatesLinksIsNotHeldByWeft) {
  Probation b;
  b.comes_up(5);
  b.managers["test"] = ManagerSign::kSilent;
  b.sweeps(2);
  disable(b);
  EXPECT_EQ(b.book->leave(2, "x", "ann", b.look()).error().message,
            "PLAN-2 cannot be ended so: its link is not in service, an end of it is disabled; it is read whether "
            "somebody else did that: weftctl plan PLAN-2");
  answer(b, next_order(b), TargetState::kOurs);
  EXPECT_EQ(b.plan(2).state, PlanState::kFailed);
  EXPECT_EQ(b.plan(2).outcome, "left as it is: somebody else disabled the link: read");
}

TEST(TakenMeanwhile, ThatItWasReadToBeBackIsKnownAfterARestart) {
  for (const bool is_down_meanwhile : {false, true}) {
    Undoing b;
    if (is_down_meanwhile) disable_unseen(b);
    restart(b);
    if (!is_down_meanwhile) {
      b.sweeps_that_read_it_back(3);
      disable(b);
    }
    sweeps_that_read(b, 30, TargetState::kOurs);
    EXPECT_EQ(b.plan(1).state, PlanState::kRolledBack) << b.plan(1).outcome;
    EXPECT_EQ(b.plan(1).outcome, std::string("aborted by ann: wrong link; ") + kDisabledSince);
  }
}

TEST(TakenMeanwhile, AnUndoingWithoutAnAnswerThatIsReadToBeBackIsNotSentTwice) {
  Undoing b(false);
  disable(b);
  sweeps_that_read(b, 30, TargetState::kOurs);
  EXPECT_EQ(b.plan(1).state, PlanState::kRolledBack) << b.plan(1).outcome;
  EXPECT_EQ(b.plan(1).outcome, std::string("aborted by ann: wrong link; ") + kDisabledSince);
}

// PLAN-1 was being verified, and waits to be undone.
TEST(EnabledMeanwhile, APlanThatWaitsToBeUndoneSeesThatSomebodyDidIt) {
  Isolated b;
  ASSERT_TRUE(b.book->request(RemedyAction::kRestoreLink, b.target, "", "ann", b.look()));
  RemedyMemory memory;
  memory.plans = {b.plan(1)};
  memory.plans[0].state = PlanState::kVerifying;
  memory.plans[0].finished = kNever;
  memory.plans[0].intent = PlanIntent::kApply;
  b.book.emplace(b.settings, memory, b.fabric.now());
  b.book->set_hands_off(true, "work", "bob", b.fabric.now());
  ASSERT_TRUE(b.book->abort(1, "wrong link", "ann", b.fabric.now()));
  b.tell(TargetState::kOurs);
  b.sweeps(5);
  ASSERT_TRUE(b.orders().empty()) << "nothing is sent, and nothing new is seen";
  b.comes_up(1);
  for (int second = 0; second < 20 && b.plan(1).state == PlanState::kRollingBack; ++second)
    sweeps_that_read(b, 1, TargetState::kClear);
  EXPECT_EQ(b.plan(1).state, PlanState::kRolledBack);
  EXPECT_EQ(b.plan(1).outcome, "aborted by ann: wrong link");
  EXPECT_FALSE(window_of(b.plan(1))) << "when it goes down now, that is an outage";
}

TEST(EnabledMeanwhile, WhatWaitsIsReadFromTimeToTimeAndNotGivenUpWhenItCannotBeRead) {
  Probation b;
  b.comes_up(5);
  b.book->set_hands_off(true, "work", "bob", b.fabric.now());
  b.fabric.unlink(b.end);
  b.sweeps(1);
  b.tell(TargetState::kClear);
  unsigned readings = 0;
  for (int second = 0; second < 2000; ++second) {
    b.sweeps(1);
    for (const RemedyOrder& order : b.orders()) {
      ++readings;
      ASSERT_EQ(order.kind, OrderKind::kRead);
      b.book->answer_reading(order.number, fail(ErrorCode::kTimeout, "?"), b.fabric.now());
    }
    ASSERT_EQ(b.plan(2).state, PlanState::kRollingBack) << b.plan(2).outcome;
    ASSERT_TRUE(b.plan(2).waits_for.starts_with("automation is stopped")) << b.plan(2).waits_for;
  }
  EXPECT_GT(readings, 2U);
  EXPECT_LT(readings, 2000s / b.settings.limits.check_interval + 3U);
}

TEST(EnabledMeanwhile, AReturnThatFailedIsNotComingBack) {
  Probation b;
  EXPECT_TRUE(window_of(b.plan(2)));
  b.comes_up(5);
  b.book->set_hands_off(true, "work", "bob", b.fabric.now());
  b.fabric.unlink(b.end);
  b.sweeps(1);
  ASSERT_EQ(b.plan(2).state, PlanState::kRollingBack);
  EXPECT_FALSE(window_of(b.plan(2))) << "that it is down is an outage";
  b.tell(TargetState::kClear);
  b.book->set_hands_off(false, "", "bob", b.fabric.now());
  b.sweeps(1);
  const auto sent = b.orders();
  ASSERT_EQ(sent.size(), 1U);
  ASSERT_EQ(sent[0].kind, OrderKind::kAct);
  const auto window = window_of(b.plan(2));
  ASSERT_TRUE(window) << "it is being taken out again";
  EXPECT_EQ(in_words(*window),
            "taken out of service by PLAN-2: its return failed: it failed again: the link went down");
}

TEST(EnabledMeanwhile, WhatWasUpBeforeARestartIsNotComingBack) {
  Probation b;
  b.comes_up(5);
  restart(b);
  EXPECT_FALSE(window_of(b.plan(2)));
}

// PLAN-2 failed, and the order to take its link out again is out, or was.
struct Failed : Probation {
  Failed() {
    comes_up(5);
    fabric.unlink(end);
    sweeps(1);
    tell(TargetState::kClear);
    sent = orders();
    EXPECT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent.front().kind, OrderKind::kAct);
  }
  Result<Plan> leave() { return book->leave(2, "new cable", "ann", look()); }
  std::vector<RemedyOrder> sent;
};

TEST(HeldBeforeItWasSent, IsNotSent) {
  Failed b;
  EXPECT_EQ(b.leave().error().message,
            "PLAN-2 is being undone, and what takes its target out again was sent: weftctl plan PLAN-2");
  b.book->set_hands_off(true, "work", "bob", b.fabric.now());
  b.book->answer_held(b.sent.front().number, "all automation is stopped", b.fabric.now());
  b.comes_up(2);
  EXPECT_EQ(b.plan(2).intent, PlanIntent::kApply);
  ASSERT_TRUE(b.leave());
  EXPECT_EQ(b.plan(2).outcome, "left in service by ann: new cable; before, it failed again: the link went down");
  EXPECT_FALSE(b.plan(2).unresolved);
}

TEST(HeldBeforeItWasSent, IsOnProbationAnewWhenItIsWell) {
  Failed b;
  b.book->set_hands_off(true, "work", "bob", b.fabric.now());
  b.book->answer_held(b.sent.front().number, "all automation is stopped", b.fabric.now());
  b.comes_up(2);
  b.book->set_hands_off(false, "", "bob", b.fabric.now());
  b.sweeps_that_read_it_back(3);
  EXPECT_EQ(b.plan(2).state, PlanState::kVerifying) << b.plan(2).outcome;
}

TEST(HeldBeforeItWasSent, IsNotUnresolvedWhenAGuardRefusesItAfterwards) {
  Failed b;
  b.book->answer_held(b.sent.front().number, "too late", b.fabric.now());
  for (const char* spine : {"spine-1", "spine-2", "spine-3", "spine-4", "spine-5"})
    b.fabric.unlink(b.fabric.port_towards("leaf-1", spine));
  b.fabric.route();
  sweeps_that_read(b, 30, TargetState::kClear);
  EXPECT_EQ(b.plan(2).state, PlanState::kFailed) << b.plan(2).outcome;
  EXPECT_FALSE(b.plan(2).unresolved);
}

// Nobody knows whether it was sent. That the link is in service tells that it has not landed yet.
TEST(KilledBeforeItWasSent, IsOnProbationAnewAndMayBeLeft) {
  for (const bool is_left : {false, true}) {
    Failed b;
    restart(b);
    b.managers["test"] = ManagerSign::kSilent;
    b.comes_up(1);
    sweeps_that_read(b, 40, TargetState::kClear);
    ASSERT_EQ(b.plan(2).state, PlanState::kRollingBack) << b.plan(2).outcome;
    if (is_left) {
      ASSERT_TRUE(b.leave());
      EXPECT_TRUE(b.plan(2).unresolved) << "it may still land";
      continue;
    }
    b.managers["test"] = ManagerSign::kHeard;
    sweeps_that_read(b, 15, TargetState::kClear);
    EXPECT_EQ(b.plan(2).state, PlanState::kVerifying) << b.plan(2).outcome;
  }
}

// Bit errors: the link is up all the time.
TEST(Recovered, IsNotWhoseIncidentIsOpen) {
  for (const bool is_over : {false, true}) {
    Probation b;
    b.comes_up(5);
    b.book->set_hands_off(true, "work", "bob", b.fabric.now());
    b.errors("leaf-1", "spine-0");
    b.sweeps(1);
    b.tell(TargetState::kClear);
    ASSERT_EQ(b.plan(2).state, PlanState::kRollingBack);
    b.sweeps(2);
    if (is_over) {
      auto over = std::make_shared<Incident>(*b.incidents[0]);
      over->state = IncidentState::kResolved;
      over->resolved = b.fabric.now();
      b.incidents[0] = std::move(over);
    }
    b.book->set_hands_off(false, "", "bob", b.fabric.now());
    b.sweeps(1);
    EXPECT_EQ(b.plan(2).state, is_over ? PlanState::kVerifying : PlanState::kRollingBack);
    if (is_over) {
      EXPECT_TRUE(b.plan(2).steps.back().what.starts_with("it is up, and no trouble of it is seen"))
          << b.plan(2).steps.back().what;
    }
  }
}

}  // namespace
}  // namespace weft::analyzer
