// SPDX-License-Identifier: Apache-2.0
#pragma once
// What became of the plans of a sequence: in words, and whether it is the truth.

#include <memory>
#include <string>
#include <vector>

#include "tests/remedies/world.hpp"

namespace weft::remedies {

/// Adds all plans with their steps to `story`, with times since `start`.
void tell_plans(const std::vector<std::shared_ptr<const Plan>>& plans, TimePoint start,
                std::vector<std::string>& story);
/// Exactly what is out by weft is held by exactly one of the plans. Else what is not so.
std::string breach_of_holding(const World& world, const std::vector<std::shared_ptr<const Plan>>& plans);

}  // namespace weft::remedies
