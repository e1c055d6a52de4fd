// SPDX-License-Identifier: Apache-2.0
#pragma once
// A series for each open incident and for each job: what alerts, annotations and tables are made of.

#include <cstddef>
#include <string>

#include "api/metrics/negotiate.hpp"
#include "fabric/snapshot.hpp"

namespace weft::api {

/// So many open incidents have series of their own: the most severe ones, of those the oldest, so that more trouble
/// moves none of them out of sight. weft_incidents_left_out says how many have none.
inline constexpr std::size_t kMostIncidentsShown = 256;
/// So many jobs of an incident, and of a host, have series.
inline constexpr std::size_t kMostJobsShown = 16;

/// Appends weft_incident_info{incident,kind,severity,attention,subnet,entity,cause,node,guid,port,peer_node,peer_guid,
/// peer_port,host,device} = 1 (a label that says nothing is left out), when each was opened, whom it hurts, and
/// weft_incidents_left_out. `attention` is "unattended", "acknowledged", "silenced" (at `now`) or "planned".
void append_incident_families(std::string& out, const Snapshot& snapshot, TimePoint now, MetricsFormat format);

/// Appends a piece of weft_job_info{job_id,node} = 1: which jobs hold which hosts, as their collectors last told; none
/// of a collector that is not connected. False when there is nothing more. `position` starts at 0 and is the caller's.
bool append_jobs(std::string& out, const Snapshot& snapshot, MetricsFormat format, std::size_t& position);

}  // namespace weft::api
