// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/cross_sections.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

namespace weft::analyzer {
namespace {

bool is_live(const CabledShape& fabric, PortIndex port) {
  const Port& end = fabric.topology.port(port);
  return end.peer != kNoIndex && end.is_up() && fabric.topology.port(end.peer).is_up() &&
         !std::ranges::binary_search(fabric.avoided, port);
}

bool is_busy(const CabledShape& fabric, NodeIndex node) {
  return std::ranges::binary_search(fabric.busy, node);
}

PortIndex other_end(const CabledShape& fabric, PortIndex port) {
  if (const PortIndex peer = fabric.topology.port(port).peer; peer != kNoIndex) return peer;
  for (const auto& [a, b] : fabric.missing)
    if (a == port || b == port) return a == port ? b : a;
  return kNoIndex;
}

// Calls visit(other switch, whether the cable is live) for each cable at a switch.
template <typename Visit>
void visit_cables(const CabledShape& fabric, NodeIndex node, Visit visit) {
  const Topology& topology = fabric.topology;
  const PortIndex first = topology.node(node).first_port, end = first + topology.node(node).port_entries();
  for (PortIndex port = first; port < end; ++port)
    if (topology.port(port).peer != kNoIndex)
      visit(topology.port(topology.port(port).peer).node, is_live(fabric, port));
  for (const auto& [a, b] : fabric.missing) {
    if (topology.port(a).peer != kNoIndex || topology.port(b).peer != kNoIndex) continue;
    if (topology.port(a).node == node) visit(topology.port(b).node, false);
    if (topology.port(b).node == node) visit(topology.port(a).node, false);
  }
}

void count(CrossSection& section, bool live) {
  ++section.designed;
  section.kept += live ? 1 : 0;
}

class Dragonfly {
 public:
  explicit Dragonfly(const CabledShape& fabric) : fabric_(fabric), groups_(fabric.shape.groups) {}

  std::vector<CrossSection> of(NodeIndex a, NodeIndex b) const {
    if (groups_[a] == kNoIndex || groups_[b] == kNoIndex) return {};
    if (groups_[a] != groups_[b])
      return {global_of(groups_[a]), global_of(groups_[b]), between(groups_[a], groups_[b])};
    if (!is_local(a, b)) return {};
    return {local_of(a), local_of(b), halves_of(groups_[a])};
  }

 private:
  const std::string& name_of(NodeIndex node) const { return fabric_.topology.node(node).name; }

  template <typename Visit>
  void visit_group(std::uint32_t group, Visit visit) const {
    for (NodeIndex node = 0; node < groups_.size(); ++node)
      if (groups_[node] == group) visit(node);
  }

  NodeIndex first_of(std::uint32_t group) const {
    return static_cast<NodeIndex>(std::ranges::find(groups_, group) - groups_.begin());
  }

  bool has_adapter(NodeIndex node) const {
    bool found = false;
    visit_cables(fabric_, node, [&](NodeIndex other, bool) {
      const Node& end = fabric_.topology.node(other);
      found = found || (end.type != NodeType::kSwitch && !end.aggregation_node);
    });
    return found;
  }

  // Of one group, and of the kinds that its cables join.
  bool is_local(NodeIndex a, NodeIndex b) const {
    return groups_[a] == groups_[b] && (!fabric_.shape.has_spines || has_adapter(a) != has_adapter(b));
  }

  CrossSection global_of(std::uint32_t group) const {
    CrossSection section{"the global links of the group of " + name_of(first_of(group))};
    visit_group(group, [&](NodeIndex node) {
      section.is_busy = section.is_busy || is_busy(fabric_, node);
      visit_cables(fabric_, node, [&](NodeIndex other, bool live) {
        if (groups_[other] != kNoIndex && groups_[other] != group) count(section, live);
      });
    });
    return section;
  }

  CrossSection between(std::uint32_t group, std::uint32_t far) const {
    CrossSection section{"the links between the groups of " + name_of(first_of(group)) + " and " +
                         name_of(first_of(far))};
    section.has_detour = true;
    visit_group(group, [&](NodeIndex node) {
      section.is_busy = section.is_busy || is_busy(fabric_, node);
      visit_cables(fabric_, node, [&](NodeIndex other, bool live) {
        if (groups_[other] == far) count(section, live);
      });
    });
    visit_group(far, [&](NodeIndex node) { section.is_busy = section.is_busy || is_busy(fabric_, node); });
    return section;
  }

