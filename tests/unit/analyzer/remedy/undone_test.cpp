// SPDX-License-Identifier: Apache-2.0
// Somebody else gives back what a plan took out: the plan says so and lets go, and automation does not take it out
// again.

#include <gtest/gtest.h>

#include "analyzer/remedy/windows.hpp"
#include "fabric/maintenance.hpp"
#include "fabric/minute_text.hpp"
#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

// A link that automation took out an hour ago, and that was read to be out.
struct Held : Book {
  explicit Held(PlanState state = PlanState::kCommitted, RemedyAction action = RemedyAction::kIsolateLink)
      : Book(automatic()) {
    settings.limits.reinstate_after = 24h;
    errors("leaf-0", "spine-0");
    fabric.unlink(end());
    fabric.route();
    Plan out;
    out.id = 1;
    out.state = state;
    out.action = action;
    out.inverse = action == RemedyAction::kRestoreLink ? RemedyAction::kIsolateLink : RemedyAction::kNothing;
    out.target = link("leaf-0", "spine-0");
    out.actuator = "fake";
    out.incident = 1;
    out.incident_began = incidents[0]->began();
    out.requested_by = out.approved_by = "weftd";
    out.outcome = "the symptom is gone";
    fabric.advance(1h);
    out.started = out.finished = fabric.now() - 50min;  // what was sent before has landed
    out.in_force = true;
    RemedyMemory memory;
    memory.plans = {out};
    book.emplace(settings, memory, fabric.now());
    sweep();
    answer(TargetState::kOurs);
  }

  PortIndex end() const { return fabric.port_towards("leaf-0", "spine-0"); }
  void enable_by_hand() {
    fabric.relink(end());
    fabric.route();
    sweep();
    ASSERT_EQ(answer(TargetState::kClear), 1U) << "it is read at once, and not when it would be anyway";
  }
  void see_errors_again() {
    auto later = std::make_shared<Incident>(*incidents[0]);
    for (Evidence& evidence : later->finding.evidence) evidence.observed = fabric.now();
    incidents[0] = std::move(later);
  }
  /// Of the plan that holds the link, and of which nobody knows whether it landed.
  Plan unresolved_return(PlanState state) const {
    Plan back = plan(1);
    back.id = 2;
    back.action = RemedyAction::kRestoreLink;
    back.inverse = RemedyAction::kIsolateLink;
    back.undoes = 1;
    back.state = state;
    back.in_force = false;
    back.unresolved = true;
    return back;
  }
  bool has_window() const { return window_of(plan(1)).has_value(); }
};

TEST(UndoneByOthers, ALinkThatIsUpAgainIsReadAtOnceAndItsTroubleIsNoWorkAnyMore) {
  Held b;
  b.sweep();
  EXPECT_EQ(b.answer(TargetState::kOurs), 0U) << "it is down, as it should be";
  EXPECT_TRUE(b.has_window());
  EXPECT_EQ(b.book->status(b.fabric.now()).undone_by_others, 0U);

  b.enable_by_hand();
  const Plan plan = b.plan(1);
  EXPECT_FALSE(plan.in_force);
  EXPECT_EQ(plan.outcome,
            "the symptom is gone; somebody else enabled the link again, seen at " + minute_text(b.fabric.now()));
  ASSERT_FALSE(plan.steps.empty());
  EXPECT_EQ(plan.steps.back().what, "somebody else enabled the link again: LinkUp");
  EXPECT_EQ(plan.steps.back().at, b.fabric.now());
  EXPECT_FALSE(b.has_window()) << "trouble of the link is trouble again";
  EXPECT_EQ(b.book->status(b.fabric.now()).undone_by_others, 1U);
  EXPECT_EQ(b.book->status(b.fabric.now()).out_of_service, 0U);
}

