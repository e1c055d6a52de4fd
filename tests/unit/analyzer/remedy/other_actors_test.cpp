// SPDX-License-Identifier: Apache-2.0
// Another weftd that may act on the same fabric, as the subnet administrator tells of it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/acting_weftds.hpp"
#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using ::testing::HasSubstr;

constexpr const char* kOther = "installation ffff0b7a5d3f2468 at port GUID 0x0000000000000401 (mgmt2)";

struct BookWithAnother : Book {
  BookWithAnother() : Book(automatic()) { book.emplace(settings, RemedyMemory{}, fabric.now()); }
  RemedyStatus status() { return book->status(fabric.now()); }
};

TEST(OtherActors, TripTheBreakerBeforeAnythingIsDone) {
  BookWithAnother b;
  b.book->set_other_actors("ib0", kOther, b.fabric.now());
  EXPECT_TRUE(b.status().breaker_tripped);
  EXPECT_THAT(b.status().breaker_reason,
              HasSubstr("another weftd may act on fabric ib0: installation ffff0b7a5d3f2468"));
  b.errors("leaf-0", "spine-0");
  b.book->review(b.look());
  EXPECT_TRUE(b.orders().empty());
}

TEST(OtherActors, APersonResetsWhenTheOtherIsGone) {
  BookWithAnother b;
  b.book->set_other_actors("ib0", kOther, b.fabric.now());
  const auto refused = b.book->reset_breaker("", "ann", b.fabric.now());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("Stop one of them"));
  b.book->set_other_actors("ib0", "", b.fabric.now());
  EXPECT_TRUE(b.status().breaker_tripped) << "only a person resets it";
  EXPECT_TRUE(b.book->reset_breaker("", "ann", b.fabric.now()));
  EXPECT_FALSE(b.status().breaker_tripped);
}

TEST(OtherActors, OneThatComesBackTripsItAgain) {
  BookWithAnother b;
  b.book->set_other_actors("ib0", kOther, b.fabric.now());
  b.book->set_other_actors("ib0", "", b.fabric.now());
  ASSERT_TRUE(b.book->reset_breaker("", "ann", b.fabric.now()));
  b.book->set_other_actors("ib0", kOther, b.fabric.now());
  EXPECT_TRUE(b.status().breaker_tripped);
}

TEST(OtherActors, OnSeveralFabricsAreEachWaitedFor) {
  BookWithAnother b;
  b.book->set_other_actors("ib0", kOther, b.fabric.now());
  b.book->set_other_actors("ib1", kOther, b.fabric.now());
  b.book->set_other_actors("ib0", "", b.fabric.now());
  EXPECT_FALSE(b.book->reset_breaker("", "ann", b.fabric.now()));
}

// It may have been sent before the breaker tripped, or is decided after it.
TEST(Breaker, LeavesInServiceWhatFailsOnProbationWhileItIsTripped) {
  for (const bool sent_late : {false, true}) {
    Book b(automatic());
    Plan out;
    out.id = 1;
    out.state = PlanState::kCommitted;
    out.action = RemedyAction::kIsolateLink;
    out.target = b.link("leaf-0", "spine-0");
    out.actuator = "fake";
    out.requested_by = out.approved_by = kOurselves;
    out.started = out.finished = b.fabric.now() - std::chrono::hours(25);
    Plan back = out;
    back.id = 2;
    back.state = PlanState::kVerifying;
    back.action = RemedyAction::kRestoreLink;
    back.undoes = 1;
    back.intent = PlanIntent::kApply;
    back.started = b.fabric.now();
    back.finished = kNever;
    RemedyMemory memory;
    memory.plans = {out, back};
    b.book.emplace(b.settings, memory, b.fabric.now());
    const auto trip = [&b] { b.book->set_other_actors(b.fabric.name(), "installation ffff", b.fabric.now()); };
    b.fabric.unlink(b.fabric.port_towards("leaf-0", "spine-0"));
    b.fabric.route();
    if (!sent_late) trip();
    bool wanted = false;
    for (int i = 0; i < 3000 && !is_over(b.plan(2).state); ++i) {
      b.fabric.advance(std::chrono::seconds(1));
      b.book->review(b.look());
      if (sent_late && b.plan(2).intent == PlanIntent::kUndo) {
        wanted = true;
        trip();
      }
      for (const RemedyOrder& order : b.orders()) {
        EXPECT_EQ(order.kind, OrderKind::kRead) << "it is taken out while the breaker is tripped";
        b.book->answer_reading(order.number, TargetReading{TargetState::kClear, ""}, b.fabric.now());
      }
    }
    EXPECT_EQ(wanted, sent_late);
    EXPECT_EQ(b.plan(2).state, PlanState::kFailed);
    EXPECT_NE(b.plan(2).outcome.find("cannot be taken out of service again: BREAKER: it is tripped"), std::string::npos)
        << b.plan(2).outcome;
  }
}

// Its port is pulled, or its subnet manager does not answer any more.
TEST(OtherActors, WhatWasToldLongAgoHoldsNoReset) {
  BookWithAnother b;
  b.book->set_other_actors("ib1", kOther, b.fabric.now());
  b.fabric.advance(ActingWeftds::kLease);
  EXPECT_FALSE(b.book->reset_breaker("", "ann", b.fabric.now()));
  b.fabric.advance(std::chrono::seconds(1));
  EXPECT_TRUE(b.book->reset_breaker("that fabric was taken down", "ann", b.fabric.now()));
  b.book->set_other_actors("ib1", kOther, b.fabric.now());
  EXPECT_TRUE(b.status().breaker_tripped) << "it is told again";
}

TEST(OtherActors, WhatIsToldAgainStaysTrue) {
  BookWithAnother b;
  for (int i = 0; i < 4; ++i) {
    b.book->set_other_actors("ib0", kOther, b.fabric.now());
    b.fabric.advance(ActingWeftds::kLease / 2);
  }
  EXPECT_FALSE(b.book->reset_breaker("", "ann", b.fabric.now()));
}

TEST(OtherActors, AForwardStepOfTheClockMakesNothingOutOfDate) {
  BookWithAnother b;
  b.book->review(b.look());
  b.book->set_other_actors("ib0", kOther, b.fabric.now());
  b.set_forward = std::chrono::hours(1);
  b.fabric.advance(std::chrono::hours(1));
  b.book->review(b.look());
  EXPECT_FALSE(b.book->reset_breaker("", "ann", b.fabric.now()));
}

TEST(OtherActors, StopNothingWhereAPersonTurnedThatOff) {
  BookWithAnother b;
  b.settings.stop_for_other_weftd = false;
  b.book.emplace(b.settings, RemedyMemory{}, b.fabric.now());
  b.book->set_other_actors("ib0", kOther, b.fabric.now());
  EXPECT_FALSE(b.status().breaker_tripped);
  const auto audit = b.book->drain_changes(b.fabric.now()).audit;
  ASSERT_EQ(audit.size(), 1U);
  EXPECT_THAT(audit[0].detail, HasSubstr(kOther));
}

TEST(OtherActors, WereStoppedForBeforeThatWasTurnedOff) {
  BookWithAnother b;
  RemedyMemory memory;
  memory.holds.breaker_tripped = true;
  b.settings.stop_for_other_weftd = false;
  b.book.emplace(b.settings, memory, b.fabric.now());
  b.book->set_other_actors("ib0", kOther, b.fabric.now());
  EXPECT_TRUE(b.status().breaker_tripped) << "only a person resets it";
  EXPECT_TRUE(b.book->reset_breaker("", "ann", b.fabric.now()));
}

}  // namespace
}  // namespace weft::analyzer
