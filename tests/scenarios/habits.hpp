// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a cluster does every day, and nobody wants to hear of.

#include <string_view>
#include <vector>

#include "tests/scenarios/generate.hpp"
#include "tests/scenarios/random.hpp"

namespace weft::scenarios {

/// Groups of it: "teardown", "node_reboot", "busy_day" …; each also with "ethernet_" before it, but those of a subnet
/// manager.
const std::vector<std::string_view>& habits();
/// The last of them are whole days, a sweep every second as by default: a scenario takes as long as a thousand others.
bool is_whole_day(std::string_view group);

/// A scenario of it. `quiet` is one of the group "quiet" or "ethernet_quiet", which becomes it. False for an unknown
/// name.
bool live(std::string_view habit, Random& random, Case& quiet);

}  // namespace weft::scenarios
