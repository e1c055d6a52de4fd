// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/plan_manager.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "analyzer/remedy/budget.hpp"
#include "analyzer/remedy/candidates.hpp"
#include "analyzer/remedy/plan_texts.hpp"
#include "analyzer/remedy/windows.hpp"

// What people ask for, what actuators answer, and what is to be written down. What readings mean is in
// remedy_readings.cpp; proposals and their judging are in remedy_review.cpp.

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

// What was decided longer ago, because the disk or the machine was slow, is decided anew.
constexpr Duration kLongestDelay = 10s;
/// Several persons may have stopped automation: so many bytes of who and why are kept; the audit trail has all.
constexpr std::size_t kLongestStopReason = 2048;
constexpr std::string_view kMoreStops = "; and others (weftctl audit)";

// As the guard says (guards.cpp). What undoes a plan goes on, unless it takes something out again.
bool is_stopped_by_breaker(const Plan& plan, const RemedyOrder& order) {
  return takes_out(order.action) || (!order.undo && plan.requested_by == kOurselves);
}

// Of a person's wish. That another plan is under way is waited for: it refuses no approval.
const GuardVerdict* refusal(const std::vector<GuardVerdict>& guards) {
  return first_refusal(guards, false, Guard::kOneActor);
}

}  // namespace

PlanManager::PlanManager(RemedySettings settings, RemedyMemory memory, TimePoint now, std::optional<Duration> steady)
    : settings_(std::move(settings)),
      status_{std::move(memory.holds)},
      installation_(std::move(memory.installation)),
      ids_(memory.ids),
      trees_(settings_.limits.capacity) {
  began_at_ = now;
  set_back({}, now);
  if (steady) clock_.look(now, *steady);
  std::ranges::sort(memory.plans, {}, &Plan::id);
  for (Plan& plan : memory.plans) {
    ids_.skip(plan.id);
    Entry& entry = entries_[plan.id];
    entry.plan = std::move(plan);
    // Later than this it cannot have been: the clock was set back meanwhile.
    entry.plan.expires = std::min(entry.plan.expires, now + settings_.limits.expiry);
    reckon(entry);
    shown_.push_back(std::make_shared<const Plan>(entry.plan));
    if (is_under_way(entry.plan.state)) {
      runner(entry, now).resume();
    }
  }
}

Duration PlanManager::resume_clock(const ClockMemory& memory, TimePoint now, std::string boot) {
  const Duration by = clock_.resume(memory, now, std::move(boot));
  if (by < Duration::zero()) set_back(-by, now);
  began_at_ = now;
  return by;
}

PlanManager::Entry* PlanManager::entry(std::uint64_t id) {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second;
}

void PlanManager::reckon(Entry& entry) const {
  entry.plan.return_after = return_after(entry);
  entry.plan.only_by_hand = is_only_by_hand(entry);
  entry.plan.unresolved_until = unresolved_until(entry.plan);
  entry.plan.held_since = held_since(entry.plan);
}

void PlanManager::show(Entry& entry) {
  if (!entry.plan.routes_before) {
    entry.topology_before = nullptr;
    entry.tables_before = nullptr;
    entry.tables_seen = nullptr;
  }
  const auto at = std::ranges::lower_bound(shown_, entry.plan.id, {}, [](const PlanPtr& plan) { return plan->id; });
  reckon(entry);
  auto copy = std::make_shared<Plan>(entry.plan);
  if (!copy->waits_for.empty()) copy->waits_for += entry.prospects;
  if (at != shown_.end() && (*at)->id == entry.plan.id)
    *at = std::move(copy);
  else
    shown_.insert(at, std::move(copy));
  entry.changed = true;
  all_.reset();
}

void PlanManager::audit(const Plan* plan, const std::string& who, std::string what, std::string detail, TimePoint now) {
  AuditRecord record;
  record.at = now;
  record.who = who;
  record.what = std::move(what);
  record.plan = plan ? plan->id : 0;
  record.incident = plan ? plan->incident : 0;
  record.detail = std::move(detail);
  unsaved_audit_.push_back(std::move(record));
}

