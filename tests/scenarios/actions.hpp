// SPDX-License-Identifier: Apache-2.0
#pragma once
// Faults as single things that happen.

#include <cstdint>
#include <vector>

#include "tests/scenarios/action.hpp"
#include "tests/scenarios/random.hpp"
#include "tests/scenarios/scenario.hpp"

namespace weft::scenarios {

/// All adapters of the host that has this one.
std::vector<NodeIndex> adapters_of_host(const Plan& plan, NodeIndex adapter);
/// In the order of time; `random` gives what the faults leave open (when exactly a link flaps).
std::vector<Action> actions_of(const Scenario& scenario, const Plan& plan, Random& random);
/// The scenario's jobs, and the traffic that its faults consist of.
std::vector<Job> jobs_of(const Scenario& scenario, const Plan& plan);

}  // namespace weft::scenarios
