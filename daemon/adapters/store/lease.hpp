// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which of two weftd on one database of PostgreSQL leads: a beat in the database, and a thread with a connection of its
// own that raises it, or watches it.

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "daemon/adapters/store/lease_rules.hpp"
#include "daemon/adapters/store/sql.hpp"
#include "fabric/plan.hpp"
#include "fabric/result.hpp"

namespace weft::store {

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
  LeaseState seen{};                  ///< what the database said last; its `n` and `mark` are not followed by a leader
  std::string trouble{};              ///< why the last beat or look failed; empty: it did not
  std::optional<Duration> silence{};  ///< since the database last answered; none: it never did
};

/// Takes the lease when it is given back or its leader does not beat, then beats until it is lost. A lease that was
/// lost is not taken again: what this weftd remembers is out of date. All members may be called from any thread.
class Lease {
 public:
  /// `url` as of StoreOptions; its tables were made by open_store(). `holder` and `address` as in LeaseState. Looks
  /// once before it returns, and takes a lease that nobody has. kInvalidArgument when the url is none; kUnavailable
  /// when the database does not answer.
  static Result<std::unique_ptr<Lease>> start(const std::string& url, std::string holder, std::string address);
  /// The thread ends. The lease is not given back: another weftd waits until the beat stood still.
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  /// Of the database, also on a server that replaced the one that it was on; a copy of it has another.
  const std::string& database_identity() const { return identity_; }
  /// How it is now.
  LeaseView view() const;
  /// What this weftd may do until when, while nobody else can lead; nullopt: somebody may. Ask directly before what
  /// must not be done by two.
  std::optional<ActPermit> permit() const;
  /// The thread ends and, if this weftd leads, another may take over at once. Call it when nothing more is written or
  /// done.
  void release();

 private:
  Lease(Database database, std::string holder, std::string address)
      : database_(std::move(database)), holder_(std::move(holder)), address_(std::move(address)) {}
  void run();
  void stop();
  void turn();
  void beat();
  void look();
  /// True: it is ours.
  bool take(const LeaseState& seen);
  std::optional<LeaseState> read();
  void keep(const Result<void>& outcome);

  Database database_;  ///< of the thread, and of whoever calls when there is none
  const std::string holder_, address_;
  std::string identity_;
  mutable std::mutex mutex_;  ///< of all that follows
  std::condition_variable changed_;
  LeaseRules rules_;
  LeaseView view_;
  std::optional<Duration> answered_;
  bool stops_ = false;
  std::thread thread_;
};

}  // namespace weft::store
