// SPDX-License-Identifier: Apache-2.0
#pragma once
// What users may ask of the daemon. The daemon implements it; the servers only pass on.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fabric/acceptance.hpp"
#include "fabric/incident.hpp"
#include "fabric/maintenance.hpp"
#include "fabric/plan.hpp"
#include "fabric/result.hpp"

namespace weft::api {

/// Commands return at once and may be called from any thread. The callback is called exactly once, from any thread,
/// when the change is durable and shown, or with the reason why it was refused: kNotFound for an id that is not known,
/// kFailedPrecondition when the incident's or window's state does not allow it. A daemon that stops answers
/// kUnavailable.
class Commands {
 public:
  /// Takes the incident after the change, or why there was none.
  using Callback = std::function<void(Result<Incident>)>;

  /// Takes the window after the change, or why there was none.
  using MaintenanceCallback = std::function<void(Result<MaintenanceWindow>)>;

  /// Takes the run after the change, or why there was none.
  using AcceptanceCallback = std::function<void(Result<AcceptanceRun>)>;

  virtual ~Commands() = default;
  /// `who` is for the record, never empty.
  virtual void acknowledge(std::uint64_t incident, std::string who, Callback callback) = 0;
  /// Shown but not to be paged for before `until`, which is in the future.
  virtual void silence(std::uint64_t incident, TimePoint until, std::string who, Callback callback) = 0;
  /// A window of planned work, without an id: it gets one. kInvalidArgument for one that is too long, too far ahead or
  /// without a reason; kResourceExhausted when there are too many.
  virtual void add_maintenance(MaintenanceWindow window, MaintenanceCallback callback) = 0;
  /// The work is done before its time, or called off.
  virtual void end_maintenance(std::uint64_t window, std::string who, MaintenanceCallback callback) = 0;
  /// A run with targets, length, limit and who wants it, without an id: it gets one, and begins now.
  /// kInvalidArgument for one that is too long or has too many targets; kResourceExhausted when too many run.
  virtual void start_acceptance(AcceptanceRun run, AcceptanceCallback callback) = 0;
  /// Ends a run before its time: it is judged as it is.
  virtual void end_acceptance(std::uint64_t run, std::string who, AcceptanceCallback callback) = 0;
  /// Judges by what is known now. Nothing is kept: the run has a report and no id. kResourceExhausted when that was
  /// asked for too often.
  virtual void judge_acceptance(AcceptanceRun run, AcceptanceCallback callback) = 0;
};

/// What a person wants done to one target.
struct RemedyWish {
  RemedyAction action = RemedyAction::kNothing;
  /// Of links either end as a person writes it, "leaf-1:7" or "0x2c5eab0300b87b40:7"; of drain and undrain a host's
  /// name.
  std::string target;
  std::string why;
  std::string who;
  bool only_cost = false;  ///< of kRestoreLink: only where the link's cost was raised
  bool dry_run = false;    ///< nothing is kept or done
};

/// What users may ask of automation. Like Commands: members return at once, from any thread; the callback is called
/// exactly once, when the change is durable and shown, or with the reason why not: kNotFound for an id or a target
/// that is not known, kFailedPrecondition with the refusing guard's sentence, or when the plan is in another state or
/// of another revision than the caller saw; kAlreadyExists when a plan for the same is under way or in force;
/// kUnavailable while the daemon stops.
class RemedyCommands {
 public:
  /// Takes the plan after the change, or why there was none.
  using PlanCallback = std::function<void(Result<Plan>)>;
  /// Takes the state of automation after the change, or why there was none.
  using StatusCallback = std::function<void(Result<RemedyStatus>)>;
  /// Takes the audit records, or why they cannot be given.
  using AuditCallback = std::function<void(Result<std::vector<AuditRecord>>)>;

  virtual ~RemedyCommands() = default;
  /// `revision` is the one that the person read; 0: whatever it is now.
  virtual void approve(std::uint64_t plan, std::uint64_t revision, std::string who, PlanCallback callback) = 0;
  /// Ends a plan that was not begun. `why` may be empty.
  virtual void reject(std::uint64_t plan, std::string why, std::string who, PlanCallback callback) = 0;
  /// Ends a plan that is not over; what is under way is undone. kNotFound; kFailedPrecondition when it is over.
  virtual void abort(std::uint64_t plan, std::string why, std::string who, PlanCallback callback) = 0;
  /// Ends a plan whose target is back in service, or has been read to be, and leaves it so: nothing more is sent.
  /// kNotFound; kFailedPrecondition, with the next step, of any other plan.
  virtual void leave(std::uint64_t plan, std::string why, std::string who, PlanCallback callback) = 0;
  /// Makes a plan for a target that a person names and approves it at once, unless a guard refuses. Of a dry run the
  /// plan as it would begin, with every guard, also those that refuse, and without an id.
  virtual void request(RemedyWish wish, PlanCallback callback) = 0;
  /// Stops all automation at once, or lets it go on.
  virtual void set_hands_off(bool hands_off, std::string why, std::string who, StatusCallback callback) = 0;
  /// After a person has looked. Refused while it is not tripped.
  virtual void reset_breaker(std::string why, std::string who, StatusCallback callback) = 0;
  /// The newest `limit` records with a sequence below `before` (0: the newest of all), ascending. The chain of hashes
  /// is checked on the way: kCorrupt when a line was changed or taken out.
  virtual void audit(std::uint64_t before, std::size_t limit, AuditCallback callback) = 0;
};

}  // namespace weft::api
