// SPDX-License-Identifier: Apache-2.0
#include "fabric/graph/traffic.hpp"
#include "fabric/graph/multipath.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace weft {
namespace {

class Follower {
 public:
  Follower(const Topology& topology, const Routes& routes, std::uint64_t most_steps)
      : topology_(topology),
        routes_(routes),
        most_steps_(most_steps),
        used_(topology.ports().size()),
        seen_(topology.nodes().size()),
        ends_(topology.nodes().size()) {}

  void follow(std::span<const PortIndex> group);
  Traffic finish();

 private:
  /// Ports of a group that are cabled to the same node.
  struct Entrance {
    NodeIndex node;
    std::vector<PortIndex> sources;
  };
  PathEnd walk(NodeIndex node, PortIndex target);
  void count(const Entrance& entrance, PortIndex target, PathEnd end);

  const Topology& topology_;
  const Routes& routes_;
  std::uint64_t most_steps_;
  std::uint64_t steps_ = 0;
  Traffic traffic_;
  std::vector<bool> used_;           // by port
  std::vector<std::uint32_t> seen_;  // by node: for which destination, counted from 1
  std::vector<PathEnd> ends_;        // by node: what became of that destination's packets from here
  std::uint32_t destination_ = 0;
  std::vector<NodeIndex> way_;
};

void Follower::follow(std::span<const PortIndex> group) {
  std::vector<Entrance> entrances;
  std::unordered_map<NodeIndex, std::size_t> by_node;
  for (const PortIndex source : group) {
    const Port& port = topology_.port(source);
    if (port.peer == kNoIndex) continue;
    const NodeIndex node = topology_.port(port.peer).node;
    const auto [found, added] = by_node.try_emplace(node, entrances.size());
    if (added) entrances.push_back({node, {}});
    entrances[found->second].sources.push_back(source);
  }
  for (const PortIndex target : group) {
    if (!topology_.port(target).lid.is_unicast()) continue;
    ++destination_;
    for (const Entrance& entrance : entrances) {
      if (steps_ >= most_steps_) {
        traffic_.complete = false;
        return;
      }
      // A node sends itself nothing over a cable.
      const bool others = std::ranges::any_of(entrance.sources, [&](PortIndex source) {
        return topology_.port(source).node != topology_.port(target).node;
      });
      if (others) count(entrance, target, walk(entrance.node, target));
    }
  }
}

/// What becomes of packets to `target` from `node` on. Each node is looked at once for each target.
PathEnd Follower::walk(NodeIndex node, PortIndex target) {
  const NodeIndex goal = topology_.port(target).node;
  const Lid lid = topology_.port(target).lid;
  PathEnd end = PathEnd::kArrived;
  way_.clear();
  while (true) {
    ++steps_;
    if (node == goal) break;
    if (seen_[node] == destination_) {
      // Of one that is on the way itself the end stands as kLoop so far.
      end = ends_[node];
      break;
    }
    seen_[node] = destination_;
    ends_[node] = PathEnd::kLoop;
    way_.push_back(node);
    const Node& at = topology_.node(node);
    if (at.type != NodeType::kSwitch) {
      end = PathEnd::kWrongNode;
      break;
    }
    const auto egress = routes_.egress(node, lid);
    if (!egress || *egress == kNoEgress || egress->value == 0 || egress->value > at.port_count) {
      end = !egress ? PathEnd::kNotRead : PathEnd::kNoRoute;
      break;
    }
    const PortIndex out = at.first_port + egress->value;
    const Port& port = topology_.port(out);
    if (port.peer == kNoIndex) {
      end = PathEnd::kNoCable;
      break;
    }
    used_[out] = true;
    const auto stopped = [](PortState state) { return state == PortState::kDown || state == PortState::kInitialize; };
    if (stopped(port.state) || stopped(topology_.port(port.peer).state)) {
      end = PathEnd::kLinkDown;
      break;
    }
    node = topology_.port(port.peer).node;
  }
  for (const NodeIndex passed : way_) ends_[passed] = end;
  return end;
}

void Follower::count(const Entrance& entrance, PortIndex target, PathEnd end) {
  PortIndex example = kNoIndex;
  for (const PortIndex source : entrance.sources) {
    if (topology_.port(source).node == topology_.port(target).node) continue;
    used_[source] = true;
    ++traffic_.pairs;
    if (end == PathEnd::kNotRead) ++traffic_.unread;
    if (end == PathEnd::kArrived || end == PathEnd::kNotRead) continue;
    ++traffic_.broken;
    example = source;
  }
  if (example != kNoIndex && traffic_.examples.size() < Traffic::kMostExamples)
    traffic_.examples.push_back({example, target, topology_.port(target).lid});
}

Traffic Follower::finish() {
  for (PortIndex port = 0; port < used_.size(); ++port)
    if (used_[port]) traffic_.senders.push_back(port);
  return std::move(traffic_);
}

/// The same by equal-cost ways. Hosts' ports on one switch share all of them but the last cable.
class WayFollower {
 public:
  WayFollower(const Multipath& multipath, std::uint64_t most_steps)
      : multipath_(multipath),
        topology_(*multipath.topology()),
        most_steps_(most_steps),
        used_(topology_.ports().size()),
        seen_(topology_.nodes().size()) {}

