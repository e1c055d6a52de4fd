// SPDX-License-Identifier: Apache-2.0
// What weftctl says of links that somebody else keeps disabled, so that their return by a plan failed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/api/small_plans.hpp"
#include "tests/unit/daemon/programs/weftctl/verbs_fixture.hpp"

namespace weft::ctl {
namespace {

using namespace std::chrono_literals;
using api::make_plan;
using api::with_plans;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class OthersDisabled : public Verbs {
 protected:
  OthersDisabled() {
    out.started = api::kNow - 1h;
    back.action = RemedyAction::kRestoreLink;
    back.undoes = 1;
    back.started = api::kNow - 1min;
    back.outcome = "it was given back, but somebody else keeps it out of service: host-1 mlx5_0 port 1 is Disabled";
  }
  void publish(PortPhysicalState end, const std::vector<Plan>& plans) {
    api::SmallFabric fabric;
    api::SmallFabric::take_down(fabric.ports[1]);
    fabric.ports[1].physical_state = end;
    publication.publish(with_plans(api::make_snapshot(++revision, {fabric.build()}), plans));
  }
  std::string list(WhichPlans which) { return say(Exit::kGood, show_plans, which, false); }

  static constexpr const char* kLines =
      "\nDisabled by somebody else, and held by no plan: enabling is for whoever disabled it.\n"
      "  leaf-1 port 1 - host-1 mlx5_0 port 1 (last: PLAN-3 RESTORE_LINK, FAILED)\n";
  std::uint64_t revision = 0;
  Plan out = make_plan(1, PlanState::kCommitted), back = make_plan(3, PlanState::kFailed);
};

TEST_F(OthersDisabled, StayListedAfterTheirReturn) {
  publish(PortPhysicalState::kDisabled, {out, back});
  EXPECT_EQ(list(WhichPlans::kOpen), std::string("No open plans.\n") + kLines);
  EXPECT_EQ(list(WhichPlans::kInForce), std::string("No plan holds anything.\n") + kLines);
  EXPECT_THAT(list(WhichPlans::kAll), EndsWith(kLines));
  EXPECT_THAT(say(Exit::kGood, show_links, LinkChoice{"", "", "", true}),
              HasSubstr("down (disabled by somebody else)"));
}

TEST_F(OthersDisabled, AreListedWhenTheReturnWasNotSent) {
  back.state = PlanState::kExpired;
  back.started = kNever;
  publish(PortPhysicalState::kDisabled, {out, back});
  EXPECT_THAT(list(WhichPlans::kOpen), EndsWith("(last: PLAN-3 RESTORE_LINK, EXPIRED)\n"));
}

TEST_F(OthersDisabled, AreListedWhenTheyTookOverWhatAPlanHeld) {
  out.steps.push_back(
      {api::kNow, PlanState::kCommitted, "weftd", "it is not in force: host-1 mlx5_0 port 1 is Disabled"});
  publish(PortPhysicalState::kDisabled, {out});
  EXPECT_THAT(list(WhichPlans::kOpen), EndsWith("(last: PLAN-1 ISOLATE_LINK, COMMITTED (reverted))\n"));
}

TEST_F(OthersDisabled, AreListedWhenAnIsolationWasUndoneOrCameTooLate) {
  const auto list_of = [this](PlanState state, const char* outcome) {
    out = make_plan(1, state);
    out.outcome = outcome;
    publish(PortPhysicalState::kDisabled, {out});
    const std::string shown = say(Exit::kGood, show_plan, std::string("1"));
    EXPECT_THAT(shown, Not(HasSubstr("weftctl isolate"))) << "it is out already";
    return list(WhichPlans::kOpen) + shown;
  };
  const std::string undone =
      list_of(PlanState::kRolledBack, "aborted by ann: no; it was given back, and somebody else has disabled it since");
  EXPECT_THAT(undone, HasSubstr("(last: PLAN-1 ISOLATE_LINK, ROLLED_BACK)\n"));
  EXPECT_THAT(undone, HasSubstr("to bring it back   enable the end that somebody else disabled; no plan holds it"));
  EXPECT_THAT(list_of(PlanState::kFailed, "left as it is: somebody else holds it now: host-1 port 1 is Disabled"),
              HasSubstr("(last: PLAN-1 ISOLATE_LINK, FAILED)\n"));
  EXPECT_THAT(list_of(PlanState::kExpired, "not needed: already in the wanted state: it is Disabled"),
              HasSubstr("(last: PLAN-1 ISOLATE_LINK, EXPIRED)\n"));
}

TEST_F(OthersDisabled, AreNotThoseThatAPlanGaveBackSinceTheSweep) {
  out = make_plan(1, PlanState::kRolledBack);
  out.started = api::kNow - 1min;
  out.outcome = "aborted by ann: no";
  publish(PortPhysicalState::kDisabled, {out});
  EXPECT_EQ(list(WhichPlans::kOpen), "No open plans.\n");
  EXPECT_THAT(say(Exit::kGood, show_links, LinkChoice{"", "", "", true}), Not(HasSubstr("somebody else")));
  out.finished = api::kNow - 1min;  // the sweep began since
  publish(PortPhysicalState::kDisabled, {out});
  EXPECT_THAT(say(Exit::kGood, show_links, LinkChoice{"", "", "", true}), HasSubstr("(disabled by somebody else)"));
}

TEST_F(OthersDisabled, PlansAdviseWhatFitsTheLinkAsItIsNow) {
  out.outcome = "it did good; somebody else enabled the link again, seen at 2026-01-31 12:00 UTC";
  const auto shown = [this](PortPhysicalState end, const Plan& plan) {
    publish(end, {out, back});
    return say(Exit::kGood, show_plan, std::to_string(plan.id));
  };
  EXPECT_THAT(shown(PortPhysicalState::kPolling, out), HasSubstr("to watch it on probation   weftctl restore"));
  const std::string again = shown(PortPhysicalState::kDisabled, out);
  EXPECT_THAT(again, Not(HasSubstr("weftctl restore")));
  EXPECT_THAT(again, Not(HasSubstr("weftctl isolate")));
  EXPECT_THAT(again, HasSubstr("to bring it back   enable the end that somebody else disabled"));
  EXPECT_THAT(shown(PortPhysicalState::kDisabled, back), HasSubstr("to bring it back   enable the end"));
  publication.publish(with_plans(api::make_snapshot(++revision, {api::SmallFabric().build()}), {out, back}));
  EXPECT_THAT(say(Exit::kGood, show_plan, std::string("3")), Not(HasSubstr("to bring it back"))) << "it is up";
}

TEST_F(OthersDisabled, AreListedNoMoreWhenNobodyKeepsThemDisabled) {
  publish(PortPhysicalState::kPolling, {out, back});
  EXPECT_EQ(list(WhichPlans::kOpen), "No open plans.\n");
  Plan again = make_plan(4, PlanState::kCommitted);
  again.in_force = true;
  publish(PortPhysicalState::kDisabled, {out, back, again});
  EXPECT_THAT(list(WhichPlans::kInForce), Not(HasSubstr("somebody else, and")));
  EXPECT_THAT(list(WhichPlans::kAll), Not(HasSubstr("somebody else, and")));
}

TEST_F(OthersDisabled, StayListedWhenALaterPlanSentNothing) {
  Plan later = make_plan(4, PlanState::kProposed);
  for (const PlanState state : {PlanState::kProposed, PlanState::kRejected, PlanState::kExpired}) {
    later.state = state;
    publish(PortPhysicalState::kDisabled, {out, back, later});
    EXPECT_THAT(list(WhichPlans::kOpen), EndsWith(kLines)) << to_string(state);
  }
}

TEST_F(OthersDisabled, AreNotLinksOfAPlanThatMayHoldThem) {
  out.unresolved = true;
  publish(PortPhysicalState::kDisabled, {out, back});
  EXPECT_THAT(list(WhichPlans::kOpen), Not(HasSubstr("somebody else, and")));
}

// What it sent may have disabled the link, or may still do so.
TEST_F(OthersDisabled, AreNotToldFromWhatAnUnresolvedPlanMayHaveDisabled) {
  out = make_plan(1, PlanState::kRolledBack);
  out.started = api::kNow - 2h;
  out.finished = api::kNow - 1h;
  out.outcome = "aborted by ann: wrong link";
  Plan later = make_plan(2, PlanState::kFailed);
  later.started = api::kNow - 1min;
  later.unresolved = true;
  publish(PortPhysicalState::kDisabled, {out, later});
  EXPECT_THAT(say(Exit::kGood, show_links, LinkChoice{"", "", "", true}),
              HasSubstr("down (disabled; unknown whether by PLAN-2)"));
  const std::string shown = say(Exit::kGood, show_plan, std::string("1"));
  EXPECT_THAT(shown, HasSubstr("\nPLAN-2 may hold its target   weftctl plan PLAN-2\n"));
  EXPECT_THAT(shown, Not(HasSubstr("somebody else")));
  EXPECT_THAT(shown, Not(HasSubstr("weftctl isolate")));
  publish(PortPhysicalState::kPolling, {out, later});
  EXPECT_THAT(say(Exit::kGood, show_links, LinkChoice{"", "", "", true}), Not(HasSubstr("PLAN-2"))) << "it is enabled";
}

TEST_F(OthersDisabled, AreNotWhatAnotherPlanHolds) {
  out.outcome = "it did good; somebody else enabled the link again, seen at 2026-01-31 12:00 UTC";
  Plan undone = make_plan(2, PlanState::kRolledBack);
  undone.started = undone.finished = api::kNow - 30min;
  undone.outcome = "aborted by ann: wrong link";
  Plan holds = make_plan(4, PlanState::kCommitted);
  holds.in_force = true;
  for (const PlanState state : {PlanState::kCommitted, PlanState::kVerifying}) {
    holds.state = state;
    publish(PortPhysicalState::kDisabled, {out, undone, back, holds});
    for (const char* id : {"1", "2", "3"}) {
      const std::string shown = say(Exit::kGood, show_plan, std::string(id));
      EXPECT_THAT(shown, HasSubstr("\nPLAN-4 holds its target   weftctl plan PLAN-4\n")) << id;
      EXPECT_THAT(shown, Not(HasSubstr("weftctl restore"))) << id;
      EXPECT_THAT(shown, Not(HasSubstr("weftctl isolate"))) << id;
      EXPECT_THAT(shown, Not(HasSubstr("to bring it back"))) << id;
    }
  }
}

TEST_F(OthersDisabled, AReturnThatFoundNothingToDoNamesWhatMayStillHoldIt) {
  out = make_plan(1, PlanState::kFailed);
  out.started = api::kNow - 1min;
  out.unresolved = true;
  back.state = PlanState::kExpired;
  back.outcome = "not needed: already in the wanted state";
  publish(PortPhysicalState::kPolling, {out, back});
  EXPECT_THAT(say(Exit::kGood, show_plan, std::string("3")), HasSubstr("\nPLAN-1 may hold its target   weftctl plan"));
}

TEST_F(OthersDisabled, AreNotThoseThatAreDownAndEnabled) {
  publish(PortPhysicalState::kPolling, {out, back});
  const std::string shown = say(Exit::kGood, show_plan, std::string("3"));
  EXPECT_THAT(shown, Not(HasSubstr("enable the end")));
  EXPECT_THAT(shown, HasSubstr("no end of it is disabled, and it is not up: look at its cable and its ends"));
}

// A link whose cost is raised is up.
TEST_F(OthersDisabled, WhoRaisedTheCostLowersItThoughTheLinkIsUp) {
  back.action = RemedyAction::kRaiseLinkCost;
  back.undoes = 0;
  back.outcome = "left as it is: somebody else holds it now: the cost is 20";
  publication.publish(with_plans(api::make_snapshot(++revision, {api::SmallFabric().build()}), {back}));
  EXPECT_THAT(say(Exit::kGood, show_plan, std::string("3")),
              HasSubstr("to bring it back   whoever raised its cost lowers it; no plan holds it any more"));
}

// The sweeps since then bear earlier times than the return.
TEST_F(OthersDisabled, AreSeenWhenTheClockWasSetBackSince) {
  out = make_plan(1, PlanState::kRolledBack);
  out.started = out.finished = api::kNow + 1h;
  out.outcome = "aborted by ann: no";
  publish(PortPhysicalState::kDisabled, {out});
  EXPECT_THAT(say(Exit::kGood, show_links, LinkChoice{"", "", "", true}), HasSubstr("(disabled by somebody else)"));
}

// A person's reason is not Weft's own word.
TEST_F(OthersDisabled, AreNotReadOutOfAPersonsReason) {
  for (const char* reason : {"on the spine somebody else enabled the link again", "no: somebody else holds it now"}) {
    out = make_plan(1, PlanState::kRolledBack);
    out.started = out.finished = api::kNow - 1h;
    out.steps.push_back({api::kNow - 1h, PlanState::kVerifying, "ann", std::string("abort: ") + reason});
    out.outcome = std::string("aborted by ann: ") + reason;
    publication.publish(with_plans(api::make_snapshot(++revision, {api::SmallFabric().build()}), {out}));
    EXPECT_THAT(say(Exit::kGood, show_plan, std::string("1")), HasSubstr("\nto order it anew   weftctl isolate"))
        << reason;
    EXPECT_THAT(say(Exit::kGood, show_plan, std::string("1")), Not(HasSubstr("probation   weftctl"))) << reason;
  }
}

TEST_F(OthersDisabled, AreNotKnownBeforeTheFirstSweepAndTheListIsShown) {
  Plan other = back;
  other.id = 4;
  other.target.port.port.value = 2;
  const std::string unknown = "\nDisabled by somebody else, and held by no plan: not known before the first sweep of " +
                              back.target.fabric + " (last: PLAN-3, PLAN-4).\n";
  FabricView unswept;
  unswept.name = back.target.fabric;
  for (const std::vector<FabricView>& fabrics : {std::vector<FabricView>{}, std::vector<FabricView>{unswept}}) {
    publication.publish(with_plans(api::make_snapshot(++revision, fabrics), {out, back, other}));
    EXPECT_EQ(list(WhichPlans::kOpen), "No open plans.\n" + unknown);
    EXPECT_EQ(list(WhichPlans::kInForce), "No plan holds anything.\n" + unknown);
    EXPECT_THAT(list(WhichPlans::kAll), EndsWith(unknown));
  }
}

TEST_F(OthersDisabled, AreNotLinksThatRoutesOnlyAvoid) {
  back.inverse = RemedyAction::kRaiseLinkCost;
  publish(PortPhysicalState::kDisabled, {out, back});
  EXPECT_EQ(list(WhichPlans::kOpen), "No open plans.\n");
}

}  // namespace
}  // namespace weft::ctl
