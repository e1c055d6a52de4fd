// SPDX-License-Identifier: Apache-2.0
// Which links of dragonflies, tori and rails may be isolated, by whom, and why not.

#include <gtest/gtest.h>

#include "tests/fakes/shapes.hpp"
#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

RemedySettings with_engine(RoutingEngine engine) {
  RemedySettings settings = automatic();
  settings.routing_engine = engine;
  settings.limits.budget.out_per_switch = 8;
  return settings;
}

fakes::FabricBuilder asked_through(fakes::ShapeBuilder&& b, const std::string& host) {
  b.fabric().set_local_port(b.fabric().key_of(b.fabric().port_of(host, 1)));
  return std::move(b.fabric());
}

struct Direct : Book {
  Direct(fakes::ShapeBuilder&& b, RoutingEngine engine)
      : Direct(std::move(b), "s-1-1-host mlx5_0", with_engine(engine)) {}
  Direct(fakes::ShapeBuilder&& b, const std::string& host, RemedySettings with)
      : Book(asked_through(std::move(b), host), std::move(with)) {}

  void down(const std::string& a, const std::string& b) { fabric.unlink(fabric.port_towards(a, b)); }
  Plan bad(const std::string& a, const std::string& b) {
    const std::uint64_t id = errors(a, b);
    fabric.route();
    fabric.advance(1s);
    book->review(look());
    return plan(id);
  }
  GuardResult result(const Plan& of, Guard guard) const { return verdict(of, guard).result; }
  const std::string& why(const Plan& of, Guard guard) const { return verdict(of, guard).explanation; }

  // Everything that is ordered is done, and the subnet manager routes round it.
  void run(unsigned sweeps) {
    for (unsigned i = 0; i < sweeps; ++i) {
      fabric.advance(1s);
      const RemedyView view = look();
      for (int round = 0; round < 4; ++round) {
        book->review(view);
        for (const RemedyOrder& order : orders()) {
          if (order.kind == OrderKind::kRead) {
            book->answer_reading(order.number, TargetReading{state, ""}, fabric.now());
            continue;
          }
          state = TargetState::kOurs;
          book->answer_action(order.number, {}, fabric.now());
          fabric.unlink(fabric.topology()->find_port(order.target.port));
          fabric.route();
        }
      }
    }
  }
  TargetState state = TargetState::kClear;
};

TEST(Dragonflies, GlobalLinksAreIsolatedWhereTheRoutingIsKnownAndEnoughIsLeft) {
  Direct b(fakes::dragonfly(5, 8, 4), RoutingEngine::kDfsssp);
  const Plan plan = b.bad("s-1-0", "s-0-1");
  EXPECT_EQ(plan.approved_by, "weftd");
  EXPECT_EQ(b.result(plan, Guard::kRouting), GuardResult::kPassed);
  EXPECT_EQ(b.why(plan, Guard::kBisection),
            "the links between the groups of s-0-0 and s-1-0 would keep 3 of 4; 3 are needed "
            "(remedy.limits.capacity.leaf_share_idle)");
  EXPECT_EQ(b.result(plan, Guard::kLeafCapacity), GuardResult::kNotNeeded);
  EXPECT_EQ(b.why(plan, Guard::kReachability), "s-0-1 and s-1-0 keep a path to each other, and so do all hosts");
  b.run(4);
  EXPECT_EQ(b.plan(1).state, PlanState::kCommitted) << b.plan(1).outcome;
}

TEST(Dragonflies, OfUnknownRoutingWaitForAPerson) {
  for (const RoutingEngine engine : {RoutingEngine::kUnknown, RoutingEngine::kMinHop, RoutingEngine::kUpDn,
                                     RoutingEngine::kFatTree, RoutingEngine::kTorus2Qos}) {
    Direct b(fakes::dragonfly(5, 8, 4), engine);
    const Plan plan = b.bad("s-1-0", "s-0-1");
    EXPECT_EQ(plan.state, PlanState::kProposed) << to_string(engine);
    EXPECT_EQ(b.result(plan, Guard::kRouting), GuardResult::kNeedsPerson) << to_string(engine);
    const auto approved = b.book->approve(1, plan.revision, "ann", b.look());
    EXPECT_TRUE(approved) << approved.error().message;
  }
}

