// SPDX-License-Identifier: Apache-2.0
#include "api/publication/freshness.hpp"

#include "api/publication/derived.hpp"

namespace weft::api {

std::uint32_t count_stale_nodes(const FabricView& fabric, TimePoint now) {
  if (!fabric.sweep || !fabric.sweep->topology) return 0;
  const Topology& topology = *fabric.sweep->topology;
  std::uint32_t count = 0;
  for (const Node& node : topology.nodes()) {
    if (!node.reachable) continue;
    for (PortIndex port = node.first_port; port < node.first_port + node.port_entries(); ++port) {
      if (topology.port(port).number.value == 0 || never_seen(*fabric.sweep, port)) continue;
      if (!is_stale(fabric, port, now)) continue;
      ++count;
      break;
    }
  }
  return count;
}

std::string status_text(const FabricView& fabric, TimePoint now) {
  const std::uint32_t stale = count_stale_nodes(fabric, now);
  if (stale == 0) return fabric.status;
  return fabric.status + "; " + std::to_string(stale) + (stale == 1 ? " node has" : " nodes have") + " no fresh data";
}

}  // namespace weft::api
