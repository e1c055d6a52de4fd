// SPDX-License-Identifier: Apache-2.0
// Tiers, pods and rails of fabrics, by cables and by names.

#include <gtest/gtest.h>

#include <array>

#include "analyzer/places/place_finder.hpp"
#include "tests/fakes/ethernet_fabric.hpp"
#include "tests/fakes/three_tiers.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;

constexpr unsigned kNone = 99;

/// Two groups of hosts with two adapters each, or as many as there are rails; adapter r of a host ends at leaf r of its
/// group, and four spines join all leaves. The second group lacks the leaf and the adapters of rail `missing`.
FabricBuilder two_rails(unsigned rails = 2, unsigned missing = kNone) {
  FabricBuilder fabric;
  constexpr std::uint8_t kHosts = 3, kSpines = 4;
  for (unsigned spine = 0; spine < kSpines; ++spine)
    fabric.add_switch("spine-" + std::to_string(spine), static_cast<std::uint8_t>(2 * rails));
  for (unsigned unit = 0; unit < 2; ++unit)
    for (unsigned rail = 0; rail < rails; ++rail) {
      if (unit == 1 && rail == missing) continue;
      const std::string leaf = "leaf-u" + std::to_string(unit) + "-r" + std::to_string(rail);
      fabric.add_switch(leaf, kHosts + kSpines);
      for (std::uint8_t spine = 0; spine < kSpines; ++spine)
        fabric.connect(
            fabric.port_of(leaf, static_cast<std::uint8_t>(kHosts + 1 + spine)),
            fabric.port_of("spine-" + std::to_string(spine), static_cast<std::uint8_t>(rails * unit + rail + 1)));
      for (std::uint8_t host = 0; host < kHosts; ++host) {
        const std::string name = "gpu-" + std::to_string(unit) + std::to_string(host) + " mlx5_" + std::to_string(rail);
        fabric.add_adapter(name);
        fabric.connect(fabric.port_of(name, 1), fabric.port_of(leaf, static_cast<std::uint8_t>(host + 1)));
      }
    }
  return fabric;
}

TEST(Places, TiersAndPodsOfThreeTiers) {
  FabricBuilder fabric = fakes::three_tiers(11, 2, 2, 2);
  const Places places = find_places(*fabric.topology());
  EXPECT_EQ(places.tiers[fabric.find("core-0-0")], 3);
  EXPECT_EQ(places.tiers[fabric.find("leaf-0-0")], 1);
  EXPECT_EQ(places.tiers[fabric.find("host-0-0-0 mlx5_0")], 0);
  ASSERT_EQ(places.pod_names.size(), 11U);
  EXPECT_EQ(places.pod_of(fabric.find("agg-10-1")), "10") << "2 comes before 10";
  EXPECT_EQ(places.pod_of(fabric.find("host-2-1-0 mlx5_0")), "2");
  EXPECT_EQ(places.pod_of(fabric.find("core-1-1")), "");
  EXPECT_TRUE(places.rail_names.empty()) << "one adapter in each host";
}

TEST(Places, TwoTiersHaveNoPodsUnlessRailsTieLeavesTogether) {
  EXPECT_TRUE(find_places(*FabricBuilder::fat_tree(4, 4, 2).topology()).pod_names.empty());
  FabricBuilder fabric = two_rails();
  const Places places = find_places(*fabric.topology());
  ASSERT_EQ(places.pod_names.size(), 2U);
  EXPECT_EQ(places.pod_of(fabric.find("leaf-u1-r0")), places.pod_of(fabric.find("leaf-u1-r1")));
  EXPECT_EQ(places.pod_of(fabric.find("spine-0")), "");
}

