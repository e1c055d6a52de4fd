// SPDX-License-Identifier: Apache-2.0
// What weftctl's screens of plans say of when, why and by which plan, against a server whose daemon is made up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/programs/weftctl/plan_report.hpp"
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

class PlanWords : public Verbs {
 protected:
  void show(const std::vector<Plan>& plans) { publication.publish(with_plans(make_snapshot(++shown, {}), plans)); }
  std::string plan(std::uint64_t id) { return say(Exit::kGood, show_plan, std::to_string(id)); }
  std::string open() { return say(Exit::kGood, show_plans, WhichPlans::kOpen, false); }
  std::string in_force() { return say(Exit::kGood, show_plans, WhichPlans::kInForce, false); }
  /// Took a link out an hour ago. Given back since then.
  static Plan plan_out(std::uint64_t id) {
    Plan plan = make_plan(id, PlanState::kCommitted);
    plan.started = api::kNow - 1h;
    plan.finished = api::kNow - 50min;
    plan.outcome = "no route leads over it";
    plan.reason = "errors on the link";
    return plan;
  }
  /// Brought the link back ten minutes ago, and took it out again a minute ago.
  static Plan failed_return(std::uint64_t id, std::uint64_t undoes) {
    Plan plan = make_plan(id, PlanState::kRolledBack);
    plan.action = RemedyAction::kRestoreLink;
    plan.undoes = undoes;
    plan.in_force = true;
    plan.started = api::kNow - 10min;
    plan.finished = api::kNow - 1min;
    plan.outcome = "it did not help: errors";
    plan.reason = "new cable";
    return plan;
  }
  std::uint64_t shown = 0;
};

TEST_F(PlanWords, GuardsThatAreAskedNoMoreSayOfWhenTheyAre) {
  Plan sending = make_plan(4, PlanState::kExecuting);
  sending.steps.push_back({api::kNow - 40s, PlanState::kExecuting, "weftd", "started"});
  sending.steps.push_back({api::kNow - 30s, PlanState::kExecuting, "weftd", "held before it was sent"});
  show({sending, make_plan(5)});
  EXPECT_THAT(plan(4), HasSubstr("\nguards, in order of evaluation, as of 2023-11-14 22:12:40 UTC\n"));
  EXPECT_THAT(plan(5), HasSubstr("\nguards, in order of evaluation\n")) << "they are of now";
  sending.steps.push_back({api::kNow - 20s, PlanState::kApproved, "weftd", "approved automatically"});
  sending.steps.push_back({api::kNow - 10s, PlanState::kExecuting, "weftd", "started"});
  show({sending});
  EXPECT_THAT(plan(4), HasSubstr("as of 2023-11-14 22:13:10 UTC\n")) << "it began anew";
  sending.steps.erase(sending.steps.begin(), sending.steps.begin() + 4);
  show({sending});
  EXPECT_THAT(plan(4), Not(HasSubstr("as of"))) << "nothing tells of its beginning";
}

TEST_F(PlanWords, TheStatusNamesApprovedPlansThatWaitAndWhatFor) {
  Plan full = make_plan(9, PlanState::kApproved);
  full.guards[1] = {Guard::kBudget, GuardResult::kRefused, "maximum of links of one switch reached: 2"};
  Plan turn = make_plan(18, PlanState::kApproved);
  turn.guards[1] = {Guard::kOneActor, GuardResult::kRefused, "PLAN-17 is under way"};
  Plan held = make_plan(19, PlanState::kApproved);
  held.waits_for = "held until 2023-11-14 22:20 UTC";
  show({full, make_plan(10, PlanState::kApproved), turn, held, make_plan(20)});
  std::ostringstream out;
  show_status(Session{*client, out, false, true, false, api::kNow});
  EXPECT_THAT(out.str(), HasSubstr("Plans that wait for approval: PLAN-20 (weftctl plans)\n"
                                   "Approved plans that wait: PLAN-9 (BUDGET), PLAN-18 (ONE_ACTOR), PLAN-19 "
                                   "(weftctl plans)\n"))
      << "PLAN-10 begins";
}

