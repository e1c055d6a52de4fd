// SPDX-License-Identifier: Apache-2.0
// Bad links of one leaf, which may lose one: the one that loses most goes, whatever the plans for them wait for.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/unit/analyzer/remedy/carried_out.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

struct OneMayGo : CarriedOut {
  explicit OneMayGo(std::uint32_t out_per_switch = 10) {
    settings.limits.budget.out_per_switch = out_per_switch;
    settings.limits.capacity.leaf_share_idle = 0.85;  // seven of eight ways up
    restart({});
  }
  void work_on(const Entity& what) {
    MaintenanceWindow window;
    window.id = 1;
    window.from = fabric.now();
    window.until = fabric.now() + 24h;
    window.entity = what;
    maintenance.push_back(window);
  }
  /// PLAN-1 is held so often that it waits for minutes before it begins again.
  void hold_for_long() {
    for (int i = 0; i < 400; ++i) {
      const PlanPtr plan = book->find(1);
      rack(plan && plan->state == PlanState::kExecuting);
      step();
    }
    rack(false);
  }
  /// Until the first change is ordered.
  void until_it_acts() {
    for (int i = 0; i < 1200 && acts == 0; ++i) step();
  }
};

/// Hands-off holds what has begun, a worse link of leaf-0 comes, and automation goes on.
void a_worse_one_comes_at_night(CarriedOut& b) {
  b.book->set_hands_off(true, "night", "ann", b.fabric.now());
  b.steps(5);
  b.errors("leaf-0", "spine-1", 1e-5);
  b.steps(60);
  b.book->set_hands_off(false, "morning", "ann", b.fabric.now());
  b.steps(10);
}

TEST(CompetingPlans, ALinkThatIsDeniedKeepsNoOtherInService) {
  OneMayGo b;
  b.settings.deny = {"spine-0"};
  b.restart({});
  b.errors("leaf-0", "spine-0", 1e-5);
  b.errors("leaf-0", "spine-2", 1e-10);
  b.errors("leaf-0", "spine-1", 1e-8);
  b.steps(10);
  EXPECT_TRUE(b.out.contains("leaf-0 - spine-1")) << "the worse one of those that may go";
}

TEST(CompetingPlans, ALinkOnWhichSomebodyWorksKeepsNoOtherInService) {
  OneMayGo b;
  b.work_on(b.link("leaf-0", "spine-0"));
  b.errors("leaf-0", "spine-0", 1e-5);
  b.errors("leaf-0", "spine-1", 1e-8);
  b.steps(10);
  EXPECT_TRUE(b.out.contains("leaf-0 - spine-1"));
}

TEST(CompetingPlans, WhereNoneMayGoForAWhileTheWorstGoesThen) {
  OneMayGo b;
  b.work_on({.kind = EntityKind::kFabric, .fabric = b.fabric.name(), .port = {}, .peer = {}, .label = ""});
  b.errors("leaf-0", "spine-1", 1e-8);
  b.errors("leaf-0", "spine-0", 1e-5);
  b.steps(10);
  ASSERT_EQ(b.acts, 0);
  b.maintenance.clear();
  b.steps(10);
  EXPECT_TRUE(b.out.contains("leaf-0 - spine-0"));
}

// What is refused for all of them says nothing of one.
TEST(CompetingPlans, OneThatWaitsForABrakeKeepsItsPlace) {
  OneMayGo b;
  b.book->set_hands_off(true, "look", "ann", b.fabric.now());
  b.errors("leaf-0", "spine-1", 1e-8);
  b.errors("leaf-0", "spine-0", 1e-5);
  b.steps(10);
  b.book->set_hands_off(false, "", "ann", b.fabric.now());
  b.steps(10);
  EXPECT_TRUE(b.out.contains("leaf-0 - spine-0"));
}

TEST(CompetingPlans, AWorseLinkGoesBeforeOneThatWaitsForItsTurn) {
  OneMayGo b;
  b.settings.limits.verification.windows = 5;
  b.settings.limits.verification.within = 1h;
  b.restart({});
  b.errors("leaf-1", "spine-7", 1e-3);
  b.errors("leaf-0", "spine-0", 1e-8);
  b.steps(4);
  ASSERT_EQ(b.plan(1).state, PlanState::kVerifying);
  ASSERT_EQ(b.plan(2).state, PlanState::kApproved);
  b.errors("leaf-0", "spine-1", 1e-5);
  b.steps(20);
  EXPECT_TRUE(b.out.contains("leaf-0 - spine-1"));
}

