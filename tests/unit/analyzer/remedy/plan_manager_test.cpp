// SPDX-License-Identifier: Apache-2.0
// The book of plans, told step by step. What it promises in general: tests/remedies.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

TEST(PlanManager, ProposesAndSaysWhatDoingNothingWouldCost) {
  Book b;
  b.errors("leaf-0", "spine-0");
  b.book->review(b.look());
  const Plan plan = b.plan(1);
  EXPECT_EQ(plan.state, PlanState::kProposed);
  EXPECT_EQ(plan.action, RemedyAction::kIsolateLink);
  ASSERT_EQ(plan.candidates.size(), 2U);
  EXPECT_TRUE(
      std::ranges::any_of(plan.candidates, [](const Candidate& c) { return c.action == RemedyAction::kNothing; }));
  EXPECT_EQ(plan.guards.size(), static_cast<std::size_t>(Guard::kCount));
  EXPECT_FALSE(plan.refused());
  EXPECT_TRUE(b.orders().empty()) << "nobody approved it";
}

TEST(PlanManager, AHostWithABadAccessLinkIsToBeDrained) {
  Book b;
  b.errors("leaf-0", "host-0-0 mlx5_0");
  b.book->review(b.look());
  EXPECT_EQ(b.plan(1).action, RemedyAction::kDrainNode);
  EXPECT_EQ(b.plan(1).target.host, "host-0-0");
}

TEST(PlanManager, ALinkThatFlappedOnceIsLeftAlone) {
  for (const bool keeps_flapping : {false, true}) {
    Book b;
    Incident incident;
    incident.id = 1;
    incident.finding.kind = IncidentKind::kLinkFlap;
    incident.finding.severity = Severity::kWarning;  // transfers of the job failed
    incident.finding.cause = b.link("leaf-0", "host-0-0 mlx5_0");
    incident.opened = incident.updated = b.fabric.now();
    incident.beginnings = {b.fabric.now()};
    for (const char* unit : {"events", "points"})
      if (keeps_flapping || unit == std::string_view("events"))
        incident.finding.evidence.push_back(
            {.signal = "flaps", .description = {}, .unit = unit, .observed = b.fabric.now(), .where = {}});
    b.incidents = {std::make_shared<const Incident>(incident)};
    b.book->review(b.look());
    EXPECT_EQ(b.book->find(1) != nullptr, keeps_flapping);
  }
}

TEST(PlanManager, AnApprovalIsForTheRevisionThatWasRead) {
  Book b;
  b.errors("leaf-0", "spine-0");
  b.book->review(b.look());
  const std::uint64_t revision = b.plan(1).revision;
  EXPECT_EQ(b.book->approve(1, revision + 1, "ann", b.look()).error().code, ErrorCode::kFailedPrecondition);
  EXPECT_TRUE(b.book->approve(1, revision, "ann", b.look()));
  EXPECT_EQ(b.book->approve(1, 0, "bob", b.look()).error().code, ErrorCode::kFailedPrecondition) << "two approvals";
  EXPECT_EQ(b.book->approve(7, 0, "bob", b.look()).error().code, ErrorCode::kNotFound);
}

TEST(PlanManager, ATargetThatSomebodyElseHoldsIsReadOnceForAnIncident) {
  RemedySettings settings;
  settings.modes.fill(RemedyMode::kAuto);
  for (const TargetState found : {TargetState::kForeign, TargetState::kOurs}) {
    Book b(settings);
    b.errors("leaf-0", "spine-0");
    b.book->review(b.look());
    const auto orders = b.orders();
    ASSERT_EQ(orders.size(), 1U);
    b.book->answer_reading(orders[0].number, TargetReading{found, "cordoned"}, b.fabric.now());
    EXPECT_EQ(b.plan(1).state, PlanState::kExpired);
    for (int i = 0; i < 10; ++i) b.book->review(b.look());
    EXPECT_TRUE(b.orders().empty()) << "a second plan would read the same, and a third";
    EXPECT_FALSE(b.book->find(2));
  }
}

