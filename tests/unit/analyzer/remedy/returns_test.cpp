// SPDX-License-Identifier: Apache-2.0
// A return that automation asked for is due until it is sent, or it ends.

#include <gtest/gtest.h>

#include "tests/unit/analyzer/remedy/drained_host.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

TEST(DueReturns, OneThatWaitsForHandsOffEndsWhenAnotherIncidentHurtsTheHost) {
  DrainedHost b;
  b.book->set_hands_off(true, "night", "ann", b.fabric.now());
  b.pass(11min);
  ASSERT_EQ(b.plan(2).state, PlanState::kProposed);
  b.hurt(2);
  b.pass(1s);
  EXPECT_EQ(b.plan(2).state, PlanState::kExpired);
  EXPECT_EQ(b.plan(2).outcome, "no longer due: INC-2 is open and hurts it");
  b.book->set_hands_off(false, "", "ann", b.fabric.now());
  b.pass(1s);
  EXPECT_TRUE(b.obey().empty());
  b.hurt(0);
  b.pass(9min);
  EXPECT_EQ(b.returns(), 1U) << "INC-2 hurt it some minutes ago";
  b.pass(2min);
  EXPECT_EQ(b.returns(), 2U);
}

TEST(DueReturns, OneThatWaitsForHandsOffEndsWhenItsOwnIncidentIsOpenAgain) {
  DrainedHost b;
  b.book->set_hands_off(true, "night", "ann", b.fabric.now());
  b.pass(11min);
  b.set_incident(IncidentState::kOpen);
  b.pass(1s);
  EXPECT_EQ(b.plan(2).state, PlanState::kExpired);
  EXPECT_EQ(b.plan(2).outcome, "no longer due: INC-1 is open");
}

TEST(DueReturns, OneIsJudgedDirectlyBeforeItIsSent) {
  DrainedHost b;
  b.pass(11min);
  const auto reading = b.orders();
  ASSERT_EQ(reading.size(), 1U);
  ASSERT_EQ(b.plan(2).state, PlanState::kExecuting);
  b.hurt(2);
  b.fabric.advance(5s);  // the scheduler takes its time
  b.book->answer_reading(reading[0].number, TargetReading{TargetState::kOurs, ""}, b.fabric.now());
  b.pass(1s);
  EXPECT_TRUE(b.obey().empty());
  EXPECT_EQ(b.plan(2).state, PlanState::kExpired);
  EXPECT_EQ(b.plan(2).outcome, "no longer due: INC-2 is open and hurts it");
}

TEST(DueReturns, AnApprovalOfOneEndsWithItsReason) {
  DrainedHost b(proposing());
  b.pass(11min);
  ASSERT_EQ(b.plan(2).state, PlanState::kProposed);
  ASSERT_TRUE(b.book->approve(2, 0, "ann", b.look()));
  b.set_incident(IncidentState::kOpen);
  b.hurt(1, HealthVerdict::kUnhealthy);
  b.pass(1s);
  EXPECT_TRUE(b.obey().empty());
  EXPECT_EQ(b.plan(2).state, PlanState::kExpired);
}

TEST(DueReturns, OneThatIsNotDueCannotBeApproved) {
  DrainedHost b(proposing());
  b.pass(11min);
  b.hurt(2);
  const auto refused = b.book->approve(2, 0, "ann", b.look());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "REINSTATEMENT: its return is not due: INC-2 is open and hurts it");
}

TEST(DueReturns, WhatAPersonAsksForIsThatPersonsMatter) {
  DrainedHost b;
  b.hurt(2);
  ASSERT_TRUE(b.book->request(RemedyAction::kUndrainNode, host_entity("n1"), "I know", "ann", b.look()));
  b.pass(1s);
  EXPECT_EQ(b.obey(), std::vector{RemedyAction::kUndrainNode});
}

