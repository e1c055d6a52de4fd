// SPDX-License-Identifier: Apache-2.0
#include "fabric/graph/ecmp_path.hpp"
#include "fabric/graph/multipath.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace weft {
namespace {

using Hop = EcmpPath::Hop;

bool is_switch_port(const Topology& topology, PortIndex port) {
  return topology.node_of(topology.port(port)).type == NodeType::kSwitch;
}

/// A port of a host whose cable leads to the switch; kNoIndex when there is none.
PortIndex host_on(const Topology& topology, NodeIndex node) {
  const Node& of = topology.node(node);
  for (PortIndex port = of.first_port; port < of.first_port + of.port_entries(); ++port)
    if (const PortIndex peer = topology.port(port).peer; peer != kNoIndex && !is_switch_port(topology, peer))
      return peer;
  return kNoIndex;
}

/// One end: the switch at which the way through the fabric begins or ends.
struct End {
  NodeIndex edge = kNoIndex;    ///< kNoIndex: a host's port without a cable
  PortIndex host = kNoIndex;    ///< its port; kNoIndex of a switch
  PortIndex target = kNoIndex;  ///< a host's port on `edge`; kNoIndex where none is
};

End end_of(const Topology& topology, PortIndex port) {
  if (is_switch_port(topology, port)) {
    const NodeIndex node = topology.port(port).node;
    return {node, kNoIndex, host_on(topology, node)};
  }
  const PortIndex peer = topology.port(port).peer;
  if (peer == kNoIndex || !is_switch_port(topology, peer)) return {kNoIndex, port, kNoIndex};
  return {topology.port(peer).node, port, port};
}

/// Cables from switch to switch, stage after stage, from `first` to the switch that `target` hangs on.
struct Walk {
  std::vector<Hop> hops;
  std::uint32_t stages = 0;
  bool arrived = false;
};

/// `lost` hears of each switch that is come to.
template <typename Lost>
Walk walk(const Multipath& ways, NodeIndex first, PortIndex target, Lost&& at_switch) {
  const Topology& topology = *ways.topology();
  const NodeIndex last = topology.port(topology.port(target).peer).node;
  Walk result;
  std::set<NodeIndex> here{first}, next;
  // Each stage is one cable nearer to the end, for all its switches alike.
  while (!here.empty() && !here.contains(last)) {
    ++result.stages;
    next.clear();
    for (const NodeIndex node : here) {
      at_switch(node, result.stages);
      for (const PortIndex port : ways.next_hops(node, target)) {
        result.hops.push_back({port, result.stages, 0});
        next.insert(topology.port(topology.port(port).peer).node);
      }
    }
    here.swap(next);
  }
  result.arrived = here.contains(last);
  return result;
}

Walk walk(const Multipath& ways, NodeIndex first, PortIndex target) {
  return walk(ways, first, target, [](NodeIndex, std::uint32_t) {});
}

/// The same cables in the other direction: shortest ways are the same there and back.
void turn(const Topology& topology, std::vector<Hop>& hops, std::uint32_t stages) {
  for (Hop& hop : hops) hop = {topology.port(hop.from).peer, stages + 1 - hop.stage, hop.share};
}

/// Every switch spreads what comes to it evenly; hops are in the order of travel. Gives the number of ways.
std::uint32_t spread(const Topology& topology, std::vector<Hop>& hops) {
  std::map<NodeIndex, std::size_t> cables;
  for (const Hop& hop : hops) ++cables[topology.port(hop.from).node];
  std::map<NodeIndex, double> amount;
  std::map<NodeIndex, std::uint64_t> ways;
  constexpr std::uint64_t kMost = 0xFFFF'FFFF;
  NodeIndex last = kNoIndex;
  for (Hop& hop : hops) {
    const NodeIndex node = topology.port(hop.from).node;
    if (last == kNoIndex) {
      amount[node] = 1;
      ways[node] = 1;
    }
    last = topology.port(topology.port(hop.from).peer).node;
    hop.share = amount[node] / static_cast<double>(cables[node]);
    amount[last] += hop.share;
    ways[last] = std::min(ways[last] + ways[node], kMost);
  }
  return last == kNoIndex ? 1 : static_cast<std::uint32_t>(ways[last]);
}

void sort(std::vector<Hop>& hops) {
  std::ranges::sort(
      hops, [](const Hop& a, const Hop& b) { return a.stage != b.stage ? a.stage < b.stage : a.from < b.from; });
}

}  // namespace

