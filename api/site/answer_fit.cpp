// SPDX-License-Identifier: Apache-2.0
#include "api/site/answer_fit.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

#include "api/publication/utf8.hpp"
#include "fabric/acceptance.hpp"
#include "fabric/incident.hpp"
#include "fabric/maintenance.hpp"
#include "fabric/plan.hpp"

namespace weft::api {
namespace {

using Parse = std::optional<std::uint64_t>(std::string_view);

/// Of the id in an answer.
std::string check_id(const Site& site, const SiteShard& shard, Parse parse, const std::string& id) {
  constexpr std::size_t kMostShown = 40;
  const auto number = parse(id);
  if (!number) return "it names something \"" + id.substr(0, kMostShown) + '"';
  const SiteShard* const owner = site.owner_of(*number);
  if (owner != nullptr && owner->name == shard.name) return {};
  return "it names " + id + ", which " + (owner == nullptr ? "no shard" : "shard " + owner->name) + " would give";
}

/// Of each of many.
template <typename Entries>
std::string check_ids(const Site& site, const SiteShard& shard, Parse parse, const Entries& entries) {
  for (const auto& entry : entries)
    if (std::string why = check_id(site, shard, parse, entry.id()); !why.empty()) return why;
  return {};
}

/// Of what was asked for by its id. A person may write it otherwise.
std::string check_one(Parse parse, const std::string& asked, const std::string& told) {
  if (parse(asked) == parse(told)) return {};
  return "it tells of something else than " + valid_utf8(asked);
}

/// Of nodes that were asked for by name.
template <typename Asked, typename Told>
std::string check_names(const Asked& asked, const Told& told) {
  if (asked.size() != told.size())
    return "it tells of " + std::to_string(told.size()) + " nodes, asked for " + std::to_string(asked.size());
  for (int i = 0; i < asked.size(); ++i)
    if (told.Get(i).node() != valid_utf8(asked.Get(i))) return "it tells of other nodes than it was asked for";
  return {};
}

}  // namespace

std::string misfit(const Site&, const SiteShard&, const v1::GetHealthRequest&, const v1::NodeHealth& response) {
  return response.node().empty() ? "it tells of no node" : "";
}

std::string misfit(const Site&, const SiteShard&, const v1::BatchGetHealthRequest& request,
                   const v1::BatchGetHealthResponse& response) {
  return check_names(request.nodes(), response.nodes());
}

std::string misfit(const Site&, const SiteShard&, const v1::GetJobHealthRequest& request,
                   const v1::JobHealth& response) {
  if (response.job() != valid_utf8(request.job())) return "it tells of another job";
  return request.nodes().empty() ? "" : check_names(request.nodes(), response.nodes());
}

std::string misfit(const Site& site, const SiteShard& shard, const v1::ListIncidentsRequest&,
                   const v1::ListIncidentsResponse& response) {
  return check_ids(site, shard, parse_incident_name, response.incidents());
}

std::string misfit(const Site&, const SiteShard&, const v1::GetIncidentRequest& request, const v1::Incident& response) {
  return check_one(parse_incident_name, request.id(), response.id());
}

std::string misfit(const Site&, const SiteShard&, const v1::GetIncidentRequest& request,
                   const v1::IncidentTimeline& response) {
  return check_one(parse_incident_name, request.id(), response.incident_id());
}

std::string misfit(const Site&, const SiteShard&, const v1::GetEvidenceRequest& request,
                   const v1::EvidencePack& response) {
  if (request.incident_id().empty()) return {};
  return check_one(parse_incident_name, request.incident_id(), response.incident().id());
}

std::string misfit(const Site& site, const SiteShard& shard, const v1::WatchIncidentsRequest&,
                   const v1::WatchIncidentsResponse& response) {
  return response.has_incident() ? check_id(site, shard, parse_incident_name, response.incident().id()) : "";
}

std::string misfit(const Site& site, const SiteShard& shard, const v1::ListPlansRequest&,
                   const v1::ListPlansResponse& response) {
  return check_ids(site, shard, parse_plan_name, response.plans());
}

std::string misfit(const Site&, const SiteShard&, const v1::GetPlanRequest& request, const v1::Plan& response) {
  return check_one(parse_plan_name, request.id(), response.id());
}

std::string misfit(const Site& site, const SiteShard& shard, const v1::WatchPlansRequest&,
                   const v1::WatchPlansResponse& response) {
  return response.has_plan() ? check_id(site, shard, parse_plan_name, response.plan().id()) : "";
}

std::string misfit(const Site& site, const SiteShard& shard, const v1::ListMaintenanceRequest&,
                   const v1::ListMaintenanceResponse& response) {
  return check_ids(site, shard, parse_maintenance_name, response.windows());
}

std::string misfit(const Site&, const SiteShard&, const v1::GetMaintenanceRequest& request,
                   const v1::MaintenanceWindow& response) {
  return check_one(parse_maintenance_name, request.id(), response.id());
}

std::string misfit(const Site& site, const SiteShard& shard, const v1::ListAcceptancesRequest&,
                   const v1::ListAcceptancesResponse& response) {
  return check_ids(site, shard, parse_acceptance_name, response.acceptances());
}

std::string misfit(const Site&, const SiteShard&, const v1::GetAcceptanceRequest& request,
                   const v1::Acceptance& response) {
  return check_one(parse_acceptance_name, request.id(), response.id());
}

}  // namespace weft::api
