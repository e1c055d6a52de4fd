// SPDX-License-Identifier: Apache-2.0
#pragma once
// The file `store` in a state directory: which database of PostgreSQL it goes with, and the greatest epoch (see
// LeaseState) that was seen there: a line for the id, the name, the epoch, and the id of the next incident where one
// was shown that the database did not have. Without it, it goes with its own weft.db. Nobody is to look at old
// incidents, or give their ids again, because a line of the configuration was lost.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "fabric/result.hpp"

namespace weft::store {

/// A database of PostgreSQL, as it was found.
struct PostgresFound {
  std::string name;                     ///< what messages call it
  std::string state{};                  ///< "is reachable, with schema version 13"
  std::uint32_t version = 0;            ///< of its schema; 0: it has none yet
  std::vector<std::string> cautions{};  ///< see StoreStatus
  std::string installation{};           ///< its id; empty: it holds nothing yet
  std::string uses{};                   ///< see use_marks.hpp; empty: an older weftd made its tables
  std::uint64_t next_incident = 0;
  std::uint64_t audit_records = 0;
  bool is_unfinished = false;  ///< it is a copy that is not whole yet
  std::string shard{};         ///< of a site, whose schema it is; empty: of none
  std::int64_t epoch = 0;      ///< how often it was taken (see LeaseState)
};

/// What is said of such a copy.
inline constexpr const char* kUnfinishedCopy =
    "is a copy that is not finished: run the same weftd store copy again, or go on with the store that it is a copy of";

/// Whether weft.db of `directory` may be used: kFailedPrecondition when the directory goes with a PostgreSQL.
Result<void> check_mark_for_file(const std::filesystem::path& directory);
/// Whether `found` may be used with `directory`: kFailedPrecondition when it is an unfinished copy, and when that goes
/// with another database, or holds a weft.db that is not the one `found` was copied from, or was used since.
Result<void> check_mark_for_postgres(const std::filesystem::path& directory, const PostgresFound& found);
/// What people are to know where `directory` went with a database of another name that is the same installation; empty:
/// nothing.
Result<std::string> moved_from(const std::filesystem::path& directory, const PostgresFound& found);
/// Whether weft.db of `directory` may become a copy of `installation`: kFailedPrecondition when the directory goes with
/// another one.
Result<void> check_mark_for_copy(const std::filesystem::path& directory, const std::string& installation);
/// From now on `directory` goes with the database of that id and name. A greater epoch that it holds of the same
/// installation stays.
Result<void> write_mark(const std::filesystem::path& directory, const std::string& installation,
                        const std::string& name, std::int64_t epoch);
/// The greatest epoch of its database that `directory` knows of; 0: none. A database that has a lesser one was restored
/// from a backup since.
Result<std::int64_t> marked_epoch(const std::filesystem::path& directory);
/// Incidents below `next` were shown, and the database does not have all of them. A greater number that is there stays.
/// Nothing without a mark.
Result<void> mark_next_incident(const std::filesystem::path& directory, std::uint64_t next);
/// Of that installation, the id from which on no incident was shown, as mark_next_incident() was told; 1: it was not.
Result<std::uint64_t> marked_next_incident(const std::filesystem::path& directory, const std::string& installation);
/// "ALTER SCHEMA public RENAME TO weft_shard_north": makes what a weftd of no site had that shard's.
std::string rename_to_shard(const std::string& shard);
/// From now on it goes with its own weft.db.
void remove_mark(const std::filesystem::path& directory);

}  // namespace weft::store