TEST(DueReturns, ACostIsNotLoweredWhileTheLinkIsInTroubleAgain) {
  DrainedHost b;
  Plan costly = b.plan(1);
  costly.action = RemedyAction::kRaiseLinkCost;
  costly.target = b.link("leaf-0", "spine-0");
  b.begin({costly});
  b.book->set_hands_off(true, "", "ann", b.fabric.now());
  b.pass(11min);
  ASSERT_EQ(b.plan(2).action, RemedyAction::kRestoreLink);
  b.set_incident(IncidentState::kOpen);
  b.book->set_hands_off(false, "", "ann", b.fabric.now());
  b.pass(1s);
  EXPECT_TRUE(b.obey().empty());
  EXPECT_EQ(b.plan(2).state, PlanState::kExpired);
}

TEST(DueReturns, AnEntryForAnotherNameOfTheHostCounts) {
  DrainedHost b;
  b.hurt(5);
  b.health[0].reasons[0].severity = Severity::kInfo;
  b.health.push_back(b.health[0]);
  b.health[1].node = "n1.cluster";
  b.health[1].reasons[0].incident = 2;
  b.health[1].reasons[0].severity = Severity::kWarning;
  b.pass(11min);
  EXPECT_EQ(b.returns(), 0U) << "INC-2 hurts it";
}

// What hurt it before is not known: health tells of open incidents alone.
TEST(DueReturns, AfterARestartTheHostMustBeSeenWellForAsLongAsEver) {
  DrainedHost b;
  b.hurt(2);
  b.pass(20min);
  b.hurt(0);
  b.pass(30s);
  b.restart();
  b.pass(9min);
  EXPECT_TRUE(b.obey().empty()) << "INC-2 was over some minutes ago";
  b.pass(1min);
  EXPECT_EQ(b.obey(), std::vector{RemedyAction::kUndrainNode});
}

TEST(DueReturns, OneThatWaitsIsKeptOverARestartAndWaitsUntilThatIsKnown) {
  DrainedHost b(proposing());
  b.pass(11min);
  ASSERT_EQ(b.plan(2).state, PlanState::kProposed);
  b.restart();
  EXPECT_EQ(b.plan(2).state, PlanState::kProposed);
  const auto refused = b.book->approve(2, 0, "ann", b.look());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "REINSTATEMENT: its return is not due: weftd began to watch it less than remedy.limits.undrain_after ago");
  b.pass(10min);
  b.health[0].verdict = HealthVerdict::kUnknown;
  b.pass(1s);
  EXPECT_FALSE(b.book->approve(2, 0, "ann", b.look())) << "no data is not well";
  EXPECT_EQ(b.plan(2).state, PlanState::kProposed);
  b.health[0].verdict = HealthVerdict::kHealthy;
  ASSERT_TRUE(b.book->approve(2, 0, "ann", b.look()));
  b.pass(1s);
  EXPECT_EQ(b.obey(), std::vector{RemedyAction::kUndrainNode});
}

TEST(DueReturns, AHostThatFailedOnItsReturnMustBeWellForAsLongAsEver) {
  RemedySettings settings = automatic();
  settings.limits.budget.cool_down = 0s;
  settings.limits.verification.probation = 60s;
  DrainedHost b(settings);
  b.pass(11min);
  ASSERT_EQ(b.obey(), std::vector{RemedyAction::kUndrainNode});
  ASSERT_EQ(b.plan(2).state, PlanState::kVerifying);
  b.hurt(2, HealthVerdict::kUnhealthy);
  b.pass(1s);
  ASSERT_EQ(b.plan(2).state, PlanState::kRollingBack);
  b.hurt(0);  // its trouble is over while the drain is on its way
  EXPECT_EQ(b.obey(), std::vector{RemedyAction::kDrainNode});
  ASSERT_EQ(b.plan(2).state, PlanState::kRolledBack) << b.plan(2).outcome;
  b.pass(9min);
  EXPECT_TRUE(b.obey().empty()) << "INC-2 was over some minutes ago";
  b.pass(1min);
  EXPECT_EQ(b.obey(), std::vector{RemedyAction::kUndrainNode});
}

