// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/maintenance_service.hpp"

#include "api/convert/commands.hpp"
#include "api/convert/maintenance.hpp"
#include "api/grpc/command_call.hpp"
#include "api/grpc/site_call.hpp"

namespace weft::api {
namespace {

using Call = CommandCall<MaintenanceWindow, v1::MaintenanceWindow>;

Call* waiting_call(const Snapshot& snapshot, const Clock& clock, v1::MaintenanceWindow* response) {
  return new Call(
      response, [&clock, shard = own_shard(snapshot)](const MaintenanceWindow& window, v1::MaintenanceWindow& message) {
        to_proto(window, clock.now(), message);
        message.set_shard(shard);
      });
}

}  // namespace

grpc::ServerUnaryReactor* MaintenanceService::List(grpc::CallbackServerContext* context,
                                                   const v1::ListMaintenanceRequest* request,
                                                   v1::ListMaintenanceResponse* response) {
  if (is_for_site(site_, *context))
    return ask_site(response, [&](auto done) { site_->list_maintenance(*request, std::move(done)); });
  return answer(context, list_maintenance(*publication_.load(), *request, clock_.now()), response);
}

grpc::ServerUnaryReactor* MaintenanceService::Get(grpc::CallbackServerContext* context,
                                                  const v1::GetMaintenanceRequest* request,
                                                  v1::MaintenanceWindow* response) {
  if (is_for_site(site_, *context))
    return ask_site(response, [&](auto done) { site_->get_maintenance(request->id(), std::move(done)); });
  return answer(context, get_maintenance(*publication_.load(), request->id(), clock_.now()), response);
}

grpc::ServerUnaryReactor* MaintenanceService::Add(grpc::CallbackServerContext* context,
                                                  const v1::AddMaintenanceRequest* request,
                                                  v1::MaintenanceWindow* response) {
  auto window = wanted_maintenance(*publication_.load(), *request, clock_.now());
  if (!window && site_ != nullptr) {
    const auto refuse = [&](const auto& done) {
      or_owner<v1::MaintenanceWindow>(site_, request->what() == "fabric" ? request->fabric() : request->what(),
                                      done)(tl::unexpected(window.error()));
    };
    return ask_site(response, refuse);
  }
  if (!window) return answer<v1::MaintenanceWindow>(context, tl::unexpected(window.error()), response);
  if (const auto claim = check_claim(request->who()); !claim)
    return answer<v1::MaintenanceWindow>(context, tl::unexpected(claim.error()), response);
  if (const auto kept = keep_reason(*window); !kept)
    return answer<v1::MaintenanceWindow>(context, tl::unexpected(kept.error()), response);
  window->added_by = callers_.who(request->who(), *context);
  Call* call = waiting_call(*publication_.load(), clock_, response);
  commands_.add_maintenance(std::move(*window), call->callback());
  return call;
}

grpc::ServerUnaryReactor* MaintenanceService::End(grpc::CallbackServerContext* context,
                                                  const v1::EndMaintenanceRequest* request,
                                                  v1::MaintenanceWindow* response) {
  const auto id = parse_maintenance_name(request->id());
  if (!id)
    return answer<v1::MaintenanceWindow>(
        context, fail(ErrorCode::kInvalidArgument, "a maintenance window's id must be like MW-3"), response);
  if (const auto claim = check_claim(request->who()); !claim)
    return answer<v1::MaintenanceWindow>(context, tl::unexpected(claim.error()), response);
  Call* call = waiting_call(*publication_.load(), clock_, response);
  commands_.end_maintenance(*id, callers_.who(request->who(), *context), call->callback());
  return call;
}

}  // namespace weft::api