TEST_F(PlanWords, WhatWasNotSentIsEndedAndNotUndone) {
  Plan begun = make_plan(2, PlanState::kExecuting);
  Plan sent = make_plan(3, PlanState::kExecuting);
  sent.intent = PlanIntent::kApply;
  show({make_plan(1, PlanState::kApproved), begun, sent});
  for (const std::uint64_t id : {1, 2})
    EXPECT_THAT(plan(id), HasSubstr("\nto end it    weftctl abort PLAN-" + std::to_string(id) + " --reason ...\n"));
  EXPECT_THAT(plan(3), HasSubstr("\nto undo it   weftctl abort PLAN-3 --reason ...\n"));
}

// As its history says it, where the return is not known any more.
TEST_F(PlanWords, WhatIsHeldAgainIsNotCalledReverted) {
  Plan out = plan_out(1);
  out.steps.push_back({api::kNow - 9min, PlanState::kCommitted, "weftd", "reverted by PLAN-3"});
  out.steps.push_back({api::kNow - 1min, PlanState::kCommitted, "weftd", "held again by PLAN-3: it did not help"});
  show({out});
  EXPECT_THAT(plan(1), HasSubstr("now         held again by PLAN-3: it did not help, since 2023-11-14 22:12:20 UTC\n"));
}

TEST_F(PlanWords, WhatHandsOffKeepsBackSaysSoInTheList) {
  Plan sending = make_plan(4, PlanState::kExecuting);
  Plan verifying = make_plan(5, PlanState::kVerifying);
  sending.waits_for = verifying.waits_for = "automation is stopped: kim: drill";
  show({sending, verifying});
  EXPECT_THAT(open(), HasSubstr("EXECUTING (waiting: HANDS_OFF)"));
  EXPECT_THAT(open(), Not(HasSubstr("VERIFYING (waiting")));
  sending.waits_for = "for something else";
  show({sending});
  EXPECT_THAT(open(), Not(HasSubstr("HANDS_OFF")));
}

TEST_F(PlanWords, WhatAGuardHeldBeforeItWasSentSaysUntilWhen) {
  Plan held = make_plan(4, PlanState::kApproved);
  held.waits_for = "held until 2023-11-14 22:14 UTC";
  show({held});
  EXPECT_THAT(plan(4), HasSubstr("\nwaits       held until 2023-11-14 22:14 UTC\n"));
  EXPECT_THAT(open(), HasSubstr("held until 2023-11-14 22:14 UTC"));
}

TEST_F(PlanWords, WhatIsHeldIsOutSinceWhenWeftdSaysSo) {
  Plan back = failed_return(4, 2);
  back.held_since = api::kNow - 1min;
  show({plan_out(2), back});
  EXPECT_THAT(in_force(), HasSubstr("2023-11-14 22:12:20 UTC"));
  back.held_since = kNever;
  show({plan_out(2), back});
  EXPECT_THAT(in_force(), Not(HasSubstr("UTC"))) << "nobody knows";
  Plan out = plan_out(2);
  out.in_force = true;
  show({out});
  EXPECT_THAT(in_force(), HasSubstr("2023-11-14 21:13:20 UTC")) << "an older weftd does not say it";
}

TEST_F(PlanWords, WhatAReturnHoldsGoesByThePlanThatTookItOutInEveryForm) {
  Plan second = failed_return(6, 4);
  show({plan_out(2), failed_return(4, 2), second, plan_out(7)});
  EXPECT_THAT(in_force(), HasSubstr("PLAN-2  ISOLATE_LINK"));
  EXPECT_EQ(say(Exit::kGood, show_plans, WhichPlans::kInForce, true), "PLAN-2\n");
  std::vector<std::string> ids;
  const auto printed = json(Exit::kGood, show_plans, WhichPlans::kInForce, false);
  for (const auto& plan : printed["plans"]) ids.push_back(plan["id"]);
  EXPECT_EQ(ids, (std::vector<std::string>{"PLAN-2", "PLAN-4", "PLAN-6"}));
  show({second});
  EXPECT_EQ(say(Exit::kGood, show_plans, WhichPlans::kInForce, true), "PLAN-6\n") << "nobody knows the others";
}

