// SPDX-License-Identifier: Apache-2.0
#include "api/convert/fabric.hpp"

#include <gtest/gtest.h>

#include "tests/fakes/fabric_builder.hpp"

namespace weft::api {
namespace {

v1::Link link_at(fakes::FabricBuilder& fabric, PortIndex port) {
  FabricView view;
  view.name = fabric.name();
  view.sweep = std::make_shared<const Sweep>(fabric.sweep());
  const Topology& topology = *view.sweep->topology;
  v1::Link link;
  link_to_proto(view, starts_link(topology, port) ? port : topology.port(port).peer, link);
  return link;
}

TEST(Links, HaveARateOnlyWhileTheyAreTrained) {
  fakes::FabricBuilder fabric = fakes::FabricBuilder::fat_tree(1, 2, 2);
  const PortIndex cable = fabric.port_of("host-1-0 mlx5_0", 1);
  EXPECT_FALSE(link_at(fabric, cable).width().empty());
  EXPECT_GT(link_at(fabric, cable).rate_bits_per_second(), 0);
  fabric.relink(cable, PortState::kInitialize);
  EXPECT_FALSE(link_at(fabric, cable).up());
  EXPECT_GT(link_at(fabric, cable).rate_bits_per_second(), 0) << "it waits for the subnet manager";
  // Only one end says that the link is down: the other one still has what it said last.
  fabric.relink(cable);
  for (const char* dark : {"host-1-0 mlx5_0", "leaf-1"}) {
    fabric.power_off(fabric.find(dark));
    const v1::Link down = link_at(fabric, cable);
    EXPECT_FALSE(down.up()) << dark;
    EXPECT_EQ(down.width() + down.speed(), "") << dark;
    EXPECT_EQ(down.rate_bits_per_second(), 0) << dark;
    fabric.power_on(fabric.find(dark));
  }
}

}  // namespace
}  // namespace weft::api
