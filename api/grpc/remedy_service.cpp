// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/remedy_service.hpp"

#include <utility>

#include "api/convert/audit_search.hpp"
#include "api/convert/commands.hpp"
#include "api/convert/plans.hpp"
#include "api/grpc/answer.hpp"
#include "api/grpc/command_call.hpp"
#include "api/grpc/feeds.hpp"
#include "api/grpc/site_call.hpp"
#include "api/grpc/site_feed.hpp"

namespace weft::api {
namespace {

using PlanCall = CommandCall<Plan, v1::Plan>;
using StatusCall = CommandCall<RemedyStatus, v1::RemedyStatus>;

constexpr std::size_t kLongestTarget = 256;  ///< bytes; a NodeDescription has 64, a host's name at most 253

template <typename Request>
RemedyWish wish_of(RemedyAction action, const std::string& target, const Request& request) {
  return {
      .action = action, .target = target, .why = request.reason(), .who = request.who(), .dry_run = request.dry_run()};
}

}  // namespace

grpc::ServerUnaryReactor* RemedyService::ListPlans(grpc::CallbackServerContext* context,
                                                   const v1::ListPlansRequest* request,
                                                   v1::ListPlansResponse* response) {
  if (is_for_site(site_, *context))
    return ask_site(response, [&](auto done) { site_->list_plans(*request, std::move(done)); });
  return answer(context, list_plans(*publication_.load(), *request), response);
}

grpc::ServerUnaryReactor* RemedyService::GetPlan(grpc::CallbackServerContext* context,
                                                 const v1::GetPlanRequest* request, v1::Plan* response) {
  if (is_for_site(site_, *context))
    return ask_site(response, [&](auto done) { site_->get_plan(request->id(), std::move(done)); });
  return answer(context, get_plan(*publication_.load(), request->id()), response);
}

grpc::ServerWriteReactor<v1::WatchPlansResponse>* RemedyService::WatchPlans(grpc::CallbackServerContext* context,
                                                                            const v1::WatchPlansRequest* request) {
  return watch_site<PlanNews>(site_, *context, hall_, PlanFeed(*request),
                              [all = request->include_ended()](const v1::WatchPlansResponse& event, bool is_first) {
                                return all || !is_first || event.plan().state() < v1::Plan::COMMITTED;
                              });
}

grpc::ServerUnaryReactor* RemedyService::ApprovePlan(grpc::CallbackServerContext* context,
                                                     const v1::ApprovePlanRequest* request, v1::Plan* response) {
  const auto id = plan_id(request->id());
  if (!id) return answer<v1::Plan>(context, tl::unexpected(id.error()), response);
  if (const auto claim = check_claim(request->who()); !claim)
    return answer<v1::Plan>(context, tl::unexpected(claim.error()), response);
  auto* call = new PlanCall(response, in_shard<Plan, v1::Plan>(to_proto, own_shard(*publication_.load())));
  commands_.approve(*id, request->revision(), callers_.who(request->who(), *context), call->callback());
  return call;
}

template <typename Request>
grpc::ServerUnaryReactor* RemedyService::end_plan(grpc::CallbackServerContext* context, const Request& request,
                                                  EndPlan end, v1::Plan* response) {
  const auto id = plan_id(request.id());
  if (!id) return answer<v1::Plan>(context, tl::unexpected(id.error()), response);
  auto reason = given_reason(request.reason());
  if (!reason) return answer<v1::Plan>(context, tl::unexpected(reason.error()), response);
  if (const auto claim = check_claim(request.who()); !claim)
    return answer<v1::Plan>(context, tl::unexpected(claim.error()), response);
  auto* call = new PlanCall(response, in_shard<Plan, v1::Plan>(to_proto, own_shard(*publication_.load())));
  (commands_.*end)(*id, std::move(*reason), callers_.who(request.who(), *context), call->callback());
  return call;
}

grpc::ServerUnaryReactor* RemedyService::RejectPlan(grpc::CallbackServerContext* context,
                                                    const v1::RejectPlanRequest* request, v1::Plan* response) {
  return end_plan(context, *request, &RemedyCommands::reject, response);
}

grpc::ServerUnaryReactor* RemedyService::AbortPlan(grpc::CallbackServerContext* context,
                                                   const v1::AbortPlanRequest* request, v1::Plan* response) {
  const EndPlan end = request->leave_in_service() ? &RemedyCommands::leave : &RemedyCommands::abort;
  return end_plan(context, *request, end, response);
}

grpc::ServerUnaryReactor* RemedyService::request_plan(grpc::CallbackServerContext* context, RemedyWish wish,
                                                      const Result<std::string>& reason, v1::Plan* response) {
  const bool of_node = wish.action == RemedyAction::kDrainNode || wish.action == RemedyAction::kUndrainNode;
  if (wish.target.empty() || wish.target.size() > kLongestTarget)
    return answer<v1::Plan>(
        context, fail(ErrorCode::kInvalidArgument, of_node ? "name one host" : "name one end of the link: leaf-1:7"),
        response);
  // Who only looks need not say why.
  if (!reason && !(wish.dry_run && wish.why.empty()))
    return answer<v1::Plan>(context, tl::unexpected(reason.error()), response);
  if (const auto claim = check_claim(wish.who); !claim)
    return answer<v1::Plan>(context, tl::unexpected(claim.error()), response);
  wish.who = callers_.who(wish.who, *context);
  auto* call = new PlanCall(response, in_shard<Plan, v1::Plan>(to_proto, own_shard(*publication_.load())));
  auto done = or_owner<Plan>(site_, wish.target, call->callback());
  commands_.request(std::move(wish), std::move(done));
  return call;
}

grpc::ServerUnaryReactor* RemedyService::IsolateLink(grpc::CallbackServerContext* context,
                                                     const v1::IsolateLinkRequest* request, v1::Plan* response) {
  return request_plan(context, wish_of(RemedyAction::kIsolateLink, request->link(), *request),
                      given_reason(request->reason()), response);
}

grpc::ServerUnaryReactor* RemedyService::RestoreLink(grpc::CallbackServerContext* context,
                                                     const v1::RestoreLinkRequest* request, v1::Plan* response) {
  return request_plan(context, wish_of(RemedyAction::kRestoreLink, request->link(), *request),
                      short_enough_reason(request->reason()), response);
}

grpc::ServerUnaryReactor* RemedyService::RaiseLinkCost(grpc::CallbackServerContext* context,
                                                       const v1::RaiseLinkCostRequest* request, v1::Plan* response) {
  return request_plan(context, wish_of(RemedyAction::kRaiseLinkCost, request->link(), *request),
                      given_reason(request->reason()), response);
}

grpc::ServerUnaryReactor* RemedyService::LowerLinkCost(grpc::CallbackServerContext* context,
                                                       const v1::LowerLinkCostRequest* request, v1::Plan* response) {
  RemedyWish wish = wish_of(RemedyAction::kRestoreLink, request->link(), *request);
  wish.only_cost = true;
  return request_plan(context, std::move(wish), short_enough_reason(request->reason()), response);
}

grpc::ServerUnaryReactor* RemedyService::DrainNode(grpc::CallbackServerContext* context,
                                                   const v1::DrainNodeRequest* request, v1::Plan* response) {
  return request_plan(context, wish_of(RemedyAction::kDrainNode, request->node(), *request),
                      given_reason(request->reason()), response);
}

grpc::ServerUnaryReactor* RemedyService::UndrainNode(grpc::CallbackServerContext* context,
                                                     const v1::UndrainNodeRequest* request, v1::Plan* response) {
  return request_plan(context, wish_of(RemedyAction::kUndrainNode, request->node(), *request),
                      short_enough_reason(request->reason()), response);
}

grpc::ServerUnaryReactor* RemedyService::SetHandsOff(grpc::CallbackServerContext* context,
                                                     const v1::SetHandsOffRequest* request,
                                                     v1::RemedyStatus* response) {
  auto reason = given_reason(request->reason());
  if (!reason) return answer<v1::RemedyStatus>(context, tl::unexpected(reason.error()), response);
  if (const auto claim = check_claim(request->who()); !claim)
    return answer<v1::RemedyStatus>(context, tl::unexpected(claim.error()), response);
  auto* call = new StatusCall(response, to_proto);
  commands_.set_hands_off(request->hands_off(), std::move(*reason), callers_.who(request->who(), *context),
                          call->callback());
  return call;
}

grpc::ServerUnaryReactor* RemedyService::ResetBreaker(grpc::CallbackServerContext* context,
                                                      const v1::ResetBreakerRequest* request,
                                                      v1::RemedyStatus* response) {
  auto reason = given_reason(request->reason());
  if (!reason) return answer<v1::RemedyStatus>(context, tl::unexpected(reason.error()), response);
  if (const auto claim = check_claim(request->who()); !claim)
    return answer<v1::RemedyStatus>(context, tl::unexpected(claim.error()), response);
  auto* call = new StatusCall(response, to_proto);
  commands_.reset_breaker(std::move(*reason), callers_.who(request->who(), *context), call->callback());
  return call;
}

grpc::ServerUnaryReactor* RemedyService::GetStatus(grpc::CallbackServerContext* context,
                                                   const v1::GetRemedyStatusRequest*, v1::RemedyStatus* response) {
  return answer(context, Result<v1::RemedyStatus>(remedy_status(*publication_.load())), response);
}

grpc::ServerUnaryReactor* RemedyService::ListAudit(grpc::CallbackServerContext* context,
                                                   const v1::ListAuditRequest* request,
                                                   v1::ListAuditResponse* response) {
  if (is_for_site(site_, *context))
    return ask_site(response, [&](auto done) {
      site_->list_audit(
          *request, [this](const auto& asked, const auto& take) { search_audit(commands_, asked, take); },
          std::move(done));
    });
  return ask_site(response, [&](auto done) { search_audit(commands_, *request, std::move(done)); });
}

}  // namespace weft::api
