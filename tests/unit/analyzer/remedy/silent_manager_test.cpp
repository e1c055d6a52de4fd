// SPDX-License-Identifier: Apache-2.0
// What a subnet manager that does not answer, or has not answered yet, holds up.

#include <gtest/gtest.h>

#include "fabric/plan_prospects.hpp"
#include "tests/unit/analyzer/remedy/probation.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

TEST(SilentManager, RefusesWhatTakesALinkOut) {
  Book b;
  const auto refusal = [&](const char* leaf) {
    const auto plan = b.book->request(RemedyAction::kIsolateLink, b.link(leaf, "spine-0"), "why", "ann", b.look());
    return plan ? std::string() : plan.error().message;
  };
  b.managers = {{"other", ManagerSign::kSilent}, {"test", ManagerSign::kHeard}};
  EXPECT_EQ(refusal("leaf-1"), "");
  for (const ManagerSign sign : {ManagerSign::kSilent, ManagerSign::kUnheard}) {
    b.managers["test"] = sign;
    EXPECT_EQ(refusal("leaf-2"),
              std::string("OWN_PATH: ") +
                  (sign == ManagerSign::kSilent ? "the subnet manager does not answer"
                                                : "it is not known yet whether the subnet manager answers") +
                  ", and nothing else would route round the link");
  }
  b.managers.erase("test");
  EXPECT_NE(refusal("leaf-2"), "") << "nobody has told of it yet";
  b.managers["test"] = ManagerSign::kNotAsked;
  EXPECT_EQ(refusal("leaf-2"), "");
}

TEST(SilentManager, SaysToAPersonThatNobodyActivatesWhatComesBack) {
  Isolated b;
  b.managers["test"] = ManagerSign::kSilent;
  const auto back = b.book->preview(RemedyAction::kRestoreLink, b.target, "why", "ann", b.look());
  ASSERT_TRUE(back);
  const GuardVerdict verdict = b.verdict(*back, Guard::kOwnPath);
  EXPECT_EQ(verdict.result, GuardResult::kPassed);
  EXPECT_EQ(verdict.explanation,
            "the subnet manager does not answer, and activates no link: the link comes up when it answers again");
}

TEST(SilentManager, HoldsBackReturnsOfAutomation) {
  Isolated b;
  const auto result = [&](ManagerSign sign) {
    b.managers["test"] = sign;
    const auto back = b.book->preview(RemedyAction::kRestoreLink, b.target, "why", std::string(kOurselves), b.look());
    return back ? b.verdict(*back, Guard::kOwnPath).result : GuardResult::kPassed;
  };
  EXPECT_EQ(result(ManagerSign::kSilent), GuardResult::kRefused);
  EXPECT_EQ(result(ManagerSign::kHeard), GuardResult::kNotNeeded);
}

// A good cable has trained then, and waits; what failed is seen when the manager answers again.
TEST(SilentManager, AReturnWaitsForIt) {
  Probation b;
  b.managers["test"] = ManagerSign::kSilent;
  b.sweeps(500);
  ASSERT_EQ(b.plan(2).state, PlanState::kVerifying) << b.plan(2).outcome;
  EXPECT_EQ(b.plan(2).waits_for, "the subnet manager does not answer, and activates no link");
  b.managers["test"] = ManagerSign::kHeard;
  b.comes_up(10);
  EXPECT_EQ(b.plan(2).windows_good, 10U);
  b.managers["test"] = ManagerSign::kSilent;
  b.fabric.unlink(b.end);
  b.sweeps(500);
  ASSERT_EQ(b.plan(2).state, PlanState::kVerifying) << b.plan(2).outcome;
  b.managers["test"] = ManagerSign::kHeard;
  b.comes_up(25);
  EXPECT_EQ(b.plan(2).state, PlanState::kCommitted) << b.plan(2).outcome;
}

