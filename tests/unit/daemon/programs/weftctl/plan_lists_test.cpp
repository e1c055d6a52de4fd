// SPDX-License-Identifier: Apache-2.0
// weftctl's lists of plans, approvals at a terminal, and waiting for a plan, against a server whose daemon is made up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/unit/api/small_plans.hpp"
#include "tests/unit/daemon/programs/weftctl/verbs_fixture.hpp"

namespace weft::ctl {
namespace {

using namespace std::chrono_literals;
using api::make_plan;
using api::make_snapshot;
using api::with_plans;
using ::testing::HasSubstr;
using ::testing::Not;

Plan holding(std::uint64_t id, RemedyAction action, std::uint64_t incident) {
  Plan plan = make_plan(id, PlanState::kCommitted);
  plan.action = action;
  plan.incident = incident;
  plan.in_force = true;
  plan.started = api::kNow - 1h;
  plan.outcome = "the symptom is gone";
  return plan;
}

class PlansInForce : public Verbs {
 protected:
  void publish(const std::vector<Plan>& plans) {
    auto snapshot = with_plans(make_snapshot(++revision, {}), plans);
    snapshot->remedy.out_of_service =
        static_cast<std::uint32_t>(std::ranges::count_if(plans, [](const Plan& plan) { return plan.in_force; }));
    publication.publish(snapshot);
  }
  std::uint64_t revision = 0;
};

TEST_F(PlansInForce, AreListedWithTheirWayBack) {
  publish({make_plan(1)});
  EXPECT_EQ(say(Exit::kGood, show_plans, WhichPlans::kInForce, false), "No plan holds anything.\n");
  EXPECT_THAT(say(Exit::kGood, show_plans, WhichPlans::kOpen, false), Not(HasSubstr("--in-force")));
  EXPECT_THAT(say(Exit::kBadNews, show_status), Not(HasSubstr("--in-force")));

  Plan drained = holding(4, RemedyAction::kDrainNode, 3);
  drained.target = {.kind = EntityKind::kHost, .fabric = {}, .port = {}, .peer = {}, .label = "gpu-1", .host = "gpu-1"};
  Plan failed_return = holding(5, RemedyAction::kRestoreLink, 0);
  failed_return.state = PlanState::kRolledBack;
  failed_return.inverse = RemedyAction::kRaiseLinkCost;
  failed_return.outcome = "it failed again";
  Plan over = make_plan(6, PlanState::kCommitted);
  Plan kept = holding(7, RemedyAction::kIsolateLink, 4);
  kept.kept_out = "ann rejected its return PLAN-9: the cable is out";
  publish({holding(2, RemedyAction::kIsolateLink, 1), holding(3, RemedyAction::kRaiseLinkCost, 2), drained,
           failed_return, over, kept});
  const std::string seen = say(Exit::kGood, show_plans, WhichPlans::kInForce, false);
  EXPECT_THAT(seen, HasSubstr("PLAN-2  ISOLATE_LINK"));
  EXPECT_THAT(seen, HasSubstr("a plan follows after remedy.limits.reinstate_after; by hand: weftctl restore leaf-1:1"));
  EXPECT_THAT(seen, HasSubstr("a plan follows when INC-2 is over and the link is up; by hand: weftctl lower-cost"));
  EXPECT_THAT(seen, HasSubstr("when INC-3 is over and the host is healthy; by hand: weftctl undrain gpu-1"));
  EXPECT_THAT(seen, HasSubstr("ann rejected its return PLAN-9: the cable is out; by hand: weftctl restore leaf-1:1"));
  EXPECT_THAT(seen, HasSubstr("PLAN-5  RAISE_LINK_COST"));
  EXPECT_THAT(seen, HasSubstr("it failed again"));
  EXPECT_THAT(seen, HasSubstr("only by hand: weftctl lower-cost leaf-1:1"));
  EXPECT_THAT(seen, Not(HasSubstr("PLAN-6")));
  EXPECT_EQ(say(Exit::kGood, show_plans, WhichPlans::kInForce, true), "PLAN-2\nPLAN-3\nPLAN-4\nPLAN-5\nPLAN-7\n");
  EXPECT_EQ(json(Exit::kGood, show_plans, WhichPlans::kInForce, false)["plans"].size(), 5U);
  EXPECT_THAT(say(Exit::kGood, show_plans, WhichPlans::kOpen, false),
              HasSubstr("\nLinks and hosts held by plans, also by plans that are over: 5 (weftctl"));
  EXPECT_THAT(
      say(Exit::kBadNews, show_status),
      HasSubstr("\nLinks and hosts held by plans, also by plans that are over: 5 (weftctl plans --in-force)\n"));
  publish({over});
  EXPECT_EQ(say(Exit::kGood, show_plans, WhichPlans::kOpen, false), "No open plans.\n");
}

TEST_F(PlansInForce, AReturnThatFailedIsListedUntilItsLinkIsBack) {
  Plan out = holding(2, RemedyAction::kIsolateLink, 1);
  out.reason = "errors on the link";
  out.in_force = false;
  Plan back = holding(5, RemedyAction::kRestoreLink, 1);
  back.state = PlanState::kRolledBack;
  back.undoes = 2;
  back.outcome = "aborted by ann: wrong link";
  publish({out, back});
  const std::string open = say(Exit::kGood, show_plans, WhichPlans::kOpen, false);
  EXPECT_THAT(open, HasSubstr("PLAN-5  RESTORE_LINK  ROLLED_BACK"));
  EXPECT_THAT(open, Not(HasSubstr("PLAN-2"))) << "it is over, and looked after";
  const std::string held = say(Exit::kGood, show_plans, WhichPlans::kInForce, false);
  EXPECT_THAT(held, HasSubstr("PLAN-2  ISOLATE_LINK")) << "as weftctl links names it";
  EXPECT_THAT(held, HasSubstr("errors on the link; PLAN-5 did not bring it back: aborted by ann: wrong link"));

  back.in_force = false;
  back.unresolved = true;
  publish({out, back});
  EXPECT_THAT(say(Exit::kGood, show_plans, WhichPlans::kOpen, false), HasSubstr("ROLLED_BACK (unresolved)"));
  back.unresolved = false;
  publish({out, back});
  EXPECT_EQ(say(Exit::kGood, show_plans, WhichPlans::kOpen, false), "No open plans.\n");
}

TEST_F(PlansInForce, WhatOthersGaveBackIsCounted) {
  auto snapshot = make_snapshot(1, {});
  snapshot->remedy.undone_by_others = 2;
  publication.publish(snapshot);
  EXPECT_THAT(say(Exit::kGood, show_plans, WhichPlans::kOpen, false),
              HasSubstr("Given back by others while a plan held them: 2 (weftctl plans --all says which and when)\n"));
}

TEST_F(PlansInForce, WhatOthersTookOutIsNamed) {
  auto snapshot = make_snapshot(1, {});
  snapshot->remedy.on_probation = 1;
  snapshot->remedy.out_by_others = 7;
  for (const char* leaf : {"1", "2", "3", "4", "5", "6", "7"})
    snapshot->remedy.links_out_by_others.push_back("leaf-" + std::string(leaf) + " port 1 - spine-1 port " + leaf);
  publication.publish(snapshot);
  const std::string plans = say(Exit::kGood, show_plans, WhichPlans::kOpen, false);
  EXPECT_THAT(plans, HasSubstr("came back and are on probation: 1 (weftctl plans)\n"));
  EXPECT_THAT(plans, HasSubstr("disabled, or have the subnet manager avoid: 7\n  leaf-1 port 1 - spine-1 port 1\n"));
  EXPECT_THAT(plans, HasSubstr("  leaf-7 port 1 - spine-1 port 7\n"));
  const std::string status = say(Exit::kBadNews, show_status);
  EXPECT_THAT(status, HasSubstr("  leaf-5 port 1 - spine-1 port 5\n  and 2 more (weftctl plans names them)\n"));
}

TEST_F(PlansInForce, NameThePlanThatBringsThemBack) {
  Plan back = make_plan(3, PlanState::kVerifying);
  back.action = RemedyAction::kRestoreLink;
  back.undoes = 2;
  back.windows_good = 3;
  back.windows_needed = 90;
  publish({holding(2, RemedyAction::kIsolateLink, 1), back});
  EXPECT_THAT(say(Exit::kGood, show_plans, WhichPlans::kInForce, false),
              HasSubstr("PLAN-3 RESTORE_LINK is VERIFYING 3/90"));
}

TEST_F(PlansInForce, TheStatusShowsWhatHoldsAutomationBackFirst) {
  auto snapshot = make_snapshot(1, {});
  snapshot->remedy.hands_off = true;
  snapshot->remedy.hands_off_reason = "kim: a visitor";
  snapshot->remedy.file_brake = "/run/stop exists";
  snapshot->remedy.breaker_tripped = true;
  snapshot->remedy.breaker_reason = "another weftd may act at leaf-2 port 3";
  publication.publish(snapshot);
  EXPECT_THAT(
      say(Exit::kBadNews, show_status),
      ::testing::StartsWith("Everything is stopped (hands-off), also what persons order: kim: a visitor\n"
                            "  to release it: weftctl hands-off off --reason ...\n"
                            "Everything is stopped by the hands-off file, also what persons order: /run/stop exists\n"
                            "  to release it: remove the file\n"
                            "The circuit breaker is tripped: another weftd may act at leaf-2 port 3\n"));
}

TEST_F(PlansInForce, OneThatIsBeingAppliedIsAmongThem) {
  Plan executing = make_plan(1, PlanState::kExecuting);
  executing.intent = PlanIntent::kApply;
  executing.started = api::kNow;
  publish({executing});
  const std::string seen = say(Exit::kGood, show_plans, WhichPlans::kInForce, false);
  EXPECT_THAT(seen, HasSubstr("PLAN-1  ISOLATE_LINK"));
  EXPECT_THAT(seen, HasSubstr("it is being applied, and may be in force already; to undo it: weftctl abort PLAN-1"));
  const std::string stopped = say(Exit::kGood, set_hands_off, true, std::string("drill"), std::string("kim"), false);
  EXPECT_THAT(stopped, HasSubstr("No change is being sent. These plans have begun"));
  EXPECT_THAT(stopped, HasSubstr("PLAN-1  ISOLATE_LINK"));
  EXPECT_THAT(stopped, Not(HasSubstr("No change is under way")));
  Plan verifying = make_plan(2, PlanState::kVerifying);
  verifying.in_force = true;
  publish({verifying});
  EXPECT_THAT(say(Exit::kGood, show_plans, WhichPlans::kInForce, false),
              HasSubstr("it is being verified; to undo it: weftctl abort PLAN-2 --reason ..."));
  EXPECT_THAT(
      say(Exit::kGood, set_hands_off, true, std::string("drill"), std::string("kim"), false),
      ::testing::EndsWith("No change is being sent.\n"
                          "These plans are being verified; what fails is undone after hands-off off, not before:\n"
                          "  PLAN-2  ISOLATE_LINK  leaf-1 port 1 - host-1 mlx5_0 port 1  VERIFYING\n"));
  publish({});
  EXPECT_THAT(say(Exit::kGood, set_hands_off, true, std::string("drill"), std::string("kim"), false),
              HasSubstr("No change is under way.\n"));
}

TEST_F(PlansInForce, WhatIsUndoneSaysWhatItWaitsForAndWhatItDoes) {
  Plan back = make_plan(6, PlanState::kRollingBack);
  back.action = RemedyAction::kRestoreLink;
  back.intent = PlanIntent::kApply;
  back.outcome = "aborted by ann: wrong cable";
  back.waits_for = "automation is stopped: kim: drill";
  publish({back});
  EXPECT_THAT(say(Exit::kGood, show_plans, WhichPlans::kOpen, false),
              HasSubstr("automation is stopped: kim: drill; the link is taken out of service again; aborted by ann"));
  const std::string one = say(Exit::kGood, show_plan, std::string("6"));
  EXPECT_THAT(one, HasSubstr("waits       automation is stopped: kim: drill\n"));
  EXPECT_THAT(one, HasSubstr("now         it is being undone: the link is taken out of service again\n"));
  EXPECT_THAT(one, Not(HasSubstr("being applied")));
  const std::string again = say(Exit::kGood, abort_plan, Decision{.id = "6", .reason = "wrong cable", .who = "ann"});
  EXPECT_THAT(again,
              ::testing::StartsWith("PLAN-6 is being undone already (aborted by ann: wrong cable): the link is "
                                    "taken out of service again; it waits: automation is stopped: kim: drill\n"));
}

TEST_F(Verbs, LinksSayThatHandsOffKeepsWhatIsUndone) {
  api::SmallFabric fabric;
  Plan back = make_plan(3, PlanState::kRollingBack);
  back.action = RemedyAction::kRestoreLink;
  back.undoes = 1;
  auto snapshot = with_plans(make_snapshot(1, {fabric.build()}), {make_plan(1, PlanState::kCommitted), back});
  snapshot->remedy.hands_off = true;
  publication.publish(snapshot);
  EXPECT_THAT(say(Exit::kGood, show_links, LinkChoice()), HasSubstr("PLAN-3 takes it out again when hands-off ends"));
}

class ReleaseOfHandsOff : public Verbs {
 protected:
  /// PLAN-1 was ordered, PLAN-2 is automatic, PLAN-3 is refused by another guard, PLAN-4 needs an approval.
  ReleaseOfHandsOff() {
    const GuardVerdict stopped{Guard::kHandsOff, GuardResult::kRefused, "all automation is stopped: kim"};
    std::vector<Plan> plans{make_plan(1, PlanState::kApproved), make_plan(2), make_plan(3), make_plan(4)};
    for (Plan& plan : plans) plan.guards[0] = stopped;
    plans[2].guards[1] = {Guard::kBudget, GuardResult::kRefused, "actions per hour are used up: 4"};
    plans[3].action = RemedyAction::kRaiseLinkCost;
    auto snapshot = with_plans(make_snapshot(1, {}), plans);
    snapshot->remedy.hands_off = true;
    snapshot->remedy.hands_off_reason = "kim";
    snapshot->remedy.automatic = {RemedyAction::kIsolateLink};
    publication.publish(snapshot);
  }
  std::string release(const std::string& typed, bool yes) {
    std::ostringstream out;
    std::istringstream in(typed);
    Session session{*client, out, false, true, true, api::kNow};
    session.answers = &in;
    try {
      set_hands_off(session, false, "done", "ann", yes);
      return out.str();
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.exit, Exit::kRefused);
      return out.str() + failure.what();
    }
  }
};

TEST_F(ReleaseOfHandsOff, ListsWhatBeginsAndAsksOnce) {
  const std::string refused = release("n\n", false);
  EXPECT_THAT(refused, HasSubstr("These plans begin or go on then, if no guard refuses them:\n"
                                 "  PLAN-1  ISOLATE_LINK  leaf-1 port 1 - host-1 mlx5_0 port 1  APPROVED\n"
                                 "  PLAN-2  ISOLATE_LINK  leaf-1 port 1 - host-1 mlx5_0 port 1  PROPOSED\n"
                                 "\nrelease hands-off: do it? [y/N] "));
  EXPECT_THAT(refused, HasSubstr("nothing was done"));
  EXPECT_EQ(remedies.times(), 0U);
  const std::string released = release("y\n", false);
  EXPECT_THAT(released, ::testing::StartsWith("To be released: hands-off, kim\n"));
  EXPECT_THAT(released, HasSubstr("\nHands-off is released.\nAutomation is not stopped."));
  EXPECT_THAT(released, Not(HasSubstr("is stopped (hands-off)")));
  EXPECT_EQ(remedies.times(), 1U);
}

TEST_F(ReleaseOfHandsOff, WithYesOrWithoutATerminalItListsAndDoesNotAsk) {
  const std::string sure = release("", true);
  EXPECT_THAT(sure, HasSubstr("PLAN-2  ISOLATE_LINK"));
  EXPECT_THAT(sure, Not(HasSubstr("do it?")));
  EXPECT_EQ(remedies.times(), 1U);
  const std::string script = say(Exit::kGood, set_hands_off, false, std::string("done"), std::string("ann"), false);
  EXPECT_THAT(script, HasSubstr("PLAN-1  ISOLATE_LINK"));
  EXPECT_THAT(script, Not(HasSubstr("do it?")));
  EXPECT_EQ(remedies.times(), 2U);
}

TEST_F(Verbs, ReleaseNamesWhatUndoingAPlanMeans) {
  Plan back = make_plan(6, PlanState::kRollingBack);
  back.action = RemedyAction::kRestoreLink;
  back.intent = PlanIntent::kApply;
  Plan undone = make_plan(7, PlanState::kRollingBack);
  auto snapshot = with_plans(make_snapshot(1, {}), {back, undone});
  snapshot->remedy.hands_off = true;
  snapshot->remedy.hands_off_reason = "kim";
  publication.publish(snapshot);
  const std::string seen = say(Exit::kGood, set_hands_off, false, std::string("done"), std::string("ann"), false);
  EXPECT_THAT(seen, HasSubstr("PLAN-6  RESTORE_LINK  leaf-1 port 1 - host-1 mlx5_0 port 1  ROLLING_BACK: the link is "
                              "taken out of service again\n"));
  EXPECT_THAT(seen, Not(HasSubstr("PLAN-7"))) << "nothing of it is left to send";
}

TEST_F(Verbs, AReleaseOfNothingIsRefused) {
  const Failure free = fails(set_hands_off, false, std::string("done"), std::string("ann"), false);
  EXPECT_EQ(free.exit, Exit::kRefused);
  EXPECT_STREQ(free.what(), "automation is not stopped: nothing was done");
  auto snapshot = make_snapshot(1, {});
  snapshot->remedy.file_brake = "/run/stop exists";
  publication.publish(snapshot);
  const Failure file = fails(set_hands_off, false, std::string("done"), std::string("ann"), false);
  EXPECT_EQ(file.exit, Exit::kRefused);
  EXPECT_STREQ(file.what(),
               "no person stopped automation, but the hands-off file still stops it: /run/stop exists; to release it, "
               "remove the file");
  EXPECT_EQ(remedies.times(), 0U);
}

class AtATerminal : public Verbs {
 protected:
  std::string abort(const std::string& typed, const Decision& decision) {
    std::ostringstream out;
    std::istringstream in(typed);
    Session session{*client, out, false, true, true, api::kNow};
    session.answers = &in;
    try {
      abort_plan(session, decision);
      return out.str();
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.exit, Exit::kRefused);
      return out.str() + failure.what();
    }
  }
  std::string approve(const std::string& typed, Decision decision) {
    std::ostringstream out;
    std::istringstream in(typed);
    Session session{*client, out, false, true, true, api::kNow};
    session.answers = &in;
    try {
      approve_plan(session, decision);
      return out.str();
    } catch (const Failure& failure) {
      return out.str() + failure.what();
    }
  }
};

