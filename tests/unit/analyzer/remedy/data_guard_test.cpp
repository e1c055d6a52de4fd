// SPDX-License-Identifier: Apache-2.0
// Whose absence stops what: all of the fabric a plan that takes out, the end that is set a person's return.

#include <gtest/gtest.h>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

/// PLAN-1 isolated leaf-1 - spine-0, and then two adapters of other leaves fell silent.
struct WithAbsentAdapters : Book {
  WithAbsentAdapters() {
    EXPECT_TRUE(book->request(RemedyAction::kIsolateLink, target, "why", "ann", look()));
    answer(TargetState::kClear);
    answer(TargetState::kClear);
    fabric.unlink(fabric.port_towards("leaf-1", "spine-0"));
    fabric.route();
    answer(TargetState::kOurs);
    for (int sweep = 0; sweep < 5; ++sweep) book->review(look());
    EXPECT_EQ(plan(1).state, PlanState::kCommitted) << plan(1).outcome;
    for (const char* host : {"host-2-0 mlx5_0", "host-3-0 mlx5_0"}) fabric.silence(fabric.find(host));
  }
  void answer(TargetState state) {
    book->review(look());
    for (const RemedyOrder& order : orders())
      if (order.kind == OrderKind::kRead)
        book->answer_reading(order.number, TargetReading{state, ""}, fabric.now());
      else
        book->answer_action(order.number, {}, fabric.now());
    book->review(look());
  }
  /// Sweeps for so long, nearly once a minute.
  void minutes(int count) {
    for (int minute = 0; minute < count; ++minute) {
      fabric.advance(59s);
      book->review(look());
    }
  }
  GuardVerdict fresh_data(RemedyAction action, const Entity& of, const std::string& who) {
    const auto would = book->preview(action, of, "why", who, look());
    return would ? verdict(*would, Guard::kFreshData)
                 : GuardVerdict{Guard::kFreshData, GuardResult::kRefused, would.error().message};
  }
  Entity target = link("leaf-1", "spine-0");
};

TEST(FreshData, AbsentAdaptersElsewhereDoNotRefuseAPersonsReturn) {
  WithAbsentAdapters b;
  const GuardVerdict verdict = b.fresh_data(RemedyAction::kRestoreLink, b.target, "ann");
  EXPECT_EQ(verdict.result, GuardResult::kPassed) << verdict.explanation;
  EXPECT_NE(verdict.explanation.find("2 nodes are missing in it"), std::string::npos) << verdict.explanation;
  EXPECT_TRUE(b.book->request(RemedyAction::kRestoreLink, b.target, "", "ann", b.look()));
}

TEST(FreshData, WhatIsMissingForLongWasSwitchedOff) {
  WithAbsentAdapters b;
  const Entity other = b.link("leaf-2", "spine-3");
  EXPECT_EQ(b.fresh_data(RemedyAction::kIsolateLink, other, "ann").explanation,
            "2 nodes are missing in the last sweep, at most 1 may be missing (remedy.limits.missing_share)");
  b.minutes(50);
  b.set_forward = 10h;
  b.fabric.advance(10h);
  EXPECT_EQ(b.fresh_data(RemedyAction::kIsolateLink, other, "ann").result, GuardResult::kRefused)
      << "a step of the clock is no time that passed";
  b.fabric.silence(b.fabric.find("host-1-0 mlx5_0"));
  b.minutes(11);
  GuardVerdict verdict = b.fresh_data(RemedyAction::kIsolateLink, other, "ann");
  EXPECT_EQ(verdict.result, GuardResult::kPassed);
  EXPECT_EQ(verdict.explanation,
            "the last sweep is fresh, 1 node is missing in it; 2 more, gone for longer, do not count "
            "(remedy.limits.missing_for)");
  // Back and away again: that is another absence.
  for (const bool is_away : {false, true}) {
    b.fabric.silence(b.fabric.find("host-2-0 mlx5_0"), is_away);
    verdict = b.fresh_data(RemedyAction::kIsolateLink, other, "ann");
  }
  EXPECT_EQ(verdict.result, GuardResult::kRefused) << verdict.explanation;
}