// It failed, and nobody could route round it: it is taken out again when somebody can.
TEST(SilentManager, WhatFailedOnItsReturnWaitsForIt) {
  Probation b;
  b.managers["test"] = ManagerSign::kHeard;
  b.comes_up(5);
  b.fabric.unlink(b.end);
  b.sweeps(1);
  ASSERT_EQ(b.plan(2).state, PlanState::kRollingBack) << b.plan(2).outcome;
  b.managers["test"] = ManagerSign::kSilent;
  b.sweeps_that_read_it_back(100);
  ASSERT_EQ(b.plan(2).state, PlanState::kRollingBack) << b.plan(2).outcome;
  EXPECT_EQ(b.plan(2).waits_for, "the subnet manager does not answer, and nothing else would route round the link");
  b.managers["test"] = ManagerSign::kHeard;
  b.tell(TargetState::kClear);
  b.act();
  b.tell(TargetState::kOurs);
  EXPECT_EQ(b.plan(2).state, PlanState::kRolledBack) << b.plan(2).outcome;
  EXPECT_TRUE(b.plan(2).in_force);
}

/// PLAN-1 has disabled a link, and no sweep has told yet where routes lead.
struct BeingIsolated : Book {
  BeingIsolated() {
    EXPECT_TRUE(book->request(RemedyAction::kIsolateLink, link("leaf-1", "spine-0"), "why", "ann", look()));
    book->review(look());
    answer(TargetState::kClear);
    book->review(look());
    for (const RemedyOrder& order : orders()) book->answer_action(order.number, {}, fabric.now());
    fabric.unlink(end);
    book->review(look());
    answer(TargetState::kOurs);
  }
  PortIndex end = fabric.port_towards("leaf-1", "spine-0");
};

TEST(SilentManager, WhatIsUndoneIsSeenBackWhenItAnswers) {
  BeingIsolated b;
  b.managers["test"] = ManagerSign::kSilent;
  ASSERT_TRUE(b.book->abort(1, "no", "ann", b.fabric.now()));
  for (int i = 0; i < 300; ++i) {
    b.book->review(b.look());
    for (const RemedyOrder& order : b.orders()) {
      if (order.kind == OrderKind::kRead)
        b.book->answer_reading(order.number, TargetReading{i < 3 ? TargetState::kOurs : TargetState::kClear, ""},
                               b.fabric.now());
      else
        b.book->answer_action(order.number, {}, b.fabric.now());
    }
  }
  ASSERT_EQ(b.plan(1).state, PlanState::kRollingBack) << b.plan(1).outcome;
  EXPECT_EQ(b.plan(1).waits_for, "the subnet manager does not answer, and activates no link");
  b.managers["test"] = ManagerSign::kHeard;
  b.fabric.relink(b.end);
  b.fabric.route();
  b.book->review(b.look());
  b.book->review(b.look());
  EXPECT_EQ(b.plan(1).state, PlanState::kRolledBack) << b.plan(1).outcome;
}

// It was read enabled after it had been sent: what is disabled then, somebody else disabled.
TEST(SilentManager, WhatAPersonDisablesWhileAnUndoingWaitsIsLeftAlone) {
  BeingIsolated b;
  b.managers["test"] = ManagerSign::kSilent;
  ASSERT_TRUE(b.book->abort(1, "no", "ann", b.fabric.now()));
  int sent = 0;
  TargetState port = TargetState::kOurs;
  const auto go_on = [&](int count) {
    for (int i = 0; i < count; ++i) {
      b.book->review(b.look());
      for (const RemedyOrder& order : b.orders()) {
        if (order.kind == OrderKind::kRead) {
          b.book->answer_reading(order.number, TargetReading{port, ""}, b.fabric.now());
          continue;
        }
        ++sent;
        port = TargetState::kClear;
        b.book->answer_action(order.number, {}, b.fabric.now());
      }
    }
  };
  go_on(30);
  ASSERT_EQ(sent, 1);
  port = TargetState::kOurs;
  b.fabric.port(b.end).physical_state = PortPhysicalState::kDisabled;
  go_on(30);
  EXPECT_EQ(sent, 1);
  EXPECT_EQ(b.plan(1).state, PlanState::kRolledBack);
  EXPECT_EQ(b.plan(1).outcome, "aborted by ann: no; it was given back, and somebody else has disabled it since");
}

