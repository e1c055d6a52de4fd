// SPDX-License-Identifier: Apache-2.0
// One subnet that was watched through one of our ports, and is watched through another one, by another name.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

/// The subnet as "test"; from lose() on as "standby", while the last sweep of "test" stays in view.
struct TwoNames : Book {
  explicit TwoNames(RemedySettings with = automatic()) : Book(std::move(with)) {}
  void lose() {
    look();
    lost = views[0].sweep;
  }
  RemedyView both() {
    const RemedyView seen = look();
    if (!lost) return seen;
    FabricView standby = views[0];
    auto sweep = std::make_shared<Sweep>(*standby.sweep);
    sweep->fabric = standby.name = "standby";
    standby.sweep = sweep;
    standby.through = "mlx5_1:1";
    views[0].watching = false;
    views[0].sweep = lost;
    views.push_back(standby);
    RemedyView view = seen;
    view.fabrics = views;
    return view;
  }
  /// So many sweeps, while the world does what it is told.
  void sweeps(int count) {
    for (int i = 0; i < count; ++i) {
      fabric.advance(1s);
      book->review(both());
      for (const RemedyOrder& order : orders()) carry_out(order);
    }
  }
  void carry_out(const RemedyOrder& order) {
    if (order.target.fabric == "test" && lost) {
      if (order.kind == OrderKind::kRead)
        book->answer_reading(order.number, fail(ErrorCode::kUnavailable, "not watched"), fabric.now());
      else
        book->answer_action(order.number, fail(ErrorCode::kNotFound, "not watched"), fabric.now());
      return;
    }
    const PortIndex end = fabric.topology()->find_port(order.target.port);
    const bool is_up = fabric.port(end).is_up();
    if (order.kind == OrderKind::kRead) {
      book->answer_reading(order.number, TargetReading{is_up ? TargetState::kClear : TargetState::kOurs, ""},
                           fabric.now());
      return;
    }
    ++acts;
    book->answer_action(order.number, {}, fabric.now());
    if (takes_out(order.action))
      fabric.unlink(end);
    else
      fabric.relink(end);
    fabric.route();
  }
  /// Errors of a link, as the port tells them that is watched now.
  void errors_now(const std::string& a, const std::string& b) {
    errors(a, b);
    if (!lost) return;
    auto incident = std::make_shared<Incident>(*incidents.back());
    incident->finding.cause.fabric = "standby";
    for (Evidence& evidence : incident->finding.evidence) evidence.where.fabric = "standby";
    incidents.back() = std::move(incident);
  }
  GuardVerdict seen(Guard guard, RemedyAction action, const Entity& target) {
    const auto wished = book->preview(action, target, "why", "ann", both());
    return wished ? verdict(*wished, guard) : GuardVerdict{guard, GuardResult::kRefused, wished.error().message};
  }
  Entity under_standby(const std::string& a, const std::string& b) {
    Entity target = link(a, b);
    target.fabric = "standby";
    return target;
  }
  void disable(const std::string& a, const std::string& b) {
    const PortIndex port = fabric.port_towards(a, b);
    fabric.unlink(port);
    fabric.port(port).physical_state = PortPhysicalState::kDisabled;
    fabric.route();
  }
  /// PLAN-1, for the link of leaf-0 and spine-0, by a person.
  void reject_the_first() {
    book->set_hands_off(true, "night", "ann", fabric.now());
    errors_now("leaf-0", "spine-0");
    sweeps(1);
    ASSERT_TRUE(book->reject(1, "it is the only way to the storage", "ann", fabric.now()));
    book->set_hands_off(false, "morning", "ann", fabric.now());
  }
  void resolve(std::size_t which) {
    auto over = std::make_shared<Incident>(*incidents[which]);
    over->state = IncidentState::kResolved;
    over->resolved = fabric.now();
    incidents[which] = over;
  }
  std::shared_ptr<const Sweep> lost;
  int acts = 0;
};

// A discovery by the other port knows no cable of links that are off.
TEST(OtherName, ALeafKeepsItsShareWhatPlansOfTheFirstOneHold) {
  TwoNames b;
  b.errors_now("leaf-0", "spine-0");
  b.sweeps(20);
  b.errors_now("leaf-0", "spine-1");
  b.sweeps(20);
  ASSERT_EQ(b.acts, 2);
  b.lose();
  b.errors_now("leaf-0", "spine-2");
  b.fabric.rediscover();
  b.fabric.route();
  b.sweeps(60);
  EXPECT_EQ(b.acts, 2) << "of 8 ways 6 are needed";
  EXPECT_EQ(b.verdict(b.plan(3), Guard::kFreshData).explanation,
            "PLAN-1 is of this subnet, under the name test, and does not count under the name standby: if test stays "
            "away, give its name to the other port in infiniband.ports: \"test=mlx5_1:1\"");
  Entity target = b.plan(3).target;
  const auto wished = b.book->preview(RemedyAction::kIsolateLink, target, "why", "ann", b.both());
  ASSERT_TRUE(wished);
  EXPECT_EQ(b.verdict(*wished, Guard::kFreshData).result, GuardResult::kRefused) << "a person is refused, too";
}

