// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/incidents/health.hpp"
#include "fabric/graph/job_health.hpp"

namespace weft::analyzer {
namespace {

/// What is known of `other` is known of `of`.
void add(NodeHealth& of, const NodeHealth& other) {
  of.verdict = worse_of(of.verdict, other.verdict);
  of.action = std::max(of.action, other.action);
  for (const HealthReason& reason : other.reasons) {
    const bool is_there = std::ranges::any_of(of.reasons, [&](const HealthReason& each) {
      return reason.incident != 0 ? each.incident == reason.incident : each.message == reason.message;
    });
    if (!is_there) of.reasons.push_back(reason);
  }
}

}  // namespace

std::vector<NodeHealth> with_other_names(std::vector<NodeHealth> health,
                                         std::span<const std::shared_ptr<const HostView>> hosts) {
  std::unordered_map<NodeGuid, std::size_t> by_guid;
  for (std::size_t at = 0; at < health.size(); ++at)
    for (const NodeGuid guid : health[at].guids) by_guid.emplace(guid, at);
  std::vector<std::pair<std::size_t, NodeHealth>> more;  // as they were before any was changed
  for (const auto& host : hosts) {
    const auto own = std::ranges::lower_bound(health, host->host, {}, &NodeHealth::node);
    if (!host->reading || !host->reading->inventory || own == health.end() || own->node != host->host) continue;
    std::set<std::size_t> others;
    for (const HostPort& port : host->reading->inventory->ports)
      if (const auto found = by_guid.find(port.node_guid); found != by_guid.end() && port.node_guid)
        if (health[found->second].node != host->host) others.insert(found->second);
    for (const std::size_t other : others)
      more.emplace_back(static_cast<std::size_t>(own - health.begin()), health[other]);
  }
  for (const auto& [at, other] : more) add(health[at], other);
  return health;
}

}  // namespace weft::analyzer
