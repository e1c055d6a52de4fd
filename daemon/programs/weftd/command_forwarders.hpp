// SPDX-License-Identifier: Apache-2.0
#pragma once
// What users ask for, on its way from the servers' threads to the main one.

#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "api/publication/commands.hpp"
#include "daemon/programs/weftd/core.hpp"
#include "daemon/programs/weftd/remedy_controller.hpp"

namespace weft::daemon {

/// Brings commands from the servers' threads to the main one, until it is closed.
class MainThreadExecutor {
 public:
  /// Brings a function to the main thread; may be called from any thread.
  using Post = std::function<void(std::function<void()>)>;

  /// What `post` captures must outlive the last call of call().
  explicit MainThreadExecutor(Post post) : post_(std::move(post)) {}
  /// Calls `member` of `target` on the main thread, with the arguments and `callback` as the last one. When it is too
  /// late the callback hears so at once.
  template <typename Target, typename Member, typename Callback, typename... Arguments>
  void call(Target& target, Member member, Callback callback, Arguments... arguments) {
    {
      const std::lock_guard lock(mutex_);
      if (!closed_) {
        post_([&target, member, callback = std::move(callback), ... arguments = std::move(arguments)]() mutable {
          (target.*member)(std::move(arguments)..., std::move(callback));
        });
        return;
      }
    }
    callback(fail(ErrorCode::kUnavailable, "weftd is stopping"));
  }
  /// Nothing is posted to main after this.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }

 private:
  const Post post_;
  std::mutex mutex_;
  bool closed_ = false;
};

/// What users ask of incidents and of planned work.
class CommandForwarder final : public api::Commands {
 public:
  /// Both must outlive it.
  CommandForwarder(MainThreadExecutor& main_thread, Core& core)
      : main_(main_thread), core_(core), maintenance_(core.maintenance()) {}
  void acknowledge(std::uint64_t incident, std::string who, Callback callback) override {
    main_.call(core_, &Core::acknowledge, std::move(callback), incident, std::move(who));
  }
  void silence(std::uint64_t incident, TimePoint until, std::string who, Callback callback) override {
    main_.call(core_, &Core::silence, std::move(callback), incident, until, std::move(who));
  }
  void add_maintenance(MaintenanceWindow window, MaintenanceCallback callback) override {
    main_.call(maintenance_, &MaintenanceService::add, std::move(callback), std::move(window));
  }
  void end_maintenance(std::uint64_t window, std::string who, MaintenanceCallback callback) override {
    main_.call(maintenance_, &MaintenanceService::end, std::move(callback), window, std::move(who));
  }

 private:
  MainThreadExecutor& main_;
  Core& core_;
  MaintenanceService& maintenance_;
};

/// What users ask of remedies.
class RemedyCommandForwarder final : public api::RemedyCommands {
 public:
  /// Both must outlive it.
  RemedyCommandForwarder(MainThreadExecutor& main_thread, RemedyController& remedies)
      : main_(main_thread), remedies_(remedies) {}
  void approve(std::uint64_t plan, std::uint64_t revision, std::string who, PlanCallback callback) override {
    main_.call(remedies_, &RemedyController::approve, std::move(callback), plan, revision, std::move(who));
  }
  void abort(std::uint64_t plan, std::string why, std::string who, PlanCallback callback) override {
    main_.call(remedies_, &RemedyController::abort, std::move(callback), plan, std::move(why), std::move(who));
  }
  void reject(std::uint64_t plan, std::string why, std::string who, PlanCallback callback) override {
    main_.call(remedies_, &RemedyController::reject, std::move(callback), plan, std::move(why), std::move(who));
  }
  void request(api::RemedyWish wish, PlanCallback callback) override {
    main_.call(remedies_, &RemedyController::request, std::move(callback), std::move(wish));
  }
  void set_hands_off(bool hands_off, std::string why, std::string who, StatusCallback callback) override {
    main_.call(remedies_, &RemedyController::set_hands_off, std::move(callback), hands_off, std::move(why),
               std::move(who));
  }
  void reset_breaker(std::string why, std::string who, StatusCallback callback) override {
    main_.call(remedies_, &RemedyController::reset_breaker, std::move(callback), std::move(why), std::move(who));
  }
  void audit(std::uint64_t before, std::size_t limit, AuditCallback callback) override {
    main_.call(remedies_, &RemedyController::audit, std::move(callback), before, limit);
  }

 private:
  MainThreadExecutor& main_;
  RemedyController& remedies_;
};

}  // namespace weft::daemon
