// SPDX-License-Identifier: Apache-2.0
// Plans that are over are forgotten in time, but not while the trouble lasts that a person wants left alone, and not
// while a limit counts them.

#include <gtest/gtest.h>

#include "analyzer/remedy/budget.hpp"
#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

struct Lasting : Book {
  Lasting() : Book(automatic()) {
    settings.limits.retention = 24h;
    settings.limits.retained_plans = 1;
    book.emplace(settings, RemedyMemory{}, fabric.now());
    errors("leaf-0", "spine-0");
    book->review(look());
  }

  void resolve(std::size_t at) {
    auto over = std::make_shared<Incident>(*incidents[at]);
    over->state = IncidentState::kResolved;
    over->resolved = fabric.now();
    ++over->revision;
    incidents[at] = over;
  }

  // The errors go on. Whether anything was sent meanwhile.
  bool acts_within(Duration time) {
    bool acted = false;
    for (; time > 0s; time -= 1h) {
      fabric.advance(1h);
      for (auto& incident : incidents) {
        auto later = std::make_shared<Incident>(*incident);
        for (Evidence& evidence : later->finding.evidence) evidence.observed = fabric.now();
        ++later->revision;
        incident = std::move(later);
      }
      for (int round = 0; round < 3; ++round) {
        book->review(look());
        for (const RemedyOrder& order : orders()) {
          acted |= order.kind == OrderKind::kAct;
          if (order.kind == OrderKind::kRead)
            book->answer_reading(order.number, TargetReading{TargetState::kClear, ""}, fabric.now());
        }
      }
    }
    return acted;
  }
};

TEST(Forgetting, WhatAPersonAbortedIsNotDoneAgainWhileItsIncidentIsOpen) {
  Lasting b;
  ASSERT_TRUE(b.book->abort(1, "never this one", "ann", b.fabric.now()));
  EXPECT_FALSE(b.acts_within(9 * 24h));
  EXPECT_EQ(b.book->all()->size(), 1U);
}

TEST(Forgetting, WhatAPersonRejectedIsNotProposedAgainWhileItsIncidentIsOpen) {
  Lasting b;
  b.settings.modes.fill(RemedyMode::kPropose);
  b.book.emplace(b.settings, RemedyMemory{}, b.fabric.now());
  b.book->review(b.look());
  b.fabric.advance(1min);
  ASSERT_TRUE(b.book->reject(1, "a link of the storage", "ann", b.fabric.now()));
  EXPECT_FALSE(b.acts_within(9 * 24h));
  ASSERT_EQ(b.book->all()->size(), 1U);
  b.resolve(0);
  b.book->review(b.look());
  EXPECT_TRUE(b.book->all()->empty()) << "nothing asks for it any more";
}

// What a person said is of the link, not of the first of its incidents.
TEST(Forgetting, WhatAPersonRejectedIsLeftInServiceForEveryTroubleOfThen) {
  for (const bool aborted : {false, true}) {
    Lasting b;
    b.book.emplace(b.settings, RemedyMemory{}, b.fabric.now());
    b.book->set_hands_off(true, "look", "ann", b.fabric.now());
    b.errors("leaf-0", "spine-0", 1e-7);
    b.book->review(b.look());
    ASSERT_EQ(b.book->all()->size(), 1U);
    b.fabric.advance(1min);
    ASSERT_TRUE(aborted ? b.book->abort(1, "a link of the storage", "ann", b.fabric.now())
                        : b.book->reject(1, "a link of the storage", "ann", b.fabric.now()));
    b.book->set_hands_off(false, "", "ann", b.fabric.now());
    EXPECT_FALSE(b.acts_within(2h));
    b.resolve(0);
    EXPECT_FALSE(b.acts_within(9 * 24h));
    ASSERT_EQ(b.book->all()->size(), 1U);
    b.errors("leaf-0", "spine-0", 1e-7);
    EXPECT_FALSE(b.acts_within(2h)) << "one of then lasts";
    b.resolve(1);
    EXPECT_TRUE(b.acts_within(2h)) << "new trouble";
  }
}

// Another kind of trouble is no reason while what the person saw lasts.
TEST(Forgetting, WhatAPersonRejectedIsLeftInServiceWhileATroubleOfThenLasts) {
  for (const bool given_back : {false, true}) {
    Lasting b;
    if (given_back) {
      Plan back;
      back.id = 1;
      back.state = PlanState::kCommitted;
      back.action = RemedyAction::kRestoreLink;
      back.target = b.link("leaf-0", "spine-0");
      back.actuator = "fake";
      back.requested_by = back.approved_by = "ann";
      b.fabric.advance(1min);
      back.started = back.finished = b.fabric.now();
      RemedyMemory memory;
      memory.plans = {back};
      b.book.emplace(b.settings, memory, b.fabric.now());
    } else {
      ASSERT_TRUE(b.book->abort(1, "a link of the storage", "ann", b.fabric.now()));
    }
    b.fabric.advance(1min);
    b.errors("leaf-0", "spine-0", 1e-7);
    EXPECT_FALSE(b.acts_within(9 * 24h)) << given_back;
    ASSERT_EQ(b.book->all()->size(), 1U);
    b.resolve(0);
    EXPECT_TRUE(b.acts_within(2h)) << "the trouble of then is over, and there is another one";
  }
}

