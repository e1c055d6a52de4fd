#pragma once
// What users ask for, on its way from the servers' threads to the main one.

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
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
  /// `main` must outlive the last call of bring().
  explicit MainThreadExecutor(boost::asio::io_context& main) : main_(main) {}
  /// `command` is called on the main thread with the callback; when it is too late the callback hears so at once.
  template <typename Callback, typename Command>
  void bring(Callback callback, Command command) {
    {
      const std::lock_guard lock(mutex_);
      if (!closed_) {
        boost::asio::post(main_, [callback = std::move(callback), command = std::move(command)]() mutable {
          command(std::move(callback));
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
  boost::asio::io_context& main_;
  std::mutex mutex_;
  bool closed_ = false;
};

/// What users ask of incidents and of planned work.
class CommandForwarder final : public api::Commands {
 public:
  CommandForwarder(MainThreadExecutor& door, Core& core) : door_(door), core_(core) {}
  void acknowledge(std::uint64_t incident, std::string who, Callback callback) override {
    door_.bring(std::move(callback), [this, incident, who = std::move(who)](Callback answer) mutable {
      core_.acknowledge(incident, std::move(who), std::move(answer));
    });
  }
  void silence(std::uint64_t incident, TimePoint until, std::string who, Callback callback) override {
    door_.bring(std::move(callback), [this, incident, until, who = std::move(who)](Callback answer) mutable {
      core_.silence(incident, until, std::move(who), std::move(answer));
    });
  }
  void add_maintenance(MaintenanceWindow window, MaintenanceCallback callback) override {
    door_.bring(std::move(callback), [this, window = std::move(window)](MaintenanceCallback answer) mutable {
      core_.maintenance().add(std::move(window), std::move(answer));
    });
  }
  void end_maintenance(std::uint64_t window, std::string who, MaintenanceCallback callback) override {
    door_.bring(std::move(callback), [this, window, who = std::move(who)](MaintenanceCallback answer) mutable {
      core_.maintenance().end(window, std::move(who), std::move(answer));
    });
  }

 private:
  MainThreadExecutor& door_;
  Core& core_;
};

/// What users ask of remedies.
class RemedyCommandForwarder final : public api::RemedyCommands {
 public:
  RemedyCommandForwarder(MainThreadExecutor& door, RemedyController& desk) : door_(door), desk_(desk) {}
  void approve(std::uint64_t plan, std::uint64_t revision, std::string who, PlanCallback callback) override {
    door_.bring(std::move(callback), [this, plan, revision, who = std::move(who)](PlanCallback answer) {
      desk_.approve(plan, revision, who, std::move(answer));
    });
  }
  void reject(std::uint64_t plan, std::string why, std::string who, PlanCallback callback) override {
    door_.bring(std::move(callback), [this, plan, why = std::move(why), who = std::move(who)](PlanCallback answer) {
      desk_.reject(plan, why, who, std::move(answer));
    });
  }
  void request(RemedyAction action, std::string target, std::string why, std::string who,
               PlanCallback callback) override {
    door_.bring(std::move(callback),
                [this, action, target = std::move(target), why = std::move(why), who = std::move(who)](
                    PlanCallback answer) { desk_.request(action, target, why, who, std::move(answer)); });
  }
  void set_hands_off(bool hands_off, std::string why, std::string who, StatusCallback callback) override {
    door_.bring(std::move(callback),
                [this, hands_off, why = std::move(why), who = std::move(who)](StatusCallback answer) {
                  desk_.set_hands_off(hands_off, why, who, std::move(answer));
                });
  }
  void reset_breaker(std::string why, std::string who, StatusCallback callback) override {
    door_.bring(std::move(callback), [this, why = std::move(why), who = std::move(who)](StatusCallback answer) {
      desk_.reset_breaker(why, who, std::move(answer));
    });
  }
  void audit(std::uint64_t before, std::size_t limit, AuditCallback callback) override {
    door_.bring(std::move(callback),
                [this, before, limit](AuditCallback answer) { desk_.audit(before, limit, std::move(answer)); });
  }

 private:
  MainThreadExecutor& door_;
  RemedyController& desk_;
};

}  // namespace weft::daemon
