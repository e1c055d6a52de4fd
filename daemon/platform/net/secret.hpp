// SPDX-License-Identifier: Apache-2.0
#pragma once
// Keys and tokens: only ever in files, never in the configuration itself.

#include <cstddef>
#include <filesystem>
#include <string>

#include "fabric/result.hpp"

namespace weft::net {

/// Who may read a file besides its owner.
enum class SecretMode : unsigned char {
  kPrivate,  ///< its group may read it; others may not, and only its owner may write: 0600, 0640, 0400
  kMounted,  ///< a cluster's volume, whose mode is not ours to choose: nobody but its owner may write
};

/// What the file says, without white space at either end. It must be a regular file that belongs to root or to us, with
/// a mode as `mode` wants it (kFailedPrecondition, with the chmod that helps); not empty and at most `most` bytes
/// (kInvalidArgument); kNotFound, kUnavailable.
Result<std::string> read_secret(const std::filesystem::path& path, SecretMode mode = SecretMode::kPrivate,
                                std::size_t most = 64 << 10);

}  // namespace weft::net