TEST_F(AtATerminal, AnAbortSaysWhatItMeansAndAsksOnce) {
  Plan back = make_plan(6, PlanState::kVerifying);
  back.action = RemedyAction::kRestoreLink;
  publication.publish(with_plans(make_snapshot(1, {}), {back, make_plan(7), make_plan(8, PlanState::kVerifying)}));
  const Decision decision{.id = "6", .reason = "wrong cable", .who = "ann"};
  const std::string no = abort("n\n", decision);
  EXPECT_THAT(no, HasSubstr("abort       the link is taken out of service again, unless a guard forbids it"));
  EXPECT_THAT(no, ::testing::AllOf(HasSubstr("\n\nabort PLAN-6: do it? [y/N] "), HasSubstr("nothing was done")));
  EXPECT_EQ(remedies.times(), 0U);
  EXPECT_THAT(abort("n\n", {.id = "7", .reason = "x", .who = "ann"}), HasSubstr("the plan ends; nothing was changed"));
  EXPECT_THAT(abort("n\n", {.id = "8", .reason = "x", .who = "ann"}),
              HasSubstr("abort       the link returns to service"));
  EXPECT_THAT(abort("y\n", decision), HasSubstr("ROLLING_BACK"));
  EXPECT_EQ(remedies.times(), 1U);
  Decision sure = decision;
  sure.yes = true;
  EXPECT_THAT(abort("", sure), Not(HasSubstr("do it?")));
  EXPECT_EQ(remedies.times(), 2U);
}

