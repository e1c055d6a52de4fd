// SPDX-License-Identifier: Apache-2.0
// A plan is undone: by a person at any state, or by itself as soon as its neighbours suffer. Then the fabric is looked
// at.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

// A person's isolation of leaf-0 - spine-0, as PLAN-1, in a world that the test answers for.
struct Asked : Book {
  Asked() {
    settings.limits.verification.windows = 10;
    book.emplace(settings, RemedyMemory{}, fabric.now());
    EXPECT_TRUE(book->request(RemedyAction::kIsolateLink, link("leaf-0", "spine-0"), "looks bad", "ann", look()));
    book->review(look());
  }
  PlanState state() const { return plan(1).state; }
  RemedyOrder order() {
    const auto all = orders();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? RemedyOrder{} : all.front();
  }
  void tell(TargetState found) {
    const RemedyOrder asked = order();
    EXPECT_EQ(asked.kind, OrderKind::kRead);
    book->answer_reading(asked.number, TargetReading{found, ""}, fabric.now());
    book->review(look());
  }
  void sweep() {
    fabric.advance(1s);
    book->review(look());
  }
  /// Its change got no answer, and then it was aborted: what was sent may still land.
  void abort_without_answer() {
    tell(TargetState::kClear);
    const RemedyOrder change = order();
    ASSERT_TRUE(abort());
    book->answer_action(change.number, fail(ErrorCode::kTimeout, "no answer"), fabric.now());
    tell_twice(TargetState::kClear);
    sweep();
  }
  /// What one reading says alone is not believed.
  void tell_twice(TargetState found) {
    tell(found);
    fabric.advance(settings.limits.reading_interval);
    tell(found);
  }
  void verify() {
    tell(TargetState::kClear);
    const RemedyOrder asked = order();
    EXPECT_EQ(asked.kind, OrderKind::kAct);
    book->answer_action(asked.number, {}, fabric.now());
    fabric.unlink(fabric.port_towards("leaf-0", "spine-0"));
    fabric.route();
    tell(TargetState::kOurs);
    EXPECT_EQ(state(), PlanState::kVerifying);
  }
  // The undoing is asked for, sent and read back; the link comes up, or not.
  void undo(bool comes_up = true) {
    tell(TargetState::kOurs);
    const RemedyOrder asked = order();
    EXPECT_EQ(asked.kind, OrderKind::kAct);
    EXPECT_EQ(asked.action, RemedyAction::kRestoreLink);
    book->answer_action(asked.number, {}, fabric.now());
    if (comes_up) fabric.relink(end);
    fabric.route();
    tell(TargetState::kClear);
  }
  void restart() {
    RemedyMemory memory;
    memory.plans = {plan(1)};
    book.emplace(settings, memory, fabric.now());
    book->review(look());
  }
  void sweep_until_decided() {
    for (int i = 0; i < 40 && state() == PlanState::kVerifying; ++i) sweep();
  }
  Result<Plan> abort() { return book->abort(1, "wrong cable", "bob", fabric.now()); }
  PortIndex end = fabric.port_towards("leaf-0", "spine-0");
};

TEST(AReject, ThatComesTooLateNamesTheAbort) {
  Asked b;
  b.verify();
  EXPECT_EQ(b.book->reject(1, "no", "bob", b.fabric.now()).error().message,
            "PLAN-1 is VERIFYING: too late to reject it; to undo it: weftctl abort PLAN-1 --reason ...");
  ASSERT_TRUE(b.abort());
  EXPECT_EQ(b.book->reject(1, "no", "bob", b.fabric.now()).error().message,
            "PLAN-1 is ROLLING_BACK: too late to reject it; it is being undone already: weftctl plan PLAN-1");
}

