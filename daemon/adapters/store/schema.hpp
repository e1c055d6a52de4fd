// SPDX-License-Identifier: Apache-2.0
#pragma once
// The databases' schemas with their history, and the careful opening of a file that may be anything.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "daemon/adapters/store/sql.hpp"

namespace weft::store {

/// A schema is the list of steps that lead to it: step i takes version i to i + 1 (PRAGMA user_version). A step that
/// was released is never edited; a new one is added.
struct Schema {
  std::uint32_t application_id;  ///< PRAGMA application_id: whose file it is
  std::span<const char* const> migrations;
  const char* creation;    ///< pragmas that only matter before the first page is written
  const char* connection;  ///< pragmas of every connection
  bool verify;             ///< look through the whole file when opening it (quick_check)
};

/// Incidents, events, inventory and what the analyzer remembers. Small, and synchronous = FULL.
Schema state_schema();
/// Port history. Large, and synchronous = NORMAL: a power cut may take its last moments.
Schema history_schema();

/// Opens `path` and brings it to the newest version, or makes it. Refuses, and leaves as it is, a file that is no
/// database, is damaged, is another program's (kCorrupt) or was written by a newer version of ours
/// (kFailedPrecondition).
Result<Database> open_database(const std::filesystem::path& path, const Schema& schema);

/// The schema version of the file, by its header; 0 where there is none yet. Refuses as open_database(), but looks for
/// no damage; kUnavailable where we may not look whether there is one. Nothing is changed, and nothing is held up.
Result<std::uint32_t> version_of_database(const std::filesystem::path& path, const Schema& schema);

/// Refuses a file that is there as open_database() does, and changes nothing, not even beside it. False where it was
/// not looked at, because it has a log: whoever uses it may be writing it.
Result<bool> look_for_damage(const std::filesystem::path& path, const Schema& schema);

/// Opens `path` for reading, beside the weftd that writes it: nothing is made, written or migrated, also when the disk
/// is full. kUnavailable where it is not there, is not ours, or has another version.
Result<Database> look_into_database(const std::filesystem::path& path, const Schema& schema);

/// What is said of a database of `version` by a weftd that knows versions up to `known`.
std::string newer_version(std::size_t version, std::size_t known);

}  // namespace weft::store
