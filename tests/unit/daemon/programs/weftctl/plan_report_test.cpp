// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/plan_report.hpp"
#include "daemon/programs/weftctl/plan_hints.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "daemon/programs/weftctl/automation_report.hpp"
#include "daemon/programs/weftctl/value_format.hpp"

namespace weft::ctl {
namespace {

constexpr std::int64_t kCreated = 1'700'000'000;
const TimePoint kReadAt{std::chrono::seconds(kCreated + 90)};

void add_guard(v1::Plan& plan, v1::GuardVerdict::Guard guard, v1::GuardVerdict::Result result, const char* why) {
  v1::GuardVerdict& verdict = *plan.add_guards();
  verdict.set_guard(guard);
  verdict.set_result(result);
  verdict.set_explanation(why);
}

v1::Plan proposed() {
  v1::Plan plan;
  plan.set_id("PLAN-7");
  plan.set_revision(3);
  plan.set_state(v1::Plan::PROPOSED);
  plan.set_action(v1::Plan::ISOLATE_LINK);
  plan.mutable_target()->set_kind(v1::Entity::LINK);
  plan.mutable_target()->set_label("leaf-1 port 7 - spine-2 port 1");
  plan.mutable_target()->set_identity("link 7");
  plan.set_actuator("infiniband_port");
  plan.set_incident_id("INC-17");
  plan.set_reason("leaf-1 port 7 damages 1 of 1e9 bits");
  plan.set_requested_by("weftd");
  plan.add_jobs("slurm:17");
  plan.add_jobs("slurm:18");
  plan.mutable_created()->set_seconds(kCreated);
  plan.mutable_expires()->set_seconds(kCreated + 3600);
  v1::Candidate& isolate = *plan.add_candidates();
  isolate.set_action(v1::Plan::ISOLATE_LINK);
  *isolate.mutable_target() = plan.target();
  isolate.set_cost_ratio(0.0065);
  isolate.set_allowed(true);
  isolate.set_explanation("1 of 32 uplinks of leaf-1");
  v1::Candidate& nothing = *plan.add_candidates();
  nothing.set_action(v1::Plan::NOTHING);
  *nothing.mutable_target() = plan.target();
  nothing.set_harm_ratio(0.2);
  nothing.set_allowed(true);
  v1::Candidate& drain = *plan.add_candidates();
  drain.set_action(v1::Plan::DRAIN_NODE);
  drain.mutable_target()->set_label("dgx-04");
  drain.mutable_target()->set_identity("host dgx-04");
  drain.set_cost_ratio(0.5);
  add_guard(plan, v1::GuardVerdict::HANDS_OFF, v1::GuardVerdict::PASSED, "automation is not stopped");
  add_guard(plan, v1::GuardVerdict::LEAF_CAPACITY, v1::GuardVerdict::PASSED,
            "leaf-1 keeps 31 of 32 uplink paths, and needs 29");
  add_guard(plan, v1::GuardVerdict::RAIL_CAPACITY, v1::GuardVerdict::NOT_NEEDED, "no rails are known");
  v1::PlanStep& step = *plan.add_steps();
  step.mutable_at()->set_seconds(kCreated);
  step.set_state(v1::Plan::PROPOSED);
  step.set_who("weftd");
  step.set_what("proposed for INC-17");
  return plan;
}

std::string story(const v1::Plan& plan) {
  std::ostringstream out;
  print_plan(out, plan, kReadAt);
  return out.str();
}

TEST(PlanStory, OfAProposalIsAllThatOneDecidesOn) {
  EXPECT_EQ(
      story(proposed()),
      "PLAN-7  ISOLATE_LINK  PROPOSED\nleaf-1 port 7 - spine-2 port 1\n\naction      disable one end of the link; "
      "traffic is rerouted\nreason      leaf-1 port 7 damages 1 of 1e9 bits\nincident    INC-17\nactuator    "
      "infiniband_port\njobs        slurm:17, slurm:18\nrequested by weftd\ncreated     2023-11-14 22:13:20 UTC, 1 min "
      "ago\nexpires     2023-11-14 23:13:20 UTC\nrevision    3\n\nalternatives, best first, as of the last sweep\n> "
      "ISOLATE_LINK  0.7 % of "
      "the jobs' time lost: 0.7 % by the action, 0.0 % by the remaining fault\n    1 of 32 uplinks of leaf-1\n  "
      "NOTHING       20.0 % of the jobs' time lost: 0.0 % by the action, 20.0 % by the remaining fault\n  DRAIN_NODE   "
      " 50.0 % of the jobs' time lost: 50.0 % by the action, 0.0 % by the remaining fault; refused by a guard\n    "
      "dgx-04\n\nguards, in order of evaluation\n  HANDS_OFF      passed      automation is not stopped\n  "
      "LEAF_CAPACITY  passed      leaf-1 keeps 31 of 32 uplink paths, and needs 29\n  RAIL_CAPACITY  not needed  no "
      "rails are known\n\nhistory\n  2023-11-14 22:13:20 UTC  PROPOSED  weftd  proposed for INC-17\n\nto approve   "
      "weftctl approve PLAN-7 --revision 3\nto reject    weftctl reject PLAN-7 --reason ...\n");
}

TEST(PlanStory, ARefusalStandsOut) {
  v1::Plan plan = proposed();
  plan.mutable_guards(1)->set_result(v1::GuardVerdict::REFUSED);
  plan.set_refused(true);
  const std::string text = story(plan);
  EXPECT_NE(text.find("PROPOSED (refused: LEAF_CAPACITY)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n! LEAF_CAPACITY  REFUSED "), std::string::npos) << text;
  EXPECT_NE(
      text.find("\nguard LEAF_CAPACITY refuses it now: it cannot be approved; what to do: weftctl runbook remedies, "
                "\"A guard refuses\"\n"),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("to order it yourself"), std::string::npos) << "it refuses a person too";
  plan.mutable_guards(1)->set_guard(v1::GuardVerdict::COOL_DOWN);
  EXPECT_NE(story(plan).find("\nto order it yourself   weftctl isolate leaf-1:7 --reason ...\n"), std::string::npos);
  // That another plan is under way is waited for.
  plan.mutable_guards(1)->set_guard(v1::GuardVerdict::ONE_ACTOR);
  EXPECT_EQ(plan_state_text(plan), "PROPOSED (waiting: ONE_ACTOR)");
  EXPECT_NE(story(plan).find("\n  ONE_ACTOR      waits "), std::string::npos) << "it refuses no order: " << story(plan);
  EXPECT_NE(story(plan).find("\nto approve   weftctl approve PLAN-7 --revision 3\n"), std::string::npos) << story(plan);
}

TEST(PlanStory, WhatIsOverBeginsWithItsEnd) {
  v1::Plan plan = proposed();
  plan.set_state(v1::Plan::COMMITTED);
  plan.set_approved_by("ann@mgmt-1");
  plan.set_outcome("no errors in 5 sweeps, all routes go round it");
  plan.set_in_force(true);
  plan.set_intent(v1::Plan::APPLY);
  plan.set_windows_good(5);
  plan.set_windows_needed(5);
  plan.mutable_started()->set_seconds(kCreated + 10);
  plan.mutable_finished()->set_seconds(kCreated + 30);
  const std::string text = story(plan);
  for (const char* part :
       {"PLAN-7  ISOLATE_LINK  COMMITTED\n", "\n\noutcome     no errors in 5 sweeps, all routes go round it\n",
        "approved by ann@mgmt-1\n", "started     2023-11-14 22:13:30 UTC, 1 min ago\n",
        "finished    2023-11-14 22:13:50 UTC, 1 min ago\n", "verified    5 of 5 sweeps in a row passed at its end\n",
        "now         in force\n", "\nto bring it back   weftctl restore leaf-1:7 --reason"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "is not in\n" << text;
  EXPECT_EQ(text.find("expires"), std::string::npos);
  EXPECT_EQ(text.find("weftctl approve"), std::string::npos);
  plan.set_in_force(false);
  EXPECT_NE(story(plan).find("COMMITTED (reverted)\n"), std::string::npos);
  EXPECT_NE(story(plan).find("now         reverted\n"), std::string::npos);
}

TEST(PlanStory, AReturnThatSucceededIsNotCalledReverted) {
  for (const v1::Plan::Action action : {v1::Plan::RESTORE_LINK, v1::Plan::UNDRAIN_NODE}) {
    v1::Plan plan = proposed();
    plan.set_action(action);
    plan.set_state(v1::Plan::COMMITTED);
    EXPECT_EQ(story(plan).find("reverted"), std::string::npos) << story(plan);
    plan.set_in_force(true);
    EXPECT_NE(story(plan).find("now         out of service again\n"), std::string::npos);
    plan.mutable_finished()->set_seconds(kCreated + 30);
    EXPECT_NE(story(plan).find("now         out of service again since 2023-11-14 22:13:50 UTC\n"), std::string::npos)
        << story(plan);
    plan.set_state(v1::Plan::ROLLED_BACK);
    EXPECT_NE(story(plan).find("\nto bring it back   weftctl "), std::string::npos) << story(plan);
  }
}

TEST(PlanStory, ALinkWhoseCostWasRaisedWasNeverOutOfService) {
  v1::Plan plan = proposed();
  plan.set_action(v1::Plan::RESTORE_LINK);
  plan.set_reverted_action(v1::Plan::RAISE_LINK_COST);
  EXPECT_NE(story(plan).find("action      set the link's cost back: routes use it again, on probation\n"),
            std::string::npos);
  plan.set_state(v1::Plan::ROLLED_BACK);
  plan.set_in_force(true);
  plan.mutable_finished()->set_seconds(kCreated + 30);
  EXPECT_NE(story(plan).find("now         its cost is raised again since 2023-11-14 22:13:50 UTC\n"), std::string::npos)
      << story(plan);
  EXPECT_EQ(story(plan).find("service"), std::string::npos) << story(plan);
  EXPECT_EQ(held_by(plan), v1::Plan::RAISE_LINK_COST);
  EXPECT_EQ(return_command(plan), "weftctl lower-cost leaf-1:7");
  plan.mutable_target()->set_label("dgx-04 mlx5_0 port 1 - leaf-1 port 7");
  EXPECT_EQ(return_command(plan), "weftctl lower-cost \"dgx-04 mlx5_0:1\"");
}

TEST(PlanStory, WhatNobodyKnowsIsSaid) {
  v1::Plan plan = proposed();
  plan.set_state(v1::Plan::FAILED);
  plan.set_unresolved(true);
  plan.mutable_finished()->set_seconds(kCreated + 30);
  EXPECT_NE(story(plan).find("FAILED (unresolved)\n"), std::string::npos);
  EXPECT_NE(story(plan).find("now         unknown whether it is in force: check by hand\n"), std::string::npos);
  plan.mutable_unresolved_until()->set_seconds(kCreated + 150);
  EXPECT_NE(story(plan).find("now         unknown whether it is in force: what was sent may still take effect until "
                             "2023-11-14 22:15:50 UTC, and is read then\n"),
            std::string::npos)
      << story(plan);
  // What cannot be read stays unknown when that time is over.
  plan.mutable_unresolved_until()->set_seconds(kCreated + 60);
  EXPECT_NE(story(plan).find("now         unknown whether it is in force: what was sent could take effect until "
                             "2023-11-14 22:14:20 UTC, and its state has not been read since: check by hand\n"),
            std::string::npos)
      << story(plan);
  EXPECT_NE(story(plan).find("outcome     -\n"), std::string::npos);
  plan = proposed();
  plan.set_state(v1::Plan::VERIFYING);
  plan.set_windows_good(1);
  plan.set_windows_needed(5);
  EXPECT_NE(story(plan).find("VERIFYING 1/5\n"), std::string::npos);
}

TEST(PlanStory, WhatIsHeldAgainIsNotCalledReverted) {
  v1::Plan plan = proposed();
  plan.set_state(v1::Plan::COMMITTED);
  v1::ListPlansResponse all;
  *all.add_plans() = plan;
  v1::Plan& failed = *all.add_plans();
  failed = plan;
  failed.set_id("PLAN-9");
  failed.set_action(v1::Plan::RESTORE_LINK);
  failed.set_state(v1::Plan::ROLLED_BACK);
  EXPECT_EQ(holds_again(plan, all.plans()), nullptr);
  failed.set_in_force(true);
  failed.mutable_finished()->set_seconds(kCreated + 30);
  const v1::Plan* holder = holds_again(plan, all.plans());
  ASSERT_NE(holder, nullptr);
  std::ostringstream out;
  print_plan(out, plan, kReadAt, {.holder = holder});
  EXPECT_NE(out.str().find("COMMITTED (held again by PLAN-9)\n"), std::string::npos) << out.str();
  EXPECT_NE(
      out.str().find(
          "now         out of service again since 2023-11-14 22:13:50 UTC, by PLAN-9, whose return did not last\n"),
      std::string::npos)
      << out.str();
  EXPECT_EQ(out.str().find("reverted"), std::string::npos) << out.str();
  failed.mutable_target()->set_identity("another");
  EXPECT_EQ(holds_again(plan, all.plans()), nullptr);
}

TEST(PlanStory, WhatAReturnThatDidNotLastHeldIsNotCalledRevertedByIt) {
  v1::Plan plan = proposed();
  plan.set_state(v1::Plan::COMMITTED);
  plan.mutable_finished()->set_seconds(kCreated + 10);
  v1::PlanStep& given_back = *plan.add_steps();
  given_back.mutable_at()->set_seconds(kCreated + 20);
  given_back.set_what("reverted by PLAN-9");
  v1::ListPlansResponse all;
  *all.add_plans() = plan;
  v1::Plan& back = *all.add_plans();
  back = plan;
  back.set_id("PLAN-9");
  back.set_undoes(plan.id());
  back.set_action(v1::Plan::RESTORE_LINK);
  back.set_state(v1::Plan::ROLLED_BACK);
  back.clear_steps();
  back.set_in_force(true);
  std::ostringstream held;
  print_plan(held, plan, kReadAt, {.holder = holds_again(plan, all.plans())});
  EXPECT_NE(held.str().find("to bring it back   weftctl restore"), std::string::npos) << held.str();

  back.set_in_force(false);
  EXPECT_EQ(holds_again(plan, all.plans()), nullptr) << "nothing tells that it held it";
  back.mutable_finished()->set_seconds(kCreated + 30);
  v1::PlanStep& enabled = *back.add_steps();
  enabled.mutable_at()->set_seconds(kCreated + 40);
  enabled.set_what("somebody else enabled the link again: spine-1 port 9 is Active/LinkUp");
  for (const v1::Plan& one : all.plans()) {
    std::ostringstream out;
    print_plan(out, one, kReadAt, {.holder = holds_again(one, all.plans())});
    const std::string now = out.str().substr(std::min(out.str().size(), out.str().find("now         ")));
    EXPECT_NE(now.substr(0, now.find("revision")).find("somebody else enabled the link again"), std::string::npos)
        << out.str();
    EXPECT_EQ(out.str().find("again by"), std::string::npos) << out.str();
    EXPECT_EQ(out.str().find("to bring it back"), std::string::npos) << out.str();
  }
}

TEST(PlanStory, AVerificationSaysWhatItWaitsFor) {
  v1::Plan plan = proposed();
  plan.set_state(v1::Plan::VERIFYING);
  plan.set_windows_needed(10);
  EXPECT_NE(story(plan).find("waits       for the first sweep since the change\n"), std::string::npos) << story(plan);
  plan.set_waits_for("the link is still up");
  EXPECT_NE(story(plan).find("waits       the last sweep did not pass: the link is still up\n"), std::string::npos)
      << story(plan);
  plan.set_waits_for("for the first sweep of ib0 since weftd was restarted, or took over");
  EXPECT_NE(story(plan).find("waits       for the first sweep of ib0 since weftd was restarted, or took over\n"),
            std::string::npos)
      << story(plan);
  plan.set_windows_good(1);
  plan.clear_waits_for();
  EXPECT_EQ(story(plan).find("waits       "), std::string::npos) << story(plan);
}

TEST(PlanStory, TheEndThatIsSetIsNamed) {
  v1::Plan plan = proposed();
  plan.set_end("spine-2 port 1");
  std::ostringstream out;
  print_preview(out, plan);
  EXPECT_NE(out.str().find("action      disable spine-2 port 1; traffic is rerouted\n"), std::string::npos)
      << out.str();
}

TEST(PlanStory, ALinkWithoutAnotherPathIsNotSaidToBeRerouted) {
  v1::Plan plan = proposed();
  add_guard(plan, v1::GuardVerdict::ALTERNATIVE, v1::GuardVerdict::REFUSED, "an access link has no alternative path");
  std::ostringstream out;
  print_preview(out, plan);
  EXPECT_NE(out.str().find("action      disable one end of the link; no alternative path is known for its traffic\n"),
            std::string::npos)
      << out.str();
}

TEST(PlanStory, LongLinesGoOnBelowThemselves) {
  v1::Plan plan = proposed();
  plan.mutable_guards(1)->set_explanation("leaf-1 keeps 31 of 32 uplink paths, and needs 29 of them for its jobs");
  std::ostringstream out;
  print_plan(out, plan, kReadAt, {.columns = 70});
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 70U) << line;
  EXPECT_NE(out.str().find("\n  LEAF_CAPACITY  passed      leaf-1 keeps 31 of 32 uplink paths, and\n"
                           "                             needs 29 of them for its jobs\n"),
            std::string::npos)
      << out.str();
}

TEST(PlanStory, AReturnSaysUntilWhenItIsOnProbation) {
  v1::Plan plan = proposed();
  plan.set_action(v1::Plan::RESTORE_LINK);
  plan.set_state(v1::Plan::VERIFYING);
  plan.set_windows_needed(900);
  EXPECT_NE(story(plan).find("probation   begins when it is up and well\n"), std::string::npos) << story(plan);
  plan.set_windows_good(60);
  plan.mutable_probation_until()->set_seconds(kCreated + 840);
  const std::string until = time_text(plan.probation_until());
  EXPECT_NE(story(plan).find("VERIFYING 60/900 (on probation until " + until + ")\n"), std::string::npos)
      << story(plan);
  EXPECT_NE(story(plan).find("probation   until " + until + ", 840 more sweeps, if no fault is seen\n"),
            std::string::npos);
  plan.set_action(v1::Plan::ISOLATE_LINK);
  plan.clear_probation_until();
  EXPECT_EQ(story(plan).find("probation   "), std::string::npos);
}

TEST(PlanStory, EveryActionHasAMeaning) {
  const auto* actions = v1::Plan::Action_descriptor();
  for (int i = 0; i < actions->value_count(); ++i) {
    v1::Plan plan = proposed();
    plan.set_action(static_cast<v1::Plan::Action>(actions->value(i)->number()));
    EXPECT_EQ(story(plan).find("unknown action") != std::string::npos, plan.action() == v1::Plan::ACTION_UNSPECIFIED)
        << actions->value(i)->name();
  }
}

TEST(PlanStory, NothingInItSteersTheTerminal) {
  v1::Plan plan = proposed();
  plan.set_reason("a\x1b[2J");
  plan.set_outcome("\x1b]0;x\x07");
  plan.mutable_finished()->set_seconds(kCreated);
  plan.mutable_target()->set_label("leaf\x1b[31m");
  plan.set_requested_by("\x1b");
  plan.add_jobs("\x1b");
  plan.mutable_guards(0)->set_explanation("\x1b");
  plan.mutable_candidates(0)->set_explanation("\x1b");
  plan.mutable_steps(0)->set_who("\x1b");
  plan.mutable_steps(0)->set_what("\x1b");
  EXPECT_EQ(story(plan).find('\x1b'), std::string::npos);
}

TEST(Automation, SaysWhatStopsIt) {
  v1::RemedyStatus status;
  status.set_actions_per_hour(4);
  std::ostringstream free;
  print_automation(free, status);
  EXPECT_EQ(free.str(),
            "Automation is not stopped.\nThe circuit breaker is not tripped.\n"
            "Weft does nothing by itself, and proposes nothing.\n"
            "0 of 4 actions in the last hour; links and hosts held by plans: 0 (weftctl plans --in-force).\n");
  status.set_hands_off(true);
  status.set_hands_off_reason("kim: a visitor");
  status.set_breaker_tripped(true);
  status.set_breaker_reason("40 links in 5 min");
  status.mutable_breaker_since()->set_seconds(kCreated);
  std::ostringstream stopped;
  print_stops(stopped, status);
  EXPECT_EQ(stopped.str(),
            "Everything is stopped (hands-off), also what persons order: kim: a visitor\n"
            "The circuit breaker has been tripped since 2023-11-14 22:13:20 UTC: 40 links in 5 min\n"
            "  after checking: weftctl breaker reset --reason ...\n");
}

TEST(Automation, NamesFabricsWhoseSubnetManagerIsSilentAmongWhatStopsIt) {
  constexpr const char* kEnd =
      ": nothing is routed round a failure, and no link is taken out of service\n"
      "  what to do: weftctl runbook remedies, \"WeftSubnetManagerSilent\"\n";
  v1::RemedyStatus status;
  status.add_silent_managers("mlx5_0-1");
  status.add_silent_since()->set_seconds(kCreated);
  status.add_silent_managers("mlx5_1-1");
  std::ostringstream out;
  print_stops(out, status);
  EXPECT_EQ(out.str(),
            std::string("The subnet manager of fabric mlx5_0-1 does not answer (noticed at 2023-11-14 22:13:20 UTC)") +
                kEnd + "The subnet manager of fabric mlx5_1-1 does not answer" + kEnd);
}

TEST(Automation, SaysWhatWeftDoesByItselfAndWhatItProposes) {
  v1::RemedyStatus status;
  status.add_automatic(v1::Plan::ISOLATE_LINK);
  status.add_proposed(v1::Plan::DRAIN_NODE);
  std::ostringstream out;
  print_automation(out, status);
  EXPECT_NE(out.str().find("\nWeft acts by itself: ISOLATE_LINK. It proposes: DRAIN_NODE. What fails on its return is "
                           "taken out again without asking.\n"),
            std::string::npos)
      << out.str();
  status.set_breaker_tripped(true);
  std::ostringstream stopped;
  print_modes(stopped, status);
  EXPECT_EQ(stopped.str(),
            "While nothing stops it, Weft acts by itself: ISOLATE_LINK. It proposes: DRAIN_NODE. What fails on its "
            "return is taken out again without asking.\n");
}

TEST(Refusals, SayWhatToReadNext) {
  constexpr const char* kRunbook = "; what to do: weftctl runbook remedies, \"A guard refuses\"";
  EXPECT_EQ(next_step("RAIL_CAPACITY: rail 3 would keep 14 of 16 uplinks"), kRunbook);
  EXPECT_EQ(next_step("BUDGET: maximum of links"),
            std::string("; what counts: weftctl plans --in-force, weftctl status") + kRunbook);
  EXPECT_EQ(next_step("BUDGET: actions per hour are used up: 4"),
            std::string("; what counts: weftctl plans --all, weftctl audit") + kRunbook);
  EXPECT_EQ(next_step("OWN_PATH: the link is on the subnet manager's path into the fabric"), kRunbook);
  EXPECT_EQ(next_step("OWN_PATH: the subnet manager does not answer, and nothing else would route round the link"),
            "; what to do: weftctl runbook remedies, \"WeftSubnetManagerSilent\"");
  EXPECT_EQ(next_step("HANDS_OFF: everything is stopped"), "; by whom and since when: weftctl hands-off");
  EXPECT_EQ(next_step("PLAN-2 is VERIFYING: too late to reject it"), "");
  EXPECT_EQ(next_step(""), "");
}

TEST(Automation, NamesEachBrakeAndWhatIsUnderWay) {
  v1::RemedyStatus status;
  status.set_hands_off(true);
  status.set_hands_off_reason("kim: a visitor; /run/stop exists");
  status.set_hands_off_by_person("kim: a visitor");
  status.set_hands_off_by_file("/run/stop exists");
  v1::OrderUnderWay& order = *status.add_under_way();
  order.set_plan_id("PLAN-7");
  order.set_action(v1::Plan::DRAIN_NODE);
  order.set_target("n1");
  order.mutable_since()->set_seconds(kCreated);
  std::ostringstream stopped;
  print_stops(stopped, status);
  EXPECT_EQ(stopped.str(),
            "Everything is stopped (hands-off), also what persons order: kim: a visitor\n"
            "  to release it: weftctl hands-off off --reason ...\n"
            "Everything is stopped by the hands-off file, also what persons order: /run/stop exists\n"
            "  to release it: remove the file\n"
            "  under way since 2023-11-14 22:13:20 UTC: DRAIN_NODE n1 (PLAN-7)\n");
}

}  // namespace
}  // namespace weft::ctl
