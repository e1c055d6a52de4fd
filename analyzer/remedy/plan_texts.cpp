// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/plan_texts.hpp"

#include <algorithm>

#include "analyzer/remedy/budget.hpp"
#include "analyzer/remedy/guards.hpp"
#include "analyzer/remedy/plan_runner.hpp"
#include "analyzer/remedy/settings.hpp"
#include "fabric/minute_text.hpp"

namespace weft::analyzer {
namespace {

/// " (reverted by PLAN-9)"; empty: its history does not say that.
std::string reverted_text(const Plan& plan) {
  const auto found = std::find_if(plan.steps.rbegin(), plan.steps.rend(),
                                  [](const PlanStep& step) { return step.what.starts_with("reverted "); });
  return found == plan.steps.rend() ? "" : " (" + found->what + ')';
}

}  // namespace

const char* nobody_activates(const RemedyView& view, std::string_view fabric) {
  const auto sign = view.managers->find(fabric);
  return sign != view.managers->end() && sign->second == ManagerSign::kSilent
             ? "the subnet manager does not answer, and activates no link"
             : "it is not known whether the subnet manager answers";
}

const char* target_text(const Plan& plan) {
  return plan.target.kind == EntityKind::kHost ? "host" : "link";
}

std::optional<std::string> not_to_be_left(const Plan& plan, const PlanWork& work, LinkSight sight) {
  const std::string name = plan_name(plan.id);
  const std::string abort = ": weftctl abort " + name + " --reason ...";
  if (is_over(plan.state)) return late_abort_text(plan);
  const bool undoing = plan.state == PlanState::kRollingBack;
  const auto not_in_service = [&]() -> std::optional<std::string> {
    if (sight != LinkSight::kDown && sight != LinkSight::kDisabled) return std::nullopt;
    return name + " cannot be ended so: its link is not in service, " +
           (sight == LinkSight::kDown ? "it is down" : "an end of it is disabled") +
           (undoing ? ": weftctl plan " + name : "; to end it and take it out again" + abort);
  };
  if (takes_out(plan.action)) {
    if (undoing && work.stage == PlanWork::Stage::kSeeBack) return not_in_service();
    return undoing ? name + " is being undone, and its " + target_text(plan) +
                         " was not read to be back yet: weftctl plan " + name
                   : name + " takes its target out of service, and is not being undone; to end and undo it" + abort;
  }
  if (undoing && plan.intent == PlanIntent::kUndo)
    return name + " is being undone, and what takes its target out again was sent: weftctl plan " + name;
  if (plan.read_back || plan.state == PlanState::kVerifying) return not_in_service();
  return undoing ? name + " is being undone, and its " + target_text(plan) +
                       " was not read to be back yet: weftctl plan " + name
                 : name + " has not brought its target back yet; to end it" + abort;
}

tl::unexpected<Error> no_plan(std::uint64_t id) {
  return fail(ErrorCode::kNotFound, "no plan " + plan_name(id) + ": weftctl plans --all lists those that are known");
}

std::string subject_text(const Plan& plan) {
  return std::string(to_string(plan.action)) + ' ' + plan.target.label + ": ";
}

std::string ended_return_text(const char* ended, const Plan& back) {
  return std::string(" ") + ended + " its return " + plan_name(back.id);
}

std::string first_sweep_text(const Plan& plan) {
  return "for the first sweep of " + plan.target.fabric + " since weftd was restarted, or took over";
}

std::string may_land_text(const Plan& plan, TimePoint now) {
  const std::string what = "what weftd sent for " + plan_name(plan.id);
  if (plan.unresolved_until == kNever) return what + " may still take effect";
  const std::string until = " take effect until " + minute_text(plan.unresolved_until);
  return plan.unresolved_until > now ? what + " may still" + until + ", and is read then"
                                     : what + " could" + until + ", and its state has not been read since";
}

std::string command_that_undoes(const Plan& plan) {
  if (plan.target.kind == EntityKind::kHost) return "weftctl undrain " + plan.target.host;
  const bool is_cost = outward_action(plan) == RemedyAction::kRaiseLinkCost;
  return std::string("weftctl ") + (is_cost ? "lower-cost" : "restore") + " \"" + plan.target.label + '"';
}

std::string command_that_leaves(const Plan& plan) {
  return "weftctl abort " + plan_name(plan.id) + " --leave-in-service --reason ...";
}

std::string way_back_text(const Plan& plan) {
  if (plan.in_force) return ". To undo it: " + command_that_undoes(plan) + " --reason ...";
  if (plan.state != PlanState::kCommitted) return {};
  if (takes_out(plan.action)) return ". It is in force no more" + reverted_text(plan) + ": there is nothing to undo";
  const RemedyAction out = outward_action(plan);
  if (plan.target.kind == EntityKind::kHost)
    return ". To take the host out again: weftctl drain " + plan.target.host + " --reason ...";
  return std::string(". To take the link out again: weftctl ") +
         (out == RemedyAction::kRaiseLinkCost ? "raise-cost" : "isolate") + " \"" + plan.target.label +
         "\" --reason ...";
}

std::string order_text(const Plan& plan) {
  if (plan.state == PlanState::kCommitted || plan.in_force || plan.unresolved) return way_back_text(plan);
  if (!is_over(plan.state)) return {};
  const std::string verb = plan.action == RemedyAction::kIsolateLink     ? "isolate"
                           : plan.action == RemedyAction::kRaiseLinkCost ? "raise-cost"
                                                                         : "drain";
  const std::string command =
      !takes_out(plan.action)
          ? command_that_undoes(plan)
          : "weftctl " + verb + ' ' +
                (plan.target.kind == EntityKind::kHost ? plan.target.host : '"' + plan.target.label + '"');
  return ". To order it anew: " + command + " --reason ...";
}

std::string late_reject_text(const Plan& plan) {
  const std::string text = plan_name(plan.id) + " is " + to_string(plan.state) + ": too late to reject it";
  if (is_over(plan.state)) return text + order_text(plan);
  return plan.state == PlanState::kRollingBack
             ? text + "; it is being undone already: weftctl plan " + plan_name(plan.id)
             : text + "; to undo it: weftctl abort " + plan_name(plan.id) + " --reason ...";
}

std::string late_abort_text(const Plan& plan) {
  const std::string way_back = way_back_text(plan);
  if (!way_back.empty()) return standing_text(plan) + way_back;
  return plan_name(plan.id) + " is " + to_string(plan.state) + ": too late to abort it" +
         (plan.outcome.empty() ? "" : " (" + plan.outcome + ')');
}

std::string standing_text(const Plan& plan) {
  std::string text = plan_name(plan.id) + " is " + to_string(plan.state);
  if (is_over(plan.state)) return plan.outcome.empty() ? text : text + ": " + plan.outcome;
  if (plan.approved_by.empty()) return text;
  text += ", approved by " + plan.approved_by;
  // The newest: a plan that was proposed anew may have been approved before.
  const auto approval = std::find_if(plan.steps.rbegin(), plan.steps.rend(),
                                     [](const PlanStep& step) { return step.state == PlanState::kApproved; });
  if (approval != plan.steps.rend()) text += " at " + minute_text(approval->at);
  if (plan.state == PlanState::kApproved)
    if (const GuardVerdict* guard = first_refusal(plan.guards, false))
      text += std::string("; it waits for ") + to_string(guard->guard) + ": " + guard->explanation;
  return text;
}

}  // namespace weft::analyzer
