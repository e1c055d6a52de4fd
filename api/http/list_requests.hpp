// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the parameters of a list's URL ask for, as the requests of gRPC.

#include <cstddef>
#include <string>
#include <vector>

#include "fabric/result.hpp"
#include "weft/v1/incident.pb.h"
#include "weft/v1/maintenance.pb.h"
#include "weft/v1/remedy.pb.h"

namespace weft::api {

/// `state`: open (which includes acknowledged), acknowledged, resolved, all or empty. kInvalidArgument otherwise.
Result<v1::ListIncidentsRequest> incidents_request(const std::string& state);
/// `state`: active, planned, over, all; empty: what is active or to come. kInvalidArgument otherwise.
Result<v1::ListMaintenanceRequest> maintenance_request(const std::string& state);
/// `state`: open, all, empty or one of a plan's states. kInvalidArgument otherwise.
Result<v1::ListPlansRequest> plans_request(std::string state);

/// Segments `from` up to `to` as one name: names of switches have slashes in them, and not everybody encodes them.
std::string joined(const std::vector<std::string>& path, std::size_t from, std::size_t to);

}  // namespace weft::api
