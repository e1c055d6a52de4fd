// SPDX-License-Identifier: Apache-2.0
// What a plan says when it is over is what was looked at, and what becomes of it then.

#include <gtest/gtest.h>

#include "analyzer/remedy/windows.hpp"
#include "fabric/minute_text.hpp"
#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

// As it is verified with one good window.
std::string outcome_of(RemedyAction action, std::uint64_t incident, const std::string& reading = {}) {
  Plan plan;
  plan.action = action;
  plan.incident = incident;
  plan.state = PlanState::kVerifying;
  PlanWork work;
  work.reading = reading;
  const RemedyLimits limits;
  PlanRunner(plan, work, limits, TimePoint(1h), [](const std::string&) {}).window({.fresh = true, .good = true}, 1, {});
  EXPECT_EQ(plan.state, PlanState::kCommitted);
  return plan.outcome;
}

TEST(PlanOutcome, SaysOnlyWhatWasLookedAt) {
  EXPECT_EQ(outcome_of(RemedyAction::kIsolateLink, 7), "the symptom is gone, the neighbours are no worse");
  EXPECT_EQ(outcome_of(RemedyAction::kIsolateLink, 0), "no route leads over it, the neighbours are no worse")
      << "there was no symptom";
  EXPECT_EQ(outcome_of(RemedyAction::kRaiseLinkCost, 7), "no route leads over it, the neighbours are no worse")
      << "it stays as slow as it was";
  for (const std::uint64_t incident : {0, 7})
    EXPECT_EQ(outcome_of(RemedyAction::kDrainNode, incident, "the receiver acknowledged DRAIN_NODE of PLAN-1"),
              "the receiver acknowledged DRAIN_NODE of PLAN-1; nothing else was checked");
  EXPECT_EQ(outcome_of(RemedyAction::kDrainNode, 0),
            "it was in force before weftd was restarted; nothing else was checked");
  EXPECT_EQ(outcome_of(RemedyAction::kRestoreLink, 7), "no fault during probation");
}

TEST(PlanOutcome, ADrainEndsWithWhatTheActuatorRead) {
  Plan plan;
  plan.action = RemedyAction::kDrainNode;
  plan.state = PlanState::kExecuting;
  plan.intent = PlanIntent::kApply;
  PlanWork work;
  const RemedyLimits limits;
  PlanRunner runner(plan, work, limits, TimePoint(1h), [](const std::string&) {});
  runner.read(TargetReading{TargetState::kOurs, "the receiver acknowledged DRAIN_NODE of PLAN-1"}, true);
  runner.window({.fresh = true, .good = true}, 1, {});
  EXPECT_EQ(plan.outcome, "the receiver acknowledged DRAIN_NODE of PLAN-1; nothing else was checked");
}

// Whoever reads it later must see that a person wanted it undone, however that went.
TEST(PlanOutcome, KeepsWhyItWasToBeUndone) {
  const auto ends = [](const Result<TargetReading>& reading, std::initializer_list<const char*> parts) {
    Plan plan;
    plan.action = RemedyAction::kDrainNode;
    plan.state = PlanState::kRollingBack;
    plan.intent = PlanIntent::kApply;
    plan.outcome = "aborted by ann: wrong host";
    PlanWork work;
    RemedyLimits limits;
    limits.failed_readings = 1;
    for (int i = 0; i < 40 && plan.state == PlanState::kRollingBack; ++i) {
      work.undos = 3;
      PlanRunner(plan, work, limits, TimePoint(1h), [](const std::string&) {}).read(reading, true);
    }
    EXPECT_EQ(plan.state, PlanState::kFailed);
    for (const char* part : parts) EXPECT_NE(plan.outcome.find(part), std::string::npos) << plan.outcome;
  };
  ends(fail(ErrorCode::kUnavailable, "the scheduler is away"),
       {"aborted by ann: wrong host; check it by hand, its state cannot be read: the scheduler is away"});
  ends(TargetReading{TargetState::kOurs, "drained"},
       {"aborted by ann: wrong host; it could not be undone, undo it by hand: drained"});
  ends(TargetReading{TargetState::kForeign, "drained by bob"},
       {"aborted by ann: wrong host; left as it is: somebody else holds it now: drained by bob"});
}