TEST(PlanManager, ReadsActsOnceReadsAgainAndVerifies) {
  RemedySettings settings;
  settings.modes.fill(RemedyMode::kAuto);
  Book b(settings);
  b.errors("leaf-0", "spine-0");
  b.book->review(b.look());
  auto orders = b.orders();
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_EQ(orders[0].kind, OrderKind::kRead);
  b.book->answer_reading(orders[0].number, TargetReading{TargetState::kClear, ""}, b.fabric.now());
  EXPECT_TRUE(b.orders().empty()) << "the guards are asked once more";
  b.book->review(b.look());
  RemedyBatch batch = b.book->drain_changes(b.fabric.now());
  ASSERT_EQ(batch.orders.size(), 1U);
  EXPECT_EQ(batch.orders[0].kind, OrderKind::kAct);
  ASSERT_EQ(batch.plans.size(), 1U);
  EXPECT_EQ(batch.plans[0].intent, PlanIntent::kApply) << "the journal says so first";
  b.book->answer_action(batch.orders[0].number, {}, b.fabric.now());
  orders = b.orders();
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_EQ(orders[0].kind, OrderKind::kRead);
  b.book->answer_reading(orders[0].number, TargetReading{TargetState::kOurs, "Disabled"}, b.fabric.now());
  EXPECT_EQ(b.plan(1).state, PlanState::kVerifying);

  b.book->review(b.look());
  EXPECT_EQ(b.plan(1).windows_good, 0U) << "routes still lead over it";
  b.fabric.unlink(b.fabric.port_towards("leaf-0", "spine-0"));
  b.fabric.route();
  for (int i = 0; i < 3; ++i) b.book->review(b.look());
  EXPECT_EQ(b.plan(1).state, PlanState::kCommitted);
  EXPECT_TRUE(b.plan(1).in_force);
  EXPECT_TRUE(b.orders().empty()) << "it was just read: a link that is still going down must not look given back";
  b.fabric.advance(b.settings.limits.check_interval);
  orders = b.orders();
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_EQ(orders[0].kind, OrderKind::kRead) << "whether it stays out is looked after";
}

TEST(PlanManager, WhatWasAutomaticWaitsForAPersonWhenItIsNotAnyMore) {
  RemedySettings settings;
  settings.modes.fill(RemedyMode::kAuto);
  Book b(settings);
  b.errors("leaf-0", "spine-0");
  b.errors("leaf-1", "spine-1");
  b.book->review(b.look());
  ASSERT_EQ(b.plan(1).state, PlanState::kExecuting) << "its world is being read";
  ASSERT_EQ(b.plan(2).state, PlanState::kApproved) << "one at a time";
  // weftd is started anew, with automation turned down.
  RemedyMemory memory;
  for (const std::uint64_t id : {1U, 2U}) memory.plans.push_back(b.plan(id));
  b.settings.modes.fill(RemedyMode::kPropose);
  b.book.emplace(b.settings, std::move(memory), b.fabric.now());
  b.book->review(b.look());
  EXPECT_EQ(b.plan(2).state, PlanState::kProposed);
  EXPECT_EQ(b.plan(2).approved_by, "");
  const auto orders = b.orders();
  ASSERT_EQ(orders.size(), 1U);
  b.book->answer_reading(orders[0].number, TargetReading{TargetState::kClear, ""}, b.fabric.now());
  for (int i = 0; i < 3; ++i) b.book->review(b.look());
  EXPECT_TRUE(b.orders().empty());
  EXPECT_EQ(b.plan(1).state, PlanState::kProposed) << b.plan(1).outcome;
  EXPECT_TRUE(b.book->approve(2, 0, "ann", b.look()));
  b.book->review(b.look());
  EXPECT_EQ(b.plan(2).state, PlanState::kExecuting) << "a person's word stands";
}

