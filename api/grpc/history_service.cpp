// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/history_service.hpp"

#include <memory>

#include "api/convert/history.hpp"
#include "api/convert/stall_map.hpp"
#include "api/grpc/command_call.hpp"
#include "api/grpc/site_call.hpp"
#include "api/site/site_history.hpp"

namespace weft::api {

grpc::ServerUnaryReactor* HistoryService::GetPortHistory(grpc::CallbackServerContext* context,
                                                         const v1::GetPortHistoryRequest* request,
                                                         v1::GetPortHistoryResponse* response) {
  const auto refuse = [&](Error error) {
    return answer<v1::GetPortHistoryResponse>(context, tl::unexpected(std::move(error)), response);
  };
  if (desk_ == nullptr) return refuse({ErrorCode::kUnavailable, "this weftd keeps no history"});
  auto asked = parse_port_history(publication_.load(), *request, clock_.now());
  if (!asked && is_for_site(site_, *context))
    return ask_site(response, [&](auto done) { site_->get_port_history(*request, asked.error(), std::move(done)); });
  if (!asked) return refuse(asked.error());
  using Call = CommandCall<v1::GetPortHistoryResponse, v1::GetPortHistoryResponse>;
  const Call::Convert move_in = [](const v1::GetPortHistoryResponse& from, v1::GetPortHistoryResponse& to) {
    to = from;
  };
  auto* call = new Call(response, move_in);
  answer_port_history(*desk_, is_for_site(site_, *context) ? site_ : nullptr, std::move(*asked), *request,
                      call->callback());
  return call;
}

grpc::ServerUnaryReactor* HistoryService::GetStallMap(grpc::CallbackServerContext* context,
                                                      const v1::GetStallMapRequest* request,
                                                      v1::GetStallMapResponse* response) {
  const auto refuse = [&](Error error) {
    return answer<v1::GetStallMapResponse>(context, tl::unexpected(std::move(error)), response);
  };
  if (desk_ == nullptr) return refuse({ErrorCode::kUnavailable, "this weftd keeps no history"});
  auto asked = parse_stall_map(publication_.load(), *request, clock_.now());
  if (!asked && is_for_site(site_, *context))
    return ask_site(response, [&](auto done) { site_->get_stall_map(*request, asked.error(), std::move(done)); });
  if (!asked) return refuse(asked.error());
  const auto kept = std::make_shared<const StallMapQuestion>(std::move(*asked));
  using Call = CommandCall<StallAnswer, v1::GetStallMapResponse>;
  auto* call =
      new Call(response, [kept](const StallAnswer& from, v1::GetStallMapResponse& to) { to = stall_map(*kept, from); });
  desk_->read_stall(kept->question, call->callback());
  return call;
}

}  // namespace weft::api