TEST_F(AtATerminal, APlanIsShownBeforeItsApproval) {
  publication.publish(with_plans(make_snapshot(1, {}), {make_plan(1, PlanState::kProposed, 5)}));
  for (const char* no : {"", "n\n", "\n"}) {
    EXPECT_THAT(approve(no, {.id = "1", .reason = "", .who = "ann"}), HasSubstr("nothing was done")) << no;
    EXPECT_EQ(remedies.times(), 0U);
  }
  const std::string done = approve("y\n", {.id = "1", .reason = "", .who = "ann"});
  EXPECT_THAT(done, HasSubstr("guards, in order of evaluation"));
  EXPECT_THAT(done, HasSubstr("do it? [y/N] "));
  EXPECT_THAT(done, HasSubstr("PLAN-1  ISOLATE_LINK  APPROVED"));
  EXPECT_EQ(done.find("to approve"), std::string::npos) << "who is asked needs no command";
  EXPECT_EQ(remedies.times(), 1U);
  EXPECT_THAT(approve("", {.id = "1", .reason = "", .who = "ann", .yes = true}), Not(HasSubstr("do it?")));
  EXPECT_THAT(approve("y\n", {.id = "1", .reason = "", .who = "ann", .revision = 4}),
              HasSubstr("is of revision 5 by now"))
      << "what is no longer what was read is not asked";
}

