// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/telemetry_service.hpp"

#include "api/convert/collectors.hpp"
#include "api/grpc/answer.hpp"
#include "api/grpc/site_call.hpp"
#include "api/grpc/telemetry_stream.hpp"

namespace weft::api {

grpc::ServerBidiReactor<v1::CollectorMessage, v1::AnalyzerMessage>* TelemetryService::Stream(
    grpc::CallbackServerContext* context) {
  return TelemetryStream::start(hall_, context);
}

grpc::ServerUnaryReactor* TelemetryService::ListCollectors(grpc::CallbackServerContext* context,
                                                           const v1::ListCollectorsRequest* request,
                                                           v1::ListCollectorsResponse* response) {
  if (is_for_site(site_, *context))
    return ask_site(response, [&](auto done) { site_->list_collectors(*request, std::move(done)); });
  if (site_ != nullptr && request->lost())
    if (const std::string shard = asking_shard(*context); !shard.empty()) site_->note_known(shard, *request);
  const auto of = [&](const Snapshot& snapshot) { return list_collectors(snapshot, *request); };
  return answer(context, of_own_shard(*context, *publication_.load(), of), response);
}

}  // namespace weft::api
