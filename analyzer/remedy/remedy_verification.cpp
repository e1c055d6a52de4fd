// SPDX-License-Identifier: Apache-2.0
// The last look before a plan acts, what sweeps say of it afterwards, and aborts.

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/remedy/budget.hpp"
#include "analyzer/remedy/neighbours.hpp"
#include "analyzer/remedy/plan_manager.hpp"
#include "analyzer/remedy/plan_texts.hpp"
#include "analyzer/remedy/switch_ends.hpp"
#include "analyzer/remedy/windows.hpp"

namespace weft::analyzer {
namespace {

// What was read of a target longer ago is read again before it is changed.
constexpr Duration kLongestReading = std::chrono::seconds(10);

// What would be taken out again must leave as much as if it were taken out for the first time; and a tripped breaker
// says that the trouble has a common cause.
bool concerns_return(Guard guard) {
  return guard == Guard::kBreaker || (guard >= Guard::kOwnPath && guard <= Guard::kBisection);
}

// ", to host-3 mlx5_0": a few say whether it is the plan's doing; many are not named.
std::string few_names(const Topology& topology, const std::vector<NodeIndex>& nodes) {
  constexpr std::size_t kFew = 4;
  if (nodes.size() > kFew) return {};
  std::string text;
  for (const NodeIndex node : nodes) text += (text.empty() ? ", to " : ", ") + topology.node(node).name;
  return text;
}

/// What the audit trail says of a person's abort: the state that the plan is in then is not what the person did.
constexpr const char* kAborted = "ABORTED";

// So many intervals after the last sweep began people are told that the next one is awaited.
constexpr int kLateSweeps = 3;

constexpr const char* kLateSweep = "for the next sweep, which is late: some node may be slow to answer";

// From when on the sweep after this one is late. As where a node that does not answer makes a sweep long.
TimePoint next_is_late(const Sweep& sweep) {
  return sweep.started + kLateSweeps * sweep.interval + sweep.statistics.duration;
}

}  // namespace

std::string PlanManager::brake_text() const {
  return "automation is stopped: " + status_.stop_reason();
}

// What is ready to be sent, and must not be yet. The journal need not know.
void PlanManager::wait_for(Entry& entry, std::string why) {
  if (entry.plan.waits_for == why) return;
  entry.plan.waits_for = std::move(why);
  const bool changed = entry.changed;
  show(entry);
  entry.changed = changed;
}

// Why what came back may not be taken out again; nullopt: it may.
std::optional<std::string> PlanManager::obstacle_to_undo(const Plan& plan, const RemedyView& view) {
  Plan asked = plan;
  asked.action = inverse_action(plan);
  for (const GuardVerdict& verdict : guards_of(asked, view))
    if (verdict.result == GuardResult::kRefused && concerns_return(verdict.guard))
      return std::string(to_string(verdict.guard)) + ": " + verdict.explanation;
  return std::nullopt;
}

Result<Plan> PlanManager::abort(std::uint64_t id, const std::string& why, const std::string& who,
                                const RemedyView& view) {
  const Entry* found = entry(id);
  if (found && found->plan.state == PlanState::kVerifying && !takes_out(found->plan.action)) {
    hosts_.update(view);
    if (const auto refused = obstacle_to_undo(found->plan, view)) {
      const bool is_up = found->plan.target.kind == EntityKind::kHost || is_link_up(found->plan.target, view);
      const std::string sentence =
          *refused + (is_up ? ". It stays in service, and " : ". It is not up, and is not taken out again; ") +
          plan_name(id) + " goes on";
      audit(&found->plan, who, "refused",
            subject_text(found->plan) + "abort" + (why.empty() ? "" : " (" + why + ')') + ": " + sentence, view.now);
      return fail(ErrorCode::kFailedPrecondition, sentence + how_to_leave(*found, view));
    }
  }
  return abort(id, why, who, view.now);
}

Result<Plan> PlanManager::abort(std::uint64_t id, const std::string& why, const std::string& who, TimePoint now) {
  Entry* found = entry(id);
  if (!found) return no_plan(id);
  Plan& plan = found->plan;
  if (is_over(plan.state)) return fail(ErrorCode::kFailedPrecondition, late_abort_text(plan, holder_of(plan, shown_)));
  const std::string sentence = std::string(kAbortedBy) + who + (why.empty() ? "" : ": " + why);
  // What the next one says stands in its history: its reason stays that of the first.
  const bool again = std::exchange(plan.aborted, true);
  if (!again) keep_out(*found, "aborted", why, who, now);
  if (!is_under_way(plan.state)) {
    end(*found, PlanState::kRejected, who, sentence, now, kAborted);
  } else if (again || plan.state == PlanState::kRollingBack) {
    // Whoever says no to what is given up anyway wants it in service, whatever comes.
    if (!again && takes_out(plan.action)) plan.outcome = sentence + "; it was being undone already: " + plan.outcome;
    note(*found, who, "abort of a plan that is being undone already" + (why.empty() ? "" : ": " + why), now, true,
         kAborted);
  } else {
    note(*found, who, why.empty() ? "abort" : "abort: " + why, now, true, kAborted);
    runner(*found, now).abort(sentence);
    if (status_.is_stopped() && is_under_way(plan.state)) {
      plan.waits_for = brake_text();
      note(*found, std::string(kOurselves), "not undone before automation may act again: " + status_.stop_reason(),
           now);
    }
  }
  return found->plan;
}

// Of a return that failed every sweep tells: it failed by one. Else only those that began after the last reading.
LinkSight PlanManager::sight_for(const Entry& entry, const RemedyView& view) const {
  const Plan& plan = entry.plan;
  if (plan.target.kind != EntityKind::kLink || outward_action(plan) != RemedyAction::kIsolateLink)
    return LinkSight::kUp;
  const bool has_failed = plan.state == PlanState::kRollingBack && !takes_out(plan.action);
  return sight_of(plan.target, view, has_failed ? kNever : entry.checked);
}

Result<Plan> PlanManager::leave(std::uint64_t id, const std::string& why, const std::string& who,
                                const RemedyView& view) {
  Entry* found = entry(id);
  if (!found) return no_plan(id);
  const LinkSight sight = sight_for(*found, view);
  const auto refused = is_over(found->plan.state)
                           ? std::optional(late_abort_text(found->plan, holder_of(found->plan, shown_)))
                           : not_to_be_left(found->plan, found->work, sight);
  if (refused) {
    audit(&found->plan, who, "refused",
          subject_text(found->plan) + "leave in service" + (why.empty() ? "" : " (" + why + ')') + ": " + *refused,
          view.now);
    return fail(ErrorCode::kFailedPrecondition, *refused);
  }
  note(*found, who, "leave it in service: " + why, view.now, true, kAborted);
  runner(*found, view.now).leave(who, why, sight);
  return found->plan;
}

// What waits to be undone is not sent, but read: somebody else may do it, or take out what came back. At once when a
// sweep says so.
void PlanManager::look_meanwhile(Entry& entry, const RemedyView& view) {
  const Plan& plan = entry.plan;
  if (plan.state != PlanState::kRollingBack || lacks_sweep(plan, view.now)) return;
  bool is_seen = false;
  if (plan.target.kind == EntityKind::kLink && outward_action(plan) == RemedyAction::kIsolateLink) {
    const LinkSight sight = sight_of(plan.target, view, std::max(entry.checked, began_at_));
    is_seen = takes_out(plan.action) ? sight == LinkSight::kUp || sight == LinkSight::kTrained
                                     : sight == LinkSight::kDisabled;
  }
  if (!is_seen && view.now - entry.checked < settings_.limits.check_interval) return;
  runner(entry, view.now).glance();
}

// Some guard has come to refuse what was about to be sent: the plan waits as before it began, and longer each time.
// What a person approved was what the guards said then.
void PlanManager::wait_again(Entry& entry, const GuardVerdict& why, TimePoint now) {
  constexpr unsigned kMostHeldDoublings = 8;
  if (entry.plan.approved_by != kOurselves) return wait_for_person(entry, why, now);
  entry.held_until = now + settings_.limits.reading_interval * (1 << std::min(entry.held++, kMostHeldDoublings));
  entry.work = {};
  entry.plan.state = PlanState::kApproved;
  note(entry, std::string(kOurselves),
       std::string("held before it was sent: ") + to_string(why.guard) + ": " + why.explanation, now);
}

void PlanManager::act(Entry& entry, const RemedyView& view) {
  const bool takes_out_again = entry.plan.state == PlanState::kRollingBack && !takes_out(entry.plan.action);
  if (status_.is_stopped()) {
    entry.work.waited = takes_out_again;
    wait_for(entry, brake_text());
    return look_meanwhile(entry, view);
  }
  const bool begins = entry.plan.state == PlanState::kExecuting && takes_out(entry.plan.action);
  if (entry.plan.target.kind == EntityKind::kLink && (begins || takes_out_again) &&
      view.is_manager_unheard(entry.plan.target.fabric)) {
    entry.work.waited = takes_out_again;
    wait_for(entry, nobody_reroutes(view, entry.plan.target.fabric));
    return look_meanwhile(entry, view);
  }
  if (takes_out_again && entry.plan.target.kind == EntityKind::kLink) {
    const FabricView* fabric = view.fabric(entry.plan.target.fabric);
    if (fabric && fabric->sweep && view.now > next_is_late(*fabric->sweep)) {
      entry.work.waited = true;
      return wait_for(entry, kLateSweep);
    }
  }
  if (is_well_again(entry, view)) return runner(entry, view.now).verify_anew();
  // The state of some links can be read without a sweep; what the guards look at cannot.
  if ((entry.plan.state == PlanState::kExecuting || takes_out_again) && is_unswept(entry.plan, view.now))
    return wait_for(entry, first_sweep_text(entry.plan));
  // After a restart the lists are not read yet. An approval holds only so long.
  if (auto why = entry.plan.state == PlanState::kExecuting ? untold_list(entry.plan, view) : std::nullopt)
    return wait_for(entry, std::move(*why));
  // Told at once: others of its fabric must not begin. What waits for its turn keeps it while it is read.
  if (!entry.plan.waits_for.starts_with(kOneActorFirst)) wait_for(entry, {});
  // As when it was held before: somebody may have come meanwhile.
  if (view.now - entry.checked > kLongestReading) return runner(entry, view.now).read_again();
  wait_for(entry, {});
  Plan& plan = entry.plan;
  const bool undoing = plan.state == PlanState::kRollingBack;
  entry.work.decided.reset();
  // What came back and is down is taken out again for just that. Else only who asked for a link that was down knows
  // what is cabled there: a link that went down since may have another cable by now, which is just training.
  const bool is_down = view.is_link_down(plan.target);
  entry.down_as_reviewed = is_down && (undoing || entry.asked_while_down);
  if (undoing && takes_out(plan.action)) return runner(entry, view.now).act(std::nullopt);
  if (is_down && !entry.down_as_reviewed && plan.action == RemedyAction::kIsolateLink) {
    const std::string why = "the link went down meanwhile, so nobody can be asked who is at its ends";
    if (plan.requested_by != kOurselves)
      return runner(entry, view.now).act("FRESH_DATA: " + why + "; to isolate it as it is, ask again");
    ++entry.found_down;
    return wait_again(entry, {Guard::kFreshData, GuardResult::kRefused, why}, view.now);
  }
  entry.found_down = 0;
  entry.work.decided = view.steady;
  std::optional<std::string> refusal;
  if (undoing) {
    refusal = obstacle_to_undo(plan, view);
  } else {
    const auto guards = guards_of(plan, view);
    const GuardVerdict* refused = first_refusal(guards, false);
    if (const GuardVerdict* why = refused ? nullptr : first_refusal(guards, plan.approved_by == kOurselves))
      return wait_for_person(entry, *why, view.now);
    // A person's word stands where only another plan is in the way.
    if (refused && refused->guard == Guard::kOneActor && plan.approved_by != kOurselves)
      return wait_for(entry, kOneActorFirst + refused->explanation);
    if (refused && plan.requested_by == kOurselves) {
      take_verdicts(plan, guards, view);
      return wait_again(entry, *refused, view.now);
    }
    if (refused) refusal = std::string(to_string(refused->guard)) + ": " + refused->explanation;
  }
  plan.routes_before.reset();
  if (const RouteReview* routes = trees_.routes(plan.target.fabric, view))
    plan.routes_before = {routes->known, routes->lost};
  const FabricView* fabric = view.fabric(plan.target.fabric);
  if (plan.routes_before) {
    entry.topology_before = fabric->sweep->topology;
    entry.tables_before = fabric->sweep->routes;
  }
  if (!plan.end) plan.end = end_of(plan, view);
  if (fabric && plan.target.kind == EntityKind::kLink)
    plan.neighbours = answering_neighbours(plan.target, *fabric, settings_.limits.stale_intervals);
  runner(entry, view.now).act(refusal);
}

// The end of its link that a plan sets, as it would be chosen now.
std::optional<PortKey> PlanManager::end_of(const Plan& plan, const RemedyView& view) const {
  if (!settings_.switch_actuator.empty() && plan.actuator == settings_.switch_actuator)
    return switch_end(plan.target, view);
  return end_to_set(plan.target, view.fabric(plan.target.fabric));
}

// Pairs of adapters without a path that had one before. After a restart only the totals of before are known: hosts that
// left can but lessen them, and of those that came nobody knows.
std::uint64_t PlanManager::newly_lost(const Entry& entry, const Sweep& sweep, const RouteReview& now,
                                      std::vector<NodeIndex>& towards) const {
  const auto& totals = entry.plan.routes_before;
  if (!totals || now.lost == 0 || (now.known == totals->known && now.lost <= totals->lost)) return 0;
  if (entry.tables_before)
    return count_newly_lost(*entry.topology_before, *entry.tables_before, *sweep.topology, *sweep.routes,
                            TreeCache::kMostFollowed, &towards);
  return now.known <= totals->known && now.lost > totals->lost ? now.lost - totals->lost : 0;
}

// What the new routes did to others. Before the link went there was no turn: the guards saw to that. A subnet manager
// lays routes switch by switch, for seconds: until the tables have been the same for so long, it is not done.
void PlanManager::check_routes(Entry& entry, const RemedyView& view, Window& window) {
  constexpr Duration kLaid = std::chrono::seconds(10);
  const std::string& fabric = entry.plan.target.fabric;
  const RouteReview* now = trees_.tree(fabric, view, shown_) ? trees_.routes(fabric, view) : nullptr;
  if (!now) return;
  const Sweep& sweep = *view.fabric(fabric)->sweep;
  if (std::exchange(entry.tables_seen, sweep.routes) != sweep.routes || view.now < entry.tables_since)
    entry.tables_since = view.now;
  std::vector<NodeIndex> towards;
  if (now->turn != kNoIndex && !trees_.shape(fabric)->shape.is_direct())
    window.why = "routes then turned from down to up at " + sweep.topology->node(now->turn).name;
  else if (const std::uint64_t lost = newly_lost(entry, sweep, *now, towards); lost > 0)
    window.why = std::to_string(lost) + (lost == 1 ? " pair" : " pairs") + " of adapters lost their path" +
                 few_names(*sweep.topology, towards);
  else
    return;
  window.good = false;
  window.worse = view.now - entry.tables_since >= kLaid;
}

// Who answered before and does not any more may have lost its last way by the plan.
void PlanManager::check_neighbours(const Entry& entry, const RemedyView& view, Window& window) const {
  const FabricView* fabric = view.fabric(entry.plan.target.fabric);
  if (!fabric || !window.fresh) return;
  std::string silent =
      silent_neighbours(entry.plan.neighbours, entry.plan.target, *fabric, settings_.limits.stale_intervals);
  if (silent.empty()) return;
  window.good = false;
  window.worse = true;
  window.why = std::move(silent);
}

// While nobody can see it, or nobody activates it, the time that it has stands still.
void PlanManager::watch_undoing(Entry& entry, const RemedyView& view) {
  Window window = judge_undoing(entry.plan, view, entry.work.verifying_since, settings_.limits);
  const std::string& name = entry.plan.target.fabric;
  const FabricView* fabric = view.fabric(name);
  const bool is_swept = fabric && fabric->watching && fabric->sweep && view.now <= next_is_late(*fabric->sweep);
  if (!is_swept || view.is_manager_unheard(name)) {
    if (!window.good)
      entry.work.why = window.why = is_swept                  ? nobody_activates(view, name)
                                    : fabric && fabric->sweep ? kLateSweep
                                                              : first_sweep_text(entry.plan);
    runner(entry, view.now).pause(view.now);
  } else {
    runner(entry, view.now).go_on(view.now);
  }
  runner(entry, view.now).seen_back(window);
  if (entry.work.stage == PlanWork::Stage::kSeeBack) wait_for(entry, entry.work.why);
}

// A link that is out and is seen up was enabled by somebody else. It is read at once: while the plan is thought to hold
// it, its trouble counts as work, and other plans wait for one that is verified.
void PlanManager::watch_held(Entry& entry, const RemedyView& view) {
  const Plan& plan = entry.plan;
  const bool is_verified = plan.state == PlanState::kVerifying;
  if (!plan.in_force || !(is_verified || is_over(plan.state)) || outward_action(plan) != RemedyAction::kIsolateLink)
    return;
  if (!is_link_trained(plan.target, view)) {
    if (is_verified) entry.doubted = kNever;  // whatever one sweep said
    return;
  }
  // What bears a later time than now is from before the clock was set back.
  const TimePoint seen = view.fabric(plan.target.fabric)->sweep->started;
  const TimePoint since = is_verified ? entry.work.verifying_since : ended(plan, view.now);
  // Directly after our own change the link may still be on its way down. A sweep of before a takeover may be of before
  // what landed meanwhile.
  if (seen <= std::max({entry.checked, began_at_, since + settings_.limits.reading_interval}) || seen > view.now)
    return;
  if (!is_verified) entry.checked = kNever;
  // The reading that follows is a second sight.
  entry.doubted = view.now - std::max(settings_.limits.reading_interval, settings_.limits.check_interval / 2);
  runner(entry, view.now).doubt();
}

// From when the switch is back the link has as much time to come up as from when it was sent, and what it had passed by
// then counts. A switch that is down for longer than a probation takes will not be waited for; each outage counts
// alone. Time that no sweep read the link is left out, and no more than that: else it would never be told from a link
// that does not come up.
void PlanManager::excuse(Entry& entry, TimePoint now, Duration interval, Window& window) const {
  const VerificationLimits& limits = settings_.limits.verification;
  PlanWork& work = entry.work;
  if (window.unread) {
    work.verifying_since += now - std::max(work.judged, work.verifying_since);
    work.why = window.why;
  } else if (window.excused) {
    work.verifying_since = work.excused_at = now;
    work.why = window.why;
    if (++work.excused * interval > limits.probation) window.fresh = window.unbearable = true;
  } else if (window.good) {
    work.excused = 0;
  } else if (window.down && work.excused_at != kNever && now - work.excused_at <= limits.within) {
    window.fresh = window.unbearable = false;
    window.why = work.why = "the link does not come up";
  }
  work.judged = now;
  work.unread = window.unread;
}

void PlanManager::watch(Entry& entry, const RemedyView& view) {
  Plan& plan = entry.plan;
  const FabricView* fabric = view.fabric(plan.target.fabric);
  const Duration interval = fabric && fabric->sweep ? fabric->sweep->interval : Duration(std::chrono::seconds(1));
  // Without a sweep, by the clock.
  const bool is_swept = fabric && fabric->sweep;
  const TimePoint seen = is_swept ? fabric->sweep->started : view.now;
  const bool is_unswept =
      !is_swept && plan.target.kind == EntityKind::kLink && !seen_sweeps_.contains(plan.target.fabric);
  // A link that is back is awaited by sweeps alone: where none comes, it is not known to have failed.
  const bool awaits_sweep = plan.target.kind == EntityKind::kLink && !takes_out(plan.action);
  const TimePoint late_from = is_swept ? next_is_late(*fabric->sweep) : entry.work.verifying_since;
  Window window;
  if (awaits_sweep && is_swept && seen != entry.last_window) {
    // It came late, and we did not look meanwhile.
    if (entry.last_window != kNever && seen - entry.last_window > late_from - seen)
      runner(entry, view.now).pause(entry.last_window + (late_from - seen));
    runner(entry, view.now).go_on(seen - Duration(1));
  }
  if (seen - entry.last_window >= (is_swept ? interval / 2 : interval) || seen < entry.last_window) {
    window = judge_window(plan, view, entry.work.verifying_since, clock_.ages(view.now), settings_.limits);
    excuse(entry, view.now, interval, window);
    if (window.disabled) runner(entry, view.now).doubt();
    if (takes_out(plan.action) && plan.target.kind == EntityKind::kLink) {
      if (window.good) check_routes(entry, view, window);
      check_neighbours(entry, view, window);
    }
    // We look when there is news: what that is late this time is not late the next time, too.
    const bool is_a_little_late = !is_swept && seen >= entry.last_window && seen - entry.last_window < 2 * interval;
    entry.last_window = is_a_little_late ? entry.last_window + interval : seen;
  }
  const VerificationLimits& limits = settings_.limits.verification;
  std::uint32_t needed = limits.windows;
  if (plan.action == RemedyAction::kDrainNode) needed = 1;
  if (!takes_out(plan.action))
    needed = static_cast<std::uint32_t>(std::max(1.0, std::ceil(seconds(limits.probation) / seconds(interval))));
  if (awaits_sweep && view.now > late_from) runner(entry, view.now).pause(late_from);
  const PlanState before = plan.state;
  const bool was_good = plan.windows_good > 0 || plan.was_up;
  plan.probation_until = kNever;
  runner(entry, view.now).window(window, needed, clock_.ages(view.now).of(plan.started));
  const std::string waited_for = plan.waits_for;
  if (plan.state == before) plan.waits_for = is_unswept ? first_sweep_text(plan) : entry.work.why;
  if (plan.state == before && (plan.windows_good > 0 || awaits_sweep) && is_swept && !window.fresh &&
      view.now > late_from)
    plan.waits_for = kLateSweep;
  const bool stands_still = entry.work.unread || entry.work.paused != kNever;
  if (plan.state == before && plan.windows_good > 0 && !takes_out(plan.action) && !stands_still)
    plan.probation_until = view.now + interval * (needed - plan.windows_good);
  // From here on what goes wrong with it is trouble again, and no work.
  if (plan.state == before && !was_good && plan.windows_good > 0 && !takes_out(plan.action))
    note(entry, std::string(kOurselves),
         outward_action(plan) == RemedyAction::kRaiseLinkCost ? "its cost is set back, on probation" : kIsUp, view.now);
  if (plan.state == before && (window.fresh || plan.waits_for != waited_for)) {
    // People who look see it move; the journal need not.
    plan.updated = view.now;
    const bool changed = entry.changed;
    show(entry);
    entry.changed = changed;
  }
}

std::shared_ptr<const std::vector<PlanPtr>> with_progress(std::shared_ptr<const std::vector<PlanPtr>> plans,
                                                          const PlanManager& book) {
  std::shared_ptr<std::vector<PlanPtr>> further;
  for (std::size_t i = 0; i < plans->size(); ++i) {
    const Plan& stored = *(*plans)[i];
    const bool waits = stored.state == PlanState::kProposed || stored.state == PlanState::kApproved;
    if (!waits && !is_under_way(stored.state)) continue;
    const PlanPtr now = book.find(stored.id);
    if (now && is_under_way(stored.state) && stored.state != now->state && now->state == PlanState::kRollingBack) {
      if (!further) further = std::make_shared<std::vector<PlanPtr>>(*plans);
      auto plan = std::make_shared<Plan>(stored);
      plan->waits_for = "for its journal: it " + undone_when_stored_text(*now);
      (*further)[i] = std::move(plan);
    }
    if (!now || now->state != stored.state) continue;
    if (waits && now->revision != stored.revision) continue;
    const bool same_progress = now->windows_good == stored.windows_good &&
                               now->windows_needed == stored.windows_needed &&
                               now->probation_until == stored.probation_until;
    const bool same_review = now->guards == stored.guards && now->candidates == stored.candidates;
    if (now->waits_for == stored.waits_for && (waits ? same_review : same_progress)) continue;
    if (!further) further = std::make_shared<std::vector<PlanPtr>>(*plans);
    auto plan = std::make_shared<Plan>(stored);
    plan->waits_for = now->waits_for;
    if (waits) {
      plan->guards = now->guards;
      plan->candidates = now->candidates;
    } else {
      plan->windows_good = now->windows_good;
      plan->windows_needed = now->windows_needed;
      plan->probation_until = now->probation_until;
      plan->updated = now->updated;
    }
    (*further)[i] = std::move(plan);
  }
  return further ? further : plans;
}

}  // namespace weft::analyzer
