#include "api/grpc/incident_service.hpp"

#include "api/convert/incidents.hpp"
#include "api/convert/queries.hpp"
#include "api/convert/times.hpp"
#include "api/grpc/command_call.hpp"
#include "api/grpc/feeds.hpp"
#include "api/grpc/watch_stream.hpp"

namespace weft::api {
namespace {

using Call = CommandCall<Incident, v1::Incident>;

Call* waiting_call(v1::Incident* response) {
  return new Call(response, [](const Incident& incident, v1::Incident& message) { to_proto(incident, message); });
}

Result<std::uint64_t> parse_id(const std::string& text) {
  const auto id = parse_incident_name(text);
  if (!id) return fail(ErrorCode::kInvalidArgument, "an incident's id is like INC-17");
  return *id;
}

}  // namespace

grpc::ServerUnaryReactor* IncidentService::List(grpc::CallbackServerContext* context,
                                                const v1::ListIncidentsRequest* request,
                                                v1::ListIncidentsResponse* response) {
  return answer(context, list_incidents(*publication_.load(), *request), response);
}

grpc::ServerUnaryReactor* IncidentService::Get(grpc::CallbackServerContext* context,
                                               const v1::GetIncidentRequest* request, v1::Incident* response) {
  return answer(context, get_incident(*publication_.load(), request->id()), response);
}

grpc::ServerWriteReactor<v1::WatchIncidentsResponse>* IncidentService::Watch(grpc::CallbackServerContext*,
                                                                             const v1::WatchIncidentsRequest* request) {
  return WatchStream<IncidentFeed>::start(hall_, IncidentFeed(*request));
}

grpc::ServerUnaryReactor* IncidentService::Acknowledge(grpc::CallbackServerContext* context,
                                                       const v1::AcknowledgeIncidentRequest* request,
                                                       v1::Incident* response) {
  const auto id = parse_id(request->id());
  if (!id) return answer<v1::Incident>(context, tl::unexpected(id.error()), response);
  Call* call = waiting_call(response);
  commands_.acknowledge(*id, who_asks(request->who(), *context), call->callback());
  return call;
}

grpc::ServerUnaryReactor* IncidentService::Silence(grpc::CallbackServerContext* context,
                                                   const v1::SilenceIncidentRequest* request, v1::Incident* response) {
  const auto id = parse_id(request->id());
  if (!id) return answer<v1::Incident>(context, tl::unexpected(id.error()), response);
  const TimePoint until = from_timestamp(request->until());
  if (!request->has_until() || until <= clock_.now())
    return answer<v1::Incident>(context, fail(ErrorCode::kInvalidArgument, "until must be a time to come"), response);
  Call* call = waiting_call(response);
  commands_.silence(*id, until, who_asks(request->who(), *context), call->callback());
  return call;
}

}  // namespace weft::api