  CrossSection local_of(NodeIndex node) const {
    CrossSection section{"the local links of " + name_of(node)};
    section.is_busy = is_busy(fabric_, node);
    visit_cables(fabric_, node, [&](NodeIndex other, bool live) {
      if (is_local(node, other)) count(section, live);
    });
    return section;
  }

  // Between halves of the switches of a full mesh, or of the leaves of a group with spines, lie as many cables
  // whichever halves they are. Those that a pair has beyond what most pairs have do not count.
  CrossSection halves_of(std::uint32_t group) const {
    CrossSection section{"the cables between two halves of the group of " + name_of(first_of(group))};
    std::vector<NodeIndex> leaves, spines;
    visit_group(group, [&](NodeIndex node) {
      section.is_busy = section.is_busy || is_busy(fabric_, node);
      (fabric_.shape.has_spines && !has_adapter(node) ? spines : leaves).push_back(node);
    });
    std::map<std::pair<NodeIndex, NodeIndex>, CrossSection> pairs;
    const auto pair_of = [](NodeIndex a, NodeIndex b) { return std::pair(std::min(a, b), std::max(a, b)); };
    for (const NodeIndex node : leaves) {
      for (const NodeIndex other : fabric_.shape.has_spines ? spines : leaves)
        if (other != node) pairs.try_emplace(pair_of(node, other));
      visit_cables(fabric_, node, [&](NodeIndex other, bool live) {
        if (const auto pair = pairs.find(pair_of(node, other)); pair != pairs.end()) count(pair->second, live);
      });
    }
    // In a mesh each cable was met from both of its ends.
    const std::uint32_t met = fabric_.shape.has_spines ? 1 : 2;
    std::map<std::uint32_t, std::uint32_t> sizes;
    for (const auto& [ends, pair] : pairs)
      if (pair.designed > 0) ++sizes[pair.designed / met];
    const std::uint32_t usual =
        std::ranges::max_element(sizes, {}, &std::pair<const std::uint32_t, std::uint32_t>::second)->first;
    const auto half = static_cast<std::uint32_t>(leaves.size() / 2);
    section.designed =
        usual * half * static_cast<std::uint32_t>(fabric_.shape.has_spines ? spines.size() : leaves.size() - half);
    std::uint32_t lost = 0;
    for (const auto& [ends, pair] : pairs) lost += usual - std::min(usual, pair.kept / met);
    section.kept = section.designed - std::min(section.designed, lost);
    return section;
  }

