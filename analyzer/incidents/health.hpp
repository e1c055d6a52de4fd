// SPDX-License-Identifier: Apache-2.0
#pragma once
// May a scheduler place a job on this host? Worked out from the incidents and the age of what is known.

#include <memory>
#include <span>
#include <vector>

#include "analyzer/incidents/incident_manager.hpp"
#include "analyzer/ports/elsewhere.hpp"
#include "analyzer/ports/known_subnet.hpp"
#include "fabric/snapshot.hpp"

namespace weft::analyzer {

/// Health of every host (adapters grouped by host_name()) of every fabric and of every host with a collector, sorted by
/// name. A host on several fabrics has one entry, the worst of all; one with a silent collector is UNKNOWN. No data,
/// stale data or a fabric that is not watched gives UNKNOWN, unless an incident already says worse. Planned work on a
/// host, on a link or port of it or on a switch that it is cabled to makes no verdict worse; it is a reason of its own
/// to place no new jobs there. Who is read in another subnet is not missed. O(ports + incidents × their
/// ports).
std::vector<NodeHealth> assess(std::span<const FabricView> fabrics,
                               std::span<const std::shared_ptr<const HostView>> hosts, const IncidentList& incidents,
                               const MaintenanceList& windows, TimePoint now);

/// The same with the hosts of subnets that nobody sweeps, or has swept yet, as far as no sweep in `fabrics` has found
/// them: none of these is HEALTHY, what is open of their ports is a reason, and one whose cables there are all called
/// down is UNHEALTHY. Those that are not in `health` are added. Sorted by name.
std::vector<NodeHealth> with_unswept(std::vector<NodeHealth> health, std::span<const KnownSubnet> subnets,
                                     std::span<const FabricView> fabrics, const IncidentList& incidents);

/// The same where a collector calls its host by another name than the fabric does: what is known of its adapters holds
/// for that name, too. Where one is the short name of the other (same_host()), what its collector knows, or that it is
/// silent, holds for the fabric's name as well, unless that is a collector's, too, that has told of these adapters.
/// While it may be one of several, it is UNKNOWN at best. `health` is sorted by name.
std::vector<NodeHealth> with_other_names(std::vector<NodeHealth> health,
                                         std::span<const std::shared_ptr<const HostView>> hosts);

/// The same with a reason at each host that a plan drained: who asks must see that no job will start there, and why.
/// Its verdict stays: it says whether the host may come back. One that is not in `health` is added as UNKNOWN. Takes no
/// copy where no host is drained; null stays null.
std::shared_ptr<const std::vector<NodeHealth>> with_drains(std::shared_ptr<const std::vector<NodeHealth>> health,
                                                           std::span<const std::shared_ptr<const Plan>> plans);

}  // namespace weft::analyzer
