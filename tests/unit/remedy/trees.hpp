#pragma once
// Fabrics for the tests of remedies.

#include <string>
#include <vector>

#include "analyzer/remedy/live_tree.hpp"
#include "tests/fakes/fabric_builder.hpp"

namespace weft::analyzer {

/// `pods` of `leaves` leaves and `tops` aggregation switches, and a core switch for each aggregation switch of a pod
/// and each of its `cores` links up. Names: "leaf-<pod>-<n>", "agg-<pod>-<n>", "core-<agg>-<n>",
/// "host-<pod>-<leaf>-<h>".
inline fakes::FabricBuilder three_tiers(unsigned pods, unsigned leaves, unsigned tops, unsigned cores,
                                        unsigned hosts = 1) {
  fakes::FabricBuilder fabric;
  const auto text = [](unsigned a, unsigned b) { return std::to_string(a) + '-' + std::to_string(b); };
  for (unsigned agg = 0; agg < tops; ++agg)
    for (unsigned core = 0; core < cores; ++core)
      fabric.add_switch("core-" + text(agg, core), static_cast<std::uint8_t>(pods));
  for (unsigned pod = 0; pod < pods; ++pod) {
    for (unsigned agg = 0; agg < tops; ++agg) {
      const std::string name = "agg-" + text(pod, agg);
      fabric.add_switch(name, static_cast<std::uint8_t>(leaves + cores));
      for (unsigned core = 0; core < cores; ++core)
        fabric.connect(fabric.port_of(name, static_cast<std::uint8_t>(leaves + core + 1)),
                       fabric.port_of("core-" + text(agg, core), static_cast<std::uint8_t>(pod + 1)));
    }
    for (unsigned leaf = 0; leaf < leaves; ++leaf) {
      const std::string name = "leaf-" + text(pod, leaf);
      fabric.add_switch(name, static_cast<std::uint8_t>(hosts + tops));
      for (unsigned agg = 0; agg < tops; ++agg)
        fabric.connect(fabric.port_of(name, static_cast<std::uint8_t>(hosts + agg + 1)),
                       fabric.port_of("agg-" + text(pod, agg), static_cast<std::uint8_t>(leaf + 1)));
      for (unsigned host = 0; host < hosts; ++host) {
        const std::string adapter = "host-" + text(pod, leaf) + '-' + std::to_string(host) + " mlx5_0";
        fabric.add_adapter(adapter);
        fabric.connect(fabric.port_of(adapter, 1), fabric.port_of(name, static_cast<std::uint8_t>(host + 1)));
      }
    }
  }
  return fabric;
}

/// By uplink: 1 where both ends are up.
inline std::vector<std::uint8_t> up_states(const FabricTree& tree, const Topology& topology) {
  std::vector<std::uint8_t> up;
  for (const Uplink& uplink : tree.uplinks()) {
    const Port& port = topology.port(uplink.port);
    up.push_back(port.is_up() && topology.port(port.peer).is_up());
  }
  return up;
}

}  // namespace weft::analyzer
