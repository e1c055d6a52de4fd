// SPDX-License-Identifier: Apache-2.0
// Links that stay up while the subnet manager avoids them.

#include <gtest/gtest.h>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

RemedySettings costly() {
  RemedySettings settings;
  settings.modes.fill(RemedyMode::kAuto);
  settings.limits.capacity.leaf_share_idle = 0.8;  // of eight ways seven are needed
  return settings;
}

struct Slow : Book {
  Slow() : Book(costly()) {
    settings.limits.verification.windows = 6;  // it is seen slow again long before
    book.emplace(settings, RemedyMemory{}, fabric.now());
  }

  std::uint64_t slow(const std::string& a, const std::string& b) {
    const std::uint64_t id = errors(a, b);
    auto incident = std::make_shared<Incident>(*incidents.back());
    incident->finding.kind = IncidentKind::kLinkDegraded;
    incidents.back() = incident;
    return id;
  }
  // The link is as slow as before in every sweep that sees it.
  void seen_again() {
    auto incident = std::make_shared<Incident>(*incidents.back());
    for (Evidence& evidence : incident->finding.evidence) evidence.observed = fabric.now();
    incidents.back() = incident;
  }
  // Its incident is over.
  void mend() {
    auto incident = std::make_shared<Incident>(*incidents.back());
    incident->state = IncidentState::kResolved;
    incident->resolved = fabric.now();
    incidents.back() = incident;
  }
  // Everything that is ordered is done, for so many sweeps.
  void run(unsigned sweeps) {
    for (unsigned i = 0; i < sweeps; ++i) {
      fabric.advance(1s);
      if (!incidents.empty() && incidents.back()->is_open()) seen_again();
      const RemedyView view = look();
      for (int round = 0; round < 4; ++round) {
        book->review(view);
        for (const RemedyOrder& order : orders()) {
          if (order.kind == OrderKind::kRead) {
            book->answer_reading(order.number, TargetReading{state, ""}, fabric.now());
          } else {
            state = takes_out(order.action) ? TargetState::kOurs : TargetState::kClear;
            book->answer_action(order.number, {}, fabric.now());
            if (takes_out(order.action)) avoid(order.target);
          }
        }
      }
    }
  }
  // As a subnet manager does it: nothing leads over the link, which stays up.
  void avoid(const Entity& link) {
    const auto topology = fabric.topology();
    const PortIndex end = topology->find_port(link.port);
    fabric.unlink(end);
    fabric.route();
    fabric.relink(end);
  }

  TargetState state = TargetState::kClear;
};

TEST(CostlyLinks, ThatItIsAsSlowAsBeforeIsNoReasonToRollBack) {
  Slow b;
  b.slow("leaf-0", "spine-0");
  b.run(15);
  EXPECT_EQ(b.plan(1).state, PlanState::kCommitted) << b.plan(1).outcome;
  EXPECT_TRUE(b.plan(1).in_force);
}

TEST(CostlyLinks, WhatIsAvoidedIsNoWayForAnybody) {
  Slow b;
  b.slow("leaf-0", "spine-0");
  b.run(15);
  ASSERT_EQ(b.plan(1).state, PlanState::kCommitted) << b.plan(1).outcome;
  const auto refused =
      b.book->request(RemedyAction::kIsolateLink, b.link("leaf-0", "spine-1"), "looks bad", "ann", b.look());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("leaf-0 would keep 6 of 8 uplink paths; 7 are needed"), std::string::npos)
      << refused.error().message;
  b.incidents.clear();
  b.slow("leaf-0", "spine-2");
  b.run(2);
  const auto plans = b.book->all();
  EXPECT_EQ(plans->back()->action, RemedyAction::kRaiseLinkCost);
  EXPECT_EQ(b.verdict(*plans->back(), Guard::kLeafCapacity).result, GuardResult::kRefused)
      << "that it stays up helps nobody who may not use it";
}

TEST(CostlyLinks, IsTheLastWayOfWhoHasNoOther) {
  Slow b;
  b.slow("leaf-0", "spine-0");
  b.run(15);
  ASSERT_EQ(b.plan(1).state, PlanState::kCommitted) << b.plan(1).outcome;
  for (int spine = 1; spine < 8; ++spine)
    b.fabric.unlink(b.fabric.port_towards("leaf-0", "spine-" + std::to_string(spine)));
  b.fabric.route();
  const auto refused =
      b.book->request(RemedyAction::kIsolateLink, b.link("leaf-1", "spine-0"), "looks bad", "ann", b.look());
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.starts_with("REACHABILITY: leaf-")) << refused.error().message;
  EXPECT_TRUE(b.book->request(RemedyAction::kIsolateLink, b.link("leaf-1", "spine-1"), "looks bad", "ann", b.look()))
      << "nobody needs that one";
}