TEST(PlanManager, AClockThatIsSetBackHoldsNothingUp) {
  RemedySettings settings;
  settings.modes.fill(RemedyMode::kAuto);
  settings.limits.breaker.minimum = 1;
  settings.limits.breaker.share = 0;
  Book b(settings);
  b.errors("leaf-0", "spine-0");
  b.book->review(b.look());
  b.book->answer_reading(b.orders().at(0).number, TargetReading{TargetState::kClear, ""}, b.fabric.now());
  b.book->review(b.look());
  b.book->answer_action(b.orders().at(0).number, {}, b.fabric.now());
  b.book->answer_reading(b.orders().at(0).number, TargetReading{TargetState::kClear, "not yet"}, b.fabric.now());
  EXPECT_TRUE(b.orders().empty()) << "it is read again in a moment";
  b.errors("leaf-1", "spine-1");
  b.book->review(b.look());
  ASSERT_TRUE(b.book->reset_breaker("looked", "ann", b.fabric.now()));
  b.fabric.advance(-1h);
  b.set_forward = -1h;
  b.book->review(b.look());
  auto orders = b.orders();
  ASSERT_EQ(orders.size(), 1U) << "and not in an hour";
  b.book->answer_reading(orders[0].number, TargetReading{TargetState::kOurs, ""}, b.fabric.now());
  b.fabric.unlink(b.fabric.port_towards("leaf-0", "spine-0"));
  b.fabric.route();
  for (int i = 0; i < 4; ++i) {
    b.fabric.advance(1s);
    b.book->review(b.look());
  }
  EXPECT_EQ(b.plan(1).state, PlanState::kCommitted) << b.plan(1).outcome;
  b.incidents.clear();
  b.errors("leaf-2", "spine-2");
  b.errors("leaf-3", "spine-3");
  b.book->review(b.look());
  EXPECT_TRUE(b.book->status(b.fabric.now()).breaker_tripped) << "a reset in what is now the future hides nothing";
}

TEST(PlanManager, WhatTheDiskRefusedIsDecidedAnew) {
  RemedySettings settings;
  settings.modes.fill(RemedyMode::kAuto);
  settings.limits.capacity.leaf_share_idle = 0.8;
  Book b(settings);
  b.errors("leaf-0", "spine-0");
  b.book->review(b.look());
  b.book->answer_reading(b.orders().at(0).number, TargetReading{TargetState::kClear, ""}, b.fabric.now());
  b.book->review(b.look());
  RemedyBatch batch = b.book->drain_changes(b.fabric.now());
  ASSERT_EQ(batch.orders.at(0).kind, OrderKind::kAct);
  b.book->take_back(std::move(batch), b.fabric.now());
  b.fabric.unlink(b.fabric.port_towards("leaf-0", "spine-1"));
  b.fabric.advance(2s);
  b.book->review(b.look());
  EXPECT_TRUE(b.orders().empty()) << "6 of 8 uplink paths would be left, and 7 are needed";
  EXPECT_EQ(b.plan(1).state, PlanState::kApproved) << b.plan(1).outcome;
  EXPECT_EQ(b.verdict(b.plan(1), Guard::kLeafCapacity).result, GuardResult::kRefused);
}

TEST(PlanManager, AnApprovalThatCouldNotBeWrittenDownIsNone) {
  Book b;
  b.errors("leaf-0", "spine-0");
  b.book->review(b.look());
  (void)b.book->drain_changes(b.fabric.now());
  ASSERT_TRUE(b.book->approve(1, 0, "ann", b.look()));
  b.book->review(b.look());
  ASSERT_TRUE(b.book->request(RemedyAction::kIsolateLink, b.link("leaf-1", "spine-1"), "looks bad", "bob", b.look()));
  b.book->take_back(b.book->drain_changes(b.fabric.now()), b.fabric.now());
  for (const std::uint64_t id : {1U, 2U}) b.book->withdraw(id, b.fabric.now());
  EXPECT_EQ(b.plan(1).state, PlanState::kProposed);
  EXPECT_EQ(b.plan(2).state, PlanState::kExpired);
  b.book->review(b.look());
  EXPECT_TRUE(b.orders().empty()) << "they were told that it is not done";
  EXPECT_TRUE(b.book->approve(1, 0, "ann", b.look())) << "she may say it again";
}

