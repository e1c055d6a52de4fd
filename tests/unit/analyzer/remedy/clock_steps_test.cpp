// SPDX-License-Identifier: Apache-2.0
// The clock is set forward: nothing is due for it, and no budget is filled up again.

#include "analyzer/remedy/clock_steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "analyzer/remedy/windows.hpp"
#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

TimePoint at(Duration since) {
  return TimePoint(1000h + since);
}

TEST(ClockSteps, TellTimeThatPassedFromTimeThatWasSet) {
  ClockSteps clock;
  EXPECT_EQ(clock.look(at(0s), 7s), 0s);
  EXPECT_EQ(clock.look(at(1s), 8s), 0s);
  EXPECT_EQ(clock.look(at(25h + 2s), 9s), 25h);
  EXPECT_EQ(clock.look(at(25h + 3s), 10s), 0s);
  EXPECT_EQ(clock.ages(at(25h + 3s)).of(at(1s)), 2s);
  EXPECT_EQ(clock.ages(at(25h + 3s)).of(at(25h + 2s)), 1s) << "it was after the step";
  EXPECT_EQ(clock.look(at(4s), 11s), -25h);
  EXPECT_EQ(clock.ages(at(4s)).of(at(1s)), 3s) << "as if it had never been set";
  EXPECT_EQ(clock.ages(at(4s)).of(at(25h + 2s)), 2s) << "it was while the clock was wrong";
  EXPECT_EQ(clock.look(at(26h), 12s), 26h - 5s);
}

TEST(ClockSteps, AClockThatIsOnlyCorrectedALittleMakesNone) {
  ClockSteps clock;
  for (int second = 0; second < 1000; ++second)
    EXPECT_EQ(clock.look(at(second * 1s + second * 500us), second * 1s), 0s);
}

TEST(ClockSteps, TimeThatNobodyWatchedCountsAsNone) {
  ClockSteps before;
  before.look(at(0h), 7s);
  before.look(at(30h), 8s);  // 30 h were set, one second passed
  before.look(at(30h + 60s), 68s);
  ClockSteps after;
  EXPECT_EQ(after.resume(before.memory(), at(55h + 60s)), 25h);
  EXPECT_EQ(after.look(at(55h + 60s), 1s), 0s) << "another machine's steady clock, or the same one";
  const TimePoint now = at(55h + 120s);
  EXPECT_EQ(after.look(now, 61s), 0s);
  EXPECT_EQ(after.ages(now).of(at(-1h)), 1h + 121s) << "of both runs";
  EXPECT_EQ(after.ages(now).of(at(30h + 30s)), 90s);
  EXPECT_EQ(after.memory().steps.size(), 2U);
}

TEST(ClockSteps, ARestartThatIsOverInAMomentMakesNoStep) {
  ClockSteps after;
  EXPECT_EQ(after.resume({at(0h), {}}, at(3s)), 0s);
  EXPECT_EQ(after.resume({}, at(1h)), 0s) << "nobody looked before";
  EXPECT_TRUE(after.memory().steps.empty());
  EXPECT_EQ(after.resume({at(2h), {}}, at(1h)), -1h) << "set back meanwhile";
}

