// SPDX-License-Identifier: Apache-2.0
#pragma once
// The guards of a link between two tiers: what would be left for leaves, jobs and rails.

#include <optional>

#include "analyzer/remedy/guards.hpp"
#include "analyzer/remedy/live_tree.hpp"
#include "analyzer/remedy/shape_guards.hpp"

namespace weft::analyzer {

/// Who would be short without the link at `uplink` of `in.tree`, which is not null and is as before when it returns;
/// nullopt: nobody.
std::optional<Shortfall> find_shortfall(const GuardInput& in, UplinkIndex uplink);

/// Guard::kReachability, kLeafCapacity, kJobCapacity or kRailCapacity of that link. `shortfall`: as found above.
Verdict judge_capacity(Guard guard, const GuardInput& in, const Topology& topology, bool ethernet,
                       const std::optional<Shortfall>& shortfall);

}  // namespace weft::analyzer
