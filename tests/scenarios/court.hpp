// SPDX-License-Identifier: Apache-2.0
#pragma once
// Weighs the alarms of a scenario against its truths: what was found, what is false, what was said twice.

#include <vector>

#include "tests/scenarios/judge.hpp"
#include "tests/scenarios/simulator.hpp"

namespace weft::scenarios {

/// The place that an incident's cause names.
Place place_of(const Entity& entity);

/// Real congestion that nobody planted counts as a truth when it stayed so for this many sweeps, and held up somebody
/// for so many times the share of the time that makes it real: within that, saying it and not saying it are both right.
inline constexpr unsigned kLastingSweeps = 10;
inline constexpr double kClearlyHarmful = 4.0 / 3;

/// Completes `outcome`, which has the alarms in the order of time. `simulator` has run the scenario; `begun`: when each
/// beat of the watcher began, seconds.
void weigh(const Scenario& scenario, const Plan& plan, const Simulator& simulator, const std::vector<double>& begun,
           Outcome& outcome);

}  // namespace weft::scenarios