TEST(OtherName, WhatAPersonRejectedIsNotDone) {
  TwoNames b;
  ASSERT_NO_FATAL_FAILURE(b.reject_the_first());
  b.sweeps(30);
  ASSERT_EQ(b.acts, 0);
  b.lose();
  b.errors_now("leaf-0", "spine-0");
  b.sweeps(30);
  EXPECT_EQ(b.acts, 0);
}

// The incident of a fabric that nobody watches is given up some minutes after a restart.
TEST(OtherName, NorWhenTheIncidentOfTheFirstOneWasGivenUp) {
  TwoNames b;
  ASSERT_NO_FATAL_FAILURE(b.reject_the_first());
  b.lose();
  b.errors_now("leaf-0", "spine-0");
  b.resolve(0);
  b.sweeps(30);
  EXPECT_EQ(b.acts, 0);
}

TEST(OtherName, WhatAPersonAbortedIsNotDoneADayLater) {
  TwoNames b;
  b.settings.limits.verification.windows = 60;
  b.book.emplace(b.settings, RemedyMemory{}, b.fabric.now());
  b.errors_now("leaf-0", "spine-0");
  b.sweeps(6);
  ASSERT_TRUE(b.book->abort(1, "needed for storage", "ann", b.fabric.now()));
  b.sweeps(60);
  ASSERT_EQ(b.plan(1).state, PlanState::kRolledBack) << b.plan(1).outcome;
  const int before = b.acts;
  b.fabric.advance(25h);
  b.sweeps(10);
  b.lose();
  b.errors_now("leaf-0", "spine-0");
  b.sweeps(30);
  EXPECT_EQ(b.acts, before);
}

TEST(OtherName, ASwitchThatRebootsLetsNothingBeTakenOut) {
  for (const bool is_silent : {false, true}) {
    TwoNames b;
    b.errors_now("leaf-0", "spine-0");
    b.sweeps(20);
    ASSERT_EQ(b.acts, 1);
    b.lose();
    b.sweeps(5);
    if (is_silent)
      b.fabric.silence(b.fabric.find("spine-0"));
    else
      b.fabric.power_off(b.fabric.find("spine-0"));
    b.fabric.route();
    const Entity target = b.under_standby("leaf-0", "spine-1");
    EXPECT_EQ(b.seen(Guard::kFreshData, RemedyAction::kIsolateLink, target).result, GuardResult::kRefused);
    b.errors_now("leaf-0", "spine-1");
    b.sweeps(30);
    EXPECT_EQ(b.acts, 1);
  }
}

TEST(OtherName, WhatHasSentNothingHoldsUpNobody) {
  TwoNames b;
  b.errors_now("leaf-0", "spine-0");
  b.fabric.advance(1s);
  b.book->review(b.both());
  ASSERT_EQ(b.plan(1).state, PlanState::kExecuting);
  b.lose();
  const Entity target = b.under_standby("leaf-1", "spine-1");
  const GuardVerdict fresh = b.seen(Guard::kFreshData, RemedyAction::kIsolateLink, target);
  EXPECT_EQ(fresh.result, GuardResult::kPassed) << fresh.explanation;
}

TEST(OtherName, OthersLinksCountOnce) {
  TwoNames b;
  b.settings.limits.budget.out_minimum = 3;
  b.settings.limits.budget.out_share = 0;
  b.book.emplace(b.settings, RemedyMemory{}, b.fabric.now());
  b.disable("leaf-0", "spine-5");
  b.book->set_avoided_ports("ufm", {{b.link("leaf-1", "spine-3").port}, *b.look().steady});
  b.sweeps(2);
  ASSERT_EQ(b.book->status(b.fabric.now()).out_by_others, 2U);
  b.lose();
  b.sweeps(2);
  EXPECT_EQ(b.book->status(b.fabric.now()).out_by_others, 2U);
  const auto budget = b.seen(Guard::kBudget, RemedyAction::kDrainNode, host_entity("host-0-0"));
  EXPECT_EQ(budget.result, GuardResult::kPassed) << budget.explanation;
}

