// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads port history beside the weftd that writes it, with a connection of its own: a long question holds up no write.

#include <filesystem>
#include <string>

#include "fabric/port_history.hpp"
#include "fabric/result.hpp"

namespace weft::store {

/// Where it is.
struct HistoryPlace {
  std::filesystem::path state_dir;  ///< history.db is there
  std::string url{};                ///< of the database that has a shared history, with the shard's schema; empty: none
};

/// Blocks for some milliseconds, 2 s at most. kNotFound where none of the ports has a history; kInvalidArgument for a
/// counter that history does not keep, or a question of more than a million values; kResourceExhausted where that much
/// time cannot be read at once; kTimeout where the disk is too slow; kUnavailable or kCorrupt for the file or database.
/// Of a database that hangs 6 s at most.
Result<HistoryAnswer> read_history(const HistoryPlace& place, const HistoryQuestion& question);
/// The same of history.db in this directory.
inline Result<HistoryAnswer> read_history(const std::filesystem::path& state_dir, const HistoryQuestion& question) {
  return read_history(HistoryPlace{state_dir}, question);
}

/// Blocks as above. kNotFound where none of the ports has a history; kInvalidArgument for more than a million values;
/// kResourceExhausted, kTimeout, kUnavailable and kCorrupt as above. Where a fabric is so large that reading it all
/// would take long, a part of the intervals is read, evenly.
Result<StallAnswer> read_stall(const HistoryPlace& place, const StallQuestion& question);

}  // namespace weft::store
