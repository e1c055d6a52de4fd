// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a sequence is played by: limits at random, and what must be left of the fabric, by brute force.

#include <cstdint>
#include <set>

#include "analyzer/remedy/settings.hpp"
#include "tests/remedies/facts.hpp"
#include "tests/remedies/world.hpp"

namespace weft::remedies {

/// Modes, limits and lists at random, so tight that they matter in a fabric of that shape.
analyzer::RemedySettings random_settings(Dice& dice, const Shape& shape);

/// What the fabric has too little of when the uplink `out` is taken out of those in `before`, a bit for each that is
/// up: shares of uplinks, common spines of a job's leaves, a way between all. Null: nothing.
const char* lost_capacity(const Shape& shape, const analyzer::CapacityLimits& limits,
                          const std::set<unsigned>& job_leaves, std::uint32_t before, unsigned out);
/// The same of the uplinks of its leaf's rail, where leaves have rails.
const char* lost_rail(const Shape& shape, const analyzer::CapacityLimits& limits, std::uint32_t before, unsigned out);
/// What a plan's own action breaks that takes something out: what is out with what others took out, lists that are too
/// old to tell that, and for a link nodes that are missing. Null: nothing.
const char* breach_of_taking_out(bool is_link, const Facts& decided, const analyzer::RemedyLimits& limits,
                                 const Shape& shape);
/// What a plan's own action on a host breaks by who says which host it is; null: nothing.
const char* breach_of_identity(const Plan& plan, const Facts& decided);
/// What is done that is turned off, unapproved or denied; null: nothing of it.
const char* breach_of_settings(const Plan& plan, const analyzer::RemedySettings& settings);
/// Two leaves have no spine in common any more when `out` is taken out of `up`, all links that are up, also those whose
/// cost is raised.
bool parts_leaves(const Shape& shape, std::uint32_t up, unsigned out);

}  // namespace weft::remedies
