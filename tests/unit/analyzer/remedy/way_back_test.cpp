// SPDX-License-Identifier: Apache-2.0
// What a plan that is over says of the way back: who holds its target now, since when, and which command helps.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/remedy/plan_texts.hpp"
#include "tests/unit/analyzer/remedy/probation.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

/// PLAN-2 failed, and holds the link again.
struct HeldAgain : Probation {
  explicit HeldAgain(int up_for) {
    if (up_for > 0) comes_up(up_for);
    EXPECT_TRUE(book->abort(2, "wrong cable", "bob", fabric.now()));
    tell(TargetState::kClear);
    act();
    fabric.unlink(end);
    fabric.route();
    tell(TargetState::kOurs);
    EXPECT_TRUE(plan(2).in_force) << plan(2).outcome;
  }
};

TEST(WayBack, OfWhatAReturnHoldsAgainIsToRestoreIt) {
  HeldAgain b(5);
  const std::string way =
      ". It is held again by its return PLAN-2, which did not last. To undo it: weftctl restore \"" + b.target.label +
      "\" --reason ...";
  EXPECT_THAT(b.book->abort(1, "", "ann", b.fabric.now()).error().message, EndsWith(way));
  EXPECT_THAT(b.book->reject(1, "", "ann", b.fabric.now()).error().message, EndsWith(way));
  EXPECT_THAT(b.book->approve(1, 0, "ann", b.look()).error().message, EndsWith(way));
  EXPECT_TRUE(b.book->preview(RemedyAction::kRestoreLink, b.target, "", "ann", b.look())) << "as it says";
}

TEST(WayBack, OfAReturnWhoseLinkStaysInServiceIsNotToRestoreIt) {
  Probation b;
  b.comes_up(5);
  b.book->set_other_actors(b.fabric.name(), "installation ffff", b.fabric.now());
  b.fabric.unlink(b.end);
  b.fabric.route();
  b.sweeps(1);
  b.tell(TargetState::kClear);
  ASSERT_EQ(b.plan(2).state, PlanState::kFailed) << b.plan(2).outcome;
  EXPECT_TRUE(is_about_breaker(own_words(b.plan(2)))) << b.plan(2).outcome;
  EXPECT_THAT(b.book->reject(2, "", "ann", b.fabric.now()).error().message,
              EndsWith(". Weft does not hold it any more. To take it out again: weftctl isolate \"" + b.target.label +
                       "\" --reason ..., after weftctl breaker reset --reason ..."));
}

TEST(WayBack, OfAReturnThatSomebodyElseObstructsIsTheirs) {
  Isolated b;
  ASSERT_TRUE(b.book->request(RemedyAction::kRestoreLink, b.target, "", "ann", b.look()));
  b.tell(TargetState::kOurs);
  b.act();
  for (int i = 0; i < 2; ++i) {
    b.tell(TargetState::kForeign);
    b.fabric.advance(b.settings.limits.reading_interval);
  }
  ASSERT_EQ(b.plan(2).state, PlanState::kFailed) << b.plan(2).outcome;
  EXPECT_THAT(b.book->reject(2, "", "ann", b.fabric.now()).error().message,
              EndsWith(". Weft does not hold it any more: it is back when the end is enabled that somebody else "
                       "disabled"));
}

TEST(HeldSince, WhatCameBackIsOutSinceItWentOutAgain) {
  HeldAgain b(5);
  EXPECT_EQ(b.plan(2).held_since, b.plan(2).finished);
  EXPECT_EQ(b.plan(1).held_since, kNever) << "it holds nothing";
}

TEST(HeldSince, WhatNeverCameBackIsOutSinceItWasTakenOut) {
  HeldAgain b(0);
  EXPECT_EQ(b.plan(2).held_since, b.plan(1).started);
}

// A cost is set back, and a host undrained, at once; a link comes up later, or not.
TEST(HeldSince, ACostThatWasSetBackWasNotRaisedMeanwhile) {
  Book b;
  for (const bool was_set_back : {true, false}) {
    Plan raised;
    raised.id = 1;
    raised.state = PlanState::kCommitted;
    raised.action = RemedyAction::kRaiseLinkCost;
    raised.target = b.link("leaf-1", "spine-0");
    raised.actuator = "fake";
    raised.requested_by = "ann";
    raised.started = raised.finished = b.fabric.now() - 2h;
    Plan back = raised;
    back.id = 2;
    back.state = PlanState::kRolledBack;
    back.action = RemedyAction::kRestoreLink;
    back.inverse = RemedyAction::kRaiseLinkCost;
    back.undoes = 1;
    back.in_force = true;
    back.finished = b.fabric.now() - 1h;
    if (was_set_back) back.steps = {{back.started, PlanState::kVerifying, "weftd", "it was carried out"}};
    RemedyMemory memory;
    memory.plans = {raised, back};
    b.book.emplace(b.settings, memory, b.fabric.now());
    EXPECT_EQ(b.plan(2).held_since, was_set_back ? back.finished : raised.started);
  }
}

TEST(NotOurs, ALinkThatNobodyActivatesIsNotSaidToBeTakenOutByOthers) {
  Probation b;
  b.managers["test"] = ManagerSign::kSilent;
  b.fabric.relink(b.end, PortState::kInitialize);
  b.fabric.route();
  b.sweeps(3);
  ASSERT_TRUE(b.book->leave(2, "OpenSM is gone", "ann", b.look()));
  const auto again = b.book->preview(RemedyAction::kRestoreLink, b.target, "", "ann", b.look());
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("the subnet manager does not answer, and activates no link"));
  EXPECT_THAT(again.error().message, Not(HasSubstr("somebody else")));
}

