// SPDX-License-Identifier: Apache-2.0
#pragma once
// Jobs that stand still: because of one port, or for reasons of their own.

#include <string_view>
#include <vector>

#include "tests/scenarios/generate.hpp"
#include "tests/scenarios/random.hpp"

namespace weft::scenarios {

/// "hang_retries", "hang_receiver", "hang_failed", "hang_link", "hang_flap"; and those in which nobody hangs:
/// "quiet_compile", "quiet_checkpoint", "quiet_end", "quiet_idle".
const std::vector<std::string_view>& hang_groups();
/// Makes a quiet scenario one of that group, with what is right to say; false for any other name.
bool stand_still(std::string_view hang_group, Random& random, Case& quiet);

}  // namespace weft::scenarios