TEST(PlanOutcome, WhatAPersonTookBackIsNotCalledFound) {
  for (const bool by_us : {true, false}) {
    Book b;
    Plan out;
    out.id = 1;
    out.state = PlanState::kCommitted;
    out.action = RemedyAction::kIsolateLink;
    out.target = b.link("leaf-0", "spine-0");
    out.actuator = "fake";
    out.requested_by = out.approved_by = "ann";
    out.started = out.finished = b.fabric.now() - 1h;
    out.in_force = true;
    RemedyMemory memory;
    memory.plans = {out};
    b.book.emplace(b.settings, memory, b.fabric.now());
    ASSERT_TRUE(b.book->request(RemedyAction::kRestoreLink, out.target, "", "ann", b.look()));
    TargetState state = by_us ? TargetState::kOurs : TargetState::kClear;
    for (int i = 0; i < 6; ++i) {
      b.book->review(b.look());
      for (const RemedyOrder& order : b.orders()) {
        if (order.kind == OrderKind::kRead) {
          b.book->answer_reading(order.number, TargetReading{state, ""}, b.fabric.now());
        } else {
          state = TargetState::kClear;
          b.book->answer_action(order.number, {}, b.fabric.now());
        }
      }
    }
    EXPECT_FALSE(b.plan(1).in_force);
    EXPECT_EQ(b.plan(1).steps.back().what, by_us ? "reverted by PLAN-2" : "PLAN-2 found it reverted");
  }
}

TEST(PlanOutcome, WhoApprovesTooLateIsToldWhoDid) {
  Book b;
  b.errors("leaf-0", "spine-0");
  b.book->review(b.look());
  ASSERT_TRUE(b.book->approve(1, 0, "ann", b.look()));
  EXPECT_EQ(b.book->approve(1, 0, "bob", b.look()).error().message,
            "PLAN-1 is APPROVED, approved by ann at " + minute_text(b.fabric.now()));
  b.book->set_hands_off(true, "a visitor", "kim", b.fabric.now());
  b.book->review(b.look());
  EXPECT_EQ(
      b.book->approve(1, 0, "bob", b.look()).error().message,
      "PLAN-1 is APPROVED, approved by ann at " + minute_text(b.fabric.now()) +
          "; it waits for HANDS_OFF: everything is stopped, also what persons order: kim: a visitor; to let it go "
          "on: weftctl hands-off off --reason ...");
  EXPECT_EQ(b.book->approve(99, 0, "bob", b.look()).error().message,
            "no plan PLAN-99: weftctl plans --all lists those that are known");
  ASSERT_TRUE(b.book->reject(1, "wrong cable", "kim", b.fabric.now()));
  EXPECT_EQ(b.book->approve(1, 0, "bob", b.look()).error().message,
            "PLAN-1 is REJECTED: wrong cable. To order it anew: weftctl isolate \"leaf-0 - spine-0\" --reason ...");
  EXPECT_EQ(b.book->abort(1, "", "bob", b.look()).error().message,
            "PLAN-1 is REJECTED: too late to abort it (wrong cable)");
  EXPECT_EQ(b.book->reject(1, "", "bob", b.fabric.now()).error().message,
            "PLAN-1 is REJECTED: too late to reject it. To order it anew: weftctl isolate \"" + b.plan(1).target.label +
                "\" --reason ...");
}

// As the trail tells it.
std::vector<std::string> trail(Book& b) {
  std::vector<std::string> lines;
  for (const AuditRecord& record : b.book->drain_changes(b.fabric.now()).audit)
    lines.push_back(record.what + " by " + record.who + ": " + record.detail);
  return lines;
}

TEST(PlanOutcome, OneBrakeThatIsReleasedResumesNothingWhileTheOtherHolds) {
  Book b;
  b.book->set_hands_off(true, "a visitor", "kim", b.fabric.now());
  b.book->set_file_brake("/run/stop exists", b.fabric.now());
  trail(b);
  b.book->set_hands_off(false, "done", "kim", b.fabric.now());
  EXPECT_EQ(trail(b),
            (std::vector<std::string>{"hands-off released by kim: done; it was stopped by kim: a visitor; the "
                                      "file still stops automation: /run/stop exists"}));
  b.book->set_file_brake("", b.fabric.now());
  EXPECT_EQ(trail(b), (std::vector<std::string>{"automation resumed by file: the file is gone"}));
  b.book->set_hands_off(true, "a visitor", "kim", b.fabric.now());
  b.book->set_file_brake("/run/stop exists", b.fabric.now());
  b.book->set_file_brake("", b.fabric.now());
  EXPECT_EQ(trail(b).back(), "hands-off released by file: the file is gone; still stopped by kim: a visitor");
  b.book->set_hands_off(false, "done", "kim", b.fabric.now());
  b.book->set_file_brake("/run/stop cannot be looked at: Not a directory", b.fabric.now());
  b.book->set_file_brake("", b.fabric.now());
  EXPECT_EQ(trail(b).back(), "automation resumed by file: it can be looked at again, and there is no file");
}

