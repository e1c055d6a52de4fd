// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "daemon/programs/weftctl/names.hpp"
#include "daemon/programs/weftctl/table.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"

namespace weft::ctl {
namespace {

v1::ListHealthResponse not_healthy(const Session& session) {
  v1::ListHealthRequest request;
  for (const auto verdict : {v1::NodeHealth::UNKNOWN, v1::NodeHealth::DEGRADED, v1::NodeHealth::UNHEALTHY})
    request.add_verdicts(verdict);
  return session.client.all_pages(session.client.health, &v1::HealthService::Stub::List, request);
}

/// One name is looked up as it is, so that a misspelt one is an error; of many each has its line.
v1::ListHealthResponse health_of(const Session& session, const std::vector<std::string>& nodes) {
  constexpr std::size_t kAtOnce = 10'000;
  v1::ListHealthResponse all;
  if (nodes.size() == 1) {
    v1::GetHealthRequest request;
    request.set_node(nodes.front());
    *all.add_nodes() = session.client.call(session.client.health, &v1::HealthService::Stub::Get, request);
  }
  for (std::size_t at = 0; nodes.size() > 1 && at < nodes.size(); at += kAtOnce) {
    v1::BatchGetHealthRequest request;
    for (std::size_t i = at; i < std::min(at + kAtOnce, nodes.size()); ++i) request.add_nodes(nodes[i]);
    auto part = session.client.call(session.client.health, &v1::HealthService::Stub::BatchGet, request);
    for (v1::NodeHealth& health : *part.mutable_nodes()) *all.add_nodes() = std::move(health);
    all.mutable_missing_shards()->MergeFrom(part.missing_shards());
  }
  return all;
}

/// By the verdict of a host or a job, and by what is recommended: work that is planned and drains by Weft leave the
/// verdict as it is, and no new job is to begin all the same.
template <typename Health>
bool may_run(const Health& health) {
  return health.verdict() == v1::NodeHealth::HEALTHY && health.recommended_action() < v1::NodeHealth::AVOID_NEW_JOBS;
}

/// How it ends: bad news stands; good news, or none, counts for nothing while a shard of the site tells nothing.
Exit exit_of(bool is_good, bool is_bad, bool is_missing) {
  if (is_bad || (!is_good && !is_missing)) return Exit::kBadNews;
  return is_missing ? Exit::kUnreachable : Exit::kGood;
}

/// What is known is bad, whatever the shards that tell nothing know.
template <typename Health>
bool is_bad(const Health& health) {
  return health.verdict() == v1::NodeHealth::DEGRADED || health.verdict() == v1::NodeHealth::UNHEALTHY ||
         health.recommended_action() >= v1::NodeHealth::AVOID_NEW_JOBS;
}

/// `several`: more than one shard knows it, so each reason is of one of them.
template <typename Reasons>
std::string in_words(const Reasons& reasons, bool several = false) {
  std::string why;
  for (const v1::HealthReason& reason : reasons) {
    if (!why.empty()) why += "; ";
    if (several && !reason.shard().empty()) why += reason.shard() + ": ";
    if (!reason.incident_id().empty()) why += reason.incident_id() + ' ';
    why += reason.message();
  }
  return why;
}

/// `shards`: there is a column for those that know the node.
void add(Table& table, const v1::NodeHealth& health, bool shards = false) {
  std::string why = in_words(health.reasons(), health.shards_size() > 1);
  if (why.empty() && health.verdict() == v1::NodeHealth::UNKNOWN && !health.has_data_age()) why = "no data";
  std::vector<std::string> cells{health.node(), v1::NodeHealth::Verdict_Name(health.verdict()),
                                 v1::NodeHealth::RecommendedAction_Name(health.recommended_action())};
  if (shards) cells.push_back(health.shards().empty() ? "-" : joined(health.shards()));
  cells.push_back(std::move(why));
  table.add(std::move(cells));
}

}  // namespace

Exit show_job_health(const Session& session, const std::string& job, const std::vector<std::string>& nodes) {
  v1::GetJobHealthRequest request;
  request.set_job(job);
  for (const std::string& node : nodes) request.add_nodes(node);
  const auto answer = session.client.call(session.client.health, &v1::HealthService::Stub::GetJobHealth, request);
  const auto has_bad = [](const auto& parts) {
    return std::ranges::any_of(parts, [](const auto& part) { return is_bad(part); });
  };
  const bool bad = is_bad(answer) || has_bad(answer.nodes()) || has_bad(answer.switches()) || has_bad(answer.links());
  const Exit result = exit_of(may_run(answer), bad, !answer.missing_shards().empty());
  if (session.json) {
    session.out << json_text(answer, false) << '\n';
    return result;
  }
  session.out << printable(job) << ": " << v1::NodeHealth::Verdict_Name(answer.verdict()) << ", "
              << v1::NodeHealth::RecommendedAction_Name(answer.recommended_action()) << ". "
              << counted(static_cast<std::uint64_t>(answer.nodes_size()), "node", "nodes") << ", "
              << counted(answer.links_used(), "link", "links") << ", " << counted(answer.paths(), "path", "paths")
              << ", " << answer.broken() << " of them broken.\n";
  for (const std::string& why : answer.not_followed()) session.out << "Unknown: " << printable(why) << '\n';
  Table table({"TARGET", judged("VERDICT"), judged("ACTION"), story("REASON")});
  for (const v1::NodeHealth& health : answer.nodes())
    if (health.verdict() != v1::NodeHealth::HEALTHY || !health.reasons().empty()) add(table, health);
  for (const v1::NodeHealth& health : answer.switches()) add(table, health);
  for (const v1::JobHealth::Link& link : answer.links())
    table.add({end_text(link.from()) + " - " + end_text(link.to()), v1::NodeHealth::Verdict_Name(link.verdict()),
               v1::NodeHealth::RecommendedAction_Name(link.recommended_action()), in_words(link.reasons())});
  for (const v1::JobHealth::BrokenPath& path : answer.broken_paths())
    table.add({end_text(path.from()) + " to " + end_text(path.to()), "UNHEALTHY", "AVOID_NEW_JOBS", path.why()});
  if (!table.empty()) table.print(session.sheet());
  return result;
}

Exit show_health(const Session& session, const std::vector<std::string>& nodes) {
  const v1::ListHealthResponse answer = nodes.empty() ? not_healthy(session) : health_of(session, nodes);
  // An empty list of what is not healthy is good news only from one who has looked at every fabric.
  bool good =
      !nodes.empty() ||
      session.client.call(session.client.fabric, &v1::FabricService::Stub::GetStatus, v1::GetStatusRequest()).ready();
  bool bad = false, missing = !answer.missing_shards().empty();
  for (const v1::NodeHealth& health : answer.nodes()) {
    good = good && may_run(health);
    bad = bad || is_bad(health);
    missing = missing || !health.missing_shards().empty();
  }
  const Exit result = exit_of(good, bad, missing);
  if (session.json) {
    session.out << json_text(answer, false) << '\n';
    return result;
  }
  if (answer.nodes().empty()) {
    session.out << (result == Exit::kGood             ? "All nodes are healthy.\n"
                    : answer.missing_shards().empty() ? "Unknown: weftd has not read a fabric completely yet.\n"
                                                      : "Unknown: not all shards answer.\n");
    return result;
  }
  std::vector<Column> columns{"NODE", judged("VERDICT"), judged("ACTION"), story("REASON")};
  const bool shards =
      std::ranges::any_of(answer.nodes(), [](const v1::NodeHealth& each) { return !each.shards().empty(); });
  if (shards) columns.insert(columns.end() - 1, "SHARD");
  Table table(columns);
  for (const v1::NodeHealth& health : answer.nodes()) add(table, health, shards);
  table.print(session.sheet());
  return result;
}

}  // namespace weft::ctl