// What happened is never older than it is, whatever the clock was set to and however often weftd was restarted.
TEST(ClockSteps, NoHistoryOfAClockMakesAnythingOlder) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::mt19937 dice(seed);
    const auto below = [&dice](int most) { return std::uniform_int_distribution<int>(0, most - 1)(dice); };
    Duration lived = 0s;
    Duration set = 10000h;
    ClockMemory kept;
    Duration kept_at = 0s;
    std::optional<ClockSteps> clock;
    struct Event {
      TimePoint shown;
      Duration at;
    };
    std::vector<Event> events;
    const auto pass = [&](Duration time, bool is_running) {
      const Duration before = Duration(std::uniform_int_distribution<std::int64_t>(0, time.count())(dice));
      const bool is_set = below(6) == 0;
      lived += before;
      if (is_running && below(3) == 0) events.push_back({TimePoint(lived + set), lived});
      if (is_set) {
        constexpr std::array<Duration, 5> kBy{20s, 10min, 2h, 25h, 9000h};
        const Duration by = kBy[static_cast<std::size_t>(below(5))];
        set += below(2) == 0 ? by : -by;
        if (below(3) == 0) set = 10000h;  // somebody repairs it
      }
      lived += time - before;
      if (is_running && below(3) == 0) events.push_back({TimePoint(lived + set), lived});
    };
    for (int step = 0; step < 150; ++step) {
      if (!clock || below(20) == 0) {
        if (clock) pass(below(2) == 0 ? 1s : 3h, false);  // nobody runs
        clock.emplace();
        clock->look(TimePoint(lived + set), lived);
        clock->resume(kept, TimePoint(lived + set), seed % 2 == 0 ? "boot" : "");
        kept = clock->memory();
        kept_at = lived;
      }
      pass(below(10) == 0 ? 25s : 1s, true);
      const TimePoint now(lived + set);
      const Duration by = clock->look(now, lived);
      if (by != 0s || lived - kept_at >= 30s) {
        kept = clock->memory();
        kept_at = lived;
      }
      if (below(5) == 0) lived += 30min, clock->look(TimePoint(lived + set), lived);
      const Ages ages = clock->ages(TimePoint(lived + set));
      for (const Event& event : events)
        ASSERT_LE(ages.of(event.shown), lived - event.at) << "seed " << seed << ", step " << step;
    }
  }
}

