// SPDX-License-Identifier: Apache-2.0
#pragma once
// A small file that is either as it was or as it shall be, whatever happens meanwhile.

#include <filesystem>
#include <string_view>

#include "fabric/result.hpp"

namespace weft::runtime {

/// Replaces the file's content, mode 0600, and returns when it is on disk: written beside it, synchronised, renamed. On
/// failure the file is as it was: kResourceExhausted when the disk is full, else kUnavailable.
Result<void> replace_durably(const std::filesystem::path& file, std::string_view text);

}  // namespace weft::runtime
