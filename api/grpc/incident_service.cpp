// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/incident_service.hpp"

#include "api/convert/commands.hpp"
#include "api/convert/incident_timeline.hpp"
#include "api/convert/incidents.hpp"
#include "api/convert/queries.hpp"
#include "api/grpc/answer.hpp"
#include "api/grpc/command_call.hpp"
#include "api/grpc/feeds.hpp"
#include "api/grpc/site_call.hpp"
#include "api/grpc/site_feed.hpp"

namespace weft::api {
namespace {

using IncidentCall = CommandCall<Incident, v1::Incident>;

}  // namespace

grpc::ServerUnaryReactor* IncidentService::List(grpc::CallbackServerContext* context,
                                                const v1::ListIncidentsRequest* request,
                                                v1::ListIncidentsResponse* response) {
  if (is_for_site(site_, *context))
    return ask_site(response, [&](auto done) { site_->list_incidents(*request, std::move(done)); });
  return answer(context, list_incidents(*publication_.load(), *request), response);
}

grpc::ServerUnaryReactor* IncidentService::Get(grpc::CallbackServerContext* context,
                                               const v1::GetIncidentRequest* request, v1::Incident* response) {
  if (is_for_site(site_, *context))
    return ask_site(response, [&](auto done) { site_->get_incident(request->id(), std::move(done)); });
  return answer(context, get_incident(*publication_.load(), request->id()), response);
}

grpc::ServerUnaryReactor* IncidentService::GetTimeline(grpc::CallbackServerContext* context,
                                                       const v1::GetIncidentRequest* request,
                                                       v1::IncidentTimeline* response) {
  if (is_for_site(site_, *context))
    return ask_site(response, [&](auto done) { site_->get_incident_timeline(request->id(), std::move(done)); });
  return answer(context, incident_timeline(*publication_.load(), request->id(), clock_.now()), response);
}

grpc::ServerWriteReactor<v1::WatchIncidentsResponse>* IncidentService::Watch(grpc::CallbackServerContext* context,
                                                                             const v1::WatchIncidentsRequest* request) {
  return watch_site<IncidentNews>(
      site_, *context, hall_, IncidentFeed(*request),
      [all = request->include_resolved()](const v1::WatchIncidentsResponse& event, bool is_first) {
        return all || !is_first || event.incident().state() != v1::Incident::RESOLVED;
      });
}

grpc::ServerUnaryReactor* IncidentService::Acknowledge(grpc::CallbackServerContext* context,
                                                       const v1::AcknowledgeIncidentRequest* request,
                                                       v1::Incident* response) {
  const auto id = incident_id(request->id());
  if (!id) return answer<v1::Incident>(context, tl::unexpected(id.error()), response);
  if (const auto claim = check_claim(request->who()); !claim)
    return answer<v1::Incident>(context, tl::unexpected(claim.error()), response);
  auto* call = new IncidentCall(response, in_shard<Incident, v1::Incident>(to_proto, own_shard(*publication_.load())));
  commands_.acknowledge(*id, callers_.who(request->who(), *context), call->callback());
  return call;
}

grpc::ServerUnaryReactor* IncidentService::Silence(grpc::CallbackServerContext* context,
                                                   const v1::SilenceIncidentRequest* request, v1::Incident* response) {
  const auto id = incident_id(request->id());
  if (!id) return answer<v1::Incident>(context, tl::unexpected(id.error()), response);
  const auto until = silence_end(*request, clock_.now());
  if (!until) return answer<v1::Incident>(context, tl::unexpected(until.error()), response);
  if (const auto claim = check_claim(request->who()); !claim)
    return answer<v1::Incident>(context, tl::unexpected(claim.error()), response);
  auto* call = new IncidentCall(response, in_shard<Incident, v1::Incident>(to_proto, own_shard(*publication_.load())));
  commands_.silence(*id, *until, callers_.who(request->who(), *context), call->callback());
  return call;
}

}  // namespace weft::api
