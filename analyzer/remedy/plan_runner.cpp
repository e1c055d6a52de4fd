// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/plan_runner.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "analyzer/remedy/budget.hpp"
#include "analyzer/remedy/guards.hpp"
#include "analyzer/remedy/plan_texts.hpp"
#include "analyzer/remedy/windows.hpp"

namespace weft::analyzer {
namespace {

constexpr unsigned kMostUndos = 3;
constexpr unsigned kSights = 2;  // readings that say what nobody did
constexpr unsigned kMostDoublings = 5;
using Stage = PlanWork::Stage;

// ": LinkUp", to end a sentence with what was read; nothing of nothing.
std::string after_colon(const std::string& detail) {
  return detail.empty() ? "" : ": " + detail;
}

// The link stays in service: only routes avoid it.
bool is_about_cost(const Plan& plan) {
  return outward_action(plan) == RemedyAction::kRaiseLinkCost;
}

// A disabled port does not say who disabled it; a cost and a drain bear a mark.
bool bears_no_mark(const Plan& plan) {
  return plan.target.kind == EntityKind::kLink && !is_about_cost(plan);
}

// Automation must not enable what a person may have disabled.
constexpr const char* kTakenByUnknown = "it was disabled again after it was back, and it is not known by whom";

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
  plan_.undone_once = work_.undos == 1 && !work_.unanswered && !work_.may_land();
  work_ = {};
  note_(plan_.outcome);
}

std::string PlanRunner::after_cause(const std::string& ending) const {
  const bool is_undone = undoing() || is_aborted(plan_);
  return is_undone && !plan_.outcome.empty() ? plan_.outcome + "; " + ending : ending;
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
  if (undoing()) remember_late();
  work_.waited = undoing() && !takes_out(plan_.action);
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
  // What was read to be back, with nothing sent since, cannot be taken out by us any more.
  plan_.unresolved = takes_out(plan_.action) || !plan_.read_back || plan_.intent == PlanIntent::kUndo ||
                     !bears_no_mark(plan_) || work_.may_land();
  end(PlanState::kFailed, after_cause("check it by hand, its state cannot be read: " + why));
}

// What was read to be back, and that no order of ours has taken out since.
bool PlanRunner::is_taken_by_others(TargetState found, bool intended) const {
  return undoing() && !intended && plan_.read_back && found == TargetState::kOurs && bears_no_mark(plan_);
}

void PlanRunner::glance() {
  read_again();
  work_.glances = true;
}

bool PlanRunner::read(const Result<TargetReading>& reading, bool is_held, const std::string& may_land) {
  work_.order = 0;
  // What waits is not given up because it cannot be read.
  if (std::exchange(work_.glances, false) && !reading) return true;
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
  if (is_taken_by_others(reading->state, intended)) {
    const bool is_return = !takes_out(plan_.action);
    if (may_land.empty() && !work_.may_land()) {
      end(is_return ? PlanState::kFailed : PlanState::kRolledBack, plan_.outcome + kDisabledSinceText);
      return false;
    }
    if (is_return && plan_.kept_out.empty()) plan_.kept_out = kTakenByUnknown;
  }
  // It is in service, whatever was sent to bring it back.
  if (undoing() && !takes_out(plan_.action) && reading->state == TargetState::kClear) plan_.read_back = true;
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
      end(PlanState::kExpired, "not needed: already in the wanted state" + detail +
                                   (may_land.empty() || takes_out(plan_.action) ? "" : "; " + may_land));
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
      plan_.unresolved = work_.unanswered || work_.may_land();
      const bool is_given_back = intended && !takes_out(action());
      end(PlanState::kFailed,
          after_cause((is_given_back ? "it was given back, but somebody else keeps it out of service"
                                     : "left as it is: somebody else holds it now") +
                      detail));
    }
    return false;
  }
  if (!intended && work_.looked_back) work_.no_effect = "it is out of service again" + detail;
  if (!intended && (work_.undos == 0 || work_.looked_back)) return true;
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
  // What is in service after all was not taken out again; what was sent may still do it.
  if (!takes_out(plan_.action)) {
    plan_.intent = PlanIntent::kApply;
    plan_.unresolved = work_.undo_late = true;
  }
  if (work_.undos < kMostUndos) return true;
  plan_.unresolved = true;
  end(PlanState::kFailed, after_cause("it could not be undone, undo it by hand" + detail));
  return false;
}

void PlanRunner::read_again() {
  work_.stage = Stage::kLook;
  work_.due = now_;
}

void PlanRunner::doubt() {
  if (plan_.state == PlanState::kVerifying && work_.stage == Stage::kIdle) read_again();
}

