// SPDX-License-Identifier: Apache-2.0
// Kinds of networks, told by their cables.

#include "analyzer/places/shape.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/fakes/three_tiers.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;

/// Lays cables from the next free port of one switch to that of another.
class Builder {
 public:
  NodeIndex add(const std::string& name, bool with_host) {
    const NodeIndex node = fabric_.add_switch(name, 40);
    used_.resize(fabric_.nodes().size(), 0);
    if (with_host) host(name + "-host mlx5_0", node);
    return node;
  }
  void host(const std::string& adapter, NodeIndex at) {
    const NodeIndex node = fabric_.add_adapter(adapter);
    used_.resize(fabric_.nodes().size(), 0);
    fabric_.connect(fabric_.nodes()[node].first_port, free_port(at));
  }
  void join(NodeIndex a, NodeIndex b) { fabric_.connect(free_port(a), free_port(b)); }
  void cut(PortIndex end) {
    const PortIndex peer = fabric_.ports()[end].peer;
    fabric_.port(end).peer = fabric_.port(peer).peer = kNoIndex;
  }
  FabricBuilder& fabric() { return fabric_; }
  FabricShape shape() {
    const auto topology = fabric_.topology();
    return find_shape(*topology, find_tiers(*topology));
  }

 private:
  PortIndex free_port(NodeIndex node) { return fabric_.nodes()[node].first_port + ++used_[node]; }
  FabricBuilder fabric_;
  std::vector<PortIndex> used_;
};

FabricShape shape_of(FabricBuilder fabric) {
  const auto topology = fabric.topology();
  return find_shape(*topology, find_tiers(*topology));
}

TEST(FabricShape, TreesAreFatTrees) {
  EXPECT_EQ(shape_of(FabricBuilder::fat_tree(8, 4, 2)).shape, Shape::kFatTree);
  EXPECT_EQ(shape_of(fakes::three_tiers(4, 4, 4, 4)).shape, Shape::kFatTree);
  EXPECT_EQ(shape_of(FabricBuilder::fat_tree(1, 1, 4)).shape, Shape::kFatTree);
  EXPECT_EQ(shape_of(FabricBuilder::fat_tree(8, 4, 2)).why,
            "100 % of the cables between switches lead to the next tier");
}

TEST(FabricShape, TreesThatOnlyHostsJoinAreRailOnly) {
  Builder b;
  std::array<std::vector<NodeIndex>, 3> leaves;
  for (unsigned rail = 0; rail < 3; ++rail) {
    const NodeIndex spine = b.add("spine-" + std::to_string(rail), false);
    for (unsigned leaf = 0; leaf < 2; ++leaf) {
      leaves[rail].push_back(b.add("leaf-" + std::to_string(rail) + std::to_string(leaf), false));
      b.join(leaves[rail].back(), spine);
    }
  }
  for (unsigned host = 0; host < 4; ++host)
    for (unsigned rail = 0; rail < 3; ++rail)
      b.host("gpu-" + std::to_string(host) + " mlx5_" + std::to_string(rail), leaves[rail][host / 2]);
  const FabricShape shape = b.shape();
  EXPECT_EQ(shape.shape, Shape::kRailOnly);
  EXPECT_EQ(shape.why, "3 separate trees, joined by 4 hosts only");
  EXPECT_TRUE(shape.has_tiers());
}

TEST(FabricShape, MeshedGroupsAreADragonfly) {
  // Four switches in a group, two cables of each to other groups: nine groups.
  Builder b;
  std::vector<std::vector<NodeIndex>> groups(9);
  for (unsigned group = 0; group < 9; ++group)
    for (unsigned at = 0; at < 4; ++at) {
      groups[group].push_back(b.add("s-" + std::to_string(group) + '-' + std::to_string(at), true));
      for (unsigned other = 0; other < at; ++other) b.join(groups[group][at], groups[group][other]);
    }
  std::vector<unsigned> used(9, 0);
  for (unsigned group = 0; group < 9; ++group)
    for (unsigned other = 0; other < group; ++other)
      b.join(groups[group][used[group]++ / 2], groups[other][used[other]++ / 2]);
  const FabricShape shape = b.shape();
  EXPECT_EQ(shape.shape, Shape::kDragonfly) << shape.why;
  EXPECT_FALSE(shape.has_tiers());
}

TEST(FabricShape, GroupsOfLeavesAndSpinesAreADragonflyPlus) {
  Builder b;
  constexpr unsigned kGroups = 5;
  std::vector<std::vector<NodeIndex>> spines(kGroups);
  for (unsigned group = 0; group < kGroups; ++group) {
    for (unsigned at = 0; at < 4; ++at)
      spines[group].push_back(b.add("spine-" + std::to_string(group * 4 + at), false));
    for (unsigned at = 0; at < 4; ++at) {
      const NodeIndex leaf = b.add("leaf-" + std::to_string(group * 4 + at), true);
      for (const NodeIndex spine : spines[group]) b.join(leaf, spine);
    }
  }
  std::vector<unsigned> used(kGroups, 0);
  for (unsigned group = 0; group < kGroups; ++group)
    for (unsigned other = 0; other < group; ++other)
      b.join(spines[group][used[group]++ % 4], spines[other][used[other]++ % 4]);
  const FabricShape shape = b.shape();
  EXPECT_EQ(shape.shape, Shape::kDragonfly) << shape.why;
  EXPECT_EQ(shape.why, "5 groups of leaves and spines, nearly all pairs of groups cabled (Dragonfly+)");
}

TEST(FabricShape, RingsAreATorus) {
  for (const auto& [x, y, z] : {std::array{6U, 5U, 1U}, std::array{4U, 4U, 4U}, std::array{8U, 1U, 1U}}) {
    Builder b;
    std::vector<NodeIndex> all;
    const auto at = [&, x = x, y = y](unsigned i, unsigned j, unsigned k) { return (k * y + j) * x + i; };
    for (unsigned i = 0; i < x * y * z; ++i) all.push_back(b.add("s-" + std::to_string(i), true));
    for (unsigned i = 0; i < x; ++i)
      for (unsigned j = 0; j < y; ++j)
        for (unsigned k = 0; k < z; ++k) {
          if (x > 1) b.join(all[at(i, j, k)], all[at((i + 1) % x, j, k)]);
          if (y > 1) b.join(all[at(i, j, k)], all[at(i, (j + 1) % y, k)]);
          if (z > 1) b.join(all[at(i, j, k)], all[at(i, j, (k + 1) % z)]);
        }
    if (y > 1) b.cut(b.fabric().port_towards("s-0", "s-1"));
    const FabricShape shape = b.shape();
    EXPECT_EQ(shape.shape, Shape::kTorus) << x << 'x' << y << 'x' << z << ": " << shape.why;
  }
}

TEST(FabricShape, AnythingElseIsUnclear) {
  Builder b;
  std::vector<NodeIndex> all;
  for (unsigned i = 0; i < 6; ++i) all.push_back(b.add("s-" + std::to_string(i), true));
  for (unsigned i = 0; i + 1 < 6; ++i) b.join(all[i], all[i + 1]);
  b.join(all[0], all[3]);
  b.join(all[1], all[4]);
  const FabricShape shape = b.shape();
  EXPECT_EQ(shape.shape, Shape::kUnclear);
  EXPECT_NE(shape.why.find("of the cables between switches lead to the next tier"), std::string::npos) << shape.why;
  EXPECT_EQ(find_shape({}, {}).shape, Shape::kUnclear);
}

}  // namespace
}  // namespace weft::analyzer
