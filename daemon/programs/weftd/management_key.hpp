// SPDX-License-Identifier: Apache-2.0
#pragma once
// The key that protects the switches of a subnet.

#include <cstdint>
#include <filesystem>

#include "fabric/result.hpp"

namespace weft::daemon {

/// The M_Key of the subnets; 0 for an empty path. An error names the file, never what is in it.
Result<std::uint64_t> read_management_key(const std::filesystem::path& file);

}  // namespace weft::daemon