TEST(PlanManager, WhatAPersonAsksForInPlaceOfAProposalIsForItsIncident) {
  Book b;
  const std::uint64_t incident = b.errors("leaf-0", "spine-0");
  b.book->review(b.look());
  ASSERT_EQ(b.plan(1).state, PlanState::kProposed);
  const auto asked = b.book->request(RemedyAction::kIsolateLink, b.link("leaf-0", "spine-0"), "", "bob", b.look());
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(asked->incident, incident);
  EXPECT_EQ(b.plan(1).state, PlanState::kExpired);
  EXPECT_NE(b.plan(1).outcome.find("replaced by PLAN-2"), std::string::npos) << b.plan(1).outcome;
  const auto other = b.book->request(RemedyAction::kIsolateLink, b.link("leaf-1", "spine-1"), "", "bob", b.look());
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(other->incident, 0U) << "nothing was proposed there";
}

TEST(PlanManager, OfTwoBadLinksTheWorseGoesWhenNotBothMay) {
  RemedySettings settings;
  settings.limits.capacity.leaf_share_idle = 0.8;  // of eight ways seven are needed
  Book b(settings);
  b.errors("leaf-0", "spine-0", 1e-10);
  b.errors("leaf-0", "spine-1", 1e-8);
  for (int i = 0; i < 2; ++i) b.book->review(b.look());
  EXPECT_EQ(b.verdict(b.plan(1), Guard::kLeafCapacity).result, GuardResult::kRefused);
  EXPECT_NE(b.verdict(b.plan(1), Guard::kLeafCapacity).explanation.find("PLAN-2"), std::string::npos);
  EXPECT_EQ(b.verdict(b.plan(2), Guard::kLeafCapacity).result, GuardResult::kPassed);
}

TEST(PlanManager, ASlowLinkIsMadeCostlyWhereThatCanBeDone) {
  RemedySettings settings;
  settings.modes[static_cast<std::size_t>(RemedyAction::kRaiseLinkCost)] = RemedyMode::kAuto;
  Book b(settings);
  b.errors("leaf-0", "spine-0");
  auto degraded = std::make_shared<Incident>(*b.incidents.back());
  degraded->finding.kind = IncidentKind::kLinkDegraded;
  b.incidents.back() = degraded;
  b.book->review(b.look());
  EXPECT_EQ(b.plan(1).action, RemedyAction::kRaiseLinkCost);
  EXPECT_EQ(b.plan(1).candidates.size(), 3U) << "isolating it and doing nothing are among them";
  EXPECT_EQ(b.verdict(b.plan(1), Guard::kLeafCapacity).result, GuardResult::kPassed);
  auto orders = b.orders();
  ASSERT_EQ(orders.size(), 1U);
  b.book->answer_reading(orders[0].number, TargetReading{TargetState::kClear, ""}, b.fabric.now());
  b.book->review(b.look());
  orders = b.orders();
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_EQ(orders[0].action, RemedyAction::kRaiseLinkCost);
}

TEST(PlanManager, AnnouncedWorkKeepsMachinesAwayAndNotPeople) {
  Book b;
  MaintenanceWindow window;
  window.id = 3;
  window.entity = b.link("leaf-0", "spine-0");
  window.from = b.fabric.now();
  window.until = b.fabric.now() + 1h;
  window.reason = "new cable";
  b.maintenance.push_back(window);
  b.errors("leaf-0", "spine-0");
  b.book->review(b.look());
  EXPECT_EQ(b.verdict(b.plan(1), Guard::kMaintenance).result, GuardResult::kRefused);
  EXPECT_TRUE(b.book->request(RemedyAction::kIsolateLink, window.entity, "for the work", "ann", b.look()));
}

