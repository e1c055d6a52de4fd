// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/moved_hosts.hpp"

#include "fabric/host_names.hpp"

namespace weft::daemon {

std::string open_trouble_of(const std::string& host, const analyzer::IncidentList& incidents,
                            const RemedyController& remedies) {
  for (const auto& incident : incidents) {
    const Entity& cause = incident->finding.cause;
    if (incident->is_open() && (cause.kind == EntityKind::kHostPort || cause.kind == EntityKind::kHost) &&
        same_host(cause.host, host))
      return incident_name(incident->id);
  }
  return remedies.plan_of_host(host);
}

}  // namespace weft::daemon
