// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which incidents a request asks for.

#include "fabric/incident.hpp"
#include "fabric/result.hpp"
#include "weft/v1/incident.pb.h"

namespace weft::api {

/// kInvalidArgument for a span of time that ends before it begins.
Result<void> check_incident_filter(const v1::ListIncidentsRequest& request);
/// Whether the request asks for it, wherever its page begins.
bool is_wanted(const Incident& incident, const v1::ListIncidentsRequest& request);

}  // namespace weft::api