TEST(PlanManager, ALinkThatIsOutStaysCountedWhenTheSubnetIsDiscoveredAnew) {
  RemedySettings settings;
  settings.limits.capacity.leaf_share_idle = 0.8;
  Book b(settings);
  // As after a restart: both ends are down, and no cable is known there; only the plan of before remembers it.
  RemedyMemory memory;
  Plan& out = memory.plans.emplace_back();
  out.id = 1;
  out.state = PlanState::kCommitted;
  out.action = RemedyAction::kIsolateLink;
  out.target = b.link("leaf-0", "spine-0");
  out.in_force = true;
  out.finished = b.fabric.now();
  b.fabric.unlink(b.fabric.port_towards("leaf-0", "spine-0"));
  b.fabric.rediscover();
  memory.ids = 2;
  b.book.emplace(b.settings, std::move(memory), b.fabric.now());
  const auto refused =
      b.book->request(RemedyAction::kIsolateLink, b.link("leaf-0", "spine-1"), "looks bad", "ann", b.look());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("leaf-0 would keep 6 of 8 uplink paths; 7 are needed"), std::string::npos)
      << refused.error().message;
}

TEST(PlanManager, SoMuchAtOnceTripsTheBreakerAndOnlyAPersonResetsIt) {
  RemedySettings settings;
  settings.modes.fill(RemedyMode::kAuto);
  settings.limits.breaker.minimum = 3;
  settings.limits.breaker.share = 0;
  Book b(settings);
  for (unsigned leaf = 0; leaf < 4; ++leaf) b.errors("leaf-" + std::to_string(leaf), "spine-" + std::to_string(leaf));
  b.book->review(b.look());
  EXPECT_TRUE(b.book->status(b.fabric.now()).breaker_tripped);
  b.book->review(b.look());
  EXPECT_TRUE(b.orders().empty());
  EXPECT_EQ(b.verdict(b.plan(1), Guard::kBreaker).result, GuardResult::kRefused);
  ASSERT_TRUE(b.book->reset_breaker("one power feed", "ann", b.fabric.now()));
  b.book->review(b.look());
  EXPECT_FALSE(b.book->status(b.fabric.now()).breaker_tripped) << "what a person has seen does not trip it again";
  EXPECT_FALSE(b.book->reset_breaker("again", "ann", b.fabric.now()));
}

TEST(PlanManager, OneReadingThatSomebodyElseHoldsWhatWasJustTakenIsAskedAgain) {
  for (const bool again : {false, true}) {
    Book b(automatic());
    b.errors("leaf-0", "spine-0");
    b.book->review(b.look());
    const auto answer = [&](TargetState state) {
      const auto asked = b.orders();
      ASSERT_EQ(asked.size(), 1U);
      ASSERT_EQ(asked[0].kind, OrderKind::kRead);
      b.book->answer_reading(asked[0].number, TargetReading{state, "drained by ann"}, b.fabric.now());
    };
    answer(TargetState::kClear);
    b.book->review(b.look());
    b.book->answer_action(b.orders().at(0).number, {}, b.fabric.now());
    answer(TargetState::kForeign);
    EXPECT_EQ(b.plan(1).state, PlanState::kExecuting) << "the change may still be under way";
    EXPECT_TRUE(b.orders().empty());
    b.fabric.advance(b.settings.limits.reading_interval);
    answer(again ? TargetState::kForeign : TargetState::kOurs);
    EXPECT_EQ(b.plan(1).state, again ? PlanState::kFailed : PlanState::kVerifying);
    if (again) {
      EXPECT_EQ(b.plan(1).outcome, "left as it is: somebody else holds it now: drained by ann");
    }
  }
}