TEST_F(AtATerminal, WhatAGuardRefusesIsNotAsked) {
  Plan refused = make_plan(1, PlanState::kProposed, 5);
  refused.guards[1] = {Guard::kBudget, GuardResult::kRefused, "actions per hour are used up: 4"};
  publication.publish(with_plans(make_snapshot(1, {}), {refused}));
  const std::string said = approve("y\n", {.id = "1", .reason = "", .who = "ann"});
  EXPECT_THAT(said, HasSubstr("BUDGET: actions per hour are used up: 4"));
  EXPECT_THAT(said, Not(HasSubstr("do it?")));
  EXPECT_EQ(remedies.times(), 0U);
}

TEST_F(AtATerminal, TheRevisionThatWasSeenIsApproved) {
  publication.publish(with_plans(make_snapshot(1, {}), {make_plan(1, PlanState::kProposed, 4)}));
  EXPECT_THAT(approve("y\n", {.id = "1", .reason = "", .who = "ann"}), HasSubstr("is of revision 5 by now"));
}

class Waiting : public Verbs {
 protected:
  static Plan ended(PlanState state) {
    Plan plan = make_plan(9, state);
    plan.outcome = "it is over";
    plan.steps.push_back({api::kNow, PlanState::kExecuting, "weftd", "ISOLATE_LINK is being sent to infiniband_port"});
    plan.steps.push_back({api::kNow, state, "weftd", plan.outcome});
    return plan;
  }
  static Wish patient(Duration wait) {
    Wish wish{"leaf-1:7", "bad", "ann"};
    wish.wait = wait;
    return wish;
  }
};

