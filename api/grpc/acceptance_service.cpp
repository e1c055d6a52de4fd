// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/acceptance_service.hpp"

#include <string>
#include <utility>

#include "api/convert/acceptance.hpp"
#include "api/convert/commands.hpp"
#include "api/evidence/acceptance_document.hpp"
#include "api/grpc/command_call.hpp"
#include "api/grpc/site_call.hpp"

namespace weft::api {
namespace {

using AcceptanceCall = CommandCall<AcceptanceRun, v1::Acceptance>;

void add_document(const EvidenceSource* source, v1::Acceptance& run) {
  static const EvidenceSource kNobody{};
  run.set_html(acceptance_document(run, source != nullptr ? *source : kNobody));
}

/// A name that another shard may know; empty: the request has none.
std::string name_in(const v1::StartAcceptanceRequest& request) {
  if (!request.switches().empty()) return request.switches(0);
  return request.links().empty() ? request.fabric() : request.links(0);
}

}  // namespace

grpc::ServerUnaryReactor* AcceptanceService::List(grpc::CallbackServerContext* context,
                                                  const v1::ListAcceptancesRequest* request,
                                                  v1::ListAcceptancesResponse* response) {
  if (is_for_site(site_, *context))
    return ask_site(response, [&](auto done) { site_->list_acceptances(*request, std::move(done)); });
  return answer(context, list_acceptances(*publication_.load(), *request), response);
}

grpc::ServerUnaryReactor* AcceptanceService::Get(grpc::CallbackServerContext* context,
                                                 const v1::GetAcceptanceRequest* request, v1::Acceptance* response) {
  if (is_for_site(site_, *context))
    return ask_site(response, [&](auto done) {
      site_->get_acceptance(*request, [source = source_, with_html = request->with_html(),
                                       done = std::move(done)](Result<v1::Acceptance> run) {
        if (run && with_html && run->html().empty()) add_document(source, *run);
        done(std::move(run));
      });
    });
  auto run = get_acceptance(*publication_.load(), request->id());
  if (run && request->with_html()) add_document(source_, *run);
  return answer(context, std::move(run), response);
}

grpc::ServerUnaryReactor* AcceptanceService::Judge(grpc::CallbackServerContext* context,
                                                   const v1::StartAcceptanceRequest* request,
                                                   v1::Acceptance* response) {
  return begin(context, *request, response, &Commands::judge_acceptance);
}

grpc::ServerUnaryReactor* AcceptanceService::Start(grpc::CallbackServerContext* context,
                                                   const v1::StartAcceptanceRequest* request,
                                                   v1::Acceptance* response) {
  return begin(context, *request, response, &Commands::start_acceptance);
}

grpc::ServerUnaryReactor* AcceptanceService::begin(grpc::CallbackServerContext* context,
                                                   const v1::StartAcceptanceRequest& request, v1::Acceptance* response,
                                                   void (Commands::*member)(AcceptanceRun,
                                                                            Commands::AcceptanceCallback)) {
  auto run = wanted_acceptance(*publication_.load(), request);
  if (!run && site_ != nullptr && run.error().code == ErrorCode::kNotFound) {
    const auto refuse = [&](const auto& done) {
      or_owner<v1::Acceptance>(site_, name_in(request), done)(tl::unexpected(run.error()));
    };
    return ask_site(response, refuse);
  }
  if (!run) return answer<v1::Acceptance>(context, tl::unexpected(run.error()), response);
  if (const auto claim = check_claim(request.who()); !claim)
    return answer<v1::Acceptance>(context, tl::unexpected(claim.error()), response);
  run->who = callers_.who(request.who(), *context);
  AcceptanceCall* call = new AcceptanceCall(
      response, [source = source_, with_html = request.with_html(), shard = own_shard(*publication_.load())](
                    const AcceptanceRun& judged, v1::Acceptance& message) {
        to_proto(judged, message);
        message.set_shard(shard);
        if (with_html) add_document(source, message);
      });
  (commands_.*member)(std::move(*run), call->callback());
  return call;
}

grpc::ServerUnaryReactor* AcceptanceService::End(grpc::CallbackServerContext* context,
                                                 const v1::EndAcceptanceRequest* request, v1::Acceptance* response) {
  const auto id = parse_acceptance_name(request->id());
  if (!id)
    return answer<v1::Acceptance>(context, fail(ErrorCode::kInvalidArgument, "an acceptance's id must be like ACC-3"),
                                  response);
  if (const auto claim = check_claim(request->who()); !claim)
    return answer<v1::Acceptance>(context, tl::unexpected(claim.error()), response);
  AcceptanceCall* call =
      new AcceptanceCall(response, in_shard<AcceptanceRun, v1::Acceptance>(to_proto, own_shard(*publication_.load())));
  commands_.end_acceptance(*id, callers_.who(request->who(), *context), call->callback());
  return call;
}

}  // namespace weft::api
