// SPDX-License-Identifier: Apache-2.0
#include "fabric/plan.hpp"

#include <gtest/gtest.h>

#include <set>

#include "fabric/maintenance.hpp"
#include "fabric/plan_acts.hpp"

namespace weft {
namespace {

using namespace std::chrono_literals;

TEST(Plan, NamesRoundTrip) {
  EXPECT_EQ(parse_plan_name(plan_name(7)), 7U);
  EXPECT_EQ(parse_plan_name("plan-7"), 7U);
  EXPECT_EQ(parse_plan_name("7"), 7U);
  for (const char* bad : {"", "PLAN-", "PLAN-x", "INC-7", "7 ", "-7", "99999999999999999999"})
    EXPECT_FALSE(parse_plan_name(bad)) << bad;
}

TEST(Plan, WhatWeftDoesByItselfIsOneSentence) {
  EXPECT_EQ(modes_text({}, {}, false), "Weft does nothing by itself, and proposes nothing.");
  EXPECT_EQ(modes_text({}, {"ISOLATE_LINK"}, true),
            "Weft begins nothing by itself. It proposes: ISOLATE_LINK. What fails on its return is taken out again "
            "without asking.");
  EXPECT_EQ(
      modes_text({"ISOLATE_LINK", "RESTORE_LINK"}, {}, false),
      "Weft acts by itself: ISOLATE_LINK, RESTORE_LINK. What fails on its return is taken out again without asking.");
  EXPECT_EQ(modes_text({"RESTORE_LINK"}, {"ISOLATE_LINK", "DRAIN_NODE"}, true),
            "While nothing stops it, Weft acts by itself: RESTORE_LINK. It proposes: ISOLATE_LINK, DRAIN_NODE. What "
            "fails on its return is taken out again without asking.");
}

template <typename Enum, typename Parse>
void expect_words(Parse parse, std::size_t count) {
  std::set<std::string> words;
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<Enum>(i);
    EXPECT_EQ(parse(to_string(value)), value);
    words.insert(to_string(value));
  }
  EXPECT_EQ(words.size(), count) << "each has a word of its own";
  EXPECT_FALSE(parse("NONSENSE"));
}

TEST(Plan, EveryWordIsReadBack) {
  expect_words<RemedyAction>(parse_remedy_action, static_cast<std::size_t>(RemedyAction::kCount));
  expect_words<RemedyMode>(parse_remedy_mode, 3);
  expect_words<PlanState>(parse_plan_state, static_cast<std::size_t>(PlanState::kCount));
  expect_words<Guard>(parse_guard, static_cast<std::size_t>(Guard::kCount));
  expect_words<GuardResult>(parse_guard_result, 4);
  expect_words<PlanIntent>(parse_plan_intent, static_cast<std::size_t>(PlanIntent::kCount));
}

constexpr const char* kId = "1c9e0b7a5d3f2468";
constexpr const char* kOtherId = "ffff0b7a5d3f2468";

TEST(PlanMark, NamesThePlanAndTheInstallation) {
  RemedyOrder order;
  order.plan = 7;
  order.reason = "adapter is dead";
  EXPECT_EQ(order.marked_reason(), "weft PLAN-7: adapter is dead");
  order.incident = 17;
  order.owner.installation = kId;
  EXPECT_EQ(order.marked_reason(), "weft PLAN-7.1c9e0b7a5d3f2468 INC-17: adapter is dead");
  EXPECT_EQ(mark_in_reason(order.marked_reason()), (PlanMark{7, kId}));
  EXPECT_EQ(parse_plan_mark(order.mark()), (PlanMark{7, kId}));
  EXPECT_EQ(mark_in_reason("weft PLAN-7: x"), PlanMark{7});
  for (const char* bad : {"", "disk", "weft", "weft 7: x", "weft PLAN-: x", "weft PLAN-7.: x", "weft PLAN-7.XYZ: x",
                          "weft PLAN-7.1c9e0b7a5d3f24681c9e0b7a5d3f24681: x", "WEFT PLAN-7: x", "weft-healthy PLAN-7"})
    EXPECT_FALSE(mark_in_reason(bad)) << bad;
}

TEST(PlanMark, WhatAnotherWeftdDidIsNotOurs) {
  const MarkOwner owner{kId, {7}};
  EXPECT_TRUE(owner.owns_reason("weft PLAN-7.1c9e0b7a5d3f2468 INC-1: x"));
  EXPECT_TRUE(owner.owns_reason("weft PLAN-9.1c9e0b7a5d3f2468: x")) << "another plan of this store";
  EXPECT_FALSE(owner.owns_reason("weft PLAN-7.ffff0b7a5d3f2468 INC-1: x")) << "another store";
  EXPECT_FALSE(owner.owns_reason("disk sda"));
  EXPECT_EQ(owner.others_mark("weft PLAN-7.ffff0b7a5d3f2468 INC-1: x"), (PlanMark{7, kOtherId}));
  EXPECT_FALSE(owner.others_mark("weft PLAN-7.1c9e0b7a5d3f2468 INC-1: x"));
}

TEST(PlanMark, TheEpochOfOurOwnLeadersIsRead) {
  const MarkOwner owner{kId, {7}};
  RemedyOrder order;
  order.plan = 7;
  order.incident = 17;
  order.owner = owner;
  order.reason = "it has epoch 99: none of ours";
  EXPECT_EQ(owner.epoch_in_reason(order.marked_reason()), 0) << "no permit";
  order.permit = ActPermit{12, {}};
  EXPECT_EQ(owner.epoch_in_reason(order.marked_reason()), 12);
  for (const char* none : {"weft PLAN-7.ffff0b7a5d3f2468 INC-1 epoch 4: another store", "weft PLAN-7 epoch 4: no id",
                           "weft PLAN-7.1c9e0b7a5d3f2468 epoch -4: x", "weft PLAN-7.1c9e0b7a5d3f2468 epoch 4x: x",
                           "weft PLAN-7.1c9e0b7a5d3f2468 epoch 99999999999999999999: x", "disk sda epoch 4: x"})
    EXPECT_EQ(owner.epoch_in_reason(none), 0) << none;
  EXPECT_EQ(MarkOwner{}.epoch_in_reason("weft PLAN-7 epoch 4: x"), 0);
}

TEST(PlanMark, WithoutAnIdItIsOursOnlyWhereTheJournalHoldsThatPlan) {
  const MarkOwner owner{kId, {7}};
  EXPECT_TRUE(owner.owns_reason("weft PLAN-7 INC-1: x"));
  EXPECT_FALSE(owner.owns_reason("weft PLAN-8 INC-1: x")) << "an older database, or another weftd";
  EXPECT_FALSE(owner.others_mark("weft PLAN-8 INC-1: x")) << "no sign of a second one";
}

TEST(TargetReading, KeepsTheNewestMarkOfEachOtherWeftd) {
  TargetReading reading;
  for (const std::uint64_t plan : {3U, 9U, 5U}) reading.add_other({plan, kOtherId});
  EXPECT_EQ(reading.others, (std::vector<PlanMark>{{9, kOtherId}}));
  for (unsigned i = 0; i < 100; ++i) reading.add_other({1, std::to_string(i)});
  EXPECT_EQ(reading.others.size(), kMostOtherMarks);
}

// A return that holds the link again.
Plan undone_return(std::string outcome) {
  Plan plan;
  plan.id = 4;
  plan.action = RemedyAction::kRestoreLink;
  plan.state = PlanState::kRolledBack;
  plan.target.kind = EntityKind::kLink;
  plan.in_force = true;
  plan.reason = "again";
  plan.outcome = std::move(outcome);
  return plan;
}

TEST(PlanWindow, OfAReturnThatFailedSaysSo) {
  const auto window = window_of(undone_return("it did not help: errors"));
  ASSERT_TRUE(window);
  EXPECT_EQ(in_words(*window), "taken out of service by PLAN-4: its return failed: it did not help: errors");
}

TEST(PlanWindow, OfAReturnThatAPersonEndedDoesNotSayThatItFailed) {
  const auto window = window_of(undone_return("aborted by root: the cable is not ready"));
  ASSERT_TRUE(window);
  EXPECT_EQ(in_words(*window),
            "taken out of service by PLAN-4: its return was aborted by root: the cable is not ready");
}

TEST(PlanWindow, OfAReturnDoesNotSayThatItTookTheLinkOut) {
  Plan plan;
  plan.id = 17;
  plan.action = RemedyAction::kRestoreLink;
  plan.state = PlanState::kVerifying;
  plan.target.kind = EntityKind::kLink;
  plan.reason = "bring back";
  const auto window = window_of(plan);
  ASSERT_TRUE(window);
  EXPECT_EQ(in_words(*window), "on its way back to service by PLAN-17: bring back");
}

TEST(PlanWindow, HoldsThoughTheClockIsSetBack) {
  Plan plan;
  plan.action = RemedyAction::kIsolateLink;
  plan.state = PlanState::kCommitted;
  plan.target.kind = EntityKind::kLink;
  plan.in_force = true;
  plan.started = TimePoint(std::chrono::hours(24 * 365 * 56));
  const auto window = window_of(plan);
  ASSERT_TRUE(window);
  for (const int hours : {-25, 0, 25})
    EXPECT_EQ(state_at(*window, plan.started + std::chrono::hours(hours)), MaintenanceState::kActive) << hours;
}

// A person's reason may say what Weft says of others.
TEST(PlanOutcome, IsReadWithoutWhatAPersonWrote) {
  Plan plan;
  plan.steps = {{TimePoint(1s), PlanState::kVerifying, std::string(kOurselves), "it is in force: Down/Disabled"},
                {TimePoint(2s), PlanState::kVerifying, "ann", "abort: no: somebody else holds it now"}};
  plan.outcome = "aborted by ann: no: somebody else holds it now";
  EXPECT_EQ(own_words(plan), "aborted by ");
  plan.outcome += "; left as it is: somebody else took it out of service";
  EXPECT_EQ(own_words(plan), "aborted by ; left as it is: somebody else took it out of service");
  plan.steps.back().what = "abort";
  plan.outcome = "aborted by ann";
  EXPECT_EQ(own_words(plan), "aborted by ann");
}

// The clock was set back since: sweeps of now bear times of before.
TEST(PlanActs, WhatWasReadBeforeItWasGivenBackIsOldAlsoWhereTheClockWasSetBack) {
  Plan plan;
  plan.state = PlanState::kRolledBack;
  plan.started = TimePoint(100s);
  plan.finished = TimePoint(200s);
  EXPECT_TRUE(is_given_back_since(plan, TimePoint(199s), TimePoint(210s)));
  EXPECT_FALSE(is_given_back_since(plan, TimePoint(201s), TimePoint(210s)));
  EXPECT_FALSE(is_given_back_since(plan, TimePoint(20s), TimePoint(30s))) << "it lies ahead, and was before that";
  EXPECT_TRUE(is_given_back_since(plan, TimePoint(199s), TimePoint(30s))) << "no sweep began since the step";
  EXPECT_FALSE(is_given_back_since(plan, TimePoint(201s), TimePoint(30s)));
  plan.in_force = true;
  EXPECT_FALSE(is_given_back_since(plan, TimePoint(199s), TimePoint(210s)));
}

TEST(PlanActs, IsInForceAfterAllWhenItWasNotMeantToBe) {
  Plan plan;
  plan.action = RemedyAction::kDrainNode;
  plan.in_force = true;
  for (const PlanState state : {PlanState::kRolledBack, PlanState::kFailed}) {
    plan.state = state;
    EXPECT_TRUE(is_in_force_after_all(plan));
    plan.unresolved = true;
    EXPECT_FALSE(is_in_force_after_all(plan)) << "nobody knows";
    plan.unresolved = false;
  }
  plan.state = PlanState::kCommitted;
  EXPECT_FALSE(is_in_force_after_all(plan));
  plan.state = PlanState::kRolledBack;
  plan.action = RemedyAction::kUndrainNode;
  EXPECT_FALSE(is_in_force_after_all(plan)) << "it failed to bring its target back";
}

TEST(PlanTarget, AHostIsTheSameShortAndQualified) {
  const auto host = [](std::string name) {
    Entity entity;
    entity.kind = EntityKind::kHost;
    entity.host = std::move(name);
    return entity;
  };
  EXPECT_TRUE(same_target(host("GPU-17"), host("gpu-17.example.org")));
  EXPECT_FALSE(same_target(host("gpu-17"), host("gpu-18")));
}

TEST(Entity, IsTheSameExactlyWhenItsIdentityIs) {
  std::vector<Entity> entities;
  for (int kind = 0; kind <= static_cast<int>(EntityKind::kHost); ++kind)
    for (unsigned variant = 0; variant < 64; ++variant) {
      Entity entity;
      entity.kind = static_cast<EntityKind>(kind);
      entity.fabric = (variant & 1) != 0 ? "a" : "b";
      entity.port = {{(variant & 2) != 0 ? 1U : 2U}, {static_cast<std::uint8_t>((variant & 4) != 0 ? 1 : 2)}};
      entity.peer = {{3}, {static_cast<std::uint8_t>((variant & 8) != 0 ? 1 : 2)}};
      entity.host = (variant & 16) != 0 ? "h" : "i";
      entity.device = (variant & 32) != 0 ? "mlx5_0" : "mlx5_1";
      entity.label = std::to_string(variant);
      entities.push_back(entity);
    }
  for (const Entity& a : entities)
    for (const Entity& b : entities)
      ASSERT_EQ(a.same_as(b), a.identity() == b.identity()) << a.identity() << ' ' << b.identity();
}

}  // namespace
}  // namespace weft
