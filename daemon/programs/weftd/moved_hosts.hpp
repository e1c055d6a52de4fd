// SPDX-License-Identifier: Apache-2.0
#pragma once
// What keeps a host here whose collector reports to another shard.

#include <string>

#include "analyzer/host_analyzer.hpp"
#include "analyzer/incidents/incident_manager.hpp"
#include "daemon/programs/weftd/remedy_controller.hpp"

namespace weft::daemon {

/// An open incident of the host, other than that nothing is heard of it ("INC-7"), or the plan that holds it
/// ("PLAN-3"): else nobody could say what is to be undrained. `rules` know of which fabrics collectors tell, and no
/// sweeps. Empty: nothing.
std::string open_trouble_of(const std::string& host, const analyzer::IncidentList& incidents,
                            const analyzer::HostAnalyzer& rules, const RemedyController& remedies);

}  // namespace weft::daemon