TEST_F(Waiting, EachStepIsPrintedOnceUntilThePlanIsOver) {
  publication.publish(with_plans(make_snapshot(1, {}), {make_plan(9, PlanState::kExecuting)}));
  std::thread world([this] {
    std::this_thread::sleep_for(700ms);
    publication.publish(with_plans(make_snapshot(2, {}), {ended(PlanState::kCommitted)}));
  });
  const std::string said = say(Exit::kGood, isolate_link, patient(30s));
  world.join();
  EXPECT_THAT(said, HasSubstr("EXECUTING  weftd  ISOLATE_LINK is being sent"));
  EXPECT_THAT(said, ::testing::EndsWith("PLAN-9 is COMMITTED (reverted): it is over\n"));
  EXPECT_EQ(said.find("proposed for INC-1"), said.rfind("proposed for INC-1")) << said;
}

TEST_F(Waiting, TheExitStatusTellsHowItEnded) {
  const auto ends = [this](PlanState state) {
    publication.publish(with_plans(make_snapshot(1, {}), {ended(state)}));
    std::ostringstream out;
    return isolate_link(Session{*client, out, false, true, false, api::kNow}, patient(30s));
  };
  EXPECT_EQ(ends(PlanState::kCommitted), Exit::kGood);
  EXPECT_EQ(ends(PlanState::kRolledBack), Exit::kBadNews);
  EXPECT_EQ(ends(PlanState::kFailed), Exit::kBadNews);
  EXPECT_EQ(ends(PlanState::kExpired), Exit::kRefused);
  EXPECT_EQ(ends(PlanState::kRejected), Exit::kRefused);
}

