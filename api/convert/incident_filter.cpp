// SPDX-License-Identifier: Apache-2.0
#include "api/convert/incident_filter.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "api/convert/incidents.hpp"
#include "api/convert/pages.hpp"
#include "api/convert/text_search.hpp"
#include "api/convert/times.hpp"

namespace weft::api {
namespace {

bool is_named(const Entity& entity, std::string_view part) {
  if (contains_name(entity.label, part) || contains_name(entity.host, part) || contains_name(entity.fabric, part))
    return true;
  const bool has_node =
      entity.kind == EntityKind::kNode || entity.kind == EntityKind::kPort || entity.kind == EntityKind::kLink;
  return has_node && (contains_name(to_string(entity.port.node), part) ||
                      (entity.kind == EntityKind::kLink && contains_name(to_string(entity.peer.node), part)));
}

bool concerns(const Incident& incident, const std::string& entity) {
  return entity.empty() || is_named(incident.finding.cause, entity) ||
         std::ranges::any_of(incident.finding.affected, [&](const Entity& each) { return is_named(each, entity); });
}

bool hurts(const Incident& incident, const std::string& job) {
  return job.empty() ||
         std::ranges::any_of(incident.finding.jobs, [&](const std::string& each) { return is_job(each, job); });
}

}  // namespace

bool is_wanted(const Incident& incident, const v1::ListIncidentsRequest& request) {
  if (!wanted(request.states(), to_proto(incident.state)) ||
      !wanted(request.kinds(), to_proto(incident.finding.kind)) ||
      !wanted(request.severities(), to_proto(incident.listed_severity())))
    return false;
  if (request.has_to() && incident.opened >= from_timestamp(request.to())) return false;
  if (request.has_from() && !incident.is_open() && incident.resolved < from_timestamp(request.from())) return false;
  return concerns(incident, request.entity()) && hurts(incident, request.job());
}

}  // namespace weft::api