TEST(UndoneByOthers, ALinkThatIsSeenUpAndReadAsOutStaysHeld) {
  Held b;
  b.fabric.relink(b.end());
  b.sweep();
  EXPECT_EQ(b.answer(TargetState::kOurs), 1U) << "the sweep was older than it looks";
  EXPECT_TRUE(b.plan(1).in_force);
  EXPECT_TRUE(b.has_window());
}

// A port that is being disabled may be read as Polling for a moment.
TEST(UndoneByOthers, IsNotWhatOneReadingSaysAlone) {
  Held b;
  b.fabric.advance(6min);
  b.book->review(b.look());
  const std::size_t steps = b.plan(1).steps.size();
  for (const TargetState wrong : {TargetState::kClear, TargetState::kForeign}) {
    ASSERT_EQ(b.answer(wrong), 1U);
    ASSERT_EQ(b.answer(wrong), 0U) << "not at once";
    b.fabric.advance(2s);
    ASSERT_EQ(b.answer(TargetState::kOurs), 1U) << "and not in five minutes either";
    EXPECT_TRUE(b.plan(1).in_force);
    EXPECT_EQ(b.plan(1).steps.size(), steps);
    b.fabric.advance(6min);
    b.book->review(b.look());
  }
  ASSERT_EQ(b.answer(TargetState::kClear), 1U);
  b.fabric.advance(2s);
  ASSERT_EQ(b.answer(TargetState::kClear), 1U);
  EXPECT_FALSE(b.plan(1).in_force);
}

TEST(UndoneByOthers, ASweepOfBeforeTheClockWasSetBackIsNoSight) {
  Held b;
  b.fabric.relink(b.end());
  b.book->review(b.look());
  auto old = b.look();
  b.fabric.unlink(b.end());
  ASSERT_EQ(b.answer(TargetState::kOurs), 1U);
  old.now -= 1h;  // nothing was swept since
  b.book->review(old);
  const auto asked = b.book->drain_changes(old.now).orders;
  for (const RemedyOrder& order : asked)
    b.book->answer_reading(order.number, TargetReading{TargetState::kClear, ""}, old.now);
  EXPECT_TRUE(b.plan(1).in_force);
}

TEST(UndoneByOthers, IsNotWhatAReturnReadsOnceBeforeItActs) {
  Held b;
  ASSERT_TRUE(b.book->request(RemedyAction::kRestoreLink, b.link("leaf-0", "spine-0"), "", "ann", b.look()));
  b.sweep();
  ASSERT_EQ(b.answer(TargetState::kClear), 1U);
  ASSERT_EQ(b.answer(TargetState::kClear), 0U);
  b.fabric.advance(2s);
  ASSERT_EQ(b.answer(TargetState::kOurs), 1U);
  EXPECT_TRUE(b.plan(1).in_force);
  b.sweep();
  const auto sent = b.orders();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].kind, OrderKind::kAct) << "it is enabled, for it was out";
}

// Each of the two plans reads the link once, in the same moment.
TEST(UndoneByOthers, IsNotWhatTwoPlansReadAtOnce) {
  Held b;
  b.fabric.advance(6min);
  b.book->review(b.look());
  ASSERT_TRUE(b.book->request(RemedyAction::kRestoreLink, b.link("leaf-0", "spine-0"), "", "ann", b.look()));
  ASSERT_EQ(b.answer(TargetState::kClear), 1U);
  b.book->review(b.look());
  b.answer(TargetState::kClear);
  EXPECT_TRUE(b.plan(1).in_force) << "a second sight is one of another moment";
  ASSERT_TRUE(b.book->abort(2, "not now", "ann", b.fabric.now()));
  EXPECT_EQ(b.answer(TargetState::kClear), 0U) << "nor is it read at once when the return is over";
  b.fabric.advance(4s);
  EXPECT_EQ(b.answer(TargetState::kOurs), 1U);
  EXPECT_TRUE(b.plan(1).in_force);
}

