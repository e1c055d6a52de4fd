// SPDX-License-Identifier: Apache-2.0
#include "api/http/list_requests.hpp"

#include <cctype>
#include <utility>

#include "api/convert/plans.hpp"

namespace weft::api {

Result<v1::ListIncidentsRequest> incidents_request(const std::string& state) {
  v1::ListIncidentsRequest request;
  if (state == "open" || state == "OPEN") {
    // Whoever asks what is open wants all that goes on, seen by somebody or not.
    request.add_states(v1::Incident::OPEN);
    request.add_states(v1::Incident::ACKNOWLEDGED);
  } else if (state == "acknowledged" || state == "ACKNOWLEDGED") {
    request.add_states(v1::Incident::ACKNOWLEDGED);
  } else if (state == "resolved" || state == "RESOLVED") {
    request.add_states(v1::Incident::RESOLVED);
  } else if (!state.empty() && state != "all") {
    return fail(ErrorCode::kInvalidArgument, "state must be one of open, acknowledged, resolved, all");
  }
  return request;
}

Result<v1::ListMaintenanceRequest> maintenance_request(const std::string& state) {
  v1::ListMaintenanceRequest request;
  if (state.empty() || state == "active") request.add_states(v1::MaintenanceWindow::ACTIVE);
  if (state.empty() || state == "planned") request.add_states(v1::MaintenanceWindow::PLANNED);
  if (state == "over") request.add_states(v1::MaintenanceWindow::OVER);
  if (request.states().empty() && state != "all")
    return fail(ErrorCode::kInvalidArgument, "state must be one of active, planned, over, all");
  return request;
}

Result<v1::ListPlansRequest> plans_request(std::string state) {
  v1::ListPlansRequest request;
  for (char& c : state) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (state.empty() || state == "ALL") return request;
  for (std::size_t i = 0; i < static_cast<std::size_t>(PlanState::kCount); ++i) {
    const auto each = static_cast<PlanState>(i);
    if (state == to_string(each) || (state == "OPEN" && !is_over(each))) request.add_states(to_proto(each));
  }
  if (request.states().empty())
    return fail(ErrorCode::kInvalidArgument, "state must be open, all or one of a plan's states, such as proposed");
  return request;
}

v1::ListNodesRequest nodes_request(const HttpTarget& target) {
  v1::ListNodesRequest request;
  request.set_fabric(target.parameter("fabric"));
  request.set_contains(target.parameter("contains"));
  return request;
}

v1::ListPortsRequest ports_request(const HttpTarget& target) {
  v1::ListPortsRequest request;
  request.set_fabric(target.parameter("fabric"));
  request.set_node(target.parameter("node"));
  return request;
}

v1::ListLinksRequest links_request(const HttpTarget& target) {
  v1::ListLinksRequest request;
  request.set_fabric(target.parameter("fabric"));
  return request;
}

v1::ListCollectorsRequest collectors_request(const HttpTarget& target) {
  v1::ListCollectorsRequest request;
  if (std::string host = target.parameter("host"); !host.empty()) request.add_hosts(std::move(host));
  request.set_with_readings(target.parameter("readings") == "1");
  return request;
}

v1::GetPathRequest path_request(const HttpTarget& target) {
  v1::GetPathRequest request;
  request.set_fabric(target.parameter("fabric"));
  request.set_from(target.parameter("from"));
  request.set_to(target.parameter("to"));
  return request;
}

v1::GetCablingDifferencesRequest differences_request(const HttpTarget& target) {
  v1::GetCablingDifferencesRequest request;
  request.set_fabric(target.parameter("fabric"));
  return request;
}

std::string joined(const std::vector<std::string>& path, std::size_t from, std::size_t to) {
  std::string name;
  for (std::size_t i = from; i < to; ++i) name += (i > from ? "/" : "") + path[i];
  return name;
}

}  // namespace weft::api