// Automation gave it up by itself, and then a person said no to it, too.
TEST(Forgetting, WhatAPersonAbortedWhileItWasBeingUndoneIsLeftInService) {
  Lasting b;
  b.errors("leaf-0", "spine-0", 1e-7);
  Plan plan = b.plan(1);
  plan.state = PlanState::kRollingBack;
  plan.intent = PlanIntent::kApply;
  plan.in_force = true;
  plan.started = b.fabric.now();
  plan.outcome = "the symptom is still there";
  RemedyMemory memory;
  memory.plans = {plan};
  b.book.emplace(b.settings, memory, b.fabric.now());
  ASSERT_TRUE(b.book->abort(1, "keep it in service", "ann", b.fabric.now()));
  EXPECT_TRUE(b.plan(1).outcome.starts_with("aborted by ann: keep it in service")) << b.plan(1).outcome;
  EXPECT_TRUE(b.plan(1).outcome.ends_with("the symptom is still there")) << b.plan(1).outcome;
  EXPECT_FALSE(b.acts_within(9 * 24h)) << "it was found back, and nothing is sent for the other incident";
  EXPECT_EQ(b.book->all()->size(), 1U);
}

// What was over `ago`, and holds nothing.
Plan ended(const Book& b, std::uint64_t id, RemedyAction action, PlanState state, Duration ago) {
  Plan plan;
  plan.id = id;
  plan.state = state;
  plan.action = action;
  plan.target = b.link("leaf-0", "spine-0");
  plan.actuator = "fake";
  plan.requested_by = plan.approved_by = "weftd";
  plan.started = plan.finished = b.fabric.now() - ago;
  return plan;
}

TEST(Forgetting, WhatDidNotHelpIsNotDoneAgainWhileItsIncidentIsOpen) {
  for (const PlanState state : {PlanState::kRolledBack, PlanState::kFailed}) {
    Lasting b;
    b.fabric.advance(1h);
    RemedyMemory memory;
    memory.plans = {ended(b, 1, RemedyAction::kIsolateLink, state, 30min)};
    memory.plans[0].incident = b.incidents[0]->id;
    b.book.emplace(b.settings, memory, b.fabric.now());
    EXPECT_FALSE(b.acts_within(9 * 24h)) << to_string(state);
    EXPECT_EQ(b.book->all()->size(), 1U);
  }
}

TEST(Forgetting, ActionsThatABudgetCountsAreKept) {
  Book b;
  b.settings.limits.retained_plans = 1;
  RemedyMemory memory;
  for (std::uint64_t id = 1; id <= 4; ++id)
    memory.plans.push_back(ended(b, id, RemedyAction::kIsolateLink, PlanState::kCommitted, id == 1 ? 25h : 23h));
  for (std::uint64_t id = 5; id <= 7; ++id)
    memory.plans.push_back(ended(b, id, RemedyAction::kIsolateLink, PlanState::kRolledBack, 50min));
  b.book.emplace(b.settings, memory, b.fabric.now());
  b.book->review(b.look());
  EXPECT_FALSE(b.book->find(1)) << "no limit counts what was more than a day ago";
  EXPECT_EQ(b.book->all()->size(), 6U);
  EXPECT_EQ(b.book->status(b.fabric.now()).actions_last_hour, 3U);
}

TEST(Forgetting, ReturnsThatFailedAreKeptAsLongAsTheyCount) {
  Book b(automatic());
  b.settings.limits.retention = 24h;
  RemedyMemory memory;
  memory.plans = {ended(b, 1, RemedyAction::kIsolateLink, PlanState::kCommitted, 6 * 24h),
                  ended(b, 2, RemedyAction::kRestoreLink, PlanState::kRolledBack, 3 * 24h),
                  ended(b, 3, RemedyAction::kRestoreLink, PlanState::kRolledBack, 2 * 24h)};
  memory.plans[0].in_force = true;
  memory.plans[0].incident = 7;  // over long since
  memory.plans[1].undoes = memory.plans[2].undoes = 1;
  b.book.emplace(b.settings, memory, b.fabric.now());
  for (int i = 0; i < 3; ++i) {
    b.fabric.advance(1s);
    b.book->review(b.look());
  }
  ASSERT_EQ(b.book->all()->size(), 4U);
  EXPECT_EQ(b.plan(4).state, PlanState::kProposed);
  EXPECT_EQ(b.verdict(b.plan(4), Guard::kReinstatement).explanation,
            "it failed again after its return 2 times: check it by hand (remedy.limits.verification.reinstatements)");
  EXPECT_EQ(longest_memory(b.settings.limits), 7 * 24h) << "so far back a restart reads";
}

}  // namespace
}  // namespace weft::analyzer