void PlanManager::note(Entry& entry, const std::string& who, std::string what, TimePoint now, bool grows,
                       const char* recorded) {
  Plan& plan = entry.plan;
  audit(&plan, who, recorded != nullptr ? recorded : to_string(plan.state), subject_text(plan) + what, now);
  if (plan.steps.size() >= kMostPlanSteps) plan.steps.erase(plan.steps.begin());
  plan.steps.push_back({now, plan.state, who, std::move(what)});
  if (grows) ++plan.revision;
  plan.updated = now;
  show(entry);
}

PlanRunner PlanManager::runner(Entry& entry, TimePoint now) {
  return {entry.plan, entry.work, settings_.limits, now,
          [this, &entry, now](std::string what) { note(entry, std::string(kOurselves), std::move(what), now); }};
}

void PlanManager::end(Entry& entry, PlanState state, const std::string& who, std::string outcome, TimePoint now,
                      const char* recorded) {
  entry.work = {};
  entry.plan.state = state;
  entry.plan.outcome = outcome;
  entry.plan.finished = now;
  entry.plan.waits_for.clear();
  note(entry, who, std::move(outcome), now, true, recorded);
}

PlanManager::Entry& PlanManager::add(RemedyAction action, Entity target, const std::string& who,
                                     const RemedyView& view) {
  const std::uint64_t id = ids_.take();
  Entry& entry = entries_[id];
  entry.plan.id = id;
  entry.plan.action = action;
  entry.plan.target = std::move(target);
  entry.plan.actuator = settings_.actuator(action, entry.plan.target, view);
  entry.plan.requested_by = who;
  entry.plan.created = view.now;
  entry.plan.expires = view.now + settings_.limits.expiry;
  return entry;
}

Result<Plan> PlanManager::approve(std::uint64_t id, std::uint64_t revision, const std::string& who,
                                  const RemedyView& view) {
  hosts_.update(view);
  Entry* found = entry(id);
  if (!found) return no_plan(id);
  Plan& plan = found->plan;
  if (plan.state != PlanState::kProposed)
    return fail(ErrorCode::kFailedPrecondition, standing_text(plan) + order_text(plan, holder_of(plan, shown_)));
  if (revision != 0 && revision != plan.revision)
    return fail(ErrorCode::kFailedPrecondition,
                plan_name(id) + " has changed since you read it" +
                    (revision > plan.revision ? ", or never had revision " + std::to_string(revision) : "") +
                    ": it is now at revision " + std::to_string(plan.revision) + ". Read it again");
  if (view.now >= plan.expires)
    return fail(ErrorCode::kFailedPrecondition,
                plan_name(id) + " is being judged anew, because nobody approved it in time. Read it again");
  weigh(*found, view);
  renew_jobs(*found, view);
  take_verdicts(plan, guards_of(plan, view), view);
  if (const GuardVerdict* guard = refusal(plan.guards)) {
    std::string sentence = std::string(to_string(guard->guard)) + ": " + guard->explanation;
    audit(&plan, who, "refused", subject_text(plan) + sentence, view.now);
    show(*found);
    return fail(ErrorCode::kFailedPrecondition, std::move(sentence));
  }
  plan.state = PlanState::kApproved;
  plan.approved_by = who;
  plan.expires = view.now + settings_.limits.expiry;
  found->held_until = kNever;
  note(*found, who, "approved", view.now);
  return plan;
}

Result<Plan> PlanManager::reject(std::uint64_t id, const std::string& why, const std::string& who, TimePoint now) {
  Entry* found = entry(id);
  if (!found) return no_plan(id);
  const PlanState state = found->plan.state;
  if (state != PlanState::kProposed && state != PlanState::kApproved)
    return fail(ErrorCode::kFailedPrecondition, late_reject_text(found->plan, holder_of(found->plan, shown_)));
  end(*found, PlanState::kRejected, who, why.empty() ? "rejected" : why, now);
  keep_out(*found, "rejected", why, who, now);
  return found->plan;
}