TEST(CompetingPlans, AWorseLinkGoesBeforeOneThatIsHeld) {
  OneMayGo b;
  b.errors("leaf-0", "spine-0", 1e-8);
  b.step();
  ASSERT_EQ(b.plan(1).state, PlanState::kExecuting);
  b.rack(true);
  b.step();
  ASSERT_EQ(b.plan(1).state, PlanState::kApproved);
  b.errors("leaf-0", "spine-1", 1e-5);
  b.steps(10);
  b.rack(false);
  b.steps(30);
  EXPECT_TRUE(b.out.contains("leaf-0 - spine-1"));
}

TEST(CompetingPlans, AWorseLinkGoesBeforeOneThatABrakeKeptFromActing) {
  OneMayGo b;
  b.errors("leaf-0", "spine-0", 1e-8);
  b.step();
  ASSERT_EQ(b.plan(1).state, PlanState::kExecuting);
  a_worse_one_comes_at_night(b);
  EXPECT_TRUE(b.out.contains("leaf-0 - spine-1"));
}

TEST(CompetingPlans, AWorseLinkThatIsHeldIsNotOvertaken) {
  OneMayGo b;
  b.errors("leaf-0", "spine-0", 1e-5);
  b.hold_for_long();
  b.errors("leaf-0", "spine-1", 1e-8);
  b.until_it_acts();
  EXPECT_TRUE(b.out.contains("leaf-0 - spine-0"));
}

TEST(CompetingPlans, AWorseLinkThatIsHeldIsNotOvertakenByOneThatMayGoAgain) {
  OneMayGo b;
  b.work_on(b.link("leaf-0", "spine-1"));
  b.errors("leaf-0", "spine-0", 1e-5);
  b.errors("leaf-0", "spine-1", 1e-8);
  b.hold_for_long();
  b.step();
  ASSERT_EQ(b.plan(1).state, PlanState::kApproved);
  b.maintenance.clear();
  b.until_it_acts();
  EXPECT_TRUE(b.out.contains("leaf-0 - spine-0"));
}

TEST(CompetingPlans, TheNumbersOfOneThatWaitsForItsTurnAreThoseOfNow) {
  OneMayGo b;
  b.settings.limits.verification.windows = 100;
  b.settings.limits.verification.within = 1h;
  b.restart({});
  b.errors("leaf-1", "spine-7", 1e-3);
  b.errors("leaf-0", "spine-0", 1e-8);
  b.steps(4);
  ASSERT_EQ(b.plan(2).state, PlanState::kApproved);
  const auto harm = [&] {
    const Plan plan = b.plan(2);
    return std::ranges::find(plan.candidates, RemedyAction::kNothing, &Candidate::action)->harm_ratio;
  };
  const double before = harm();
  auto better = std::make_shared<Incident>(*b.incidents[1]);
  for (Evidence& evidence : better->finding.evidence) evidence.value = 1e-15;
  ++better->revision;
  b.incidents[1] = std::move(better);
  b.step();
  EXPECT_LT(harm(), before / 100);
}

TEST(CompetingPlans, ALinkWhoseSwitchHasNoRoomKeepsNoOtherInService) {
  OneMayGo b(2);
  b.errors("leaf-1", "spine-0", 1e-6);
  b.errors("leaf-2", "spine-0", 1e-6);
  b.steps(60);
  ASSERT_EQ(b.acts, 2);
  b.errors("leaf-0", "spine-0", 1e-5);
  b.errors("leaf-0", "spine-1", 1e-8);
  b.steps(60);
  EXPECT_TRUE(b.out.contains("leaf-0 - spine-1"));
}

TEST(CompetingPlans, ALinkThatIsDownEachTimeThatItsPlanActsKeepsNoOtherInService) {
  OneMayGo b;
  b.errors("leaf-0", "spine-0", 1e-5);
  b.errors("leaf-0", "spine-1", 1e-8);
  const PortIndex end = b.fabric.port_towards("leaf-0", "spine-0");
  for (int i = 0; i < 600 && b.acts == 0; ++i) b.step_down_when_sent(1, end);
  EXPECT_TRUE(b.out.contains("leaf-0 - spine-1"));
}

// One leaf has but one way, which others let the manager avoid: over it nobody must lose it.
TEST(CompetingPlans, ALinkThatIsTheLastWayOfSomebodyKeepsNoOtherInService) {
  OneMayGo b;
  for (int spine = 1; spine < 8; ++spine)
    b.fabric.unlink(b.fabric.port_towards("leaf-3", "spine-" + std::to_string(spine)));
  b.fabric.route();
  b.errors("leaf-0", "spine-0", 1e-5);
  b.errors("leaf-0", "spine-1", 1e-8);
  for (int i = 0; i < 60; ++i) {
    b.book->set_avoided_ports("ufm", {{b.link("leaf-3", "spine-0").port}, *b.look().steady});
    b.step();
  }
  EXPECT_TRUE(b.out.contains("leaf-0 - spine-1"));
}