TEST_F(PlanWords, AReturnThatIsUndoneSaysWhyAndThatItsLinkGoesOutAgain) {
  Plan back = failed_return(4, 2);
  back.state = PlanState::kRollingBack;
  back.in_force = false;
  back.finished = kNever;
  back.intent = PlanIntent::kApply;
  back.outcome = "aborted by root (uid 0): wrong cable";
  back.waits_for = "automation is stopped: kim: drill";
  back.steps.push_back({back.started + 1min, PlanState::kVerifying, "weftd", "it is up, and on probation"});
  api::SmallFabric fabric;
  const auto shown_with = [&](const Plan& plan) {
    auto snapshot = with_plans(make_snapshot(++shown, {fabric.build()}), {plan_out(2), plan});
    publication.publish(snapshot);
  };
  shown_with(back);
  const std::string held = in_force();
  EXPECT_THAT(held, HasSubstr("PLAN-4 did not bring it back: aborted by root (uid 0): wrong cable"));
  EXPECT_THAT(held, Not(HasSubstr("new cable"))) << "that is why it was ordered";
  EXPECT_THAT(held, Not(HasSubstr("2023-11-14 22"))) << "it is in service yet";
  EXPECT_THAT(say(Exit::kGood, show_links, LinkChoice()), HasSubstr("up (PLAN-4 takes it out again)"));
}

TEST_F(PlanWords, WhatIsRevertedSaysSinceWhenAndByWhichPlan) {
  Plan out = plan_out(3);
  out.steps.push_back({out.finished, PlanState::kCommitted, "weftd", out.outcome});
  out.steps.push_back({api::kNow - 5min, PlanState::kCommitted, "weftd", "reverted by PLAN-4"});
  show({out});
  EXPECT_THAT(plan(3), HasSubstr("now         reverted since 2023-11-14 22:08:20 UTC by PLAN-4\n"));
  out.steps.back().what = "somebody else enabled the link again: spine-1 port 3 is Active";
  out.steps.push_back({api::kNow - 1min, PlanState::kCommitted, "ann", "automation does not return it by itself: x"});
  show({out});
  EXPECT_THAT(plan(3), HasSubstr("reverted since 2023-11-14 22:08:20 UTC: somebody else enabled the link again: "));
}

TEST_F(PlanWords, AReturnNamesThePlanThatTookItsTargetOut) {
  Plan second = failed_return(7, 4);
  second.in_force = false;
  show({plan_out(2), failed_return(4, 2), second});
  EXPECT_THAT(plan(7), HasSubstr("reverts     PLAN-2 (its return PLAN-4 did not last)\n"));
  EXPECT_THAT(plan(4), HasSubstr("reverts     PLAN-2\n"));
  show({second});
  EXPECT_THAT(plan(7), HasSubstr("reverts     PLAN-4\n")) << "nobody knows of those before it any more";
}

TEST_F(PlanWords, AnIncidentNamesWhatHoldsItsPlansTargetAgain) {
  auto snapshot = with_plans(make_snapshot(1, {}, {api::make_incident(1)}), {plan_out(2), failed_return(4, 2)});
  publication.publish(snapshot);
  EXPECT_THAT(say(Exit::kGood, show_incident, std::string("1")),
              HasSubstr("PLAN-2  ISOLATE_LINK  COMMITTED (held again by PLAN-4)"));
}

TEST_F(PlanWords, WhatComesBackByItselfSaysWhen) {
  Plan out = plan_out(3);
  out.in_force = true;
  out.return_after = api::kNow + 23h;
  show({out});
  EXPECT_THAT(in_force(), HasSubstr("a plan follows about 2023-11-15 21:13:20 UTC, after remedy.limits."));
}

