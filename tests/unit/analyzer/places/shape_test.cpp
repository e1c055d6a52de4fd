// SPDX-License-Identifier: Apache-2.0
// Kinds of networks, told by their cables.

#include "analyzer/places/shape.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

#include "tests/fakes/ethernet_fabric.hpp"
#include "tests/fakes/shapes.hpp"
#include "tests/fakes/three_tiers.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;

FabricShape shape_of(FabricBuilder&& fabric) {
  const auto topology = fabric.topology();
  return find_shape(*topology, find_tiers(*topology));
}

FabricShape shape_of(fakes::ShapeBuilder&& b) {
  return shape_of(std::move(b.fabric()));
}

TEST(FabricShape, TreesAreFatTrees) {
  EXPECT_EQ(shape_of(FabricBuilder::fat_tree(8, 4, 2)).shape, Shape::kFatTree);
  EXPECT_EQ(shape_of(fakes::three_tiers(4, 4, 4, 4)).shape, Shape::kFatTree);
  EXPECT_EQ(shape_of(FabricBuilder::fat_tree(1, 1, 4)).shape, Shape::kFatTree);
  EXPECT_EQ(shape_of(FabricBuilder::fat_tree(8, 4, 2)).why,
            "100 % of the cables between switches lead to the next tier");
}

TEST(FabricShape, TreesThatOnlyHostsJoinAreRailOnly) {
  const FabricShape shape = shape_of(fakes::rail_only(3, 2, 1));
  EXPECT_EQ(shape.shape, Shape::kRailOnly);
  EXPECT_EQ(shape.why, "3 separate trees, joined by 4 hosts only");
  EXPECT_TRUE(shape.has_tiers());
}

// As Ethernet leaves that hosts with two cables share: they are cabled to each other (MLAG).
TEST(FabricShape, PairsOfLeavesThatAreCabledToEachOtherHideNoTree) {
  auto pairs = fakes::EthernetFabric::leaf_spine(4, 8, 2);
  for (unsigned leaf = 1; leaf <= 8; leaf += 2)
    for (const char* port : {"swp47", "swp48"})
      pairs.cable(fakes::EthernetFabric::two("leaf", leaf), port, fakes::EthernetFabric::two("leaf", leaf + 1), port);
  const auto topology = pairs.topology();
  const FabricShape shape = find_shape(*topology, find_tiers(*topology));
  EXPECT_EQ(shape.shape, Shape::kFatTree) << shape.why;

  // A row of leaves is no pair.
  for (unsigned leaf = 2; leaf < 8; leaf += 2)
    for (const char* port : {"swp45", "swp46"})
      pairs.cable(fakes::EthernetFabric::two("leaf", leaf), port, fakes::EthernetFabric::two("leaf", leaf + 1), port);
  const auto row = pairs.topology();
  EXPECT_EQ(find_shape(*row, find_tiers(*row)).shape, Shape::kUnclear);
}

TEST(FabricShape, MeshedGroupsAreADragonfly) {
  const FabricShape shape = shape_of(fakes::dragonfly(9, 4, 1));
  EXPECT_EQ(shape.shape, Shape::kDragonfly) << shape.why;
  EXPECT_FALSE(shape.has_tiers());
}

TEST(FabricShape, GroupsOfLeavesAndSpinesAreADragonflyPlus) {
  const FabricShape shape = shape_of(fakes::dragonfly_plus(5, 4, 1));
  EXPECT_EQ(shape.shape, Shape::kDragonfly) << shape.why;
  EXPECT_EQ(shape.why, "5 groups of leaves and spines, nearly all pairs of groups cabled (Dragonfly+)");
}

TEST(FabricShape, RingsAreATorus) {
  for (const auto& [x, y, z] : {std::array{6U, 5U, 1U}, std::array{4U, 4U, 4U}, std::array{8U, 1U, 1U}}) {
    fakes::ShapeBuilder b = fakes::torus(x, y, z);
    if (y > 1) b.cut(b.fabric().port_towards("s-0-0-0", "s-1-0-0"));
    const FabricShape shape = shape_of(std::move(b));
    EXPECT_EQ(shape.shape, Shape::kTorus) << x << 'x' << y << 'x' << z << ": " << shape.why;
  }
}

TEST(FabricShape, GroupsOfADragonflyAreTold) {
  fakes::ShapeBuilder b = fakes::dragonfly(9, 4, 1);
  const auto topology = b.fabric().topology();
  const FabricShape shape = find_shape(*topology, find_tiers(*topology));
  for (NodeIndex node = 0; node < b.fabric().nodes().size(); ++node) {
    const std::string& name = b.fabric().nodes()[node].name;  // "s-<group>-<n>"
    if (b.fabric().nodes()[node].type == NodeType::kSwitch)
      EXPECT_EQ(shape.groups[node], shape.groups[b.fabric().find(name.substr(0, 4) + '0')]) << name;
    else
      EXPECT_EQ(shape.groups[node], kNoIndex) << name;
  }
  EXPECT_FALSE(shape.has_spines);
  EXPECT_TRUE(shape_of(fakes::dragonfly_plus(5, 4, 1)).has_spines);
}