TEST_F(Waiting, AnAbortIsGoodWhenItIsUndone) {
  const auto ends = [this](PlanState state) {
    Plan plan = make_plan(1, state);
    publication.publish(with_plans(make_snapshot(1, {}), {plan}));
    std::ostringstream out;
    return abort_plan(Session{*client, out, false, true, false, api::kNow},
                      {.id = "1", .reason = "wrong cable", .who = "ann", .wait = 30s});
  };
  EXPECT_EQ(ends(PlanState::kRolledBack), Exit::kGood);
  EXPECT_EQ(ends(PlanState::kFailed), Exit::kBadNews);
}

TEST_F(Waiting, AnAbortThatLeavesALinkInServiceIsRefused) {
  Plan plan = make_plan(1, PlanState::kRejected);
  plan.action = RemedyAction::kRestoreLink;
  publication.publish(with_plans(make_snapshot(1, {}), {plan}));
  std::ostringstream out;
  const Decision decision{.id = "1", .reason = "wrong cable", .who = "ann", .wait = 30s};
  EXPECT_EQ(abort_plan(Session{*client, out, false, true, false, api::kNow}, decision), Exit::kGood) << "not begun";
  plan.started = api::kNow;
  publication.publish(with_plans(make_snapshot(2, {}), {plan}));
  EXPECT_EQ(abort_plan(Session{*client, out, false, true, false, api::kNow}, decision), Exit::kRefused);
}

