// SPDX-License-Identifier: Apache-2.0
// How plans come about and are judged: proposals for incidents, approval by ourselves. Which goes first is in
// remedy_choice.cpp, what may come back in remedy_returns.cpp, what follows in remedy_verification.cpp.

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "analyzer/remedy/budget.hpp"
#include "analyzer/remedy/candidates.hpp"
#include "analyzer/remedy/plan_manager.hpp"
#include "analyzer/remedy/windows.hpp"

namespace weft::analyzer {
namespace {

// But for the numbers, which time alone changes: "7 s old", "free at 14:05".
bool same_words(std::string a, std::string b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::erase_if(a, is_digit);
  std::erase_if(b, is_digit);
  return a == b;
}

// A longer time between two sweeps was seen by nobody.
constexpr Duration kLongestUnseen = std::chrono::minutes(1);

// It began, and nothing was sent before the time of its approval was over.
bool is_overdue(const Plan& plan, TimePoint now) {
  return plan.state == PlanState::kExecuting && plan.intent == PlanIntent::kNone && now >= plan.expires;
}

// The results are, and the reasons of those that stand in the way.
bool same_verdicts(const std::vector<GuardVerdict>& a, const std::vector<GuardVerdict>& b) {
  return std::ranges::equal(a, b, [](const GuardVerdict& one, const GuardVerdict& other) {
    const bool stands_in_the_way = one.result == GuardResult::kRefused || one.result == GuardResult::kNeedsPerson;
    return one.result == other.result && (!stands_in_the_way || same_words(one.explanation, other.explanation));
  });
}

// Some guard leaves to a person now what it did not leave to one before. That is what an approval decides. A guard that
// begins or ceases to refuse is no other plan: an approval is checked by all guards again, and the one that refuses it
// is named. So are jobs, which come and go: the capacity that they need is such a guard's.
bool asks_more(const std::vector<GuardVerdict>& now, const std::vector<GuardVerdict>& before) {
  return std::ranges::any_of(now, [&before](const GuardVerdict& verdict) {
    const auto was = std::ranges::find(before, verdict.guard, &GuardVerdict::guard);
    return verdict.result == GuardResult::kNeedsPerson && was != before.end() && was->result != verdict.result;
  });
}

// Carrying it out began, and ended because somebody else holds the target, or nothing was left to do: the next plan
// would read the same.
bool was_left_alone(const Plan& plan) {
  return plan.state == PlanState::kExpired && !plan.refused() &&
         std::ranges::find(plan.steps, PlanState::kExecuting, &PlanStep::state) != plan.steps.end();
}

// A person wants the target in service, whatever is wrong with it now: gave it back, or said no to its going.
bool is_wanted_in_service(const Plan& plan) {
  if (plan.left_in_service) return true;
  if (!takes_out(plan.action)) return plan.state == PlanState::kCommitted && plan.requested_by != kOurselves;
  return plan.state == PlanState::kRejected || (is_over(plan.state) && plan.aborted);
}

// A subnet whose port was lost, and that another port of ours watches by another name.
bool is_seen_by_another(const FabricView& lost, std::span<const FabricView> fabrics) {
  if (lost.watching) return false;
  return std::ranges::any_of(fabrics, [&lost](const FabricView& other) {
    return other.watching && other.sweep &&
           std::ranges::any_of(lost.sweep->topology->nodes(), [&other](const Node& node) {
             return node.type == NodeType::kSwitch && other.sweep->topology->find_node(node.guid) != kNoIndex;
           });
  });
}

}  // namespace

std::array<TimePoint*, 10> PlanManager::moments(Entry& entry) {
  return {&entry.work.due,        &entry.work.verifying_since,
          &entry.work.excused_at, &entry.work.judged,
          &entry.work.paused,     &entry.checked,
          &entry.doubted,         &entry.asked,
          &entry.last_window,     &entry.held_until};
}

// The clock was set back: what was to be done in a moment is not to wait until that moment comes once more, and what
// happened "later" hides nothing. No approval is good for longer.
void PlanManager::set_back(Duration by, TimePoint now) {
  set_back_at_ = now;
  began_at_ -= by;
  status_.breaker_since = std::min(status_.breaker_since, now);
  for (auto& [id, entry] : entries_) {
    for (TimePoint* at : moments(entry)) *at = std::min(*at, now);
    if (is_over(entry.plan.state)) continue;
    entry.plan.expires -= by;
    show(entry);
  }
}

// When it ended. What lies ahead was before the clock was set back.
TimePoint PlanManager::ended(const Plan& plan, TimePoint now) const {
  return plan.finished > now ? set_back_at_ : plan.finished;
}

// The clock was set forward: what waits for a time waits as long as it would have, and is no older than before.
void PlanManager::set_forward(Duration by, TimePoint now) {
  began_at_ += by;
  for (auto& [id, entry] : entries_) {
    for (TimePoint* at : moments(entry))
      if (*at != kNever) *at += by;
    if (is_over(entry.plan.state)) continue;
    entry.plan.expires += by;
    show(entry);
  }
  audit(nullptr, std::string(kOurselves), "clock set forward",
        "by " + std::to_string(static_cast<std::int64_t>(seconds(by))) + " s: nothing is due earlier for it", now);
}

// How old a sweep is by the clock says little once that was set. A person may ask of a sweep before it is reviewed.
const SweepCounts& PlanManager::counts(const std::string& name, const RemedyView& view) {
  const FabricView* fabric = view.fabric(name);
  if (fabric && fabric->sweep && view.steady) {
    SeenSweep& seen = seen_sweeps_[name];
    if (seen.started != fabric->sweep->started) {
      const Duration unseen = seen.started == kNever ? Duration{} : *view.steady - seen.since;
      const Duration cycle = std::max(fabric->sweep->interval, fabric->sweep->statistics.duration);
      if (unseen > std::max(kLongestUnseen, 4 * cycle)) trees_.pass_over(name, unseen);
      seen = {fabric->sweep->started, *view.steady};
    }
  }
  return trees_.counts(name, view);
}

void PlanManager::note_sweeps(const RemedyView& view) {
  std::set<std::string> swept;
  for (const FabricView& fabric : view.fabrics) {
    if (!fabric.sweep) continue;
    swept.insert(fabric.name);
    if (!swept_.contains(fabric.name)) read_at_once(fabric.name, view.now);
    (void)counts(fabric.name, view);  // who is missing, and since when, also while no plan asks
  }
  swept_ = std::move(swept);
}

Duration PlanManager::known_for(const std::string& fabric, const RemedyView& view) const {
  const auto seen = seen_sweeps_.find(fabric);
  const FabricView* now = view.fabric(fabric);
  if (seen == seen_sweeps_.end() || !view.steady || !now || !now->sweep || now->sweep->started != seen->second.started)
    return {};
  return std::max(Duration{}, *view.steady - seen->second.since);
}

// By their ids, but those for links in the places of each other: what a budget leaves is for the one that loses most.
std::vector<PlanManager::Entry*> PlanManager::in_turn() {
  std::vector<Entry*> all, by_weight;
  for (auto& [id, entry] : entries_) {
    all.push_back(&entry);
    if (entry.weight > 0) by_weight.push_back(&entry);
  }
  std::ranges::stable_sort(by_weight, std::greater{}, &Entry::weight);
  auto next = by_weight.begin();
  for (Entry*& each : all)
    if (each->weight > 0) each = *next++;
  return all;
}

void PlanManager::review(const RemedyView& view) {
  const Duration set = view.steady ? clock_.look(view.now, *view.steady) : std::min(Duration{}, view.now - reviewed_);
  if (set < Duration{}) set_back(-set, view.now);
  if (set > Duration{}) set_forward(set, view.now);
  reviewed_ = view.now;
  hosts_.update(view);
  note_sweeps(view);
  propose(view);
  propose_returns(view);
  trip(view);
  choose(view);
  for (auto& [id, entry] : entries_) {
    note_beginning(entry.plan, view);
    renew_jobs(entry, view);
  }
  // All before anything acts or ends: what becomes free in a review is for all of them in the next one.
  for (Entry* const entry : in_turn()) {
    const PlanState state = entry->plan.state;
    if (state == PlanState::kProposed || state == PlanState::kApproved || is_overdue(entry->plan, view.now))
      refresh(*entry, view);
  }
  for (auto& [id, entry] : entries_) {
    const PlanState state = entry.plan.state;
    if (entry.work.stage == PlanWork::Stage::kReady) act(entry, view);
    if (state == PlanState::kVerifying) watch(entry, view);
    if (entry.work.stage == PlanWork::Stage::kSeeBack) watch_undoing(entry, view);
    watch_held(entry, view);
    wait_for_reading(entry, view.now);
    look_ahead(entry, view);
  }
  prune(view);
  note_out_by_others(view);
}

bool PlanManager::is_taken(const Entity& target) const {
  return std::ranges::any_of(
      shown_, [&](const PlanPtr& plan) { return !is_over(plan->state) && same_target(plan->target, target); });
}

// What waits and has sent nothing changes nothing: with a brake before it that may take hours.
bool PlanManager::is_changed(const Entity& target) const {
  return std::ranges::any_of(entries_, [&](const auto& each) {
    const Plan& plan = each.second.plan;
    const bool waits = plan.state == PlanState::kExecuting && plan.intent == PlanIntent::kNone &&
                       each.second.work.stage == PlanWork::Stage::kReady;
    return is_under_way(plan.state) && !waits && same_target(plan.target, target);
  });
}

// For this trouble: the next try is a person's.
bool PlanManager::is_given_up(const Plan& plan) const {
  return is_wanted_in_service(plan) || plan.state == PlanState::kRejected || plan.state == PlanState::kRolledBack ||
         plan.state == PlanState::kFailed || was_left_alone(plan) || is_undone_by_others(plan, shown_);
}

// One try for each incident: what was rejected, left alone, did not help or could not be done is for a person to ask
// for again. And what was seen before the last action on a target is no reason for the next one.
bool PlanManager::is_tried(const Incident& incident, const Remedy& remedy, const RemedyView& view) const {
  return std::ranges::any_of(shown_, [&](const PlanPtr& plan) {
    if (!same_target(plan->target, remedy.target)) return false;
    if (plan->in_force || plan->unresolved) return true;
    if (plan->started != kNever && !is_newer(view, incident, ended(*plan, view.now))) return true;
    if (is_wished_still(*plan, view)) return true;
    return plan->incident == incident.id && is_given_up(*plan) && ended_since_it_began(*plan, incident, view.now);
  });
}

// What a person, or somebody else, wants in service is so until every trouble is over that it had then; other trouble
// that comes meanwhile is no reason.
bool PlanManager::is_wished_still(const Plan& plan, const RemedyView& view) const {
  if (!is_wanted_in_service(plan) && !is_undone_by_others(plan, shown_)) return false;
  return std::ranges::any_of(view.incidents, [&](const auto& incident) {
    if (!incident->is_open() || !ended_since_it_began(plan, *incident, view.now)) return false;
    if (incident->id == plan.incident || is_the_link(incident->finding.cause, plan.target)) return true;
    if (plan.target.kind != EntityKind::kHost) return false;
    const auto remedy = remedy_for(*incident, view, hosts_);
    return remedy && same_target(remedy->target, plan.target);
  });
}

// The times of two events say nothing of their order once the clock was set back and has come by both again.
bool PlanManager::ended_since_it_began(const Plan& plan, const Incident& incident, TimePoint now) const {
  const TimePoint began = incident.began();
  if (plan.incident == incident.id && plan.incident_began != kNever) return plan.incident_began == began;
  return began > now || ended(plan, now) > began;
}

// What ends is for the trouble of now, whenever it was proposed.
void PlanManager::note_beginning(Plan& plan, const RemedyView& view) {
  const Incident* incident = is_over(plan.state) ? nullptr : view.incident(plan.incident);
  if (incident) plan.incident_began = incident->began();
}

void PlanManager::propose(const RemedyView& view) {
  wanted_ = 0;
  std::uint32_t without_plan = 0;
  const auto open = static_cast<std::size_t>(
      std::ranges::count_if(shown_, [](const PlanPtr& plan) { return !is_over(plan->state); }));
  std::size_t room = settings_.limits.retained_plans - std::min<std::size_t>(settings_.limits.retained_plans, open);
  for (const auto& incident : view.incidents) {
    if (!incident->is_open() || incident->finding.severity < Severity::kWarning) continue;
    auto remedy = remedy_for(*incident, view, hosts_);
    if (!remedy) continue;
    // A slow link that can be kept as the last resort is.
    if (remedy->action == RemedyAction::kIsolateLink && incident->finding.kind == IncidentKind::kLinkDegraded &&
        settings_.mode(RemedyAction::kRaiseLinkCost) != RemedyMode::kOff &&
        !settings_.actuator(RemedyAction::kRaiseLinkCost, remedy->target, view).empty())
      remedy->action = RemedyAction::kRaiseLinkCost;
    const TimePoint began = incident->began();
    if (clock_.ages(view.now).of(began) < settings_.limits.breaker.window && began > status_.breaker_since) ++wanted_;
    if (settings_.mode(remedy->action) == RemedyMode::kOff) continue;
    // Nobody could carry it out: the incident says all there is to say. Of Ethernet links, whose switches may let
    // nobody set them, the plan tells the person who shuts the port whether that is safe.
    if (settings_.actuator(remedy->action, remedy->target, view).empty() && !view.is_ethernet_link(remedy->target))
      continue;
    if (is_taken(remedy->target) || is_tried(*incident, *remedy, view)) continue;
    // Bounded: a fabric on fire has its breaker, not ten thousand plans.
    if (room == 0) {
      ++without_plan;
      continue;
    }
    --room;

    Entry& added = add(remedy->action, remedy->target, std::string(kOurselves), view);
    Plan& plan = added.plan;
    plan.incident = incident->id;
    plan.reason = incident->finding.summary;
    LiveTree* tree =
        remedy->target.kind == EntityKind::kLink ? trees_.tree(remedy->target.fabric, view, shown_) : nullptr;
    plan.jobs = jobs_on(plan.target, view).value_or(incident->finding.jobs);
    plan.candidates = candidates_for(*incident, *remedy, view, tree,
                                     tree ? trees_.shape(remedy->target.fabric) : nullptr, settings_.limits);
    added.weighed = incident->revision;
    added.weighed_in = tree ? trees_.version(remedy->target.fabric) : 0;
    note(added, std::string(kOurselves), "proposed for " + incident_name(incident->id), view.now);
  }
  if (without_plan > 0 && status_.without_plan == 0)
    audit(nullptr, std::string(kOurselves), "plans full",
          std::to_string(settings_.limits.retained_plans) + " plans are open: new incidents get none", view.now);
  status_.without_plan = without_plan;
}

void PlanManager::trip(const RemedyView& view) {
  if (status_.breaker_tripped) return;
  // What happened before a person looked and reset it does not trip it again.
  std::vector<PlanPtr> since;
  for (const PlanPtr& plan : shown_)
    if (plan->started > status_.breaker_since) since.push_back(plan);
  const auto why = must_trip(wanted_, since, view, clock_.ages(view.now), settings_.limits.breaker);
  if (!why) return;
  trip_breaker(*why, view.now);
}

// The same for all plans of a review: to look for the switches of a lost fabric in all others takes long.
std::size_t PlanManager::count_links(const RemedyView& view) {
  std::vector<std::pair<std::shared_ptr<const Topology>, bool>> of;
  for (const FabricView& fabric : view.fabrics)
    of.emplace_back(fabric.sweep ? fabric.sweep->topology : nullptr, fabric.watching);
  if (of == counted_links_.of) return counted_links_.links;
  counted_links_ = {std::move(of), 0};
  for (const FabricView& fabric : view.fabrics)
    if (fabric.sweep && !is_seen_by_another(fabric, view.fabrics))
      counted_links_.links += counts(fabric.name, view).links;
  return counted_links_.links;
}

std::vector<GuardVerdict> PlanManager::guards_of(const Plan& plan, const RemedyView& view) {
  LiveTree* tree = plan.target.kind == EntityKind::kLink ? trees_.tree(plan.target.fabric, view, shown_) : nullptr;
  GuardInput input{settings_,
                   view,
                   shown_,
                   status_,
                   clock_.ages(view.now),
                   hosts_,
                   tree,
                   tree ? trees_.with_avoided(plan.target.fabric) : nullptr,
                   tree ? trees_.with_held(plan.target.fabric) : nullptr,
                   nullptr,
                   counts(plan.target.fabric, view),
                   {}};
  for (const FabricView& fabric : view.fabrics) input.taken_out.emplace_back(counts(fabric.name, view).taken_out);
  input.enabled = just_enabled(view);
  input.links = count_links(view);
  if (const auto drained = drained_.find(plan.actuator); drained != drained_.end()) input.drained = &drained->second;
  input.untold = untold_list(plan, view);
  if (tree) input.shape = trees_.shape(plan.target.fabric);
  if (tree && takes_out(plan.action)) input.routes = trees_.routes(plan.target.fabric, view);
  if (const auto outdone = outdone_.find(plan.id); outdone != outdone_.end()) input.outdone = outdone->second;
  input.known_for = known_for(plan.target.fabric, view);
  if (ReturnDue due = still_due(plan, view); due.is != ReturnDue::Is::kDue) input.not_due = std::move(due.why);
  return check_guards(plan, input);
}

bool PlanManager::may_approve(const Plan& plan) const {
  return settings_.mode(plan.action) == RemedyMode::kAuto;
}

void PlanManager::take_verdicts(Plan& plan, std::vector<GuardVerdict> guards, const RemedyView& view) {
  plan.guards = std::move(guards);
  for (Candidate& candidate : plan.candidates) {
    if (candidate.action == RemedyAction::kNothing) continue;
    Plan instead = plan;
    instead.action = candidate.action;
    instead.actuator = settings_.actuator(candidate.action, plan.target, view);
    if (candidate.action != plan.action) instead.guards = guards_of(instead, view);
    // That another plan is under way delays it, and refuses nothing.
    candidate.allowed = !first_refusal(instead.guards, false, Guard::kOneActor);
  }
}

// A proposal whose time is over: while its reason lasts it is the same trouble, so it stays the same plan. False: it is
// over. A person's own wish is not repeated.
bool PlanManager::renew(Entry& entry, const RemedyView& view) {
  Plan& plan = entry.plan;
  const std::string why = plan.state == PlanState::kProposed   ? "not approved in time"
                          : plan.state == PlanState::kApproved ? "it could not start in time"
                                                               : "it could not be carried out in time";
  entry.work = {};
  plan.waits_for.clear();
  if (plan.requested_by != kOurselves) {
    end(entry, PlanState::kExpired, std::string(kOurselves), why, view.now);
    return false;
  }
  plan.state = PlanState::kProposed;
  plan.approved_by.clear();
  plan.expires = view.now + settings_.limits.expiry;
  note(entry, std::string(kOurselves), why + ": proposed anew", view.now);
  return true;
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
  const Incident* incident = view.incident(plan.incident);
  if (takes_out(plan.action) && plan.incident != 0 && plan.requested_by == kOurselves &&
      (!incident || !incident->is_open()))
    return end(entry, PlanState::kExpired, ourselves, "its incident is over", view.now);
  if (const ReturnDue due = still_due(plan, view); due.is == ReturnDue::Is::kNotYet)
    return end(entry, PlanState::kExpired, ourselves, "no longer due: " + due.why, view.now);
  if (view.now >= plan.expires && !renew(entry, view)) return;
  // As when weftd was started anew with a webhook for Ethernet links, or with less turned on.
  if (plan.actuator.empty()) plan.actuator = settings_.actuator(plan.action, plan.target, view);
  if (plan.state == PlanState::kApproved && plan.approved_by == kOurselves && !may_approve(plan)) {
    plan.state = PlanState::kProposed;
    plan.approved_by.clear();
    note(entry, ourselves, "no longer automatic: needs approval", view.now);
  }
  const bool is_weighed = weigh(entry, view);
  auto guards = guards_of(plan, view);
  if (!same_verdicts(guards, plan.guards)) {
    if (plan.guards.empty() || asks_more(guards, plan.guards)) ++plan.revision;
    take_verdicts(plan, std::move(guards), view);
    plan.updated = view.now;
    show(entry);
  } else if (guards != plan.guards || is_weighed) {
    // People read the reasons of now; the journal need not: they change with every number in them.
    if (is_weighed)
      take_verdicts(plan, std::move(guards), view);
    else
      plan.guards = std::move(guards);
    const bool changed = entry.changed;
    show(entry);
    entry.changed = changed;
  }
  const bool is_ours = plan.state == PlanState::kApproved && plan.approved_by == kOurselves;
  if (is_ours && !first_refusal(plan.guards, false))
    if (const GuardVerdict* why = first_refusal(plan.guards, true)) wait_for_person(entry, *why, view.now);
  if (plan.state == PlanState::kProposed && may_approve(plan) && !first_refusal(plan.guards, true, Guard::kOneActor)) {
    plan.state = PlanState::kApproved;
    plan.approved_by = ourselves;
    note(entry, ourselves, "approved automatically", view.now);
  }
  const bool is_held = plan.state == PlanState::kApproved && view.now < entry.held_until;
  wait_for(entry, is_held ? "held until " + time_ahead_text(view.now, entry.held_until - view.now) +
                                ": a guard refused it directly before it was sent"
                          : std::string());
  if (plan.state == PlanState::kApproved && !is_held && !first_refusal(plan.guards, plan.approved_by == kOurselves)) {
    // Whoever asks a switch must know which one, also for the look before the act.
    if (!plan.end && plan.actuator == settings_.switch_actuator) plan.end = end_of(plan, view);
    runner(entry, view.now).begin();
  }
}

// What is still needed is not over, holds something out, is counted by some limit, or says that a trouble that lasts
// was given up on: without it the same would be done again.
bool PlanManager::may_forget(const Plan& plan, const RemedyView& view) const {
  if (!is_over(plan.state) || plan.in_force || plan.unresolved) return false;
  if (is_failed_lately(plan, view.now)) return false;
  if (is_counted(plan, clock_.ages(view.now), settings_.limits)) return false;
  if (!is_given_up(plan)) return true;
  const Incident* own = view.incident(plan.incident);
  if (own && own->is_open() && ended_since_it_began(plan, *own, view.now)) return false;
  return !is_wished_still(plan, view);
}

void PlanManager::prune(const RemedyView& view) {
  const auto old = [&](const Plan& plan) {
    return clock_.ages(view.now).of(plan.finished) > settings_.limits.retention && may_forget(plan, view);
  };
  std::set<std::uint64_t> gone;
  for (const auto& [id, entry] : entries_)
    if (!entry.changed && old(entry.plan)) gone.insert(id);
  // What is open takes no room from what is over: else a rejected plan would be forgotten, and proposed again.
  const auto over = static_cast<std::size_t>(
      std::ranges::count_if(entries_, [](const auto& entry) { return is_over(entry.second.plan.state); }));
  std::size_t left = over - std::min(over, gone.size());
  for (auto it = entries_.begin(); it != entries_.end() && left > settings_.limits.retained_plans; ++it) {
    const Plan& plan = it->second.plan;
    if (gone.contains(it->first) || it->second.changed || !may_forget(plan, view)) continue;
    gone.insert(it->first);
    --left;
  }
  if (gone.empty()) return;
  std::erase_if(entries_, [&](const auto& entry) { return gone.contains(entry.first); });
  std::erase_if(shown_, [&](const PlanPtr& plan) { return gone.contains(plan->id); });
  all_.reset();
}

}  // namespace weft::analyzer
