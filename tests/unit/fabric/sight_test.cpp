// SPDX-License-Identifier: Apache-2.0
// What two weftd of a pair see of subnets, told and compared.

#include "fabric/sight.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

std::vector<NodeGuid> guids(std::uint64_t first, std::uint64_t last) {
  std::vector<NodeGuid> list;
  for (std::uint64_t guid = first; guid <= last; ++guid) list.push_back(NodeGuid{guid});
  return list;
}

TEST(Sight, IsToldBySwitches) {
  const std::vector<FabricSight> fabrics{{"a", true, guids(1, 2)}, {"b", false, guids(0xabc, 0xabc)}, {"c", true, {}}};
  EXPECT_EQ(sight_text(fabrics), "+0000000000000001,0000000000000002-0000000000000abc");
  const auto parsed = parse_sight(sight_text(fabrics));
  ASSERT_EQ(parsed.size(), 2U);
  EXPECT_EQ(parsed[0], (FabricSight{"", true, guids(1, 2)}));
  EXPECT_EQ(parsed[1], (FabricSight{"", false, guids(0xabc, 0xabc)}));
}

TEST(Sight, OfManySubnetsIsBounded) {
  std::vector<FabricSight> fabrics;
  for (std::uint64_t i = 0; i < 60; ++i) {
    fabrics.push_back({"x", true, guids(1000 * i, 1000 * i + 9)});
    const std::string text = sight_text(fabrics);
    EXPECT_LE(text.size(), kLongestSight);
    const auto parsed = parse_sight(text);
    if (i < 11) {
      EXPECT_EQ(parsed.back().switches.size(), 4U) << i;
    }
    EXPECT_EQ(parsed.size(), std::min<std::size_t>(i + 1, kLongestSight / 17)) << i;
  }
}

TEST(Sight, OfOtherTextIsNothing) {
  for (const char* text : {"", "the fabrics", "+1", ",0000000000000001", "+000000000000000g", "+00000000000000001",
                           "+0000000000000001;0000000000000002", "+0000000000000001 "})
    EXPECT_TRUE(parse_sight(text).empty()) << text;
  EXPECT_TRUE(parse_sight(std::string(1700, '+')).empty());
}

TEST(Sight, ASubnetIsTheSameWhereASwitchIs) {
  const std::vector<FabricSight> own{{"x", false, guids(1, 900)}, {"y", true, guids(1000, 1900)}, {"new", false, {}}};
  const auto change = [&](std::vector<FabricSight> other) { return compare_sight(own, other); };
  const std::vector<FabricSight> told =
      parse_sight(sight_text(std::vector<FabricSight>{own[1], {"", true, own[0].switches}}));
  const auto all = change({told[1], told[0]});
  EXPECT_EQ(all.gained, std::vector<std::string>{"x"});
  EXPECT_TRUE(all.lost.empty());
  const auto other = change({{"x", true, guids(2000, 2003)}, {"y", false, told[0].switches}});
  EXPECT_TRUE(other.gained.empty());
  EXPECT_EQ(other.lost, (std::vector<std::string>{"x", "y"}));
  const auto both_blind = change({{"", false, guids(1, 1)}, told[0]});
  EXPECT_TRUE(both_blind.gained.empty());
  EXPECT_TRUE(both_blind.lost.empty());
}

TEST(Sight, ASubnetThatIsSeenThroughAnotherPortIsNotLost) {
  const std::vector<FabricSight> own{{"x", false, guids(1, 9)}, {"y", true, guids(2, 9)}};
  const auto change = compare_sight(own, parse_sight(sight_text(std::vector<FabricSight>{own[1]})));
  EXPECT_TRUE(change.gained.empty());
  EXPECT_TRUE(change.lost.empty());
}

TEST(Sight, AFragmentOfASubnetIsNotThatSubnet) {
  const std::vector<FabricSight> own{{"x", true, guids(1, 6)}, {"y", false, guids(11, 16)}};
  const auto told_by = [&](std::vector<NodeGuid> x, std::vector<NodeGuid> y) {
    return compare_sight(own, parse_sight(sight_text(std::vector<FabricSight>{{"", true, x}, {"", true, y}})));
  };
  EXPECT_EQ(told_by(guids(1, 6), guids(11, 16)).gained, std::vector<std::string>{"y"});
  EXPECT_TRUE(told_by(guids(1, 6), guids(11, 16)).lost.empty());
  for (std::uint64_t alone = 1; alone <= 6; ++alone) {
    const auto fragment = told_by(guids(alone, alone), guids(alone + 10, alone + 10));
    EXPECT_TRUE(fragment.gained.empty()) << alone;
    EXPECT_EQ(fragment.lost, std::vector<std::string>{"x"}) << alone;
    auto but_one = guids(1, 6);
    std::erase(but_one, NodeGuid{alone});
    EXPECT_TRUE(told_by(but_one, guids(11, 16)).lost.empty()) << "one is dead to the other: " << alone;
  }
}

}  // namespace
}  // namespace weft