TEST(DueReturns, WhatIsBeingTakenOutAgainCountsAsOutOnce) {
  RemedySettings settings = automatic();
  settings.limits.verification.probation = 60s;
  DrainedHost b(settings);
  EXPECT_EQ(b.book->status(b.fabric.now()).out_of_service, 1U);
  b.pass(11min);
  b.obey();
  EXPECT_EQ(b.book->status(b.fabric.now()).out_of_service, 0U) << "it is back, on probation";
  b.hurt(2, HealthVerdict::kUnhealthy);
  b.pass(1s);
  ASSERT_EQ(b.plan(2).state, PlanState::kRollingBack);
  EXPECT_EQ(b.book->status(b.fabric.now()).out_of_service, 1U) << "it may be out at any moment";
  b.obey();
  EXPECT_EQ(b.book->status(b.fabric.now()).out_of_service, 1U);
}

/// What is read fails so for that time.
void fail_to_read(Book& b, ErrorCode code, const char* why, Duration time) {
  for (const TimePoint end = b.fabric.now() + time; b.fabric.now() < end;) {
    for (const RemedyOrder& order : b.orders()) {
      EXPECT_EQ(order.kind, OrderKind::kRead);
      b.book->answer_reading(order.number, fail(code, why), b.fabric.now());
    }
    b.sweep();
  }
}

TEST(FailedReturns, AHostThatTheSchedulerNoLongerKnowsMakesFewPlans) {
  DrainedHost b;
  b.pass(11min);
  ASSERT_EQ(b.returns(), 1U);
  fail_to_read(b, ErrorCode::kNotFound, "Slurm has no node for host n1", 15min);
  EXPECT_EQ(b.returns(), 1U) << "it waits, with growing intervals";
  EXPECT_EQ(b.plan(2).state, PlanState::kExecuting);
  EXPECT_TRUE(b.plan(2).waits_for.starts_with("its state cannot be read: Slurm has no node for host n1; the next"));
  fail_to_read(b, ErrorCode::kNotFound, "Slurm has no node for host n1", 105min);
  EXPECT_LE(b.returns(), 6U);
  EXPECT_EQ(b.plan(2).state, PlanState::kFailed);
  // It is known again.
  for (int minute = 0; minute < 30; ++minute) {
    b.obey();
    b.pass(55s);
  }
  EXPECT_FALSE(b.is_out);
}

TEST(FailedReturns, WithFewReadingsStillOneEachCheckInterval) {
  DrainedHost b;
  b.settings.limits.failed_readings = 1;
  b.settings.limits.budget.cool_down = 0s;
  b.restart();
  b.pass(11min);
  fail_to_read(b, ErrorCode::kNotFound, "Slurm has no node for host n1", 1h);
  EXPECT_GE(b.returns(), 10U);
  EXPECT_LE(b.returns(), 12U);
  b.restart();
  const std::size_t before = b.returns();
  fail_to_read(b, ErrorCode::kNotFound, "Slurm has no node for host n1", 1min);
  EXPECT_LE(b.returns() - before, 1U);
}

// Its switch was taken away.
TEST(FailedReturns, ALinkWhosePortIsGoneMakesFewPlans) {
  DrainedHost b;
  b.settings.limits.failed_readings = 1;
  b.settings.limits.budget.cool_down = 0s;
  Plan isolated = b.plan(1);
  isolated.action = RemedyAction::kIsolateLink;
  isolated.target = b.link("leaf-0", "spine-0");
  isolated.finished = isolated.started = b.fabric.now() - 25h;
  b.begin({isolated});
  fail_to_read(b, ErrorCode::kUnavailable, "no directed route", 1h);
  EXPECT_GE(b.returns(), 10U);
  EXPECT_LE(b.returns(), 12U);
}

}  // namespace
}  // namespace weft::analyzer
