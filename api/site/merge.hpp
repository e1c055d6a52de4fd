// SPDX-License-Identifier: Apache-2.0
#pragma once
// Answers of several shards as one. Pure.

#include <string>
#include <vector>

#include "fabric/result.hpp"
#include "weft/v1/fabric.pb.h"
#include "weft/v1/health.pb.h"
#include "weft/v1/incident.pb.h"
#include "weft/v1/maintenance.pb.h"
#include "weft/v1/remedy.pb.h"

namespace weft::api {

/// What one shard answered, or why it did not.
template <typename Response>
struct ShardAnswer {
  std::string shard;
  Result<Response> answer;
  /// It was not reached, or not in time. Else an error is its answer.
  bool is_missing = false;
};

/// Notes in a message which shard it is from.
void mark(v1::Incident& incident, const std::string& shard);
void mark(v1::Plan& plan, const std::string& shard);
void mark(v1::MaintenanceWindow& window, const std::string& shard);
/// Nothing where the node was never seen there.
void mark(v1::NodeHealth& health, const std::string& shard);
void mark(v1::GetNodeResponse& nodes, const std::string& shard);

/// Health of one node: the worst verdict in the order HEALTHY, DEGRADED, UNKNOWN, UNHEALTHY, with the reasons of all
/// shards that know the node. When none does: kNotFound, and kUnavailable where a shard is missing.
Result<v1::NodeHealth> merge_health(std::vector<ShardAnswer<v1::NodeHealth>> answers);
/// Of many nodes, all asked for in the same order; the first error that an answering shard gives.
Result<v1::BatchGetHealthResponse> merge_health(std::vector<ShardAnswer<v1::BatchGetHealthResponse>> answers);
/// The job's nodes, links, switches and paths of all shards, and the verdict that follows from them. `names_nodes`: the
/// request did. While a shard is missing no job is HEALTHY.
Result<v1::JobHealth> merge_job(std::vector<ShardAnswer<v1::JobHealth>> answers, bool names_nodes);
/// The nodes of that name in all shards. Errors as of merge_health().
Result<v1::GetNodeResponse> merge_nodes(std::vector<ShardAnswer<v1::GetNodeResponse>> answers);

}  // namespace weft::api
