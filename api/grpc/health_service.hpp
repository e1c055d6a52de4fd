// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/grpc/watch_dispatcher.hpp"
#include "api/publication/publication.hpp"
#include "api/site/site_queries.hpp"
#include "weft/v1/health.grpc.pb.h"

namespace weft::api {

/// weft.v1.HealthService from the published snapshot. (grpc.health.v1, the health of this server, is gRPC's own.)
class HealthService final : public v1::HealthService::CallbackService {
 public:
  HealthService(const Publication& publication, WatchDispatcher& hall, const SiteQueries* site = nullptr)
      : publication_(publication), hall_(hall), site_(site) {}

  grpc::ServerUnaryReactor* Get(grpc::CallbackServerContext* context, const v1::GetHealthRequest* request,
                                v1::NodeHealth* response) override;
  grpc::ServerUnaryReactor* BatchGet(grpc::CallbackServerContext* context, const v1::BatchGetHealthRequest* request,
                                     v1::BatchGetHealthResponse* response) override;
  grpc::ServerUnaryReactor* GetJobHealth(grpc::CallbackServerContext* context, const v1::GetJobHealthRequest* request,
                                         v1::JobHealth* response) override;
  grpc::ServerUnaryReactor* List(grpc::CallbackServerContext* context, const v1::ListHealthRequest* request,
                                 v1::ListHealthResponse* response) override;
  grpc::ServerWriteReactor<v1::WatchHealthResponse>* Watch(grpc::CallbackServerContext* context,
                                                           const v1::WatchHealthRequest* request) override;

 private:
  const Publication& publication_;
  WatchDispatcher& hall_;
  const SiteQueries* site_;
};

}  // namespace weft::api
