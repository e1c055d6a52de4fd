// SPDX-License-Identifier: Apache-2.0
#pragma once
// What most links of a switch run at: by that a link is seen that is held back by its own configuration.

#include <vector>

#include "fabric/link_rate.hpp"
#include "fabric/topology.hpp"

namespace weft::analyzer {

/// By node: the number of lanes that most links of a switch run at; 0 for anything else, and where there is no clear
/// custom.
std::vector<int> customary_lanes(const Topology& topology);
/// The same of their speed.
std::vector<SpeedMask> customary_speeds(const Topology& topology);

}  // namespace weft::analyzer
