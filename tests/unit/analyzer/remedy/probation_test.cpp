// SPDX-License-Identifier: Apache-2.0
// Until when what came back is on probation.

#include <gtest/gtest.h>

#include "fabric/minute_text.hpp"
#include "fabric/plan_prospects.hpp"
#include "tests/unit/analyzer/remedy/probation.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

TEST(ProbationTime, BeginsWhenTheLinkIsUpAndMovesWithEachSweep) {
  Probation b;
  b.sweeps(3);
  EXPECT_EQ(b.plan(2).probation_until, kNever) << "it is not up yet";
  EXPECT_EQ(b.plan(2).waits_for, "the link does not come up");
  const auto waits = b.book->all();
  b.comes_up(1);
  ASSERT_EQ(b.plan(2).windows_good, 1U);
  ASSERT_EQ(b.plan(2).windows_needed, 30U);
  EXPECT_EQ(b.plan(2).waits_for, "");
  EXPECT_EQ(with_progress(waits, *b.book)->back()->waits_for, "");
  EXPECT_EQ(b.plan(2).probation_until, b.fabric.now() + 29s);
  const TimePoint until = b.plan(2).probation_until;
  const auto stored = b.book->all();
  b.sweeps(10);
  EXPECT_EQ(b.plan(2).probation_until, until) << "all is well";
  EXPECT_EQ(with_progress(stored, *b.book)->back()->probation_until, until);
  b.sweeps(20);
  EXPECT_EQ(b.plan(2).state, PlanState::kCommitted) << b.plan(2).outcome;
  EXPECT_EQ(b.plan(2).probation_until, kNever);
}

TEST(ProbationTime, StandsStillWithAReason) {
  Probation b;
  b.comes_up(2);
  EXPECT_EQ(b.plan(2).waits_for, "");
  RemedyView late = b.look();
  b.book->review(late);
  const std::uint32_t good = b.plan(2).windows_good;
  late.now += 20s;
  if (late.steady) *late.steady += 20s;
  b.book->review(late);
  EXPECT_EQ(b.plan(2).windows_good, good);
  EXPECT_EQ(without_advice(b.plan(2).waits_for), "for the next sweep, which is late: some node may be slow to answer");
  b.fabric.advance(20s);
  b.sweeps(1);
  EXPECT_EQ(b.plan(2).waits_for, "");
}

// As where our own cable is unplugged: what is known of the link is of before.
TEST(AProbation, StandsStillWhileNobodyReadsTheLink) {
  Probation b;
  b.comes_up(20);
  const std::uint32_t good = b.plan(2).windows_good;
  for (const char* node : {"leaf-1", "spine-0"}) b.fabric.silence(b.fabric.find(node));
  b.sweeps(1000);
  ASSERT_EQ(b.plan(2).state, PlanState::kVerifying) << b.plan(2).outcome;
  EXPECT_EQ(b.plan(2).windows_good, good);
  EXPECT_EQ(without_advice(b.plan(2).waits_for), "the last sweep read neither end of the link");
  b.fabric.silence(b.fabric.find("leaf-1"), false);
  b.sweeps(9);
  EXPECT_EQ(b.plan(2).state, PlanState::kVerifying);
  b.sweeps(2);
  EXPECT_EQ(b.plan(2).state, PlanState::kCommitted) << b.plan(2).outcome;
}

// How many sweeps until a link that never comes up is taken out again, when that many of a hundred do not read it.
int sweeps_until_failed(int unread_of_hundred) {
  Probation b;
  const auto silence = [&b](bool silent) {
    for (const char* node : {"leaf-1", "spine-0"}) b.fabric.silence(b.fabric.find(node), silent);
  };
  int sweeps = 0;
  for (; b.plan(2).state == PlanState::kVerifying && sweeps < 2000; ++sweeps) {
    silence((sweeps + 1) * unread_of_hundred / 100 > sweeps * unread_of_hundred / 100);
    b.sweeps(1);
  }
  EXPECT_EQ(b.plan(2).outcome, "the link does not come up");
  return sweeps;
}

TEST(AProbation, LeavesOutTheTimeThatNobodyReadsTheLinkAndNoMore) {
  const int within = static_cast<int>(RemedyLimits().verification.within / 1s);
  EXPECT_NEAR(sweeps_until_failed(0), within, 3);
  EXPECT_NEAR(sweeps_until_failed(1), within * 100 / 99, 3);
  EXPECT_NEAR(sweeps_until_failed(20), within * 100 / 80, 3);
  EXPECT_NEAR(sweeps_until_failed(50), within * 100 / 50, 3);
}

