// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two gRPC servers as two shards of a site.

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "api/site/site_queries.hpp"
#include "tests/unit/api/site/shard.hpp"
#include "tests/unit/api/small_fabric.hpp"
#include "tests/unit/api/small_plans.hpp"
#include "weft/v1/health.pb.h"
#include "weft/v1/incident.pb.h"

namespace weft::api {

class TwoShards : public ::testing::Test {
 protected:
  TwoShards() {
    publish(north, "north", 1);
    publish(south, "south", 2);
  }
  /// Incidents with the ids of that number, one host "host-NAME" and one plan.
  void publish(Shard& shard, const std::string& name, std::uint64_t number) {
    std::vector<Incident> incidents;
    for (std::uint64_t i = 0; i < 5; ++i) incidents.push_back(make_incident(100 * i + number));
    NodeHealth health;
    health.node = "host-" + name;
    health.fabric = "ib0";
    health.verdict = HealthVerdict::kHealthy;
    std::vector<NodeHealth> hosts{health};
    if (!extra.empty()) hosts.push_back(health), hosts.back().node = extra;
    auto snapshot = with_plans(make_snapshot(1, {}, incidents, hosts), {make_plan(number)});
    auto site = std::make_shared<Site>();
    site->own = name;
    site->shards = {{"north", 1, "n", 1, {north.address()}, {}, {}}, {"south", 2, "s", 1, {south.address()}, {}, {}}};
    if (has_third) site->shards.push_back({"west", 3, "w", 1, {"127.0.0.1:1"}, {}, {}});
    snapshot->site = site;
    snapshot->watches_subnets = !is_swept;
    if (stands_by) snapshot->leadership.is_shared = true, snapshot->leadership.leads = false;
    shard.publication.publish(snapshot);
  }
  template <typename Response, typename Ask>
  Result<Response> wait(const Ask& ask) {
    std::promise<Result<Response>> promise;
    ask([&promise](Result<Response> answer) { promise.set_value(std::move(answer)); });
    return promise.get_future().get();
  }
  Result<v1::ListIncidentsResponse> list(const v1::ListIncidentsRequest& request = {}) {
    return wait<v1::ListIncidentsResponse>([&](auto done) { north.site.list_incidents(request, done); });
  }
  Result<v1::Incident> get(const std::string& id) {
    return wait<v1::Incident>([&](auto done) { north.site.get_incident(id, done); });
  }
  Result<v1::BatchGetHealthResponse> many_of(const Shard& shard, const std::vector<std::string>& nodes) {
    v1::BatchGetHealthRequest request;
    for (const std::string& node : nodes) request.add_nodes(node);
    return wait<v1::BatchGetHealthResponse>([&](auto done) { shard.site.batch_get_health(request, done); });
  }
  Result<v1::ListHealthResponse> all_of(const Shard& shard) {
    return wait<v1::ListHealthResponse>([&](auto done) { shard.site.list_health({}, done); });
  }
  Result<v1::JobHealth> job_of(const Shard& shard, const std::vector<std::string>& nodes) {
    v1::GetJobHealthRequest request;
    request.set_job("j");
    for (const std::string& node : nodes) request.add_nodes(node);
    return wait<v1::JobHealth>([&](auto done) { shard.site.get_job_health(request, done); });
  }
  Result<v1::NodeHealth> health(const std::string& node) {
    return wait<v1::NodeHealth>([&](auto done) { north.site.get_health(node, done); });
  }

  StillClock clock;
  std::string extra;  ///< one more host
  bool has_third = false, is_swept = true, stands_by = false;
  Shard north{clock}, south{clock};
};

}  // namespace weft::api