void PlanRunner::read_doubted(const Result<TargetReading>& reading, bool may_land) {
  work_.order = 0;
  work_.stage = Stage::kIdle;
  if (!reading || reading->state == wanted()) return;
  plan_.in_force = false;
  const std::string detail = after_colon(reading->detail);
  if (reading->state == TargetState::kOurs) {
    const std::string disabled = "somebody else disabled the link" + detail;
    if (!may_land && !plan_.unresolved) return end(PlanState::kFailed, "left as it is: " + disabled);
    return roll_back("what weftd sent before has landed late, or " + disabled);
  }
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
    plan_.unresolved = work_.may_land() || plan_.intent == PlanIntent::kUndo;  // one that was sent may still land
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
  work_.before = plan_.intent;
  if (undoing()) {
    ++work_.undos;
    plan_.intent = PlanIntent::kUndo;
  } else {
    plan_.intent = PlanIntent::kApply;
    plan_.started = now_;
  }
  const bool again = undoing() && work_.undos > 1;
  note_(std::string(to_string(action())) + " is being sent to " + plan_.actuator +
        (again ? ", for the " + std::string(work_.undos == 2 ? "second" : "third") + " time" +
                     after_colon(work_.no_effect)
               : ""));
}

void PlanRunner::hold(const std::string& why, bool is_late) {
  work_.order = 0;
  if (!undoing()) plan_.started = kNever;  // the world was not asked: no budget is spent
  if (break_off()) return;
  if (is_late && !undoing() && ++work_.lates >= limits_.readings)
    return end(PlanState::kFailed, "not done, nothing was changed: " + plan_.actuator + " was too slow " +
                                       std::to_string(work_.lates) + " times: " + why);
  // Only an undo of before may have been sent.
  plan_.intent = undoing() ? work_.before : PlanIntent::kNone;
  if (undoing()) work_.undos -= work_.undos > 0;
  work_.waited |= undoing() && !takes_out(plan_.action);
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
  if (result.error().code == ErrorCode::kAlreadyExists) return found_so(result.error().message);
  if (undoing()) {
    plan_.intent = work_.before;
    if (work_.undos < kMostUndos) {
      work_.stage = Stage::kLook;
      work_.no_effect = "it was refused";
      look_again(limits_.reading_interval);
      return note_("refused: " + result.error().message);
    }
    plan_.unresolved = true;
    return end(PlanState::kFailed, after_cause("it could not be undone, undo it by hand: " + result.error().message));
  }
  // As of a link that went down a moment ago. The next sweep tells the guards what became of it.
  if (result.error().code == ErrorCode::kNotFound && plan_.target.kind == EntityKind::kLink &&
      ++work_.unseen < limits_.readings)
    return hold(result.error().message);
  end(PlanState::kFailed, "refused, nothing was changed: " + result.error().message);
}

// Nothing was sent, because it is out already, and nothing tells who did that. Of what failed on its return the reading
// that follows decides: what was sent before, and may land late, counts as ours.
void PlanRunner::found_so(const std::string& detail) {
  if (!undoing()) {
    plan_.started = kNever;  // the world was not asked: no budget is spent
    return end(PlanState::kExpired, "not needed: already in the wanted state: " + detail);
  }
  plan_.intent = work_.before;
  work_.undos -= work_.undos > 0;
  read_again();
  note_("it is out of service already, reading whose work that is: " + detail);
}

void PlanRunner::done(const std::string& reading) {
  const std::string detail = after_colon(reading);
  if (undoing()) {
    // What failed again on its way back is held by this plan from now on.
    plan_.in_force = !takes_out(plan_.action);
    plan_.unresolved = work_.late;
    plan_.read_back = takes_out(plan_.action) && (plan_.read_back || !work_.late);
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
    // Sweeps of before the second time say nothing.
    work_.verifying_since = before.looked_back && !was_sent ? before.verifying_since : now_;
    if (before.looked_back && !was_sent) {
      work_.paused = before.paused;
      return;
    }
    // After a restart nobody knows whether it was sent.
    const char* how = was_sent            ? "it is undone"
                      : before.unanswered ? "it is undone already"
                                          : "it is undone already, nothing was sent";
    return note_(std::string(how) + ", checking whether the fabric is as before" + detail);
  }
  const bool was_back = plan_.intent == PlanIntent::kNone;
  plan_.intent = PlanIntent::kApply;  // what fails is undone, whoever did it
  plan_.in_force = takes_out(plan_.action);
  plan_.read_back = !takes_out(plan_.action);
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

// What had come back by then, only its undoing can still change.
void PlanRunner::remember_late() {
  (takes_out(plan_.action) || !plan_.read_back ? work_.late : work_.undo_late) = plan_.unresolved;
}

void PlanRunner::roll_back(const std::string& why) {
  plan_.state = PlanState::kRollingBack;
  plan_.waits_for.clear();
  plan_.outcome = why;
  work_ = {};
  work_.stage = Stage::kLook;
  work_.due = now_;
  remember_late();
  note_("it is being undone: " + why);
}

void PlanRunner::leave(const std::string& who, const std::string& why, LinkSight sight) {
  plan_.left_in_service = true;
  const bool is_active = sight == LinkSight::kUp;
  const std::string known = sight == LinkSight::kTrained ? "; its ports are enabled, and the link is not active"
                            : is_active                  ? ""
                                        : "; it was read to be enabled, and no sweep tells whether it is up";
  const std::string left =
      (is_active && !takes_out(plan_.action) ? "left in service by " : "left as it is by ") + who + ": " + why + known;
  if (takes_out(plan_.action)) return end(PlanState::kRolledBack, plan_.outcome + "; " + left);
  plan_.in_force = false;
  if (!undoing()) return end(PlanState::kCommitted, left + "; its probation was not over");
  end(PlanState::kRejected, left + "; before, " + plan_.outcome);
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