TEST_F(PlanWords, WhatAutomationDoesNotReturnSaysSo) {
  Plan out = plan_out(3);
  out.in_force = true;
  out.incident = 17;
  out.only_by_hand = true;
  show({out});
  EXPECT_THAT(in_force(),
              ::testing::AllOf(HasSubstr("only by hand: weftctl restore"), Not(HasSubstr("a plan follows"))));
  EXPECT_THAT(plan(3), HasSubstr("\ncomes back only by hand\nto bring it back   weftctl restore "));
}

TEST_F(PlanWords, APlanThatEndedWithoutItsEffectSaysWhatToDoNow) {
  for (const PlanState state : {PlanState::kFailed, PlanState::kRolledBack, PlanState::kRejected}) {
    show({make_plan(3, state)});
    EXPECT_THAT(plan(3), ::testing::EndsWith("\nto order it anew   weftctl isolate leaf-1:1 --reason ...\n"))
        << plan(3);
  }
  Plan unknown = make_plan(3, PlanState::kFailed);
  unknown.unresolved = true;
  show({unknown});
  EXPECT_THAT(plan(3), ::testing::EndsWith("\nwhat to do   weftctl runbook remedies, \"WeftPlanUnresolved\"\n"));
  Plan out = plan_out(2);
  out.in_force = true;
  Plan back = make_plan(3, PlanState::kFailed);
  back.action = RemedyAction::kRestoreLink;
  back.undoes = 2;
  show({out, back});
  EXPECT_THAT(plan(3), HasSubstr("\nto order it anew   weftctl restore "));
  Plan given_back = plan_out(3);
  given_back.outcome = "the symptom is gone; somebody else enabled the link again, seen at 2023-11-14 22:00 UTC";
  show({given_back});
  EXPECT_THAT(plan(3), HasSubstr("\nto watch it on probation   weftctl restore "));
  EXPECT_THAT(plan(3), HasSubstr("\nto order it anew   weftctl isolate "));
  show({make_plan(3, PlanState::kExpired), plan_out(4)});
  EXPECT_THAT(plan(3), Not(HasSubstr("to order it anew")));
  EXPECT_THAT(plan(4), Not(HasSubstr("to order it anew"))) << "a return of Weft's brought it back";
}

// An order of such a return anew is refused.
TEST_F(PlanWords, AReturnThatHoldsNothingNamesWhatHelps) {
  Plan back = make_plan(3, PlanState::kFailed);
  back.action = RemedyAction::kRestoreLink;
  back.undoes = 2;
  back.outcome = "it failed again and cannot be taken out of service again: BREAKER: it is tripped: 40 links in 5 min";
  show({plan_out(2), back});
  EXPECT_THAT(plan(3), ::testing::EndsWith("\nafter checking   weftctl breaker reset --reason ...\n"
                                           "to take it out again   weftctl isolate leaf-1:1 --reason ...\n"));
  EXPECT_THAT(open(), ::testing::AllOf(HasSubstr("PLAN-3  RESTORE_LINK"), HasSubstr("cannot be taken out")));
  back.outcome = "it was given back, but somebody else keeps it out of service: spine-1 port 3 is Disabled";
  show({plan_out(2), back});
  EXPECT_THAT(plan(3), ::testing::EndsWith("\nto bring it back   enable the end that somebody else disabled; no plan "
                                           "holds it any more\n"));
  back.state = PlanState::kExpired;
  back.outcome = "not needed: already in the wanted state";
  show({plan_out(2), back});
  EXPECT_THAT(plan(3), Not(HasSubstr("weftctl isolate")));
}

TEST_F(PlanWords, AReturnThatFailedIsListedForADayAndNotWhenAnotherPlanFollowed) {
  Plan back = make_plan(3, PlanState::kFailed);
  back.action = RemedyAction::kRestoreLink;
  show({back});
  EXPECT_THAT(open(), HasSubstr("PLAN-3"));
  Plan again = make_plan(4, PlanState::kCommitted);
  again.created = again.started = back.created + 10s;
  show({back, again});
  EXPECT_THAT(open(), HasSubstr("No open plans"));
  back.finished = api::kNow - 25h;
  show({back});
  EXPECT_THAT(open(), HasSubstr("No open plans"));
}