template <typename Built>
std::vector<std::uint32_t> radix_of(Built&& b, std::span<const std::pair<PortIndex, PortIndex>> missing) {
  const auto topology = b.fabric().topology();
  const FabricShape shape = find_shape(*topology, find_tiers(*topology), missing);
  EXPECT_EQ(shape.shape, Shape::kTorus) << shape.why;
  if (!shape.grid) return {};
  std::vector<std::uint32_t> radix = shape.grid->radix;
  std::ranges::sort(radix);
  return radix;
}

TEST(FabricShape, PlacesInATorusAreProved) {
  using Radix = std::vector<std::uint32_t>;
  EXPECT_EQ(radix_of(fakes::torus(8, 1, 1), {}), (Radix{8}));
  EXPECT_EQ(radix_of(fakes::torus(3, 5, 1), {}), (Radix{3, 5}));
  EXPECT_EQ(radix_of(fakes::torus(6, 5, 1, 2), {}), (Radix{5, 6})) << "two cables each";
  EXPECT_EQ(radix_of(fakes::torus(3, 5, 6), {}), (Radix{3, 5, 6}));
  EXPECT_EQ(radix_of(fakes::torus(5, 6, 2), {}), (Radix{2, 5, 6}));
  EXPECT_EQ(radix_of(fakes::torus(4, 5, 1), {}), (Radix{2, 2, 5})) << "four in a ring are two times two";

  const auto topology = fakes::torus(6, 5, 3).fabric().topology();
  const FabricShape shape = find_shape(*topology, find_tiers(*topology));
  ASSERT_TRUE(shape.grid);
  std::set<std::vector<std::uint32_t>> places;
  for (NodeIndex node = 0; node < topology->nodes().size(); ++node) {
    if (!shape.grid->has(node)) continue;
    std::vector<std::uint32_t> place;
    for (std::size_t d = 0; d < 3; ++d) place.push_back(shape.grid->in(d, node));
    places.insert(place);
    for (const Port& port : topology->ports_of(topology->node(node))) {
      if (port.peer == kNoIndex || !shape.grid->has(topology->port(port.peer).node)) continue;
      unsigned steps = 0;
      for (std::size_t d = 0; d < 3; ++d) {
        const std::uint32_t radix = shape.grid->radix[d], at = place[d],
                            other = shape.grid->in(d, topology->port(port.peer).node);
        steps += std::min((at + radix - other) % radix, (other + radix - at) % radix);
      }
      EXPECT_EQ(steps, 1U);
    }
  }
  EXPECT_EQ(places.size(), 90U);
}

TEST(FabricShape, ATorusWithAGapHasPlacesOnlyWhereTheGapIsKnown) {
  fakes::ShapeBuilder b = fakes::torus(6, 5, 1);
  const PortIndex end = b.fabric().port_towards("s-0-0-0", "s-1-0-0");
  const std::vector<std::pair<PortIndex, PortIndex>> missing{{end, b.fabric().ports()[end].peer}};
  b.cut(end);
  EXPECT_TRUE(radix_of(b, {}).empty());
  EXPECT_EQ(radix_of(b, missing), (std::vector<std::uint32_t>{5, 6}));
}

TEST(FabricShape, WhatOnlyLooksLikeATorusHasNoPlaces) {
  // An extra switch, an open side, one side that is cabled with a twist.
  fakes::ShapeBuilder spare = fakes::torus(6, 5, 1);
  spare.join(spare.add("spare", false), spare.fabric().find("s-0-0-0"));
  EXPECT_TRUE(radix_of(spare, {}).empty());
  fakes::ShapeBuilder open = fakes::torus(20, 5, 1);
  for (unsigned y = 0; y < 5; ++y)
    open.cut(open.fabric().port_towards("s-19-" + std::to_string(y) + "-0", "s-0-" + std::to_string(y) + "-0"));
  EXPECT_TRUE(radix_of(open, {}).empty());
  fakes::ShapeBuilder twisted = fakes::torus(6, 5, 1);
  for (unsigned y = 0; y < 5; ++y)
    twisted.cut(twisted.fabric().port_towards("s-5-" + std::to_string(y) + "-0", "s-0-" + std::to_string(y) + "-0"));
  for (unsigned y = 0; y < 5; ++y)
    twisted.join(twisted.fabric().find("s-5-" + std::to_string(y) + "-0"),
                 twisted.fabric().find("s-0-" + std::to_string((y + 1) % 5) + "-0"));
  EXPECT_TRUE(radix_of(twisted, {}).empty());
}

TEST(FabricShape, AnythingElseIsUnclear) {
  fakes::ShapeBuilder b;
  std::vector<NodeIndex> all;
  for (unsigned i = 0; i < 6; ++i) all.push_back(b.add("s-" + std::to_string(i), true));
  for (unsigned i = 0; i + 1 < 6; ++i) b.join(all[i], all[i + 1]);
  b.join(all[0], all[3]);
  b.join(all[1], all[4]);
  const FabricShape shape = shape_of(std::move(b));
  EXPECT_EQ(shape.shape, Shape::kUnclear);
  EXPECT_NE(shape.why.find("of the cables between switches lead to the next tier"), std::string::npos) << shape.why;
  EXPECT_EQ(find_shape({}, {}).shape, Shape::kUnclear);
}

}  // namespace
}  // namespace weft::analyzer
