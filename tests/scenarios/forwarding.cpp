// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/forwarding.hpp"
#include "fabric/graph/multipath.hpp"

#include <algorithm>
#include <limits>

namespace weft::scenarios {
namespace {

constexpr unsigned kFar = std::numeric_limits<unsigned>::max() / 2;
constexpr unsigned kMostHops = 16;

}  // namespace

Cabling cabling_of(const Plan& plan) {
  Cabling cabling;
  for (const Port& port : plan.ports) {
    cabling.peers.push_back(port.peer);
    cabling.usable.push_back(port.peer != kNoIndex);
  }
  return cabling;
}

ForwardingTables::ForwardingTables(const Plan& plan, std::span<const PortIndex> peers,
                                   std::span<const std::uint8_t> usable)
    : endpoints_(plan.adapters.size()), row_(plan.nodes.size(), 0) {
  if (plan.is_ethernet()) {
    std::vector<Port> ports = plan.ports;
    for (PortIndex port = 0; port < ports.size(); ++port) {
      ports[port].peer = peers[port];
      ports[port].state = usable[port] ? PortState::kActive : PortState::kDown;
    }
    multipath_ = std::make_shared<const Multipath>(
        std::make_shared<const Topology>(1, plan.nodes, std::move(ports), std::vector<DuplicateGuid>{}));
    return;
  }
  std::vector<NodeIndex> switches;
  for (const auto* tier : {&plan.cores, &plan.spines, &plan.leaves})
    switches.insert(switches.end(), tier->begin(), tier->end());
  for (std::size_t i = 0; i < switches.size(); ++i) row_[switches[i]] = i;
  table_.assign(switches.size() * endpoints_, 0);

  struct Neighbour {
    PortIndex port;
    NodeIndex node;
    bool upwards;
  };
  std::vector<std::vector<Neighbour>> neighbours(plan.nodes.size());
  std::vector<std::vector<std::uint32_t>> endpoints_at(plan.nodes.size());
  for (PortIndex port = 0; port < peers.size(); ++port) {
    const PortIndex peer = peers[port];
    if (peer == kNoIndex || !usable[port] || !usable[peer]) continue;
    const NodeIndex here = plan.ports[port].node;
    const NodeIndex there = plan.ports[peer].node;
    if (plan.tiers[here] == Tier::kAdapter) continue;
    if (plan.tiers[there] == Tier::kAdapter) {
      endpoints_at[here].push_back(plan.endpoint_of[there]);
      table_[row_[here] * endpoints_ + plan.endpoint_of[there]] =
          static_cast<std::uint8_t>(plan.ports[port].number.value);
    } else {
      neighbours[here].push_back({port, there, plan.tiers[there] > plan.tiers[here]});
    }
  }
  std::vector<std::uint32_t> load(plan.ports.size(), 0);
  std::vector<unsigned> down(plan.nodes.size());  // hops to the destination's leaf when going down only
  std::vector<unsigned> hops(plan.nodes.size());  // and when going up first is allowed
  std::vector<PortIndex> choices;
  for (const NodeIndex leaf : plan.leaves) {
    if (endpoints_at[leaf].empty()) continue;
    std::ranges::sort(endpoints_at[leaf]);
    std::ranges::fill(down, kFar);
    std::ranges::fill(hops, kFar);
    down[leaf] = 0;
    for (auto at = switches.rbegin(); at != switches.rend(); ++at)  // from the leaves up
      if (down[*at] < kFar)
        for (const Neighbour& next : neighbours[*at])
          if (next.upwards) down[next.node] = std::min(down[next.node], down[*at] + 1);
    for (const NodeIndex at : switches) {  // from the top down
      hops[at] = down[at];
      for (const Neighbour& next : neighbours[at])
        if (next.upwards) hops[at] = std::min(hops[at], hops[next.node] + 1);
    }
    for (const NodeIndex at : switches) {
      if (at == leaf || hops[at] >= kFar) continue;
      const bool descend = down[at] == hops[at];
      choices.clear();
      for (const Neighbour& next : neighbours[at]) {
        const unsigned left = descend ? down[next.node] : hops[next.node];
        if (next.upwards != descend && left + 1 == hops[at]) choices.push_back(next.port);
      }
      for (const std::uint32_t endpoint : endpoints_at[leaf]) {
        const PortIndex best = *std::ranges::min_element(choices, {}, [&](PortIndex port) { return load[port]; });
        ++load[best];
        table_[row_[at] * endpoints_ + endpoint] = static_cast<std::uint8_t>(plan.ports[best].number.value);
      }
    }
  }
}

PortIndex ForwardingTables::hashed(const Plan& plan, NodeIndex node, std::uint32_t from, std::uint32_t to) const {
  const std::vector<PortIndex> ports = multipath_->next_hops(node, plan.endpoint_port(to));
  if (ports.empty()) return kNoIndex;
  // Each switch has a hash of its own, else all would make the same choice of those that are left (SplitMix64).
  std::uint64_t hash = plan.spec.hash ^ (std::uint64_t{from} << 40U) ^ (std::uint64_t{to} << 20U) ^ node;
  for (int round = 0; round < 2; ++round) {
    hash += 0x9E3779B97F4A7C15ULL;
    hash = (hash ^ (hash >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    hash = (hash ^ (hash >> 27U)) * 0x94D049BB133111EBULL;
    hash ^= hash >> 31U;
  }
  return ports[hash % ports.size()];
}

bool ForwardingTables::path(const Plan& plan, std::span<const PortIndex> peers, std::uint32_t from, std::uint32_t to,
                            std::vector<PortIndex>& ports) const {
  ports.clear();
  const NodeIndex target = plan.adapters[to];
  PortIndex out = plan.endpoint_port(from);
  for (unsigned hop = 0; hop < kMostHops; ++hop) {
    ports.push_back(out);
    if (peers[out] == kNoIndex) return false;
    const NodeIndex node = plan.ports[peers[out]].node;
    if (node == target) return true;
    if (plan.tiers[node] == Tier::kAdapter) return false;
    if (multipath_) {
      out = hashed(plan, node, from, to);
      if (out == kNoIndex) return false;
      continue;
    }
    const std::uint8_t number = port(node, to);
    if (number == 0) return false;
    out = plan.port(node, number);
  }
  return false;
}

bool ForwardingTables::spread_path(const Plan& plan, std::span<const PortIndex> peers, std::uint32_t from,
                                   std::uint32_t to, unsigned way, std::vector<PortIndex>& ports) const {
  if (!path(plan, peers, from, to, ports)) return false;
  const std::size_t hops = ports.size();
  const NodeIndex target = plan.adapters[to];
  const auto leads_up = [&](PortIndex port) {
    return peers[port] != kNoIndex && plan.tier_of(peers[port]) > plan.tier_of(port);
  };
  PortIndex out = plan.endpoint_port(from);
  ports.clear();
  while (ports.size() < hops) {
    ports.push_back(out);
    if (peers[out] == kNoIndex) return false;
    const NodeIndex node = plan.ports[peers[out]].node;
    if (node == target) return ports.size() == hops;
    if (plan.tiers[node] == Tier::kAdapter) return false;
    const std::uint8_t number = port(node, to);
    if (number == 0) return false;
    out = plan.port(node, number);
    if (!leads_up(out)) continue;
    std::vector<PortIndex> up;
    for (PortIndex other = plan.nodes[node].first_port;
         other < plan.nodes[node].first_port + plan.nodes[node].port_entries(); ++other)
      if (leads_up(other)) up.push_back(other);
    out = up[(way + from) % up.size()];
    way /= static_cast<unsigned>(up.size());
  }
  return false;
}

}  // namespace weft::scenarios
