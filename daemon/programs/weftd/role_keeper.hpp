// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which of two weftd on one database this one is: it follows the lease, and brings the rest of weftd along.

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "daemon/adapters/store/lease.hpp"
#include "daemon/adapters/store/store.hpp"
#include "daemon/config/config.hpp"
#include "daemon/platform/runtime/lane.hpp"
#include "daemon/programs/weftd/command_forwarders.hpp"
#include "daemon/programs/weftd/core.hpp"
#include "daemon/programs/weftd/remedy_controller.hpp"
#include "fabric/snapshot.hpp"

namespace weft::daemon {

/// All that a weftd remembers across restarts.
struct Ledger {
  store::Restored restored;
  ClockMemory clock;
  RemedyMemory plans;
};

/// Reads it; blocks. Fails as the store does. `is_whole`: with what rules remember (Store::restore()), which a standby
/// does not need (Store::look()).
Result<Ledger> read_ledger(store::Store& store, const config::WeftdConfig& config, TimePoint now, bool is_whole);

/// Where a lease was taken or raised above an epoch that its database had forgotten: what happened, and what to look
/// at. Empty: it was not.
std::string went_back_text(const store::LeaseView& view);
/// Logs, at a start, who has the database.
void tell_role(const store::LeaseView& view);

/// How long a new leader asks nothing of actuators: the bound of a call that the leader before it may have begun; zero
/// where that one gave the lease back.
Duration patience_after(const store::LeaseView& view);

/// A leader that has not seen a subnet for so long gives the lead to a standby that sees it, and no less than itself.
inline constexpr Duration kBlindBeforeYield = std::chrono::minutes(1);
/// So much longer it waits while a plan changes something: a step that cannot end from here is better ended from there.
inline constexpr Duration kChangesBeforeYield = std::chrono::minutes(5);
/// A process that gave the lead away, or was given it, gives it away after this time at the earliest.
inline constexpr Duration kYieldsAgainAfter = std::chrono::minutes(10);

/// A standby shows what the leader has stored, at most about a second later. When the lease becomes ours, the ledger is
/// read once more, and Core and RemedyController go on from there. All members are called on one thread; `post` brings
/// the store lane's answers back to it.
class RoleKeeper {
 public:
  /// Brings a function to the thread that owns the object; may be called from any thread.
  using Post = std::function<void(std::function<void()>)>;

  /// What it asks, and whom it tells.
  struct Options {
    std::function<store::LeaseView()> lease;  ///< none: this weftd always leads
    /// Lease::raise(); called on the store lane, where nothing is written meanwhile.
    std::function<std::optional<std::int64_t>()> raise{};
    bool leads = true;  ///< at first
    /// It leads from now on; with Restored::told.
    std::function<void(const std::map<std::string, std::string>&)> on_lead;
    std::function<std::vector<FabricSight>()> sight{};                  ///< Core::sights(); none: it does not matter
    std::function<void(const std::vector<FabricSight>&)> tell_sight{};  ///< Lease::tell_sight()
    std::function<bool()> is_changing{};                                ///< RemedyController::is_changing()
    /// On the steady clock, when this process may give the lead away again.
    Duration yields_from{};
    /// The other weftd sees more, and all that this one does: give the lead away, in words, and begin anew; told once.
    std::function<void(std::string)> on_yield{};
    std::function<void(std::string)> on_lost{};  ///< another leads instead, in words: end, and begin anew; told once
  };

  /// All must outlive it.
  RoleKeeper(Options options, const config::WeftdConfig& config, store::Store& store, runtime::Lane& store_lane,
             Core& core, RemedyController& remedies, const Clock& clock, Post post);

  /// Looks how the lease is. Call it about twice in a second.
  void tick();
  /// Why a command is not for this weftd now; nothing: it is. kUnavailable; of a standby it begins with "standby: " and
  /// names the leader.
  std::optional<Error> refusal(CommandKind kind) const;
  /// Receivers of events are told by this weftd: it leads, or cannot know because the database is away. One that has
  /// just woken from a long sleep asks first.
  bool may_tell() const;
  /// What EventSender::look() calls `apart`: empty while no other weftd can lead.
  std::string key_end() const { return shown_.leads && !shown_.is_held ? ".epoch" + std::to_string(shown_.epoch) : ""; }
  /// As of the last tick().
  const Leadership& leadership() const { return shown_; }

 private:
  Leadership describe(const store::LeaseView& view) const;
  void look_for_standby();
  /// True: the lead is given away.
  bool yield(const store::LeaseView& view);
  void catch_up(const store::LeaseView& view);
  void tell_changes(const store::LeaseView& view);
  /// The log is to hear it: it is not what it heard last, but for numbers, or that is so long ago as `again`.
  bool is_news(const std::string& reason, Duration again);
  /// The ledger could not be read, at an attempt that was begun then, on the steady clock.
  void miss_ledger(const Error& error, Duration begun);
  void follow(const std::string& mark);
  void promote(std::int64_t epoch);
  void rise();

  Options options_;
  const config::WeftdConfig& config_;
  store::Store& store_;
  runtime::Lane& store_lane_;
  Core& core_;
  RemedyController& remedies_;
  const Clock& clock_;
  Post post_;
  bool leads_;
  bool is_reading_ = false;  ///< the ledger
  bool is_lost_ = false;
  bool was_held_ = true;       ///< as the log says
  bool was_troubled_ = false;  ///< of a standby, as the log says
  /// Of what the log heard last; none: all is well.
  struct Told {
    std::string reason;  ///< without its digits
    Duration at{};       ///< on the steady clock
  };
  std::optional<Told> told_{};
  /// Why the ledger cannot be read, and since when, on the steady clock.
  struct Unread {
    std::string why;
    Duration since{};
  };
  std::optional<Unread> unread_{};          ///< of one that does not lead; none: it could, the last time
  TimePoint led_since_ = kNever;            ///< since when this weftd leads, by its clock; not of its first role
  std::string followed_;                    ///< the mark of the ledger that is shown
  Duration current_at_{};                   ///< when no newer one was known, on the steady clock
  std::uint64_t waited_ = 0;                ///< incidents that waited when the store was last in trouble
  bool is_catching_up_ = false;             ///< see Store::catch_up()
  std::optional<Duration> caught_up_at_{};  ///< on the steady clock, when that was tried last
  /// Of a leader: since when it does not see a subnet, on the steady clock.
  std::map<std::string, Duration> blind_since_{};
  Duration yields_from_;                  ///< see Options::yields_from
  bool is_looking_ = false;               ///< for the standby
  std::optional<Duration> looked_at_{};   ///< on the steady clock, when that was asked last
  std::optional<StandbyView> standby_{};  ///< as of then
  Leadership shown_;
};

}  // namespace weft::daemon
