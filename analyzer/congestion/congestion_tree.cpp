// SPDX-License-Identifier: Apache-2.0
#include "analyzer/congestion/congestion_tree.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace weft::analyzer {
namespace {

// A switch may have two hundred full uplinks: those that wait for them must find room as well.
constexpr std::size_t kMostRoots = 16;

double known(double share) {
  return std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0;
}

/// The links of a circle, each before the one that it waits for.
std::vector<PortIndex> around(std::vector<PortIndex> links, const Topology& topology) {
  for (std::size_t i = 0; i + 1 < links.size(); ++i) {
    const NodeIndex behind = topology.port(topology.port(links[i]).peer).node;
    const auto rest = links.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    const auto next =
        std::find_if(rest, links.end(), [&](PortIndex link) { return topology.port(link).node == behind; });
    if (next != links.end()) std::iter_swap(rest, next);
  }
  return links;
}

}  // namespace

WaitingTree describe_waiting(const CongestionRoot& root, const Topology& topology, const std::vector<PortRates>& rates,
                             std::span<const float> line_rates, const Describe& describe) {
  WaitingTree tree;
  tree.total = root.victim_count;
  std::unordered_map<PortIndex, std::uint32_t> positions;
  const auto add = [&](PortIndex egress, std::optional<std::uint32_t> waits_for) {
    const auto rate = static_cast<double>(line_rates[egress]);
    positions.emplace(egress, static_cast<std::uint32_t>(tree.links.size()));
    tree.links.push_back({.sender = describe.port(topology.key_of(egress)),
                          .towards = describe.port(topology.key_of(topology.port(egress).peer)).label,
                          .waits_for = waits_for,
                          .stall_ratio = known(rates[egress].stall_ratio),
                          .utilization_ratio = rate > 0 ? known(rates[egress].transmit_bits_per_second / rate) : 0.0});
  };
  const std::vector<PortIndex> roots = root.kind == IncidentKind::kDeadlock ? around(root.links, topology) : root.links;
  for (std::size_t i = 0; i < std::min(roots.size(), kMostRoots); ++i) add(roots[i], std::nullopt);

  std::unordered_map<PortIndex, PortIndex> waits_for;
  for (std::size_t i = 0; i < root.victims.size(); ++i) waits_for.emplace(root.victims[i], root.waits_for[i]);
  std::vector<PortIndex> way;
  for (const PortIndex victim : root.victims) {
    // Up to what stands in the tree already. Where a link between was not kept, this branch has no place in it.
    way.clear();
    PortIndex at = victim;
    while (at != kNoIndex && !positions.contains(at)) {
      way.push_back(at);
      const auto next = waits_for.find(at);
      at = next == waits_for.end() || way.size() > waits_for.size() ? kNoIndex : next->second;
    }
    if (at == kNoIndex || tree.links.size() + way.size() > kMostLinksInTree) continue;
    for (auto link = way.rbegin(); link != way.rend(); ++link) {
      const std::uint32_t on = positions.at(at);
      add(*link, on);
      at = *link;
    }
  }
  return tree;
}

}  // namespace weft::analyzer
