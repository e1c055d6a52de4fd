// SPDX-License-Identifier: Apache-2.0
#include "analyzer/places/ranks.hpp"

namespace weft::analyzer {

std::vector<std::uint8_t> node_ranks(const Topology& topology) {
  std::vector<std::uint8_t> ranks(topology.nodes().size(), kNoTier);
  std::vector<NodeIndex> queue;
  for (NodeIndex index = 0; index < ranks.size(); ++index) {
    const Node& node = topology.node(index);
    if (node.type == NodeType::kSwitch || node.aggregation_node) continue;
    ranks[index] = 0;
    queue.push_back(index);
  }
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const std::uint8_t next = ranks[queue[head]] < kNoTier - 1 ? ranks[queue[head]] + std::uint8_t{1} : kNoTier;
    for (const Port& port : topology.ports_of(topology.node(queue[head]))) {
      if (port.peer == kNoIndex) continue;
      const NodeIndex other = topology.port(port.peer).node;
      if (ranks[other] != kNoTier || topology.node(other).type != NodeType::kSwitch) continue;
      ranks[other] = next;
      queue.push_back(other);
    }
  }
  return ranks;
}

}  // namespace weft::analyzer
