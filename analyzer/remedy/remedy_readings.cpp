// SPDX-License-Identifier: Apache-2.0
// What a reading of the world means: for the plan under way that asked, and for those that hold its target.

#include <algorithm>
#include <string>
#include <utility>

#include "analyzer/remedy/plan_manager.hpp"
#include "analyzer/remedy/plan_texts.hpp"
#include "analyzer/remedy/windows.hpp"
#include "fabric/minute_text.hpp"

namespace weft::analyzer {
namespace {

/// How Plan::waits_for begins while readings fail.
constexpr const char* kUnread = "its state cannot be read: ";

}  // namespace

// A reading that can only fail is not asked for: each failure would delay the next one more. A fabric that is not swept
// for long after we began may be gone: then the failures tell a person.
bool PlanManager::lacks_sweep(const Plan& plan, TimePoint now) const {
  return !settings_.sweepless.contains(plan.actuator) && is_unswept(plan, now);
}

bool PlanManager::is_unswept(const Plan& plan, TimePoint now) const {
  return plan.target.kind == EntityKind::kLink && reviewed_ != kNever && !swept_.contains(plan.target.fabric) &&
         now - began_at_ < settings_.limits.verification.within;
}

void PlanManager::read_at_once(const std::string& fabric, TimePoint now) {
  for (auto& [id, entry] : entries_) {
    if (entry.plan.target.fabric != fabric || !awaits_reading(entry.work)) continue;
    entry.work.failures = 0;
    entry.work.due = std::min(entry.work.due, now);
  }
}

// The journal need not know.
void PlanManager::wait_for_reading(Entry& entry, TimePoint now) {
  Plan& plan = entry.plan;
  if (plan.state == PlanState::kVerifying) return;  // watch() says it
  const std::string text = first_sweep_text(plan) + ": the state of the link cannot be read before";
  const bool waits = is_under_way(plan.state) && awaits_reading(entry.work) && lacks_sweep(plan, now);
  // It is read first: the brake comes after that.
  const bool comes_to_brake = !waits && plan.state == PlanState::kRollingBack && plan.intent != PlanIntent::kUndo &&
                              entry.work.stage == PlanWork::Stage::kLook;
  if (comes_to_brake && status_.is_stopped() && entry.work.failures == 0) return wait_for(entry, brake_text());
  const bool is_let_go = comes_to_brake && plan.waits_for.starts_with(brake_text());
  if (waits == (plan.waits_for == text) && !is_let_go) return;
  wait_for(entry, waits ? text : "");
}

// After a reading of a plan under way. The journal need not know.
void PlanManager::wait_for_next_try(Entry& entry, const Result<TargetReading>& reading) {
  const Plan& plan = entry.plan;
  if (plan.state != PlanState::kExecuting && plan.state != PlanState::kRollingBack) return;
  if (!reading)
    wait_for(entry, kUnread + reading.error().message + "; the next try is " +
                        std::to_string(next_try(entry.work.failures, settings_.limits) / std::chrono::seconds(1)) +
                        " s after the last one");
  else if (plan.waits_for.starts_with(kUnread))
    wait_for(entry, {});
}

bool PlanManager::is_watched_late(const Entry& entry) const {
  return clock_.ages(entry.asked).of(entry.plan.finished) < settings_.late_watch(entry.plan.actuator);
}

TimePoint PlanManager::unresolved_until(const Plan& plan) const {
  if (!plan.unresolved || plan.finished == kNever) return kNever;
  return plan.finished + settings_.late_watch(plan.actuator);
}

// An undo that was sent more than once, or got no answer, may land after somebody gave back what it took out.
std::string PlanManager::let_go(Entry& entry) const {
  entry.plan.unresolved = is_watched_late(entry) && !takes_out(entry.plan.action) && !entry.plan.undone_once;
  if (!entry.plan.unresolved) return "";
  return "; what weftd sent may still land until " + minute_text(unresolved_until(entry.plan));
}

// What another plan sent for the target may still take it out, in words; empty: nothing.
std::string PlanManager::may_land_by_others(const Plan& plan, TimePoint now) const {
  const auto other = std::find_if(shown_.rbegin(), shown_.rend(), [&plan](const PlanPtr& each) {
    return each->id != plan.id && each->unresolved && same_target(each->target, plan.target);
  });
  return other == shown_.rend() ? std::string() : may_land_text(**other, now);
}

// In the histories of what `back` and the returns before it were to bring back: what they say last must be true.
void PlanManager::note_before(const Plan& back, const std::string& what, TimePoint now) {
  for (const Plan* after = &back; !takes_out(after->action) && after->undoes < after->id;) {
    Entry* before = entry(after->undoes);
    if (!before) return;
    if (!before->plan.in_force) note(*before, std::string(kOurselves), what, now, false);
    after = &before->plan;
  }
}

// What a reading for a plan that brings something back means for the one that took it out.
void PlanManager::settle(const Entry& back, TargetState state, TimePoint now) {
  const Plan& plan = back.plan;
  if (takes_out(plan.action) || state == TargetState::kOurs) return;
  Entry* before = entry(plan.undoes);
  // What is unresolved stays so: an answer that never came may still have its effect.
  if (!before || !before->plan.in_force) return;
  before->plan.in_force = false;
  before->asked = back.asked;
  const std::string late = before->plan.unresolved ? "" : let_go(*before);
  // What somebody else holds since, we gave back all the same.
  const bool did_it = plan.started != kNever;
  note_before(plan, (did_it ? "reverted by " + plan_name(plan.id) : plan_name(plan.id) + " found it reverted") + late,
              now);
}

// A single reading may fall into a change of our own that the port still makes. A sweep that saw the link up counts as
// the first sight, and so does the answer to a change that was to bring it back. `of` is who asked: a plan that holds
// the target, or may hold it, or a return of what another one holds.
bool PlanManager::is_first_sight(Entry& of, TargetState state, TimePoint now) {
  const Plan& plan = of.plan;
  Entry* before = takes_out(plan.action) ? nullptr : entry(plan.undoes);
  Entry& holder = before && before->plan.in_force ? *before : of;
  holder.checked = std::max(holder.checked, of.asked);
  const bool is_answered =
      is_under_way(plan.state) && of.work.stage == PlanWork::Stage::kReadBack && !of.work.unanswered;
  const bool is_held =
      holder.plan.in_force || holder.plan.unresolved ||
      (takes_out(plan.action) && plan.state == PlanState::kRollingBack && plan.intent != PlanIntent::kNone);
  const TimePoint before_that = std::exchange(holder.doubted, kNever);
  if (!is_held || is_answered || state == TargetState::kOurs) return false;
  // What was seen long ago says nothing of what landed since.
  const bool is_lately = before_that != kNever && now - before_that <= settings_.limits.check_interval;
  if (is_lately && now - before_that >= settings_.limits.reading_interval) return false;
  holder.doubted = is_lately ? before_that : now;
  return true;
}

void PlanManager::answer_reading(std::uint64_t number, const Result<TargetReading>& reading, TimePoint now) {
  const auto order = orders_.find(number);
  if (order == orders_.end()) return;
  Entry* of = entry(order->second);
  orders_.erase(order);
  if (reading) notice_others(*reading, now);
  if (!of || of->work.order != number) return;
  if (reading && is_first_sight(*of, reading->state, now)) {
    of->work.order = 0;
    of->work.failures = 0;
    of->work.unknown = false;
    of->work.due = now + settings_.limits.reading_interval;
    of->checked = now;
    return wait_for_next_try(*of, reading);
  }
  if (of->plan.state == PlanState::kVerifying) {
    of->checked = now;
    if (!reading) of->doubted = kNever;
    return runner(*of, now).read_doubted(reading, !may_land_by_others(of->plan, now).empty());
  }
  if (is_under_way(of->plan.state)) {
    const Before before = what_held(of->plan);
    Result<TargetReading> found = reading;
    // Out again since it was enabled: whoever did that is not weftd.
    if (before == Before::kLetGo && found && found->state == TargetState::kOurs) found->state = TargetState::kForeign;
    if (runner(*of, now).read(found, before != Before::kNothing, may_land_by_others(of->plan, now)))
      of->work.stage = PlanWork::Stage::kReady;
    if (reading || of->work.stage != PlanWork::Stage::kReady) wait_for_next_try(*of, reading);
    if (!reading && of->work.stage == PlanWork::Stage::kReady) of->checked = now;  // a glance
    if (of->plan.state == PlanState::kRolledBack && of->plan.in_force)
      note_before(of->plan, "held again by " + plan_name(of->plan.id) + ": " + of->plan.outcome, now);
    if (reading) {
      settle(*of, reading->state, now);
      of->checked = now;
    }
    return;
  }
  of->work.order = 0;
  if (!reading) of->doubted = kNever;  // not asked again at once: the next reading is the first
  if (!reading || is_changed(of->plan.target)) return;
  Plan& plan = of->plan;
  settle(*of, reading->state, now);
  // A return of which nobody knew whether it landed has landed.
  for (const auto& [id, other] : entries_)
    if (other.plan.undoes == plan.id && other.plan.unresolved) settle(other, reading->state, now);
  // What only failed to come back is held by another plan.
  const bool is_held = std::ranges::any_of(shown_, [&](const PlanPtr& other) {
    return other->id != plan.id && other->in_force && same_target(other->target, plan.target);
  });
  const bool ours = reading->state == TargetState::kOurs && !is_held;
  if (plan.in_force == ours && !plan.unresolved) return;
  // What counts is when it was asked: what lands between reading and answer must not be overlooked.
  const bool is_clear = reading->state != TargetState::kOurs;
  if (plan.unresolved && is_clear && is_watched_late(*of)) return;
  const bool is_undone = plan.in_force && !plan.unresolved && reading->state == TargetState::kClear;
  plan.in_force = ours;
  if (is_undone && !is_held)
    plan.outcome += (plan.outcome.empty() ? "" : "; ") + undone_text(plan) + ", seen at " + minute_text(now);
  plan.unresolved = false;
  const std::string until = is_clear ? let_go(*of) : "";
  const std::string what = (ours        ? "it is in force after all: "
                            : is_undone ? undone_text(plan) + ": "
                                        : "it is not in force: ") +
                           reading->detail + until;
  note(*of, std::string(kOurselves), what, now, false);
  if (is_undone && !is_held) note_before(plan, what, now);
}

}  // namespace weft::analyzer
