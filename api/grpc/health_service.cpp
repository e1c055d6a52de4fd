// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/health_service.hpp"

#include <set>
#include <string>

#include "api/convert/health.hpp"
#include "api/convert/queries.hpp"
#include "api/grpc/answer.hpp"
#include "api/grpc/feeds.hpp"
#include "api/grpc/site_call.hpp"
#include "api/grpc/site_feed.hpp"

namespace weft::api {
grpc::ServerUnaryReactor* HealthService::Get(grpc::CallbackServerContext* context, const v1::GetHealthRequest* request,
                                             v1::NodeHealth* response) {
  if (is_for_site(site_, *context))
    return ask_site(response, [&](auto done) { site_->get_health(request->node(), std::move(done)); });
  const auto of = [&](const Snapshot& snapshot) { return get_health(snapshot, request->node()); };
  const auto swept = [&](const Snapshot& snapshot) { return of_swept_shard(*context, snapshot, of); };
  return answer(context, of_own_shard(*context, *publication_.load(), swept), response);
}

grpc::ServerUnaryReactor* HealthService::BatchGet(grpc::CallbackServerContext* context,
                                                  const v1::BatchGetHealthRequest* request,
                                                  v1::BatchGetHealthResponse* response) {
  if (is_for_site(site_, *context))
    return ask_site(response, [&](auto done) { site_->batch_get_health(*request, std::move(done)); });
  const auto of = [&](const Snapshot& snapshot) { return batch_get_health(snapshot, *request); };
  return answer(context, of_own_shard(*context, *publication_.load(), of), response);
}

grpc::ServerUnaryReactor* HealthService::GetJobHealth(grpc::CallbackServerContext* context,
                                                      const v1::GetJobHealthRequest* request, v1::JobHealth* response) {
  if (is_for_site(site_, *context))
    return ask_site(response, [&](auto done) { site_->get_job_health(*request, std::move(done)); });
  const auto of = [&](const Snapshot& snapshot) { return get_job_health(snapshot, *request); };
  return answer(context, of_own_shard(*context, *publication_.load(), of), response);
}

grpc::ServerUnaryReactor* HealthService::List(grpc::CallbackServerContext* context,
                                              const v1::ListHealthRequest* request, v1::ListHealthResponse* response) {
  if (is_for_site(site_, *context))
    return ask_site(response, [&](auto done) { site_->list_health(*request, std::move(done)); });
  return answer(context, list_health(*publication_.load(), *request), response);
}

grpc::ServerWriteReactor<v1::WatchHealthResponse>* HealthService::Watch(grpc::CallbackServerContext* context,
                                                                        const v1::WatchHealthRequest* request) {
  const std::set<std::string> nodes(request->nodes().begin(), request->nodes().end());
  return watch_site<HealthNews>(site_, *context, hall_, HealthFeed(*request),
                                [nodes](const v1::WatchHealthResponse& event, bool) {
                                  return nodes.empty() || nodes.contains(event.health().node());
                                });
}

}  // namespace weft::api