Result<Plan> PlanManager::request(RemedyAction action, const Entity& target, const std::string& why,
                                  const std::string& who, const RemedyView& view, bool only_cost) {
  hosts_.update(view);
  const auto undone = plan_undone_by(action, target, view, only_cost);
  if (!undone) return tl::unexpected(undone.error());
  const std::uint64_t undoes = *undone;
  const IdSeries unchanged = ids_;
  const std::uint64_t id = ids_.next();
  Entry& added = add(action, target, who, view);
  Plan& plan = added.plan;
  plan.reason = why;
  plan.undoes = undoes;
  if (const Entry* before = entry(undoes)) {
    plan.incident = before->plan.incident;
    plan.actuator = before->plan.actuator;
    plan.inverse = outward_action(before->plan);
    plan.end = before->plan.end;
  }
  plan.kept_out = taken_out_by_person(plan);
  // A person's word stands for what was only proposed, or waits for its turn by our own approval.
  std::vector<Entry*> replaced;
  for (auto& [other_id, other] : entries_)
    if (other_id != id && (other.plan.state == PlanState::kProposed || other.plan.state == PlanState::kApproved) &&
        same_target(other.plan.target, target)) {
      replaced.push_back(&other);
    }
  if (takes_out(action) && plan.incident == 0)
    if (const Incident* incident = incident_of(target, view)) plan.incident = incident->id;
  note_beginning(plan, view);
  plan.jobs = jobs_on(target, view).value_or(std::vector<std::string>{});
  plan.guards = guards_of(plan, view);
  if (const GuardVerdict* guard = refusal(plan.guards)) {
    std::string sentence = std::string(to_string(guard->guard)) + ": " + guard->explanation;
    audit(nullptr, who, "refused", subject_text(plan) + sentence, view.now);
    // Nobody has seen the number: the next plan has it.
    entries_.erase(id);
    ids_ = unchanged;
    return fail(ErrorCode::kFailedPrecondition, std::move(sentence));
  }
  for (Entry* other : replaced)
    end(*other, PlanState::kExpired, who, "replaced by " + plan_name(id) + ", which a person asked for", view.now);
  added.asked_while_down = action == RemedyAction::kIsolateLink && view.is_link_down(target);
  plan.state = PlanState::kApproved;
  plan.approved_by = who;
  note(added, who, "requested: " + (why.empty() ? std::string("no reason given") : why), view.now);
  return plan;
}

// For a release that does not let automation go on.
std::string PlanManager::breaker_text() const {
  return status_.breaker_tripped ? "; the circuit breaker is still tripped: " + status_.breaker_reason : "";
}

void PlanManager::set_hands_off(bool hands_off, const std::string& why, const std::string& who, TimePoint now) {
  if (!hands_off && !status_.hands_off) return;
  std::string& reason = status_.hands_off_reason;
  if (!hands_off) {
    const std::string& file = status_.file_brake;
    const std::string still = (file.empty() ? "" : "; the file still stops automation: " + file) + breaker_text();
    audit(nullptr, who, still.empty() ? "automation resumed" : "hands-off released",
          (why.empty() ? "" : why + "; ") + "it was stopped by " + reason + still, now);
    reason.clear();
  } else {
    const std::string said = who + (why.empty() ? "" : ": " + why);
    if (status_.hands_off && reason.find(said) != std::string::npos) return;
    audit(nullptr, who, "automation stopped", why, now);
    if (!status_.hands_off)
      reason = said;
    else if (reason.size() + said.size() <= kLongestStopReason)
      reason += "; " + said;
    else if (!reason.ends_with(kMoreStops))
      reason += kMoreStops;
  }
  status_.hands_off = hands_off;
  status_changed_ = true;
}

void PlanManager::set_file_brake(const std::string& why, TimePoint now) {
  if (status_.file_brake == why) return;
  const bool was_held = !status_.file_brake.empty();
  const std::string gone =
      status_.file_brake.ends_with(" exists") ? "the file is gone" : "it can be looked at again, and there is no file";
  status_.file_brake = why;
  status_changed_ = true;
  // Another reason is the same stop.
  if (was_held && !why.empty()) return;
  if (!was_held) return audit(nullptr, "file", "automation stopped", why, now);
  const std::string still =
      (status_.hands_off ? "; still stopped by " + status_.hands_off_reason : std::string()) + breaker_text();
  audit(nullptr, "file", still.empty() ? "automation resumed" : "hands-off released", gone + still, now);
}

