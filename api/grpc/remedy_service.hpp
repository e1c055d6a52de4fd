// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "api/grpc/callers.hpp"
#include "api/grpc/watch_dispatcher.hpp"
#include "api/publication/commands.hpp"
#include "api/publication/publication.hpp"
#include "api/site/site_queries.hpp"
#include "weft/v1/remedy.grpc.pb.h"

namespace weft::api {

/// weft.v1.RemedyService: reads the published snapshot, passes commands on.
class RemedyService final : public v1::RemedyService::CallbackService {
 public:
  RemedyService(const Publication& publication, RemedyCommands& commands, WatchDispatcher& hall, const Callers& callers,
                const SiteQueries* site = nullptr)
      : publication_(publication), commands_(commands), hall_(hall), callers_(callers), site_(site) {}

  grpc::ServerUnaryReactor* ListPlans(grpc::CallbackServerContext* context, const v1::ListPlansRequest* request,
                                      v1::ListPlansResponse* response) override;
  grpc::ServerUnaryReactor* GetPlan(grpc::CallbackServerContext* context, const v1::GetPlanRequest* request,
                                    v1::Plan* response) override;
  grpc::ServerWriteReactor<v1::WatchPlansResponse>* WatchPlans(grpc::CallbackServerContext* context,
                                                               const v1::WatchPlansRequest* request) override;
  grpc::ServerUnaryReactor* ApprovePlan(grpc::CallbackServerContext* context, const v1::ApprovePlanRequest* request,
                                        v1::Plan* response) override;
  grpc::ServerUnaryReactor* AbortPlan(grpc::CallbackServerContext* context, const v1::AbortPlanRequest* request,
                                      v1::Plan* response) override;
  grpc::ServerUnaryReactor* RejectPlan(grpc::CallbackServerContext* context, const v1::RejectPlanRequest* request,
                                       v1::Plan* response) override;
  grpc::ServerUnaryReactor* IsolateLink(grpc::CallbackServerContext* context, const v1::IsolateLinkRequest* request,
                                        v1::Plan* response) override;
  grpc::ServerUnaryReactor* RestoreLink(grpc::CallbackServerContext* context, const v1::RestoreLinkRequest* request,
                                        v1::Plan* response) override;
  grpc::ServerUnaryReactor* RaiseLinkCost(grpc::CallbackServerContext* context, const v1::RaiseLinkCostRequest* request,
                                          v1::Plan* response) override;
  grpc::ServerUnaryReactor* LowerLinkCost(grpc::CallbackServerContext* context, const v1::LowerLinkCostRequest* request,
                                          v1::Plan* response) override;
  grpc::ServerUnaryReactor* DrainNode(grpc::CallbackServerContext* context, const v1::DrainNodeRequest* request,
                                      v1::Plan* response) override;
  grpc::ServerUnaryReactor* UndrainNode(grpc::CallbackServerContext* context, const v1::UndrainNodeRequest* request,
                                        v1::Plan* response) override;
  grpc::ServerUnaryReactor* SetHandsOff(grpc::CallbackServerContext* context, const v1::SetHandsOffRequest* request,
                                        v1::RemedyStatus* response) override;
  grpc::ServerUnaryReactor* ResetBreaker(grpc::CallbackServerContext* context, const v1::ResetBreakerRequest* request,
                                         v1::RemedyStatus* response) override;
  grpc::ServerUnaryReactor* GetStatus(grpc::CallbackServerContext* context, const v1::GetRemedyStatusRequest* request,
                                      v1::RemedyStatus* response) override;
  grpc::ServerUnaryReactor* ListAudit(grpc::CallbackServerContext* context, const v1::ListAuditRequest* request,
                                      v1::ListAuditResponse* response) override;

 private:
  using EndPlan = void (RemedyCommands::*)(std::uint64_t, std::string, std::string, RemedyCommands::PlanCallback);
  /// Passes a request to end a plan, with its checked reason, to `end`.
  template <typename Request>
  grpc::ServerUnaryReactor* end_plan(grpc::CallbackServerContext* context, const Request& request, EndPlan end,
                                     v1::Plan* response);
  /// A plan that a person wishes; `wish` has the claim of who it is, and `reason` is what became of its reason.
  grpc::ServerUnaryReactor* request_plan(grpc::CallbackServerContext* context, RemedyWish wish,
                                         const Result<std::string>& reason, v1::Plan* response);

  const Publication& publication_;
  RemedyCommands& commands_;
  WatchDispatcher& hall_;
  const Callers& callers_;
  const SiteQueries* site_;
};

}  // namespace weft::api
