// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which incidents a request asks for.

#include "fabric/incident.hpp"
#include "weft/v1/incident.pb.h"

namespace weft::api {

/// Whether the request asks for it, wherever its page begins.
bool is_wanted(const Incident& incident, const v1::ListIncidentsRequest& request);

}  // namespace weft::api
