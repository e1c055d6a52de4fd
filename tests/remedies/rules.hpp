// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a sequence is played by: limits at random, and what must be left of the fabric, by brute force.

#include <cstdint>
#include <set>

#include "analyzer/remedy/settings.hpp"
#include "tests/remedies/world.hpp"

namespace weft::remedies {

/// Modes, limits and lists at random, so tight that they matter in a fabric of that shape.
analyzer::RemedySettings random_settings(Dice& dice, const Shape& shape);

/// What the fabric has too little of when the uplink `out` is taken out of those in `before`, a bit for each that is
/// up: shares of uplinks, common spines of a job's leaves, a way between all. Null: nothing.
const char* lost_capacity(const Shape& shape, const analyzer::CapacityLimits& limits,
                          const std::set<unsigned>& job_leaves, std::uint32_t before, unsigned out);
/// Two leaves have no spine in common any more when `out` is taken out of `up`, all links that are up, also those whose
/// cost is raised.
bool parts_leaves(const Shape& shape, std::uint32_t up, unsigned out);

}  // namespace weft::remedies