// Nobody can route round it for hours, and the cable is put right meanwhile.
TEST(SilentManager, WhatFailedOnItsReturnAndIsUpWhenItAnswersIsOnProbationAnew) {
  Probation b;
  b.managers["test"] = ManagerSign::kHeard;
  b.comes_up(5);
  b.fabric.unlink(b.end);
  b.sweeps(1);
  ASSERT_EQ(b.plan(2).state, PlanState::kRollingBack) << b.plan(2).outcome;
  b.managers["test"] = ManagerSign::kSilent;
  b.sweeps_that_read_it_back(100);
  b.fabric.relink(b.end);
  b.fabric.route();
  b.sweeps_that_read_it_back(10);
  ASSERT_EQ(b.plan(2).state, PlanState::kRollingBack) << b.plan(2).outcome;
  b.managers["test"] = ManagerSign::kHeard;
  b.sweeps_that_read_it_back(3);
  EXPECT_EQ(b.plan(2).state, PlanState::kVerifying) << b.plan(2).outcome;
  EXPECT_EQ(b.plan(2).outcome, "");
  b.sweeps_that_read_it_back(40);
  EXPECT_EQ(b.plan(2).state, PlanState::kCommitted) << b.plan(2).outcome;
}

// Our own port is down, or it was not asked yet: that says nothing of it.
TEST(SilentManager, IsNotCalledSoWhereItWasNotHeardYet) {
  Probation b;
  b.managers["test"] = ManagerSign::kUnheard;
  b.sweeps(3);
  EXPECT_EQ(b.plan(2).waits_for, "it is not known whether the subnet manager answers");
  b.fabric.silence(b.fabric.find("leaf-1"));
  b.fabric.silence(b.fabric.find("spine-0"));
  b.sweeps(3);
  EXPECT_EQ(without_advice(b.plan(2).waits_for), "the last sweep read neither end of the link");
}

TEST(AnUndoing, IsNotJudgedWhileNobodySweeps) {
  BeingIsolated b;
  ASSERT_TRUE(b.book->abort(1, "no", "ann", b.fabric.now()));
  const auto go_on = [&b](int count, bool sweeps) {
    for (int i = 0; i < count; ++i) {
      b.fabric.advance(std::chrono::seconds(1));
      RemedyView view =
          sweeps ? b.look() : RemedyView{b.fabric.now(), b.views, b.incidents, b.hosts, b.health, b.maintenance};
      view.steady = b.fabric.now().time_since_epoch();
      b.book->review(view);
      for (const RemedyOrder& order : b.orders()) {
        if (order.kind == OrderKind::kRead)
          b.book->answer_reading(order.number, TargetReading{i < 3 ? TargetState::kOurs : TargetState::kClear, ""},
                                 b.fabric.now());
        else
          b.book->answer_action(order.number, {}, b.fabric.now());
      }
    }
  };
  go_on(1000, false);
  ASSERT_EQ(b.plan(1).state, PlanState::kRollingBack) << b.plan(1).outcome;
  EXPECT_EQ(without_advice(b.plan(1).waits_for), "for the next sweep, which is late: some node may be slow to answer");
  b.fabric.relink(b.end);
  b.fabric.route();
  go_on(3, true);
  EXPECT_EQ(b.plan(1).state, PlanState::kRolledBack) << b.plan(1).outcome;
}

// Time that nobody looked is left out once, whatever was missing: the sweep, the manager, or a reading of the link.
TEST(AProbation, LeavesOutATimeOnce) {
  Probation b;
  b.managers["test"] = ManagerSign::kHeard;
  const Duration patience = b.settings.limits.verification.probation + b.settings.limits.verification.within;
  const int watched = static_cast<int>(patience / 1s) - 40;
  b.sweeps(watched);
  for (int i = 0; i < 5; ++i) {
    b.no_sweeps(20);
    b.managers["test"] = ManagerSign::kSilent;
    b.sweeps(1);
    b.managers["test"] = ManagerSign::kHeard;
  }
  ASSERT_EQ(b.plan(2).state, PlanState::kVerifying) << b.plan(2).outcome;
  b.sweeps(50);
  EXPECT_EQ(b.plan(2).state, PlanState::kRollingBack) << "it never came up, and was looked for long enough";
}

TEST(SilentManager, IsNamedWhereRoutesStay) {
  BeingIsolated b;
  b.managers["test"] = ManagerSign::kSilent;
  for (int i = 0; i < 3; ++i) b.book->review(b.look());
  ASSERT_EQ(b.plan(1).state, PlanState::kVerifying) << b.plan(1).outcome;
  EXPECT_TRUE(b.plan(1).waits_for.ends_with(" LIDs; the subnet manager does not answer")) << b.plan(1).waits_for;
}

}  // namespace
}  // namespace weft::analyzer