// As when the port that weftd sweeps by was down meanwhile.
TEST(FreshData, TimeThatNobodySweptIsNoTimeThatTheyWereMissing) {
  WithAbsentAdapters b;
  const Entity other = b.link("leaf-2", "spine-3");
  b.minutes(40);
  b.fabric.advance(2h);
  b.minutes(10);
  EXPECT_EQ(b.fresh_data(RemedyAction::kIsolateLink, other, "ann").result, GuardResult::kRefused);
  b.minutes(15);
  EXPECT_EQ(b.fresh_data(RemedyAction::kIsolateLink, other, "ann").result, GuardResult::kPassed);
}

// A person may ask before the book was told to look, as directly after a restart.
TEST(FreshData, NorIsTimeBeforeSomebodyAsked) {
  Book b;
  const Entity other = b.link("leaf-2", "spine-3");
  for (const char* host : {"host-2-0 mlx5_0", "host-3-0 mlx5_0"}) b.fabric.silence(b.fabric.find(host));
  const auto refuses = [&] {
    const auto would = b.book->preview(RemedyAction::kIsolateLink, other, "why", "ann", b.look());
    return would && b.verdict(*would, Guard::kFreshData).result == GuardResult::kRefused;
  };
  EXPECT_TRUE(refuses());
  b.fabric.advance(2h);
  EXPECT_TRUE(refuses()) << "nobody swept for two hours";
  b.fabric.advance(2h);
  b.book->review(b.look());
  EXPECT_TRUE(refuses()) << "nor for two more";
}

// Whether some plan asks or not, and automation as well as a person.
TEST(FreshData, ASecondOutageIsAnotherOne) {
  Book b(automatic());
  const auto rack = [&](bool is_gone) {
    for (const char* host : {"host-1-0 mlx5_0", "host-2-0 mlx5_0", "host-3-0 mlx5_0"})
      b.fabric.silence(b.fabric.find(host), is_gone);
  };
  const auto hours = [&](int count) {
    for (int minute = 0; minute < count * 60; ++minute) {
      b.fabric.advance(59s);
      b.book->review(b.look());
    }
  };
  rack(true);
  b.book->review(b.look());
  rack(false);
  hours(3);
  rack(true);
  b.errors("leaf-1", "spine-4");
  b.sweep();
  EXPECT_EQ(b.plan(1).state, PlanState::kProposed);
  EXPECT_EQ(b.verdict(b.plan(1), Guard::kFreshData).explanation,
            "3 nodes are missing in the last sweep, at most 1 may be missing (remedy.limits.missing_share)");
  b.incidents.clear();
  hours(2);
  const auto would = b.book->preview(RemedyAction::kIsolateLink, b.link("leaf-2", "spine-3"), "why", "ann", b.look());
  ASSERT_TRUE(would);
  EXPECT_EQ(b.verdict(*would, Guard::kFreshData).result, GuardResult::kPassed) << "nobody asked meanwhile";
}

TEST(FreshData, WhatNoSweepSawSinceARestartIsMissingByItsIncident) {
  Book b;
  const Entity other = b.link("leaf-2", "spine-3");
  const auto seen = [&] {
    const auto would = b.book->preview(RemedyAction::kIsolateLink, other, "why", "ann", b.look());
    return would ? b.verdict(*would, Guard::kFreshData).explanation : would.error().message;
  };
  auto incident = std::make_shared<Incident>();
  incident->id = 7;
  incident->finding.kind = IncidentKind::kSwitchDown;
  incident->finding.cause = {
      .kind = EntityKind::kNode, .fabric = "test", .port = {{0xffff0000}, {}}, .peer = {}, .label = "gone"};
  Entity cable = b.link("leaf-1", "spine-0");
  cable.peer = {{0xffff0001}, {1}};
  incident->finding.affected = {cable};
  b.incidents.push_back(incident);
  EXPECT_EQ(seen(), "2 nodes are missing in the last sweep, at most 1 may be missing (remedy.limits.missing_share)");
  auto over = std::make_shared<Incident>(*incident);
  over->state = IncidentState::kResolved;
  b.incidents.back() = over;
  EXPECT_EQ(seen(), "the last sweep is fresh, 0 nodes are missing in it");
}

TEST(FreshData, OneNodeIsOne) {
  WithAbsentAdapters b;
  b.fabric.silence(b.fabric.find("host-3-0 mlx5_0"), false);
  const GuardVerdict verdict = b.fresh_data(RemedyAction::kRestoreLink, b.target, "ann");
  EXPECT_NE(verdict.explanation.find("1 node is missing in it"), std::string::npos) << verdict.explanation;
}

