// SPDX-License-Identifier: Apache-2.0
// What is counted of dragonflies and tori, against what every cut gives.

#include "analyzer/remedy/cross_sections.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <string>

#include "tests/fakes/shapes.hpp"

namespace weft::analyzer {
namespace {

struct Cabled {
  explicit Cabled(fakes::ShapeBuilder&& built)
      : b(std::move(built)), shape(find_shape(*b.fabric().topology(), find_tiers(*b.fabric().topology()))) {}

  /// What is left now; the shape is that of before.
  std::vector<CrossSection> sections(const std::string& from, const std::string& to) {
    topology = b.fabric().topology();
    return cross_sections({*topology, shape}, b.fabric().port_towards(from, to));
  }
  void down(const std::string& from, const std::string& to) { b.fabric().unlink(b.fabric().port_towards(from, to)); }
  /// Live cables between switches of a group that `is_left` parts.
  template <typename IsLeft>
  std::uint32_t cut(const std::vector<NodeIndex>& of, IsLeft is_left) {
    std::uint32_t cables = 0;
    for (const Port& port : b.fabric().ports()) {
      if (port.peer == kNoIndex || !port.is_up()) continue;
      const NodeIndex other = b.fabric().ports()[port.peer].node;
      if (std::ranges::find(of, port.node) == of.end() || std::ranges::find(of, other) == of.end()) continue;
      cables += is_left(port.node) && !is_left(other) ? 1 : 0;
    }
    return cables;
  }

