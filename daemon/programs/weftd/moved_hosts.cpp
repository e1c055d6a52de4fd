// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/moved_hosts.hpp"

#include "fabric/host_names.hpp"

namespace weft::daemon {

std::string open_trouble_of(const std::string& host, const analyzer::IncidentList& incidents,
                            const analyzer::HostAnalyzer& rules, const RemedyController& remedies) {
  for (const auto& incident : incidents) {
    const Entity& cause = incident->finding.cause;
    if (!incident->is_open() || incident->finding.kind == IncidentKind::kTelemetryLost) continue;
    // Of other troubles on a fabric its sweeps go on to tell, but of Ethernet's.
    const bool is_of_host = cause.kind == EntityKind::kHostPort || cause.kind == EntityKind::kHost ||
                            (!cause.fabric.empty() && is_told_by_hosts(incident->finding.kind));
    if ((is_of_host && !cause.host.empty() && same_host(cause.host, host)) || rules.is_told_by(host, cause))
      return incident_name(incident->id);
  }
  return remedies.plan_of_host(host);
}

}  // namespace weft::daemon