TEST(Dragonflies, KeepTheirShareOfGlobalLinks) {
  Direct b(fakes::dragonfly(5, 8, 4), RoutingEngine::kNue);
  b.down("s-0-2", "s-2-0");
  b.down("s-0-3", "s-2-1");
  b.down("s-0-3", "s-3-0");
  b.down("s-0-4", "s-4-0");
  const Plan plan = b.bad("s-1-0", "s-0-1");
  EXPECT_EQ(b.result(plan, Guard::kBisection), GuardResult::kRefused);
  EXPECT_EQ(b.why(plan, Guard::kBisection),
            "the global links of the group of s-0-0 would keep 11 of 16; 12 are needed "
            "(remedy.limits.capacity.leaf_share_idle)");
}

TEST(Dragonflies, KeepMoreWhereJobsRun) {
  Direct b(fakes::dragonfly(5, 8, 4), RoutingEngine::kNue);
  auto reading = std::make_shared<HostReading>();
  reading->jobs = {"slurm:1"};
  auto host = std::make_shared<HostView>();
  host->host = "s-0-0-host";
  host->reading = std::move(reading);
  b.hosts.push_back(std::move(host));
  EXPECT_EQ(b.why(b.bad("s-0-0", "s-0-1"), Guard::kBisection),
            "the local links of s-0-0 would keep 6 of 7; 7 are needed (remedy.limits.capacity.leaf_share_jobs)");
  const Plan other = b.bad("s-2-0", "s-2-1");
  EXPECT_EQ(b.result(other, Guard::kBisection), GuardResult::kPassed) << b.why(other, Guard::kBisection);
}

TEST(Dragonflies, TheLastLinkOfTwoGroupsWaitsForAPerson) {
  Direct b(fakes::dragonfly(9, 4, 1), RoutingEngine::kDfsssp);
  const Plan plan = b.bad("s-1-0", "s-0-1");
  EXPECT_EQ(plan.state, PlanState::kProposed);
  EXPECT_EQ(b.result(plan, Guard::kBisection), GuardResult::kNeedsPerson);
  EXPECT_EQ(b.why(plan, Guard::kBisection),
            "the links between the groups of s-0-0 and s-1-0 would keep 0 of 1; 1 are needed "
            "(remedy.limits.capacity.leaf_share_idle); there is a detour through "
            "other groups: only a person may approve it");
  const auto approved = b.book->approve(1, plan.revision, "ann", b.look());
  EXPECT_TRUE(approved) << approved.error().message;
}

TEST(Dragonflies, LocalLinksKeepTheirShareOfSwitchesAndGroups) {
  Direct small(fakes::dragonfly(9, 4, 1), RoutingEngine::kDfsssp);
  const Plan refused = small.bad("s-0-0", "s-0-1");
  EXPECT_EQ(small.result(refused, Guard::kBisection), GuardResult::kRefused);
  EXPECT_EQ(small.why(refused, Guard::kBisection),
            "the local links of s-0-0 would keep 2 of 3; 3 are needed (remedy.limits.capacity.leaf_share_idle)");

  Direct plus(fakes::dragonfly_plus(5, 4, 4), "leaf-1-1-host mlx5_0", with_engine(RoutingEngine::kDfsssp));
  const Plan first = plus.bad("leaf-0-0", "spine-0-0");
  EXPECT_EQ(first.approved_by, "weftd") << plus.why(first, Guard::kBisection);
  plus.run(4);
  EXPECT_EQ(plus.plan(1).state, PlanState::kCommitted) << plus.plan(1).outcome;
  const Plan second = plus.bad("leaf-0-0", "spine-0-1");
  EXPECT_EQ(plus.why(second, Guard::kBisection),
            "the local links of leaf-0-0 would keep 2 of 4; 3 are needed (remedy.limits.capacity.leaf_share_idle)");
}

TEST(Dragonflies, WhatHangsOnOneCableIsNotCutOff) {
  fakes::ShapeBuilder built = fakes::dragonfly(9, 4, 1);
  built.join(built.add("tail", true), built.fabric().find("s-0-0"));
  Direct b(std::move(built), RoutingEngine::kDfsssp);
  EXPECT_EQ(b.bad("tail", "s-0-0").approved_by, "");
  EXPECT_TRUE(b.plan(1).refused());
}

