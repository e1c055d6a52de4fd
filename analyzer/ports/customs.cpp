// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/customs.hpp"

#include <map>

namespace weft::analyzer {
namespace {

/// Fewer links than this at a switch make no custom.
constexpr unsigned kFewestSiblings = 3;

/// `of` tells the value of a port.
template <typename Value, typename Of>
std::vector<Value> customs_by_node(const Topology& topology, const Of& of) {
  std::vector<Value> custom(topology.nodes().size(), Value{});
  for (std::size_t i = 0; i < custom.size(); ++i) {
    const Node& node = topology.nodes()[i];
    if (node.type != NodeType::kSwitch) continue;
    std::map<Value, unsigned> ports;
    unsigned total = 0;
    for (const Port& port : topology.ports_of(node)) {
      if (!port.is_up() || port.number.value == 0) continue;
      ++ports[of(port)];
      ++total;
    }
    for (const auto& [value, count] : ports)
      if (count >= kFewestSiblings && count * 2 > total) custom[i] = value;
  }
  return custom;
}

}  // namespace

std::vector<int> customary_lanes(const Topology& topology) {
  return customs_by_node<int>(topology, [](const Port& port) { return static_cast<int>(lanes(port.width_active)); });
}

std::vector<SpeedMask> customary_speeds(const Topology& topology) {
  return customs_by_node<SpeedMask>(topology, [](const Port& port) { return port.speed_active; });
}

}  // namespace weft::analyzer