TEST(Abort, EndsWhatWasNotBegun) {
  Book b;
  b.errors("leaf-0", "spine-0");
  b.book->review(b.look());
  const auto aborted = b.book->abort(1, "not now", "bob", b.fabric.now());
  ASSERT_TRUE(aborted);
  EXPECT_EQ(aborted->state, PlanState::kRejected);
  EXPECT_EQ(aborted->outcome, "aborted by bob: not now");
  EXPECT_EQ(b.book->abort(1, "", "bob", b.fabric.now()).error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(b.book->abort(7, "", "bob", b.fabric.now()).error().code, ErrorCode::kNotFound);
}

TEST(Abort, BeforeAnythingWasSentChangesNothing) {
  Asked b;
  const RemedyOrder reading = b.order();
  ASSERT_TRUE(b.abort());
  EXPECT_EQ(b.state(), PlanState::kRejected);
  b.book->answer_reading(reading.number, TargetReading{TargetState::kClear, ""}, b.fabric.now());
  b.sweep();
  EXPECT_TRUE(b.orders().empty());
}

TEST(Abort, OfADecisionThatWasNotGivenOutSendsNothing) {
  Asked b;
  b.tell(TargetState::kClear);  // the next batch would carry the change
  ASSERT_TRUE(b.abort());
  EXPECT_EQ(b.state(), PlanState::kRejected);
  EXPECT_TRUE(b.orders().empty());
}

TEST(Abort, WaitsForWhatIsOnItsWayAndUndoesIt) {
  Asked b;
  b.tell(TargetState::kClear);
  const RemedyOrder change = b.order();
  ASSERT_EQ(change.kind, OrderKind::kAct);
  ASSERT_TRUE(b.abort());
  EXPECT_EQ(b.state(), PlanState::kExecuting);
  EXPECT_TRUE(b.orders().empty()) << "what is read now may change in a moment";
  b.book->answer_action(change.number, {}, b.fabric.now());
  EXPECT_EQ(b.state(), PlanState::kRollingBack);
  b.undo();
  b.sweep();
  EXPECT_EQ(b.state(), PlanState::kRolledBack) << b.plan(1).outcome;
  EXPECT_EQ(b.plan(1).outcome, "aborted by bob: wrong cable");
  EXPECT_FALSE(b.plan(1).in_force || b.plan(1).unresolved);
}

TEST(Abort, KeepsTheReasonOfTheFirst) {
  Asked b;
  b.tell(TargetState::kClear);
  const RemedyOrder change = b.order();
  ASSERT_TRUE(b.abort());
  ASSERT_TRUE(b.book->abort(1, "me too", "eve", b.fabric.now())) << "while its change is on its way";
  EXPECT_EQ(b.plan(1).outcome, "aborted by bob: wrong cable");
  b.book->answer_action(change.number, {}, b.fabric.now());
  ASSERT_TRUE(b.book->abort(1, "me three", "mallory", b.fabric.now())) << "while it is undone";
  EXPECT_EQ(b.plan(1).outcome, "aborted by bob: wrong cable");
  EXPECT_EQ(b.plan(1).steps.back().who, "mallory");
  EXPECT_EQ(b.plan(1).steps.back().what, "abort of a plan that is being undone already: me three");
}

TEST(Abort, IsCalledSoInTheAuditTrail) {
  Asked b;
  b.verify();
  b.book->drain_changes(b.fabric.now());
  ASSERT_TRUE(b.abort());
  const auto audit = b.book->drain_changes(b.fabric.now()).audit;
  ASSERT_FALSE(audit.empty());
  EXPECT_EQ(audit[0].what, "ABORTED");
  EXPECT_EQ(audit[0].who, "bob");
  EXPECT_EQ(audit[0].detail, "ISOLATE_LINK " + b.plan(1).target.label + ": abort: wrong cable");
  EXPECT_EQ(b.plan(1).steps.end()[-2].state, PlanState::kVerifying) << "its own history tells its states";
}

TEST(Abort, OfWhatWasNotBegunIsCalledSoInTheAuditTrail) {
  Book b;
  b.errors("leaf-0", "spine-0");
  b.book->review(b.look());
  b.book->drain_changes(b.fabric.now());
  ASSERT_TRUE(b.book->abort(1, "not now", "bob", b.fabric.now()));
  const auto audit = b.book->drain_changes(b.fabric.now()).audit;
  ASSERT_EQ(audit.size(), 1U);
  EXPECT_EQ(audit[0].what, "ABORTED");
}

TEST(Order, NamesItsActionInTheAuditTrail) {
  Book b;
  ASSERT_TRUE(b.book->request(RemedyAction::kIsolateLink, b.link("leaf-0", "spine-0"), "bad", "ann", b.look()));
  const auto audit = b.book->drain_changes(b.fabric.now()).audit;
  ASSERT_FALSE(audit.empty());
  EXPECT_EQ(audit[0].detail, "ISOLATE_LINK " + b.link("leaf-0", "spine-0").label + ": requested: bad");
}

TEST(Abort, KeepsAnOrderBackThatWaitsForItsActuator) {
  Asked b;
  b.tell(TargetState::kClear);
  const RemedyOrder change = b.order();
  EXPECT_TRUE(b.book->awaits(change.number));
  ASSERT_TRUE(b.abort());
  EXPECT_FALSE(b.book->awaits(change.number));
  b.book->answer_held(change.number, "nobody waits for it", b.fabric.now());
  EXPECT_EQ(b.state(), PlanState::kRejected);
  EXPECT_EQ(b.plan(1).started, kNever) << "no budget is spent";
}

TEST(Abort, SaysThatAChangeWithoutAnswerMayStillLand) {
  Asked b;
  b.abort_without_answer();
  EXPECT_EQ(b.state(), PlanState::kRolledBack);
  EXPECT_TRUE(b.plan(1).unresolved);
  b.fabric.advance(b.settings.limits.check_interval);
  b.tell(TargetState::kOurs);
  EXPECT_TRUE(b.plan(1).in_force) << "it landed";
}

TEST(Abort, OfWhatMayStillLandLeavesNothingToTakeOutAgain) {
  Asked b;
  b.abort_without_answer();
  ASSERT_TRUE(b.plan(1).unresolved && !b.plan(1).in_force);
  const auto back = b.book->request(RemedyAction::kRestoreLink, b.plan(1).target, "", "ann", b.look());
  ASSERT_TRUE(back) << back.error().message;
  b.sweep();
  b.tell(TargetState::kClear);
  EXPECT_EQ(b.plan(back->id).state, PlanState::kExpired) << "it was never out: a relapse is no reason to take it out";
  EXPECT_EQ(b.plan(back->id).outcome.find("not needed: already in the wanted state"), 0U);
}

TEST(Abort, IsNotForgottenByARestart) {
  Asked b;
  b.tell(TargetState::kClear);
  ASSERT_EQ(b.order().kind, OrderKind::kAct);
  ASSERT_TRUE(b.abort());
  RemedyMemory memory;
  memory.plans = {b.plan(1)};
  b.book.emplace(b.settings, memory, b.fabric.now());
  EXPECT_EQ(b.state(), PlanState::kRollingBack) << "whether it was sent is not known";
  b.tell_twice(TargetState::kClear);
  memory.plans = {b.plan(1)};
  b.book.emplace(b.settings, memory, b.fabric.now());
  b.tell_twice(TargetState::kClear);
  for (int i = 0; i < 3; ++i) b.sweep();
  EXPECT_EQ(b.state(), PlanState::kRolledBack) << b.plan(1).outcome;
  EXPECT_TRUE(b.plan(1).unresolved) << "it may still land";
}

// Its undo got no answer and was not done, and the first reading falls into the change before.
TEST(Abort, IsNotOverByOneReadingWhereItsUndoGotNoAnswer) {
  Asked b;
  b.tell(TargetState::kClear);
  const RemedyOrder change = b.order();
  ASSERT_TRUE(b.abort());
  b.book->answer_action(change.number, {}, b.fabric.now());
  b.tell(TargetState::kOurs);
  const RemedyOrder undo = b.order();
  ASSERT_EQ(undo.kind, OrderKind::kAct);
  b.book->answer_action(undo.number, fail(ErrorCode::kTimeout, "no answer"), b.fabric.now());
  b.fabric.advance(b.settings.limits.reading_interval);
  b.tell(TargetState::kClear);
  b.fabric.advance(b.settings.limits.reading_interval);
  const RemedyOrder second = b.order();
  EXPECT_EQ(second.kind, OrderKind::kRead) << "what one reading says alone is not believed";
  b.book->answer_reading(second.number, TargetReading{TargetState::kOurs, ""}, b.fabric.now());
  EXPECT_EQ(b.state(), PlanState::kRollingBack) << b.plan(1).outcome;
  EXPECT_EQ(b.plan(1).intent, PlanIntent::kUndo);
}

TEST(Abort, OfAChangeThatWasRefusedHasNothingToUndo) {
  Asked b;
  b.tell(TargetState::kClear);
  const RemedyOrder change = b.order();
  ASSERT_TRUE(b.abort());
  b.book->answer_action(change.number, fail(ErrorCode::kPermissionDenied, "not by you"), b.fabric.now());
  EXPECT_EQ(b.state(), PlanState::kRejected);
}

TEST(Abort, UndoesWhatIsBeingVerified) {
  Asked b;
  b.verify();
  ASSERT_TRUE(b.abort());
  EXPECT_EQ(b.state(), PlanState::kRollingBack);
  ASSERT_TRUE(b.abort()) << "twice does no harm";
  b.undo();
  b.sweep();
  EXPECT_EQ(b.state(), PlanState::kRolledBack) << b.plan(1).outcome;
}

TEST(Abort, SendsNothingWhileEverythingIsStopped) {
  Asked b;
  b.verify();
  b.book->set_hands_off(true, "", "ann", b.fabric.now());
  ASSERT_TRUE(b.abort());
  b.tell(TargetState::kOurs);
  b.sweep();
  EXPECT_TRUE(b.orders().empty());
  b.book->set_hands_off(false, "", "ann", b.fabric.now());
  b.sweep();
  EXPECT_EQ(b.order().action, RemedyAction::kRestoreLink);
}

TEST(Abort, OfAPlanThatIsOverTellsWhatToDo) {
  Asked b;
  b.verify();
  for (int i = 0; i < 12; ++i) b.sweep();
  ASSERT_EQ(b.state(), PlanState::kCommitted) << b.plan(1).outcome;
  EXPECT_NE(b.abort().error().message.find("weftctl restore"), std::string::npos);
}

TEST(Abort, IsOfferedToWhoeverRestoresALinkWhosePlanIsUnderWay) {
  Asked b;
  const auto refusal = [&b] {
    return b.book->request(RemedyAction::kRestoreLink, b.link("leaf-0", "spine-0"), "", "bob", b.look())
        .error()
        .message;
  };
  const std::string says = "PLAN-1 for it is already under way (ISOLATE_LINK); to ";
  EXPECT_EQ(refusal(), says + "end it: weftctl abort PLAN-1 --reason ...") << "nothing was sent";
  b.verify();
  EXPECT_EQ(refusal(), says + "undo it: weftctl abort PLAN-1 --reason ...");
}

TEST(Undoing, IsNotOverBeforeTheLinkIsUpAgain) {
  Asked b;
  b.verify();
  ASSERT_TRUE(b.abort());
  b.undo(false);
  for (int i = 0; i < 30; ++i) b.sweep();
  EXPECT_EQ(b.state(), PlanState::kRollingBack);
  b.fabric.relink(b.end);
  b.sweep();
  EXPECT_EQ(b.state(), PlanState::kRolledBack);
}

TEST(Undoing, LooksAgainWhereTheLinkStaysDown) {
  Asked b;
  b.verify();
  ASSERT_TRUE(b.abort());
  b.tell(TargetState::kClear);  // and then a change of before lands
  b.sweep();
  b.fabric.advance(b.settings.limits.verification.within / 2);
  b.sweep();
  b.undo();
  b.sweep();
  EXPECT_EQ(b.state(), PlanState::kRolledBack) << b.plan(1).outcome;
}

TEST(Undoing, ThatDoesNotBringTheLinkBackIsForAPerson) {
  Asked b;
  b.verify();
  ASSERT_TRUE(b.abort());
  b.undo(false);
  b.sweep();
  b.fabric.advance(b.settings.limits.verification.within / 2);
  b.sweep();
  b.tell(TargetState::kClear);
  b.fabric.advance(b.settings.limits.verification.within / 2);
  b.sweep();
  EXPECT_EQ(b.state(), PlanState::kFailed);
  EXPECT_NE(b.plan(1).outcome.find("the link has not come up again"), std::string::npos) << b.plan(1).outcome;
}

TEST(Undoing, BeginsWhenNeighboursAnswerNoMore) {
  for (const char* silent : {"leaf-0", "spine-0", "leaf-1"}) {
    Asked b;
    b.verify();
    b.sweep();
    b.fabric.silence(b.fabric.find(silent));
    for (int i = 0; i < 8 && b.state() == PlanState::kVerifying; ++i) b.sweep();
    EXPECT_EQ(b.state(), PlanState::kRollingBack) << silent;
    EXPECT_EQ(b.plan(1).outcome, std::string(silent) + " answers no more");
  }
}

TEST(Undoing, BeginsWhenNeighboursAnswerNoMoreAfterARestart) {
  for (const char* silent : {"leaf-0", "spine-0", "leaf-1"}) {
    Asked b;
    b.verify();
    b.sweep();
    b.restart();
    b.sweep();
    b.fabric.silence(b.fabric.find(silent));
    b.sweep_until_decided();
    EXPECT_EQ(b.state(), PlanState::kRollingBack) << silent;
    EXPECT_EQ(b.plan(1).outcome, std::string(silent) + " answers no more");
  }
}

TEST(Undoing, BeginsWhenANeighbourFellSilentWhileWeftdWasDown) {
  Asked b;
  b.verify();
  b.sweep();
  b.fabric.silence(b.fabric.find("leaf-1"));
  b.restart();
  b.sweep_until_decided();
  EXPECT_EQ(b.state(), PlanState::kRollingBack) << b.plan(1).outcome;
}

TEST(Undoing, OfBeforeARestartIsNotOverWhileANeighbourIsSilent) {
  Asked b;
  b.verify();
  b.sweep();
  b.fabric.silence(b.fabric.find("leaf-1"));
  b.sweep_until_decided();
  ASSERT_EQ(b.state(), PlanState::kRollingBack);
  b.restart();
  b.undo();
  b.sweep();
  EXPECT_EQ(b.state(), PlanState::kRollingBack) << b.plan(1).outcome;
  b.fabric.silence(b.fabric.find("leaf-1"), false);
  b.sweep();
  EXPECT_EQ(b.state(), PlanState::kRolledBack) << b.plan(1).outcome;
  EXPECT_TRUE(b.plan(1).neighbours.empty()) << "what is over needs them no more";
}

TEST(Undoing, BeginsWhenPathsAreLostAfterARestart) {
  Asked b;
  b.verify();
  b.restart();
  const Lid lost = b.fabric.lid_of("host-3-0 mlx5_0");
  b.fabric.send(b.fabric.find("leaf-1"), lost, kNoEgress);
  b.sweep_until_decided();
  EXPECT_EQ(b.state(), PlanState::kRollingBack) << b.plan(1).outcome;
  EXPECT_NE(b.plan(1).outcome.find("lost their path"), std::string::npos) << b.plan(1).outcome;
}

TEST(Undoing, LeavesAPlanAloneWhoseNeighbourIsStartedAnew) {
  Asked b;
  b.verify();
  b.sweep();
  b.fabric.power_off(b.fabric.find("leaf-1"));  // the port of spine-0 towards it goes down
  b.fabric.route();
  for (int i = 0; i < 8; ++i) b.sweep();
  EXPECT_NE(b.plan(1).outcome, "leaf-1 answers no more");
}

// A roll-back that has no effect is sent again, three times in all, and says each time why.
TEST(Abort, AnUndoingThatIsSentAgainSaysWhy) {
  Asked b;
  b.verify();
  ASSERT_TRUE(b.abort());
  b.book->review(b.look());
  std::vector<std::string> sent;
  for (int i = 0; i < 200 && !is_over(b.state()); ++i) {
    for (const RemedyOrder& order : b.orders()) {
      if (order.kind == OrderKind::kAct)
        b.book->answer_action(order.number, {}, b.fabric.now());
      else
        b.book->answer_reading(order.number, TargetReading{TargetState::kOurs, "Disabled"}, b.fabric.now());
    }
    b.sweep();
  }
  for (const PlanStep& step : b.plan(1).steps)
    if (step.what.starts_with("RESTORE_LINK is being sent")) sent.push_back(step.what);
  EXPECT_EQ(sent, (std::vector<std::string>{
                      "RESTORE_LINK is being sent to fake",
                      "RESTORE_LINK is being sent to fake, for the second time: it had no effect: Disabled",
                      "RESTORE_LINK is being sent to fake, for the third time: it had no effect: Disabled"}));
  EXPECT_EQ(b.state(), PlanState::kFailed);
}

}  // namespace
}  // namespace weft::analyzer
