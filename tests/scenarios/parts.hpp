// SPDX-License-Identifier: Apache-2.0
#pragma once
// Links that fail again and again because of one part: a host, a cable, a module or a switch; and what becomes of them
// when somebody replaces a part.

#include <string_view>
#include <vector>

#include "tests/scenarios/generate.hpp"
#include "tests/scenarios/random.hpp"

namespace weft::scenarios {

/// "cable_part", "host_part", "switch_part", "module_part", "swap_in_vain", "swap_moved", "swap_done".
const std::vector<std::string_view>& part_groups();
/// Ethernet switches have no cages that are known by their make.
bool is_on_ethernet(std::string_view part_group);
/// Makes a quiet scenario one of that group, with what is the right advice; false for any other name.
bool break_part(std::string_view part_group, Random& random, Case& quiet);

}  // namespace weft::scenarios