TEST(AProbation, GoesOnAfterASwitchWasDownAsAWhole) {
  Probation b;
  b.comes_up(20);
  ASSERT_EQ(b.plan(2).windows_good, 20U);
  b.all_of("spine-0", false);
  b.sweeps(25);
  ASSERT_EQ(b.plan(2).state, PlanState::kVerifying) << b.plan(2).outcome;
  EXPECT_EQ(b.plan(2).waits_for, "none of the links of spine-0 is up");
  b.all_of("spine-0", true);
  b.sweeps(5);
  ASSERT_EQ(b.plan(2).state, PlanState::kVerifying) << "it trains, as after it was sent: " << b.plan(2).outcome;
  EXPECT_EQ(b.plan(2).waits_for, "the link does not come up");
  EXPECT_EQ(b.plan(2).windows_good, 20U);
  b.comes_up(11);
  EXPECT_EQ(b.plan(2).state, PlanState::kCommitted) << b.plan(2).outcome;
}

TEST(AProbation, IsNotFailedByShortOutagesOfASwitchThatAddUp) {
  Probation b;
  b.comes_up(5);
  for (const int outage : {1, 2}) {
    b.all_of("spine-0", false);
    b.sweeps(20);
    b.all_of("spine-0", true);
    b.comes_up(10);
    ASSERT_EQ(b.plan(2).state, PlanState::kVerifying) << outage << ": " << b.plan(2).outcome;
  }
  b.sweeps(10);
  EXPECT_EQ(b.plan(2).state, PlanState::kCommitted) << b.plan(2).outcome;
}

TEST(AProbation, IsFailedByALinkThatDoesNotComeBackWithItsSwitch) {
  Probation b;
  b.comes_up(5);
  b.all_of("spine-0", false);
  b.sweeps(5);
  b.all_of("spine-0", true);
  const int within = static_cast<int>(b.settings.limits.verification.within / 1s);
  b.sweeps(within - 2);
  EXPECT_EQ(b.plan(2).state, PlanState::kVerifying);
  b.sweeps(4);
  EXPECT_EQ(b.plan(2).state, PlanState::kRollingBack);
  EXPECT_EQ(b.plan(2).outcome, "it failed again: the link went down");
}

TEST(AProbation, DoesNotWaitForADeadSwitchForEver) {
  for (const bool was_up : {false, true}) {
    Probation b;
    if (was_up) {
      b.comes_up(5);
    }
    b.all_of("spine-0", false);
    b.sweeps(29);
    EXPECT_EQ(b.plan(2).state, PlanState::kVerifying) << b.plan(2).outcome;
    b.sweeps(3);
    EXPECT_EQ(b.plan(2).state, PlanState::kRollingBack);
    EXPECT_EQ(b.plan(2).outcome, "none of the links of spine-0 is up");
  }
}

TEST(AReturnBySomebodyElse, IsWatchedForWhoeverAsksForIt) {
  Isolated b;
  b.comes_up(1);
  const auto seen = b.book->preview(RemedyAction::kRestoreLink, b.target, "", "ann", b.look());
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->outcome,
            "it is up already: nothing is sent; PLAN-1 ceases to hold it, and it is watched on probation");
  ASSERT_TRUE(b.book->request(RemedyAction::kRestoreLink, b.target, "", "ann", b.look()));
  b.tell(TargetState::kClear);
  EXPECT_EQ(b.plan(2).state, PlanState::kVerifying) << b.plan(2).outcome;
  EXPECT_FALSE(b.plan(1).in_force);
  b.sweeps(31);
  EXPECT_EQ(b.plan(2).state, PlanState::kCommitted) << b.plan(2).outcome;
  EXPECT_EQ(b.plan(2).started, kNever) << "nothing was sent";
}

