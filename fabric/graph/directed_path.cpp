// SPDX-License-Identifier: Apache-2.0
#include "fabric/graph/directed_path.hpp"

#include <algorithm>
#include <string>

namespace weft {
namespace {

bool is_down(const Topology& topology, const Port& port) {
  // What a node out of reach said last is out of date: its other end knows better.
  return port.state == PortState::kDown && topology.node_of(port).reachable;
}

/// Breadth first from our own port. `arrived_by[n]` is the port that the way into node n leaves its predecessor by.
struct Ways {
  std::vector<PortIndex> arrived_by;
  std::vector<std::uint8_t> hops;
  std::vector<bool> reached;
};

Ways spread(const Topology& topology, PortIndex from, const std::optional<LinkKey>& avoiding, RouteOver over) {
  const auto nodes = topology.nodes().size();
  const auto avoided = [&](PortKey end) { return avoiding ? topology.find_port(end) : kNoIndex; };
  const PortIndex low = avoided(avoiding.value_or(LinkKey{}).low);
  const PortIndex high = avoided(avoiding.value_or(LinkKey{}).high);
  Ways ways{std::vector<PortIndex>(nodes, kNoIndex), std::vector<std::uint8_t>(nodes, 0), std::vector<bool>(nodes)};
  std::vector<NodeIndex> queue{topology.port(from).node};
  ways.reached[queue.front()] = true;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const NodeIndex here = queue[head];
    const Node& node = topology.node(here);
    if (ways.hops[here] >= kMostRouteHops) break;  // all that follow are as far
    // Out of an adapter it is our own port only, and no other adapter passes anything on.
    if (node.type != NodeType::kSwitch && head != 0) continue;
    for (const Port& port : topology.ports_of(node)) {
      const auto exit = static_cast<PortIndex>(&port - topology.ports().data());
      if (node.type != NodeType::kSwitch && exit != from) continue;
      if (port.number.value == 0 || port.peer == kNoIndex) continue;
      const Port& far = topology.port(port.peer);
      if (ways.reached[far.node]) continue;
      if (over == RouteOver::kLinksUp && (port.state == PortState::kDown || is_down(topology, far))) continue;
      // Cabled to each other, that is; cabled elsewhere, they are other links.
      if ((exit == low && port.peer == high) || (exit == high && port.peer == low)) continue;
      ways.reached[far.node] = true;
      ways.arrived_by[far.node] = exit;
      ways.hops[far.node] = static_cast<std::uint8_t>(ways.hops[here] + 1);
      queue.push_back(far.node);
    }
  }
  return ways;
}

std::optional<DirectedPath> way_of(const Topology& topology, const Ways& ways, NodeIndex to) {
  if (!ways.reached[to]) return std::nullopt;
  DirectedPath way;
  for (NodeIndex at = to; ways.arrived_by[at] != kNoIndex; at = topology.port(ways.arrived_by[at]).node)
    way.push_back(topology.port(ways.arrived_by[at]).number);
  std::ranges::reverse(way);
  return way;
}

std::string label(const Topology& topology, PortKey key) {
  const PortIndex index = topology.find_port(key);
  return index == kNoIndex ? to_string(key.node) + " port " + std::to_string(key.port.value)
                           : port_label(topology, index);
}

/// Why `key`, which is in the graph, cannot be an end of `link` that is set; nullopt when it can.
std::optional<Error> unfit(const Topology& topology, PortKey local_port, PortKey key, LinkKey link) {
  const PortIndex index = topology.find_port(key);
  if (key == local_port)
    return Error{ErrorCode::kFailedPrecondition, label(topology, key) + " is the port that weftd uses"};
  if (topology.node_of(topology.port(index)).type != NodeType::kSwitch)
    return Error{ErrorCode::kFailedPrecondition,
                 label(topology, key) + " is not on a switch: an access link has no alternative path"};
  if (key.port.value == 0)
    return Error{ErrorCode::kFailedPrecondition, label(topology, key) + " is a switch itself, not a port of it"};
  if (const auto cable = topology.link_of(index); cable && *cable != link)
    return Error{ErrorCode::kFailedPrecondition, label(topology, key) + " is now cabled to " +
                                                     label(topology, cable->low == key ? cable->high : cable->low)};
  return std::nullopt;
}

}  // namespace

std::optional<DirectedPath> find_directed_path(const Topology& topology, PortKey from, NodeGuid to,
                                               const std::optional<LinkKey>& avoiding, RouteOver over) {
  const PortIndex start = topology.find_port(from);
  const NodeIndex end = topology.find_node(to);
  if (start == kNoIndex || end == kNoIndex) return std::nullopt;
  return way_of(topology, spread(topology, start, avoiding, over), end);
}