TEST(PlanManager, WhatWasReadLongAgoIsReadAgainBeforeItActs) {
  Book b(automatic());
  b.errors("leaf-0", "spine-0");
  b.book->review(b.look());
  auto asked = b.orders();
  ASSERT_EQ(asked.size(), 1U);
  b.book->answer_reading(asked[0].number, TargetReading{TargetState::kClear, ""}, b.fabric.now());
  b.book->set_hands_off(true, "", "ann", b.fabric.now());
  b.book->review(b.look());
  b.fabric.advance(11s);
  b.book->set_hands_off(false, "", "ann", b.fabric.now());
  b.book->review(b.look());
  asked = b.orders();
  ASSERT_EQ(asked.size(), 1U);
  ASSERT_EQ(asked[0].kind, OrderKind::kRead) << "somebody may have taken it meanwhile";
  b.book->answer_reading(asked[0].number, TargetReading{TargetState::kForeign, ""}, b.fabric.now());
  b.book->review(b.look());
  EXPECT_TRUE(b.orders().empty());
  EXPECT_EQ(b.plan(1).state, PlanState::kExpired) << b.plan(1).outcome;
}

// Its readings kept every other drain and return of that scheduler waiting.
TEST(PlanManager, ADrainOfAHostThatTheSchedulerDoesNotKnowEndsAtTheSecondAnswer) {
  Book b;
  b.collector("host-1-0", {"host-1-0 mlx5_0"});
  const auto asked = b.book->request(RemedyAction::kDrainNode, host_entity("host-1-0"), "memory", "ann", b.look());
  ASSERT_TRUE(asked) << asked.error().message;
  for (const bool again : {false, true}) {
    ASSERT_TRUE(b.fails_to_read(ErrorCode::kNotFound, "Slurm has no node for host host-1-0"));
    EXPECT_EQ(b.plan(1).state, again ? PlanState::kFailed : PlanState::kExecuting);
  }
  EXPECT_EQ(b.plan(1).outcome, "not done: Slurm has no node for host host-1-0");
}

TEST(PlanManager, ADrainEndsAtTheSecondAnswerThatNobodyKnowsTheHostWhateverFailedBefore) {
  Book b;
  b.collector("host-1-0", {"host-1-0 mlx5_0"});
  ASSERT_TRUE(b.book->request(RemedyAction::kDrainNode, host_entity("host-1-0"), "memory", "ann", b.look()));
  for (const ErrorCode code : {ErrorCode::kTimeout, ErrorCode::kNotFound, ErrorCode::kTimeout, ErrorCode::kNotFound}) {
    ASSERT_TRUE(b.fails_to_read(code));
    EXPECT_EQ(b.plan(1).state, PlanState::kExecuting) << b.plan(1).outcome;
  }
  ASSERT_TRUE(b.fails_to_read(ErrorCode::kNotFound));
  EXPECT_EQ(b.plan(1).state, PlanState::kFailed);
}

// That it is down is no symptom that isolating could end.
TEST(PlanManager, ALinkThatAPersonSawDownIsIsolatedForItsIncident) {
  Book b;
  b.errors("leaf-0", "spine-0");
  auto down = std::make_shared<Incident>(*b.incidents[0]);
  down->finding.kind = IncidentKind::kLinkDown;
  b.incidents[0] = down;
  const PortIndex end = b.fabric.port_towards("leaf-0", "spine-0");
  b.fabric.unlink(end);
  b.fabric.route();
  ASSERT_TRUE(b.book->request(RemedyAction::kIsolateLink, down->finding.cause, "", "ann", b.look()));
  ASSERT_EQ(b.plan(1).incident, 1U);
  TargetState state = TargetState::kClear;
  for (int second = 0; second < 30 && !is_over(b.plan(1).state); ++second) {
    for (const RemedyOrder& order : b.orders()) {
      if (order.kind == OrderKind::kAct) state = TargetState::kOurs;
      if (order.kind == OrderKind::kAct)
        b.book->answer_action(order.number, {}, b.fabric.now());
      else
        b.book->answer_reading(order.number, TargetReading{state, ""}, b.fabric.now());
    }
    auto seen = std::make_shared<Incident>(*down);
    for (Evidence& evidence : seen->finding.evidence) evidence.observed = b.fabric.now();
    b.incidents[0] = std::move(seen);
    b.sweep();
  }
  EXPECT_EQ(b.plan(1).state, PlanState::kCommitted) << b.plan(1).outcome;
  EXPECT_TRUE(b.plan(1).in_force);
}

}  // namespace
}  // namespace weft::analyzer