TEST(Dragonflies, TheLastCableOfASwitchIsNotTaken) {
  Direct b(fakes::dragonfly(9, 4, 1), RoutingEngine::kDfsssp);
  const PortIndex last = b.fabric.port_towards("s-0-0", "s-0-1");
  const Node node = b.fabric.nodes()[b.fabric.find("s-0-0")];
  for (PortIndex port = node.first_port; port < node.first_port + node.port_entries(); ++port) {
    const PortIndex peer = b.fabric.ports()[port].peer;
    if (port == last || peer == kNoIndex) continue;
    if (b.fabric.nodes()[b.fabric.ports()[peer].node].type == NodeType::kSwitch) b.fabric.unlink(port);
  }
  const Plan plan = b.bad("s-0-0", "s-0-1");
  EXPECT_EQ(b.result(plan, Guard::kReachability), GuardResult::kRefused);
  EXPECT_EQ(b.why(plan, Guard::kReachability), "s-0-0 and s-0-1 would have no path to each other");
}

TEST(Tori, AreIsolatedByThemselvesOnlyAsTorus2QosPromises) {
  for (const RoutingEngine engine : {RoutingEngine::kUnknown, RoutingEngine::kDfsssp, RoutingEngine::kMinHop}) {
    Direct b(fakes::torus(6, 5, 1), "s-1-1-0-host mlx5_0", with_engine(engine));
    const Plan plan = b.bad("s-0-0-0", "s-1-0-0");
    EXPECT_EQ(plan.state, PlanState::kProposed) << to_string(engine);
    EXPECT_EQ(b.result(plan, Guard::kRouting), GuardResult::kNeedsPerson);
    EXPECT_EQ(b.why(plan, Guard::kBisection),
              "the cables between two halves of the torus, across s-0-0-0 - s-1-0-0 would keep 9 of 10; 8 are needed "
              "(remedy.limits.capacity.leaf_share_idle)");
    EXPECT_TRUE(b.book->approve(1, plan.revision, "ann", b.look()));
  }
  Direct dor(fakes::torus(6, 5, 1), "s-1-1-0-host mlx5_0", with_engine(RoutingEngine::kDor));
  EXPECT_EQ(dor.result(dor.bad("s-0-0-0", "s-1-0-0"), Guard::kRouting), GuardResult::kRefused);

  Direct b(fakes::torus(6, 5, 1), "s-1-1-0-host mlx5_0", with_engine(RoutingEngine::kTorus2Qos));
  const Plan plan = b.bad("s-0-0-0", "s-1-0-0");
  EXPECT_EQ(plan.approved_by, "weftd") << b.why(plan, Guard::kRouting);
  b.run(4);
  EXPECT_EQ(b.plan(1).state, PlanState::kCommitted) << b.plan(1).outcome;
  const Plan again = b.bad("s-3-0-0", "s-4-0-0");
  EXPECT_EQ(b.result(again, Guard::kRouting), GuardResult::kRefused);
  EXPECT_EQ(
      b.why(again, Guard::kRouting),
      "its ring would be broken at 2 places: torus-2QoS routes round one, and refuses a torus with a ring in pieces");
  const auto asked = b.book->request(RemedyAction::kIsolateLink, b.link("s-4-0-0", "s-5-0-0"), "", "ann", b.look());
  EXPECT_FALSE(asked) << "nor for a person";
}

TEST(Tori, OneOfTwoCablesBreaksNoRing) {
  Direct b(fakes::torus(6, 5, 1, 2), "s-1-1-0-host mlx5_0", with_engine(RoutingEngine::kTorus2Qos));
  b.down("s-3-0-0", "s-4-0-0");
  b.down("s-3-0-0", "s-4-0-0");
  const Plan plan = b.bad("s-0-0-0", "s-1-0-0");
  EXPECT_EQ(b.result(plan, Guard::kRouting), GuardResult::kPassed) << b.why(plan, Guard::kRouting);
  b.down("s-0-0-0", "s-1-0-0");
  const Plan last = b.bad("s-0-0-0", "s-5-0-0");
  EXPECT_EQ(b.result(last, Guard::kRouting), GuardResult::kPassed) << b.why(last, Guard::kRouting);
}

TEST(Tori, RingsOfFourAreForAPerson) {
  Direct b(fakes::torus(4, 5, 6), "s-1-1-0-host mlx5_0", with_engine(RoutingEngine::kTorus2Qos));
  const Plan four = b.bad("s-0-0-0", "s-1-0-0");
  EXPECT_EQ(b.result(four, Guard::kRouting), GuardResult::kNeedsPerson);
  EXPECT_EQ(b.result(b.bad("s-0-0-0", "s-0-1-0"), Guard::kRouting), GuardResult::kPassed);
}

