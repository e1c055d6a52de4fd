// SPDX-License-Identifier: Apache-2.0
#pragma once
// Plans to show, and somebody who takes commands about them.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "api/publication/commands.hpp"
#include "tests/unit/api/small_fabric.hpp"

namespace weft::api {

/// Isolates the cable of leaf-1 port 1.
inline Plan make_plan(std::uint64_t id, PlanState state = PlanState::kProposed, std::uint64_t revision = 1) {
  Plan plan;
  plan.id = id;
  plan.revision = revision;
  plan.state = state;
  plan.target = make_incident(1).finding.cause;
  plan.actuator = "infiniband_port";
  plan.incident = 1;
  plan.reason = "INC-1: link of host-1 is down";
  plan.requested_by = "weftd";
  plan.jobs = {"slurm:17"};
  plan.candidates = {{RemedyAction::kIsolateLink, plan.target, 0.0065, 0, true, "costs 0.65 %"},
                     {RemedyAction::kNothing, plan.target, 0, 0.2, true, "loses 20 %"}};
  plan.guards = {{Guard::kHandsOff, GuardResult::kPassed, "automation is not stopped"},
                 {Guard::kBudget, GuardResult::kNotNeeded, "1 of 4 actions in this hour"}};
  plan.steps = {{kNow - std::chrono::seconds(60), PlanState::kProposed, "weftd", "proposed for INC-1"}};
  plan.created = kNow - std::chrono::seconds(60);
  plan.updated = kNow;
  plan.expires = kNow + std::chrono::seconds(3540);
  if (is_over(state)) plan.finished = kNow;
  return plan;
}

/// The snapshot with these plans in it.
inline std::shared_ptr<Snapshot> with_plans(std::shared_ptr<Snapshot> snapshot, const std::vector<Plan>& plans) {
  auto list = std::make_shared<std::vector<std::shared_ptr<const Plan>>>();
  for (const Plan& plan : plans) list->push_back(std::make_shared<Plan>(plan));
  snapshot->plans = std::move(list);
  return snapshot;
}

/// Knows plan 1 of revision 5, a guard refuses plan 2, of 3 it says nothing before it is told to. Writes down what it
/// was asked.
class FakeRemedies final : public RemedyCommands {
 public:
  struct Asked {
    RemedyAction action = RemedyAction::kNothing;
    std::uint64_t plan = 0;
    std::string target;
    std::string why;
    std::string who;
    bool hands_off = false;
    bool only_cost = false;
    bool dry_run = false;
  };

  void approve(std::uint64_t plan, std::uint64_t revision, std::string who, PlanCallback callback) override {
    note({RemedyAction::kNothing, plan, "", "", std::move(who)});
    if (plan == 2) return callback(fail(ErrorCode::kFailedPrecondition, "guard LEAF_CAPACITY: leaf-1 keeps 7 of 8"));
    if (plan == 3) {
      const std::lock_guard lock(mutex);
      late = std::move(callback);
      arrived.notify_all();
      return;
    }
    if (plan != 1) return callback(fail(ErrorCode::kNotFound, "no plan PLAN-" + std::to_string(plan)));
    if (revision != 0 && revision != 5)
      return callback(fail(ErrorCode::kFailedPrecondition, "PLAN-1 is of revision 5 by now"));
    callback(make_plan(1, PlanState::kApproved, 6));
  }
  void reject(std::uint64_t plan, std::string why, std::string who, PlanCallback callback) override {
    note({RemedyAction::kNothing, plan, "", std::move(why), std::move(who)});
    callback(make_plan(plan, PlanState::kRejected, 6));
  }
  void abort(std::uint64_t plan, std::string why, std::string who, PlanCallback callback) override {
    note({RemedyAction::kNothing, plan, "", std::move(why), std::move(who)});
    callback(make_plan(plan, PlanState::kRollingBack, 6));
  }
  void leave(std::uint64_t plan, std::string why, std::string who, PlanCallback callback) override {
    note({RemedyAction::kNothing, plan, "left", std::move(why), std::move(who)});
    callback(make_plan(plan, PlanState::kCommitted, 6));
  }
  void request(RemedyWish wish, PlanCallback callback) override {
    note({wish.action, 0, wish.target, wish.why, wish.who, false, wish.only_cost, wish.dry_run});
    if (wish.target == "nobody") return callback(fail(ErrorCode::kNotFound, "no host named nobody"));
    if (wish.target == "busy") return callback(fail(ErrorCode::kAlreadyExists, "PLAN-8 is under way for it"));
    Plan plan = make_plan(wish.dry_run ? 0 : 9, wish.dry_run ? PlanState::kProposed : PlanState::kApproved);
    plan.action = wish.action;
    if (wish.target == "full") plan.guards.push_back({Guard::kLeafCapacity, GuardResult::kRefused, "6 of 8 are left"});
    if (wish.target == "full" && !wish.dry_run)
      return callback(fail(ErrorCode::kFailedPrecondition, "LEAF_CAPACITY: 6 of 8 are left"));
    callback(plan);
  }
  void set_hands_off(bool hands_off, std::string why, std::string who, StatusCallback callback) override {
    note({RemedyAction::kNothing, 0, "", why, who, hands_off});
    RemedyStatus status;
    status.hands_off = hands_off;
    status.hands_off_reason = hands_off ? who + ": " + why : "";
    callback(status);
  }
  void reset_breaker(std::string why, std::string who, StatusCallback callback) override {
    note({RemedyAction::kNothing, 0, "", std::move(why), std::move(who)});
    callback(fail(ErrorCode::kFailedPrecondition, "the circuit breaker is not tripped"));
  }
  void audit(std::uint64_t before, std::size_t limit, AuditCallback callback) override {
    if (is_away) return callback(fail(ErrorCode::kUnavailable, "the database is not reachable: Connection refused"));
    if (is_tampered_with) return callback(fail(ErrorCode::kCorrupt, "record 5 of the audit trail is missing"));
    const std::uint64_t last = before == 0 ? trail.size() : std::min<std::uint64_t>(before - 1, trail.size());
    const std::uint64_t first = last > limit ? last - limit : 0;
    if (first < bad_record && bad_record <= last)
      return callback(
          fail(ErrorCode::kCorrupt, "record " + std::to_string(bad_record) + " of the audit trail was changed"));
    callback(std::vector<AuditRecord>(trail.begin() + static_cast<std::ptrdiff_t>(first),
                                      trail.begin() + static_cast<std::ptrdiff_t>(last)));
  }

  Asked last() {
    const std::lock_guard lock(mutex);
    return asked.empty() ? Asked{} : asked.back();
  }
  std::size_t times() {
    const std::lock_guard lock(mutex);
    return asked.size();
  }

  std::mutex mutex;
  std::condition_variable arrived;
  PlanCallback late;
  std::vector<AuditRecord> trail;  ///< set before anybody asks
  bool is_away = false;            ///< the database
  bool is_tampered_with = false;
  std::uint64_t bad_record = 0;  ///< no page with it is given

 private:
  void note(Asked what) {
    const std::lock_guard lock(mutex);
    asked.push_back(std::move(what));
  }
  std::vector<Asked> asked;
};

}  // namespace weft::api
