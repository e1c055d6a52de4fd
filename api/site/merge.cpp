// SPDX-License-Identifier: Apache-2.0
#include "api/site/merge.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "api/convert/times.hpp"
#include "api/convert/worst_things.hpp"

namespace weft::api {
namespace {

constexpr int kMostOfJob = 256;                    ///< links and switches of one answer, as of one shard
constexpr std::size_t kMostMissingNamed = 4;       ///< in each of many nodes
constexpr int kMostPaths = 256;                    ///< likewise
constexpr std::size_t kMostPathBytes = 3UL << 20;  ///< gRPC's usual limit of one message is 4 MiB

int rank(v1::NodeHealth::Verdict verdict) {
  switch (verdict) {
    case v1::NodeHealth::HEALTHY:
      return 0;
    case v1::NodeHealth::DEGRADED:
      return 1;
    case v1::NodeHealth::UNHEALTHY:
      return 3;
    default:
      return 2;
  }
}

void add_to(v1::NodeHealth& to, v1::NodeHealth&& more) {
  if (!is_seen(more)) return;
  if (!is_seen(to)) {
    to = std::move(more);
    return;
  }
  if (rank(more.verdict()) > rank(to.verdict())) {
    to.set_verdict(more.verdict());
    to.set_fabric(more.fabric());
  }
  to.set_recommended_action(std::max(to.recommended_action(), more.recommended_action()));
  if (to.has_data_age() && more.has_data_age()) {
    const auto older = [](const auto& a, const auto& b) {
      return a.seconds() != b.seconds() ? a.seconds() > b.seconds() : a.nanos() > b.nanos();
    };
    if (older(more.data_age(), to.data_age())) *to.mutable_data_age() = more.data_age();
  } else {
    to.clear_data_age();  // some of it was never read
  }
  to.mutable_reasons()->MergeFrom(more.reasons());
  to.mutable_guids()->MergeFrom(more.guids());
  to.mutable_shards()->MergeFrom(more.shards());
  to.set_reasons_left_out(to.reasons_left_out() + more.reasons_left_out());
}

template <typename Response>
std::vector<std::string> missing_of(const std::vector<ShardAnswer<Response>>& answers) {
  std::vector<std::string> missing;
  for (const auto& each : answers)
    if (is_named_missing(each)) missing.push_back(each.shard);
  return missing;
}

template <typename Response>
std::vector<std::string> unswept_of(const std::vector<ShardAnswer<Response>>& answers) {
  std::vector<std::string> unswept;
  for (const auto& each : answers)
    if (is_unswept(each)) unswept.push_back(each.shard);
  return unswept;
}

/// What is said when no shard that answered knows it: what this weftd says, unless others could know.
template <typename Response>
Error nobody_knows(const std::vector<ShardAnswer<Response>>& answers) {
  Error error{ErrorCode::kNotFound, "nothing of that name"};
  for (const auto& each : answers)
    if (!each.answer && !each.is_missing) {
      error = each.answer.error();
      break;
    }
  return error.code == ErrorCode::kNotFound
             ? unknown_in_site(std::move(error), missing_of(answers), unswept_of(answers))
             : error;
}

template <typename Response>
void add_missing(const std::vector<std::string>& missing, Response& response) {
  for (const std::string& shard : missing) response.add_missing_shards(shard);
}

}  // namespace

// A shard that has never seen a node says UNKNOWN, and nothing else, of it.
bool is_seen(const v1::NodeHealth& health) {
  return health.verdict() != v1::NodeHealth::UNKNOWN || !health.fabric().empty() || health.reasons_size() > 0 ||
         health.guids_size() > 0 || health.has_data_age();
}

void mark(v1::Incident& incident, const std::string& shard) {
  incident.set_shard(shard);
}

void mark(v1::IncidentTimeline& timeline, const std::string& shard) {
  timeline.set_shard(shard);
}

void mark(v1::EvidencePack& pack, const std::string& shard) {
  pack.set_shard(shard);
}

void mark(v1::Plan& plan, const std::string& shard) {
  plan.set_shard(shard);
}

void mark(v1::MaintenanceWindow& window, const std::string& shard) {
  window.set_shard(shard);
}

void mark(v1::Acceptance& run, const std::string& shard) {
  run.set_shard(shard);
}

void mark(v1::Node& node, const std::string& shard) {
  node.set_shard(shard);
}

void mark(v1::Port& port, const std::string& shard) {
  port.set_shard(shard);
}

void mark(v1::Link& link, const std::string& shard) {
  link.set_shard(shard);
}

void mark(v1::Collector& collector, const std::string& shard) {
  collector.set_shard(shard);
}

void mark(v1::AuditRecord& record, const std::string& shard) {
  record.set_shard(shard);
}

void mark(v1::CablingDifferences& fabric, const std::string& shard) {
  fabric.set_shard(shard);
}

void mark(v1::NodeHealth& health, const std::string& shard) {
  if (!is_seen(health)) return;
  health.add_shards(shard);
  for (v1::HealthReason& reason : *health.mutable_reasons()) reason.set_shard(shard);
}

void mark(v1::GetNodeResponse& nodes, const std::string& shard) {
  for (v1::Node& node : *nodes.mutable_nodes()) {
    mark(node, shard);
    for (v1::Port& port : *node.mutable_ports()) mark(port, shard);
  }
}

Error of_shard(Error error, const std::string& shard) {
  error.message = "shard " + shard + ": " + error.message;
  return error;
}

Error unknown_in_site(Error unknown, const std::vector<std::string>& missing, const std::vector<std::string>& unswept) {
  if (missing.empty()) return unknown;
  unknown.code = ErrorCode::kUnavailable;
  std::string silent;
  for (const std::string& shard : missing)
    if (std::ranges::find(unswept, shard) == unswept.end()) silent += (silent.empty() ? "" : ", ") + shard;
  unknown.message +=
      silent.empty() ? " in the shards that have swept" : " in the shards that answer; no answer from " + silent;
  for (const std::string& shard : unswept) unknown.message += "; shard " + shard + " has not swept yet";
  return unknown;
}

bool keep_incidents(v1::NodeHealth& health) {
  const bool is_in_trouble = std::ranges::any_of(
      health.reasons(), [](const v1::HealthReason& reason) { return !reason.incident_id().empty(); });
  if (is_in_trouble) return true;
  const std::string node = health.node();
  health.Clear();
  health.set_node(node);
  health.set_verdict(v1::NodeHealth::UNKNOWN);
  return false;
}

bool keep_incidents(v1::BatchGetHealthResponse& answer) {
  bool is_any = false;
  for (v1::NodeHealth& health : *answer.mutable_nodes()) is_any = keep_incidents(health) || is_any;
  return is_any;
}

void name_missing(v1::NodeHealth& health, const std::vector<std::string>& missing) {
  health.clear_missing_shards();
  for (std::size_t i = 0; i < std::min(missing.size(), kMostMissingNamed); ++i) health.add_missing_shards(missing[i]);
}

void doubt(v1::NodeHealth& health, const std::string& shard, bool is_sure) {
  if (health.verdict() == v1::NodeHealth::HEALTHY) health.set_verdict(v1::NodeHealth::UNKNOWN);
  health.set_recommended_action(std::max(health.recommended_action(), v1::NodeHealth::WATCH));
  health.add_reasons()->set_message("shard " + shard + (is_sure ? ", which knew it," : ", which may know it,") +
                                    " tells nothing of it now");
}

Result<v1::NodeHealth> merge_health(std::vector<ShardAnswer<v1::NodeHealth>> answers) {
  v1::NodeHealth merged;
  bool is_found = false;
  for (auto& each : answers) {
    if (!each.answer) continue;
    mark(*each.answer, each.shard);
    if (!std::exchange(is_found, true))
      merged = std::move(*each.answer);
    else
      add_to(merged, std::move(*each.answer));
  }
  if (!is_found) return tl::unexpected(nobody_knows(answers));
  add_missing(missing_of(answers), merged);
  return merged;
}

Result<v1::BatchGetHealthResponse> merge_health(std::vector<ShardAnswer<v1::BatchGetHealthResponse>> answers) {
  const std::vector<std::string> missing = missing_of(answers);
  v1::BatchGetHealthResponse merged;
  bool is_first = true;
  for (auto& each : answers) {
    if (!each.answer && each.is_missing) continue;
    if (!each.answer) return tl::unexpected(each.answer.error());
    for (v1::NodeHealth& health : *each.answer->mutable_nodes()) mark(health, each.shard);
    if (std::exchange(is_first, false)) {
      merged = std::move(*each.answer);
      continue;
    }
    const int count = std::min(merged.nodes_size(), each.answer->nodes_size());
    for (int i = 0; i < count; ++i) add_to(*merged.mutable_nodes(i), std::move(*each.answer->mutable_nodes(i)));
  }
  merged.clear_missing_shards();
  add_missing(missing, merged);
  for (v1::NodeHealth& health : *merged.mutable_nodes()) name_missing(health, missing);
  return merged;
}

Result<v1::JobHealth> merge_job(std::vector<ShardAnswer<v1::JobHealth>> answers, bool names_nodes) {
  v1::JobHealth merged;
  std::map<std::string, int> places;
  bool is_found = false;
  std::uint32_t links_in_trouble = 0;
  for (auto& each : answers) {
    if (!each.answer) {
      if (each.is_missing || each.answer.error().code == ErrorCode::kNotFound) continue;
      return tl::unexpected(each.answer.error());
    }
    is_found = true;
    v1::JobHealth& part = *each.answer;
    merged.set_job(part.job());
    for (v1::NodeHealth& health : *part.mutable_nodes()) {
      mark(health, each.shard);
      const auto [place, is_new] = places.try_emplace(health.node(), merged.nodes_size());
      if (is_new)
        *merged.add_nodes() = std::move(health);
      else
        add_to(*merged.mutable_nodes(place->second), std::move(health));
    }
    links_in_trouble += part.links_in_trouble();
    merged.mutable_links()->MergeFrom(part.links());
    for (v1::NodeHealth& health : *part.mutable_switches()) {
      mark(health, each.shard);
      if (merged.switches_size() < kMostOfJob) *merged.add_switches() = std::move(health);
    }
    merged.mutable_broken_paths()->MergeFrom(part.broken_paths());
    merged.set_broken(merged.broken() + part.broken());
    merged.set_paths(merged.paths() + part.paths());
    merged.set_links_used(merged.links_used() + part.links_used());
    merged.mutable_not_followed()->MergeFrom(part.not_followed());
  }
  if (!is_found) return tl::unexpected(nobody_knows(answers));
  const std::vector<std::string> missing = missing_of(answers);
  add_missing(missing, merged);
  for (v1::NodeHealth& health : *merged.mutable_nodes()) name_missing(health, missing);

  // A shard's own verdict counts nodes that only others know: it follows anew from what is merged.
  merged.set_verdict(v1::NodeHealth::HEALTHY);
  merged.set_recommended_action(v1::NodeHealth::NONE);
  const auto worsen = [&merged](v1::NodeHealth::Verdict verdict, v1::NodeHealth::RecommendedAction action) {
    if (rank(verdict) > rank(merged.verdict())) merged.set_verdict(verdict);
    merged.set_recommended_action(std::max(merged.recommended_action(), action));
  };
  for (const v1::NodeHealth& health : merged.nodes())
    worsen(health.verdict(), is_seen(health) ? health.recommended_action() : v1::NodeHealth::WATCH);
  for (const v1::JobHealth::Link& link : merged.links()) worsen(link.verdict(), link.recommended_action());
  for (const v1::NodeHealth& health : merged.switches())
    worsen(health.verdict(), std::min(health.recommended_action(), v1::NodeHealth::AVOID_NEW_JOBS));
  if (merged.broken() > 0) worsen(v1::NodeHealth::UNHEALTHY, v1::NodeHealth::AVOID_NEW_JOBS);
  if (merged.not_followed_size() > 0 || merged.missing_shards_size() > 0)
    worsen(v1::NodeHealth::UNKNOWN, v1::NodeHealth::WATCH);
  std::ranges::stable_sort(*merged.mutable_links(),
                           [](const v1::JobHealth::Link& one, const v1::JobHealth::Link& other) {
                             return rank(one.verdict()) > rank(other.verdict());
                           });
  while (merged.links_size() > kMostOfJob) merged.mutable_links()->RemoveLast();
  merged.set_links_in_trouble(links_in_trouble);
  if (!names_nodes)
    std::ranges::sort(*merged.mutable_nodes(),
                      [](const v1::NodeHealth& one, const v1::NodeHealth& other) { return one.node() < other.node(); });
  return merged;
}

Result<v1::GetNodeResponse> merge_nodes(std::vector<ShardAnswer<v1::GetNodeResponse>> answers) {
  v1::GetNodeResponse merged;
  for (auto& each : answers) {
    if (!each.answer) continue;
    mark(*each.answer, each.shard);
    merged.mutable_nodes()->MergeFrom(each.answer->nodes());
  }
  if (merged.nodes().empty()) return tl::unexpected(nobody_knows(answers));
  add_missing(missing_of(answers), merged);
  return merged;
}

Result<v1::ListWorstLinksResponse> merge_worst_links(std::vector<ShardAnswer<v1::ListWorstLinksResponse>> answers,
                                                     std::size_t limit) {
  v1::ListWorstLinksResponse merged;
  bool is_known = false;
  for (auto& each : answers) {
    if (!each.answer) continue;
    is_known = true;
    for (v1::WorstLink& worst : *each.answer->mutable_links()) {
      mark(*worst.mutable_link(), each.shard);
      *merged.add_links() = std::move(worst);
    }
  }
  if (!is_known) return tl::unexpected(nobody_knows(answers));
  std::ranges::stable_sort(*merged.mutable_links(), std::ranges::greater{}, &v1::WorstLink::value);
  while (static_cast<std::size_t>(merged.links_size()) > limit) merged.mutable_links()->RemoveLast();
  add_missing(missing_of(answers), merged);
  return merged;
}

Result<v1::ListWorstResponse> merge_worst(std::vector<ShardAnswer<v1::ListWorstResponse>> answers,
                                          const v1::ListWorstRequest& request) {
  v1::ListWorstResponse merged;
  bool is_known = false;
  for (auto& each : answers) {
    if (!each.answer) continue;
    is_known = true;
    for (v1::WorstThing& worst : *each.answer->mutable_things()) {
      worst.set_shard(each.shard);
      *merged.add_things() = std::move(worst);
    }
    if (!merged.has_from()) *merged.mutable_from() = each.answer->from();
    if (!merged.has_to()) *merged.mutable_to() = each.answer->to();
    // As incomplete as the one that keeps the least.
    if (each.answer->has_complete_from() &&
        (!merged.has_complete_from() ||
         from_timestamp(each.answer->complete_from()) > from_timestamp(merged.complete_from())))
      *merged.mutable_complete_from() = each.answer->complete_from();
    merged.set_elsewhere(merged.elsewhere() + each.answer->elsewhere());
  }
  if (!is_known) return tl::unexpected(nobody_knows(answers));
  std::ranges::sort(*merged.mutable_things(),
                    [by = request.by()](const auto& a, const auto& b) { return is_worse(by, a, b); });
  if (const int limit = static_cast<int>(limit_of(request)); merged.things_size() > limit)
    merged.mutable_things()->DeleteSubrange(limit, merged.things_size() - limit);
  add_missing(missing_of(answers), merged);
  return merged;
}

Result<v1::GetCablingDifferencesResponse> merge_cabling(
    std::vector<ShardAnswer<v1::GetCablingDifferencesResponse>> answers) {
  v1::GetCablingDifferencesResponse merged;
  bool is_known = false;
  for (auto& each : answers) {
    if (!each.answer) continue;
    is_known = true;
    for (v1::CablingDifferences& fabric : *each.answer->mutable_fabrics()) {
      mark(fabric, each.shard);
      *merged.add_fabrics() = std::move(fabric);
    }
  }
  if (!is_known) return tl::unexpected(nobody_knows(answers));
  add_missing(missing_of(answers), merged);
  return merged;
}

Result<v1::GetDriftResponse> merge_drift(std::vector<ShardAnswer<v1::GetDriftResponse>> answers) {
  v1::GetDriftResponse merged;
  bool is_known = false;
  for (auto& each : answers) {
    if (!each.answer) continue;
    is_known = true;
    for (v1::DriftDifference& difference : *each.answer->mutable_differences()) {
      difference.set_shard(each.shard);
      *merged.add_differences() = std::move(difference);
    }
    for (v1::DriftSummary& summary : *each.answer->mutable_summaries()) {
      summary.set_shard(each.shard);
      *merged.add_summaries() = std::move(summary);
    }
  }
  if (!is_known) return tl::unexpected(nobody_knows(answers));
  add_missing(missing_of(answers), merged);
  return merged;
}

Result<v1::GetPathResponse> merge_paths(std::vector<ShardAnswer<v1::GetPathResponse>> answers) {
  v1::GetPathResponse merged;
  std::size_t bytes = 0;
  std::optional<Error> refused;
  std::vector<std::string> missing = missing_of(answers);
  std::string unknown;  // what each shard says of ends that it does not know
  for (auto& each : answers) {
    if (each.is_missing) continue;
    if (!each.answer) {
      const Error& error = each.answer.error();
      if (error.code == ErrorCode::kNotFound) {
        unknown += (unknown.empty() ? "" : "; ") + each.shard + ": " + error.message;
      } else {
        missing.push_back(each.shard);  // it knows both ends
        if (!refused) refused = error;
      }
      continue;
    }
    merged.set_paths_left_out(merged.paths_left_out() + each.answer->paths_left_out());
    for (v1::Path& path : *each.answer->mutable_paths()) {
      const std::size_t size = path.ByteSizeLong();
      if (merged.paths_size() >= kMostPaths || bytes + size > kMostPathBytes) {
        merged.set_paths_left_out(merged.paths_left_out() + 1);
        continue;
      }
      bytes += size;
      path.set_shard(each.shard);
      *merged.add_paths() = std::move(path);
    }
  }
  if (merged.paths().empty()) {
    if (refused) return tl::unexpected(*refused);
    return tl::unexpected(
        unknown_in_site({ErrorCode::kNotFound, "no shard has both ends: " + unknown}, missing, unswept_of(answers)));
  }
  add_missing(missing, merged);
  return merged;
}

}  // namespace weft::api
