// SPDX-License-Identifier: Apache-2.0
#pragma once
// What another shard may answer to a question. What it may not is not believed: the shard is missing then. Pure.

#include <concepts>
#include <string>

#include "fabric/result.hpp"
#include "fabric/site.hpp"
#include "weft/v1/acceptance.pb.h"
#include "weft/v1/evidence.pb.h"
#include "weft/v1/fabric.pb.h"
#include "weft/v1/health.pb.h"
#include "weft/v1/history.pb.h"
#include "weft/v1/incident.pb.h"
#include "weft/v1/maintenance.pb.h"
#include "weft/v1/remedy.pb.h"

namespace weft::api {

/// Whether a shard may not know what the question names. Only then is NOT_FOUND an answer.
template <typename Request>
bool may_be_unknown(const Request& request) {
  if constexpr (std::same_as<Request, v1::GetJobHealthRequest>)
    return request.nodes().empty();
  else if constexpr (std::same_as<Request, v1::ListPortsRequest>)
    return !request.fabric().empty() || !request.node().empty();
  else if constexpr (std::same_as<Request, v1::ListNodesRequest> || std::same_as<Request, v1::ListLinksRequest> ||
                     std::same_as<Request, v1::ListWorstLinksRequest> || std::same_as<Request, v1::ListWorstRequest> ||
                     std::same_as<Request, v1::GetTopologyRequest> ||
                     std::same_as<Request, v1::GetCablingDifferencesRequest>)
    return !request.fabric().empty();
  else
    return std::same_as<Request, v1::GetHealthRequest> || std::same_as<Request, v1::GetNodeRequest> ||
           std::same_as<Request, v1::GetPathRequest> || std::same_as<Request, v1::GetIncidentRequest> ||
           std::same_as<Request, v1::GetPlanRequest> || std::same_as<Request, v1::GetMaintenanceRequest> ||
           std::same_as<Request, v1::GetAcceptanceRequest> || std::same_as<Request, v1::GetPortHistoryRequest> ||
           std::same_as<Request, v1::GetStallMapRequest> || std::same_as<Request, v1::GetEvidenceRequest>;
}

/// Whether an error is an answer to a question that this weftd would not refuse: something is not known there, a trail
/// is damaged, or the shard knows what is meant and cannot tell it.
template <typename Request>
bool may_answer(const Request& request, ErrorCode code) {
  if (code == ErrorCode::kNotFound) return may_be_unknown(request);
  if (code == ErrorCode::kCorrupt) return std::same_as<Request, v1::ListAuditRequest>;
  return code == ErrorCode::kFailedPrecondition &&
         (std::same_as<Request, v1::GetPathRequest> || std::same_as<Request, v1::GetPortHistoryRequest> ||
          std::same_as<Request, v1::GetStallMapRequest> || std::same_as<Request, v1::GetEvidenceRequest>);
}

/// Why that is no answer of that shard to the question; empty: it may be one. Ids have the shard's number, and answers
/// are about what was asked for.
template <typename Request, typename Response>
std::string misfit(const Site& /*site*/, const SiteShard& /*shard*/, const Request& /*request*/,
                   const Response& /*response*/) {
  return {};
}
std::string misfit(const Site& site, const SiteShard& shard, const v1::GetHealthRequest& request,
                   const v1::NodeHealth& response);
std::string misfit(const Site& site, const SiteShard& shard, const v1::BatchGetHealthRequest& request,
                   const v1::BatchGetHealthResponse& response);
std::string misfit(const Site& site, const SiteShard& shard, const v1::GetJobHealthRequest& request,
                   const v1::JobHealth& response);
std::string misfit(const Site& site, const SiteShard& shard, const v1::ListIncidentsRequest& request,
                   const v1::ListIncidentsResponse& response);
std::string misfit(const Site& site, const SiteShard& shard, const v1::GetIncidentRequest& request,
                   const v1::Incident& response);
std::string misfit(const Site& site, const SiteShard& shard, const v1::GetIncidentRequest& request,
                   const v1::IncidentTimeline& response);
std::string misfit(const Site& site, const SiteShard& shard, const v1::GetEvidenceRequest& request,
                   const v1::EvidencePack& response);
std::string misfit(const Site& site, const SiteShard& shard, const v1::WatchIncidentsRequest& request,
                   const v1::WatchIncidentsResponse& response);
std::string misfit(const Site& site, const SiteShard& shard, const v1::ListPlansRequest& request,
                   const v1::ListPlansResponse& response);
std::string misfit(const Site& site, const SiteShard& shard, const v1::GetPlanRequest& request,
                   const v1::Plan& response);
std::string misfit(const Site& site, const SiteShard& shard, const v1::WatchPlansRequest& request,
                   const v1::WatchPlansResponse& response);
std::string misfit(const Site& site, const SiteShard& shard, const v1::ListMaintenanceRequest& request,
                   const v1::ListMaintenanceResponse& response);
std::string misfit(const Site& site, const SiteShard& shard, const v1::GetMaintenanceRequest& request,
                   const v1::MaintenanceWindow& response);
std::string misfit(const Site& site, const SiteShard& shard, const v1::ListAcceptancesRequest& request,
                   const v1::ListAcceptancesResponse& response);
std::string misfit(const Site& site, const SiteShard& shard, const v1::GetAcceptanceRequest& request,
                   const v1::Acceptance& response);

/// Why a question was not answered, for people: `why`, with the name of the question.
template <typename Request>
std::string unanswered(const std::string& why) {
  std::string question(Request::descriptor()->name());
  if (question.ends_with("Request")) question.resize(question.size() - std::string("Request").size());
  constexpr std::size_t kMostShown = 200;
  return "it does not answer " + question + ": " + why.substr(0, kMostShown);
}
/// The `why` of an answer that is no message of its kind.
inline constexpr const char* kUnreadable = "what it says cannot be read";

}  // namespace weft::api
