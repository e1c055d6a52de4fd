// SPDX-License-Identifier: Apache-2.0
#pragma once
// How one plan is carried out: the state machine, without the world and without a clock.
//
//   PROPOSED → APPROVED → EXECUTING → VERIFYING → COMMITTED
//                             │└───────────┴──→ ROLLING_BACK → ROLLED_BACK, FAILED
//                             └──→ FAILED, ROLLED_BACK, REJECTED, EXPIRED
//
// From VERIFYING a plan whose target somebody else gave back, or took, is ROLLED_BACK or FAILED at once. A return that
// failed, could not be taken out again for a while, and is well by then, is VERIFYING anew. A person may end what waits
// and leave its target in service: COMMITTED from VERIFYING, REJECTED or ROLLED_BACK from ROLLING_BACK.
// What was not sent is PROPOSED again when its approval is too old, or a guard leaves it to a person; and APPROVED
// again when a guard has come to refuse what automation proposed. EXECUTING and ROLLING_BACK read the world, change it
// once and read it again; what is not known is read, never repeated. The model in tests/model/plan.pml says the same in
// Promela.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/remedy/limits.hpp"
#include "fabric/plan.hpp"
#include "fabric/result.hpp"

namespace weft::analyzer {

/// What is under way for a plan in this run of the daemon. Nothing of it needs to survive.
struct PlanWork {
  /// Which step of the plan's execution comes next.
  enum class Stage : std::uint8_t {
    kIdle,
    kLook,
    kReady,  ///< to act, when the guards still allow it
    kAct,
    kReadBack,
    kSeeBack,  ///< it was undone: is the fabric as before?
  };
  Stage stage = Stage::kIdle;
  std::uint64_t order = 0;  ///< number of the one that is out; 0: none
  TimePoint due = kNever;   ///< when to ask next
  unsigned readings = 0;    ///< that found it not as wanted yet
  unsigned failures = 0;    ///< readings that failed, one after the other
  bool unknown = false;     ///< the last reading said that nobody knows the target
  bool foreign = false;     ///< the last reading said that somebody else holds it
  unsigned undos = 0;       ///< inverse actions sent
  std::string no_effect{};  ///< why the last of them has to be sent again
  unsigned unseen = 0;      ///< changes that were not made because the target could not be seen
  unsigned lates = 0;       ///< changes that were not made because the actuator was too slow
  TimePoint verifying_since = kNever;
  TimePoint judged = kNever;      ///< when the last sweep was
  bool unread = false;            ///< it read no end of the link: the time since then may not count
  TimePoint paused = kNever;      ///< from then on nobody could see what is awaited: that time does not count
  TimePoint excused_at = kNever;  ///< the last sweep in which a switch at an end was down as a whole
  unsigned excused = 0;           ///< so many have been since the last good one
  /// As RemedyOrder::decided, of the change that comes next.
  std::optional<Duration> decided{};
  bool resumed = false;                   ///< a process before this one had begun to verify it
  bool unanswered = false;                ///< the change that was sent got no answer: it may still land
  bool late = false;                      ///< what is being undone got no answer: it may land after its undoing
  bool undo_late = false;                 ///< what takes out again what had come back got no answer, and may land late
  bool waited = false;                    ///< what failed on its return could not be taken out again for a while
  PlanIntent before = PlanIntent::kNone;  ///< what Plan::intent was before the change that comes next
  bool glances = false;                   ///< it waits to be sent, and is read only to see what others did meanwhile
  bool looked_back = false;               ///< it was undone, the fabric is not as before, and the target was read again
  std::string why{};                      ///< the last window was not good
  std::string reading{};                  ///< in the actuator's words: it is in force
  unsigned worse = 0;                     ///< sweeps in a row with a neighbour worse off