Result<void> PlanManager::reset_breaker(const std::string& why, const std::string& who, TimePoint now) {
  if (!status_.breaker_tripped) return fail(ErrorCode::kFailedPrecondition, "the circuit breaker is not tripped");
  if (const std::string other = other_actors_reason(now); !other.empty())
    return fail(ErrorCode::kFailedPrecondition, other +
                                                    ". Stop one of them, or turn its remedies off; then reset. If "
                                                    "there is no other, see remedy.stop_for_other_weftd");
  status_.breaker_tripped = false;
  status_.breaker_reason.clear();
  // What tripped it is looked at by now, and must not trip it again by itself.
  status_.breaker_since = now;
  status_changed_ = true;
  audit(nullptr, who, "breaker reset", why, now);
  return {};
}

// Of marks without an id those are ours whose plans hold the target by our own journal.
MarkOwner PlanManager::owner_of(const RemedyOrder& order) const {
  MarkOwner owner{installation_, {}};
  for (const PlanPtr& plan : shown_)
    if ((plan->id == order.plan || plan->in_force || plan->unresolved || is_under_way(plan->state)) &&
        same_target(plan->target, order.target))
      owner.plans.push_back(plan->id);
  return owner;
}

// What is held, or may be, is read from time to time, and at once when nothing of it can land any more.
bool PlanManager::is_due(const Entry& entry, TimePoint now) const {
  // Time that nobody watched is none in which it can have been seen not to land.
  const auto may_land = [&](TimePoint at) {
    return clock_.ages(at).of(entry.plan.finished) < settings_.late_watch(entry.plan.actuator);
  };
  if (entry.doubted == kNever && entry.plan.unresolved && entry.plan.finished != kNever && !may_land(now) &&
      may_land(entry.checked))
    return true;
  return now - std::max(entry.checked, entry.doubted) >=
         (entry.doubted != kNever ? settings_.limits.reading_interval : settings_.limits.check_interval);
}

RemedyBatch PlanManager::drain_changes(TimePoint now) {
  RemedyBatch batch;
  batch.audit = std::exchange(unsaved_audit_, {});
  batch.status_changed = std::exchange(status_changed_, false);
  for (auto& [id, entry] : entries_) {
    if (std::exchange(entry.changed, false)) batch.plans.push_back(entry.plan);
    std::optional<RemedyOrder> order;
    if (is_under_way(entry.plan.state)) {
      if (!(awaits_reading(entry.work) && lacks_sweep(entry.plan, now))) order = runner(entry, now).order();
      if (order) order->breaker_stops = is_stopped_by_breaker(entry.plan, *order);
      std::string held;
      if (order && order->kind == OrderKind::kAct) {
        if (status_.is_stopped())
          held = "all automation is stopped: " + status_.stop_reason();
        else if (status_.breaker_tripped && order->breaker_stops)
          held = "the circuit breaker is tripped";
        else if (!order->undo && now - entry.work.due > kLongestDelay)
          held = "it was decided too long ago";
      }
      if (!held.empty()) {
        runner(entry, now).hold(held);
        order.reset();
      }
    } else if ((entry.plan.in_force || entry.plan.unresolved) && entry.work.order == 0 && is_due(entry, now) &&
               !is_changed(entry.plan.target) && !lacks_sweep(entry.plan, now)) {
      entry.checked = now;
      order = RemedyOrder{0,
                          id,
                          entry.plan.created,
                          OrderKind::kRead,
                          entry.plan.action,
                          entry.plan.target,
                          entry.plan.actuator,
                          entry.plan.reason,
                          entry.plan.incident};
    }
    if (!order) continue;
    order->number = next_order_++;
    order->end = entry.plan.end;
    order->down_as_reviewed = order->kind == OrderKind::kAct && entry.down_as_reviewed;
    order->owner = owner_of(*order);
    order->namesakes = hosts_.namesakes(order->target.host);
    entry.work.order = order->number;
    entry.asked = now;
    orders_[order->number] = id;
    batch.orders.push_back(std::move(*order));
  }
  return batch;
}

