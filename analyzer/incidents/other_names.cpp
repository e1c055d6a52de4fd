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
  Names(const std::vector<NodeHealth>& health, std::span<const std::shared_ptr<const HostView>> hosts)
      : before_(health.size(), kNone) {
    by_short_.reserve(health.size() + hosts.size());
    for (std::size_t at = 0; at < health.size(); ++at)
      before_[at] = std::exchange(by_short_[short_host_name(health[at].node)].last, at);
    for (const auto& host : hosts) ++by_short_[short_host_name(host->host)].collectors;
  }
  /// Those whose names may be of the host that the collector at `own` calls so, ascending. `is_single`: no other
  /// collector has a name like that.
  std::vector<std::size_t> like(const std::vector<NodeHealth>& health, std::size_t own, bool& is_single) const {
    const Same& same = by_short_.at(short_host_name(health[own].node));
    is_single = same.collectors == 1;
    std::vector<std::size_t> found;
    for (std::size_t at = same.last; at != kNone; at = before_[at])
      if (at != own && same_host(health[at].node, health[own].node)) found.push_back(at);
    std::ranges::reverse(found);
    return found;
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  struct Same {
    std::size_t last = kNone;  ///< the last one with that short name; before_ has the one before each
    std::size_t collectors = 0;
  };
  std::unordered_map<std::string, Same> by_short_;
  std::vector<std::size_t> before_;
};

/// Which names the adapters have in the fabric.
class Adapters {
 public:
  explicit Adapters(const std::vector<NodeHealth>& health) : health_(health) {}
  /// Where that one is in `health`, at `own` if it may be there; kNone: nowhere.
  std::size_t find(NodeGuid guid, std::size_t own) {
    if (!guid) return kNone;
    if (own != kNone && std::ranges::find(health_[own].guids, guid) != health_[own].guids.end()) return own;
    if (by_guid_.empty())  // most are where their collectors' names say
      for (std::size_t at = 0; at < health_.size(); ++at)
        for (const NodeGuid each : health_[at].guids) by_guid_.emplace(each, at);
    const auto found = by_guid_.find(guid);
    return found == by_guid_.end() ? kNone : found->second;
  }
  static constexpr std::size_t kNone = ~std::size_t{0};

 private:
  const std::vector<NodeHealth>& health_;
  std::unordered_map<NodeGuid, std::size_t> by_guid_;
};

/// Whose collector has told of the adapters that the fabric knows under a name. The surer one is greater.
enum class Holder : std::uint8_t { kNobody, kOther, kItself };

}  // namespace

std::vector<NodeHealth> with_other_names(std::vector<NodeHealth> health,
                                         std::span<const std::shared_ptr<const HostView>> hosts) {
  Adapters adapters(health);
  const Names names(health, hosts);
  std::vector<Holder> holders(health.size(), Holder::kNobody);
  std::vector<std::size_t> own_of(hosts.size(), Adapters::kNone);
  std::vector<std::vector<std::size_t>> told_of(hosts.size());  // under other names than its own
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const std::string& name = hosts[i]->host;
    const auto found = std::ranges::lower_bound(health, name, {}, &NodeHealth::node);
    if (found != health.end() && found->node == name) own_of[i] = static_cast<std::size_t>(found - health.begin());
    const HostInventory* const told = told_by(*hosts[i]);
    if (!told) continue;
    for (const HostPort& port : told->ports) {
      const std::size_t at = adapters.find(port.node_guid, own_of[i]);
      if (at == Adapters::kNone) continue;
      if (at == own_of[i]) {
        holders[at] = Holder::kItself;
        continue;
      }
      told_of[i].push_back(at);
      if (same_host(health[at].node, name)) holders[at] = std::max(holders[at], Holder::kOther);
    }
  }
  std::vector<std::pair<std::size_t, NodeHealth>> more;  // as they were before any was changed
  std::vector<std::pair<std::size_t, std::string>> doubts;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const auto& host = hosts[i];
    const std::size_t own = own_of[i];
    if (own == Adapters::kNone) continue;
    const HostInventory* const told = told_by(*host);
    std::set<std::size_t> others(told_of[i].begin(), told_of[i].end());
    bool is_single = false;
    const auto like = names.like(health, own, is_single);
    for (const std::size_t other : like) {
      // Whose own collector has the adapter is not worse for what one of another name claims, or claimed before it was
      // renamed.
      if (holders[other] == Holder::kItself) continue;
      // A name alone proves it where nobody else has one like that, and nothing was told that says otherwise.
      const bool is_open = !told && holders[other] == Holder::kNobody;
      const bool is_same = others.contains(other) || (is_open && like.size() == 1 && is_single);
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
