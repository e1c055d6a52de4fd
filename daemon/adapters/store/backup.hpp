// SPDX-License-Identifier: Apache-2.0
#pragma once
// A copy of weft.db beside the weftd that uses it, and its way back.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string_view>

#include "daemon/adapters/store/store.hpp"
#include "fabric/result.hpp"

namespace weft::store {

/// A copy that has no name any more: its room is free when it is closed.
struct Backup {
  std::unique_ptr<std::ifstream> file;
  std::uint64_t size = 0;  ///< bytes
  AuditProof audit;        ///< of the copy, found whole
};

/// Copies weft.db of `state_dir`, as it is at one moment, into a file there (mode 0600), looks through all of it, and
/// opens it. Whoever writes the database goes on meanwhile. What a copy left there that was broken off is removed, so
/// one at a time. Blocks as long as the disk takes. kUnavailable without a weft.db of this version, kResourceExhausted
/// for a full disk, kCorrupt where the database is damaged or its audit trail is not whole, and as SQLite fails.
Result<Backup> make_backup(const std::filesystem::path& state_dir);

/// What restore_backup() did.
struct RestoredBackup {
  AuditProof audit;                  ///< of the backup, found whole
  std::uint64_t revoked_tokens = 0;  ///< enrollment tokens of the backup that were not used when it was made
  std::filesystem::path kept;        ///< where the weft.db of before is; empty: there was none
};

/// Takes what is done now, which may last: "looks through FILE".
using RestoreProgress = std::function<void(std::string_view)>;

/// Makes `backup` the weft.db of `state_dir`, which no weftd may use, for the owner of that directory. What was there
/// is kept under another name. On failure it is as it was.
///
/// What happened since the backup is not known any more. So that nothing of it is taken for something else, the store
/// has a new id afterwards (marks of before are foreign, and are no sign of another weftd that acts), ids go on with a
/// gap behind those of the backup and of what was there, and unused enrollment tokens count no more. The backup is not
/// changed. kNotFound without it; kCorrupt where it is no backup, damaged, or its trail is not whole;
/// kFailedPrecondition where it is of a newer weftd or of another installation than what is there, or the directory is
/// used.
Result<RestoredBackup> restore_backup(const std::filesystem::path& backup, const std::filesystem::path& state_dir,
                                      TimePoint now, const RestoreProgress& on_progress);

}  // namespace weft::store
