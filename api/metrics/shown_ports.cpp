// SPDX-License-Identifier: Apache-2.0
#include "api/metrics/shown_ports.hpp"

#include "api/publication/derived.hpp"

namespace weft::api {

std::vector<std::vector<std::uint8_t>> shown_ports(const Snapshot& snapshot) {
  std::vector<std::vector<std::uint8_t>> shown(snapshot.fabrics.size());
  for (std::size_t fabric = 0; fabric < shown.size(); ++fabric) {
    const auto& sweep = snapshot.fabrics[fabric].sweep;
    if (!sweep || !sweep->topology) continue;
    const Topology& topology = *sweep->topology;
    shown[fabric].resize(topology.ports().size());
    for (PortIndex port = 0; port < shown[fabric].size(); ++port) {
      bool is_known = false;
      for (std::size_t earlier = 0; earlier < fabric && !is_known; ++earlier) {
        if (shown[earlier].empty()) continue;
        const PortIndex other = snapshot.fabrics[earlier].sweep->topology->find_port(topology.key_of(port));
        is_known = other != kNoIndex && shown[earlier][other] != 0;
      }
      shown[fabric][port] = !is_known && !never_seen(*sweep, port) ? 1 : 0;
    }
  }
  return shown;
}

}  // namespace weft::api
