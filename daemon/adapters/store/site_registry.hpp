// SPDX-License-Identifier: Apache-2.0
#pragma once
// A weftd's word to its site and the site's to it: a thread with a connection of its own, beside the lease.

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "daemon/adapters/store/site_table.hpp"
#include "daemon/adapters/store/sql.hpp"
#include "fabric/result.hpp"
#include "fabric/site.hpp"

namespace weft::store {

/// The site is read so often, and so soon is told what changed.
inline constexpr std::chrono::seconds kReadSiteEvery{2};
/// What did not change is told again so often.
inline constexpr std::chrono::seconds kTellSiteEvery{60};

/// Another text for each loopback network: of the machine since it started, and of the network namespace. Empty where
/// the system does not tell.
std::string loopback_name();

/// Reads the site's tables, and keeps the row of this weftd there up to date. While the database is away, what was read
/// last stays. All members may be called from any thread.
class SiteRegistry {
 public:
  /// `url` as of StoreOptions; join_site() was called, and gave `self.number`. Reads once before it returns; fails when
  /// that does, and with kFailedPrecondition where the site does not list the shard any more.
  static Result<std::unique_ptr<SiteRegistry>> start(const std::string& url, SiteMember self);
  /// The thread ends. What it told stays: others ask, and say that nobody answers. It is not held against what another
  /// weftd of the shard tells any more.
  ~SiteRegistry();
  SiteRegistry(const SiteRegistry&) = delete;
  SiteRegistry& operator=(const SiteRegistry&) = delete;

  /// What this weftd is and owns from now on: what changed is written at once.
  void tell(std::string holder, std::int64_t epoch, std::string fabrics, std::string switches = {});
  /// The site as it was read last. Never null. A shard that the site lists no more is told so (Site::is_left), and is
  /// not entered again.
  SitePtr site() const;

 private:
  SiteRegistry(Database database, SiteMember self) : database_(std::move(database)), self_(std::move(self)) {}
  void run();
  Result<void> turn();

  Database database_;               ///< of the thread
  std::optional<SiteMember> told_;  ///< the same
  std::chrono::steady_clock::time_point told_at_{};
  mutable std::mutex mutex_;  ///< of all that follows
  std::condition_variable changed_;
  SiteMember self_;
  SitePtr site_;
  bool has_news_ = false;  ///< self_ has changed since it was written
  bool stops_ = false;
  std::thread thread_;
};

}  // namespace weft::store