// Nobody knows whether a return landed, and its plan reads the link as well.
TEST(UndoneByOthers, IsNotWhatAReturnThatIsOverReadsOnce) {
  Held b;
  const Plan back = b.unresolved_return(PlanState::kFailed);
  RemedyMemory memory;
  memory.plans = {b.plan(1), back};
  b.book.emplace(b.settings, memory, b.fabric.now());
  b.sweep();
  for (const bool is_back : {false, true}) {
    const auto asked = b.orders();
    ASSERT_EQ(asked.size(), 2U);
    for (const RemedyOrder& order : asked) {
      const bool says_clear = order.plan == 2 || is_back;
      b.book->answer_reading(order.number, TargetReading{says_clear ? TargetState::kClear : TargetState::kOurs, ""},
                             b.fabric.now());
    }
    if (!is_back) {
      EXPECT_TRUE(b.plan(1).in_force);
    }
    b.fabric.advance(is_back ? Duration(2s) : Duration(6min));
  }
  b.answer(TargetState::kClear);
  EXPECT_FALSE(b.plan(1).in_force);
  EXPECT_EQ(b.plan(1).outcome, "the symptom is gone") << "nobody else did it";
  EXPECT_EQ(b.plan(1).steps.back().what, "reverted by PLAN-2");
}

// Of a port that weftd sets itself nothing lands half an hour later; and what nobody knows is read when it can be
// known.
TEST(UndoneByOthers, WhatMayStillLandIsReadAsSoonAsItCannotAnyMore) {
  for (const bool is_port : {true, false}) {
    Held b;
    b.settings.latest_landing["port"] = 2min;
    Plan back = b.unresolved_return(PlanState::kRolledBack);
    back.finished = b.fabric.now();
    back.actuator = is_port ? "port" : "ufm";
    RemedyMemory memory;
    memory.plans = {back};
    b.book.emplace(b.settings, memory, b.fabric.now());
    const Duration patience = is_port ? Duration(2min) : Duration(30min);
    EXPECT_EQ(b.plan(2).unresolved_until, back.finished + patience);
    b.sweep();
    b.answer(TargetState::kClear);
    b.fabric.advance(2s);
    b.answer(TargetState::kClear);
    EXPECT_TRUE(b.plan(2).unresolved);
    for (Duration waited{}; waited < patience; waited += 1s) {
      b.fabric.advance(1s);
      b.answer(TargetState::kClear);
    }
    b.fabric.advance(2s);
    b.answer(TargetState::kClear);
    b.fabric.advance(2s);
    b.answer(TargetState::kClear);
    EXPECT_FALSE(b.plan(2).unresolved) << is_port;
    EXPECT_EQ(b.plan(2).unresolved_until, kNever);
  }
}

// A weftd that takes over swept a moment before.
TEST(UndoneByOthers, ASweepOfBeforeItWasTakenOutIsNoSight) {
  Held b;
  b.fabric.relink(b.end());
  RemedyView before = b.look();
  b.fabric.unlink(b.end());
  Plan out = b.plan(1);
  before.now += 2s;
  out.finished = before.now - 1s;
  RemedyMemory memory;
  memory.plans = {out};
  b.book.emplace(b.settings, memory, before.now);
  b.book->review(before);
  const auto asked = b.book->drain_changes(before.now).orders;
  ASSERT_EQ(asked.size(), 1U);
  b.book->answer_reading(asked[0].number, TargetReading{TargetState::kClear, ""}, before.now);
  EXPECT_TRUE(b.plan(1).in_force);
}

TEST(UndoneByOthers, IsNotWhatWasSeenOnceLongAgoAndOnceNow) {
  Held b;
  b.fabric.advance(6min);
  b.book->review(b.look());
  ASSERT_EQ(b.answer(TargetState::kClear), 1U);
  b.fabric.advance(1h);
  ASSERT_EQ(b.answer(TargetState::kClear), 1U);
  EXPECT_TRUE(b.plan(1).in_force);
  b.fabric.advance(2s);
  ASSERT_EQ(b.answer(TargetState::kClear), 1U);
  EXPECT_FALSE(b.plan(1).in_force);
}

