// SPDX-License-Identifier: Apache-2.0
// What a refusal says of when it is over, and of the key that sets the limit; and what is said of links that stay up.

#include <gtest/gtest.h>

#include "analyzer/remedy/budget.hpp"
#include "fabric/minute_text.hpp"
#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

/// A plan of before that is over and holds nothing.
Plan over(std::uint64_t id, const Entity& target, TimePoint started) {
  Plan plan;
  plan.id = id;
  plan.state = PlanState::kRolledBack;
  plan.target = target;
  plan.requested_by = "ann";
  plan.created = plan.updated = plan.started = plan.finished = started;
  return plan;
}

struct Hints : Book {
  void begin(std::vector<Plan> plans) {
    RemedyMemory memory;
    memory.plans = std::move(plans);
    book.emplace(settings, std::move(memory), fabric.now());
    look();
  }
  std::string why(Guard guard, const std::string& spine = "spine-7") {
    const auto seen = book->preview(RemedyAction::kIsolateLink, link("leaf-0", spine), "why", "ann", look());
    return seen ? verdict(*seen, guard).explanation : seen.error().message;
  }
};

TEST(TimeHints, TheMinuteThatIsNamedIsNotTooEarly) {
  const TimePoint noon = TimePoint(std::chrono::sys_days(std::chrono::year(2026) / 1 / 31)) + 12h;
  EXPECT_EQ(minute_text(noon + 59s), "2026-01-31 12:00 UTC");
  EXPECT_EQ(second_text(noon + 59s), "2026-01-31 12:00:59 UTC");
  EXPECT_EQ(time_ahead_text(noon, 59s), "2026-01-31 12:01 UTC");
  EXPECT_EQ(time_ahead_text(noon, 60s), "2026-01-31 12:01 UTC");
}

TEST(BudgetHints, SayWhenTheNextActionIsFree) {
  Hints b;
  b.settings.limits.budget.actions_per_hour = 2;
  const TimePoint now = b.fabric.now();
  // Of three the oldest but one must be an hour old.
  b.begin({over(1, b.link("leaf-1", "spine-0"), now - 50min), over(2, b.link("leaf-1", "spine-1"), now - 40min),
           over(3, b.link("leaf-1", "spine-2"), now - 10min)});
  EXPECT_EQ(b.why(Guard::kBudget),
            "actions per hour are used up: 2 (remedy.limits.budget.actions_per_hour); the next one is free at " +
                time_ahead_text(now, 20min));
  b.fabric.advance(20min + 1s);
  EXPECT_EQ(b.why(Guard::kBudget), "within all budgets");
}

TEST(BudgetHints, NoTimeIsNamedWhereNoneHelps) {
  Hints b;
  b.settings.limits.budget.actions_per_hour = 0;
  b.begin({});
  EXPECT_EQ(b.why(Guard::kBudget), "actions per hour are used up: 0 (remedy.limits.budget.actions_per_hour)");
}

TEST(BudgetHints, NameTheKeyOfEachMaximum) {
  const std::pair<unsigned BudgetLimits::*, std::string> all[] = {{&BudgetLimits::out_per_switch, "out_per_switch"},
                                                                  {&BudgetLimits::out_per_rail, "out_per_rail"},
                                                                  {&BudgetLimits::out_per_job, "out_per_job"}};
  for (const auto& [limit, key] : all) {
    Hints b;
    b.settings.limits.budget.*limit = 0;
    b.begin({});
    EXPECT_TRUE(b.why(Guard::kBudget).ends_with(" reached: 0 (remedy.limits.budget." + key + ')'))
        << b.why(Guard::kBudget);
  }
  Hints b;
  b.settings.limits.budget.out_minimum = 0;
  b.settings.limits.budget.out_share = 0.03;  // of 36 links
  Plan out = over(1, b.link("leaf-1", "spine-0"), b.fabric.now() - 2h);
  out.state = PlanState::kCommitted;
  out.in_force = true;
  b.begin({out});
  EXPECT_TRUE(b.why(Guard::kBudget).ends_with(" reached: 1 (remedy.limits.budget.out_share)")) << b.why(Guard::kBudget);
}