void PlanManager::take_back(RemedyBatch batch, TimePoint now) {
  for (const Plan& plan : batch.plans)
    if (Entry* of = entry(plan.id)) of->changed = true;
  batch.audit.insert(batch.audit.end(), std::make_move_iterator(unsaved_audit_.begin()),
                     std::make_move_iterator(unsaved_audit_.end()));
  unsaved_audit_ = std::move(batch.audit);
  status_changed_ |= batch.status_changed;
  for (const RemedyOrder& order : batch.orders) {
    orders_.erase(order.number);
    Entry* of = entry(order.plan);
    if (!of || of->work.order != order.number) continue;
    of->work.order = 0;
    if (order.kind == OrderKind::kRead) of->checked = kNever;
    // By the time that the disk takes it the world may have changed.
    if (order.kind == OrderKind::kAct) runner(*of, now).hold("its intent could not be stored");
  }
}

void PlanManager::withdraw(std::uint64_t id, TimePoint now) {
  Entry* of = entry(id);
  if (!of) return;
  Plan& plan = of->plan;
  const bool begun = plan.state == PlanState::kExecuting && plan.intent == PlanIntent::kNone;
  if (plan.state != PlanState::kApproved && !begun) return;
  of->work = {};
  plan.waits_for.clear();
  const std::string why = "not done because it could not be stored";
  const std::string ourselves(kOurselves);
  if (plan.requested_by != kOurselves) return end(*of, PlanState::kExpired, ourselves, why, now);
  plan.state = PlanState::kProposed;
  plan.approved_by.clear();
  note(*of, ourselves, "a proposal again, because its approval could not be stored", now);
}

void PlanManager::answer_action(std::uint64_t number, const Result<void>& result, TimePoint now) {
  const auto order = orders_.find(number);
  if (order == orders_.end()) return;
  Entry* of = entry(order->second);
  orders_.erase(order);
  if (!of || of->work.order != number || !is_under_way(of->plan.state)) return;
  runner(*of, now).acted(result);
}

bool PlanManager::awaits(std::uint64_t number) const {
  const auto order = orders_.find(number);
  if (order == orders_.end()) return false;
  const auto of = entries_.find(order->second);
  return of != entries_.end() && of->second.work.order == number && is_under_way(of->second.plan.state) &&
         !is_aborted(of->second.plan);
}

void PlanManager::answer_held(std::uint64_t number, const std::string& why, TimePoint now, bool is_late) {
  const auto order = orders_.extract(number);
  Entry* of = order.empty() ? nullptr : entry(order.mapped());
  if (of && of->work.order == number && is_under_way(of->plan.state)) runner(*of, now).hold(why, is_late);
}

std::shared_ptr<const std::vector<PlanPtr>> PlanManager::all() const {
  if (!all_) all_ = std::make_shared<const std::vector<PlanPtr>>(shown_);
  return all_;
}

PlanPtr PlanManager::find(std::uint64_t id) const {
  const auto at = std::ranges::lower_bound(shown_, id, {}, [](const PlanPtr& plan) { return plan->id; });
  return at != shown_.end() && (*at)->id == id ? *at : nullptr;
}

void PlanManager::add_out_by_others(RemedyStatus& status) const {
  status.out_by_others = out_by_others_;
  status.links_out_by_others = links_out_by_others_;
}

RemedyStatus PlanManager::status(TimePoint now) const {
  RemedyStatus status = status_;
  status.actions_last_hour = actions_within(shown_, clock_.ages(now), 1h);
  status.actions_per_hour = settings_.limits.budget.actions_per_hour;
  status.out_of_service = out_of_service(shown_);
  add_out_by_others(status);
  for (const PlanPtr& plan : shown_) {
    status.unresolved += plan->unresolved;
    status.undone_by_others += is_undone_by_others(*plan, shown_);
    status.on_probation += !takes_out(plan->action) && plan->state == PlanState::kVerifying;
  }
  for (const RemedyAction action : {RemedyAction::kIsolateLink, RemedyAction::kRestoreLink,
                                    RemedyAction::kRaiseLinkCost, RemedyAction::kDrainNode, RemedyAction::kUndrainNode})
    if (const RemedyMode mode = settings_.mode(action); mode != RemedyMode::kOff)
      (mode == RemedyMode::kAuto ? status.automatic : status.proposed).push_back(action);
  return status;
}

}  // namespace weft::analyzer
