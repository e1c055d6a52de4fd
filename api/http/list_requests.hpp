// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the parameters of a list's URL ask for, as the requests of gRPC.

#include <cstddef>
#include <string>
#include <vector>

#include "api/request/target.hpp"
#include "fabric/result.hpp"
#include "weft/v1/acceptance.pb.h"
#include "weft/v1/fabric.pb.h"
#include "weft/v1/incident.pb.h"
#include "weft/v1/maintenance.pb.h"
#include "weft/v1/remedy.pb.h"
#include "weft/v1/telemetry.pb.h"

namespace weft::api {

/// `text` as RFC 3339 or as seconds since 1970; kInvalidArgument, with the parameter's `name`, otherwise.
Result<void> parse_time(const std::string& name, const std::string& text, google::protobuf::Timestamp& time);
/// `state`: open (which includes acknowledged), acknowledged, resolved, all or empty; `kind` and `severity`: names with
/// commas between them; `entity`, `job`, `from` and `to`. kInvalidArgument otherwise.
Result<v1::ListIncidentsRequest> incidents_request(const HttpTarget& target);
/// `of`: cables, modules, hosts or switches, empty: cables; `by`: harm, jobs, critical or times, empty: harm; `from`,
/// `to`, `limit` and `fabric`. kInvalidArgument otherwise.
Result<v1::ListWorstRequest> worst_request(const HttpTarget& target);
/// `by`: errors, flaps or stall, empty: errors; `limit`; `fabric`. kInvalidArgument otherwise.
Result<v1::ListWorstLinksRequest> worst_links_request(const HttpTarget& target);
/// `from`, `to`, `who`, `what`, `shard`, `page_size` and `page_token`. kInvalidArgument otherwise.
Result<v1::ListAuditRequest> audit_request(const HttpTarget& target);
/// `state`: active, planned, over, all; empty: what is active or to come. kInvalidArgument otherwise.
Result<v1::ListMaintenanceRequest> maintenance_request(const std::string& state);
/// `state`: running, all or empty, which is all; `host`. kInvalidArgument otherwise.
Result<v1::ListAcceptancesRequest> acceptances_request(const HttpTarget& target);
/// `state`: open, all, empty or one of a plan's states. kInvalidArgument otherwise.
Result<v1::ListPlansRequest> plans_request(std::string state);

/// `fabric` and `contains`.
v1::ListNodesRequest nodes_request(const HttpTarget& target);
/// `fabric` and `node`.
v1::ListPortsRequest ports_request(const HttpTarget& target);
/// `fabric`.
v1::ListLinksRequest links_request(const HttpTarget& target);
/// `fabric`, `from` and `to`.
v1::GetPathRequest path_request(const HttpTarget& target);
/// `host` and `readings`.
v1::ListCollectorsRequest collectors_request(const HttpTarget& target);
/// "?fact=mtu".
v1::GetDriftRequest drift_request(const HttpTarget& target);
/// "?fabric=ib0".
v1::GetCablingDifferencesRequest differences_request(const HttpTarget& target);

/// Segments `from` up to `to` as one name: names of switches have slashes in them, and not everybody encodes them.
std::string joined(const std::vector<std::string>& path, std::size_t from, std::size_t to);

}  // namespace weft::api