TEST_F(Waiting, IsBounded) {
  publication.publish(with_plans(make_snapshot(1, {}), {make_plan(9, PlanState::kExecuting)}));
  const Failure late = fails(isolate_link, patient(1s));
  EXPECT_EQ(late.exit, Exit::kUnfinished);
  EXPECT_STREQ(late.what(), "PLAN-9 is still EXECUTING: weftctl plan PLAN-9");
}

TEST_F(Waiting, APlanThatSomebodyElseApprovedIsWaitedFor) {
  Plan plan = make_plan(2, PlanState::kExecuting);
  publication.publish(with_plans(make_snapshot(1, {}), {plan}));
  std::thread world([this] {
    std::this_thread::sleep_for(700ms);
    publication.publish(with_plans(make_snapshot(2, {}), {make_plan(2, PlanState::kRolledBack)}));
  });
  const std::string said =
      say(Exit::kBadNews, approve_plan, Decision{.id = "PLAN-2", .reason = "", .who = "ann", .wait = 30s});
  world.join();
  EXPECT_THAT(said, HasSubstr("; waiting for its end\nPLAN-2  ISOLATE_LINK"));
  publication.publish(with_plans(make_snapshot(3, {}), {make_plan(2)}));
  EXPECT_EQ(fails(approve_plan, Decision{.id = "PLAN-2", .reason = "", .who = "ann", .wait = 30s}).exit,
            Exit::kRefused);
}

TEST_F(Waiting, SaysWhatForWhenItIsTooLong) {
  Plan waiting = make_plan(9, PlanState::kApproved);
  waiting.guards[1] = {Guard::kOneActor, GuardResult::kRefused, "PLAN-3 is under way"};
  publication.publish(with_plans(make_snapshot(1, {}), {waiting}));
  EXPECT_STREQ(fails(isolate_link, patient(1s)).what(),
               "PLAN-9 is still APPROVED (waiting: ONE_ACTOR): PLAN-3 is under way: weftctl plan PLAN-9");
}

TEST_F(Verbs, StatusAndIncidentNameTheirPlans) {
  Plan other = make_plan(3);
  other.incident = 0;
  Incident incident;
  incident.id = 1;
  auto snapshot = with_plans(make_snapshot(1, {}, {incident}), {make_plan(2, PlanState::kRolledBack), other});
  publication.publish(snapshot);
  std::ostringstream out;
  show_status(Session{*client, out, false, true, false, api::kNow});
  EXPECT_THAT(out.str(), HasSubstr("Plans that wait for approval: PLAN-3 (weftctl plans)\n"));
  const std::string said = say(Exit::kGood, show_incident, "INC-1");
  EXPECT_THAT(said, HasSubstr("\nplans\n  PLAN-2  ISOLATE_LINK  ROLLED_BACK  leaf-1 port 1"));
  EXPECT_THAT(said, Not(HasSubstr("PLAN-3")));
}

TEST_F(Waiting, ProgramsGetTheEndAlone) {
  publication.publish(with_plans(make_snapshot(1, {}), {ended(PlanState::kCommitted)}));
  EXPECT_EQ(json(Exit::kGood, isolate_link, patient(30s))["state"], "COMMITTED");
}

}  // namespace
}  // namespace weft::ctl