TEST(PlanOutcome, ABrakeThatIsReleasedResumesNothingWhileTheBreakerIsTripped) {
  Book b;
  RemedyMemory memory;
  memory.holds.breaker_tripped = true;
  memory.holds.breaker_reason = "7 incidents";
  b.book.emplace(b.settings, memory, b.fabric.now());
  b.book->set_hands_off(true, "a visitor", "kim", b.fabric.now());
  b.book->set_file_brake("/run/stop exists", b.fabric.now());
  trail(b);
  b.book->set_hands_off(false, "", "kim", b.fabric.now());
  EXPECT_EQ(trail(b), (std::vector<std::string>{
                          "hands-off released by kim: it was stopped by kim: a visitor; the file still stops "
                          "automation: /run/stop exists; the circuit breaker is still tripped: 7 incidents"}));
  b.book->set_file_brake("", b.fabric.now());
  EXPECT_EQ(trail(b), (std::vector<std::string>{"hands-off released by file: the file is gone; the circuit breaker is "
                                                "still tripped: 7 incidents"}));
  ASSERT_TRUE(b.book->reset_breaker("looked", "kim", b.fabric.now()));
  EXPECT_EQ(trail(b), std::vector<std::string>{"breaker reset by kim: looked"});
}

TEST(PlanOutcome, WhatNeverBeganNeedsNoCoolingDown) {
  for (const bool began : {false, true}) {
    Book b;
    Plan before;
    before.id = 1;
    before.state = PlanState::kExpired;
    before.action = RemedyAction::kIsolateLink;
    before.target = b.link("leaf-0", "spine-0");
    before.actuator = "fake";
    before.incident = 77;
    before.requested_by = std::string(kOurselves);
    before.approved_by = "ann";
    before.finished = b.fabric.now() - 1min;
    if (began) before.started = before.finished;
    RemedyMemory memory;
    memory.plans = {before};
    b.book.emplace(b.settings, memory, b.fabric.now());
    b.errors("leaf-0", "spine-0");
    b.book->review(b.look());
    EXPECT_EQ(b.verdict(b.plan(2), Guard::kCoolDown).result, began ? GuardResult::kRefused : GuardResult::kPassed);
  }
}

TEST(PlanOutcome, AReadingThatFailsIsToldOnceBeforeItIsGivenUp) {
  Plan plan;
  plan.state = PlanState::kApproved;
  PlanWork work;
  const RemedyLimits limits;
  std::vector<std::string> notes;
  PlanRunner runner(plan, work, limits, TimePoint(1h), [&notes](const std::string& note) { notes.push_back(note); });
  runner.begin();
  const Result<TargetReading> failure = fail(ErrorCode::kNotFound, "weft-port is not there");
  for (unsigned i = 0; i < limits.failed_readings; ++i) EXPECT_FALSE(runner.read(failure, false));
  EXPECT_EQ(plan.state, PlanState::kExecuting);
  EXPECT_EQ(notes, (std::vector<std::string>{"started: reading the current state first",
                                             "its state cannot be read, trying again: weft-port is not there"}));
  EXPECT_FALSE(runner.read(failure, false));
  EXPECT_EQ(plan.state, PlanState::kFailed);
  EXPECT_EQ(plan.outcome, "not done: weft-port is not there");
}