TEST_F(PlanWords, WhatComesBackWhenItsIncidentIsOverSaysWhich) {
  Plan out = plan_out(3);
  out.action = RemedyAction::kRaiseLinkCost;
  out.in_force = true;
  show({out});
  EXPECT_THAT(in_force(), HasSubstr("a plan follows when INC-1 is over and the link is up; by hand: "));
}

TEST_F(PlanWords, AReturnThatAGuardRefusesComesBackByHand) {
  Plan out = plan_out(3);
  out.in_force = true;
  Plan back = make_plan(4);
  back.action = RemedyAction::kRestoreLink;
  back.undoes = 3;
  back.guards[1] = {Guard::kReinstatement, GuardResult::kRefused, "it failed again after its return 2 times"};
  show({out, back});
  EXPECT_THAT(in_force(),
              HasSubstr("PLAN-4 RESTORE_LINK is PROPOSED (refused: REINSTATEMENT); by hand: weftctl restore leaf-1:1"));
}

TEST_F(PlanWords, WhatWaitsAndIsBackSaysHowToLeaveItSo) {
  Plan undone = make_plan(3, PlanState::kRollingBack);
  undone.intent = PlanIntent::kNone;
  undone.outcome = "aborted by ann: wrong cable";
  undone.waits_for = "the link has not come up again";
  show({undone});
  EXPECT_THAT(plan(3), Not(HasSubstr("--leave-in-service"))) << "weftd would refuse it";
  const std::string advice =
      "; to end it and leave the link in service: weftctl abort PLAN-3 --leave-in-service --reason ...";
  undone.waits_for += advice;
  show({undone});
  EXPECT_THAT(plan(3), HasSubstr("waits       the link has not come up again\n"));
  const std::string leave = "\nto leave it in service   weftctl abort PLAN-3 --leave-in-service --reason ...\n";
  EXPECT_THAT(plan(3), HasSubstr(leave));
  EXPECT_THAT(say(Exit::kGood, abort_plan, Decision{.id = "3", .reason = "again", .who = "ann"}),
              HasSubstr("is being checked; it waits: the link has not come up again\n"));
  Plan back = make_plan(3, PlanState::kVerifying);
  back.action = RemedyAction::kRestoreLink;
  back.waits_for = "the subnet manager does not answer, and activates no link" + advice;
  show({back});
  EXPECT_THAT(plan(3), HasSubstr(leave));
}

TEST_F(PlanWords, AnAnswerToAnOrderNamesThePlanThatTookItsTargetOut) {
  Plan second = make_plan(7);
  second.action = RemedyAction::kRestoreLink;
  second.undoes = 4;
  show({plan_out(2), failed_return(4, 2), second});
  EXPECT_THAT(plan(7), HasSubstr("reverts     PLAN-2 (its return PLAN-4 did not last)\n"));
  std::ostringstream out;
  v1::Plan wish;
  wish.set_action(v1::Plan::RESTORE_LINK);
  wish.set_undoes("PLAN-4");
  print_preview(out, wish, "PLAN-2");
  EXPECT_THAT(out.str(), HasSubstr("reverts     PLAN-2 (its return PLAN-4 did not last)\n"));
}

TEST_F(PlanWords, TheStatusCountsWhatNobodyKnowsAndWhatStandsStill) {
  auto snapshot = make_snapshot(1, {});
  snapshot->remedy.unresolved = 2;
  snapshot->remedy.on_probation = 1;
  publication.publish(snapshot);
  const auto status = [this] {
    std::ostringstream out;
    show_status(Session{*client, out, false, true, false, api::kNow});
    return out.str();
  };
  EXPECT_THAT(status(), HasSubstr("Plans of which nobody knows whether they are in force: 2: check them by hand "
                                  "(weftctl plans; weftctl runbook remedies, \"WeftPlanUnresolved\")\n"));
  EXPECT_THAT(status(), HasSubstr("are on probation: 1 (weftctl plans)\n"));
  snapshot = make_snapshot(2, {});
  snapshot->remedy.on_probation = 1;
  snapshot->remedy.silent_managers = {{"ib0", api::kNow - 2h}};
  publication.publish(snapshot);
  EXPECT_THAT(status(), HasSubstr("are on probation: 1 (weftctl plans); probations of links of ib0 stand still until "
                                  "the subnet manager answers\n"));
}