TEST(CostlyLinks, ComesBackWhenItIsWellAndNotBefore) {
  Slow b;
  b.slow("leaf-0", "spine-0");
  b.run(15);
  ASSERT_EQ(b.plan(1).state, PlanState::kCommitted) << b.plan(1).outcome;
  b.fabric.advance(b.settings.limits.reinstate_after + 1h);
  b.run(2);
  EXPECT_FALSE(b.book->find(2)) << "it is known to be slow";
  b.mend();
  b.run(1);
  EXPECT_FALSE(b.book->find(2)) << "it was slow a moment ago";
  b.fabric.advance(b.settings.limits.undrain_after);
  b.fabric.unlink(b.fabric.port_towards("leaf-0", "spine-0"));
  b.run(1);
  EXPECT_FALSE(b.book->find(2)) << "what is down is not well";
  b.fabric.relink(b.fabric.port_towards("leaf-0", "spine-0"));
  b.run(3);
  ASSERT_TRUE(b.book->find(2));
  EXPECT_EQ(b.plan(2).action, RemedyAction::kRestoreLink);
  EXPECT_EQ(b.plan(2).undoes, 1U);
  EXPECT_EQ(b.plan(2).state, PlanState::kVerifying);
}

TEST(CostlyLinks, DoesNotComeBackWhileAnotherIncidentIsOpenAtOneOfItsEnds) {
  Slow b;
  b.slow("leaf-0", "spine-0");
  b.run(15);
  ASSERT_EQ(b.plan(1).state, PlanState::kCommitted) << b.plan(1).outcome;
  b.mend();
  const auto port = std::make_shared<Incident>(*b.incidents.back());
  port->id = 2;
  port->state = IncidentState::kOpen;
  port->resolved = kNever;
  port->finding.cause.kind = EntityKind::kPort;
  port->finding.cause.peer = {};
  b.incidents.push_back(port);
  b.fabric.advance(b.settings.limits.undrain_after + 1h);
  b.run(3);
  for (const PlanPtr& plan : *b.book->all()) EXPECT_NE(plan->action, RemedyAction::kRestoreLink);
}

TEST(CostlyLinks, ThePlanSaysWhetherItAndWhatElseCouldBeDoneIsAllowed) {
  Slow b;
  b.settings.modes[static_cast<std::size_t>(RemedyAction::kRaiseLinkCost)] = RemedyMode::kPropose;
  b.settings.modes[static_cast<std::size_t>(RemedyAction::kIsolateLink)] = RemedyMode::kOff;
  b.book.emplace(b.settings, RemedyMemory{}, b.fabric.now());
  b.slow("leaf-0", "spine-0");
  b.book->review(b.look());
  ASSERT_EQ(b.plan(1).candidates.size(), 3U);
  for (const Candidate& candidate : b.plan(1).candidates)
    EXPECT_EQ(candidate.allowed, candidate.action != RemedyAction::kIsolateLink) << to_string(candidate.action);
}

// Raised by hand, as the file of hop weights tells: a plan would only find that out, and end.
TEST(CostlyLinks, OneThatSomebodyElseRaisedIsNotRaised) {
  Slow b;
  const Entity target = b.link("leaf-0", "spine-0");
  const auto wish = [&] { return b.book->preview(RemedyAction::kRaiseLinkCost, target, "why", "ann", b.look()); };
  b.book->set_avoided_ports("another", {{target.port}, *b.look().steady});
  EXPECT_TRUE(wish()) << "another one's list is no matter of this one";
  b.book->set_avoided_ports("fake", {{target.peer}, *b.look().steady});
  const auto refused = wish();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(
      refused.error().message,
      "the cost of leaf-0 - spine-0 is raised already, and not by Weft (as fake tells): there is nothing to raise");
}

// The list is read once a minute: it still has the link whose cost Weft set back since.
TEST(CostlyLinks, OneThatWasSetBackLatelyMayBeRaised) {
  Slow b;
  b.settings.limits.verification.probation = 10s;
  b.book.emplace(b.settings, RemedyMemory{}, b.fabric.now());
  b.slow("leaf-0", "spine-0");
  b.run(15);
  ASSERT_EQ(b.plan(1).state, PlanState::kCommitted) << b.plan(1).outcome;
  const Entity target = b.link("leaf-0", "spine-0");
  b.mend();
  ASSERT_TRUE(b.book->request(RemedyAction::kRestoreLink, target, "", "ann", b.look(), true));
  b.run(30);
  ASSERT_EQ(b.plan(2).state, PlanState::kCommitted) << b.plan(2).outcome;
  b.book->set_avoided_ports("fake", {{target.port}, *b.look().steady});
  EXPECT_TRUE(b.book->preview(RemedyAction::kRaiseLinkCost, target, "why", "ann", b.look()));
  b.fabric.advance(3min);
  EXPECT_FALSE(b.book->preview(RemedyAction::kRaiseLinkCost, target, "why", "ann", b.look()));
}

TEST(CostlyLinks, ARoutingEngineThatFollowsNoHopWeightsRefuses) {
  for (const RoutingEngine engine : {RoutingEngine::kUnknown, RoutingEngine::kMinHop, RoutingEngine::kUpDn}) {
    RemedySettings settings = costly();
    settings.actuators[static_cast<std::size_t>(RemedyAction::kRaiseLinkCost)] = "opensm_weights";
    settings.routing_engine = engine;
    Book b(settings);
    b.settings = settings;
    b.book.emplace(settings, RemedyMemory{}, b.fabric.now());
    const auto plan =
        b.book->preview(RemedyAction::kRaiseLinkCost, b.link("leaf-1", "spine-0"), "why", "ann", b.look());
    ASSERT_TRUE(plan) << plan.error().message;
    const GuardVerdict& routing = b.verdict(*plan, Guard::kRouting);
    EXPECT_EQ(routing.result == GuardResult::kRefused, engine == RoutingEngine::kUpDn) << routing.explanation;
  }
}

}  // namespace
}  // namespace weft::analyzer
