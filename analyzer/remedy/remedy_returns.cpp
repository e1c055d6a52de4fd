// SPDX-License-Identifier: Apache-2.0
// What may come back, and when: proposals of returns, whether their reason lasts, what persons keep out, and what
// becomes of a return that waits.

#include <algorithm>
#include <string>
#include <utility>

#include "analyzer/remedy/budget.hpp"
#include "analyzer/remedy/plan_manager.hpp"
#include "analyzer/remedy/plan_texts.hpp"
#include "analyzer/remedy/windows.hpp"
#include "fabric/plan_prospects.hpp"

namespace weft::analyzer {
namespace {

// A person who asked for it knows when it ends, also where it took the place of a proposal for an incident.
bool is_of_person(const Plan& out) {
  return out.incident == 0 || (takes_out(out.action) && out.requested_by != kOurselves);
}

RemedyAction return_of(const Plan& out) {
  return out.target.kind == EntityKind::kHost ? RemedyAction::kUndrainNode : RemedyAction::kRestoreLink;
}

/// Whether a return that is undone, or failed, brought its target back for some time. A link comes up some time after
/// its end was enabled, if at all; a cost is set back, and a host undrained, as soon as that is verified.
bool came_back(const Plan& back) {
  const bool must_come_up = outward_action(back) == RemedyAction::kIsolateLink;
  return std::ranges::any_of(back.steps, [must_come_up](const PlanStep& step) {
    if (!must_come_up) return step.state == PlanState::kVerifying;
    return step.what.starts_with(kIsUp) || step.what.starts_with(kIsUpAgain);
  });
}

}  // namespace

// Another incident than that of the plan counts as well: giving the target back and taking it again helps nobody. A
// host may have an entry for each of its names.
std::uint64_t PlanManager::hurt_by(const Entity& target, const RemedyView& view) {
  if (target.kind != EntityKind::kHost) {
    const auto found = std::ranges::find_if(view.incidents, [&](const auto& incident) {
      return incident->is_open() && incident->finding.severity >= Severity::kWarning &&
             is_the_link(incident->finding.cause, target);
    });
    return found == view.incidents.end() ? 0 : (*found)->id;
  }
  for (const NodeHealth* health : view.all_health_of(target.host))
    for (const HealthReason& reason : health->reasons)
      if (reason.incident != 0 && reason.severity >= Severity::kWarning) return reason.incident;
  return 0;
}

// An incident is forgotten when it is old by a clock that was set, or when there are many: that is no sign that it has
// been over for long. Nor is it one that nobody looked: before a restart, while another weftd led, or while a return
// that failed was on its way.
void PlanManager::note_over(Entry& out, const RemedyView& view) {
  if (out.watched_since == kNever) out.watched_since = view.now;
  if (hurt_by(out.plan.target, view) != 0) out.hurt_at = view.now;
  if (const Incident* incident = view.incident(out.plan.incident))
    out.over_since = incident->resolved;
  else if (out.over_since == kNever)
    out.over_since = view.now;
}

PlanManager::ReturnDue PlanManager::is_over_for_long(const Entry& held, const RemedyView& view) const {
  using enum ReturnDue::Is;
  const std::string incident = incident_name(held.plan.incident);
  const Ages ages = clock_.ages(view.now);
  const auto is_lately = [&](TimePoint at) { return ages.of(at) < settings_.limits.undrain_after; };
  const std::string lately = " less than remedy.limits.undrain_after ago";
  if (held.over_since == kNever) return {kNotYet, incident + " is open"};
  if (const std::uint64_t other = hurt_by(held.plan.target, view); other != 0)
    return {kNotYet, incident_name(other) + " is open and hurts it"};
  if (is_lately(held.over_since)) return {kNotYet, incident + " ended" + lately};
  if (held.hurt_at != kNever && is_lately(held.hurt_at)) return {kNotYet, "an open incident hurt it" + lately};
  if (is_lately(held.watched_since)) return {kUnknown, "weftd began to watch it" + lately};
  return {kDue, incident + " is over"};
}

PlanManager::ReturnDue PlanManager::return_due(const Entry& held, const RemedyView& view) const {
  using enum ReturnDue::Is;
  const Plan& out = held.plan;
  if (is_of_person(out)) return {kNotYet, "a person took it out of service"};
  if (!out.kept_out.empty()) return {kNotYet, out.kept_out};
  if (out.target.kind == EntityKind::kHost) {
    const ReturnDue over = is_over_for_long(held, view);
    if (over.is == kNotYet) return over;
    const NodeHealth* health = view.health_of(out.target.host);
    if (!health || health->verdict == HealthVerdict::kUnknown) return {kUnknown, "the host's health is not known"};
    if (health->verdict == HealthVerdict::kUnhealthy) return {kNotYet, "the host is UNHEALTHY"};
    return over.is == kDue ? ReturnDue{kDue, over.why + " and the host is healthy"} : over;
  }
  if (outward_action(out) == RemedyAction::kRaiseLinkCost) {
    // It is up, and shows whether it is well.
    const ReturnDue over = is_over_for_long(held, view);
    if (over.is == kNotYet) return over;
    const FabricView* fabric = view.fabric(out.target.fabric);
    if (!fabric || !fabric->watching || !fabric->sweep) return {kUnknown, "its fabric is not monitored now"};
    if (!is_link_up(out.target, view)) return {kNotYet, "the link is not up"};
    return over.is == kDue ? ReturnDue{kDue, over.why + " and the link is up"} : over;
  }
  // A link that is off shows nothing: only trying tells.
  if (clock_.ages(view.now).of(out.finished) < settings_.limits.reinstate_after)
    return {kNotYet, "it has been out of service for less than remedy.limits.reinstate_after"};
  return {kDue, "it has been out of service for long and may be repaired"};
}

// How what `back` brings back was held: by its plan, or by one that let go since somebody enabled the link.
PlanManager::Before PlanManager::what_held(const Plan& back) const {
  const auto found = entries_.find(back.undoes);
  if (found == entries_.end()) return Before::kNothing;
  const Plan& plan = found->second.plan;
  // What an isolation without an answer may still do was never out; what a return failed to bring back was.
  if (plan.in_force || (plan.unresolved && !takes_out(plan.action))) return Before::kHeld;
  return back.intent == PlanIntent::kNone && is_undone_by_others(plan, shown_) ? Before::kLetGo : Before::kNothing;
}

bool PlanManager::is_only_by_hand(const Entry& held) const {
  const Plan& out = held.plan;
  return out.in_force && (held.failed_too_often || is_of_person(out) || !out.kept_out.empty() ||
                          settings_.mode(return_of(out)) == RemedyMode::kOff);
}

TimePoint PlanManager::return_after(const Entry& held) const {
  const Plan& out = held.plan;
  if (!out.in_force || !is_over(out.state) || is_only_by_hand(held) ||
      outward_action(out) != RemedyAction::kIsolateLink)
    return kNever;
  return out.finished + settings_.limits.reinstate_after;
}

TimePoint PlanManager::held_since(const Plan& plan) const {
  const bool holds = plan.in_force || plan.unresolved;
  if (takes_out(plan.action)) return holds || is_under_way(plan.state) ? plan.started : kNever;
  if (!holds && plan.state != PlanState::kRollingBack) return kNever;
  const Plan& first = first_out(plan, shown_);
  if (takes_out(first.action) && first.started != kNever && !came_back(plan)) return first.started;
  return plan.in_force ? plan.finished : kNever;
}

// Of a return that a person asked for, that person is the judge.
PlanManager::ReturnDue PlanManager::still_due(const Plan& plan, const RemedyView& view) const {
  if (takes_out(plan.action) || plan.requested_by != kOurselves) return {ReturnDue::Is::kDue, {}};
  const auto held = entries_.find(plan.undoes);
  if (held == entries_.end() || !held->second.plan.in_force)
    return {ReturnDue::Is::kNotYet, plan_name(plan.undoes) + " no longer holds it"};
  return return_due(held->second, view);
}

// What a return could not bring back, as a host that its scheduler does not know, is left alone for as long as what is
// in force is not read either.
bool PlanManager::is_failed_lately(const Plan& back, TimePoint now) const {
  return !takes_out(back.action) && (back.state == PlanState::kFailed || back.state == PlanState::kRolledBack) &&
         clock_.ages(now).of(back.finished) < settings_.limits.check_interval;
}

void PlanManager::propose_returns(const RemedyView& view) {
  const auto plans = shown_;
  for (const PlanPtr& out : plans) {
    if (!out->in_force || !is_over(out->state)) continue;
    Entry& held = *entry(out->id);
    note_over(held, view);
    keep_out_of_person(held);
    const bool too_often =
        failed_reinstatements(out->target, plans, clock_.ages(view.now), settings_.limits.verification) >=
        settings_.limits.verification.reinstatements;
    if (std::exchange(held.failed_too_often, too_often) != too_often) show(held);
    if (is_taken(out->target)) continue;
    const RemedyAction action = return_of(*out);
    if (settings_.mode(action) == RemedyMode::kOff) continue;
    ReturnDue due = return_due(held, view);
    if (due.is != ReturnDue::Is::kDue || std::ranges::any_of(plans, [&](const PlanPtr& back) {
          return back->undoes == out->id && is_failed_lately(*back, view.now);
        }))
      continue;
    Entry& added = add(action, out->target, std::string(kOurselves), view);
    added.plan.incident = out->incident;
    added.plan.undoes = out->id;
    added.plan.inverse = outward_action(*out);
    added.plan.end = out->end;
    added.plan.actuator = out->actuator;
    added.plan.jobs = out->jobs;
    added.plan.reason = std::move(due.why);
    note(added, std::string(kOurselves), "proposed to revert " + plan_name(out->id), view.now);
  }
}

// Who took out what `plan` brings back, when that was a person; empty: automation did. Said in the return itself from
// its beginning: until it fails, the one before may be forgotten.
std::string PlanManager::taken_out_by_person(const Plan& plan) const {
  const Plan* first = &plan;
  while (!takes_out(first->action)) {
    const auto before = entries_.find(first->undoes);
    if (before == entries_.end() || before->first >= first->id) return first == &plan ? std::string{} : first->kept_out;
    first = &before->second.plan;
  }
  if (first == &plan || first->requested_by == kOurselves) return {};
  return first->requested_by + " took it out of service, with " + plan_name(first->id);
}

// What failed on its return, as a weftd that did not say so from the beginning has stored it.
void PlanManager::keep_out_of_person(Entry& held) {
  if (takes_out(held.plan.action) || !held.plan.kept_out.empty()) return;
  held.plan.kept_out = taken_out_by_person(held.plan);
  if (!held.plan.kept_out.empty()) show(held);
}

// A return that a person ended. What failed on its way back is held by the return itself.
void PlanManager::keep_out(Entry& back, const char* ended, const std::string& why, const std::string& who,
                           TimePoint now) {
  if (takes_out(back.plan.action)) return;
  back.plan.kept_out = who + ended_return_text(ended, back.plan) + (why.empty() ? "" : ": " + why);
  // Several may hold the target: one of them may be a return of which nobody knows whether it landed.
  for (auto& [id, held] : entries_) {
    const bool holds = held.plan.in_force || held.plan.unresolved || id == back.plan.undoes;
    if (id == back.plan.id || !holds || !same_target(held.plan.target, back.plan.target)) continue;
    held.plan.kept_out = back.plan.kept_out;
    if (held.plan.in_force)
      note(held, who, "automation does not return it by itself: " + back.plan.kept_out, now, false);
    else
      show(held);
  }
}

// "; to end it and leave the link in service: weftctl abort …"; empty: leave() would refuse it.
std::string PlanManager::how_to_leave(const Entry& entry, const RemedyView& view) const {
  if (not_to_be_left(entry.plan, entry.work, sight_for(entry, view))) return {};
  return "; to " + leave_text(entry.plan);
}

// It failed while nobody could do anything about it. What is well by now is watched once more; a person's abort holds.
bool PlanManager::is_well_again(const Entry& entry, const RemedyView& view) const {
  const Plan& plan = entry.plan;
  const bool is_failed_return = plan.state == PlanState::kRollingBack && !takes_out(plan.action);
  return is_failed_return && plan.target.kind == EntityKind::kLink && entry.work.waited &&
         plan.intent != PlanIntent::kUndo && !plan.aborted && is_link_up(plan.target, view) &&
         !is_link_troubled(plan.target, view, plan.started, clock_.ages(view.now));
}

// What people are told beside why it waits. The journal need not know.
void PlanManager::look_ahead(Entry& entry, const RemedyView& view) {
  const PlanState state = entry.plan.state;
  std::string prospects;
  if (state == PlanState::kVerifying || state == PlanState::kRollingBack)
    prospects = (is_well_again(entry, view) ? std::string(kWillBeginAnew) : "") + how_to_leave(entry, view);
  if (std::exchange(entry.prospects, prospects) == prospects || entry.plan.waits_for.empty()) return;
  const bool changed = entry.changed;
  show(entry);
  entry.changed = changed;
}

}  // namespace weft::analyzer