// Its links are out, and are links, as before.
TEST(OtherName, APortThatIsLostAndHasNoStandbyMakesNoShareSmaller) {
  TwoNames b;
  b.disable("leaf-0", "spine-5");
  b.disable("leaf-0", "spine-6");
  b.settings.limits.budget.out_minimum = 2;
  b.settings.limits.budget.out_share = 0.1;  // three of 36 links
  b.book.emplace(b.settings, RemedyMemory{}, b.fabric.now());
  for (const bool watching : {true, false}) {
    RemedyView view = b.look();
    b.views[0].watching = watching;
    const auto wished = b.book->preview(RemedyAction::kDrainNode, host_entity("host-0-0"), "why", "ann", view);
    ASSERT_TRUE(wished);
    EXPECT_EQ(b.verdict(*wished, Guard::kBudget).result, GuardResult::kPassed)
        << b.verdict(*wished, Guard::kBudget).explanation;
  }
}

TEST(OtherName, TwoPlansAreNotUnderWayTogether) {
  TwoNames b;
  b.settings.limits.verification.windows = 60;
  b.settings.limits.verification.within = 3min;
  b.book.emplace(b.settings, RemedyMemory{}, b.fabric.now());
  b.errors_now("leaf-0", "spine-0");
  b.sweeps(6);
  ASSERT_EQ(b.plan(1).state, PlanState::kVerifying);
  b.lose();
  b.errors_now("leaf-1", "spine-1");
  b.sweeps(10);
  EXPECT_FALSE(is_under_way(b.plan(2).state)) << to_string(b.plan(2).state);
}

TEST(OtherName, TheShareOfLinksIsOfTheSubnet) {
  TwoNames b;
  b.settings.limits.budget.out_minimum = 1;
  b.settings.limits.budget.out_share = 0.029;  // one of 36 links, two of 72
  b.settings.limits.budget.out_per_switch = 10;
  b.book.emplace(b.settings, RemedyMemory{}, b.fabric.now());
  b.lose();
  b.errors_now("leaf-1", "spine-1");
  b.errors_now("leaf-2", "spine-2");
  b.sweeps(60);
  EXPECT_EQ(b.acts, 1);
}

TEST(OtherName, WhatWeftHoldsIsNotSaidToBeOutByOthers) {
  TwoNames b;
  b.errors_now("leaf-0", "spine-0");
  b.sweeps(20);
  ASSERT_EQ(b.plan(1).state, PlanState::kCommitted);
  b.fabric.port(b.fabric.topology()->find_port(b.link("leaf-0", "spine-0").port)).physical_state =
      PortPhysicalState::kDisabled;
  b.lose();
  b.sweeps(2);
  EXPECT_EQ(b.book->status(b.fabric.now()).out_of_service, 1U);
  EXPECT_EQ(b.book->status(b.fabric.now()).out_by_others, 0U);
}

TEST(OtherName, WhatOthersTookOutAtASwitchCounts) {
  TwoNames b;
  b.settings.limits.budget.out_per_switch = 2;
  b.book.emplace(b.settings, RemedyMemory{}, b.fabric.now());
  b.disable("leaf-0", "spine-5");
  b.disable("leaf-1", "spine-5");
  b.lose();
  const auto budget = b.seen(Guard::kBudget, RemedyAction::kIsolateLink, b.under_standby("leaf-2", "spine-5"));
  EXPECT_EQ(budget.result, GuardResult::kRefused) << budget.explanation;
}

// Where nothing is held any more a person may decide.
TEST(OtherName, APersonApprovesWhatAPlanOfTheFirstOneWasAbout) {
  TwoNames b(proposing());
  b.errors_now("leaf-0", "spine-0");
  b.sweeps(1);
  ASSERT_TRUE(b.book->reject(1, "not now", "ann", b.fabric.now()));
  b.lose();
  b.errors_now("leaf-1", "spine-1");
  b.sweeps(3);
  ASSERT_EQ(b.plan(2).state, PlanState::kProposed);
  EXPECT_EQ(b.verdict(b.plan(2), Guard::kFreshData).result, GuardResult::kNeedsPerson);
  EXPECT_TRUE(b.book->approve(2, 0, "ann", b.both()));
  b.sweeps(10);
  EXPECT_EQ(b.acts, 1);
}

// That a person may decide says nothing of what is seen now.
TEST(OtherName, NoApprovalStandsForFreshData) {
  for (const bool is_approved : {false, true}) {
    TwoNames b(proposing());
    ASSERT_NO_FATAL_FAILURE(b.reject_the_first());
    b.lose();
    b.errors_now("leaf-1", "spine-1");
    b.sweeps(3);
    if (is_approved) {
      ASSERT_TRUE(b.book->approve(2, 0, "ann", b.both()));
    }
    for (const char* host : {"host-1-0 mlx5_0", "host-2-0 mlx5_0", "host-3-0 mlx5_0"})
      b.fabric.silence(b.fabric.find(host));
    b.sweeps(10);
    EXPECT_EQ(b.verdict(b.plan(2), Guard::kFreshData).result, GuardResult::kRefused);
    EXPECT_FALSE(b.book->approve(2, 0, "ann", b.both()));
    EXPECT_EQ(b.acts, 0);
  }
}

}  // namespace
}  // namespace weft::analyzer
