// SPDX-License-Identifier: Apache-2.0
#pragma once
// A file that people wrote, read at once and never for longer than it takes.

#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

#include "fabric/result.hpp"

namespace weft::runtime {

/// The content of a regular file of at most `most` bytes. `is_fit` may refuse it by its owner and mode; the file that
/// it is asked about is the one that is read. A pipe or a device is not read, and does not hold the caller up.
///
/// Fails with the path in the message: kNotFound, kUnavailable where it cannot be read, kInvalidArgument where it is no
/// regular file or is larger, and as `is_fit` does.
Result<std::string> read_regular(const std::filesystem::path& path, std::size_t most,
                                 const std::function<Result<void>(const struct stat&)>& is_fit = {});

}  // namespace weft::runtime