TEST_F(PlanWords, AWeftdThatIsAwayIsStoppedByTheFile) {
  client = std::make_unique<Client>("127.0.0.1:1");
  const std::string way = "To stop everything without an answer, on weftd's host: touch /var/lib/weft/hands-off";
  EXPECT_THAT(fails(set_hands_off, true, std::string("drill"), std::string("ann"), true).what(), HasSubstr(way));
  EXPECT_THAT(fails(set_hands_off, false, std::string("done"), std::string("ann"), true).what(), Not(HasSubstr(way)));
}

TEST_F(PlanWords, AnAbortThatIsNotOverSaysHowToFollowIt) {
  show({make_plan(6, PlanState::kVerifying)});
  EXPECT_THAT(say(Exit::kGood, abort_plan, Decision{.id = "6", .reason = "wrong cable", .who = "ann"}),
              ::testing::EndsWith("\nto follow it   weftctl plan PLAN-6\n"));
}

TEST_F(PlanWords, WhatStopsAutomationSaysSinceWhen) {
  const auto stop = [this](Duration ago, const char* who, const char* why) {
    AuditRecord& record = remedies.trail.emplace_back();
    record.sequence = remedies.trail.size();
    record.at = api::kNow - ago;
    record.who = who;
    record.what = "automation stopped";
    record.detail = why;
  };
  stop(3h, "kim", "another time");
  stop(2h, "kim", "a visitor");
  stop(1h, "bob", "me too");
  auto snapshot = make_snapshot(1, {});
  snapshot->remedy.hands_off = true;
  snapshot->remedy.hands_off_reason = "kim: a visitor; bob: me too";
  publication.publish(snapshot);
  const std::string since =
      "kim: a visitor; bob: me too\n  since 2023-11-14 20:13:20 UTC (kim: a visitor), 2023-11-14 21:13:20 UTC (bob: me "
      "too)\n  to release it";
  EXPECT_THAT(say(Exit::kBadNews, show_automation), HasSubstr(since));
  EXPECT_THAT(say(Exit::kBadNews, show_status), HasSubstr(since));
  remedies.trail.pop_back();
  auto alone = make_snapshot(2, {});
  alone->remedy.hands_off = true;
  alone->remedy.hands_off_reason = "kim: a visitor";
  publication.publish(alone);
  EXPECT_THAT(say(Exit::kBadNews, show_automation),
              HasSubstr("kim: a visitor\n  since 2023-11-14 20:13:20 UTC\n  to release it"));
  remedies.trail.pop_back();
  EXPECT_THAT(say(Exit::kBadNews, show_automation), Not(HasSubstr("since"))) << "it is not known";
}

TEST_F(Verbs, ASilentSubnetManagerIsToldFirst) {
  auto snapshot = make_snapshot(1, {});
  snapshot->remedy.silent_managers = {{"ib0", api::kNow - 2h}};
  snapshot->remedy.proposed = {RemedyAction::kIsolateLink};
  publication.publish(snapshot);
  const auto told =
      ::testing::StartsWith("The subnet manager of fabric ib0 does not answer (noticed at 2023-11-14 20:13:20 UTC): ");
  const std::string status = say(Exit::kBadNews, show_status);
  EXPECT_THAT(status, told);
  EXPECT_THAT(status,
              HasSubstr("\nWeft begins nothing by itself. It proposes: ISOLATE_LINK. What fails on its return is "));
  EXPECT_THAT(say(Exit::kGood, show_automation), told);
  EXPECT_THAT(say(Exit::kGood, show_plans, WhichPlans::kOpen, false), told);
}