TEST(ClockSteps, ManyAreRememberedAsFewAndMakeNothingOlder) {
  ClockSteps clock;
  TimePoint wall = at(0h);
  Duration lived = 0s;
  clock.look(wall, lived);
  for (int day = 0; day < 1000; ++day) {
    lived += 10s;
    wall += 24h + 10s;
    clock.look(wall, lived);
  }
  EXPECT_LE(clock.memory().steps.size(), 64U);
  EXPECT_EQ(clock.ages(wall).of(at(0h)), 10'000s);
  EXPECT_LE(clock.ages(wall).of(at(12h)), 10'000s);
}

struct Stepped : Book {
  Stepped() : Book(automatic()) {}

  void pass(Duration time) {
    fabric.advance(time);
    book->review(look());
  }
  void set(Duration forward) {
    set_forward += forward;
    pass(forward);
  }

  // Links that plans took out so long ago.
  void out(const std::vector<Entity>& links, Duration ago) {
    RemedyMemory memory;
    for (const Entity& target : links) {
      Plan plan;
      plan.id = memory.plans.size() + 1;
      plan.state = PlanState::kCommitted;
      plan.action = RemedyAction::kIsolateLink;
      plan.target = target;
      plan.incident = 7;  // over long since
      plan.actuator = "fake";
      plan.requested_by = kOurselves;
      plan.approved_by = "ann";
      plan.started = plan.finished = fabric.now() - ago;
      plan.in_force = true;
      memory.plans.push_back(plan);
    }
    book.emplace(settings, memory, fabric.now());
  }

  // The world does what it is asked at once; a link that is on shows up.
  void obey() {
    for (int round = 0; round < 4; ++round)
      for (const RemedyOrder& order : orders()) {
        const bool back = off.contains(order.target.label);
        if (order.kind == OrderKind::kAct) {
          off.erase(order.target.label);
          book->answer_action(order.number, {}, fabric.now());
        } else {
          book->answer_reading(order.number, TargetReading{back ? TargetState::kOurs : TargetState::kClear, ""},
                               fabric.now());
        }
        book->review(look());
      }
  }
  std::set<std::string> off{};

  std::size_t returns(PlanState state) const {
    return static_cast<std::size_t>(std::ranges::count_if(*book->all(), [&](const PlanPtr& plan) {
      return plan->action == RemedyAction::kRestoreLink && plan->state == state;
    }));
  }
};

TEST(ClockSteps, ADayThatDidNotPassBringsNothingBack) {
  Stepped b;
  b.out({b.link("leaf-0", "spine-0"), b.link("leaf-1", "spine-1"), b.link("leaf-2", "spine-2")}, 1h);
  b.pass(1s);
  b.set(25h);
  b.pass(1s);
  EXPECT_EQ(b.book->all()->size(), 3U) << "they were taken out an hour ago";
  b.pass(23h);
  b.pass(1s);
  EXPECT_EQ(b.book->all()->size(), 6U);
}

TEST(ClockSteps, ADayWithoutWeftdBringsNothingBack) {
  for (const Duration down : {Duration(25h), Duration(0h)}) {
    Stepped b;
    b.out({b.link("leaf-0", "spine-0"), b.link("leaf-1", "spine-1")}, 1h);
    ClockMemory left{b.fabric.now(), {}};
    if (down == 0h) left = {b.fabric.now(), {{b.fabric.now() - 30min, 25h}}};  // it was set before the restart
    b.fabric.advance(down);
    std::vector<Plan> plans;
    for (const PlanPtr& plan : *b.book->all()) plans.push_back(*plan);
    if (down == 0h)
      for (Plan& plan : plans) plan.started = plan.finished = plan.finished - 25h;
    b.book.emplace(b.settings, RemedyMemory{.plans = plans, .holds = {}}, b.fabric.now());
    b.book->resume_clock(left, b.fabric.now());
    b.pass(1s);
    EXPECT_EQ(b.book->all()->size(), 2U) << "they were taken out an hour ago";
    b.pass(23h);
    b.pass(1s);
    EXPECT_EQ(b.book->all()->size(), 4U);
  }
}

struct Drained : Stepped {
  Drained() {
    settings.limits.undrain_after = 10min;
    errors("leaf-0", "spine-0");
    resolve();
    NodeHealth well;
    well.node = "n1";
    well.verdict = HealthVerdict::kHealthy;
    health.push_back(well);
    start();
    pass(1s);  // from here on weftd knows what hurts it
  }
  void start() {
    Plan plan;
    plan.id = 1;
    plan.state = PlanState::kCommitted;
    plan.action = RemedyAction::kDrainNode;
    plan.target.kind = EntityKind::kHost;
    plan.target.host = plan.target.label = "n1";
    plan.incident = 1;
    plan.requested_by = plan.approved_by = kOurselves;
    plan.started = plan.finished = fabric.now() - 1h;
    plan.in_force = true;
    RemedyMemory memory;
    memory.plans = {plan};
    book.emplace(settings, memory, fabric.now());
  }
  void resolve() {
    auto over = std::make_shared<Incident>(*incidents.front());
    over->state = IncidentState::kResolved;
    over->resolved = fabric.now();
    incidents = {over};
  }
  bool comes_back() const {
    return std::ranges::find(*book->all(), RemedyAction::kUndrainNode,
                             [](const PlanPtr& plan) { return plan->action; }) != book->all()->end();
  }
};

TEST(Returns, AHostDoesNotComeBackWhileAnotherIncidentHurtsItOrSoonAfter) {
  Drained b;
  HealthReason other;
  other.incident = 2;
  other.severity = Severity::kWarning;
  b.health[0].verdict = HealthVerdict::kDegraded;
  b.health[0].reasons = {other};
  b.pass(20min);
  EXPECT_FALSE(b.comes_back()) << "INC-2 would take it out again";
  b.health[0].verdict = HealthVerdict::kHealthy;
  b.health[0].reasons.clear();
  b.pass(9min);
  EXPECT_FALSE(b.comes_back()) << "INC-2 was over some minutes ago";
  b.pass(2min);
  EXPECT_TRUE(b.comes_back());
}

TEST(Returns, WhatIsMerelyWatchedKeepsNoHostDrained) {
  Drained b;
  HealthReason other;
  other.incident = 2;
  other.severity = Severity::kInfo;
  b.health[0].verdict = HealthVerdict::kDegraded;
  b.health[0].reasons = {other};
  b.pass(11min);
  EXPECT_TRUE(b.comes_back());
}

TEST(ClockSteps, AnIncidentThatIsForgottenIsNotOverForLong) {
  Drained b;
  b.pass(1s);
  b.set(400 * 24h);
  b.incidents.clear();  // by the clock it is old
  b.pass(1s);
  b.pass(8min);
  EXPECT_FALSE(b.comes_back()) << "it was over some minutes ago";
  b.pass(2min);
  EXPECT_TRUE(b.comes_back()) << "it was seen to be over, and that is not forgotten";
}

TEST(ClockSteps, AnIncidentThatNobodyRemembersHasToBeOverFromNowOn) {
  Drained b;
  b.incidents.clear();
  b.pass(1s);
  b.pass(9min);
  b.start();  // a restart: how long it was over before is not known
  b.pass(1s);
  b.pass(9min);
  EXPECT_FALSE(b.comes_back());
  b.set(25h);
  EXPECT_FALSE(b.comes_back());
  b.pass(1min);
  EXPECT_TRUE(b.comes_back());
}

TEST(ClockSteps, AnIncidentThatComesBackIsNotOver) {
  Drained b;
  b.pass(9min);
  auto again = std::make_shared<Incident>(*b.incidents.front());
  again->state = IncidentState::kOpen;
  again->resolved = kNever;
  b.incidents = {again};
  b.pass(1s);
  b.resolve();
  b.pass(9min);
  EXPECT_FALSE(b.comes_back());
  b.pass(1min);
  EXPECT_TRUE(b.comes_back());
}

TEST(ClockSteps, AnHourThatDidNotPassGivesNoNewBudget) {
  Stepped b;
  b.settings.limits.budget.actions_per_hour = 1;
  b.settings.limits.reinstate_after = 100h;
  b.out({b.link("leaf-0", "spine-0")}, 10min);
  b.pass(1s);
  b.errors("leaf-1", "spine-1");
  b.pass(1s);
  ASSERT_EQ(b.verdict(b.plan(2), Guard::kBudget).result, GuardResult::kRefused);
  b.set(2h);
  b.pass(1s);
  EXPECT_EQ(b.verdict(b.plan(2), Guard::kBudget).result, GuardResult::kRefused);
  EXPECT_EQ(b.plan(2).state, PlanState::kProposed);
}

TEST(ClockSteps, WhatIsBeingVerifiedIsNotLateForIt) {
  Stepped b;
  b.out({b.link("leaf-0", "spine-0")}, 25h);
  b.off = {"leaf-0 - spine-0"};
  b.pass(1s);
  b.obey();
  ASSERT_EQ(b.plan(2).state, PlanState::kVerifying);
  b.set(25h);
  b.pass(1s);
  EXPECT_EQ(b.plan(2).state, PlanState::kVerifying) << b.plan(2).outcome;
}

TEST(ClockSteps, WhatBecameWorseBeforeTheStepBecameWorseByThePlan) {
  Book b;
  Plan plan;
  plan.action = RemedyAction::kIsolateLink;
  plan.target = b.link("leaf-0", "spine-0");
  b.errors("leaf-1", "spine-1");  // before the plan, elsewhere
  b.fabric.advance(10s);
  const TimePoint in_force = b.fabric.now();
  b.fabric.unlink(b.fabric.port_towards("leaf-0", "spine-0"));
  b.fabric.route();
  const ClockStep step{in_force + 4s, 25h};
  b.fabric.advance(25h + 5s);
  const auto window = [&] {
    return judge_window(plan, b.look(), in_force + step.by, Ages{b.fabric.now(), {&step, 1}}, b.settings.limits);
  };
  EXPECT_TRUE(window().good) << window().why;
  b.errors("leaf-0", "spine-1");
  auto early = std::make_shared<Incident>(*b.incidents.back());
  early->finding.kind = IncidentKind::kSlowReceiver;
  early->opened = early->updated = in_force + 2s;
  early->beginnings = {in_force + 2s};
  for (Evidence& evidence : early->finding.evidence) evidence.observed = in_force + 3s;
  b.incidents.back() = early;
  EXPECT_TRUE(window().worse);
  EXPECT_EQ(window().why, "since then INC-2: errors between leaf-0 and spine-1");
  early = std::make_shared<Incident>(*early);
  early->beginnings = {in_force - 1s};
  b.incidents.back() = early;
  EXPECT_FALSE(window().worse) << "it was there before";
}

// What the clock showed is kept now and then, so a restart leaves a time that nobody watched, though somebody did.
TEST(ClockSteps, WhatWasSeenBeforeARestartWasSeenBeforeTheVerificationAfterIt) {
  Book b;
  Plan plan;
  plan.action = RemedyAction::kIsolateLink;
  plan.target = b.link("leaf-0", "spine-0");
  b.errors("leaf-0", "spine-0");
  plan.incident = b.incidents.back()->id;
  const TimePoint seen = b.fabric.now();
  b.fabric.unlink(b.fabric.port_towards("leaf-0", "spine-0"));
  b.fabric.route();
  const ClockStep unwatched{seen - 5s, 10s};
  const TimePoint since = seen + 6s;
  b.fabric.advance(30s);
  const Window window = judge_window(plan, b.look(), since, Ages{b.fabric.now(), {&unwatched, 1}}, b.settings.limits);
  EXPECT_TRUE(window.good) << window.why;
}

// One wrong answer of a time server, or a machine whose clock runs ahead until it hears one.
TEST(ClockSteps, AClockThatIsRepairedLeavesOldActionsOld) {
  for (const bool restarted : {false, true}) {
    Stepped b;
    b.out({b.link("leaf-0", "spine-0"), b.link("leaf-1", "spine-1")}, 23h);
    b.pass(1s);
    const Duration year = 8766h;
    if (restarted) {
      const ClockMemory left = b.book->clock_memory();
      std::vector<Plan> plans;
      for (const PlanPtr& plan : *b.book->all()) plans.push_back(*plan);
      b.set_forward += year;
      b.fabric.advance(year + 60s);
      b.book.emplace(b.settings, RemedyMemory{.plans = plans, .holds = {}}, b.fabric.now(),
                     b.fabric.now().time_since_epoch() - b.set_forward);
      b.book->resume_clock(left, b.fabric.now());
      b.pass(1s);
    } else {
      b.set(year);
    }
    b.pass(10s);
    EXPECT_EQ(b.book->status(b.fabric.now()).actions_last_hour, 0U);
    b.set(-year);
    b.pass(10s);
    EXPECT_EQ(b.book->status(b.fabric.now()).actions_last_hour, 0U);
    EXPECT_EQ(b.book->all()->size(), 2U);
    b.pass(1h);
    b.pass(1s);
    EXPECT_EQ(b.book->all()->size(), 4U) << "they come back when they would have";
  }
}

TEST(Returns, AreOneProbationASwitchAtATime) {
  Stepped b;
  b.out({b.link("leaf-0", "spine-0"), b.link("leaf-0", "spine-1"), b.link("leaf-1", "spine-2")}, 25h);
  b.off = {"leaf-0 - spine-0", "leaf-0 - spine-1", "leaf-1 - spine-2"};
  for (int i = 0; i < 5; ++i) {
    b.pass(1s);
    b.obey();
  }
  EXPECT_EQ(b.returns(PlanState::kVerifying), 2U);
  EXPECT_EQ(b.plan(5).state, PlanState::kApproved);
  EXPECT_EQ(b.verdict(b.plan(5), Guard::kOneActor).result, GuardResult::kRefused);
  EXPECT_TRUE(b.book->request(RemedyAction::kRestoreLink, b.link("leaf-0", "spine-1"), "", "ann", b.look()))
      << "a person need not wait for it";
}

TEST(Returns, HaveABudgetThatPeopleDoNotHave) {
  Stepped b;
  b.settings.limits.budget.returns_per_hour = 1;
  b.out({b.link("leaf-0", "spine-0"), b.link("leaf-1", "spine-1")}, 25h);
  b.off = {"leaf-0 - spine-0", "leaf-1 - spine-1"};
  for (int i = 0; i < 5; ++i) {
    b.pass(1s);
    b.obey();
  }
  EXPECT_EQ(b.returns(PlanState::kVerifying), 1U);
  EXPECT_EQ(b.plan(4).state, PlanState::kApproved);
  EXPECT_EQ(b.verdict(b.plan(4), Guard::kBudget).result, GuardResult::kRefused);
  EXPECT_TRUE(b.book->request(RemedyAction::kRestoreLink, b.link("leaf-1", "spine-1"), "", "ann", b.look()));
}

}  // namespace
}  // namespace weft::analyzer
