// SPDX-License-Identifier: Apache-2.0
// Tiers where some part is spare, switched off, cabled in part, or has a gateway where others have none.

#include "analyzer/places/ranks.hpp"

#include <gtest/gtest.h>

#include "tests/fakes/three_tiers.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;
using fakes::three_tiers;

struct Ranked {
  explicit Ranked(FabricBuilder built) : fabric(std::move(built)), tiers(find_tiers(*fabric.topology())) {}
  unsigned of(const std::string& name) const { return tiers.of[fabric.find(name)]; }
  FabricBuilder fabric;
  Tiers tiers;
};

void plug(FabricBuilder& fabric, const std::string& adapter, const std::string& at, std::uint8_t port) {
  fabric.add_adapter(adapter);
  fabric.connect(fabric.port_of(adapter, 1), fabric.port_of(at, port));
}

/// A two-level tree: `leaves` leaves, the last `empty` of them without adapters; each spine has two ports to spare.
FabricBuilder two_tiers(unsigned spines, unsigned leaves, unsigned empty) {
  FabricBuilder fabric;
  for (unsigned spine = 0; spine < spines; ++spine)
    fabric.add_switch("spine-" + std::to_string(spine), static_cast<std::uint8_t>(leaves + 2));
  for (unsigned leaf = 0; leaf < leaves; ++leaf) {
    const std::string name = "leaf-" + std::to_string(leaf);
    fabric.add_switch(name, static_cast<std::uint8_t>(spines + 4));
    for (unsigned spine = 0; spine < spines; ++spine)
      fabric.connect(fabric.port_of(name, static_cast<std::uint8_t>(5 + spine)),
                     fabric.port_of("spine-" + std::to_string(spine), static_cast<std::uint8_t>(leaf + 1)));
    if (leaf >= leaves - empty) continue;
    for (std::uint8_t host = 1; host <= 4; ++host)
      plug(fabric, "host-" + std::to_string(leaf) + '-' + std::to_string(host) + " mlx5_0", name, host);
  }
  return fabric;
}

TEST(Tiers, AGatewayAtASpineMakesItNoLeaf) {
  FabricBuilder fabric = two_tiers(4, 8, 0);
  plug(fabric, "gateway mlx5_0", "spine-1", 9);
  const Ranked f(std::move(fabric));
  EXPECT_EQ(f.of("spine-1"), 2U);
  EXPECT_EQ(f.of("spine-0"), 2U);
  EXPECT_EQ(f.of("leaf-0"), 1U);
  EXPECT_TRUE(f.tiers.fits[0].is_tree());
}

TEST(Tiers, GatewaysAtAllSpinesMakeThemNoLeaves) {
  FabricBuilder fabric = two_tiers(4, 8, 0);
  for (unsigned spine = 0; spine < 4; ++spine)
    plug(fabric, "gateway-" + std::to_string(spine) + " mlx5_0", "spine-" + std::to_string(spine), 9);
  const Ranked f(std::move(fabric));
  for (unsigned spine = 0; spine < 4; ++spine) EXPECT_EQ(f.of("spine-" + std::to_string(spine)), 2U);
  EXPECT_EQ(f.of("leaf-0"), 1U);
}

TEST(Tiers, AGatewayAtACoreMakesItNoLeaf) {
  FabricBuilder fabric = three_tiers(4, 4, 2, 2);
  fabric.add_switch("core-new", 6);
  for (unsigned pod = 0; pod < 4; ++pod) {
    const std::string agg = "agg-" + std::to_string(pod) + "-0", core = "core-0-1";
    const PortIndex end = fabric.port_towards(agg, core);
    fabric.port(fabric.ports()[end].peer).peer = kNoIndex;
    fabric.port(end).peer = kNoIndex;
    fabric.connect(end, fabric.port_of("core-new", static_cast<std::uint8_t>(pod + 1)));
  }
  plug(fabric, "gateway mlx5_0", "core-new", 6);
  const Ranked f(std::move(fabric));
  EXPECT_EQ(f.of("core-new"), 3U);
  EXPECT_EQ(f.of("agg-0-0"), 2U);
}

TEST(Tiers, LeavesWithoutAdaptersAreLeaves) {
  const Ranked f(two_tiers(4, 8, 2));
  EXPECT_EQ(f.of("leaf-7"), 1U);
  EXPECT_EQ(f.of("leaf-0"), 1U);
  EXPECT_EQ(f.of("spine-0"), 2U);
}

TEST(Tiers, APodWithoutLeavesIsBelowTheCores) {
  FabricBuilder fabric = three_tiers(5, 4, 2, 2);
  for (unsigned leaf = 0; leaf < 4; ++leaf) {
    const Node node = fabric.nodes()[fabric.find("leaf-4-" + std::to_string(leaf))];
    for (PortIndex port = node.first_port; port < node.first_port + node.port_entries(); ++port) {
      const PortIndex peer = fabric.ports()[port].peer;
      if (peer != kNoIndex) fabric.port(port).peer = fabric.port(peer).peer = kNoIndex;
    }
  }
  const Ranked f(std::move(fabric));
  EXPECT_EQ(f.of("agg-4-0"), 2U);
  EXPECT_EQ(f.of("agg-0-0"), 2U);
  EXPECT_EQ(f.of("core-0-0"), 3U);
}

TEST(Tiers, SwitchesThatLostCablesKeepTheirTier) {
  FabricBuilder fabric = three_tiers(3, 4, 3, 3);
  const auto unplug = [&fabric](const std::string& a, const std::string& b) {
    const PortIndex end = fabric.port_towards(a, b), other = fabric.ports()[end].peer;
    fabric.port(end).peer = fabric.port(other).peer = kNoIndex;
  };
  unplug("core-0-0", "agg-2-0");  // joins two of the three pods
  for (unsigned core = 0; core < 3; ++core) unplug("agg-1-1", "core-1-" + std::to_string(core));
  const Ranked f(std::move(fabric));
  EXPECT_EQ(f.of("core-0-0"), 3U);
  EXPECT_EQ(f.of("core-1-0"), 3U);
  EXPECT_EQ(f.of("agg-1-1"), 2U) << "no cable upwards";
  EXPECT_EQ(f.of("leaf-1-0"), 1U);
}

TEST(Tiers, TheCoresOfOnePodAreAboveIt) {
  const Ranked f(three_tiers(1, 4, 4, 2));
  EXPECT_EQ(f.of("core-3-1"), 3U);
  EXPECT_EQ(f.of("agg-0-0"), 2U);
  EXPECT_EQ(f.of("leaf-0-0"), 1U);
}

TEST(Tiers, ARingOfSwitchesIsNoTree) {
  FabricBuilder fabric;
  for (unsigned at = 0; at < 8; ++at) fabric.add_switch("switch-" + std::to_string(at), 4);
  for (unsigned at = 0; at < 8; ++at) {
    const std::string name = "switch-" + std::to_string(at);
    fabric.connect(fabric.port_of(name, 1), fabric.port_of("switch-" + std::to_string((at + 1) % 8), 2));
    plug(fabric, "host-" + std::to_string(at) + " mlx5_0", name, 3);
  }
  const Ranked f(std::move(fabric));
  ASSERT_EQ(f.tiers.fits.size(), 1U);
  EXPECT_FALSE(f.tiers.fits[0].is_tree());
  EXPECT_EQ(f.of("switch-3"), 1U) << "steps from the nearest adapter";
}

}  // namespace
}  // namespace weft::analyzer