bool is_bridge(const Topology& topology, LinkKey link) {
  const PortIndex low = topology.find_port(link.low), high = topology.find_port(link.high);
  if (low == kNoIndex || high == kNoIndex) return false;
  const NodeIndex ends[] = {topology.port(low).node, topology.port(high).node};
  if (ends[0] == ends[1]) return false;
  // From both ends at once, always where fewer nodes wait: the two meet near the link where there is a way round.
  enum : std::uint8_t { kNew, kFromLow, kFromHigh };
  std::vector<std::uint8_t> seen(topology.nodes().size(), kNew);
  std::vector<NodeIndex> queues[] = {{ends[0]}, {ends[1]}};
  std::size_t heads[] = {0, 0};
  seen[ends[0]] = kFromLow;
  seen[ends[1]] = kFromHigh;
  while (heads[0] < queues[0].size() && heads[1] < queues[1].size()) {
    const std::size_t side = queues[0].size() - heads[0] <= queues[1].size() - heads[1] ? 0 : 1;
    const std::uint8_t own = side == 0 ? kFromLow : kFromHigh;
    const NodeIndex here = queues[side][heads[side]++];
    const Node& node = topology.node(here);
    // Adapters pass nothing on.
    if (node.type != NodeType::kSwitch && here != ends[side]) continue;
    for (const Port& port : topology.ports_of(node)) {
      const auto exit = static_cast<PortIndex>(&port - topology.ports().data());
      if (port.number.value == 0 || port.peer == kNoIndex) continue;
      if (node.type != NodeType::kSwitch && exit != low && exit != high) continue;
      const Port& far = topology.port(port.peer);
      if (port.state == PortState::kDown || is_down(topology, far)) continue;
      if (topology.is_ethernet() && !port.is_up()) continue;  // nobody reads it
      if ((exit == low && port.peer == high) || (exit == high && port.peer == low)) continue;
      if (seen[far.node] == own) continue;
      if (seen[far.node] != kNew) {
        if (topology.node(far.node).type == NodeType::kSwitch || far.node == ends[1 - side]) return false;
        continue;
      }
      seen[far.node] = own;
      queues[side].push_back(far.node);
    }
  }
  return true;
}

Result<LinkEnds> find_link_ends(const Topology& topology, PortKey local_port, LinkKey link,
                                const std::optional<PortKey>& set) {
  if (topology.is_ethernet())
    return fail(ErrorCode::kInvalidArgument,
                label(topology, link.low) + " is in an Ethernet fabric, not an InfiniBand port");
  const PortIndex start = topology.find_port(local_port);
  if (start == kNoIndex) return fail(ErrorCode::kInvalidArgument, "weftd's own port is not in the last sweep");
  if (set && *set != link.low && *set != link.high)
    return fail(ErrorCode::kInvalidArgument, label(topology, *set) + " is no end of the link");
  const PortIndex low = topology.find_port(link.low);
  const PortIndex high = topology.find_port(link.high);
  if (low == kNoIndex && high == kNoIndex)
    return fail(ErrorCode::kInvalidArgument, "neither " + label(topology, link.low) + " nor " +
                                                 label(topology, link.high) + " is in the last sweep");
  for (const PortKey key : {link.low, link.high}) {
    if (topology.find_port(key) == kNoIndex) continue;
    if (auto reason = unfit(topology, local_port, key, link)) return tl::unexpected(std::move(*reason));
  }
  if (link.low.node == link.high.node)
    return fail(ErrorCode::kFailedPrecondition, label(topology, link.low) + " is cabled to its own switch");

  const Ways now = spread(topology, start, link, RouteOver::kLinksUp);
  const Ways known = spread(topology, start, link, RouteOver::kCables);
  const auto way = [&](PortIndex end) {
    return end == kNoIndex ? std::nullopt : way_of(topology, now, topology.port(end).node);
  };
  const auto hops = [&](PortIndex end) {
    const NodeIndex node = end == kNoIndex ? kNoIndex : topology.port(end).node;
    return node == kNoIndex || !known.reached[node] ? kMostRouteHops + 1 : known.hops[node];
  };
  if (set ? *set == link.high : hops(high) < hops(low)) return LinkEnds{link.high, link.low, way(high), way(low)};
  return LinkEnds{link.low, link.high, way(low), way(high)};
}

}  // namespace weft
