// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/incidents/health.hpp"
#include "fabric/graph/job_health.hpp"
#include "fabric/host_names.hpp"

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

/// Hosts whose names are same_host() with others', by their short name.
class Names {
 public:
  Names(const std::vector<NodeHealth>& health, std::span<const std::shared_ptr<const HostView>> hosts) {
    for (std::size_t at = 0; at < health.size(); ++at) by_short_[short_host_name(health[at].node)].push_back(at);
    for (const auto& host : hosts) ++collectors_[short_host_name(host->host)];
  }
  /// Those whose names may be of the host that the collector at `own` calls so.
  std::vector<std::size_t> like(const std::vector<NodeHealth>& health, std::size_t own) const {
    std::vector<std::size_t> found;
    for (const std::size_t at : by_short_.at(short_host_name(health[own].node)))
      if (at != own && same_host(health[at].node, health[own].node)) found.push_back(at);
    return found;
  }
  /// No other collector has a name like that.
  bool is_single(const std::string& host) const { return collectors_.at(short_host_name(host)) == 1; }

 private:
  std::unordered_map<std::string, std::vector<std::size_t>> by_short_;
  std::unordered_map<std::string, std::size_t> collectors_;
};

}  // namespace

std::vector<NodeHealth> with_other_names(std::vector<NodeHealth> health,
                                         std::span<const std::shared_ptr<const HostView>> hosts) {
  std::unordered_map<NodeGuid, std::size_t> by_guid;
  for (std::size_t at = 0; at < health.size(); ++at)
    for (const NodeGuid guid : health[at].guids) by_guid.emplace(guid, at);
  const Names names(health, hosts);
  std::vector<std::pair<std::size_t, NodeHealth>> more;  // as they were before any was changed
  for (const auto& host : hosts) {
    const auto found = std::ranges::lower_bound(health, host->host, {}, &NodeHealth::node);
    if (found == health.end() || found->node != host->host) continue;
    const auto own = static_cast<std::size_t>(found - health.begin());
    const bool has_told = host->reading && host->reading->inventory;
    std::set<std::size_t> others;
    if (has_told)
      for (const HostPort& port : host->reading->inventory->ports)
        if (const auto at = by_guid.find(port.node_guid); at != by_guid.end() && port.node_guid)
          if (at->second != own) others.insert(at->second);
    const auto like = names.like(health, own);
    for (const std::size_t other : like) {
      // A name alone proves it where nobody else has one like that, and nothing was told that says otherwise.
      const bool is_same = others.contains(other) || (!has_told && like.size() == 1 && names.is_single(host->host));
      if (!is_same) continue;
      others.insert(other);
      more.emplace_back(other, health[own]);  // a collector of any other name may claim what it likes
    }
    for (const std::size_t other : others) more.emplace_back(own, health[other]);
  }
  for (const auto& [at, other] : more) add(health[at], other);
  return health;
}

}  // namespace weft::analyzer
