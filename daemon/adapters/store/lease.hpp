// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which of two weftd on one database of PostgreSQL leads: a beat in the database, and a thread with a connection of its
// own that raises it, or watches it.

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include "daemon/adapters/store/lease_rules.hpp"
#include "daemon/adapters/store/sql.hpp"
#include "daemon/platform/runtime/boot_time.hpp"
#include "fabric/plan.hpp"
#include "fabric/result.hpp"
#include "fabric/sight.hpp"

namespace weft::store {

class PostgresConnection;

/// What this process is called where another weftd reads it: "host, process 123".
std::string holder_name();

/// How the lease is, at one moment.
struct LeaseView {
  /// Of the lease that this weftd took, and that no other took from it as far as it knows.
  std::optional<std::int64_t> epoch{};
  bool is_held = false;  ///< no other weftd can lead now
  bool is_lost = false;  ///< this weftd led, and another took the lease from it
  /// This weftd leads after one that did not give the lease back: what that one sent last may still be on its way.
  bool succeeds_unended = false;
  /// This weftd leads, and a greater epoch than its own is known: see Lease::raise().
  bool must_rise = false;
  /// The greatest epoch that was known when the lease was taken or raised, where the database had a lesser one: it was
  /// restored from a backup. 0: it was not.
  std::int64_t went_back_from = 0;
  LeaseState seen{};                  ///< what the database said last; its `n` and `mark` are not followed by a leader
  std::string trouble{};              ///< why the last beat or look failed; empty: it did not
  std::optional<Duration> silence{};  ///< since the database last answered; none: it never did
  Duration unfit{};                   ///< since it last could lead, or take over, as far as the database shows
};

/// Takes the lease when it is given back or its leader does not beat, then beats until it is lost. A lease that was
/// lost is not taken again: what this weftd remembers is out of date. All members may be called from any thread.
class Lease {
 public:
  /// `url` as of StoreOptions; its tables were made by open_store(). `holder` and `address` as in LeaseState; `known`
  /// as of know(). Looks once before it returns, and takes a lease that nobody has. kInvalidArgument when the url is
  /// none; kUnavailable when the database does not answer.
  static Result<std::unique_ptr<Lease>> start(const std::string& url, std::string holder, std::string address,
                                              std::int64_t known = 0);
  /// The thread ends. The lease is not given back: another weftd waits until the beat stood still.
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  /// Of the database, also on a server that replaced the one that it was on; a copy of it has another.
  const std::string& database_identity() const { return identity_; }
  /// How it is now.
  LeaseView view() const;
  /// What this weftd may do until when, while nobody else can lead; nullopt: somebody may, or a greater epoch is known.
  /// Says what the clock says: the clock of a virtual machine stands still while that is paused.
  std::optional<ActPermit> permit() const;
  /// The same, asked of the database now: a beat that began after the call is there. Ask directly before what must not
  /// be done by two. Blocks for some seconds at most.
  std::optional<ActPermit> confirm();
  /// Of a standby: what it sees. The leader is told with the next look (StandbyView).
  void tell_sight(std::span<const FabricSight> fabrics);
  /// A weftd of this installation led with this epoch once, as the world shows; not believed beyond kFarthestMark. A
  /// leader with a lesser one has no permit until raise().
  void know(std::int64_t epoch);
  /// Gives a leader an epoch above all that are known; nullopt: it does not lead, or the database does not answer.
  /// Blocks. What is stored with the epoch before fails from then on.
  std::optional<std::int64_t> raise();
  /// The thread ends and, if this weftd leads, another may take over at once. Call it when nothing more is written or
  /// done.
  void release();

 private:
  Lease(std::unique_ptr<PostgresConnection> connection, std::string holder, std::string address);
  void run();
  void stop();
  void turn();
  /// True: it is in the database.
  bool beat();
  void look();
  /// True: it is ours.
  bool take(const LeaseState& seen);
  /// Failures are kept; after a success the trouble of before stays.
  std::optional<LeaseState> read();
  void keep(const Result<void>& outcome);

  std::mutex asking_;               ///< held by whoever uses the database; taken before the other
  PostgresConnection& connection_;  ///< of database_
  Database database_;
  const std::string holder_, address_;
  std::string identity_;
  mutable std::mutex mutex_;  ///< of all that follows
  std::condition_variable changed_;
  std::string sees_;  ///< as sight_text()
  LeaseRules rules_;
  LeaseView view_;
  std::optional<Duration> answered_;
  Duration fit_ = runtime::boot_time();  ///< see LeaseView::unfit
  bool stops_ = false;
  std::thread thread_;
};

}  // namespace weft::store
