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

/// The verb by which a person orders it, with its target: "weftctl drain n1"; a link by its whole label, quoted.
std::string command_that_takes_out(RemedyAction action, const Entity& target) {
  if (action == RemedyAction::kDrainNode) return "weftctl drain " + target.host;
  return std::string("weftctl ") + (action == RemedyAction::kRaiseLinkCost ? "raise-cost" : "isolate") + " \"" +
         target.label + '"';
}

/// Of a return that is over, or of what others took out meanwhile, and no plan of ours holds: what can be done.
std::string not_held_text(const Plan& plan) {
  const RemedyAction out = outward_action(plan);
  std::string text = ". Weft does not hold it any more";
  if (is_left_to_others(own_words(plan)))
    return text + ": it is back when " +
           (out == RemedyAction::kDrainNode       ? "whoever drained it undrains it"
            : out == RemedyAction::kRaiseLinkCost ? "whoever raised its cost lowers it"
                                                  : "the end is enabled that somebody else disabled");
  text += ". To take it out again: " + command_that_takes_out(out, plan.target) + " --reason ...";
  if (is_about_breaker(own_words(plan))) text += ", after weftctl breaker reset --reason ...";
  return text;
}

}  // namespace

const char* nobody_reroutes(const RemedyView& view, std::string_view fabric) {
  const auto sign = view.managers->find(fabric);
  return sign != view.managers->end() && sign->second == ManagerSign::kSilent
             ? "the subnet manager does not answer, and nothing else would route round the link"
             : "it is not known yet whether the subnet manager answers, and nothing else would route round the link";
}

const Plan* holder_of(const Plan& plan, std::span<const std::shared_ptr<const Plan>> plans) {
  const Plan* last = nullptr;
  for (const auto& other : plans) {
    if (other->id == plan.id || !other->in_force || !same_target(other->target, plan.target) ||
        outward_action(*other) != outward_action(plan))
      continue;
    if (!takes_out(plan.action) || (!takes_out(other->action) && first_out(*other, plans).id == plan.id))
      last = other.get();
  }
  return last;
}

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
  const bool undoing = plan.state == PlanState::kRollingBack;
  const auto not_in_service = [&]() -> std::optional<std::string> {
    if (sight != LinkSight::kDown && sight != LinkSight::kDisabled) return std::nullopt;
    const std::string refused = name + " cannot be ended so: its link is not in service, ";
    const std::string look = ": weftctl plan " + name;
    // Where somebody else did that, it ends with the next reading.
    if (sight == LinkSight::kDisabled)
      return refused + "an end of it is disabled; it is read whether somebody else did that" + look;
    return refused + "it is down" + (undoing ? look : "; to end it and take it out again" + abort);
  };
  if (takes_out(plan.action)) {
    if (undoing && work.stage == PlanWork::Stage::kSeeBack) return not_in_service();
    return undoing ? name + " is being undone, and its " + target_text(plan) +
                         " was not read to be back yet: weftctl plan " + name
                   : name +
                         (is_under_way(plan.state)
                              ? " takes its target out of service, and is not being undone; to end and undo it"
                              : " has sent nothing, and its target is in service; to end it") +
                         abort;
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

std::string undone_when_stored_text(const Plan& plan) {
  const char* meanwhile = plan.state == PlanState::kExecuting ? ""
                          : takes_out(plan.action)            ? "; its target stays out until then"
                                                              : "; its target stays in service until then";
  return std::string("will be undone when that can be stored") + meanwhile;
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

std::string leave_text(const Plan& plan) {
  return std::string("end it and leave the ") + target_text(plan) + " in service: weftctl abort " + plan_name(plan.id) +
         " --leave-in-service --reason ...";
}

std::string way_back_text(const Plan& plan, const Plan* holder) {
  if (plan.state == PlanState::kCommitted && takes_out(plan.action) && !plan.in_force && holder)
    return ". It is held again by its return " + plan_name(holder->id) +
           ", which did not last. To undo it: " + command_that_undoes(plan) + " --reason ...";
  if (plan.in_force) return ". To undo it: " + command_that_undoes(plan) + " --reason ...";
  if (plan.state != PlanState::kCommitted) return {};
  if (takes_out(plan.action)) return ". It is in force no more" + reverted_text(plan) + ": there is nothing to undo";
  return std::string(". To take the ") + target_text(plan) +
         " out again: " + command_that_takes_out(outward_action(plan), plan.target) + " --reason ...";
}

std::string order_text(const Plan& plan, const Plan* holder) {
  if (plan.state == PlanState::kCommitted || plan.in_force || plan.unresolved) return way_back_text(plan, holder);
  if (!is_over(plan.state)) return {};
  if (!holder && (!takes_out(plan.action) || is_left_to_others(own_words(plan)))) return not_held_text(plan);
  return ". To order it anew: " +
         (takes_out(plan.action) ? command_that_takes_out(plan.action, plan.target) : command_that_undoes(plan)) +
         " --reason ...";
}

std::string late_reject_text(const Plan& plan, const Plan* holder) {
  const std::string text = plan_name(plan.id) + " is " + to_string(plan.state) + ": too late to reject it";
  if (is_over(plan.state)) return text + order_text(plan, holder);
  return plan.state == PlanState::kRollingBack
             ? text + "; it is being undone already: weftctl plan " + plan_name(plan.id)
             : text + "; to undo it: weftctl abort " + plan_name(plan.id) + " --reason ...";
}

std::string late_abort_text(const Plan& plan, const Plan* holder) {
  const std::string way_back = way_back_text(plan, holder);
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