  /// Something that was sent before may land after what undoes it.
  bool may_land() const { return late || undo_late; }
};

/// What a sweep says of a link.
enum class LinkSight : std::uint8_t {
  kUnknown,   ///< no sweep tells
  kUp,        ///< both ends are active
  kTrained,   ///< both ends are enabled and linked, and not active
  kDown,      ///< it is not linked
  kDisabled,  ///< an end is disabled
};

/// The target is to be read next.
inline bool awaits_reading(const PlanWork& work) {
  return work.stage == PlanWork::Stage::kLook || work.stage == PlanWork::Stage::kReadBack;
}

/// How long after the last reading, which was one of so many on end that failed, the next one comes.
Duration next_try(unsigned failures, const RemedyLimits& limits);

/// What one sweep says of a plan that is being verified.
struct Window {
  bool fresh = false;       ///< there was something to see
  bool good = false;        ///< symptom gone, routes as predicted, all reachable
  bool worse = false;       ///< a neighbour is worse off than before
  bool unbearable = false;  ///< somebody is cut off: no more waiting
  bool excused = false;     ///< not good, by the fault of something else
  bool unread = false;      ///< no end of the link was read: this time does not count
  bool down = false;        ///< what came back is down, and was up
  bool disabled = false;    ///< an end of what was given back is disabled
  std::string why{};        ///< of what is not good
};

/// A person aborted it while its change was on its way: the change is undone as soon as it is answered.
inline bool is_aborted(const Plan& plan) {
  return plan.state == PlanState::kExecuting && !plan.outcome.empty();
}

/// Moves one plan on. Every change of the plan that must be remembered is said through `note`.
class PlanRunner {
 public:
  using Note = std::function<void(std::string what)>;
  /// All but `now` must outlive it.
  PlanRunner(Plan& plan, PlanWork& work, const RemedyLimits& limits, TimePoint now, Note note)
      : plan_(plan), work_(work), limits_(limits), now_(now), note_(std::move(note)) {}

  /// APPROVED → EXECUTING.
  void begin();
  /// After a restart: what was under way is read before anything else.
  void resume();
  /// The reading that was ordered. `is_held`: what the plan gives back is held by another plan, so a person's return of
  /// a link that is back already is watched. `may_land`: that an order of another plan may still take the target out,
  /// in words; empty: none may. True: the next step is to act, if it is still allowed (see act()).
  bool read(const Result<TargetReading>& reading, bool is_held, const std::string& may_land = {});
  /// What was read is too old to act on.
  void read_again();
  /// A sweep saw what is verified as if somebody had given it back, or had taken out what came back: it is read.
  void doubt();
  /// The reading that follows: what is not ours any more, or is back no more, ends the plan, and nothing is sent.
  /// `may_land`: an order of another plan may still take the target out.
  void read_doubted(const Result<TargetReading>& reading, bool may_land = false);
  /// What waits to be sent is read meanwhile.
  void glance();
  /// The change is journalled as intended; the order follows. `refusal`: a guard that has come to refuse.
  void act(const std::optional<std::string>& refusal);
  /// What was intended was not sent, and `why`: the guards decide anew. `is_late`: the actuator was too slow; one that
  /// always is ends the plan.
  void hold(const std::string& why, bool is_late = false);
  /// The change that was ordered: success, refusal, nothing sent because it is so already (kAlreadyExists), or nobody
  /// knows.
  void acted(const Result<void>& result);
  /// A person wants it undone, at any state of a plan that is under way. Where nothing was sent it ends at once; what
  /// is on its way to the actuator is waited for; Plan::outcome says so meanwhile. Nothing when it is being undone.
  void abort(const std::string& why);
  /// From then on nobody can see what is awaited: the time until go_on() does not count. The first call counts.
  void pause(TimePoint from);
  /// It can be seen again, from then on.
  void go_on(TimePoint from);
  /// A sweep has passed since it was undone.
  void seen_back(const Window& window);
  /// A sweep has passed. `age`: since the plan was started, however often weftd was restarted meanwhile.
  void window(const Window& window, std::uint32_t windows_needed, Duration age);
  /// Begins to undo the plan: the state becomes ROLLING_BACK, and the target is read first.
  void roll_back(const std::string& why);
  /// What failed on its return, and was not taken out again, is on probation as from its beginning.
  void verify_anew();
  /// `who` ends it where not_to_be_left() is nothing: nothing more is sent. `sight`: of its link; kUp of what is none.
  void leave(const std::string& who, const std::string& why, LinkSight sight);
  /// What is to be asked now, without its number; nullopt: nothing.
  std::optional<RemedyOrder> order() const;

 private:
  RemedyAction action() const;
  TargetState wanted() const;
  bool undoing() const { return plan_.state == PlanState::kRollingBack; }
  void look_again(Duration after);
  Duration watched() const;
  void found_so(const std::string& detail);
  void done(const std::string& reading);
  bool is_taken_by_others(TargetState found, bool intended) const;
  void remember_late();
  bool break_off();
  void undo_aborted(bool late);
  void end(PlanState state, std::string outcome);
  /// `ending`, behind why the plan is undone: that stays, however the undoing ends.
  std::string after_cause(const std::string& ending) const;
  void failed_reading(const std::string& why);

  Plan& plan_;
  PlanWork& work_;
  const RemedyLimits& limits_;
  TimePoint now_;
  Note note_;
};

}  // namespace weft::analyzer