// Of a link that cannot be read.
TEST(UndoneByOthers, IsNotAskedAgainAndAgainForASweepFromBeforeTheClockWasSetBack) {
  Held b;
  b.fabric.relink(b.end());
  RemedyView old = b.look();
  old.now -= 10min;
  b.book->review(old);
  for (int times = 0; times < 3; ++times) {
    for (const RemedyOrder& order : b.book->drain_changes(old.now).orders) {
      EXPECT_EQ(times, 0) << "at once";
      b.book->answer_reading(order.number, fail(ErrorCode::kUnavailable, "too many"), old.now);
    }
    b.book->review(old);
  }
}

TEST(UndoneByOthers, IsNotTakenOutAgainByAutomationWhileItsIncidentIsOpen) {
  Held b;
  b.enable_by_hand();
  b.settings.limits.retention = 24h;
  for (int hour = 0; hour < 9 * 24; ++hour) {
    b.fabric.advance(1h);
    b.see_errors_again();
    b.sweep();
    ASSERT_EQ(b.answer(TargetState::kClear), 0U);
    ASSERT_EQ(b.book->all()->size(), 1U);
  }
  // A person may.
  ASSERT_TRUE(b.book->request(RemedyAction::kIsolateLink, b.link("leaf-0", "spine-0"), "", "ann", b.look()));
  b.sweep();
  EXPECT_EQ(b.plan(2).state, PlanState::kExecuting);
}

// A person who works on a link stops automation first, and a return may be about to be sent then.
TEST(UndoneByOthers, IsSeenWhileAReturnOfItWaitsForABrake) {
  for (const bool begun : {false, true}) {
    Held b;
    b.fabric.advance(24h);
    b.book->review(b.look());
    if (begun) {
      b.answer(TargetState::kOurs);
    }
    b.book->set_hands_off(true, "I work on it", "ann", b.fabric.now());
    b.sweep();
    b.answer(TargetState::kOurs);
    ASSERT_EQ(b.book->all()->size(), 2U);
    ASSERT_FALSE(is_over(b.plan(2).state));
    b.fabric.relink(b.end());
    b.fabric.route();
    for (int second = 0; second < 3; ++second) {
      b.sweep();
      b.answer(TargetState::kClear);
    }
    EXPECT_FALSE(b.plan(1).in_force) << begun;
    EXPECT_FALSE(b.has_window()) << begun;
    b.book->set_hands_off(false, "", "ann", b.fabric.now());
    b.sweep();
    b.answer(TargetState::kClear);
    b.sweep();
    EXPECT_TRUE(is_over(b.plan(2).state)) << begun;
  }
}

// A return that was proposed by then, and ended for it, changed nothing.
TEST(UndoneByOthers, IsWatchedForAPersonAlsoWhenItsReturnWasProposed) {
  Held b;
  b.settings.modes.fill(RemedyMode::kPropose);
  RemedyMemory memory;
  memory.plans = {b.plan(1)};
  memory.ids = 1;
  b.book.emplace(b.settings, memory, b.fabric.now());
  b.fabric.advance(24h);
  b.sweep();
  b.answer(TargetState::kOurs);
  ASSERT_EQ(b.plan(2).state, PlanState::kProposed);
  b.enable_by_hand();
  const Entity link = b.link("leaf-0", "spine-0");
  EXPECT_TRUE(b.book->preview(RemedyAction::kRestoreLink, link, "", "ann", b.look())) << "while it is proposed";
  b.sweep();
  ASSERT_EQ(b.plan(2).state, PlanState::kExpired);
  const auto back = b.book->request(RemedyAction::kRestoreLink, link, "", "ann", b.look());
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->undoes, 1U);
  b.sweep();
  b.answer(TargetState::kClear);
  EXPECT_EQ(b.plan(3).state, PlanState::kVerifying) << b.plan(3).outcome;
}

