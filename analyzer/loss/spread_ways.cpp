// SPDX-License-Identifier: Apache-2.0
#include "analyzer/loss/spread_ways.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace weft::analyzer {
namespace {

/// A leaf that sent fewer packets by a cable, on average, shows nothing.
constexpr double kEnough = 10'000;
/// How far from their average its cables may be, as a share of it.
constexpr double kEven = 0.15;
/// Share of the leaves that must be even.
constexpr double kNearlyAll = 0.8;

}  // namespace

bool may_be_spread(const Topology& topology, const SentPackets& sent) {
  unsigned judged = 0;
  unsigned even = 0;
  std::vector<double> carried;
  for (const Node& node : topology.nodes()) {
    if (node.type != NodeType::kSwitch) continue;
    carried.clear();
    double sum = 0;
    bool has_hosts = false;
    bool known = true;
    for (PortIndex index = node.first_port; index < node.first_port + node.port_entries(); ++index) {
      const Port& port = topology.port(index);
      if (port.peer == kNoIndex || !port.is_up()) continue;
      if (topology.node_of(topology.port(port.peer)).type != NodeType::kSwitch) {
        has_hosts = true;
        continue;
      }
      const std::optional<double> packets = sent(index);
      known = known && packets;
      sum += packets.value_or(0);
      carried.push_back(packets.value_or(0));
    }
    const double average = sum / static_cast<double>(std::max<std::size_t>(1, carried.size()));
    if (!has_hosts || !known || carried.size() < 2 || average < kEnough) continue;
    ++judged;
    even += std::ranges::all_of(carried, [&](double one) { return std::abs(one - average) <= kEven * average; });
  }
  return judged > 0 && even >= kNearlyAll * judged;
}

}  // namespace weft::analyzer