TEST(DataHints, NameTheKey) {
  Hints b;
  b.begin({});
  RemedyView old = b.look();
  old.now += 1h;
  const auto seen = b.book->preview(RemedyAction::kIsolateLink, b.link("leaf-0", "spine-7"), "why", "ann", old);
  ASSERT_TRUE(seen);
  EXPECT_EQ(b.verdict(*seen, Guard::kFreshData).explanation,
            "the last complete sweep is 3600 s old (remedy.limits.stale_intervals)");
  unsigned away = 0;
  for (NodeIndex node = 0; node < b.fabric.nodes().size() && away < 2; ++node)
    if (b.fabric.nodes()[node].name.starts_with("spine")) {
      b.fabric.node(node).reachable = false;
      ++away;
    }
  EXPECT_EQ(b.why(Guard::kFreshData),
            "2 nodes are missing in the last sweep, at most 1 may be missing (remedy.limits.missing_share)");
}

TEST(ListHints, NameTheKey) {
  Hints b;
  b.settings.allow = {"leaf-3"};
  b.begin({});
  EXPECT_EQ(b.why(Guard::kLists), "the target is not on the allow list (remedy.allow)");
}

TEST(ConfidenceHints, NameTheKey) {
  Hints b;
  b.settings.limits.confidence = 0.95;
  b.begin({});
  b.errors("leaf-0", "spine-0");
  b.book->review(b.look());
  EXPECT_EQ(b.verdict(b.plan(1), Guard::kTwoSignals).explanation,
            "the confidence in the cause is too low (remedy.limits.confidence)");
}

TEST(TwoSignals, APartThatMayBeTheReasonConfirmsNothing) {
  Hints b;
  b.begin({});
  b.errors("leaf-0", "spine-0");
  auto incident = std::make_shared<Incident>(*b.incidents.back());
  incident->finding.evidence.resize(1);
  incident->finding.evidence.push_back(incident->finding.evidence.front());
  const auto verdict_with = [&](std::string signal) {
    incident->finding.evidence.back().signal = std::move(signal);
    Hints fresh;
    fresh.begin({});
    fresh.errors("leaf-0", "spine-0");
    fresh.incidents = {std::make_shared<Incident>(*incident)};
    fresh.book->review(fresh.look());
    return fresh.verdict(fresh.plan(1), Guard::kTwoSignals).explanation;
  };
  EXPECT_EQ(verdict_with("another"), "2 signals confirm it");
  EXPECT_EQ(verdict_with(std::string(kPartSignal)), "only one signal confirms it");
}

TEST(CoolDownHints, SayWhenItIsOver) {
  Hints b;
  const TimePoint now = b.fabric.now();
  b.begin({over(1, b.link("leaf-0", "spine-0"), now - 10min)});
  b.errors("leaf-0", "spine-0");
  b.fabric.advance(1s);
  b.book->review(b.look());
  ASSERT_TRUE(b.book->find(2));
  EXPECT_EQ(b.verdict(b.plan(2), Guard::kCoolDown).explanation,
            "PLAN-1 changed it less than 30 min ago (remedy.limits.budget.cool_down); free at " +
                time_ahead_text(now, 20min));
}

TEST(ModeHints, NameTheKey) {
  Hints b;
  b.settings.modes.fill(RemedyMode::kOff);
  b.begin({});
  EXPECT_EQ(b.why(Guard::kEnabled), "ISOLATE_LINK is off (remedy.isolate_link)");
}

TEST(ChoiceHints, NameThePlansAndLinksThatGoFirst) {
  Book b;
  b.settings.limits.capacity.leaf_share_idle = 0.8;  // of eight ways seven are needed
  b.book.emplace(b.settings, RemedyMemory{}, b.fabric.now());
  b.errors("leaf-0", "spine-0", 1e-4);
  b.errors("leaf-0", "spine-1", 1e-8);
  b.book->review(b.look());
  EXPECT_EQ(b.verdict(b.plan(2), Guard::kLeafCapacity).explanation,
            "to isolate the link of PLAN-1 (" + b.plan(1).target.label +
                ") avoids more loss; with this link too leaf-0 would keep 6 of 8 uplink paths; 7 are needed "
                "(remedy.limits.capacity.leaf_share_idle)");
}