TEST(Places, RailsByTheOrderOfAdapters) {
  FabricBuilder fabric = two_rails();
  const Places places = find_places(*fabric.topology());
  ASSERT_EQ(places.rail_names, (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(places.rail_of(fabric.port_of("gpu-12 mlx5_1", 1)), "1");
  EXPECT_EQ(places.rail_of(fabric.port_of("leaf-u1-r1", 1)), "1");
  EXPECT_EQ(places.rail_of(fabric.port_of("leaf-u1-r1", 7)), "1") << "its way up";
  EXPECT_EQ(places.rail_of(fabric.port_of("spine-0", 1)), "") << "a spine serves all";
}

TEST(Places, ALeafThatIsGoneDoesNotRenameTheRailsBehindIt) {
  FabricBuilder fabric = two_rails(3, 1);
  const Places places = find_places(*fabric.topology());
  EXPECT_EQ(places.rail_names, (std::vector<std::string>{"0", "1", "2"}));
  for (const char* leaf : {"leaf-u0-r2", "leaf-u1-r2"}) EXPECT_EQ(places.rail_of(fabric.port_of(leaf, 1)), "2") << leaf;
  EXPECT_EQ(places.rail_of(fabric.port_of("leaf-u0-r1", 1)), "1");
}

TEST(Places, AnAdapterThatMostHostsLackIsARailOfItsOwn) {
  for (const unsigned missing : {0U, 1U, 2U}) {
    FabricBuilder fabric;
    for (unsigned rail = 0; rail < 4; ++rail) fabric.add_switch("leaf-" + std::to_string(rail), 12);
    fabric.add_switch("spine", 4);
    for (std::uint8_t rail = 0; rail < 4; ++rail)
      fabric.connect(fabric.port_of("leaf-" + std::to_string(rail), 12),
                     fabric.port_of("spine", static_cast<std::uint8_t>(rail + 1)));
    for (std::uint8_t host = 0; host < 10; ++host)
      for (unsigned rail = 0; rail < 4; ++rail) {
        if (rail == missing && host >= 3) continue;  // seven of ten
        const std::string name = "gpu-" + std::to_string(host) + " mlx5_" + std::to_string(rail);
        fabric.add_adapter(name);
        fabric.connect(fabric.port_of(name, 1),
                       fabric.port_of("leaf-" + std::to_string(rail), static_cast<std::uint8_t>(host + 1)));
      }
    const Places places = find_places(*fabric.topology());
    for (unsigned rail = 0; rail < 4; ++rail)
      EXPECT_EQ(places.rail_of(fabric.port_of("leaf-" + std::to_string(rail), 1)), std::to_string(rail))
          << "without " << missing;
  }
}

TEST(Places, AnAdapterOfOneHostMovesNoRail) {
  FabricBuilder fabric = two_rails(3);
  const NodeIndex extra = fabric.add_adapter("gpu-00 mlx5_00");  // between the first and the second of its host
  fabric.add_switch("storage", 2);
  fabric.connect(fabric.nodes()[extra].first_port, fabric.port_of("storage", 1));
  const Places places = find_places(*fabric.topology());
  for (unsigned rail = 0; rail < 3; ++rail)
    EXPECT_EQ(places.rail_of(fabric.port_of("leaf-u1-r" + std::to_string(rail), 1)), std::to_string(rail));
}

TEST(Places, InterfacesOfAnEthernetFabricMakeRails) {
  fakes::EthernetFabric fabric;
  for (const char* host : {"gpu-01", "gpu-02", "gpu-03"})
    for (const char* rail : {"0", "1"})
      fabric.cable(std::string("leaf0") + rail, std::string("swp") + (host + 4), host, std::string("eth") + rail);
  for (const char* leaf : {"leaf00", "leaf01"}) fabric.cable(leaf, "swp49", "spine01", std::string("swp") + (leaf + 4));
  const auto topology = fabric.topology();
  const Places places = find_places(*topology);
  const auto port = [&](const char* label) { return fakes::EthernetFabric::find(*topology, label); };
  EXPECT_EQ(places.rail_of(port("gpu-02 eth0")), "0");
  EXPECT_EQ(places.rail_of(port("gpu-02 eth1")), "1");
  EXPECT_EQ(places.tiers[topology->port(port("spine01 swp00")).node], 2);
}

TEST(Places, AMapMayGiveALongerNameThanTheAdapterHas) {
  FabricBuilder fabric = two_rails();
  const NodeIndex named = fabric.find("gpu-00 mlx5_0");
  fabric.node(named).name = "a-host-with-a-long-name-in-the-map";
  fabric.node(named).description = "gpu";
  EXPECT_EQ(find_places(*fabric.topology()).rail_names.size(), 2U);
}

TEST(Places, ALeafOfTwoRailsMeansThatThereAreNone) {
  FabricBuilder fabric;
  fabric.add_switch("leaf", 4);
  for (std::uint8_t rail = 0; rail < 2; ++rail) {
    const std::string name = "host-0 mlx5_" + std::to_string(rail);
    fabric.add_adapter(name);
    fabric.connect(fabric.port_of(name, 1), fabric.port_of("leaf", static_cast<std::uint8_t>(rail + 1)));
  }
  EXPECT_TRUE(find_places(*fabric.topology()).rail_names.empty());
}

TEST(Places, ACrossedPairOfCablesHidesNoRailAndNamelessAdaptersJoinNothing) {
  FabricBuilder fabric;
  constexpr std::uint8_t kHosts = 9;
  for (const char* leaf : {"leaf-0", "leaf-1", "far-0", "far-1"}) fabric.add_switch(leaf, kHosts + 3);
  fabric.add_switch("spine", 8);
  for (std::uint8_t i = 0; i < 4; ++i)
    fabric.connect(fabric.port_of(std::array{"leaf-0", "leaf-1", "far-0", "far-1"}[i], kHosts + 3),
                   fabric.port_of("spine", static_cast<std::uint8_t>(i + 1)));
  for (const std::string side : {"leaf-", "far-"})
    for (std::uint8_t host = 0; host < kHosts; ++host)
      for (unsigned rail = 0; rail < 2; ++rail) {
        const std::string name = side + "host" + std::to_string(host) + " HCA-" + std::to_string(rail);
        fabric.add_adapter(name);
        const unsigned to = host == 0 ? 1 - rail : rail;  // the first one's are crossed
        fabric.connect(fabric.port_of(name, 1),
                       fabric.port_of(side + std::to_string(to), static_cast<std::uint8_t>(host + 1)));
      }
  for (const char* leaf : {"leaf-0", "far-0"}) {
    const NodeIndex nameless = fabric.add_adapter("MT4129 ConnectX7   Mellanox Technologies");
    fabric.connect(fabric.nodes()[nameless].first_port, fabric.port_of(leaf, kHosts + 1));
  }
  const Places places = find_places(*fabric.topology());
  EXPECT_EQ(places.rail_names, (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(places.rail_of(fabric.port_of("far-1", kHosts + 3)), "1");
  EXPECT_EQ(places.rail_of(fabric.port_of("leaf-host0 HCA-1", 1)), "0") << "where its cable leads";
  EXPECT_EQ(places.pod_names.size(), 2U);
}

TEST(Places, NamesTellWhereTheyAreAskedTo) {
  FabricBuilder fabric = two_rails();
  const PlaceHints hints{.pod = *place_pattern("-u([0-9]+)-"), .rail = *place_pattern("-(r[0-9])")};
  const Places places = find_places(*fabric.topology(), hints);
  EXPECT_EQ(places.pod_names, (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(places.pod_of(fabric.find("gpu-11 mlx5_0")), "1") << "as its leaf";
  EXPECT_EQ(places.rail_names, (std::vector<std::string>{"r0", "r1"}));
  EXPECT_EQ(places.rail_of(fabric.port_of("gpu-11 mlx5_1", 1)), "r1") << "as its leaf";

  const PlaceHints adapters{.pod = {}, .rail = *place_pattern("mlx5_([0-9]+)")};
  EXPECT_EQ(find_places(*fabric.topology(), adapters).rail_of(fabric.port_of("leaf-u0-r1", 2)), "1");
  const PlaceHints nobody{.pod = *place_pattern("(nowhere)"), .rail = *place_pattern("(nowhere)")};
  EXPECT_TRUE(find_places(*fabric.topology(), nobody).pod_names.empty());
}

TEST(Places, APatternNeedsOneGroup) {
  EXPECT_FALSE(place_pattern("")->has_value());
  for (const char* wrong : {"pod", "(a)(b)", "(", "[0-9"}) EXPECT_FALSE(place_pattern(wrong)) << wrong;
  EXPECT_TRUE(place_pattern("(?:pod|p)-([a-z]+)"));
}

}  // namespace
}  // namespace weft::analyzer