TEST(AReturnBySomebodyElse, IsWatchedAlsoWhenItsPlanHasLetGo) {
  Isolated b;
  b.comes_up(1);
  b.tell(TargetState::kClear);
  ASSERT_FALSE(b.plan(1).in_force);
  const auto seen = b.book->preview(RemedyAction::kRestoreLink, b.target, "", "ann", b.look());
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->outcome, "it is up already: nothing is sent; it is watched on probation");
  ASSERT_TRUE(b.book->request(RemedyAction::kRestoreLink, b.target, "", "ann", b.look()));
  b.tell(TargetState::kClear);
  EXPECT_EQ(b.plan(2).state, PlanState::kVerifying) << b.plan(2).outcome;
  b.sweeps(31);
  EXPECT_EQ(b.plan(2).state, PlanState::kCommitted) << b.plan(2).outcome;
  EXPECT_EQ(b.plan(2).started, kNever) << "nothing was sent";
  const auto again = b.book->request(RemedyAction::kRestoreLink, b.target, "", "ann", b.look());
  EXPECT_FALSE(again) << "once";
}

TEST(AReturnBySomebodyElse, IsNotSentWhereSomebodyTookItOutAgain) {
  Isolated b;
  b.comes_up(1);
  b.tell(TargetState::kClear);
  ASSERT_TRUE(b.book->request(RemedyAction::kRestoreLink, b.target, "", "ann", b.look()));
  b.tell(TargetState::kOurs);
  EXPECT_EQ(b.plan(2).state, PlanState::kExpired);
  EXPECT_TRUE(b.plan(2).outcome.starts_with("left as it is: somebody else took it out of service"))
      << b.plan(2).outcome;
  b.fabric.unlink(b.end);
  b.sweeps(1);
  EXPECT_FALSE(b.book->request(RemedyAction::kRestoreLink, b.target, "", "ann", b.look())) << "it is down";
}

// Both undos of its return were answered: what the first one does may be seen later.
void take_back_twice(Probation& b) {
  b.comes_up(3);
  b.fabric.unlink(b.end);
  b.fabric.route();
  b.sweeps(1);
  ASSERT_EQ(b.plan(2).state, PlanState::kRollingBack);
  int undos = 0;
  for (int round = 0; round < 20 && b.plan(2).state == PlanState::kRollingBack; ++round) {
    b.fabric.advance(5s);
    b.book->review(b.look());
    for (const RemedyOrder& order : b.orders()) {
      const TargetState found = undos < 2 ? TargetState::kClear : TargetState::kOurs;
      undos += order.kind == OrderKind::kAct;
      if (order.kind == OrderKind::kAct)
        b.book->answer_action(order.number, {}, b.fabric.now());
      else
        b.book->answer_reading(order.number, TargetReading{found, ""}, b.fabric.now());
    }
  }
  ASSERT_EQ(b.plan(2).state, PlanState::kRolledBack) << b.plan(2).outcome;
  ASSERT_EQ(undos, 2);
}

TEST(AReturnThatFailed, LetsGoAtOnceWhenItWasTakenBackOnceAndSomebodyEnabledIt) {
  for (const auto& [is_aborted, is_restarted] : {std::pair(false, false), {true, false}, {false, true}, {true, true}}) {
    Probation b;
    b.comes_up(3);
    if (is_aborted) {
      ASSERT_TRUE(b.book->abort(2, "wrong port", "ann", b.look()));
    } else {
      b.fabric.unlink(b.end);
      b.fabric.route();
      b.sweeps(1);
    }
    ASSERT_EQ(b.plan(2).state, PlanState::kRollingBack);
    b.tell(TargetState::kClear);
    b.act();
    b.fabric.unlink(b.end);
    b.tell(TargetState::kOurs);
    ASSERT_EQ(b.plan(2).state, PlanState::kRolledBack) << b.plan(2).outcome;
    ASSERT_TRUE(b.plan(2).in_force);
    if (is_restarted) {
      RemedyMemory memory;
      for (const auto& plan : *b.book->all()) memory.plans.push_back(*plan);
      memory.ids = 3;
      b.book.emplace(b.settings, memory, b.fabric.now());
    }
    b.comes_up(1);
    b.tell(TargetState::kClear);
    EXPECT_FALSE(b.plan(2).in_force);
    EXPECT_FALSE(b.plan(2).unresolved) << b.plan(2).steps.back().what;
    EXPECT_TRUE(b.book->request(RemedyAction::kIsolateLink, b.target, "", "ann", b.look()));
  }
}

