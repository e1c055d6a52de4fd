// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "api/access/access.hpp"

// The table itself. Who adds a method or a route adds its line here: without one it is served to nobody.

namespace weft::api::access {
namespace {

constexpr std::array kMethods{
    Permission{"/weft.v1.AcceptanceService/List", Right::kViewer},
    Permission{"/weft.v1.AcceptanceService/Get", Right::kViewer},
    Permission{"/weft.v1.AcceptanceService/Judge", Right::kViewer},
    Permission{"/weft.v1.AcceptanceService/Start", Right::kOperator},
    Permission{"/weft.v1.AcceptanceService/End", Right::kOperator},
    // Whoever has a token may come in for good.
    Permission{"/weft.v1.EnrollService/MakeTokens", Right::kAdmin},
    Permission{"/weft.v1.EnrollService/ListTokens", Right::kViewer},
    Permission{"/weft.v1.EnrollService/RevokeTokens", Right::kAdmin},
    // Its token is asked for there: the node has nothing else yet.
    Permission{"/weft.v1.EnrollService/Enroll", Right::kNone},
    Permission{"/weft.v1.EnrollService/Renew", Right::kCollector},
    Permission{"/weft.v1.EvidenceService/GetEvidence", Right::kViewer},
    Permission{"/weft.v1.FabricService/GetStatus", Right::kViewer},
    Permission{"/weft.v1.FabricService/GetTopology", Right::kViewer},
    Permission{"/weft.v1.FabricService/ListNodes", Right::kViewer},
    Permission{"/weft.v1.FabricService/GetNode", Right::kViewer},
    Permission{"/weft.v1.FabricService/ListPorts", Right::kViewer},
    Permission{"/weft.v1.FabricService/ListLinks", Right::kViewer},
    Permission{"/weft.v1.FabricService/ListWorstLinks", Right::kViewer},
    Permission{"/weft.v1.FabricService/ListWorst", Right::kViewer},
    Permission{"/weft.v1.FabricService/GetPath", Right::kViewer},
    Permission{"/weft.v1.FabricService/GetCablingDifferences", Right::kViewer},
    Permission{"/weft.v1.FabricService/GetDrift", Right::kViewer},
    Permission{"/weft.v1.FabricService/Watch", Right::kViewer},
    Permission{"/weft.v1.FabricService/GetMap", Right::kViewer},
    Permission{"/weft.v1.HealthService/Get", Right::kViewer},
    Permission{"/weft.v1.HealthService/List", Right::kViewer},
    Permission{"/weft.v1.HealthService/Watch", Right::kViewer},
    Permission{"/weft.v1.HealthService/BatchGet", Right::kViewer},
    Permission{"/weft.v1.HealthService/GetJobHealth", Right::kViewer},
    Permission{"/weft.v1.HistoryService/GetPortHistory", Right::kViewer},
    Permission{"/weft.v1.HistoryService/GetStallMap", Right::kViewer},
    Permission{"/weft.v1.IncidentService/List", Right::kViewer},
    Permission{"/weft.v1.IncidentService/Get", Right::kViewer},
    Permission{"/weft.v1.IncidentService/GetTimeline", Right::kViewer},
    Permission{"/weft.v1.IncidentService/Watch", Right::kViewer},
    Permission{"/weft.v1.IncidentService/Acknowledge", Right::kOperator},
    Permission{"/weft.v1.IncidentService/Silence", Right::kOperator},
    Permission{"/weft.v1.MaintenanceService/List", Right::kViewer},
    Permission{"/weft.v1.MaintenanceService/Get", Right::kViewer},
    Permission{"/weft.v1.MaintenanceService/Add", Right::kOperator},
    Permission{"/weft.v1.MaintenanceService/End", Right::kOperator},
    Permission{"/weft.v1.RemedyService/ListPlans", Right::kViewer},
    Permission{"/weft.v1.RemedyService/GetPlan", Right::kViewer},
    Permission{"/weft.v1.RemedyService/WatchPlans", Right::kViewer},
    Permission{"/weft.v1.RemedyService/ApprovePlan", Right::kOperator},
    Permission{"/weft.v1.RemedyService/RejectPlan", Right::kOperator},
    Permission{"/weft.v1.RemedyService/AbortPlan", Right::kOperator},
    Permission{"/weft.v1.RemedyService/IsolateLink", Right::kOperator},
    Permission{"/weft.v1.RemedyService/RestoreLink", Right::kOperator},
    Permission{"/weft.v1.RemedyService/RaiseLinkCost", Right::kOperator},
    Permission{"/weft.v1.RemedyService/LowerLinkCost", Right::kOperator},
    Permission{"/weft.v1.RemedyService/DrainNode", Right::kOperator},
    Permission{"/weft.v1.RemedyService/UndrainNode", Right::kOperator},
    // Whoever is on duty must be able to stop everything at once; that it goes on again stands in the audit trail.
    Permission{"/weft.v1.RemedyService/SetHandsOff", Right::kOperator},
    Permission{"/weft.v1.RemedyService/ResetBreaker", Right::kAdmin},
    Permission{"/weft.v1.RemedyService/GetStatus", Right::kViewer},
    Permission{"/weft.v1.RemedyService/ListAudit", Right::kViewer},
    // All that is kept, also of what a viewer sees only a part.
    Permission{"/weft.v1.StoreService/Backup", Right::kAdmin},
    Permission{"/weft.v1.TelemetryService/Stream", Right::kCollector},
    Permission{"/weft.v1.TelemetryService/ListCollectors", Right::kViewer},
    Permission{"/opentelemetry.proto.collector.metrics.v1.MetricsService/Export", Right::kCollector},
    // As /healthz and /readyz: a probe has no secrets.
    Permission{"/grpc.health.v1.Health/Check", Right::kNone},
    Permission{"/grpc.health.v1.Health/Watch", Right::kNone},
    Permission{"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", Right::kViewer},
};

constexpr std::array kRoutes{
    Permission{"GET /healthz", Right::kNone},
    Permission{"GET /readyz", Right::kNone},
    Permission{"GET /metrics", Right::kViewer, "collect[] names"},
    // The page itself tells nothing: it asks for what it shows.
    Permission{"GET /", Right::kNone},
    Permission{"GET /favicon.ico", Right::kNone},
    Permission{"GET /favicon.svg", Right::kNone},
    Permission{"GET /assets/{id}", Right::kNone},
    // What every build of Weft says to everybody; who is paged reads them without a token at hand.
    Permission{"GET /runbooks", Right::kNone},
    Permission{"GET /runbooks/{id}", Right::kNone},
    Permission{"GET /plain", Right::kViewer},
    // Answers whoever shows what it holds, so that a page can tell whether to offer buttons.
    Permission{"GET /api/v1/whoami", Right::kViewer},
    Permission{"GET /api/v1/status", Right::kViewer},
    Permission{"GET /api/v1/fabrics", Right::kViewer},
    Permission{"GET /api/v1/topology", Right::kViewer, "fabric"},
    Permission{"GET /api/v1/topology/differences", Right::kViewer, "fabric"},
    Permission{"GET /api/v1/map", Right::kViewer, "shard"},
    Permission{"GET /api/v1/map/state", Right::kViewer, "shard"},
    Permission{"GET /api/v1/nodes", Right::kViewer, "contains fabric page_size page_token"},
    Permission{"GET /api/v1/nodes/{node...}/health", Right::kViewer},
    Permission{"GET /api/v1/nodes/{node...}", Right::kViewer},
    Permission{"GET /api/v1/ports", Right::kViewer, "fabric node page_size page_token"},
    Permission{"GET /api/v1/ports/{port...}/history", Right::kViewer, "counters fabric from points still to"},
    Permission{"GET /api/v1/ports/{port...}/evidence", Right::kViewer, "fabric format from jobs to"},
    Permission{"GET /api/v1/switches/stall", Right::kViewer, "fabric from points rows to"},
    Permission{"GET /api/v1/links", Right::kViewer, "contains fabric page_size page_token"},
    Permission{"GET /api/v1/links/worst", Right::kViewer, "by fabric limit"},
    Permission{"GET /api/v1/worst", Right::kViewer, "by fabric from limit of to"},
    Permission{"GET /api/v1/path", Right::kViewer, "fabric from to"},
    Permission{"GET /api/v1/health", Right::kViewer, "node page_size page_token"},
    Permission{"GET /api/v1/jobs/{job...}/health", Right::kViewer, "node"},
    Permission{"GET /api/v1/collectors", Right::kViewer, "host job readings page_size page_token"},
    Permission{"GET /api/v1/drift", Right::kViewer, "fact"},
    Permission{"GET /api/v1/incidents", Right::kViewer, "entity from job kind severity state to page_size page_token"},
    Permission{"GET /api/v1/incidents/{id}", Right::kViewer},
    Permission{"GET /api/v1/incidents/{id}/timeline", Right::kViewer},
    Permission{"GET /api/v1/incidents/{id}/evidence", Right::kViewer, "format jobs"},
    Permission{"POST /api/v1/incidents/{id}/acknowledge", Right::kOperator},
    Permission{"POST /api/v1/incidents/{id}/silence", Right::kOperator},
    Permission{"GET /api/v1/plans", Right::kViewer, "state page_size page_token"},
    Permission{"GET /api/v1/plans/{id}", Right::kViewer},
    Permission{"POST /api/v1/plans/{id}/approve", Right::kOperator},
    Permission{"POST /api/v1/plans/{id}/reject", Right::kOperator},
    Permission{"POST /api/v1/plans/{id}/abort", Right::kOperator},
    Permission{"GET /api/v1/remedy", Right::kViewer},
    Permission{"POST /api/v1/remedy/hands-off", Right::kOperator},
    Permission{"GET /api/v1/audit", Right::kViewer, "from shard to what who page_size page_token"},
    Permission{"GET /api/v1/maintenance", Right::kViewer, "state page_size page_token"},
    Permission{"GET /api/v1/maintenance/{id}", Right::kViewer},
    Permission{"POST /api/v1/maintenance", Right::kOperator},
    Permission{"POST /api/v1/maintenance/{id}/end", Right::kOperator},
    Permission{"GET /api/v1/acceptances", Right::kViewer, "host page_size page_token state"},
    Permission{"GET /api/v1/acceptances/{id}", Right::kViewer, "format"},
    Permission{"POST /api/v1/acceptances", Right::kOperator},
    // It changes nothing.
    Permission{"POST /api/v1/acceptances/judge", Right::kViewer},
    Permission{"POST /api/v1/acceptances/{id}/end", Right::kOperator},
};

}  // namespace

std::span<const Permission> grpc_permissions() {
  return kMethods;
}
std::span<const Permission> http_permissions() {
  return kRoutes;
}

}  // namespace weft::api::access