// Two rails of ten uplinks: the leaf of one could spare many, its rail one.
TEST(ChoiceHints, AreOfTheGuardWhoseLimitItIs) {
  fakes::FabricBuilder of;
  for (unsigned spine = 0; spine < 10; ++spine) of.add_switch("spine-" + std::to_string(spine), 2);
  for (unsigned rail = 0; rail < 2; ++rail) {
    const std::string leaf = "leaf-" + std::to_string(rail);
    of.add_switch(leaf, 12);
    for (unsigned spine = 0; spine < 10; ++spine)
      of.connect(of.port_of(leaf, static_cast<std::uint8_t>(3 + spine)),
                 of.port_of("spine-" + std::to_string(spine), static_cast<std::uint8_t>(rail + 1)));
    for (unsigned host = 0; host < 2; ++host) {
      const std::string name = "host-" + std::to_string(host) + " mlx5_" + std::to_string(rail);
      of.add_adapter(name);
      of.connect(of.port_of(name, 1), of.port_of(leaf, static_cast<std::uint8_t>(host + 1)));
    }
  }
  RemedySettings settings;
  settings.limits.capacity.leaf_share_idle = 0.5;
  settings.limits.capacity.rail_share = 0.9;
  Book b(std::move(of), std::move(settings));
  b.errors("leaf-0", "spine-0", 1e-4);
  b.errors("leaf-0", "spine-1", 1e-8);
  b.book->review(b.look());
  EXPECT_EQ(b.verdict(b.plan(2), Guard::kRailCapacity).explanation,
            "to isolate the link of PLAN-1 (" + b.plan(1).target.label +
                ") avoids more loss; with this link too rail 0 would keep 8 of 10 uplinks; 9 are needed "
                "(remedy.limits.capacity.rail_share)");
  EXPECT_EQ(b.verdict(b.plan(2), Guard::kLeafCapacity).result, GuardResult::kPassed);
}

TEST(ChoiceHints, NameNoLinkOfAnotherLeaf) {
  Book b;
  b.settings.limits.capacity.leaf_share_idle = 0.8;
  b.book.emplace(b.settings, RemedyMemory{}, b.fabric.now());
  b.errors("leaf-0", "spine-0", 1e-4);
  b.errors("leaf-0", "spine-1", 1e-8);
  b.errors("leaf-1", "spine-2", 1e-4);
  b.book->review(b.look());
  const std::string why = b.verdict(b.plan(2), Guard::kLeafCapacity).explanation;
  EXPECT_TRUE(why.starts_with("to isolate the link of PLAN-1 (")) << why;
  EXPECT_EQ(why.find("PLAN-3"), std::string::npos) << why;
}

TEST(ChoiceHints, WhatMayNotEvenGoAloneHasItsOwnReason) {
  Book b;
  b.settings.limits.capacity.leaf_share_idle = 1;
  b.book.emplace(b.settings, RemedyMemory{}, b.fabric.now());
  b.errors("leaf-0", "spine-0", 1e-4);
  b.errors("leaf-0", "spine-1", 1e-8);
  b.book->review(b.look());
  for (const std::uint64_t id : {1, 2})
    EXPECT_TRUE(b.verdict(b.plan(id), Guard::kLeafCapacity).explanation.starts_with("leaf-0 would keep 7 of 8"));
}

TEST(CostWords, ALinkWhoseCostIsRaisedIsInService) {
  Hints b;
  Plan raised = over(1, b.link("leaf-0", "spine-0"), b.fabric.now());
  raised.action = RemedyAction::kRaiseLinkCost;
  raised.state = PlanState::kCommitted;
  raised.in_force = true;
  raised.outcome = "no route leads over it";
  b.begin({raised});
  EXPECT_EQ(b.book->abort(1, "no", "ann", b.fabric.now()).error().message,
            "PLAN-1 is COMMITTED: no route leads over it. To undo it: weftctl lower-cost \"" + raised.target.label +
                "\" --reason ...");
  const auto other =
      b.book->preview(RemedyAction::kRestoreLink, b.link("leaf-0", "spine-1"), "", "ann", b.look(), true);
  EXPECT_EQ(other.error().message, "Weft has not raised the cost of " + b.link("leaf-0", "spine-1").label +
                                       ": if it is raised, somebody else did that");
  const auto back = b.book->preview(RemedyAction::kRestoreLink, raised.target, "", "ann", b.look(), true);
  ASSERT_TRUE(back) << back.error().message;
  for (const GuardVerdict& verdict : back->guards)
    EXPECT_EQ(verdict.explanation.find("service"), std::string::npos) << verdict.explanation;
}

}  // namespace
}  // namespace weft::analyzer