TEST(UndoneByOthers, WhatAPersonGaveBackIsNotTakenOutAgainByAutomationWhileItsIncidentIsOpen) {
  Held b;
  Plan given_back = b.plan(1);
  given_back.in_force = false;
  Plan back = given_back;
  back.id = 2;
  back.action = RemedyAction::kRestoreLink;
  back.inverse = RemedyAction::kIsolateLink;
  back.undoes = 1;
  back.requested_by = back.approved_by = "ann";
  back.started = b.fabric.now() - 40min;
  back.finished = b.fabric.now() - 20min;
  b.fabric.relink(b.end());
  b.fabric.route();
  // With or without an incident that the return is of.
  for (const std::uint64_t incident : {1, 0}) {
    back.incident = incident;
    back.incident_began = incident == 0 ? kNever : given_back.incident_began;
    RemedyMemory memory;
    memory.plans = {given_back, back};
    b.book.emplace(b.settings, memory, b.fabric.now());
    for (int minute = 0; minute < 10; ++minute) {
      b.fabric.advance(1min);
      b.see_errors_again();
      b.sweep();
      ASSERT_EQ(b.book->all()->size(), 2U) << incident;
    }
  }
}

// Whoever enabled it saw all of its trouble.
TEST(UndoneByOthers, IsNoReasonToTakeItOutForItsOtherTrouble) {
  Held b;
  b.errors("leaf-0", "spine-0", 1e-7);
  b.fabric.advance(1min);
  b.enable_by_hand();
  for (int minute = 0; minute < 10; ++minute) {
    b.fabric.advance(1min);
    for (auto& incident : b.incidents) {
      auto later = std::make_shared<Incident>(*incident);
      for (Evidence& each : later->finding.evidence) each.observed = b.fabric.now();
      incident = std::move(later);
    }
    b.sweep();
    ASSERT_EQ(b.book->all()->size(), 1U);
  }
}

TEST(UndoneByOthers, NewTroubleIsANewMatter) {
  Held b;
  b.enable_by_hand();
  auto later = std::make_shared<Incident>(*b.incidents[0]);
  b.fabric.advance(1h);
  later->beginnings.push_back(b.fabric.now());
  b.incidents[0] = later;
  b.see_errors_again();
  b.sweep();
  EXPECT_EQ(b.book->all()->size(), 2U);
}

TEST(UndoneByOthers, AReturnThatFailedHoldsTheLinkInThePlaceOfThePlanBefore) {
  Held b(PlanState::kRolledBack, RemedyAction::kRestoreLink);
  b.enable_by_hand();
  EXPECT_FALSE(b.plan(1).in_force);
  EXPECT_EQ(b.book->status(b.fabric.now()).undone_by_others, 1U);
}

TEST(UndoneByOthers, WhatAPlanReturnedIsNotUndoneByOthers) {
  Plan out;
  out.id = 1;
  out.state = PlanState::kCommitted;
  out.target = {.kind = EntityKind::kHost, .fabric = "", .port = {}, .peer = {}, .label = "n1", .host = "n1"};
  out.action = RemedyAction::kDrainNode;
  out.started = TimePoint(1h);
  Plan back = out;
  back.id = 2;
  back.action = RemedyAction::kUndrainNode;
  std::vector<std::shared_ptr<const Plan>> plans{std::make_shared<Plan>(out)};
  EXPECT_TRUE(is_undone_by_others(out, plans));
  EXPECT_EQ(undone_text(out), "somebody else undrained the host");
  plans.push_back(std::make_shared<Plan>(back));
  EXPECT_FALSE(is_undone_by_others(out, plans)) << "we did";
  back.started = kNever;
  plans.back() = std::make_shared<Plan>(back);
  EXPECT_TRUE(is_undone_by_others(out, plans)) << "it found the host undrained";
  out.unresolved = true;
  EXPECT_FALSE(is_undone_by_others(out, plans)) << "nobody knows";
}

}  // namespace
}  // namespace weft::analyzer
