// SPDX-License-Identifier: Apache-2.0
#include "analyzer/congestion/wait_for.hpp"

#include <gtest/gtest.h>

#include "tests/fakes/ethernet_fabric.hpp"

namespace weft::analyzer {
namespace {

using fakes::EthernetFabric;

TEST(WaitFor, PortsBeyond255OfAGreatSwitchAreToldApart) {
  EthernetFabric fabric;
  for (int host = 1; host <= 512; ++host) {
    const std::string number = std::to_string(host);
    fabric.cable("chassis", "swp" + number, "gpu-" + number, "eth2");
  }
  const Sweep sweep = fabric.sweep();
  const Topology& topology = *sweep.topology;
  // gpu-1 is held back by the full ports to gpu-44 and gpu-300, whose numbers differ by 256.
  const PortIndex held = EthernetFabric::find(topology, "gpu-1 eth2");
  std::vector<HotLink> links(3);
  links[0].egress = held;
  links[0].held_back = true;
  links[1].egress = EthernetFabric::find(topology, "chassis swp44");
  links[2].egress = EthernetFabric::find(topology, "chassis swp300");
  links[1].saturated = links[2].saturated = true;
  std::ranges::sort(links, {}, &HotLink::egress);
  WaitForGraph graph;
  graph.build(sweep.topology, {nullptr, sweep.multipath}, links);
  const auto position = static_cast<std::uint32_t>(std::ranges::find(links, held, &HotLink::egress) - links.begin());
  EXPECT_EQ(graph.waits_for(position).size(), 2U);
  EXPECT_TRUE(graph.carries(held, EthernetFabric::find(topology, "chassis swp300")));
  EXPECT_TRUE(graph.carries(held, EthernetFabric::find(topology, "chassis swp512")));
  EXPECT_FALSE(graph.carries(held, EthernetFabric::find(topology, "chassis swp1"))) << "back to where it came from";
}

}  // namespace
}  // namespace weft::analyzer
