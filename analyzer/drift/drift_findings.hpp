// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a difference of configuration is said.

#include <span>
#include <string>

#include "analyzer/drift/config_drift.hpp"

namespace weft::analyzer {

/// "adapters", "ports": what has the fact.
const char* holders_of(ConfigFact fact);
/// What is blamed for votes on a fact: the cohort, with the hosts that are called alike.
Entity drift_cause(const Cohort& cohort, ConfigFact fact, const std::string& stem);
/// "board MT_0000000838 in DGXH100, hosts gpu-#, at 0000:17:00.0 and 3 more places".
std::string group_text(const Cohort& cohort, const HeldVote& vote);

/// What an incident says of `differences`, which are one cause's: "2 of 512 adapters of board MT_0000000223 have
/// firmware 28.39.1002, 510 have 28.41.1000". It affects those that are not young.
Finding drift_finding(const Entity& cause, ConfigFact fact, std::span<const DriftDifference> differences,
                      TimePoint now);
/// What an incident says of a link, of which all of `ends` are.
Finding ends_finding(std::span<const EndsDiffer> ends, TimePoint now);

}  // namespace weft::analyzer
