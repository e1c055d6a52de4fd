// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/telemetry_service.hpp"

#include "api/convert/collectors.hpp"
#include "api/grpc/answer.hpp"
#include "api/grpc/telemetry_stream.hpp"

namespace weft::api {

grpc::ServerBidiReactor<v1::CollectorMessage, v1::AnalyzerMessage>* TelemetryService::Stream(
    grpc::CallbackServerContext* context) {
  return TelemetryStream::start(hall_, context);
}

grpc::ServerUnaryReactor* TelemetryService::ListCollectors(grpc::CallbackServerContext* context,
                                                           const v1::ListCollectorsRequest* request,
                                                           v1::ListCollectorsResponse* response) {
  return answer(context, list_collectors(*publication_.load(), *request), response);
}

}  // namespace weft::api
