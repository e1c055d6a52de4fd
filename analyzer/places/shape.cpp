// SPDX-License-Identifier: Apache-2.0
#include "analyzer/places/shape.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/number_text.hpp"

namespace weft::analyzer {
namespace {

constexpr double kNearlyAll = 0.9;
constexpr std::size_t kMostTorusNeighbours = 6;  // three dimensions

using Neighbours = std::vector<std::vector<std::uint32_t>>;  // by switch of a part: others, ascending, each once

struct Part {
  std::vector<NodeIndex> nodes;
  Neighbours next;
  std::vector<std::uint8_t> steps;  // to the nearest adapter, by switch
};

Part part_of(const Topology& topology, const Tiers& tiers, std::uint32_t part) {
  Part found;
  std::map<NodeIndex, std::uint32_t> position;
  for (NodeIndex node = 0; node < tiers.parts.size(); ++node)
    if (tiers.parts[node] == part) {
      position.emplace(node, static_cast<std::uint32_t>(found.nodes.size()));
      found.nodes.push_back(node);
      found.steps.push_back(tiers.of[node]);
    }
  for (const NodeIndex node : found.nodes) {
    std::set<std::uint32_t> next;
    for (const Port& port : topology.ports_of(topology.node(node)))
      if (port.peer != kNoIndex)
        if (const auto at = position.find(topology.port(port.peer).node); at != position.end() && at->first != node)
          next.insert(at->second);
    found.next.emplace_back(next.begin(), next.end());
  }
  return found;
}

bool are_cabled(const Neighbours& next, std::uint32_t a, std::uint32_t b) {
  return std::ranges::binary_search(next[a], b);
}

std::size_t shared_neighbours(const Neighbours& next, std::uint32_t a, std::uint32_t b) {
  std::vector<std::uint32_t> both;
  std::ranges::set_intersection(next[a], next[b], std::back_inserter(both));
  return both.size();
}

// Switches in the groups that are left when only cables count of which `is_local` is true.
template <typename IsLocal>
std::vector<std::uint32_t> groups_of(const Neighbours& next, IsLocal is_local) {
  std::vector<std::uint32_t> group(next.size(), kNoIndex);
  std::uint32_t count = 0;
  for (std::uint32_t start = 0; start < group.size(); ++start) {
    if (group[start] != kNoIndex) continue;
    std::vector<std::uint32_t> queue{start};
    group[start] = count;
    for (std::size_t head = 0; head < queue.size(); ++head)
      for (const std::uint32_t other : next[queue[head]])
        if (group[other] == kNoIndex && is_local(queue[head], other)) {
          group[other] = count;
          queue.push_back(other);
        }
    ++count;
  }
  return group;
}

// How many groups there are when nearly all pairs of them, and of at least three, are cabled; else nullopt.
std::optional<std::size_t> cabled_groups(const Neighbours& next, const std::vector<std::uint32_t>& group) {
  const std::size_t groups = std::size_t{*std::ranges::max_element(group)} + 1;
  if (groups < 3 || groups * 2 > next.size()) return std::nullopt;
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t at = 0; at < next.size(); ++at)
    for (const std::uint32_t other : next[at])
      if (group[at] < group[other]) pairs.emplace(group[at], group[other]);
  const double all = static_cast<double>(groups) * static_cast<double>(groups - 1) / 2;
  return static_cast<double>(pairs.size()) >= kNearlyAll * all ? std::optional(groups) : std::nullopt;
}

// By node, from groups by switch of the part.
std::vector<std::uint32_t> by_node(const Part& part, const std::vector<std::uint32_t>& group, std::size_t nodes) {
  std::vector<std::uint32_t> groups(nodes, kNoIndex);
  for (std::size_t at = 0; at < group.size(); ++at) groups[part.nodes[at]] = group[at];
  return groups;
}

std::optional<FabricShape> dragonfly(const Part& part, std::size_t nodes) {
  const Neighbours& next = part.next;
  // Equal switches: those of one group have most of their neighbours in common.
  const auto meshed = groups_of(next, [&](std::uint32_t a, std::uint32_t b) {
    return shared_neighbours(next, a, b) * 3 >= std::max(next[a].size(), next[b].size());
  });
  if (const auto groups = cabled_groups(next, meshed)) {
    std::vector<std::size_t> size(*groups, 0), cables(*groups, 0);
    for (std::uint32_t at = 0; at < next.size(); ++at) {
      ++size[meshed[at]];
      for (const std::uint32_t other : next[at]) cables[meshed[at]] += meshed[at] == meshed[other];
    }
    double pairs = 0;
    for (const std::size_t each : size) pairs += static_cast<double>(each) * static_cast<double>(each - 1);
    if (static_cast<double>(std::accumulate(cables.begin(), cables.end(), std::size_t{0})) >= kNearlyAll * pairs)
      return FabricShape{
          Shape::kDragonfly,
          std::to_string(*groups) + " groups of switches cabled to each other, nearly all pairs of groups cabled",
          by_node(part, meshed, nodes)};
  }
  // Leaves and spines: groups are joined by their spines.
  const auto of_leaves =
      groups_of(next, [&](std::uint32_t a, std::uint32_t b) { return part.steps[a] != part.steps[b]; });
  const bool two_tiers = std::ranges::all_of(part.steps, [](std::uint8_t steps) { return steps == 1 || steps == 2; });
  for (std::uint32_t at = 0; at < next.size() && two_tiers; ++at)
    for (const std::uint32_t other : next[at])
      if (part.steps[at] == 1 && part.steps[other] == 1) return std::nullopt;
  const auto groups = two_tiers ? cabled_groups(next, of_leaves) : std::nullopt;
  if (!groups) return std::nullopt;
  return FabricShape{
      Shape::kDragonfly,
      std::to_string(*groups) + " groups of leaves and spines, nearly all pairs of groups cabled (Dragonfly+)",
      by_node(part, of_leaves, nodes), true};
}

std::optional<std::string> torus(const Part& part) {
  const Neighbours& next = part.next;
  std::map<std::size_t, std::size_t> count;
  for (const auto& of : next) ++count[of.size()];
  const auto usual = std::ranges::max_element(count, {}, &std::pair<const std::size_t, std::size_t>::second)->first;
  if (usual < 2 || count.rbegin()->first > kMostTorusNeighbours) return std::nullopt;
  if (static_cast<double>(count[usual]) < kNearlyAll * static_cast<double>(next.size())) return std::nullopt;
  std::size_t cables = 0, in_squares = 0;
  for (std::uint32_t a = 0; a < next.size(); ++a)
    for (const std::uint32_t b : next[a]) {
      std::size_t squares = 0;
      for (const std::uint32_t c : next[a])
        for (const std::uint32_t d : next[b]) squares += c != b && d != a && c != d && are_cabled(next, c, d);
      ++cables;
      in_squares += squares * 2 >= usual - 2;
    }
  if (static_cast<double>(in_squares) < kNearlyAll * static_cast<double>(cables)) return std::nullopt;
  return "nearly all of its " + std::to_string(next.size()) + " switches have " + std::to_string(usual) +
         " neighbours, in rings";
}

// By node; with the cables that are missing.
std::optional<TorusGrid> grid_of(Part part, const Topology& topology,
                                 std::span<const std::pair<PortIndex, PortIndex>> missing) {
  const auto position = [&](PortIndex port) {
    const auto at = std::ranges::lower_bound(part.nodes, topology.port(port).node);
    return at != part.nodes.end() && *at == topology.port(port).node
               ? static_cast<std::uint32_t>(at - part.nodes.begin())
               : kNoIndex;
  };
  for (const auto& [a, b] : missing) {
    const std::uint32_t ends[] = {position(a), position(b)};
    if (ends[0] == kNoIndex || ends[1] == kNoIndex || ends[0] == ends[1] || are_cabled(part.next, ends[0], ends[1]))
      continue;
    for (const std::size_t i : {0U, 1U}) {
      auto& next = part.next[ends[i]];
      next.insert(std::ranges::lower_bound(next, ends[1 - i]), ends[1 - i]);
    }
  }
  auto grid = find_torus(part.next);
  if (!grid) return std::nullopt;
  std::vector<std::uint32_t> by_switch(topology.nodes().size() * grid->dimensions(), kNoIndex);
  by_switch.swap(grid->position);
  for (std::size_t at = 0; at < part.nodes.size(); ++at)
    for (std::size_t dimension = 0; dimension < grid->dimensions(); ++dimension)
      grid->position[part.nodes[at] * grid->dimensions() + dimension] = by_switch[at * grid->dimensions() + dimension];
  return grid;
}

// Hosts with adapters in several parts, and hosts with several adapters.
std::pair<std::size_t, std::size_t> hosts_over_parts(const Topology& topology, const Tiers& tiers) {
  std::map<std::string_view, std::pair<std::set<std::uint32_t>, std::size_t>> hosts;
  for (const Node& node : topology.nodes()) {
    if (node.type != NodeType::kChannelAdapter || node.aggregation_node) continue;
    for (const Port& port : topology.ports_of(node)) {
      const std::uint32_t part = port.peer == kNoIndex ? kNoIndex : tiers.parts[topology.port(port.peer).node];
      if (part == kNoIndex) continue;
      auto& [parts, ports] = hosts[host_name(node)];
      parts.insert(part);
      ++ports;
    }
  }
  std::pair<std::size_t, std::size_t> found{0, 0};
  for (const auto& [name, host] : hosts) {
    found.first += host.first.size() > 1;
    found.second += host.second > 1;
  }
  return found;
}

FabricShape trees(const Topology& topology, const Tiers& tiers) {
  const std::string count = std::to_string(tiers.fits.size());
  if (tiers.fits.size() == 1)
    return {Shape::kFatTree,
            share_text(tiers.fits.front().steps) + " of the cables between switches lead to the next tier"};
  const auto [over, several] = hosts_over_parts(topology, tiers);
  if (several > 0 && over * 2 > several)
    return {Shape::kRailOnly, count + " separate trees, joined by " + std::to_string(over) + " hosts only"};
  return {Shape::kFatTree, count + " separate trees"};
}

}  // namespace