TEST(AReturnThatFailed, StandsInTheHistoryOfWhatItWasToBringBack) {
  Probation b;
  const auto last = [&b](std::uint64_t id) { return b.plan(id).steps.back().what; };
  const auto fails = [&b](std::uint64_t id) {
    b.comes_up(3);
    ASSERT_TRUE(b.book->abort(id, "wrong port", "ann", b.look()));
    b.tell(TargetState::kClear);
    b.act();
    b.fabric.unlink(b.end);
    b.tell(TargetState::kOurs);
    ASSERT_EQ(b.plan(id).state, PlanState::kRolledBack) << b.plan(id).outcome;
  };
  EXPECT_EQ(last(1), "reverted by PLAN-2");
  fails(2);
  EXPECT_EQ(last(1), "held again by PLAN-2: aborted by ann: wrong port");
  ASSERT_TRUE(b.book->request(RemedyAction::kRestoreLink, b.target, "", "ann", b.look()));
  b.tell(TargetState::kOurs);
  b.act();
  b.tell(TargetState::kClear);
  for (const std::uint64_t id : {1, 2}) EXPECT_EQ(last(id), "reverted by PLAN-3") << id;
  fails(3);
  for (const std::uint64_t id : {1, 2}) EXPECT_EQ(last(id), "held again by PLAN-3: aborted by ann: wrong port") << id;
  b.comes_up(1);
  b.tell(TargetState::kClear);
  ASSERT_FALSE(b.plan(3).in_force);
  for (const std::uint64_t id : {1, 2, 3})
    EXPECT_TRUE(last(id).starts_with("somebody else enabled the link again")) << id << ": " << last(id);
}

TEST(AReturnThatFailed, IsWatchedWhenItWasTakenBackTwiceAndTheNextReturnFindsIt) {
  Probation b;
  take_back_twice(b);
  ASSERT_TRUE(b.plan(2).in_force);
  b.comes_up(1);
  ASSERT_TRUE(b.book->request(RemedyAction::kRestoreLink, b.target, "", "ann", b.look()));
  b.tell(TargetState::kClear);
  EXPECT_TRUE(b.plan(3).started == kNever) << "nothing was sent";
  EXPECT_FALSE(b.plan(2).in_force);
  EXPECT_TRUE(b.plan(2).unresolved) << b.plan(2).steps.back().what;
  EXPECT_NE(b.plan(2).steps.back().what.find("PLAN-3 found it reverted; what weftd sent may still land until "),
            std::string::npos)
      << b.plan(2).steps.back().what;
}

TEST(AReturnThatFailed, IsWatchedWhenItWasTakenBackTwiceAndSomebodyEnabledIt) {
  Probation b;
  take_back_twice(b);
  b.comes_up(3);  // what a sweep shows directly after our own change says nothing
  b.tell(TargetState::kClear);
  ASSERT_TRUE(b.plan(2).unresolved);
  EXPECT_NE(b.plan(2).steps.back().what.find("what weftd sent may still land until "), std::string::npos)
      << b.plan(2).steps.back().what;
  const auto isolated = b.book->request(RemedyAction::kIsolateLink, b.target, "", "ann", b.look());
  ASSERT_FALSE(isolated);
  EXPECT_EQ(isolated.error().message, "PLAN-2 may hold it: what weftd sent for PLAN-2 may still take effect until " +
                                          minute_text(b.plan(2).unresolved_until) +
                                          ", and is read then: weftctl plan PLAN-2");
  EXPECT_EQ(b.plan(2).unresolved_until, b.plan(2).finished + 30min);
  const std::string until = minute_text(b.plan(2).unresolved_until);
  Probation unread;
  take_back_twice(unread);
  unread.comes_up(3);
  unread.tell(TargetState::kClear);
  unread.fabric.advance(31min);  // and nobody can read it
  const auto later = unread.book->request(RemedyAction::kIsolateLink, unread.target, "", "ann", unread.look());
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().message, "PLAN-2 may hold it: what weftd sent for PLAN-2 could take effect until " + until +
                                       ", and its state has not been read since: weftctl plan PLAN-2");
  ASSERT_TRUE(b.book->request(RemedyAction::kRestoreLink, b.target, "", "ann", b.look()));
  b.tell(TargetState::kClear);
  EXPECT_EQ(b.plan(3).state, PlanState::kVerifying) << b.plan(3).outcome;
  b.sweeps(31);
  EXPECT_EQ(b.plan(3).state, PlanState::kCommitted) << b.plan(3).outcome;
  b.fabric.advance(b.settings.limits.late_watch);
  b.sweeps(1);
  b.tell(TargetState::kClear);
  EXPECT_TRUE(b.plan(2).unresolved) << "one reading alone may be wrong";
  b.sweeps(2);
  b.tell(TargetState::kClear);
  EXPECT_FALSE(b.plan(2).unresolved) << "nothing landed";
}

