// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/plan_runner.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "analyzer/remedy/budget.hpp"
#include "analyzer/remedy/guards.hpp"
#include "analyzer/remedy/windows.hpp"

namespace weft::analyzer {
namespace {

constexpr unsigned kMostUndos = 3;
constexpr unsigned kSights = 2;  // readings that say what nobody did
constexpr unsigned kMostDoublings = 5;
// After a restart what takes out may be verified anew: in so many times the time that it has, all together.
constexpr int kMostTries = 3;

using Stage = PlanWork::Stage;

// Of a plan whose windows were all good, only what they looked at (windows.cpp).
// `reading`: of a drain how it was read to be in force; empty after a restart.
std::string what_was_seen(const Plan& plan, const std::string& reading) {
  if (!takes_out(plan.action)) return "no fault during probation";
  if (plan.action == RemedyAction::kDrainNode)
    return (reading.empty() ? "it was in force before weftd was restarted" : reading) + "; nothing else was checked";
  const bool saw_symptom = plan.incident != 0 && plan.action != RemedyAction::kRaiseLinkCost;
  return std::string(saw_symptom ? "the symptom is gone" : "no route leads over it") + ", the neighbours are no worse";
}

// An undoing that was read to be done does not disable the link.
constexpr const char* kDisabledSince = "; it was given back, and somebody else has disabled it since";

// ": LinkUp", to end a sentence with what was read; nothing of nothing.
std::string after_colon(const std::string& detail) {
  return detail.empty() ? "" : ": " + detail;
}

// The link stays in service: only routes avoid it.
bool is_about_cost(const Plan& plan) {
  return outward_action(plan) == RemedyAction::kRaiseLinkCost;
}

}  // namespace

Duration next_try(unsigned failures, const RemedyLimits& limits) {
  return limits.reading_interval * (1 << std::min(failures, kMostDoublings));
}

RemedyAction PlanRunner::action() const {
  return undoing() ? inverse_action(plan_) : plan_.action;
}

TargetState PlanRunner::wanted() const {
  return takes_out(action()) ? TargetState::kOurs : TargetState::kClear;
}

void PlanRunner::look_again(Duration after) {
  work_.due = now_ + after;
}

void PlanRunner::end(PlanState state, std::string outcome) {
  plan_.state = state;
  plan_.outcome = std::move(outcome);
  plan_.finished = now_;
  plan_.intent = PlanIntent::kNone;
  plan_.neighbours.clear();
  plan_.waits_for.clear();
  plan_.routes_before.reset();
  plan_.undone_once = work_.undos == 1 && !work_.unanswered && !work_.late;
  work_ = {};
  note_(plan_.outcome);
}

void PlanRunner::begin() {
  plan_.state = PlanState::kExecuting;
  plan_.intent = PlanIntent::kNone;
  plan_.waits_for.clear();
  work_ = {};
  work_.stage = Stage::kLook;
  work_.due = now_;
  note_("started: reading the current state first");
}

void PlanRunner::resume() {
  work_ = {};
  work_.due = now_;
  if (plan_.state == PlanState::kVerifying) {
    work_.verifying_since = now_;
    work_.resumed = true;
    if (takes_out(plan_.action)) {
      plan_.windows_good = 0;  // the last ones may have been bad: only good ones are stored
      return;
    }
    // Nobody watched meanwhile.
    plan_.was_up = plan_.was_up || plan_.windows_good > 0;
    plan_.windows_good = 0;
    return note_(std::string("weftd was restarted, or took over: its probation ") +
                 (plan_.was_up ? "begins anew" : "has not begun yet"));
  }
  // A person was told that it will be undone.
  if (is_aborted(plan_)) {
    if (plan_.intent == PlanIntent::kNone)
      break_off();
    else
      undo_aborted(true);
    return;
  }
  work_.stage = Stage::kLook;
  work_.unanswered = true;
  work_.late = undoing() && plan_.unresolved;
  work_.undos = undoing() && plan_.intent == PlanIntent::kUndo ? 1 : 0;  // as far as the journal knows
  note_("weftd was restarted, or took over: reading the current state");
}

void PlanRunner::failed_reading(const std::string& why) {
  if (++work_.failures <= limits_.failed_readings) {
    if (work_.failures == 1) note_("its state cannot be read, trying again: " + why);
    look_again(next_try(work_.failures, limits_));
    return;
  }
  if (plan_.intent == PlanIntent::kNone && !undoing()) return end(PlanState::kFailed, "not done: " + why);
  plan_.unresolved = true;
  end(PlanState::kFailed, "check it by hand, its state cannot be read: " + why);
}

bool PlanRunner::read(const Result<TargetReading>& reading, bool is_held) {
  work_.order = 0;
  // A scheduler that does not know the host says so each time. Once it may be reading its own configuration anew. A
  // return waits for the host to be known again: nothing else brings it back.
  const bool is_unknown = !reading && reading.error().code == ErrorCode::kNotFound;
  const bool was_unknown = std::exchange(work_.unknown, is_unknown);
  if (is_unknown && was_unknown && plan_.action == RemedyAction::kDrainNode && plan_.intent == PlanIntent::kNone &&
      !undoing()) {
    end(PlanState::kFailed, "not done: " + reading.error().message);
    return false;
  }
  if (!reading) {
    failed_reading(reading.error().message);
    return false;
  }
  work_.failures = 0;
  const std::string detail = after_colon(reading->detail);
  const bool intended = plan_.intent == (undoing() ? PlanIntent::kUndo : PlanIntent::kApply);
  const bool was_foreign = std::exchange(work_.foreign, reading->state == TargetState::kForeign);
  if (reading->state == wanted()) {
    // Nobody is known to have undone it: one reading may be wrong.
    if (undoing() && !intended && plan_.in_force && ++work_.readings < kSights) {
      look_again(limits_.reading_interval);
      return false;
    }
    // A roll-back that finds the world as it was before has nothing to undo.
    // A link that somebody else brought back is watched all the same, for whoever asked for its return.
    const bool is_back = is_held && plan_.action == RemedyAction::kRestoreLink && plan_.requested_by != kOurselves;
    if (intended || undoing() || is_back)
      done(reading->detail);
    else
      end(PlanState::kExpired, "not needed: already in the wanted state" + detail);
    return false;
  }
  if (reading->state == TargetState::kForeign) {
    const bool is_untouched = plan_.intent == PlanIntent::kNone && !undoing();
    // One reading may be of a change of our own that is still being made.
    if (!is_untouched && !was_foreign) {
      look_again(limits_.reading_interval);
      return false;
    }
    plan_.in_force = false;
    if (is_untouched)
      end(PlanState::kExpired, std::string("left as it is: somebody else ") +
                                   (is_about_cost(plan_) ? "set its cost" : "took it out of service") + detail);
    else {
      // What got no answer may still land once they have given it back.
      plan_.unresolved = work_.unanswered || work_.late;
      const bool is_given_back = intended && !takes_out(action());
      end(PlanState::kFailed, (is_given_back ? "it was given back, but somebody else keeps it out of service"
                                             : "left as it is: somebody else holds it now") +
                                  detail);
    }
    return false;
  }
  // It was read back after it had been undone, and no sweep has seen it up: somebody else took it out since.
  if (undoing() && !intended && work_.looked_back && work_.read_back && !is_about_cost(plan_)) {
    end(PlanState::kRolledBack, plan_.outcome + kDisabledSince);
    return false;
  }
  if (!intended) return true;
  // Sent before, by us or by a weftd that was killed: it may still land.
  if (++work_.readings < limits_.readings) {
    look_again(limits_.reading_interval);
    return false;
  }
  if (!undoing()) {
    plan_.unresolved = work_.unanswered;
    end(PlanState::kRolledBack, "no effect, not sent again" + detail);
    return false;
  }
  work_.no_effect = "it had no effect" + detail;
  if (work_.undos < kMostUndos) return true;
  plan_.unresolved = true;
  end(PlanState::kFailed, "it could not be undone, undo it by hand" + detail);
  return false;
}

void PlanRunner::read_again() {
  work_.stage = Stage::kLook;
  work_.due = now_;
}

void PlanRunner::doubt() {
  if (plan_.state == PlanState::kVerifying && work_.stage == Stage::kIdle) read_again();
}

void PlanRunner::read_doubted(const Result<TargetReading>& reading) {
  work_.order = 0;
  work_.stage = Stage::kIdle;
  if (!reading || reading->state == wanted()) return;
  plan_.in_force = false;
  const std::string detail = after_colon(reading->detail);
  if (reading->state == TargetState::kForeign)
    end(PlanState::kFailed, "left as it is: somebody else holds it now" + detail);
  else
    end(PlanState::kRolledBack, undone_text(plan_) + detail);
}

void PlanRunner::act(const std::optional<std::string>& refusal) {
  if (refusal && !undoing()) return end(PlanState::kExpired, "not done: " + *refusal);
  if (refusal) {
    // Only what would have been taken out again: it stays in service.
    plan_.in_force = false;
    plan_.unresolved = plan_.intent == PlanIntent::kUndo;  // one that was sent may still land
    // Nothing failed: a person said no to it, and it stays all the same.
    if (plan_.aborted && !plan_.unresolved)
      return end(PlanState::kRejected, plan_.outcome + "; it stays in service: " + *refusal);
    return end(PlanState::kFailed, std::string("it failed again and ") +
                                       (is_about_cost(plan_) ? "its cost cannot be raised again: "
                                                             : "cannot be taken out of service again: ") +
                                       *refusal);
  }
  work_.stage = Stage::kAct;
  work_.due = now_;
  work_.readings = 0;
  if (undoing()) {
    ++work_.undos;
    plan_.intent = PlanIntent::kUndo;
  } else {
    plan_.intent = PlanIntent::kApply;
    plan_.started = now_;
  }
  const bool again = undoing() && work_.undos > 1;
  note_(std::string(to_string(action())) + " is being sent to " + plan_.actuator +
        (again ? ", for the " + std::string(work_.undos == 2 ? "second" : "third") + " time: " + work_.no_effect : ""));
}

void PlanRunner::hold(const std::string& why, bool is_late) {
  work_.order = 0;
  if (!undoing()) plan_.started = kNever;  // the world was not asked: no budget is spent
  if (break_off()) return;
  if (is_late && !undoing() && ++work_.lates >= limits_.readings)
    return end(PlanState::kFailed, "not done, nothing was changed: " + plan_.actuator + " was too slow " +
                                       std::to_string(work_.lates) + " times: " + why);
  // An undo of before may have been sent, as far as the journal knows.
  if (undoing())
    work_.undos -= work_.undos > 0;
  else
    plan_.intent = PlanIntent::kNone;
  work_.stage = Stage::kReady;
  note_("held before it was sent: " + why);
}

// Before anything was sent.
bool PlanRunner::break_off() {
  if (!is_aborted(plan_)) return false;
  end(PlanState::kRejected, plan_.outcome + ": nothing was changed");
  return true;
}

// `late`: the change may land after its undoing.
void PlanRunner::undo_aborted(bool late) {
  plan_.unresolved = late;  // remembered over a restart
  roll_back(std::string(plan_.outcome));
  work_.late = late;
}

void PlanRunner::abort(const std::string& why) {
  if (undoing()) return;
  if (plan_.state != PlanState::kExecuting) return roll_back(why);
  plan_.outcome = why;
  // A change that was decided on and not given out yet is no change.
  const bool given_out = work_.stage == Stage::kAct && work_.order != 0;
  if (plan_.intent == PlanIntent::kNone || (work_.stage == Stage::kAct && !given_out)) {
    plan_.started = kNever;
    break_off();
    return;
  }
  if (given_out) return note_(why + ": it is undone as soon as " + plan_.actuator + " has answered");
  undo_aborted(work_.unanswered);
}

void PlanRunner::acted(const Result<void>& result) {
  work_.order = 0;
  const bool unknown =
      !result && (result.error().code == ErrorCode::kTimeout || result.error().code == ErrorCode::kUnavailable);
  if (is_aborted(plan_)) {
    if (result || unknown)
      undo_aborted(unknown);
    else
      break_off();
    return;
  }
  if (result || unknown) {
    work_.stage = Stage::kReadBack;
    work_.unanswered = unknown;
    look_again(result ? Duration{} : limits_.reading_interval);
    if (unknown) note_("no answer, reading the state instead of sending again: " + result.error().message);
    return;
  }
  if (undoing()) {
    if (work_.undos < kMostUndos) {
      work_.stage = Stage::kLook;
      work_.no_effect = "it was refused";
      look_again(limits_.reading_interval);
      return note_("refused: " + result.error().message);
    }
    plan_.unresolved = true;
    return end(PlanState::kFailed, "it could not be undone, undo it by hand: " + result.error().message);
  }
  // As of a link that went down a moment ago. The next sweep tells the guards what became of it.
  if (result.error().code == ErrorCode::kNotFound && plan_.target.kind == EntityKind::kLink &&
      ++work_.unseen < limits_.readings)
    return hold(result.error().message);
  end(PlanState::kFailed, "refused, nothing was changed: " + result.error().message);
}

void PlanRunner::done(const std::string& reading) {
  const std::string detail = after_colon(reading);
  if (undoing()) {
    // What failed again on its way back is held by this plan from now on.
    plan_.in_force = !takes_out(plan_.action);
    plan_.unresolved = work_.late;
    const bool was_sent = plan_.intent == PlanIntent::kUndo;
    const bool shows = takes_out(plan_.action) && plan_.target.kind == EntityKind::kLink;
    // What was never sent changed nothing that would have to come back.
    if (!shows || plan_.started == kNever) return end(PlanState::kRolledBack, plan_.outcome);
    plan_.intent = PlanIntent::kNone;
    plan_.waits_for.clear();
    const PlanWork before = std::exchange(work_, {});
    work_.stage = Stage::kSeeBack;
    work_.late = before.late;
    work_.looked_back = before.looked_back;
    work_.undos = before.undos;
    work_.read_back = before.read_back || (was_sent && !before.late && !before.unanswered);
    work_.verifying_since = before.looked_back ? before.verifying_since : now_;
    if (before.looked_back) return;
    // After a restart nobody knows whether it was sent.
    const char* how = was_sent            ? "it is undone"
                      : before.unanswered ? "it is undone already"
                                          : "it is undone already, nothing was sent";
    return note_(std::string(how) + ", checking whether the fabric is as before" + detail);
  }
  const bool was_back = plan_.intent == PlanIntent::kNone;
  plan_.intent = PlanIntent::kApply;  // what fails is undone, whoever did it
  plan_.in_force = takes_out(plan_.action);
  plan_.state = PlanState::kVerifying;
  plan_.windows_good = 0;
  plan_.was_up = false;
  work_ = {};
  work_.verifying_since = now_;
  work_.reading = reading.empty() ? "it was read back as drained" : reading;
  const char* what = plan_.in_force ? "it is in force"
                     : was_back     ? "it is back already, nothing was sent"
                                    : "it was carried out";
  note_(what + detail);
}

void PlanRunner::roll_back(const std::string& why) {
  plan_.state = PlanState::kRollingBack;
  plan_.waits_for.clear();
  plan_.outcome = why;
  work_ = {};
  work_.stage = Stage::kLook;
  work_.due = now_;
  note_("it is being undone: " + why);
}

void PlanRunner::verify_anew() {
  plan_.state = PlanState::kVerifying;
  plan_.waits_for.clear();
  plan_.windows_good = 0;
  plan_.was_up = false;
  const std::string before = std::exchange(plan_.outcome, {});
  work_ = {};
  work_.verifying_since = now_;
  note_("it is up again, and its probation begins anew; before, " + before);
}

void PlanRunner::leave(const std::string& who, const std::string& why) {
  plan_.left_in_service = true;
  const std::string left = "left in service by " + who + ": " + why;
  if (takes_out(plan_.action))
    return end(PlanState::kRolledBack, plan_.outcome + "; left as it is by " + who + ": " + why);
  plan_.in_force = false;
  if (!undoing()) return end(PlanState::kCommitted, left + "; its probation was not over");
  end(PlanState::kRejected, left + "; before, " + plan_.outcome);
}

void PlanRunner::pause(TimePoint from) {
  if (work_.paused == kNever) work_.paused = std::max(from, work_.verifying_since);
}

void PlanRunner::go_on(TimePoint from) {
  if (work_.paused != kNever) {
    const Duration left_out = std::max(Duration{}, std::min(from, now_) - work_.paused);
    work_.verifying_since += left_out;
    // What it is left out of once is not left out again where the next sweep reads no end of the link.
    if (work_.judged != kNever) work_.judged += left_out;
  }
  work_.paused = kNever;
}

// How long it was looked for what is awaited.
Duration PlanRunner::watched() const {
  return (work_.paused == kNever ? now_ : std::min(now_, work_.paused)) - work_.verifying_since;
}

void PlanRunner::seen_back(const Window& window) {
  if (window.fresh) work_.why = window.why;
  if (window.fresh && window.good) return end(PlanState::kRolledBack, plan_.outcome);
  if (window.disabled && work_.read_back) return end(PlanState::kRolledBack, plan_.outcome + kDisabledSince);
  // What was read may have been overtaken by a change of before that landed late.
  if (!work_.looked_back && (window.disabled || watched() > limits_.verification.within / 2)) {
    work_.looked_back = true;
    work_.stage = Stage::kLook;
    work_.due = now_;
    return;
  }
  if (watched() <= limits_.verification.within) return;
  const std::string why = work_.why.empty() ? "nobody could see whether the fabric is as before" : work_.why;
  end(PlanState::kFailed, plan_.outcome + "; it was undone, but check it by hand: " + why);
}

void PlanRunner::window(const Window& window, std::uint32_t windows_needed, Duration age) {
  if (plan_.state != PlanState::kVerifying) return;
  plan_.windows_needed = windows_needed;
  const bool comes_back = !takes_out(plan_.action);
  if (window.fresh || !window.why.empty()) work_.why = window.why;
  if (window.fresh) {
    plan_.windows_good = window.good ? plan_.windows_good + 1 : 0;
    plan_.was_up = plan_.was_up && !window.good;
    work_.worse = window.worse ? work_.worse + 1 : 0;
    if (window.unbearable || work_.worse >= limits_.verification.worse_windows) return roll_back(window.why);
    if (plan_.windows_good >= windows_needed) {
      return end(PlanState::kCommitted, what_was_seen(plan_, work_.reading));
    }
  }
  const Duration patience =
      comes_back ? limits_.verification.probation + limits_.verification.within : limits_.verification.within;
  const bool is_overdue = work_.resumed && !comes_back && window.fresh && !window.good && age > kMostTries * patience;
  const Duration unread = work_.unread ? now_ - work_.judged : Duration{};
  if (is_overdue || watched() - unread > patience)
    roll_back(work_.why.empty() ? "it could not be verified in time"
              : comes_back      ? "it could not be verified in time: " + work_.why
                                : "it did not help: " + work_.why);
}

std::optional<RemedyOrder> PlanRunner::order() const {
  if (work_.stage == Stage::kIdle || work_.stage == Stage::kReady || work_.stage == Stage::kSeeBack ||
      work_.order != 0 || now_ < work_.due)
    return std::nullopt;
  RemedyOrder order;
  order.plan = plan_.id;
  order.created = plan_.created;
  order.kind = work_.stage == Stage::kAct ? OrderKind::kAct : OrderKind::kRead;
  order.action = action();
  order.target = plan_.target;
  order.actuator = plan_.actuator;
  // The reason of a return says nothing of why its target goes out again.
  order.reason = undoing() && takes_out(order.action) ? "its return ended: " + plan_.outcome : plan_.reason;
  order.incident = plan_.incident;
  order.undo = undoing();
  if (order.kind == OrderKind::kAct) order.decided = work_.decided;
  return order;
}

}  // namespace weft::analyzer
