// SPDX-License-Identifier: Apache-2.0
#pragma once
// TelemetryService: collectors' streams, and who they are.

#include "api/grpc/stream_registry.hpp"
#include "api/publication/publication.hpp"
#include "api/site/site_queries.hpp"
#include "weft/v1/telemetry.grpc.pb.h"

namespace weft::api {

/// weft.v1.TelemetryService: streams of collectors, and the list of them from the published snapshot.
class TelemetryService final : public v1::TelemetryService::CallbackService {
 public:
  TelemetryService(const Publication& publication, StreamRegistry& hall, const SiteQueries* site = nullptr)
      : publication_(publication), hall_(hall), site_(site) {}

  grpc::ServerBidiReactor<v1::CollectorMessage, v1::AnalyzerMessage>* Stream(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* ListCollectors(grpc::CallbackServerContext* context,
                                           const v1::ListCollectorsRequest* request,
                                           v1::ListCollectorsResponse* response) override;

 private:
  const Publication& publication_;
  StreamRegistry& hall_;
  const SiteQueries* site_;
};

}  // namespace weft::api