TEST(AReturnBySomebodyElse, IsTakenBackWhenItFailsAgain) {
  Isolated b;
  b.comes_up(1);
  ASSERT_TRUE(b.book->request(RemedyAction::kRestoreLink, b.target, "", "ann", b.look()));
  b.tell(TargetState::kClear);
  b.sweeps(2);
  b.fabric.unlink(b.end);
  b.sweeps(1);
  ASSERT_EQ(b.plan(2).state, PlanState::kRollingBack) << b.plan(2).outcome;
  b.tell(TargetState::kClear);
  const auto orders = b.orders();
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_EQ(orders.front().action, RemedyAction::kIsolateLink);
}

TEST(AReturnBySomebodyElse, OfAnIsolatedLinkIsNotForeseenWhileItIsDown) {
  Isolated b;
  const auto seen = b.book->preview(RemedyAction::kRestoreLink, b.target, "", "ann", b.look());
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->outcome, "");
}

TEST(AnAbortedReturn, IsRefusedWhereTheLinkMustStay) {
  Probation b;
  b.is_up_where_guards_forbid_to_isolate();
  const auto refused = b.book->abort(2, "wrong cable", "bob", b.look());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_NE(refused.error().message.find("LEAF_CAPACITY: "), std::string::npos) << refused.error().message;
  EXPECT_NE(refused.error().message.find(". It stays in service, and PLAN-2 goes on"), std::string::npos);
  EXPECT_EQ(b.plan(2).state, PlanState::kVerifying);
  const auto audit = b.book->drain_changes(b.fabric.now()).audit;
  ASSERT_FALSE(audit.empty());
  EXPECT_EQ(audit.back().what, "refused");
  EXPECT_NE(audit.back().detail.find("wrong cable"), std::string::npos);
}

TEST(AnAbortedReturn, FailsNotWhereTheLinkMustStayMeanwhile) {
  Probation b;
  b.comes_up(1);
  ASSERT_TRUE(b.book->abort(2, "wrong cable", "bob", b.look()));
  b.is_up_where_guards_forbid_to_isolate();
  b.tell(TargetState::kClear);
  EXPECT_EQ(b.plan(2).state, PlanState::kRejected);
  EXPECT_TRUE(b.plan(2).outcome.starts_with("aborted by bob: wrong cable; it stays in service: LEAF_CAPACITY: "))
      << b.plan(2).outcome;
  EXPECT_FALSE(b.plan(2).in_force || b.plan(2).unresolved);
}

TEST(AnAbortedReturn, SaysThatItWaitsForHandsOff) {
  Probation b;
  b.comes_up(2);
  b.book->set_hands_off(true, "drill", "kim", b.fabric.now());
  const auto aborted = b.book->abort(2, "wrong cable", "bob", b.look());
  ASSERT_TRUE(aborted) << aborted.error().message;
  EXPECT_EQ(aborted->waits_for, "automation is stopped: kim: drill") << "at once";
  b.tell(TargetState::kClear);
  b.sweeps(1);
  EXPECT_EQ(without_advice(b.plan(2).waits_for), "automation is stopped: kim: drill");
  const auto again = b.book->request(RemedyAction::kRestoreLink, b.target, "", "ann", b.look());
  ASSERT_FALSE(again);
  EXPECT_EQ(
      again.error().message,
      "PLAN-2 (RESTORE_LINK) for it is being undone (aborted by bob: wrong cable): ask again when that is over, or "
      "end it and leave the link in service: weftctl abort PLAN-2 --leave-in-service --reason ...");
  b.book->set_hands_off(false, "", "kim", b.fabric.now());
  b.sweeps(1);
  EXPECT_EQ(b.plan(2).waits_for, "");
}

