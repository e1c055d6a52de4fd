// SPDX-License-Identifier: Apache-2.0
#pragma once
// What Weft did about an incident and what people did, in one order.

#include <string_view>
#include <vector>

#include "fabric/result.hpp"
#include "fabric/snapshot.hpp"
#include "weft/v1/incident.pb.h"

namespace weft::api {

/// Events of one timeline at most: the newest.
inline constexpr std::size_t kMostTimelineEvents = 512;

/// The plans of an incident, the one whose work it is, and those that undo one of them, ascending by id. They belong to
/// the snapshot.
std::vector<const Plan*> plans_of(const Snapshot& snapshot, const Incident& incident);

/// What the incident said, the steps of its plans, of the plan whose work it is and of those that undo them, and its
/// maintenance window, oldest first. Of plans and windows that are not kept any more nothing is there. `id` as of
/// get_incident(), which says how it fails.
Result<v1::IncidentTimeline> incident_timeline(const Snapshot& snapshot, std::string_view id, TimePoint now);

}  // namespace weft::api