TEST(PlanOutcome, WhileItsStateCannotBeReadAPlanSaysSo) {
  Book b;
  ASSERT_TRUE(b.book->request(RemedyAction::kIsolateLink, b.link("leaf-0", "spine-0"), "", "ann", b.look()));
  b.book->review(b.look());
  const auto fails = [&b] {
    for (const RemedyOrder& order : b.orders())
      b.book->answer_reading(order.number, fail(ErrorCode::kUnavailable, "no directed route"), b.fabric.now());
    b.book->review(b.look());
    return b.plan(1).waits_for;
  };
  EXPECT_EQ(fails(), "its state cannot be read: no directed route; the next try is 4 s after the last one");
  b.fabric.advance(4s);
  EXPECT_EQ(fails(), "its state cannot be read: no directed route; the next try is 8 s after the last one");
  ASSERT_EQ(b.plan(1).state, PlanState::kExecuting);
  EXPECT_FALSE(b.plan(1).refused());
  b.fabric.advance(8s);
  const auto asked = b.orders();
  ASSERT_EQ(asked.size(), 1U);
  b.book->answer_reading(asked[0].number, TargetReading{TargetState::kClear, ""}, b.fabric.now());
  EXPECT_EQ(b.plan(1).waits_for, "");

  // Sent, and aborted while nobody can read it.
  b.book->review(b.look());
  const auto sent = b.orders();
  ASSERT_EQ(sent.size(), 1U);
  ASSERT_EQ(sent[0].kind, OrderKind::kAct);
  b.book->answer_action(sent[0].number, {}, b.fabric.now());
  ASSERT_TRUE(b.book->abort(1, "wrong link", "ann", b.fabric.now()));
  ASSERT_EQ(b.plan(1).state, PlanState::kRollingBack);
  EXPECT_EQ(fails(), "its state cannot be read: no directed route; the next try is 4 s after the last one");
}

TEST(PlanOutcome, WhatIsUndoneSaysWhatItWaitsForBeforeItIsOver) {
  Book b;
  ASSERT_TRUE(b.book->request(RemedyAction::kIsolateLink, b.link("leaf-0", "spine-0"), "", "ann", b.look()));
  b.book->review(b.look());
  ASSERT_EQ(b.answer(TargetState::kClear), 1U);
  b.book->review(b.look());
  b.book->answer_action(b.orders().at(0).number, {}, b.fabric.now());
  const PortIndex end = b.fabric.port_towards("leaf-0", "spine-0");
  b.fabric.unlink(end);
  b.answer(TargetState::kOurs);
  b.sweep();
  ASSERT_TRUE(b.book->abort(1, "wrong link", "ann", b.fabric.now()));
  b.fabric.advance(2s);
  ASSERT_EQ(b.answer(TargetState::kOurs), 1U);
  b.book->review(b.look());
  b.book->answer_action(b.orders().at(0).number, {}, b.fabric.now());
  ASSERT_EQ(b.answer(TargetState::kClear), 1U);
  b.sweep();
  b.sweep();
  ASSERT_EQ(b.plan(1).state, PlanState::kRollingBack) << b.plan(1).outcome;
  EXPECT_EQ(b.plan(1).waits_for, "the link has not come up again");
  b.fabric.relink(end);
  b.fabric.route();
  b.sweep();
  EXPECT_EQ(b.plan(1).state, PlanState::kRolledBack) << b.plan(1).waits_for;
}

// A host one of whose adapters is not read for as long as the plan may take.
TEST(PlanOutcome, WhatCouldNotBeVerifiedSaysWhy) {
  Plan plan;
  plan.action = RemedyAction::kUndrainNode;
  plan.reason = "memory is new";
  plan.state = PlanState::kVerifying;
  PlanWork work;
  const RemedyLimits limits;
  PlanRunner(plan, work, limits, TimePoint(0h), [](const std::string&) {}).window({.why = "nobody reads it"}, 1, {});
  EXPECT_EQ(work.why, "nobody reads it");
  PlanRunner later(plan, work, limits, TimePoint(24h), [](const std::string&) {});
  later.window({}, 1, {});
  EXPECT_EQ(plan.state, PlanState::kRollingBack);
  EXPECT_EQ(plan.outcome, "it could not be verified in time: nobody reads it");
  ASSERT_TRUE(later.order());
  EXPECT_EQ(later.order()->action, RemedyAction::kDrainNode);
  EXPECT_EQ(later.order()->reason, "its return ended: it could not be verified in time: nobody reads it")
      << "what a scheduler shows is no reason of a return";
}

