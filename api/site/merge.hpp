// SPDX-License-Identifier: Apache-2.0
#pragma once
// Answers of several shards as one. Pure.

#include <string>
#include <vector>

#include "api/publication/derived.hpp"
#include "fabric/result.hpp"
#include "weft/v1/acceptance.pb.h"
#include "weft/v1/evidence.pb.h"
#include "weft/v1/fabric.pb.h"
#include "weft/v1/health.pb.h"
#include "weft/v1/incident.pb.h"
#include "weft/v1/maintenance.pb.h"
#include "weft/v1/remedy.pb.h"
#include "weft/v1/telemetry.pb.h"

namespace weft::api {

/// What one shard answered, or why it did not.
template <typename Response>
struct ShardAnswer {
  std::string shard;
  Result<Response> answer;
  /// It was not reached, not in time, or said what is no answer; see answer_fit.hpp. Else an error is its answer.
  bool is_missing = false;
};

/// Whether a shard says by its answer that it has not swept yet: what it owns is not all in there.
template <typename Response>
bool is_partial(const Response& answer) {
  if constexpr (requires { answer.missing_shards(); })
    return !answer.missing_shards().empty();
  else
    return false;
}

/// It did not answer, or says that it has not swept yet: it is named as missing.
template <typename Response>
bool is_named_missing(const ShardAnswer<Response>& answer) {
  return answer.is_missing || (answer.answer && is_partial(*answer.answer));
}

/// It says that it has not swept yet: it answers, and does not know what it owns.
template <typename Response>
bool is_unswept(const ShardAnswer<Response>& answer) {
  return answer.answer ? is_partial(*answer.answer) : answer.answer.error().message == kNotSwept;
}

/// Whether a shard that says this of a node has ever seen it.
bool is_seen(const v1::NodeHealth& health);

/// What a weftd that stands by says where nobody leads its shard: only what is open of a node counts, of others it is
/// as one that has never seen them. False: nothing counts.
bool keep_incidents(v1::NodeHealth& health);
/// The same of many.
bool keep_incidents(v1::BatchGetHealthResponse& answer);

/// Notes in a message which shard it is from.
void mark(v1::Incident& incident, const std::string& shard);
void mark(v1::IncidentTimeline& timeline, const std::string& shard);
void mark(v1::EvidencePack& pack, const std::string& shard);
void mark(v1::Plan& plan, const std::string& shard);
void mark(v1::MaintenanceWindow& window, const std::string& shard);
void mark(v1::Acceptance& run, const std::string& shard);
void mark(v1::Node& node, const std::string& shard);
void mark(v1::Port& port, const std::string& shard);
void mark(v1::Link& link, const std::string& shard);
void mark(v1::Collector& collector, const std::string& shard);
void mark(v1::AuditRecord& record, const std::string& shard);
void mark(v1::CablingDifferences& fabric, const std::string& shard);
/// Nothing where the node was never seen there.
void mark(v1::NodeHealth& health, const std::string& shard);
void mark(v1::GetNodeResponse& nodes, const std::string& shard);

/// What is wrong in one of several shards.
Error of_shard(Error error, const std::string& shard);
/// `unknown`, what a shard says of a name that it does not know, as the answer of the site: kUnavailable, with the
/// shards that did not answer, where there are any. `unswept`: those of them that answered, and have not swept yet.
Error unknown_in_site(Error unknown, const std::vector<std::string>& missing,
                      const std::vector<std::string>& unswept = {});

/// Names the missing shards in the health of a node; in an answer about many not all of more than a few.
void name_missing(v1::NodeHealth& health, const std::vector<std::string>& missing);
/// The same for what has no health.
template <typename Entry>
void name_missing(Entry& /*entry*/, const std::vector<std::string>& /*missing*/) {}
/// A node that a missing shard knew is not HEALTHY but UNKNOWN, to be watched at least, and a reason says so. What is
/// wrong with it as far as the others know stays its verdict. Not `is_sure`: it is not known whether that shard knew
/// it.
void doubt(v1::NodeHealth& health, const std::string& shard, bool is_sure);

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
/// The worst links of all shards, `limit` at most. Errors as of merge_health().
Result<v1::ListWorstLinksResponse> merge_worst_links(std::vector<ShardAnswer<v1::ListWorstLinksResponse>> answers,
                                                     std::size_t limit);
/// The things with the most harm of all shards, as many as the request wants. Errors as of merge_health().
Result<v1::ListWorstResponse> merge_worst(std::vector<ShardAnswer<v1::ListWorstResponse>> answers,
                                          const v1::ListWorstRequest& request);
/// What differs in the subnets of all shards. Errors as of merge_health().
Result<v1::GetCablingDifferencesResponse> merge_cabling(
    std::vector<ShardAnswer<v1::GetCablingDifferencesResponse>> answers);
/// What configurations differ in all shards. Errors as of merge_health().
Result<v1::GetDriftResponse> merge_drift(std::vector<ShardAnswer<v1::GetDriftResponse>> answers);
/// The paths within each shard, as many as one shard's answer may have. Without any: the error of a shard that knows
/// both ends, else as of merge_health().
Result<v1::GetPathResponse> merge_paths(std::vector<ShardAnswer<v1::GetPathResponse>> answers);

}  // namespace weft::api