TEST(ByHand, IsWhatFailedTooOftenAfterItsReturn) {
  Book b;
  Plan out;
  out.id = 1;
  out.state = PlanState::kCommitted;
  out.action = RemedyAction::kIsolateLink;
  out.target = b.link("leaf-1", "spine-0");
  out.actuator = "fake";
  out.requested_by = out.approved_by = kOurselves;
  out.incident = 1;
  out.started = out.finished = b.fabric.now() - 3h;
  RemedyMemory memory;
  memory.plans = {out};
  for (const std::uint64_t id : {2, 3}) {
    Plan back = out;
    back.id = id;
    back.action = RemedyAction::kRestoreLink;
    back.state = PlanState::kRolledBack;
    back.undoes = id - 1;
    back.started = back.finished = out.started + id * 1min;
    back.in_force = id == 3;
    memory.plans.push_back(back);
  }
  b.book.emplace(b.settings, memory, b.fabric.now());
  b.book->review(b.look());
  EXPECT_TRUE(b.plan(3).only_by_hand);
  EXPECT_EQ(b.plan(3).return_after, kNever) << "nothing follows";
  memory.plans.erase(memory.plans.begin() + 1);
  memory.plans[1].undoes = 1;
  b.book.emplace(b.settings, memory, b.fabric.now());
  b.book->review(b.look());
  EXPECT_FALSE(b.plan(3).only_by_hand);
  EXPECT_NE(b.plan(3).return_after, kNever);
}

TEST(Held, IsNotWhatAPlanHasSentNothingFor) {
  Book b;
  ASSERT_TRUE(b.book->request(RemedyAction::kIsolateLink, b.link("leaf-1", "spine-0"), "why", "ann", b.look()));
  b.book->review(b.look());
  ASSERT_EQ(b.plan(1).state, PlanState::kExecuting);
  EXPECT_EQ(b.book->status(b.fabric.now()).out_of_service, 0U);
  b.answer(TargetState::kClear);
  b.book->review(b.look());
  ASSERT_EQ(b.plan(1).intent, PlanIntent::kApply);
  EXPECT_EQ(b.book->status(b.fabric.now()).out_of_service, 1U);
}

TEST(AnIsolation, OfALinkWithARaisedCostNamesTheWay) {
  Book b;
  Plan raised;
  raised.id = 1;
  raised.state = PlanState::kCommitted;
  raised.action = RemedyAction::kRaiseLinkCost;
  raised.target = b.link("leaf-1", "spine-0");
  raised.actuator = "fake";
  raised.requested_by = "ann";
  raised.started = raised.finished = b.fabric.now() - 2h;
  raised.in_force = true;
  RemedyMemory memory;
  memory.plans = {raised};
  b.book.emplace(b.settings, memory, b.fabric.now());
  const auto wish = b.book->preview(RemedyAction::kIsolateLink, raised.target, "", "ann", b.look());
  ASSERT_FALSE(wish);
  EXPECT_THAT(wish.error().message,
              HasSubstr("lower its cost first: weftctl lower-cost \"" + raised.target.label + "\" --reason ..."));
}

TEST(Guards, SayOfAnAccessLinkThatNoRouteLeadsRoundIt) {
  Book b;
  const auto swept = b.fabric.topology();
  const Topology& topology = *swept;
  Entity access;
  for (PortIndex port = 0; port < topology.ports().size() && access.port == PortKey{}; ++port) {
    const PortIndex peer = topology.port(port).peer;
    if (peer == kNoIndex || topology.node_of(topology.port(port)).type != NodeType::kSwitch ||
        topology.node_of(topology.port(peer)).type == NodeType::kSwitch)
      continue;
    access = b.link(topology.node_of(topology.port(port)).name, topology.node_of(topology.port(peer)).name);
  }
  const auto wish = b.book->preview(RemedyAction::kIsolateLink, access, "", "ann", b.look());
  ASSERT_TRUE(wish) << wish.error().message;
  EXPECT_THAT(b.verdict(*wish, Guard::kRouting).explanation, HasSubstr("guard ALTERNATIVE judges that"));
  const auto between = b.book->preview(RemedyAction::kIsolateLink, b.link("leaf-0", "spine-0"), "", "ann", b.look());
  ASSERT_TRUE(between) << between.error().message;
  EXPECT_THAT(b.verdict(*between, Guard::kRouting).explanation, HasSubstr("guard REACHABILITY judges that"));
}

TEST(Guards, SayOfAPersonsOrderThatAPersonGaveIt) {
  Isolated b;
  b.settings.modes[static_cast<std::size_t>(RemedyAction::kRestoreLink)] = RemedyMode::kAuto;
  b.settings.actuators[static_cast<std::size_t>(RemedyAction::kRestoreLink)] = "fake";
  RemedyMemory memory;
  memory.plans = {b.plan(1)};
  b.book.emplace(b.settings, memory, b.fabric.now());
  const auto wish = b.book->preview(RemedyAction::kRestoreLink, b.target, "", "ann", b.look());
  ASSERT_TRUE(wish) << wish.error().message;
  EXPECT_EQ(b.verdict(*wish, Guard::kEnabled).explanation, "RESTORE_LINK is ordered by a person");
}

}  // namespace
}  // namespace weft::analyzer