TEST_F(Verbs, AHandsOffFileThatCannotBeLookedAtIsNotToBeRemoved) {
  const std::string why = "/run/hd/stop cannot be looked at: Too many levels of symbolic links";
  const std::string way = "make its folder readable to weftd again; there must be no such file";
  auto snapshot = make_snapshot(1, {});
  snapshot->remedy.file_brake = why;
  publication.publish(snapshot);
  EXPECT_THAT(say(Exit::kBadNews, show_automation),
              HasSubstr("Everything is stopped by the hands-off file, also what persons order: " + why +
                        "\n  to release it: " + way + '\n'));
  const Failure refused = fails(set_hands_off, false, std::string("done"), std::string("ann"), false);
  EXPECT_EQ(refused.what(),
            "no person stopped automation, but the hands-off file still stops it: " + why + "; to release it, " + way);
}

TEST_F(Verbs, AResetOfTheBreakerListsWhatBeginsAndAsksOnce) {
  const GuardVerdict tripped{Guard::kBreaker, GuardResult::kRefused, "the circuit breaker is tripped"};
  Plan back = make_plan(4, PlanState::kApproved);
  back.action = RemedyAction::kRestoreLink;
  Plan undone_return = back;
  undone_return.id = 6;
  undone_return.state = PlanState::kRollingBack;
  undone_return.intent = PlanIntent::kUndo;
  std::vector<Plan> plans{make_plan(1, PlanState::kApproved),    make_plan(2), make_plan(3), back,
                          make_plan(5, PlanState::kRollingBack), undone_return};
  plans[4].intent = PlanIntent::kUndo;
  for (Plan& plan : plans) plan.guards[0] = tripped;
  plans[2].guards[1] = {Guard::kBudget, GuardResult::kRefused, "actions per hour are used up: 4"};
  auto snapshot = with_plans(make_snapshot(1, {}), plans);
  snapshot->remedy.breaker_tripped = true;
  snapshot->remedy.breaker_reason = "40 links in 5 min";
  snapshot->remedy.automatic = {RemedyAction::kIsolateLink};
  publication.publish(snapshot);
  const auto reset = [&](const std::string& typed, bool yes) {
    std::ostringstream out;
    std::istringstream in(typed);
    Session session{*client, out, false, true, true, api::kNow};
    session.answers = &in;
    try {
      reset_breaker(session, "looked", "ann", yes);
      return out.str();
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.exit, Exit::kRefused);
      return out.str() + failure.what();
    }
  };
  const std::string refused = reset("n\n", false);
  EXPECT_THAT(refused, HasSubstr("To be reset: the circuit breaker, tripped: 40 links in 5 min\n"));
  EXPECT_THAT(refused, HasSubstr("These plans begin or go on then, if no guard refuses them:\n"
                                 "  PLAN-1  ISOLATE_LINK  leaf-1 port 1 - host-1 mlx5_0 port 1  APPROVED\n"
                                 "  PLAN-2  ISOLATE_LINK  leaf-1 port 1 - host-1 mlx5_0 port 1  PROPOSED\n"
                                 "  PLAN-6  RESTORE_LINK  leaf-1 port 1 - host-1 mlx5_0 port 1  ROLLING_BACK: the "
                                 "link is taken out of service again\n"
                                 "\nreset the circuit breaker: do it? [y/N] "));
  EXPECT_THAT(refused, HasSubstr("nothing was done"));
  EXPECT_EQ(remedies.times(), 0U);
  EXPECT_THAT(reset("", true), Not(HasSubstr("do it?")));
  EXPECT_EQ(remedies.times(), 1U);
  snapshot->remedy.hands_off = true;
  snapshot->remedy.hands_off_reason = "kim";
  publication.publish(std::make_shared<Snapshot>(*snapshot));
  EXPECT_THAT(reset("n\n", false), HasSubstr("None of them while hands-off stops automation.\n"));
}

}  // namespace
}  // namespace weft::ctl