// The subnet manager of before may have seen cables that weftd never did.
TEST(Tori, WithAnUnknownGapAreLeftAlone) {
  fakes::ShapeBuilder built = fakes::torus(6, 5, 1);
  built.cut(built.fabric().port_towards("s-3-3-0", "s-4-3-0"));
  Direct b(std::move(built), "s-1-1-0-host mlx5_0", with_engine(RoutingEngine::kTorus2Qos));
  const Plan plan = b.bad("s-0-0-0", "s-1-0-0");
  EXPECT_EQ(b.result(plan, Guard::kAlternative), GuardResult::kNeedsPerson);
  EXPECT_NE(b.why(plan, Guard::kAlternative).find("not all of whose cables are known"), std::string::npos);
  EXPECT_EQ(b.result(plan, Guard::kReachability), GuardResult::kRefused) << "what would be left cannot be told";
}

TEST(Tori, AGapThatAnIncidentTellsOfCounts) {
  Direct b(fakes::torus(6, 5, 1), "s-1-1-0-host mlx5_0", with_engine(RoutingEngine::kTorus2Qos));
  b.errors("s-3-0-0", "s-4-0-0");
  b.settings.modes.fill(RemedyMode::kPropose);
  b.book.emplace(b.settings, RemedyMemory{}, b.fabric.now());
  b.down("s-3-0-0", "s-4-0-0");
  b.fabric.rediscover();  // a port that is down has no peer then
  const Plan plan = b.bad("s-0-0-0", "s-1-0-0");
  EXPECT_EQ(b.result(plan, Guard::kAlternative), GuardResult::kPassed) << b.why(plan, Guard::kAlternative);
  EXPECT_EQ(b.result(plan, Guard::kRouting), GuardResult::kRefused) << b.why(plan, Guard::kRouting);
}

TEST(RoutingEngines, TablesFromAFileLeadRoundNothing) {
  Book b(with_engine(RoutingEngine::kFile));
  b.errors("leaf-0", "spine-0");
  b.book->review(b.look());
  EXPECT_EQ(b.verdict(b.plan(1), Guard::kRouting).result, GuardResult::kRefused);
  Book tree(with_engine(RoutingEngine::kUnknown));
  tree.errors("leaf-0", "spine-0");
  tree.book->review(tree.look());
  EXPECT_EQ(tree.verdict(tree.plan(1), Guard::kRouting).result, GuardResult::kNotNeeded);
  EXPECT_EQ(tree.plan(1).approved_by, "weftd");
}

TEST(RoutingEngines, HaveTheNamesOfOpensm) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(RoutingEngine::kCount); ++i) {
    const auto engine = static_cast<RoutingEngine>(i);
    EXPECT_EQ(parse_routing_engine(to_string(engine)), engine);
  }
  EXPECT_EQ(parse_routing_engine("torus-2QoS"), RoutingEngine::kTorus2Qos);
  EXPECT_FALSE(parse_routing_engine("torus-2qos"));
}

TEST(Rails, AreJudgedEachByItsOwnTree) {
  Direct b(fakes::rail_only(4, 4, 8), "gpu-3-1 mlx5_3", with_engine(RoutingEngine::kUnknown));
  // Elsewhere hardly anything is left.
  for (const char* spine : {"spine-1-0", "spine-1-1", "spine-1-2", "spine-1-3", "spine-1-4", "spine-1-5", "spine-1-6"})
    b.down("leaf-1-0", spine);
  const Plan plan = b.bad("leaf-0-0", "spine-0-0");
  EXPECT_NE(b.why(plan, Guard::kAlternative).find("rail-only trees"), std::string::npos)
      << b.why(plan, Guard::kAlternative);
  for (const Guard guard : {Guard::kReachability, Guard::kLeafCapacity, Guard::kJobCapacity, Guard::kRailCapacity})
    EXPECT_EQ(b.result(plan, guard), GuardResult::kPassed) << b.why(plan, guard);
  const Plan other = b.bad("leaf-1-1", "spine-1-7");
  EXPECT_EQ(b.why(other, Guard::kReachability), "leaf-1-1 and leaf-1-0 would have no path to each other")
      << "its hosts would lose their rail";
  const Plan own = b.bad("leaf-1-2", "spine-1-0");
  EXPECT_EQ(b.result(own, Guard::kRailCapacity), GuardResult::kRefused) << b.why(own, Guard::kRailCapacity);
}

}  // namespace
}  // namespace weft::analyzer