TEST(CompetingPlans, WhenAListIsToldTheWorseOneGoes) {
  OneMayGo b;
  b.book->set_avoided_ports("ufm", {{}, *b.look().steady});
  b.errors("leaf-0", "spine-0", 1e-8);
  b.step();
  ASSERT_EQ(b.plan(1).state, PlanState::kExecuting);
  b.restart();
  b.book->set_avoided_ports("ufm", {});
  b.errors("leaf-0", "spine-1", 1e-5);
  b.steps(3);
  ASSERT_EQ(b.acts, 0);
  b.book->set_avoided_ports("ufm", {{}, *b.look().steady});
  b.steps(40);
  EXPECT_TRUE(b.out.contains("leaf-0 - spine-1"));
}

TEST(CompetingPlans, WhenTheHourIsFreeTheWorseOneGoesBeforeOneThatWasOftenDown) {
  OneMayGo b;
  b.settings.limits.budget.actions_per_hour = 1;
  b.restart({});
  const PortIndex end = b.fabric.port_towards("leaf-0", "spine-0");
  b.errors("leaf-0", "spine-0", 1e-8);
  for (int found = 0, i = 0; i < 100 && found < 3; ++i) found += b.step_down_when_sent(1, end) ? 1 : 0;
  b.fabric.relink(end);
  b.errors("leaf-1", "spine-7", 1e-3);
  for (int i = 0; i < 100 && b.acts == 0; ++i) b.step();
  ASSERT_TRUE(b.out.contains("leaf-1 - spine-7"));
  b.errors("leaf-0", "spine-1", 1e-5);
  for (int i = 0; i < 3720 && b.acts == 1; ++i) b.step();
  b.steps(20);
  EXPECT_TRUE(b.out.contains("leaf-0 - spine-1"));
}

// What has begun and sent nothing counts for none that is worse.
TEST(CompetingPlans, AWorseLinkGoesBeforeOneThatABrakeKeptWhereItsSwitchHasRoomForOne) {
  CarriedOut b;
  b.errors("leaf-0", "spine-7", 1e-3);
  b.steps(20);
  ASSERT_EQ(b.acts, 1);
  b.errors("leaf-0", "spine-0", 1e-8);
  for (int i = 0; i < 20 && (!b.book->find(2) || b.plan(2).state != PlanState::kExecuting); ++i) b.step();
  ASSERT_EQ(b.plan(2).state, PlanState::kExecuting);
  a_worse_one_comes_at_night(b);
  EXPECT_TRUE(b.out.contains("leaf-0 - spine-1"));
}

TEST(CompetingPlans, AWorseLinkGoesBeforeOneThatWasReadAnewAfterARestart) {
  OneMayGo b(1);
  b.errors("leaf-0", "spine-0", 1e-8);
  b.step();
  ASSERT_EQ(b.plan(1).state, PlanState::kExecuting);
  b.restart();
  b.errors("leaf-0", "spine-1", 1e-5);
  b.steps(30);
  EXPECT_TRUE(b.out.contains("leaf-0 - spine-1"));
}

// What a budget leaves is for the one that loses most.
TEST(CompetingPlans, OfTwoOfOneSwitchOfWhichOneMayGoTheWorseOneGoes) {
  OneMayGo b(1);
  b.settings.limits.capacity.leaf_share_idle = 0.1;
  b.restart({});
  b.errors("leaf-0", "spine-0", 1e-8);
  b.errors("leaf-0", "spine-1", 1e-5);
  b.steps(60);
  EXPECT_TRUE(b.out.contains("leaf-0 - spine-1"));
  EXPECT_EQ(b.acts, 1);
}

TEST(CompetingPlans, OfTwoInAnHourOfWhichOneMayGoTheWorseOneGoes) {
  OneMayGo b;
  b.settings.limits.budget.actions_per_hour = 1;
  b.restart({});
  b.errors("leaf-0", "spine-0", 1e-8);
  b.errors("leaf-1", "spine-1", 1e-5);
  b.steps(60);
  EXPECT_TRUE(b.out.contains("leaf-1 - spine-1"));
}

