// SPDX-License-Identifier: Apache-2.0
#pragma once
// Backups while weftd runs, on a thread of their own.

#include <filesystem>
#include <string>
#include <utility>

#include "api/publication/backup_desk.hpp"
#include "daemon/adapters/store/backup.hpp"
#include "daemon/platform/logging/logging.hpp"
#include "daemon/platform/runtime/lane.hpp"

namespace weft::daemon {

/// Copies weft.db beside the store, one backup after the other. At most two wait.
class StoreBackups final : public api::BackupDesk {
 public:
  /// `database`: what holds incidents and plans if it is not weft.db in the state directory; else empty.
  StoreBackups(std::filesystem::path state_dir, std::string database)
      : state_dir_(std::move(state_dir)), database_(std::move(database)) {}

  void make(Callback callback) override {
    if (!database_.empty())
      return callback(fail(ErrorCode::kFailedPrecondition,
                           "incidents, plans and the audit trail are in " + database_ +
                               ", not in a file: back it up with pg_dump, or as that server is backed up"));
    const auto refused = callback;
    if (!lane_.post([this, callback = std::move(callback)] {
          auto made = store::make_backup(state_dir_);
          if (made)
            callback(api::OpenBackup{.file = std::move(made->file),
                                     .size = made->size,
                                     .audit_records = made->audit.records,
                                     .audit_hash = made->audit.last_hash});
          else
            callback(tl::unexpected<Error>(made.error()));
        }))
      refused(fail(ErrorCode::kResourceExhausted, "other backups are under way: retry later"));
  }
  /// Makes what waits, and no more.
  void stop() { lane_.stop(); }
  /// For metrics.
  const runtime::Lane& lane() const { return lane_; }

 private:
  const std::filesystem::path state_dir_;
  const std::string database_;
  runtime::Lane lane_{{.name = "backup",
                       .capacity = 2,
                       .when_full = runtime::WhenFull::kRefuse,
                       .on_failure = [](const std::string& what) { logger("backup")->error("{}", what); }}};
};

}  // namespace weft::daemon