const char* to_string(Shape shape) {
  switch (shape) {
    case Shape::kFatTree:
      return "fat tree";
    case Shape::kRailOnly:
      return "rail-only trees";
    case Shape::kDragonfly:
      return "dragonfly";
    case Shape::kTorus:
      return "torus";
    case Shape::kUnclear:
      break;
  }
  return "unclear";
}

FabricShape find_shape(const Topology& topology, const Tiers& tiers,
                       std::span<const std::pair<PortIndex, PortIndex>> missing) {
  if (tiers.fits.empty()) return {Shape::kUnclear, "no switch with an adapter is known"};
  std::vector<std::size_t> size(tiers.fits.size(), 0);
  for (const std::uint32_t part : tiers.parts)
    if (part != kNoIndex && !tiers.fits[part].is_tree()) ++size[part];
  const auto largest = std::ranges::max_element(size);
  if (*largest == 0) return trees(topology, tiers);
  const auto at = static_cast<std::uint32_t>(largest - size.begin());
  const Part part = part_of(topology, tiers, at);
  if (auto shape = dragonfly(part, topology.nodes().size())) return *std::move(shape);
  if (auto why = torus(part)) return {Shape::kTorus, *std::move(why), {}, false, grid_of(part, topology, missing)};
  const TierFit& fit = tiers.fits[at];
  return {Shape::kUnclear, share_text(fit.steps) + " of the cables between switches lead to the next tier, " +
                               share_text(fit.bottom) + " of the adapters are at the lowest, " +
                               share_text(fit.joined) + " of the pairs of leaves meet above"};
}

}  // namespace weft::analyzer
