// SPDX-License-Identifier: Apache-2.0
#include "api/http/list_requests.hpp"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>
#include <utility>

#include "api/convert/plans.hpp"
#include "api/publication/utf8.hpp"

namespace weft::api {

Result<void> parse_time(const std::string& name, const std::string& text, google::protobuf::Timestamp& time) {
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool is_seconds = error == std::errc{} && end == text.data() + text.size();
  if (is_seconds) time.set_seconds(seconds);
  if (is_seconds || google::protobuf::util::TimeUtil::FromString(text, &time)) return {};
  return fail(ErrorCode::kInvalidArgument,
              name + " must be a time such as 2026-03-01T12:00:00Z, or seconds since 1970");
}

namespace {

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

/// Sets `from` and `to` of the request where they are given.
template <typename Request>
Result<void> set_times(const HttpTarget& target, Request& request) {
  if (const std::string from = target.parameter("from"); !from.empty())
    if (auto parsed = parse_time("from", from, *request.mutable_from()); !parsed) return parsed;
  if (const std::string to = target.parameter("to"); !to.empty())
    if (auto parsed = parse_time("to", to, *request.mutable_to()); !parsed) return parsed;
  return {};
}

/// Calls `take` with each of the names between commas, in capital letters, until one is wrong.
template <typename Take>
Result<void> each_name(const HttpTarget& target, const std::string& parameter, Take take) {
  const std::string given = upper(target.parameter(parameter));
  for (std::string_view names = given; !names.empty();) {
    const std::size_t comma = std::min(names.find(','), names.size());
    const std::string name(names.substr(0, comma));
    if (!take(name)) return fail(ErrorCode::kInvalidArgument, "there is no " + parameter + ' ' + valid_utf8(name));
    names.remove_prefix(std::min(comma + 1, names.size()));
  }
  return {};
}

Result<void> set_state(const std::string& state, v1::ListIncidentsRequest& request) {
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
  return {};
}

}  // namespace

Result<v1::ListIncidentsRequest> incidents_request(const HttpTarget& target) {
  v1::ListIncidentsRequest request;
  auto good = set_state(target.parameter("state"), request);
  if (good)
    good = each_name(target, "kind", [&request](const std::string& name) {
      v1::Incident::Kind kind{};
      const bool is_one = v1::Incident::Kind_Parse(name, &kind) && kind != v1::Incident::KIND_UNSPECIFIED;
      if (is_one) request.add_kinds(kind);
      return is_one;
    });
  if (good)
    good = each_name(target, "severity", [&request](const std::string& name) {
      v1::Incident::Severity severity{};
      const bool is_one =
          v1::Incident::Severity_Parse(name, &severity) && severity != v1::Incident::SEVERITY_UNSPECIFIED;
      if (is_one) request.add_severities(severity);
      return is_one;
    });
  if (good) good = set_times(target, request);
  if (!good) return tl::unexpected(good.error());
  request.set_entity(target.parameter("entity"));
  request.set_job(target.parameter("job"));
  return request;
}

Result<v1::ListWorstLinksRequest> worst_links_request(const HttpTarget& target) {
  v1::ListWorstLinksRequest request;
  auto by = v1::ListWorstLinksRequest::ERRORS;
  const std::string given = upper(target.parameter("by"));
  if ((!given.empty() && !v1::ListWorstLinksRequest::Measure_Parse(given, &by)) ||
      by == v1::ListWorstLinksRequest::MEASURE_UNSPECIFIED)
    return fail(ErrorCode::kInvalidArgument, "by must be one of errors, flaps, stall");
  const auto limit = target.number("limit");
  if (!limit) return tl::unexpected(limit.error());
  request.set_by(by);
  request.set_limit(*limit);
  request.set_fabric(target.parameter("fabric"));
  return request;
}

Result<v1::ListWorstRequest> worst_request(const HttpTarget& target) {
  v1::ListWorstRequest request;
  auto of = v1::ListWorstRequest::CABLES;
  const std::string given = upper(target.parameter("of"));
  if ((!given.empty() && !v1::ListWorstRequest::Of_Parse(given, &of)) || of == v1::ListWorstRequest::OF_UNSPECIFIED)
    return fail(ErrorCode::kInvalidArgument, "of must be one of cables, modules, hosts, switches");
  auto by = v1::ListWorstRequest::HARM;
  const std::string order = upper(target.parameter("by"));
  if ((!order.empty() && !v1::ListWorstRequest::Order_Parse(order, &by)) ||
      by == v1::ListWorstRequest::ORDER_UNSPECIFIED)
    return fail(ErrorCode::kInvalidArgument, "by must be one of harm, jobs, critical, times");
  const auto limit = target.number("limit");
  if (!limit) return tl::unexpected(limit.error());
  if (const auto good = set_times(target, request); !good) return tl::unexpected(good.error());
  request.set_of(of);
  request.set_by(by);
  request.set_limit(*limit);
  request.set_fabric(target.parameter("fabric"));
  return request;
}

Result<v1::ListAuditRequest> audit_request(const HttpTarget& target) {
  v1::ListAuditRequest request;
  if (const auto good = set_times(target, request); !good) return tl::unexpected(good.error());
  const auto page_size = target.number("page_size");
  if (!page_size) return tl::unexpected(page_size.error());
  request.set_page_size(*page_size);
  request.set_page_token(target.parameter("page_token"));
  request.set_who(target.parameter("who"));
  request.set_what(target.parameter("what"));
  request.set_shard(target.parameter("shard"));
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

Result<v1::ListAcceptancesRequest> acceptances_request(const HttpTarget& target) {
  const std::string state = target.parameter("state");
  if (!state.empty() && state != "all" && state != "running")
    return fail(ErrorCode::kInvalidArgument, "state must be running or all");
  v1::ListAcceptancesRequest request;
  request.set_running(state == "running");
  request.set_host(target.parameter("host"));
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
  request.set_contains(target.parameter("contains"));
  return request;
}

v1::ListCollectorsRequest collectors_request(const HttpTarget& target) {
  v1::ListCollectorsRequest request;
  if (std::string host = target.parameter("host"); !host.empty()) request.add_hosts(std::move(host));
  request.set_job(target.parameter("job"));
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

v1::GetDriftRequest drift_request(const HttpTarget& target) {
  v1::GetDriftRequest request;
  request.set_fact(target.parameter("fact"));
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
