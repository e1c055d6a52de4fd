// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
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

/// It may be that host, of which nothing is known now.
void add_doubt(NodeHealth& of, const std::string& host) {
  of.verdict = worse_of(of.verdict, HealthVerdict::kUnknown);
  of.action = std::max(of.action, RecommendedAction::kWatch);
  of.reasons.push_back({.severity = Severity::kWarning,
                        .message = "may be " + host + ", whose collector has told nothing since weftd began",
                        .ports = {}});
}

/// What a collector has told in this process; null: nothing.
const HostInventory* told_by(const HostView& host) {
  return host.reading ? host.reading->inventory.get() : nullptr;
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

/// Whose collector has told of the adapters that the fabric knows under a name. The surer one is greater.
enum class Holder : std::uint8_t { kNobody, kOther, kItself };

}  // namespace

std::vector<NodeHealth> with_other_names(std::vector<NodeHealth> health,
                                         std::span<const std::shared_ptr<const HostView>> hosts) {
  std::unordered_map<NodeGuid, std::size_t> by_guid;
  for (std::size_t at = 0; at < health.size(); ++at)
    for (const NodeGuid guid : health[at].guids) by_guid.emplace(guid, at);
  const Names names(health, hosts);
  std::vector<Holder> holders(health.size(), Holder::kNobody);
  for (const auto& host : hosts) {
    const HostInventory* const told = told_by(*host);
    if (!told) continue;
    for (const HostPort& port : told->ports) {
      const auto at = by_guid.find(port.node_guid);
      if (!port.node_guid || at == by_guid.end() || !same_host(health[at->second].node, host->host)) continue;
      const bool is_itself = health[at->second].node == host->host;
      holders[at->second] = std::max(holders[at->second], is_itself ? Holder::kItself : Holder::kOther);
    }
  }
  std::vector<std::pair<std::size_t, NodeHealth>> more;  // as they were before any was changed
  std::vector<std::pair<std::size_t, std::string>> doubts;
  for (const auto& host : hosts) {
    const auto found = std::ranges::lower_bound(health, host->host, {}, &NodeHealth::node);
    if (found == health.end() || found->node != host->host) continue;
    const auto own = static_cast<std::size_t>(found - health.begin());
    const HostInventory* const told = told_by(*host);
    std::set<std::size_t> others;
    if (told)
      for (const HostPort& port : told->ports)
        if (const auto at = by_guid.find(port.node_guid); at != by_guid.end() && port.node_guid)
          if (at->second != own) others.insert(at->second);
    const auto like = names.like(health, own);
    for (const std::size_t other : like) {
      // Whose own collector has the adapter is not worse for what one of another name claims, or claimed before it was
      // renamed.
      if (holders[other] == Holder::kItself) continue;
      // A name alone proves it where nobody else has one like that, and nothing was told that says otherwise.
      const bool is_open = !told && holders[other] == Holder::kNobody;
      const bool is_same = others.contains(other) || (is_open && like.size() == 1 && names.is_single(host->host));
      if (is_same) {
        others.insert(other);
        more.emplace_back(other, health[own]);  // a collector of any other name may claim what it likes
      } else if (is_open && !health[other].guids.empty()) {
        doubts.emplace_back(other, host->host);
      }
    }
    for (const std::size_t other : others) more.emplace_back(own, health[other]);
  }
  for (const auto& [at, other] : more) add(health[at], other);
  for (const auto& [at, host] : doubts) add_doubt(health[at], host);
  return health;
}

}  // namespace weft::analyzer
