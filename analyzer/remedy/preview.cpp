// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "analyzer/remedy/budget.hpp"
#include "analyzer/remedy/candidates.hpp"
#include "analyzer/remedy/find_host.hpp"
#include "analyzer/remedy/neighbours.hpp"
#include "analyzer/remedy/plan_manager.hpp"
#include "analyzer/remedy/plan_texts.hpp"
#include "analyzer/remedy/windows.hpp"

// What a person's wish would become, before it is one.

namespace weft::analyzer {
namespace {

/// What stands for a person's wish where no open incident asks for anything.
Incident nothing_wrong_with(const Entity& target) {
  Incident incident;
  incident.finding.cause = target;
  incident.state = IncidentState::kResolved;
  return incident;
}

/// One end of a link, by the last sweep.
struct SweptEnd {
  std::string label;
  bool is_disabled = false;
};

/// nullopt: it was not swept, or ports of its fabric do not tell whether they are disabled.
std::optional<SweptEnd> swept_end(const Entity& link, PortKey end, const RemedyView& view) {
  const FabricView* fabric = view.fabric(link.fabric);
  if (!fabric || !fabric->sweep || view.is_ethernet_link(link)) return std::nullopt;
  const Topology& topology = *fabric->sweep->topology;
  const PortIndex port = topology.find_port(end);
  if (port == kNoIndex) return std::nullopt;
  return SweptEnd{port_label(topology, port), topology.port(port).physical_state == PortPhysicalState::kDisabled};
}

/// The end of the link that somebody disabled, by the last sweep; empty: neither is, or that is not known.
std::string disabled_end(const Entity& link, const RemedyView& view) {
  for (const PortKey end : {link.port, link.peer})
    if (const auto swept = swept_end(link, end, view); swept && swept->is_disabled) return swept->label;
  return {};
}

/// What becomes of a return while somebody else keeps the end disabled that it does not set; empty: nobody does, or
/// that is not known.
std::string obstructed_return(const Plan& plan, const RemedyView& view) {
  const std::optional<PortKey> set = plan.end ? plan.end : end_to_set(plan.target, view.fabric(plan.target.fabric));
  if (!set) return {};
  const auto ours = swept_end(plan.target, *set, view);
  const auto other = swept_end(plan.target, *set == plan.target.port ? plan.target.peer : plan.target.port, view);
  if (!ours || !other || !other->is_disabled) return {};
  return (ours->is_disabled ? "enable " + ours->label + ", but"
                            : ours->label + " is enabled already: nothing is sent, and") +
         " the link will not come up: somebody else disabled " + other->label + ", and restore does not touch that end";
}

/// The last plan that took the target out, or raised its cost, and holds it no more; null: none did, or it is
/// forgotten.
const Plan* held_before(const Entity& target, bool only_cost, std::span<const PlanPtr> plans) {
  const Plan* last = nullptr;
  for (const PlanPtr& plan : plans) {
    const bool did_it =
        plan->state == PlanState::kCommitted || (plan->state == PlanState::kRolledBack && plan->started != kNever);
    if (did_it && !plan->in_force && takes_out(plan->action) && same_target(plan->target, target) &&
        (!only_cost || plan->action == RemedyAction::kRaiseLinkCost))
      last = plan.get();
  }
  return last;
}

/// Why the target is out, or that it is not, by the last sweep.
std::string where_it_is(const Entity& target, const RemedyView& view) {
  if (is_link_up(target, view)) return "it is up, there is nothing to bring back";
  if (const std::string end = disabled_end(target, view); !end.empty())
    return end + " is disabled, and not by Weft: whoever disabled it enables it";
  if (!swept_end(target, target.port, view) || !swept_end(target, target.peer, view))
    return "if it is out, somebody else did that";
  if (view.is_manager_unheard(target.fabric))
    return std::string("no end of it is disabled, and it is not up; ") + nobody_activates(view, target.fabric) +
           ": the link comes up when it answers again";
  return "no end of it is disabled, and it is not up: look at its cable and its ends";
}

/// Why there is nothing to bring back. `before`: held_before() of the target.
std::string not_ours_text(const Plan* before, const Entity& target, bool only_cost, const RemedyView& view) {
  std::string text = only_cost ? "Weft has not raised the cost of " + target.label
                               : "Weft has not taken " + target.label + " out of service";
  if (before)
    text = (only_cost ? "Weft does not raise the cost of " : "Weft does not hold ") + target.label + " any more (" +
           plan_name(before->id) + (before->state == PlanState::kCommitted ? ", reverted)" : ", rolled back)");
  if (only_cost) return text + ": if it is raised, somebody else did that";
  return text + ": " + where_it_is(target, view);
}

}  // namespace

// The plan of ours that it takes back; 0 where it takes something out. Fails when there is no such plan, or another one
// is in the way.
Result<std::uint64_t> PlanManager::plan_undone_by(RemedyAction action, const Entity& target, const RemedyView& view,
                                                  bool only_cost) const {
  std::uint64_t undoes = 0;
  for (const auto& [id, other] : entries_) {
    const Plan& plan = other.plan;
    if (!same_target(plan.target, target)) continue;
    const bool waits_by_itself = plan.state == PlanState::kApproved && plan.approved_by == kOurselves;
    if (plan.state == PlanState::kRollingBack) {
      const bool may_be_left = !not_to_be_left(plan, other.work, sight_for(other, view));
      return fail(ErrorCode::kAlreadyExists,
                  plan_name(id) + " (" + to_string(plan.action) + ") for it is being undone (" + plan.outcome +
                      "): ask again when that is over" + (may_be_left ? ", or " + leave_text(plan) : std::string()));
    }
    if (is_under_way(plan.state) || (plan.state == PlanState::kApproved && !waits_by_itself)) {
      const bool is_sent = is_under_way(plan.state) && plan.intent != PlanIntent::kNone;
      return fail(ErrorCode::kAlreadyExists,
                  plan_name(id) + " for it is already under way (" + to_string(plan.action) +
                      (is_sent ? "); to undo it: weftctl abort " : "); to end it: weftctl abort ") + plan_name(id) +
                      " --reason ...");
    }
    if (plan.in_force || plan.unresolved) undoes = id;
  }
  // What somebody else brought back is up, and may be watched as on probation.
  if (action == RemedyAction::kRestoreLink && !only_cost && undoes == 0 && is_link_up(target, view))
    undoes = let_go(target);
  if (takes_out(action) && undoes != 0) {
    const bool is_known = entries_.at(undoes).plan.in_force;
    if (is_known && action == RemedyAction::kIsolateLink &&
        outward_action(entries_.at(undoes).plan) == RemedyAction::kRaiseLinkCost)
      return fail(ErrorCode::kAlreadyExists,
                  plan_name(undoes) + " holds it already, with a raised cost; to isolate it, lower its cost first: " +
                      command_that_undoes(entries_.at(undoes).plan) +
                      " --reason ...; then end its probation: weftctl abort PLAN-n --leave-in-service --reason ...");
    return fail(ErrorCode::kAlreadyExists,
                plan_name(undoes) +
                    (is_known ? std::string(" holds it already")
                              : " may hold it: " + may_land_text(entries_.at(undoes).plan, view.now)) +
                    ": weftctl plan " + plan_name(undoes));
  }
  if (action == RemedyAction::kIsolateLink)
    if (const std::string end = disabled_end(target, view); !end.empty())
      return fail(ErrorCode::kFailedPrecondition,
                  end + " is disabled already, and not by Weft: there is nothing to isolate");
  if (action == RemedyAction::kDrainNode)
    if (const std::string who = drained_by_others(target, view); !who.empty())
      return fail(ErrorCode::kFailedPrecondition, target.host + " is drained already, and not by Weft (as " + who +
                                                      " tells): there is nothing to drain");
  if (action == RemedyAction::kRaiseLinkCost)
    if (const std::string who = raised_by_others(target, view); !who.empty())
      return fail(ErrorCode::kFailedPrecondition, "the cost of " + target.label +
                                                      " is raised already, and not by Weft (as " + who +
                                                      " tells): there is nothing to raise");
  if (!takes_out(action) && undoes == 0)
    return fail(ErrorCode::kFailedPrecondition,
                not_ours_text(held_before(target, only_cost, shown_), target, only_cost, view));
  if (only_cost && outward_action(entries_.at(undoes).plan) != RemedyAction::kRaiseLinkCost)
    return fail(ErrorCode::kFailedPrecondition,
                plan_name(undoes) + " did not raise the cost of " + target.label + " but isolated it: restore it");
  return undoes;
}

// The plan that took the link out and holds it no more, because somebody else enabled it; 0: none. One that was not
// begun by then, as the return that was proposed, changed nothing.
std::uint64_t PlanManager::let_go(const Entity& target) const {
  std::uint64_t last = 0;
  for (const PlanPtr& plan : shown_)
    if (same_target(plan->target, target) && (plan->started != kNever || plan->state == PlanState::kCommitted))
      last = outward_action(*plan) == RemedyAction::kIsolateLink && is_undone_by_others(*plan, shown_) ? plan->id : 0;
  return last;
}

Result<Entity> PlanManager::find_host(std::string_view text, const RemedyView& view) {
  hosts_.update(view);
  return analyzer::find_host(text, view, hosts_);
}

// What a person's wish to take the target out is about: of several the worst one. Trouble of an adapter that only
// claimed to be this host's is no reason, and must not keep a person from acting.
const Incident* PlanManager::incident_of(const Entity& target, const RemedyView& view) const {
  const auto is_of_target = [&](const Incident& incident) {
    if (target.kind == EntityKind::kLink)
      return is_the_link(incident.finding.cause, target) && ends_with_the_link(incident.finding.kind);
    const auto remedy = remedy_for(incident, view, hosts_);
    return remedy && same_target(remedy->target, target) &&
           hosts_.identify(target.host, &incident).state != HostIdentity::State::kContradicted;
  };
  const Incident* worst = nullptr;
  for (const auto& incident : view.incidents)
    if (incident->is_open() && incident->finding.maintenance == 0 && is_of_target(*incident) &&
        (!worst || incident->finding.severity > worst->finding.severity))
      worst = incident.get();
  return worst;
}

Result<Plan> PlanManager::preview(RemedyAction action, const Entity& target, const std::string& why,
                                  const std::string& who, const RemedyView& view, bool only_cost) {
  hosts_.update(view);
  const auto undoes = plan_undone_by(action, target, view, only_cost);
  if (!undoes) return tl::unexpected(undoes.error());
  Plan plan;
  plan.action = action;
  plan.target = target;
  plan.actuator = settings_.actuator(action, target, view);
  plan.reason = why;
  plan.requested_by = who;
  plan.created = plan.updated = view.now;
  plan.undoes = *undoes;
  if (const auto before = entries_.find(*undoes); before != entries_.end()) {
    plan.incident = before->second.plan.incident;
    plan.actuator = before->second.plan.actuator;
    plan.inverse = outward_action(before->second.plan);
    plan.end = before->second.plan.end;
    const Plan& held = before->second.plan;
    const bool was_out = held.in_force || !held.unresolved || !takes_out(held.action);
    if (was_out && action == RemedyAction::kRestoreLink && plan.inverse == RemedyAction::kIsolateLink &&
        is_link_up(target, view))
      plan.outcome = "it is up already: nothing is sent; " +
                     (held.in_force ? plan_name(*undoes) + " ceases to hold it, and it" : std::string("it")) +
                     " is watched on probation" +
                     (held.in_force || !held.unresolved ? "" : "; " + may_land_text(held, view.now));
  }
  if (action == RemedyAction::kRestoreLink && plan.inverse == RemedyAction::kIsolateLink)
    if (std::string obstructed = obstructed_return(plan, view); !obstructed.empty())
      plan.outcome = std::move(obstructed);
  if (const auto before = entries_.find(*undoes); before != entries_.end() && plan.outcome.empty())
    if (const Plan& held = before->second.plan; held.unresolved && !held.in_force)
      plan.outcome = "bring it back if it is out; " + may_land_text(held, view.now);
  if (action == RemedyAction::kIsolateLink) plan.end = end_of(plan, view);
  plan.jobs = jobs_on(target, view).value_or(std::vector<std::string>{});
  if (takes_out(action)) {
    LiveTree* tree = target.kind == EntityKind::kLink ? trees_.tree(target.fabric, view, shown_) : nullptr;
    const Incident* incident = incident_of(target, view);
    if (incident) plan.incident = incident->id;
    const Incident quiet = nothing_wrong_with(target);
    const Incident& reason = incident ? *incident : quiet;
    plan.candidates = candidates_for(reason, {action, target}, view, tree, tree ? trees_.shape(target.fabric) : nullptr,
                                     settings_.limits);
    if (!incident) {
      for (Candidate& candidate : plan.candidates) candidate.harm_ratio = 0;
      const auto nothing = std::ranges::find(plan.candidates, RemedyAction::kNothing, &Candidate::action);
      nothing->explanation = "no open incident names it as the cause";
      std::ranges::stable_sort(plan.candidates, {}, &Candidate::total_ratio);
    }
  }
  take_verdicts(plan, guards_of(plan, view), view);
  return plan;
}

}  // namespace weft::analyzer