TEST(AProbation, ThatFailedUnderHandsOffSaysAtOnceWhatItWaitsFor) {
  Probation b;
  b.comes_up(5);
  b.book->set_hands_off(true, "drill", "kim", b.fabric.now());
  b.fabric.unlink(b.end);
  b.fabric.route();
  b.sweeps(1);
  ASSERT_EQ(b.plan(2).state, PlanState::kRollingBack);
  EXPECT_EQ(b.plan(2).waits_for, "automation is stopped: kim: drill");
  b.book->set_hands_off(false, "", "kim", b.fabric.now());
  b.sweeps(1);
  EXPECT_EQ(b.plan(2).waits_for, "") << "nobody read it yet";
  b.book->set_hands_off(true, "drill", "kim", b.fabric.now());
  b.tell(TargetState::kClear);
  EXPECT_EQ(b.plan(2).waits_for, "automation is stopped: kim: drill");
}

TEST(AReturn, OfWhatAPlanHoldsNoMoreNamesThePlan) {
  Probation b;
  b.comes_up(32);
  ASSERT_EQ(b.plan(2).state, PlanState::kCommitted) << b.plan(2).outcome;
  const auto again = [&](const Entity& target) {
    return b.book->preview(RemedyAction::kRestoreLink, target, "", "ann", b.look()).error().message;
  };
  EXPECT_EQ(again(b.target), "Weft does not hold " + b.target.label +
                                 " any more (PLAN-1, reverted): it is up, there is nothing to bring back");
  b.fabric.unlink(b.end);
  EXPECT_EQ(again(b.target),
            "Weft does not hold " + b.target.label +
                " any more (PLAN-1, reverted): no end of it is disabled, and it is not up: look at its "
                "cable and its ends");
  const Entity other = b.link("leaf-0", "spine-1");
  EXPECT_EQ(again(other),
            "Weft has not taken " + other.label + " out of service: it is up, there is nothing to bring back");
}

TEST(AnAbort, OfAReturnThatIsOverNamesTheWayOut) {
  Probation b;
  b.comes_up(32);
  ASSERT_EQ(b.plan(2).state, PlanState::kCommitted) << b.plan(2).outcome;
  EXPECT_EQ(b.book->abort(2, "", "bob", b.fabric.now()).error().message,
            "PLAN-2 is COMMITTED: no fault during probation. To take the link out again: weftctl isolate \"leaf-1 - "
            "spine-0\" --reason ...");
  EXPECT_EQ(b.book->abort(1, "", "bob", b.fabric.now()).error().message,
            "PLAN-1 is COMMITTED: " + b.plan(1).outcome +
                ". It is in force no more (reverted by PLAN-2): there is nothing to undo");
}

// Time that nobody looks at says nothing of the link.
TEST(AProbation, WaitsForSweeps) {
  Probation b;
  b.comes_up(5);
  b.no_sweeps(1000);
  ASSERT_EQ(b.plan(2).state, PlanState::kVerifying) << b.plan(2).outcome;
  EXPECT_EQ(without_advice(b.plan(2).waits_for), "for the next sweep, which is late: some node may be slow to answer");
  b.sweeps(10);
  b.no_sweeps(1000);
  b.sweeps(17);
  EXPECT_EQ(b.plan(2).state, PlanState::kCommitted) << b.plan(2).outcome << b.plan(2).windows_good;
}

TEST(AProbation, ThatWaitedForSweepsEndsAllTheSame) {
  Probation b;
  b.no_sweeps(1000);
  ASSERT_EQ(b.plan(2).state, PlanState::kVerifying) << b.plan(2).outcome;
  b.sweeps(290);
  ASSERT_EQ(b.plan(2).state, PlanState::kVerifying) << "it has as much time as without that";
  b.sweeps(20);
  EXPECT_EQ(b.plan(2).state, PlanState::kRollingBack);
  EXPECT_EQ(b.plan(2).outcome, "the link does not come up");

  Probation seldom;
  for (int i = 0; i < 100 && seldom.plan(2).state == PlanState::kVerifying; ++i) {
    seldom.no_sweeps(60);
    seldom.sweeps(1);
  }
  EXPECT_EQ(seldom.plan(2).state, PlanState::kRollingBack) << "also where each sweep is late";
}

TEST(ProbationTime, IsNoneOfWhatIsTakenOut) {
  Probation b;
  EXPECT_EQ(b.plan(1).probation_until, kNever);
}

}  // namespace
}  // namespace weft::analyzer
