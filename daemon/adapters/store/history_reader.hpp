// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads port history beside the weftd that writes it, with a connection of its own: a long question holds up no write.

#include <filesystem>

#include "fabric/port_history.hpp"
#include "fabric/result.hpp"

namespace weft::store {

/// Blocks for some milliseconds, 2 s at most. kNotFound where none of the ports has a history; kInvalidArgument for a
/// counter that history does not keep, or a question of more than a million values; kResourceExhausted where that much
/// time cannot be read at once; kTimeout where the disk is too slow; kUnavailable or kCorrupt for the file.
Result<HistoryAnswer> read_history(const std::filesystem::path& state_dir, const HistoryQuestion& question);

}  // namespace weft::store
