// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/moved_hosts.hpp"

#include "fabric/host_names.hpp"

namespace weft::daemon {

std::string open_trouble_of(const std::string& host, const analyzer::IncidentList& incidents,
                            const RemedyController& remedies) {
  for (const auto& incident : incidents) {
    const Entity& cause = incident->finding.cause;
    // Of other troubles on a fabric its sweeps go on to tell.
    const bool is_of_host = cause.kind == EntityKind::kHostPort || cause.kind == EntityKind::kHost ||
                            (!cause.fabric.empty() && is_told_by_hosts(incident->finding.kind));
    if (incident->is_open() && is_of_host && !cause.host.empty() && same_host(cause.host, host))
      return incident_name(incident->id);
  }
  return remedies.plan_of_host(host);
}

}  // namespace weft::daemon
