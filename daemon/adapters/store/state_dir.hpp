// SPDX-License-Identifier: Apache-2.0
#pragma once
// The directory that one weftd, and only one, works in.

#include <filesystem>

#include "daemon/platform/runtime/unique_fd.hpp"
#include "fabric/result.hpp"

namespace weft::store {

/// Makes `directory` where it is missing and locks it, for as long as the descriptor lives. Fails with a sentence for
/// the operator when it cannot be made, read or written (kUnavailable) or another process holds it
/// (kFailedPrecondition).
Result<runtime::UniqueFd> lock_state_dir(const std::filesystem::path& directory);

}  // namespace weft::store