  const CabledShape& fabric_;
  const std::vector<std::uint32_t>& groups_;
};

// The dimension in which two switches of a torus are next to each other, and where the first one of the two stands.
struct Step {
  std::size_t dimension = 0;
  std::uint32_t from = 0;
};

std::optional<Step> step_of(const TorusGrid& grid, NodeIndex a, NodeIndex b) {
  if (!grid.has(a) || !grid.has(b)) return std::nullopt;
  std::optional<Step> step;
  for (std::size_t dimension = 0; dimension < grid.dimensions(); ++dimension) {
    const std::uint32_t radix = grid.radix[dimension], at = grid.in(dimension, a), other = grid.in(dimension, b);
    if (at == other) continue;
    if (step) return std::nullopt;
    if ((at + 1) % radix == other)
      step = Step{dimension, radix == 2 ? 0 : at};
    else if ((other + 1) % radix == at)
      step = Step{dimension, other};
    else
      return std::nullopt;
  }
  return step;
}

}  // namespace

// The cables of a torus, counted once for all questions.
struct TorusCounts {
  struct Ring {
    NodeIndex first = kNoIndex;
    std::uint32_t broken = 0;  // neighbours that no live cable joins
  };
  // By dimension, then by where in a ring they begin: all cables to the next place.
  std::vector<std::vector<CrossSection>> steps;
  std::vector<std::uint32_t> live_to;  // [node * dimensions + dimension]: live cables to the next switch of the ring
  std::map<std::size_t, Ring> rings;
  std::vector<std::size_t> in_pieces;  // rings that are broken twice or more
  bool has_broken_pair = false;        // in a dimension of two
  bool is_busy = false;
};

namespace {

// A ring is told by its dimension and the places of its switches in all others.
std::size_t ring_of(const TorusGrid& grid, NodeIndex node, std::size_t dimension) {
  std::size_t ring = dimension;
  for (std::size_t other = 0; other < grid.dimensions(); ++other)
    ring = ring * grid.radix[other] + (other == dimension ? 0 : grid.in(other, node));
  return ring;
}

std::shared_ptr<const TorusCounts> count_torus(const CabledShape& fabric) {
  const TorusGrid& grid = *fabric.shape.grid;
  auto counts = std::make_shared<TorusCounts>();
  for (const std::uint32_t radix : grid.radix) counts->steps.emplace_back(radix);
  counts->live_to.assign(fabric.topology.nodes().size() * grid.dimensions(), 0);
  for (NodeIndex node = 0; node < fabric.topology.nodes().size(); ++node) {
    if (!grid.has(node)) continue;
    counts->is_busy = counts->is_busy || is_busy(fabric, node);
    // Each cable is counted at the switch from which it leads on.
    visit_cables(fabric, node, [&](NodeIndex other, bool live) {
      const auto step = step_of(grid, node, other);
      if (!step || step->from != grid.in(step->dimension, node)) return;
      count(counts->steps[step->dimension][step->from], live);
      counts->live_to[node * grid.dimensions() + step->dimension] += live ? 1 : 0;
    });
    for (std::size_t dimension = 0; dimension < grid.dimensions(); ++dimension) {
      const bool is_second_of_pair = grid.radix[dimension] == 2 && grid.in(dimension, node) == 1;
      TorusCounts::Ring& ring = counts->rings[ring_of(grid, node, dimension)];
      if (ring.first == kNoIndex) ring.first = node;
      if (is_second_of_pair || counts->live_to[node * grid.dimensions() + dimension] > 0) continue;
      ++ring.broken;
      counts->has_broken_pair = counts->has_broken_pair || grid.radix[dimension] == 2;
    }
  }
  for (const auto& [ring, of] : counts->rings)
    if (of.broken > 1) counts->in_pieces.push_back(ring);
  return counts;
}

const TorusCounts& counts_of(const CabledShape& fabric) {
  if (!fabric.counts) fabric.counts = count_torus(fabric);
  return *fabric.counts;
}

std::vector<CrossSection> torus_sections(const CabledShape& fabric, const TorusGrid& grid, NodeIndex a, NodeIndex b) {
  const auto hurt = step_of(grid, a, b);
  if (!hurt) return {};
  const TorusCounts& counts = counts_of(fabric);
  // A ring is parted by two steps that lie opposite each other.
  const std::uint32_t radix = grid.radix[hurt->dimension];
  std::set<std::uint32_t> opposite{hurt->from};
  if (radix > 2) opposite = {(hurt->from + radix / 2) % radix, (hurt->from + radix - radix / 2) % radix};
  std::vector<CrossSection> sections;
  for (const std::uint32_t other : opposite) {
    CrossSection section = counts.steps[hurt->dimension][hurt->from];
    section.name = "the cables between two halves of the torus, across " + fabric.topology.node(a).name + " - " +
                   fabric.topology.node(b).name;
    section.is_busy = counts.is_busy;
    if (other != hurt->from) {
      section.designed += counts.steps[hurt->dimension][other].designed;
      section.kept += counts.steps[hurt->dimension][other].kept;
    }
    sections.push_back(std::move(section));
  }
  return sections;
}

}  // namespace

std::vector<CrossSection> cross_sections(const CabledShape& fabric, PortIndex port) {
  const PortIndex peer = other_end(fabric, port);
  if (peer == kNoIndex) return {};
  const NodeIndex a = fabric.topology.port(port).node, b = fabric.topology.port(peer).node;
  if (a == b) return {};
  if (fabric.shape.shape == Shape::kDragonfly) return Dragonfly(fabric).of(a, b);
  if (fabric.shape.grid) return torus_sections(fabric, *fabric.shape.grid, a, b);
  return {};
}

RingBreaks ring_breaks(const CabledShape& fabric, PortIndex port) {
  const TorusGrid& grid = *fabric.shape.grid;
  const TorusCounts& counts = counts_of(fabric);
  const NodeIndex a = fabric.topology.port(port).node, b = fabric.topology.port(other_end(fabric, port)).node;
  const Step own = *step_of(grid, a, b);
  const NodeIndex from = grid.in(own.dimension, a) == own.from ? a : b;
  const std::size_t ring = ring_of(grid, a, own.dimension);
  RingBreaks breaks;
  breaks.is_told = grid.radix[own.dimension] > 2 && !counts.has_broken_pair;
  const bool is_last = is_live(fabric, port) && counts.live_to[from * grid.dimensions() + own.dimension] == 1;
  breaks.of_own = counts.rings.at(ring).broken + (is_last ? 1 : 0);
  for (const std::size_t other : counts.in_pieces)
    if (other != ring) breaks.twice = counts.rings.at(other).first;
  return breaks;
}

}  // namespace weft::analyzer