TEST(CompetingPlans, WhenTheLimitOfTheSwitchIsFreeTheWorseOneGoes) {
  OneMayGo b(1);
  b.settings.limits.verification.windows = 1000;
  b.settings.limits.verification.within = 30s;
  b.settings.limits.budget.actions_per_hour = 100;
  b.restart({});
  b.work_on(b.link("leaf-0", "spine-0"));
  b.errors("leaf-0", "spine-0", 1e-5);
  b.errors("leaf-0", "spine-2", 1e-7);
  b.steps(6);
  ASSERT_EQ(b.plan(2).state, PlanState::kVerifying);
  b.maintenance.clear();
  b.errors("leaf-0", "spine-1", 1e-8);
  for (int i = 0; i < 200 && b.plan(2).state != PlanState::kRolledBack; ++i) b.step();
  ASSERT_EQ(b.plan(2).state, PlanState::kRolledBack) << to_string(b.plan(2).state);
  b.steps(10);
  EXPECT_TRUE(b.out.contains("leaf-0 - spine-0")) << *b.out.begin();
}

TEST(CompetingPlans, AfterARestartTheWorseOneGoesThoughTheOtherWasReadBeforeTheFirstSweep) {
  for (const bool is_sweepless : {false, true}) {
    OneMayGo b;
    if (is_sweepless) b.settings.sweepless = {"fake"};
    b.restart({});
    b.errors("leaf-0", "spine-0", 1e-8);
    b.step();
    ASSERT_EQ(b.plan(1).state, PlanState::kExecuting);
    b.book->set_hands_off(true, "night", "ann", b.fabric.now());
    b.steps(5);
    b.errors("leaf-0", "spine-1", 1e-5);
    b.steps(5);
    b.restart();
    for (int i = 0; i < 4; ++i) {
      b.fabric.advance(1s);
      const RemedyView view = b.look();
      b.views[0].sweep = nullptr;
      b.book->review(view);
      for (const RemedyOrder& order : b.orders()) {
        ASSERT_EQ(order.kind, OrderKind::kRead);
        b.book->answer_reading(order.number, TargetReading{TargetState::kClear, ""}, b.fabric.now());
      }
    }
    b.steps(30);
    EXPECT_TRUE(b.out.contains("leaf-0 - spine-1")) << is_sweepless << ' ' << *b.out.begin();
  }
}

struct OftenDown : OneMayGo {
  OftenDown() {
    settings.limits.budget.actions_per_hour = 1;
    restart({});
    const PortIndex end = fabric.port_towards("leaf-0", "spine-0");
    errors("leaf-0", "spine-0", 1e-5);
    for (int found = 0, i = 0; i < 100 && found < 3; ++i) found += step_down_when_sent(1, end) ? 1 : 0;
    fabric.relink(end);
    errors("leaf-1", "spine-7", 1e-3);
    for (int i = 0; i < 100 && acts == 0; ++i) step();
    EXPECT_TRUE(out.contains("leaf-1 - spine-7"));
    errors("leaf-0", "spine-1", 1e-8);
    steps(20);
  }
};

TEST(CompetingPlans, NoRefusalSaysThatALinkOfLessLossAvoidsMore) {
  OftenDown b;
  const std::string said = b.verdict(b.plan(1), Guard::kLeafCapacity).explanation;
  EXPECT_EQ(said.find("avoids more loss"), std::string::npos) << said;
}

TEST(CompetingPlans, WhatHasBeenUpForAnHourGoesFirstAgain) {
  OftenDown b;
  for (int i = 0; i < 3720 && b.acts == 1; ++i) b.step();
  b.steps(20);
  EXPECT_TRUE(b.out.contains("leaf-0 - spine-0"));
}

TEST(CompetingPlans, OfTwoThatWereOftenDownTheOneThatIsUpGoes) {
  for (const bool swapped : {false, true}) {
    OneMayGo b;
    const std::string first = swapped ? "spine-5" : "spine-1", second = swapped ? "spine-1" : "spine-5";
    b.errors("leaf-0", first, 1e-5);
    b.errors("leaf-0", second, 1e-6);
    const PortIndex one = b.fabric.port_towards("leaf-0", first), two = b.fabric.port_towards("leaf-0", second);
    int found = 0;
    for (int i = 0; i < 20'000 && b.acts == 0; ++i) {
      const PlanPtr other = b.book->find(2);
      const bool is_sent = other && other->state == PlanState::kExecuting && found < 3;
      if (is_sent)
        b.fabric.unlink(two);
      else
        b.fabric.relink(two);
      found += is_sent ? 1 : 0;
      b.step_down_when_sent(1, one);
    }
    EXPECT_EQ(found, 3);
    EXPECT_EQ(b.acts, 1) << first << ": " << b.verdict(b.plan(2), Guard::kLeafCapacity).explanation;
  }
}

}  // namespace
}  // namespace weft::analyzer
