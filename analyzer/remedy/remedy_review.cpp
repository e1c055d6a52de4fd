// SPDX-License-Identifier: Apache-2.0
// How plans come about and are judged: proposals for incidents and for what may come back, the choice among bad links,
// approval by ourselves, verification.

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "analyzer/remedy/budget.hpp"
#include "analyzer/remedy/candidates.hpp"
#include "analyzer/remedy/link_choice.hpp"
#include "analyzer/remedy/plan_manager.hpp"
#include "analyzer/remedy/windows.hpp"

namespace weft::analyzer {
namespace {

bool same_results(const std::vector<GuardVerdict>& a, const std::vector<GuardVerdict>& b) {
  return std::ranges::equal(a, b, {}, &GuardVerdict::result, &GuardVerdict::result);
}

// What would be taken out again must leave as much as if it were taken out for the first time.
bool concerns_return(Guard guard) {
  return guard >= Guard::kOwnPath && guard <= Guard::kRailCapacity;
}

// Carrying it out began, and ended because somebody else holds the target, or nothing was left to do: the next plan
// would read the same.
bool was_left_alone(const Plan& plan) {
  return plan.state == PlanState::kExpired && !plan.refused() &&
         std::ranges::find(plan.steps, PlanState::kExecuting, &PlanStep::state) != plan.steps.end();
}

bool is_up(const Entity& link, const RemedyView& view) {
  const FabricView* fabric = view.fabric(link.fabric);
  if (!fabric || !fabric->watching || !fabric->sweep) return false;
  const Topology& topology = *fabric->sweep->topology;
  return std::ranges::all_of(std::array{link.port, link.peer}, [&](PortKey end) {
    const PortIndex port = topology.find_port(end);
    return port != kNoIndex && topology.port(port).is_up();
  });
}

}  // namespace

// The clock was set back: what was to be done in a moment is not to wait until that moment comes once more, and what
// happened "later" hides nothing.
void PlanManager::set_back(TimePoint now) {
  status_.breaker_since = std::min(status_.breaker_since, now);
  for (auto& [id, entry] : entries_)
    for (TimePoint* at : {&entry.work.due, &entry.work.verifying_since, &entry.checked, &entry.last_window})
      *at = std::min(*at, now);
}

void PlanManager::review(const RemedyView& view) {
  if (view.now < reviewed_) set_back(view.now);
  reviewed_ = view.now;
  hosts_.update(view);
  propose(view);
  propose_returns(view);
  trip(view);
  choose(view);
  for (auto& [id, entry] : entries_) {
    const PlanState state = entry.plan.state;
    if (state == PlanState::kProposed || state == PlanState::kApproved) refresh(entry, view);
    if (entry.work.stage == PlanWork::Stage::kReady) act(entry, view);
    if (state == PlanState::kVerifying) watch(entry, view);
  }
  prune(view.now);
}

bool PlanManager::is_taken(const Entity& target) const {
  return std::ranges::any_of(
      shown_, [&](const PlanPtr& plan) { return !is_over(plan->state) && same_target(plan->target, target); });
}

bool PlanManager::is_busy(const Entity& target) const {
  return std::ranges::any_of(shown_, [&](const PlanPtr& plan) {
    return (is_under_way(plan->state) || plan->state == PlanState::kApproved) && same_target(plan->target, target);
  });
}

// One try for each incident: what was rejected, left alone, did not help or could not be done is for a person to ask
// for again. And what was seen before the last action on a target is no reason for the next one.
bool PlanManager::is_tried(const Incident& incident, const Remedy& remedy, const RemedyView& view) const {
  return std::ranges::any_of(shown_, [&](const PlanPtr& plan) {
    if (!same_target(plan->target, remedy.target)) return false;
    if (plan->in_force || plan->unresolved) return true;
    if (plan->started != kNever && !is_newer(view, incident, plan->finished)) return true;
    const bool in_vain = plan->state == PlanState::kRejected || plan->state == PlanState::kRolledBack ||
                         plan->state == PlanState::kFailed || was_left_alone(*plan);
    return in_vain && plan->incident == incident.id &&
           plan->finished > (incident.beginnings.empty() ? incident.opened : incident.beginnings.back());
  });
}

void PlanManager::propose(const RemedyView& view) {
  wanted_ = 0;
  for (const auto& incident : view.incidents) {
    if (!incident->is_open() || incident->finding.severity < Severity::kWarning) continue;
    auto remedy = remedy_for(*incident, view, hosts_);
    if (!remedy) continue;
    // A slow link that can be kept as the last resort is.
    if (remedy->action == RemedyAction::kIsolateLink && incident->finding.kind == IncidentKind::kLinkDegraded &&
        settings_.mode(RemedyAction::kRaiseLinkCost) != RemedyMode::kOff &&
        !settings_.actuator(RemedyAction::kRaiseLinkCost, view.is_ethernet_link(remedy->target)).empty())
      remedy->action = RemedyAction::kRaiseLinkCost;
    const TimePoint began = incident->beginnings.empty() ? incident->opened : incident->beginnings.back();
    if (view.now - began < settings_.limits.breaker.window && began > status_.breaker_since) ++wanted_;
    if (settings_.mode(remedy->action) == RemedyMode::kOff) continue;
    // Nobody could carry it out: the incident says all there is to say.
    if (settings_.actuator(remedy->action, view.is_ethernet_link(remedy->target)).empty()) continue;
    if (is_taken(remedy->target) || is_tried(*incident, *remedy, view)) continue;
    // Bounded: a fabric on fire has its breaker, not ten thousand plans.
    if (entries_.size() >= settings_.limits.retained_plans) continue;

    Entry& added = add(remedy->action, remedy->target, std::string(kOurselves), view);
    Plan& plan = added.plan;
    plan.incident = incident->id;
    plan.reason = incident->finding.summary;
    LiveTree* tree =
        remedy->target.kind == EntityKind::kLink ? trees_.tree(remedy->target.fabric, view, shown_) : nullptr;
    plan.jobs = incident->finding.jobs;
    if (tree && plan.jobs.empty()) {
      const PortIndex port = view.fabric(remedy->target.fabric)->sweep->topology->find_port(remedy->target.port);
      if (port != kNoIndex) plan.jobs = trees_.jobs_over(remedy->target.fabric, tree->tree().uplink_of(port));
    }
    plan.candidates = candidates_for(*incident, *remedy, view, tree, settings_.limits);
    note(added, std::string(kOurselves), "proposed for " + incident_name(incident->id), view.now);
  }
}

void PlanManager::propose_returns(const RemedyView& view) {
  const auto plans = shown_;
  for (const PlanPtr& out : plans) {
    if (!out->in_force || !is_over(out->state) || is_taken(out->target)) continue;
    const RemedyAction action =
        out->target.kind == EntityKind::kHost ? RemedyAction::kUndrainNode : RemedyAction::kRestoreLink;
    if (settings_.mode(action) == RemedyMode::kOff) continue;
    const Incident* incident = view.incident(out->incident);
    std::string reason;
    const bool over =
        !incident || (!incident->is_open() && view.now - incident->resolved >= settings_.limits.undrain_after);
    if (action == RemedyAction::kRestoreLink && out->incident != 0 &&
        outward_action(*out, plans) == RemedyAction::kRaiseLinkCost) {
      // It is up, and shows whether it is well.
      if (!over || !is_up(out->target, view)) continue;
      reason = incident_name(out->incident) + " is over and the link is up";
    } else if (action == RemedyAction::kRestoreLink) {
      // A link that is off shows nothing: only trying tells.
      if (view.now - out->finished < settings_.limits.reinstate_after) continue;
      reason = "it has been out of service for long and may be repaired";
    } else {
      if (out->incident == 0) continue;  // whoever asked for the drain knows when it ends
      if (!over) continue;
      const NodeHealth* health = view.health_of(out->target.host);
      if (!health || (health->verdict != HealthVerdict::kHealthy && health->verdict != HealthVerdict::kDegraded))
        continue;
      reason = incident_name(out->incident) + " is over and the host is healthy";
    }
    Entry& added = add(action, out->target, std::string(kOurselves), view);
    added.plan.incident = out->incident;
    added.plan.undoes = out->id;
    added.plan.actuator = out->actuator;
    added.plan.jobs = out->jobs;
    added.plan.reason = std::move(reason);
    note(added, std::string(kOurselves), "proposed to revert " + plan_name(out->id), view.now);
  }
}

void PlanManager::trip(const RemedyView& view) {
  if (status_.breaker_tripped) return;
  // What happened before a person looked and reset it does not trip it again.
  std::vector<PlanPtr> since;
  for (const PlanPtr& plan : shown_)
    if (plan->started > status_.breaker_since) since.push_back(plan);
  const auto why = must_trip(wanted_, since, view, settings_.limits.breaker);
  if (!why) return;
  status_.breaker_tripped = true;
  status_.breaker_reason = *why;
  status_.breaker_since = view.now;
  status_changed_ = true;
  audit(nullptr, std::string(kOurselves), "breaker tripped", *why, view.now);
}

std::vector<GuardVerdict> PlanManager::guards_of(const Plan& plan, const RemedyView& view) {
  LiveTree* tree = plan.target.kind == EntityKind::kLink ? trees_.tree(plan.target.fabric, view, shown_) : nullptr;
  GuardInput input{settings_, view, shown_, status_, hosts_, tree, nullptr, std::nullopt};
  if (tree && takes_out(plan.action)) input.routes = trees_.routes(plan.target.fabric, view);
  if (const auto outdone = outdone_.find(plan.id); outdone != outdone_.end()) input.outdone = outdone->second;
  return check_guards(plan, input);
}

void PlanManager::take_verdicts(Plan& plan, std::vector<GuardVerdict> guards, const RemedyView& view) {
  plan.guards = std::move(guards);
  for (Candidate& candidate : plan.candidates) {
    if (candidate.action == RemedyAction::kNothing) continue;
    Plan instead = plan;
    instead.action = candidate.action;
    if (candidate.action != plan.action) instead.guards = guards_of(instead, view);
    candidate.allowed = !instead.refused();
  }
}

void PlanManager::choose(const RemedyView& view) {
  outdone_.clear();
  std::map<std::string, std::vector<const Plan*>> isolations;
  for (const PlanPtr& plan : shown_)
    if (plan->state == PlanState::kProposed && plan->action == RemedyAction::kIsolateLink &&
        plan->requested_by == kOurselves)
      isolations[plan->target.fabric].push_back(plan.get());
  for (const auto& [name, plans] : isolations) {
    LiveTree* tree = plans.size() < 2 ? nullptr : trees_.tree(name, view, shown_);
    if (!tree) continue;
    const Topology& topology = *view.fabric(name)->sweep->topology;
    std::vector<BadLink> bad;
    std::vector<const Plan*> of;
    for (const Plan* plan : plans) {
      const PortIndex port = topology.find_port(plan->target.port);
      const UplinkIndex uplink = port == kNoIndex ? kNoIndex : tree->tree().uplink_of(port);
      if (uplink == kNoIndex) continue;
      const auto nothing = std::ranges::find(plan->candidates, RemedyAction::kNothing, &Candidate::action);
      const double harm = nothing == plan->candidates.end() ? 0 : nothing->total_ratio();
      bad.push_back({uplink, std::max(harm, 1e-9)});
      of.push_back(plan);
    }
    const LinkChoice choice = choose_links(*tree, bad, bad.size());
    std::string chosen;
    for (const std::uint32_t i : choice.out) chosen += (chosen.empty() ? "" : ", ") + plan_name(of[i]->id);
    for (std::uint32_t i = 0; i < of.size(); ++i)
      if (!chosen.empty() && !std::ranges::binary_search(choice.out, i))
        outdone_[of[i]->id] = "not together with " + chosen + ", which " +
                              (choice.out.size() == 1 ? "spares" : "spare") + " more" +
                              (choice.exact ? "" : " in a partial search");
  }
}

// Nothing was sent: what automation approved waits for a person.
void PlanManager::wait_for_person(Entry& entry, const GuardVerdict& why, TimePoint now) {
  entry.work = {};
  entry.plan.state = PlanState::kProposed;
  entry.plan.approved_by.clear();
  note(entry, std::string(kOurselves), std::string("needs approval: ") + to_string(why.guard) + ": " + why.explanation,
       now);
}

void PlanManager::refresh(Entry& entry, const RemedyView& view) {
  Plan& plan = entry.plan;
  const std::string ourselves(kOurselves);
  if (view.now >= plan.expires) {
    return end(entry, PlanState::kExpired, ourselves,
               plan.state == PlanState::kProposed ? "not approved in time" : "it could not start in time", view.now);
  }
  const Incident* incident = view.incident(plan.incident);
  if (takes_out(plan.action) && plan.incident != 0 && plan.requested_by == kOurselves &&
      (!incident || !incident->is_open()))
    return end(entry, PlanState::kExpired, ourselves, "its incident is over", view.now);
  // As when weftd was started anew with less turned on.
  if (plan.state == PlanState::kApproved && plan.approved_by == kOurselves &&
      settings_.mode(plan.action) != RemedyMode::kAuto) {
    plan.state = PlanState::kProposed;
    plan.approved_by.clear();
    note(entry, ourselves, "no longer automatic: needs approval", view.now);
  }
  auto guards = guards_of(plan, view);
  if (!same_results(guards, plan.guards)) {
    take_verdicts(plan, std::move(guards), view);
    ++plan.revision;
    plan.updated = view.now;
    show(entry);
  }
  const bool is_ours = plan.state == PlanState::kApproved && plan.approved_by == kOurselves;
  if (is_ours && !first_refusal(plan.guards, false))
    if (const GuardVerdict* why = first_refusal(plan.guards, true)) wait_for_person(entry, *why, view.now);
  if (plan.state == PlanState::kProposed && settings_.mode(plan.action) == RemedyMode::kAuto &&
      !first_refusal(plan.guards, true, Guard::kOneActor)) {
    plan.state = PlanState::kApproved;
    plan.approved_by = ourselves;
    note(entry, ourselves, "approved automatically", view.now);
  }
  if (plan.state == PlanState::kApproved && !first_refusal(plan.guards, plan.approved_by == kOurselves))
    runner(entry, view.now).begin();
}

// What takes back what a plan does. A link that was only made costly is made costly again, not isolated.
RemedyAction PlanManager::inverse(const Plan& plan) const {
  if (plan.action != RemedyAction::kRestoreLink) return inverse_of(plan.action);
  const RemedyAction outward = outward_action(plan, shown_);
  return outward == RemedyAction::kNothing ? inverse_of(plan.action) : outward;
}

void PlanManager::act(Entry& entry, const RemedyView& view) {
  if (status_.hands_off) return;
  Plan& plan = entry.plan;
  const bool undoing = plan.state == PlanState::kRollingBack;
  if (undoing && takes_out(plan.action)) return runner(entry, view.now).act(std::nullopt);
  Plan asked = plan;
  if (undoing) asked.action = inverse(plan);
  const auto guards = guards_of(asked, view);
  const bool by_automation = plan.approved_by == kOurselves;
  if (const GuardVerdict* why =
          undoing || first_refusal(guards, false) ? nullptr : first_refusal(guards, by_automation))
    return wait_for_person(entry, *why, view.now);
  const auto refused = std::ranges::find_if(guards, [&](const GuardVerdict& verdict) {
    return verdict.result == GuardResult::kRefused && (!undoing || concerns_return(verdict.guard));
  });
  entry.routes_before.reset();
  if (const RouteReview* routes = trees_.routes(plan.target.fabric, view)) entry.routes_before = *routes;
  runner(entry, view.now)
      .act(refused == guards.end()
               ? std::nullopt
               : std::optional(std::string(to_string(refused->guard)) + ": " + refused->explanation));
}

// What the new routes did to others. Before the link went there was no turn: the guards saw to that.
void PlanManager::check_routes(const Entry& entry, const RemedyView& view, Window& window) {
  const std::string& fabric = entry.plan.target.fabric;
  const RouteReview* now = trees_.tree(fabric, view, shown_) ? trees_.routes(fabric, view) : nullptr;
  if (!now) return;
  if (now->turn != kNoIndex)
    window.why = "routes then turned from down to up at " + view.fabric(fabric)->sweep->topology->node(now->turn).name;
  else if (entry.routes_before && entry.routes_before->known == now->known && now->lost > entry.routes_before->lost)
    window.why = std::to_string(now->lost - entry.routes_before->lost) + " pairs of adapters lost their path";
  else
    return;
  window.good = false;
  window.worse = true;
}

void PlanManager::watch(Entry& entry, const RemedyView& view) {
  Plan& plan = entry.plan;
  const FabricView* fabric = view.fabric(plan.target.fabric);
  const Duration interval = fabric && fabric->sweep ? fabric->sweep->interval : Duration(std::chrono::seconds(1));
  const TimePoint seen = fabric && fabric->sweep ? fabric->sweep->started : view.now;
  Window window;
  if (seen - entry.last_window >= interval / 2 || seen < entry.last_window) {
    window = judge_window(plan, view, entry.work.verifying_since, settings_.limits);
    if (window.good && takes_out(plan.action) && plan.target.kind == EntityKind::kLink)
      check_routes(entry, view, window);
    entry.last_window = seen;
  }
  const VerificationLimits& limits = settings_.limits.verification;
  std::uint32_t needed = limits.windows;
  if (plan.action == RemedyAction::kDrainNode) needed = 1;
  if (!takes_out(plan.action))
    needed = static_cast<std::uint32_t>(std::max(1.0, std::ceil(seconds(limits.probation) / seconds(interval))));
  const PlanState before = plan.state;
  const bool was_good = plan.windows_good > 0;
  runner(entry, view.now).window(window, needed);
  // From here on what goes wrong with it is trouble again, and no work.
  if (plan.state == before && !was_good && plan.windows_good > 0 && !takes_out(plan.action))
    note(entry, std::string(kOurselves), "it is up, and on probation", view.now);
  if (plan.state == before && window.fresh) {
    // People who look see it move; the journal need not.
    const bool changed = entry.changed;
    show(entry);
    entry.changed = changed;
  }
}

void PlanManager::prune(TimePoint now) {
  const auto old = [&](const Plan& plan) {
    return is_over(plan.state) && !plan.in_force && !plan.unresolved &&
           now - plan.finished > settings_.limits.retention;
  };
  std::set<std::uint64_t> gone;
  for (const auto& [id, entry] : entries_)
    if (!entry.changed && old(entry.plan)) gone.insert(id);
  std::size_t left = entries_.size() - gone.size();
  for (auto it = entries_.begin(); it != entries_.end() && left > settings_.limits.retained_plans; ++it) {
    const Plan& plan = it->second.plan;
    if (gone.contains(it->first) || it->second.changed || !is_over(plan.state) || plan.in_force || plan.unresolved)
      continue;
    gone.insert(it->first);
    --left;
  }
  if (gone.empty()) return;
  std::erase_if(entries_, [&](const auto& entry) { return gone.contains(entry.first); });
  std::erase_if(shown_, [&](const PlanPtr& plan) { return gone.contains(plan->id); });
  all_.reset();
}

}  // namespace weft::analyzer