Multipath intact_ways(const Topology& topology) {
  const auto all = topology.ports();
  std::vector<Port> ports(all.begin(), all.end());
  for (Port& port : ports) port.state = PortState::kUnknown;
  const auto nodes = topology.nodes();
  return Multipath(std::make_shared<const Topology>(topology.epoch(), std::vector<Node>(nodes.begin(), nodes.end()),
                                                    std::move(ports), std::vector<DuplicateGuid>(), topology.layer()));
}

std::optional<EcmpPath> find_flow_path(const Multipath& ways, const Multipath& intact, PortIndex from, PortIndex to) {
  const Topology& topology = *ways.topology();
  EcmpPath path;
  if (topology.port(from).node == topology.port(to).node) {
    path.ways = path.ways_intact = 1;
    return path;
  }
  const End source = end_of(topology, from), sink = end_of(topology, to);
  for (const End* end : {&source, &sink})
    if (end->edge == kNoIndex) {
      path.end = PathEnd::kNoCable;
      path.way_out = end->host;
      return path;
    }
  const bool back = sink.target == kNoIndex;
  if (back && source.target == kNoIndex) return std::nullopt;
  const NodeIndex first = back ? sink.edge : source.edge;
  const PortIndex target = back ? source.target : sink.target;

  Walk whole = walk(intact, first, target);
  std::vector<Hop> lost;
  Walk found = walk(ways, first, target, [&](NodeIndex node, std::uint32_t stage) {
    for (const PortIndex port : intact.next_hops(node, target))
      if (!ways.is_usable(port)) lost.push_back({port, stage, 0});
  });
  if (!found.arrived) path.end = PathEnd::kNoRoute;
  for (const End* end : {&source, &sink})
    if (end->host != kNoIndex && !ways.is_usable(end->host) && path.end != PathEnd::kLinkDown) {
      path.end = PathEnd::kLinkDown;
      path.way_out = end->host;
    }

  const auto complete = [&](Walk& cables) {
    if (back) turn(topology, cables.hops, cables.stages);
    if (source.host != kNoIndex) {
      for (Hop& hop : cables.hops) ++hop.stage;
      cables.hops.push_back({source.host, 1, 0});
    }
    const std::uint32_t before = cables.stages + (source.host != kNoIndex ? 1 : 0);
    if (sink.host != kNoIndex) cables.hops.push_back({topology.port(sink.host).peer, before + 1, 0});
    sort(cables.hops);
  };
  if (back) turn(topology, lost, found.stages);
  if (source.host != kNoIndex)
    for (Hop& hop : lost) ++hop.stage;
  const std::uint32_t stages_intact = whole.stages;
  complete(whole);
  if (whole.arrived) path.ways_intact = spread(topology, whole.hops);
  if (!path.arrived()) {
    // Where it is cut shows on the ways there were.
    if (whole.arrived) path.hops = std::move(whole.hops);
    for (Hop& hop : path.hops) hop.share = 0;
    return path;
  }
  path.detour = found.stages > stages_intact;
  complete(found);
  path.ways = spread(topology, found.hops);
  path.hops = std::move(found.hops);
  path.hops.insert(path.hops.end(), lost.begin(), lost.end());
  sort(path.hops);
  return path;
}

std::string describe(const Topology& topology, const EcmpPath& path, PortIndex from, PortIndex to) {
  switch (path.end) {
    case PathEnd::kArrived:
      break;
    case PathEnd::kNoCable:
      return "the cabling file has no cable at " + port_label(topology, path.way_out);
    case PathEnd::kLinkDown:
      return "the link of " + port_label(topology, path.way_out) + " is down";
    default: {
      const auto name = [&](PortIndex end) {
        return is_switch_port(topology, end) ? topology.node_of(topology.port(end)).name : port_label(topology, end);
      };
      return path.hops.empty() ? "no cables connect " + name(from) + " to " + name(to)
                               : "all paths from " + name(from) + " to " + name(to) + " are cut by links that are down";
    }
  }
  if (path.hops.empty()) return "both ends are " + topology.node_of(topology.port(from)).name;
  std::string ways = path.ways == 1 ? "one path" : std::to_string(path.ways) + " ECMP paths";
  if (path.detour) return ways + ", longer than the paths cut by links that are down";
  if (path.ways < path.ways_intact)
    return ways + " of " + std::to_string(path.ways_intact) +
           (path.ways_intact - path.ways == 1 ? ": the other is" : ": the others are") + " cut by links that are down";
  return ways;
}

}  // namespace weft
