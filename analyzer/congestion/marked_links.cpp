// SPDX-License-Identifier: Apache-2.0
// Where nothing is paused: which full links mark, and who is told to slow down.
#include <algorithm>

#include "analyzer/congestion/congestion_finder.hpp"

namespace weft::analyzer {

// What hosts of each switch receive marked. A host whose own link is full and marks says nothing of the way there.
void CongestionFinder::find_marked_ways(const CongestionInput& input) {
  const Topology& topology = *input.topology;
  marked_ways_.clear();
  if (input.marks.empty() || !input.multipath) return;
  marked_ways_.assign(topology.nodes().size(), -1);
  for (PortIndex port = 0; port < input.marks.size(); ++port) {
    const PortIndex peer = topology.port(port).peer;
    const float received = input.marks[port].received;
    if (peer == kNoIndex || received < static_cast<float>(thresholds_.marked_ratio) || input.line_rates[peer] <= 0 ||
        utilization_of(input, peer) >= static_cast<float>(thresholds_.saturated_ratio))
      continue;
    float& marked = marked_ways_[topology.port(peer).node];
    marked = std::max(marked, received);
  }
}

// What share of the packets behind a full link carry a mark? Its own counter knows; else the host that it leads to, or
// hosts behind it.
void CongestionFinder::weigh_marks(const CongestionInput& input, HotLink& link) const {
  if (marked_ways_.empty() || topology_->node_of(topology_->port(link.egress)).type != NodeType::kSwitch) return;
  const PortIndex arrives = topology_->port(link.egress).peer;
  float marked = input.marks[link.egress].made;
  link.tells_marks = marked >= 0;
  if (!link.tells_marks && ends_at_a_host(link.egress))
    marked = input.marks[arrives].received;
  else if (!link.tells_marks)
    for (const NodeIndex leaf : input.multipath->destinations_over(link.egress))
      marked = std::max(marked, marked_ways_[leaf]);
  if (marked >= static_cast<float>(thresholds_.marked_ratio)) link.marked = marked;
}

bool CongestionFinder::ends_at_a_host(PortIndex egress) const {
  return topology_->node_of(topology_->port(topology_->port(egress).peer)).type != NodeType::kSwitch;
}

// May the marks behind a link come from one of `roots`? Where much of what fills the one goes on to the other, and at
// a host on whose ways a link between switches marks.
bool CongestionFinder::is_fed(const CongestionInput& input, PortIndex egress, std::span<const PortIndex> roots) {
  constexpr float kMuch = 0.35F;
  const auto feeds = [&](PortIndex from, PortIndex to) {
    return topology_->port(topology_->port(from).peer).node == topology_->port(to).node && graph_.carries(from, to) &&
           least_through(input, from, to) >= kMuch * input.line_rates[to];
  };
  return std::ranges::any_of(roots, [&](PortIndex root) {
    if (ends_at_a_host(root)) return feeds(egress, root);
    if (!ends_at_a_host(egress)) return feeds(root, egress) || feeds(egress, root);
    return std::ranges::binary_search(input.multipath->destinations_over(root), topology_->port(egress).node);
  });
}

}  // namespace weft::analyzer
