// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/metrics_service.hpp"

#include <utility>

#include "api/grpc/answer.hpp"
#include "api/grpc/command_call.hpp"

namespace weft::api {
namespace {

constexpr const char* kExport = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";

void convert(const PushAnswer& from, pushed::ExportMetricsServiceResponse& to) {
  if (from.rejected == 0) return;
  to.mutable_partial_success()->set_rejected_data_points(static_cast<std::int64_t>(from.rejected));
  to.mutable_partial_success()->set_error_message(from.why);
}

}  // namespace

grpc::ServerUnaryReactor* MetricsService::Export(grpc::CallbackServerContext* context,
                                                 const pushed::ExportMetricsServiceRequest* request,
                                                 pushed::ExportMetricsServiceResponse* response) {
  if (sink_ == nullptr) {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish({grpc::StatusCode::FAILED_PRECONDITION,
                     "weftd takes no pushed metrics: it has no otlp.names_file, which says what their names mean"});
    return reactor;
  }
  const access::Principal principal = callers_.principal(*context);
  auto* const call = new CommandCall<PushAnswer, pushed::ExportMetricsServiceResponse>(response, convert);
  const std::string peer = context->peer();
  sink_->take(*request, principal, [this, peer, name = principal.name, done = call->callback()](auto result) {
    if (!result && result.error().code == ErrorCode::kPermissionDenied)
      gate_.refuse({kExport, peer, name, result.error()});
    done(std::move(result));
  });
  return call;
}

}  // namespace weft::api