TEST(PlanOutcome, AnUndoneIsolationThatSomebodyElseKeepsOutWasGivenBack) {
  Plan plan;
  plan.action = RemedyAction::kIsolateLink;
  plan.state = PlanState::kRollingBack;
  plan.intent = PlanIntent::kUndo;
  PlanWork work;
  work.stage = PlanWork::Stage::kReadBack;
  const RemedyLimits limits;
  PlanRunner runner(plan, work, limits, TimePoint(1h), [](const std::string&) {});
  for (int i = 0; i < 2; ++i) runner.read(TargetReading{TargetState::kForeign, "the other end is Disabled"}, false);
  EXPECT_EQ(plan.state, PlanState::kFailed);
  EXPECT_EQ(plan.outcome, "it was given back, but somebody else keeps it out of service: the other end is Disabled");
}

TEST(PlanOutcome, ALinkThatAPersonIsolatedIsForPeopleToReturn) {
  for (const std::uint64_t incident : {0, 7}) {
    Book b(automatic());
    Plan out;
    out.id = 1;
    out.state = PlanState::kCommitted;
    out.action = RemedyAction::kIsolateLink;
    out.target = b.link("leaf-0", "spine-0");
    out.actuator = "fake";
    out.incident = incident;
    out.requested_by = out.approved_by = "ann";
    out.started = out.finished = b.fabric.now() - b.settings.limits.reinstate_after - 1h;
    out.in_force = true;
    RemedyMemory memory;
    memory.plans = {out};
    b.book.emplace(b.settings, memory, b.fabric.now());
    b.book->review(b.look());
    EXPECT_FALSE(b.book->find(2)) << "incident " << incident << ": that of a proposal whose place her order took";
    EXPECT_TRUE(b.book->request(RemedyAction::kRestoreLink, out.target, "", "bob", b.look()));
  }
}

// However often it is looked at: by whole intervals, as a link's probation.
TEST(PlanOutcome, AHostsProbationTakesItsTime) {
  for (const Duration pause : {200ms, 500ms, 700ms, 1000ms}) {
    Book b;
    b.settings.limits.verification.probation = 20s;
    Plan back;
    back.id = 1;
    back.state = PlanState::kVerifying;
    back.action = RemedyAction::kUndrainNode;
    back.target.kind = EntityKind::kHost;
    back.target.host = "host-0";
    back.actuator = "fake";
    back.requested_by = back.approved_by = "ann";
    back.intent = PlanIntent::kApply;
    back.started = b.fabric.now();
    NodeHealth well;
    well.node = "host-0";
    well.verdict = HealthVerdict::kHealthy;
    b.health = {well};
    RemedyMemory memory;
    memory.plans = {back};
    b.book.emplace(b.settings, memory, b.fabric.now());
    RemedyView view = b.look();
    const TimePoint before = view.now;
    while (b.plan(1).state == PlanState::kVerifying && view.now - before < 60s) {
      view.now += pause;
      *view.steady += pause;
      b.book->review(view);
      for (const RemedyOrder& order : b.orders())
        b.book->answer_reading(order.number, TargetReading{TargetState::kClear, ""}, view.now);
    }
    EXPECT_EQ(b.plan(1).state, PlanState::kCommitted);
    EXPECT_NEAR(seconds(view.now - before), 20, 2) << seconds(pause);
  }
}

// No route makes the bits of another cable wrong: undoing would bring the bad link back, and mend nothing.
TEST(WhatGotWorse, IsNoOtherCableThatMakesErrors) {
  for (const auto& [kind, is_worse] : {std::pair{IncidentKind::kLinkErrors, false},
                                       {IncidentKind::kLinkDegraded, false},
                                       {IncidentKind::kLinkDown, true},
                                       {IncidentKind::kSilentLoss, true}}) {
    Book b;
    Plan plan;
    plan.action = RemedyAction::kIsolateLink;
    plan.target = b.link("leaf-0", "spine-0");
    const TimePoint in_force = b.fabric.now();
    b.fabric.unlink(b.fabric.port_towards("leaf-0", "spine-0"));
    b.fabric.route();
    b.fabric.advance(5s);
    b.errors("leaf-0", "spine-1");
    auto other = std::make_shared<Incident>(*b.incidents.back());
    other->finding.kind = kind;
    b.incidents.back() = other;
    const Window window = judge_window(plan, b.look(), in_force, {b.fabric.now(), {}}, b.settings.limits);
    EXPECT_EQ(window.worse, is_worse) << to_string(kind) << ": " << window.why;
    EXPECT_EQ(window.good, !is_worse) << to_string(kind) << ": " << window.why;
  }
}

}  // namespace
}  // namespace weft::analyzer