  fakes::ShapeBuilder b;
  FabricShape shape;
  std::shared_ptr<const Topology> topology;
};

TEST(CrossSections, OfADragonflysGlobalLinkAreGroupsAndPairs) {
  Cabled c(fakes::dragonfly(5, 8, 4));
  const auto sections = c.sections("s-1-0", "s-0-1");
  ASSERT_EQ(sections.size(), 3U);
  EXPECT_EQ(sections[0].designed, 16U);
  EXPECT_EQ(sections[1].designed, 16U);
  EXPECT_EQ(sections[2].designed, 4U);
  EXPECT_EQ(sections[2].kept, 4U);
  EXPECT_TRUE(sections[2].has_detour);
  EXPECT_EQ(sections[2].name, "the links between the groups of s-1-0 and s-0-0");
  c.down("s-1-1", "s-0-2");
  c.down("s-2-0", "s-0-2");
  const auto after = c.sections("s-1-0", "s-0-1");
  EXPECT_EQ(after[0].kept + after[1].kept, 14U + 15U);
  EXPECT_EQ(after[2].kept, 3U);
}

TEST(CrossSections, OfALocalLinkAreBothSwitchesAndTheGroup) {
  Cabled c(fakes::dragonfly(5, 8, 4));
  const auto sections = c.sections("s-1-0", "s-1-3");
  ASSERT_EQ(sections.size(), 3U);
  EXPECT_EQ(sections[0].designed, 7U);
  EXPECT_EQ(sections[1].designed, 7U);
  EXPECT_EQ(sections[2].designed, 16U);
  Cabled plus(fakes::dragonfly_plus(5, 4, 2));
  const auto local = plus.sections("leaf-1-0", "spine-1-3");
  ASSERT_EQ(local.size(), 3U);
  EXPECT_EQ(local[0].designed, 4U);
  EXPECT_EQ(local[2].designed, 8U);
  EXPECT_EQ(plus.sections("spine-1-0", "spine-0-0").size(), 3U);
}

TEST(CrossSections, TellNothingOfCablesOutsideTheShape) {
  Cabled c(fakes::dragonfly(9, 4, 1));
  c.b.join(c.b.add("tail", true), c.b.fabric().find("s-0-0"));
  c.shape.groups.resize(c.b.fabric().nodes().size(), kNoIndex);
  EXPECT_TRUE(c.sections("tail", "s-0-0").empty());
  Cabled plus(fakes::dragonfly_plus(5, 4, 2));
  plus.b.join(plus.b.fabric().find("spine-0-0"), plus.b.fabric().find("spine-0-1"));
  EXPECT_TRUE(plus.sections("spine-0-0", "spine-0-1").empty());
  Cabled tree(std::move(fakes::rail_only(2, 4, 2)));
  EXPECT_TRUE(tree.sections("leaf-0-0", "spine-0-0").empty());
}

// The least cut between equal halves of a group is never less than what is told, whatever is missing.
TEST(CrossSections, PromiseNoMoreOfAGroupThanItsWorstHalvesHave) {
  std::mt19937 random(7);
  unsigned exact = 0;
  for (int round = 0; round < 60; ++round) {
    const bool plus = round % 2 == 1;
    Cabled c(plus ? fakes::dragonfly_plus(3, 4, 4) : fakes::dragonfly(5, 6 + round % 3, 2));
    const auto& nodes = c.b.fabric().nodes();
    std::vector<NodeIndex> group, leaves;
    for (NodeIndex node = 0; node < c.shape.groups.size(); ++node) {
      if (c.shape.groups[node] != c.shape.groups[c.b.fabric().find(plus ? "leaf-1-0" : "s-1-0")]) continue;
      if (c.shape.groups[node] == kNoIndex) continue;
      group.push_back(node);
      if (!nodes[node].name.starts_with("spine")) leaves.push_back(node);
    }
    std::vector<PortIndex> local;
    for (const NodeIndex leaf : leaves)
      for (PortIndex port = nodes[leaf].first_port; port < nodes[leaf].first_port + nodes[leaf].port_entries(); ++port)
        if (const PortIndex peer = c.b.fabric().ports()[port].peer;
            peer != kNoIndex && std::ranges::find(group, c.b.fabric().ports()[peer].node) != group.end())
          local.push_back(port);
    for (auto lost = random() % 5; lost > 0; --lost) c.b.fabric().unlink(local[random() % local.size()]);
    const auto sections = plus ? c.sections("leaf-1-0", "spine-1-0") : c.sections("s-1-0", "s-1-1");
    ASSERT_EQ(sections.size(), 3U);
    std::uint32_t least = 1000;
    for (unsigned halves = 0; halves < 1U << leaves.size(); ++halves) {
      if (static_cast<std::size_t>(std::popcount(halves)) != leaves.size() / 2) continue;
      const auto leaf_is_left = [&](NodeIndex node) {
        const auto at = std::ranges::find(leaves, node);
        return at != leaves.end() && (halves >> (at - leaves.begin()) & 1U) != 0;
      };
      if (!plus) {
        least = std::min(least, c.cut(group, leaf_is_left));
        continue;
      }
      // Each spine stands where it parts the least.
      for (unsigned spines = 0; spines < 1U << 4; ++spines)
        least = std::min(least, c.cut(group, [&](NodeIndex node) {
          const std::string& name = nodes[node].name;
          return name.starts_with("spine") ? (spines >> (name.back() - '0') & 1U) != 0 : leaf_is_left(node);
        }));
    }
    EXPECT_LE(sections[2].kept, least) << round;
    exact += sections[2].kept == least ? 1 : 0;
  }
  EXPECT_GT(exact, 20U);
}

TEST(CrossSections, OfATorusAreItsHalves) {
  Cabled even(fakes::torus(6, 5, 1));
  const auto x = even.sections("s-0-0-0", "s-1-0-0");
  ASSERT_EQ(x.size(), 1U);
  EXPECT_EQ(x[0].designed, 10U) << "two steps of five cables";
  const auto y = even.sections("s-0-0-0", "s-0-1-0");
  ASSERT_EQ(y.size(), 2U) << "five in a ring are parted into two and three in two ways";
  EXPECT_EQ(y[0].designed, 12U);
  even.down("s-3-2-0", "s-4-2-0");
  EXPECT_EQ(even.sections("s-0-0-0", "s-1-0-0")[0].kept, 9U) << "it lies opposite";
  EXPECT_EQ(even.sections("s-1-0-0", "s-2-0-0")[0].kept, 10U);
  EXPECT_EQ(even.sections("s-3-0-0", "s-4-0-0")[0].kept, 9U);

  Cabled cubes(fakes::torus(4, 4, 4, 2));
  const auto z = cubes.sections("s-0-0-0", "s-0-0-1");
  ASSERT_EQ(z.size(), 1U);
  EXPECT_EQ(z[0].designed, 64U) << "rings of four: two steps of 16 pairs of two cables";
  EXPECT_EQ(Cabled(fakes::torus(8, 1, 1)).sections("s-0-0-0", "s-1-0-0")[0].designed, 2U);
}

TEST(RingBreaks, AreCountedRingByRing) {
  Cabled c(fakes::torus(6, 5, 1));
  const auto breaks = [&] {
    c.topology = c.b.fabric().topology();
    return ring_breaks({*c.topology, c.shape}, c.b.fabric().port_towards("s-0-0-0", "s-1-0-0"));
  };
  EXPECT_EQ(breaks().of_own, 1U);
  c.down("s-3-1-0", "s-4-1-0");
  c.down("s-2-0-0", "s-2-1-0");
  EXPECT_EQ(breaks().of_own, 1U) << "other rings";
  EXPECT_EQ(breaks().twice, kNoIndex);
  c.down("s-3-0-0", "s-4-0-0");
  EXPECT_EQ(breaks().of_own, 2U);
  c.down("s-2-3-0", "s-2-4-0");
  EXPECT_NE(breaks().twice, kNoIndex) << "s-2-1, s-2-2, s-2-3 are a piece of their own";

  Cabled twice(fakes::torus(6, 5, 1, 2));
  twice.topology = twice.b.fabric().topology();
  const PortIndex one = twice.b.fabric().port_towards("s-0-0-0", "s-1-0-0");
  EXPECT_EQ(ring_breaks({*twice.topology, twice.shape}, one).of_own, 0U) << "the other cable stays";
  Cabled four(fakes::torus(4, 5, 1));
  four.topology = four.b.fabric().topology();
  const auto told = [&](const std::string& to) {
    return ring_breaks({*four.topology, four.shape}, four.b.fabric().port_towards("s-0-0-0", to)).is_told;
  };
  EXPECT_FALSE(told("s-1-0-0"));
  EXPECT_TRUE(told("s-0-1-0"));
  four.down("s-2-3-0", "s-3-3-0");
  four.topology = four.b.fabric().topology();
  EXPECT_FALSE(told("s-0-1-0")) << "a ring of four may be in pieces";
}

}  // namespace
}  // namespace weft::analyzer
