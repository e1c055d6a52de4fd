// SPDX-License-Identifier: Apache-2.0
#pragma once
// What users ask for, on its way from the servers' threads to the main one.

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "api/publication/commands.hpp"
#include "daemon/programs/weftd/acceptance_service.hpp"
#include "daemon/programs/weftd/core.hpp"
#include "daemon/programs/weftd/remedy_controller.hpp"
#include "fabric/site.hpp"

namespace weft::daemon {

/// What a weftd that does not lead, or cannot be sure of it, does with a command.
enum class CommandKind : std::uint8_t {
  kChange,  ///< needs a promise that it is stored
  kBrake,   ///< stops automation: a leader obeys it whether it can be stored or not
  kRead,    ///< reads what is stored
};

/// Brings commands from the servers' threads to the main one, until it is closed.
class MainThreadExecutor {
 public:
  /// Brings a function to the main thread; may be called from any thread.
  using Post = std::function<void(std::function<void()>)>;

  /// Why a command is refused now; nothing: it is not. Called on the main thread.
  using Refusal = std::function<std::optional<Error>(CommandKind)>;

  /// What `post` captures must outlive the last call of call(); so must what `refusal` captures, if there is one.
  explicit MainThreadExecutor(Post post, Refusal refusal = {}) : post_(std::move(post)), refusal_(std::move(refusal)) {}
  /// Calls `member` of `target` on the main thread, with the arguments and `callback` as the last one. When it is too
  /// late the callback hears so at once.
  template <typename Target, typename Member, typename Callback, typename... Arguments>
  void call(CommandKind kind, Target& target, Member member, Callback callback, Arguments... arguments) {
    {
      const std::lock_guard lock(mutex_);
      if (!closed_) {
        post_([this, kind, &target, member, callback = std::move(callback),
               ... arguments = std::move(arguments)]() mutable {
          if (auto refused = refusal_ ? refusal_(kind) : std::nullopt) return callback(tl::unexpected(*refused));
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
  const Refusal refusal_;
  std::mutex mutex_;
  bool closed_ = false;
};

/// The site as it is known now; null: none. May be called from any thread.
using CurrentSite = std::function<SitePtr()>;

/// Why a command about `name`, of which `id` is the number, is not for this weftd: another shard of the site gave that
/// id. Nothing: it is.
inline std::optional<Error> refused_as_foreign(const CurrentSite& current, std::uint64_t id, const std::string& name) {
  const SitePtr site = current ? current() : nullptr;
  const SiteShard* const owner = site ? site->owner_of(id) : nullptr;
  if (owner == nullptr || owner->name == site->own) return std::nullopt;
  return belongs_to(name, *owner);
}

/// What users ask of incidents, of planned work and of acceptances.
class CommandForwarder final : public api::Commands {
 public:
  /// Both must outlive it; so must what `site` captures, if there is one.
  CommandForwarder(MainThreadExecutor& main_thread, Core& core, CurrentSite site = {})
      : main_(main_thread),
        core_(core),
        maintenance_(core.maintenance()),
        acceptances_(core.acceptances()),
        site_(std::move(site)) {}
  void acknowledge(std::uint64_t incident, std::string who, Callback callback) override {
    if (auto foreign = refused_as_foreign(site_, incident, incident_name(incident)))
      return callback(tl::unexpected(*foreign));
    main_.call(CommandKind::kChange, core_, &Core::acknowledge, std::move(callback), incident, std::move(who));
  }
  void silence(std::uint64_t incident, TimePoint until, std::string who, Callback callback) override {
    if (auto foreign = refused_as_foreign(site_, incident, incident_name(incident)))
      return callback(tl::unexpected(*foreign));
    main_.call(CommandKind::kChange, core_, &Core::silence, std::move(callback), incident, until, std::move(who));
  }
  void add_maintenance(MaintenanceWindow window, MaintenanceCallback callback) override {
    main_.call(CommandKind::kChange, maintenance_, &MaintenanceService::add, std::move(callback), std::move(window));
  }
  void end_maintenance(std::uint64_t window, std::string who, MaintenanceCallback callback) override {
    if (auto foreign = refused_as_foreign(site_, window, maintenance_name(window)))
      return callback(tl::unexpected(*foreign));
    main_.call(CommandKind::kChange, maintenance_, &MaintenanceService::end, std::move(callback), window,
               std::move(who));
  }
  void start_acceptance(AcceptanceRun run, AcceptanceCallback callback) override {
    main_.call(CommandKind::kChange, acceptances_, &AcceptanceService::start, std::move(callback), std::move(run));
  }
  void end_acceptance(std::uint64_t run, std::string who, AcceptanceCallback callback) override {
    if (auto foreign = refused_as_foreign(site_, run, acceptance_name(run))) return callback(tl::unexpected(*foreign));
    main_.call(CommandKind::kChange, acceptances_, &AcceptanceService::end, std::move(callback), run, std::move(who));
  }
  void judge_acceptance(AcceptanceRun run, AcceptanceCallback callback) override {
    main_.call(CommandKind::kRead, acceptances_, &AcceptanceService::judge, std::move(callback), std::move(run));
  }

 private:
  MainThreadExecutor& main_;
  Core& core_;
  MaintenanceService& maintenance_;
  AcceptanceService& acceptances_;
  const CurrentSite site_;
};

/// What users ask of remedies.
class RemedyCommandForwarder final : public api::RemedyCommands {
 public:
  /// Both must outlive it.
  RemedyCommandForwarder(MainThreadExecutor& main_thread, RemedyController& remedies, CurrentSite site = {})
      : main_(main_thread), remedies_(remedies), site_(std::move(site)) {}
  void approve(std::uint64_t plan, std::uint64_t revision, std::string who, PlanCallback callback) override {
    if (auto foreign = refused_as_foreign(site_, plan, plan_name(plan))) return callback(tl::unexpected(*foreign));
    main_.call(CommandKind::kChange, remedies_, &RemedyController::approve, std::move(callback), plan, revision,
               std::move(who));
  }
  void abort(std::uint64_t plan, std::string why, std::string who, PlanCallback callback) override {
    if (auto foreign = refused_as_foreign(site_, plan, plan_name(plan))) return callback(tl::unexpected(*foreign));
    main_.call(CommandKind::kChange, remedies_, &RemedyController::abort, std::move(callback), plan, std::move(why),
               std::move(who));
  }
  void leave(std::uint64_t plan, std::string why, std::string who, PlanCallback callback) override {
    if (auto foreign = refused_as_foreign(site_, plan, plan_name(plan))) return callback(tl::unexpected(*foreign));
    main_.call(CommandKind::kChange, remedies_, &RemedyController::leave, std::move(callback), plan, std::move(why),
               std::move(who));
  }
  void reject(std::uint64_t plan, std::string why, std::string who, PlanCallback callback) override {
    if (auto foreign = refused_as_foreign(site_, plan, plan_name(plan))) return callback(tl::unexpected(*foreign));
    main_.call(CommandKind::kChange, remedies_, &RemedyController::reject, std::move(callback), plan, std::move(why),
               std::move(who));
  }
  void request(api::RemedyWish wish, PlanCallback callback) override {
    main_.call(CommandKind::kChange, remedies_, &RemedyController::request, std::move(callback), std::move(wish));
  }
  void set_hands_off(bool hands_off, std::string why, std::string who, StatusCallback callback) override {
    main_.call(hands_off ? CommandKind::kBrake : CommandKind::kChange, remedies_, &RemedyController::set_hands_off,
               std::move(callback), hands_off, std::move(why), std::move(who));
  }
  void reset_breaker(std::string why, std::string who, StatusCallback callback) override {
    main_.call(CommandKind::kChange, remedies_, &RemedyController::reset_breaker, std::move(callback), std::move(why),
               std::move(who));
  }
  void audit(std::uint64_t before, std::size_t limit, AuditCallback callback) override {
    main_.call(CommandKind::kRead, remedies_, &RemedyController::audit, std::move(callback), before, limit);
  }

 private:
  MainThreadExecutor& main_;
  RemedyController& remedies_;
  const CurrentSite site_;
};

}  // namespace weft::daemon
