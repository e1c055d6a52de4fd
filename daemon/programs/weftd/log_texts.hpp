// SPDX-License-Identifier: Apache-2.0
#pragma once
// What weftd says of a subnet and of incidents, in logs and events.

#include <span>
#include <string>
#include <vector>

#include "analyzer/incidents/incident_manager.hpp"
#include "fabric/cabling_differences.hpp"
#include "fabric/result.hpp"
#include "fabric/snapshot.hpp"
#include "fabric/sweep.hpp"

namespace weft::daemon {

/// Of an Ethernet fabric whose cables are found, while there are none.
inline constexpr const char* kNothingFound = "no cables found yet: no collector reports LLDP neighbours";
/// "monitoring 896 switches, 10240 adapters, 2 of them unreachable", and no_answer(), if anything.
std::string watching_status(const Sweep& sweep);
/// Which nodes keep silent or say that our M_Key is not theirs, and what to do; empty when there are none.
std::string no_answer(const SweepStatistics& statistics);

/// Of a subnet that cannot be watched through the port of its last sweep: "; mlx5_1-1, on the same subnet, is watched
/// instead", where one of `fabrics` reaches the switch that the port was cabled to; else empty.
std::string instead_text(const Sweep& last, std::span<const FabricView> fabrics);

/// "128 links are planned; 2 planned links are not there, 1 cable leads elsewhere", or "… ; no differences".
std::string differences_text(const CablingDifferences& differences);
/// "line 12 of the expected topology is not used: gpu-1:1 -- leaf-1:3: gpu-1 is the name of more than one node, …",
/// five at most and how many there are besides; empty where all is used.
std::vector<std::string> ignored_texts(const CablingDifferences& differences);

/// What happened to an incident since it was shown, in the words of the event log: "opened", "updated", "severity
/// raised", "reopened" or "resolved".
const char* what_happened(const Incident& incident, const analyzer::IncidentList& shown);

/// What every request gets that comes while weftd stops: kUnavailable.
tl::unexpected<Error> stopping();

}  // namespace weft::daemon
