// SPDX-License-Identifier: Apache-2.0
#pragma once
// A journal and a world for tests of RemedyController: both note what they are asked, and fail when a test says so.

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "daemon/adapters/actuate/actuator.hpp"
#include "daemon/adapters/actuate/deadline.hpp"
#include "tests/unit/daemon/programs/weftd/fakes.hpp"

namespace weft::daemon {

/// Keeps plans as a disk would. A test may hold writes back, refuse them, or break them off.
class JournalStore final : public IdleStore {
 public:
  Result<void> save_plans(std::span<const Plan> plans, const RemedyHolds* state,
                          std::span<const AuditRecord> records) override {
    std::unique_lock lock(mutex_);
    ++writes_;
    is_held_ = held_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !held_; });
    is_held_ = false;
    if (throws_) throw std::runtime_error("no memory");
    if (refuses_) return fail(ErrorCode::kResourceExhausted, "disk full");
    for (const Plan& plan : plans) plans_[plan.id] = plan;
    if (state) state_ = *state;
    audit_.insert(audit_.end(), records.begin(), records.end());
    return {};
  }
  Result<void> save_clock(const ClockMemory& memory) override {
    const std::lock_guard lock(mutex_);
    clock_ = memory;
    return {};
  }
  Result<ClockMemory> restore_clock() override {
    const std::lock_guard lock(mutex_);
    return clock_;
  }
  Result<std::vector<AuditRecord>> audit(std::uint64_t, std::size_t) override { return audit(); }

  /// Writes wait from now on, or go on.
  void hold(bool on) { set(held_, on); }
  /// Writes fail from now on, as on a full disk.
  void refuse(bool on) { set(refuses_, on); }
  /// Writes throw from now on.
  void break_off(bool on) { set(throws_, on); }
  /// Returns when a write is held back.
  void wait_until_held() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_held_; });
  }

  /// The plan as it is on disk; without an id when it is not.
  Plan plan(std::uint64_t id) const {
    const std::lock_guard lock(mutex_);
    const auto found = plans_.find(id);
    return found == plans_.end() ? Plan{} : found->second;
  }
  /// How automation stands, as on disk.
  RemedyHolds state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }
  /// The audit records on disk.
  std::vector<AuditRecord> audit() const {
    const std::lock_guard lock(mutex_);
    return audit_;
  }
  /// How often it was asked to write.
  int writes() const {
    const std::lock_guard lock(mutex_);
    return writes_;
  }
  /// What the next process finds.
  RemedyMemory restored() const {
    const std::lock_guard lock(mutex_);
    RemedyMemory restored;
    for (const auto& [id, plan] : plans_) {
      restored.plans.push_back(plan);
      restored.ids = id + 1;
    }
    restored.holds = state_;
    return restored;
  }

 private:
  void set(bool& what, bool on) {
    const std::lock_guard lock(mutex_);
    what = on;
    changed_.notify_all();
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false, refuses_ = false, throws_ = false, is_held_ = false;
  int writes_ = 0;
  std::map<std::uint64_t, Plan> plans_;
  RemedyHolds state_;
  ClockMemory clock_;
  std::vector<AuditRecord> audit_;
};

/// Links and hosts as an actuator finds them. It outlives the actuators, as the world outlives a process.
class FakeWorld {
 public:
  explicit FakeWorld(const JournalStore& journal) : journal_(journal) {}

  /// One request of an actuator, and what was on disk of its plan at that moment.
  struct Asked {
    bool is_action = false;
    RemedyOrder order;
    Plan journalled;
  };

  Result<TargetReading> observe(const RemedyOrder& order) {
    std::unique_lock lock(mutex_);
    asked_.push_back({false, order, journal_.plan(order.plan)});
    changed_.wait(lock, [&] { return held_ != order.actuator; });
    return TargetReading{states_[order.target.identity()], "as read", {}, epoch_};
  }
  Result<void> apply(const RemedyOrder& order) {
    std::unique_lock lock(mutex_);
    asked_.push_back({true, order, journal_.plan(order.plan)});
    changed_.wait(lock, [&] { return held_ != order.actuator; });
    if (auto in_time = actuate::check_time(actuate::last_moment(order)); !in_time) return in_time;
    if (throws_) throw std::runtime_error("connection reset");
    if (failure_) return tl::unexpected(*failure_);
    states_[order.target.identity()] = TargetState::kOurs;
    return {};
  }

  /// What that actuator is asked takes until another one, or none, is held.
  void hold(const std::string& actuator) {
    const std::lock_guard lock(mutex_);
    held_ = actuator;
    changed_.notify_all();
  }
  /// Puts a target in a state.
  void set(const Entity& target, TargetState state) {
    const std::lock_guard lock(mutex_);
    states_[target.identity()] = state;
  }
  /// Actions fail from now on and change nothing.
  void fail_actions(Error failure) {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
  }
  /// Readings show this epoch from now on.
  void show_epoch(std::int64_t epoch) {
    const std::lock_guard lock(mutex_);
    epoch_ = epoch;
  }
  /// Actions succeed again.
  void let_actions_succeed() {
    const std::lock_guard lock(mutex_);
    failure_.reset();
  }
  /// Actions throw from now on and change nothing.
  void break_off_actions() {
    const std::lock_guard lock(mutex_);
    throws_ = true;
  }

  /// All requests so far.
  std::vector<Asked> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  /// How often a target was read.
  int readings() const { return count(false); }
  /// How often something was to be changed.
  int actions() const { return count(true); }

 private:
  int count(bool actions) const {
    int found = 0;
    for (const Asked& asked : asked()) found += asked.is_action == actions;
    return found;
  }

  const JournalStore& journal_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string held_;
  std::map<std::string, TargetState> states_;  ///< by Entity::identity()
  std::int64_t epoch_ = 0;
  std::optional<Error> failure_;
  bool throws_ = false;
  std::vector<Asked> asked_;
};

/// Brings what it is asked to a FakeWorld.
class FakeActuator final : public actuate::Actuator {
 public:
  FakeActuator(FakeWorld& world, std::string name) : world_(world), name_(std::move(name)) {}
  std::string name() const override { return name_; }
  Result<TargetReading> observe(const RemedyOrder& order) override { return world_.observe(order); }
  Result<void> apply(const RemedyOrder& order) override { return world_.apply(order); }
  Result<std::string> dry_run(const RemedyOrder&) override { return std::string("nothing"); }

 private:
  FakeWorld& world_;
  const std::string name_;
};

}  // namespace weft::daemon