  void follow(std::span<const PortIndex> group) {
    std::map<NodeIndex, std::vector<PortIndex>> edges;
    for (const PortIndex port : group) {
      const PortIndex peer = topology_.port(port).peer;
      if (peer == kNoIndex) continue;
      // Ports that are cabled to no switch reach nobody, and nobody reaches them.
      edges[topology_.port(peer).node].push_back(port);
    }
    for (const auto& [edge, targets] : edges) {
      ++destination_;
      for (const auto& [from, sources] : edges) {
        if (steps_ >= most_steps_) {
          traffic_.complete = false;
          return;
        }
        const bool is_way = topology_.node(from).type == NodeType::kSwitch &&
                            (from == edge || !multipath_.next_hops(from, targets.front()).empty());
        bool passes = false;
        for (const PortIndex target : targets) passes = count(sources, target, is_way) || passes;
        if (passes) walk(from, targets.front());
      }
    }
  }

  Traffic finish() {
    for (PortIndex port = 0; port < used_.size(); ++port)
      if (used_[port]) traffic_.senders.push_back(port);
    return std::move(traffic_);
  }

 private:
  bool is_switch(PortIndex peer) const { return topology_.node_of(topology_.port(peer)).type == NodeType::kSwitch; }

  /// Counts the pairs of one target; true when something is sent to it. `is_way`: between their switches.
  bool count(const std::vector<PortIndex>& sources, PortIndex target, bool is_way) {
    const PortIndex last = topology_.port(target).peer;
    is_way = is_way && is_switch(last) && multipath_.is_usable(last);
    PortIndex example = kNoIndex;
    bool passes = false;
    for (const PortIndex source : sources) {
      if (topology_.port(source).node == topology_.port(target).node) continue;
      ++traffic_.pairs;
      if (is_way && multipath_.is_usable(source)) {
        passes = used_[source] = used_[last] = true;
        continue;
      }
      ++traffic_.broken;
      example = source;
    }
    if (example != kNoIndex && traffic_.examples.size() < Traffic::kMostExamples)
      traffic_.examples.push_back({example, target, topology_.port(target).lid});
    return passes;
  }

  /// All cables between switches that lead from one to the target's.
  void walk(NodeIndex from, PortIndex target) {
    const NodeIndex edge = topology_.port(topology_.port(target).peer).node;
    way_.assign(1, from);
    while (!way_.empty()) {
      const NodeIndex node = way_.back();
      way_.pop_back();
      if (node == edge || seen_[node] == destination_) continue;
      seen_[node] = destination_;
      steps_ += topology_.node(node).port_entries();
      for (const PortIndex port : multipath_.next_hops(node, target)) {
        used_[port] = true;
        way_.push_back(topology_.port(topology_.port(port).peer).node);
      }
    }
  }

  const Multipath& multipath_;
  const Topology& topology_;
  std::uint64_t most_steps_;
  std::uint64_t steps_ = 0;
  Traffic traffic_;
  std::vector<bool> used_;           // by port
  std::vector<std::uint32_t> seen_;  // by node: for which switch with targets, counted from 1
  std::uint32_t destination_ = 0;
  std::vector<NodeIndex> way_;
};

}  // namespace

Traffic follow_traffic(const Multipath& multipath, std::span<const std::vector<PortIndex>> groups,
                       std::uint64_t most_steps) {
  WayFollower follower(multipath, most_steps);
  for (const std::vector<PortIndex>& group : groups) follower.follow(group);
  return follower.finish();
}

Traffic follow_traffic(const Topology& topology, const Routes& routes, std::span<const std::vector<PortIndex>> groups,
                       std::uint64_t most_steps) {
  Follower follower(topology, routes, most_steps);
  for (const std::vector<PortIndex>& group : groups) follower.follow(group);
  return follower.finish();
}

}  // namespace weft