TEST(FreshData, TheyRefuseToTakeOutAnotherLinkAndAutomationsReturn) {
  WithAbsentAdapters b;
  EXPECT_EQ(b.fresh_data(RemedyAction::kIsolateLink, b.link("leaf-2", "spine-3"), "ann").result, GuardResult::kRefused);
  EXPECT_EQ(b.fresh_data(RemedyAction::kRestoreLink, b.target, "weftd").result, GuardResult::kRefused);
}

TEST(FreshData, APersonsReturnNeedsTheEndThatIsSet) {
  WithAbsentAdapters b;
  ASSERT_TRUE(b.plan(1).end);
  const bool is_leaf = b.fabric.nodes()[b.fabric.find("leaf-1")].guid == b.plan(1).end->node;
  const std::string set = is_leaf ? "leaf-1" : "spine-0";
  const std::string other = is_leaf ? "spine-0" : "leaf-1";
  b.fabric.silence(b.fabric.find(other));
  EXPECT_EQ(b.fresh_data(RemedyAction::kRestoreLink, b.target, "ann").result, GuardResult::kPassed)
      << "the return may be what brings it back";
  b.fabric.silence(b.fabric.find(set));
  const GuardVerdict verdict = b.fresh_data(RemedyAction::kRestoreLink, b.target, "ann");
  EXPECT_EQ(verdict.result, GuardResult::kRefused);
  EXPECT_NE(verdict.explanation.find(set), std::string::npos) << verdict.explanation;
}

// No sweep comes any more. By the clock, which was set back, the last one is yet to come; an hour later it seems new.
TEST(FreshData, ASweepThatLiesAheadOfTheClockIsNotFresh) {
  using namespace std::chrono_literals;
  Book b(automatic());
  b.book.emplace(b.settings, RemedyMemory{}, b.fabric.now(), b.fabric.now().time_since_epoch());
  b.errors("leaf-0", "spine-0");
  RemedyView view = b.look();
  const TimePoint last = view.now;
  const Duration steady = *view.steady;
  for (const Duration later : {0s, 60s, 1800s, 3600s, 3601s}) {
    view.now = last - 1h + later;
    view.steady = steady + later;
    b.book->review(view);
    const GuardVerdict verdict = b.verdict(b.plan(1), Guard::kFreshData);
    EXPECT_EQ(verdict.result, GuardResult::kRefused) << later / 1s << " s: " << verdict.explanation;
  }
}

// Two ports of ours on one subnet: the fabric has the name of the one that is watched.
TEST(FreshData, AReturnOfALinkThatAnotherPortOfOursSeesNamesTheWayOut) {
  Book b;
  RemedyMemory memory;
  Plan& plan = memory.plans.emplace_back();
  plan.id = 1;
  plan.state = PlanState::kCommitted;
  plan.target = b.link("leaf-1", "spine-0");
  plan.target.fabric = "mlx5_0-1";
  plan.actuator = "fake";
  plan.requested_by = plan.approved_by = "ann";
  plan.in_force = true;
  plan.started = plan.finished = b.fabric.now();
  const Entity held = plan.target;
  b.book.emplace(b.settings, std::move(memory), b.fabric.now());
  const auto says = [&](const std::vector<FabricView>& more) {
    RemedyView view = b.look();
    b.views[0].through = "mlx5_1:1";
    b.views.insert(b.views.end(), more.begin(), more.end());
    view.fabrics = b.views;
    const auto would = b.book->preview(RemedyAction::kRestoreLink, held, "why", "ann", view);
    return would ? b.verdict(*would, Guard::kFreshData).explanation : would.error().message;
  };
  const std::string way_out =
      "; test is on the same subnet: if mlx5_0-1 stays away, give its name to the other port in infiniband.ports: "
      "\"mlx5_0-1=mlx5_1:1\"";
  EXPECT_EQ(says({}), "mlx5_0-1 is not watched" + way_out);
  FabricView own;
  own.name = "mlx5_0-1";
  EXPECT_EQ(says({own}), "its fabric has no complete sweep yet" + way_out);
  b.fabric.silence(b.fabric.find("leaf-1"));
  EXPECT_EQ(says({}), "its fabric has no complete sweep yet") << "the other port does not see both ends either";
}

}  // namespace
}  // namespace weft::analyzer
