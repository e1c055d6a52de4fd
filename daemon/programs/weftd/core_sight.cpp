// SPDX-License-Identifier: Apache-2.0
// Who tells of each subnet that Core knows: its sweeps, or nobody but collectors.

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/ports/freshness.hpp"
#include "daemon/programs/weftd/core.hpp"
#include "daemon/programs/weftd/kept_subnets.hpp"

namespace weft::daemon {
namespace {

using analyzer::SubnetSight;
using namespace std::chrono_literals;

/// While a fabric is discovered it has other links in each sweep.
constexpr Duration kTellLinksEvery = 5s;

std::shared_ptr<const std::vector<KnownLink>> host_links_of(std::span<const KnownLink> known) {
  auto links = std::make_shared<std::vector<KnownLink>>();
  for (const KnownLink& link : known)
    if (!is_ethernet(link) &&
        (link.low.type == NodeType::kChannelAdapter || link.high.type == NodeType::kChannelAdapter))
      links->push_back(link);
  return links;
}

}  // namespace

bool Core::is_beginning(TimePoint now) const {
  return !passed(now, started_, config_.analyzer.telemetry_start_grace);
}

// However the clock was set since: what is given up is lost.
bool Core::is_given_up(const store::FabricMemory& memory, TimePoint now) const {
  return memory.seen != kNever && memory.seen < remedies_.clock_memory().before(now, kLongestUnseen);
}

std::vector<analyzer::KnownSubnet> Core::subnets_seen(TimePoint now) const {
  const bool begins = config_.infiniband.enabled && !is_looked_at_;  // until all that are lost are shown as such
  std::vector<analyzer::KnownSubnet> subnets;
  for (const auto& [name, fabric] : fabrics_) {
    if (fabric.layer == LinkLayer::kEthernet) continue;
    const bool may_begin = begins && !fabric.was_seen && !unwatched_.contains(name);
    const SubnetSight otherwise = may_begin ? SubnetSight::kAwaited : SubnetSight::kUnswept;
    const bool is_swept = fabric.view.sweep && !analyzer::is_blind(fabric.view);
    subnets.push_back({name, nullptr, is_swept ? SubnetSight::kSwept : otherwise, fabric.analyzer.links_revision()});
  }
  // Names in the ledger are the leader's. Before the first sweeps it is not known which of them are shown.
  for (const auto& [name, memory] : memories_) {
    if (!leads_ || fabrics_.contains(name)) continue;
    if (is_given_up(memory, now)) continue;
    if (begins)
      subnets.push_back({name, nullptr, SubnetSight::kAwaited});
    else if (is_kept(name) && is_wanted(name, config_.infiniband.ports))
      subnets.push_back({name, nullptr, SubnetSight::kUnswept});
  }
  std::ranges::sort(subnets, {}, &analyzer::KnownSubnet::name);
  return subnets;
}

void Core::tell_swept(TimePoint now) {
  auto subnets = subnets_seen(now);
  const auto is_told = [](const analyzer::KnownSubnet& one, const analyzer::KnownSubnet& told) {
    return one.name == told.name && one.sight == told.sight;
  };
  const auto is_same = [](const analyzer::KnownSubnet& one, const analyzer::KnownSubnet& told) {
    return one.revision == told.revision;
  };
  if (std::ranges::equal(subnets, known_subnets_, is_told) &&
      (!passed(now, subnets_told_, kTellLinksEvery) || std::ranges::equal(subnets, known_subnets_, is_same)))
    return;
  subnets_told_ = now;
  for (analyzer::KnownSubnet& subnet : subnets) {
    const auto fabric = fabrics_.find(subnet.name);
    subnet.host_links = fabric == fabrics_.end() ? host_links_of(known_links(subnet.name))
                                                 : host_links_of(fabric->second.analyzer.state().links);
  }
  known_subnets_ = std::move(subnets);
  host_rules_.set_known(known_subnets_);
}

}  // namespace weft::daemon
