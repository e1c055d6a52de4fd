// SPDX-License-Identifier: Apache-2.0
// The subnet manager of made-up fabrics.

#include <algorithm>

#include "tests/fakes/fabric_builder.hpp"

namespace weft::fakes {

void FabricBuilder::route() {
  std::uint16_t next = 1;
  for (const Port& port : ports_) next = std::max<std::uint16_t>(next, static_cast<std::uint16_t>(port.lid.value + 1));
  for (Port& port : ports_)
    if (nodes_[port.node].lowest_port() == port.number.value && !port.lid.is_unicast()) port.lid = {next++};
  touch();

  const std::size_t block_count = next / kRouteBlockSize + 1U;
  RouteBlock none;
  none.fill(kNoEgress.value);
  std::vector<std::vector<RouteBlock>> tables(nodes_.size(), std::vector<RouteBlock>(block_count, none));
  std::vector<std::uint32_t> distance(nodes_.size());
  std::vector<NodeIndex> queue;
  for (NodeIndex destination = 0; destination < nodes_.size(); ++destination) {
    const Lid lid = ports_[nodes_[destination].first_port].lid;
    distance.assign(nodes_.size(), kNoIndex);
    distance[destination] = 0;
    queue.assign(1, destination);
    for (std::size_t head = 0; head < queue.size(); ++head) {
      const Node& node = nodes_[queue[head]];
      if (node.type != NodeType::kSwitch && queue[head] != destination) continue;
      for (PortIndex p = node.first_port; p < node.first_port + node.port_entries(); ++p) {
        if (ports_[p].peer == kNoIndex || !ports_[p].is_up()) continue;
        const NodeIndex other = ports_[ports_[p].peer].node;
        if (distance[other] != kNoIndex) continue;
        distance[other] = distance[queue[head]] + 1;
        queue.push_back(other);
      }
    }
    std::vector<std::uint8_t> choices;
    for (const NodeIndex at : queue) {
      const Node& node = nodes_[at];
      if (node.type != NodeType::kSwitch) continue;
      choices.clear();
      for (PortIndex p = node.first_port; p < node.first_port + node.port_entries(); ++p)
        if (ports_[p].peer != kNoIndex && ports_[p].is_up() && ports_[p].number.value <= kMostSubnetPorts &&
            distance[ports_[ports_[p].peer].node] < distance[at])
          choices.push_back(static_cast<std::uint8_t>(ports_[p].number.value));
      tables[at][lid.value / kRouteBlockSize][lid.value % kRouteBlockSize] = at == destination ? std::uint8_t{0}
                                                                             : choices.empty()
                                                                                 ? std::uint8_t{kNoEgress.value}
                                                                                 : choices[lid.value % choices.size()];
    }
  }
  for (NodeIndex at = 0; at < nodes_.size(); ++at) {
    if (nodes_[at].type != NodeType::kSwitch) continue;
    routes_.set_top(at, Lid{static_cast<std::uint16_t>(next - 1)});
    for (std::uint16_t number = 0; number < block_count; ++number) routes_.set_block(at, number, tables[at][number]);
  }
}

void FabricBuilder::send(NodeIndex at, Lid to, PortNum through) {
  const auto number = static_cast<std::uint16_t>(to.value / kRouteBlockSize);
  RouteBlock block = *routes_.publish()->block(at, number);
  block[to.value % kRouteBlockSize] = static_cast<std::uint8_t>(through.value);
  routes_.set_block(at, number, block);
}

Lid FabricBuilder::lid_of(const std::string& name) const {
  return ports_[nodes_[find(name)].first_port].lid;
}

}  // namespace weft::fakes
