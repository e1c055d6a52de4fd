// SPDX-License-Identifier: Apache-2.0
#pragma once
// A fat tree of three levels.

#include <string>
#include <vector>

#include "tests/fakes/fabric_builder.hpp"

namespace weft::fakes {

/// `pods` of `leaves` leaves and `tops` aggregation switches, and `cores` core switches for each aggregation switch of
/// a pod, each with a link to every pod. Names: "leaf-<pod>-<n>", "agg-<pod>-<n>", "core-<agg>-<n>", and adapters
/// "host-<pod>-<leaf>-<h> mlx5_0".
inline FabricBuilder three_tiers(unsigned pods, unsigned leaves, unsigned tops, unsigned cores, unsigned hosts = 1) {
  FabricBuilder fabric;
  const auto text = [](unsigned a, unsigned b) { return std::to_string(a) + '-' + std::to_string(b); };
  // Switches have a port 0 first.
  const auto port = [&fabric](NodeIndex node, unsigned number) { return fabric.nodes()[node].first_port + number; };
  const auto width = [](unsigned ports) { return static_cast<std::uint16_t>(ports); };
  std::vector<NodeIndex> core_nodes;
  for (unsigned agg = 0; agg < tops; ++agg)
    for (unsigned core = 0; core < cores; ++core)
      core_nodes.push_back(fabric.add_switch("core-" + text(agg, core), width(pods)));
  for (unsigned pod = 0; pod < pods; ++pod) {
    std::vector<NodeIndex> agg_nodes;
    for (unsigned agg = 0; agg < tops; ++agg) {
      agg_nodes.push_back(fabric.add_switch("agg-" + text(pod, agg), width(leaves + cores)));
      for (unsigned core = 0; core < cores; ++core)
        fabric.connect(port(agg_nodes.back(), leaves + core + 1), port(core_nodes[agg * cores + core], pod + 1));
    }
    for (unsigned leaf = 0; leaf < leaves; ++leaf) {
      const NodeIndex node = fabric.add_switch("leaf-" + text(pod, leaf), width(hosts + tops));
      for (unsigned agg = 0; agg < tops; ++agg)
        fabric.connect(port(node, hosts + agg + 1), port(agg_nodes[agg], leaf + 1));
      for (unsigned host = 0; host < hosts; ++host) {
        const NodeIndex adapter =
            fabric.add_adapter("host-" + text(pod, leaf) + '-' + std::to_string(host) + " mlx5_0");
        fabric.connect(fabric.nodes()[adapter].first_port, port(node, host + 1));
      }
    }
  }
  return fabric;
}

}  // namespace weft::fakes
