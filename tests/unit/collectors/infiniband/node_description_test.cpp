// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/node_description.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace weft::infiniband {
namespace {

TEST(NodeDescription, KeepsWhatIsFine) {
  EXPECT_EQ(to_valid_utf8("MF0;A09-P1:MQM9701/U1"), "MF0;A09-P1:MQM9701/U1");
  EXPECT_EQ(to_valid_utf8("h\xC3\xB6st \xE2\x82\xAC \xF0\x9F\x98\x80"), "h\xC3\xB6st \xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(to_valid_utf8(""), "");
}

TEST(NodeDescription, EndsAtTheFirstNul) {
  constexpr std::array<std::byte, 4> kBytes{std::byte{'a'}, std::byte{'b'}, std::byte{0}, std::byte{'c'}};
  EXPECT_EQ(to_valid_utf8(kBytes), "ab");
}

TEST(NodeDescription, ReplacesWhatIsNoUtf8) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(to_valid_utf8("a\xFFz"), "a" + bad + "z");
  EXPECT_EQ(to_valid_utf8("a\x80z"), "a" + bad + "z") << "a continuation without a start";
  EXPECT_EQ(to_valid_utf8("a\xC3"), "a" + bad) << "cut in the middle, as 64 bytes may";
  EXPECT_EQ(to_valid_utf8("\xC0\xAF"), bad + bad) << "overlong";
  EXPECT_EQ(to_valid_utf8("\xE0\x80\x80"), bad + bad + bad) << "overlong";
  EXPECT_EQ(to_valid_utf8("\xED\xA0\x80"), bad + bad + bad) << "a surrogate";
  EXPECT_EQ(to_valid_utf8("\xF4\x90\x80\x80"), bad + bad + bad + bad) << "past the last code point";
  EXPECT_EQ(to_valid_utf8("\xE2\x28\xA1"), bad + "(" + bad);
}

TEST(NodeDescription, BlanksControlCharactersAndTrims) {
  EXPECT_EQ(to_valid_utf8("  a\tb\x7F"
                          "c\xC2\x85"
                          "d\n "),
            "a b c d");
  EXPECT_EQ(to_valid_utf8("\x1B[2J"), "[2J") << "no escape sequence reaches a terminal";
  EXPECT_EQ(to_valid_utf8("\n \t"), "");
}

TEST(NodeDescription, KnowsAggregationNodes) {
  EXPECT_TRUE(is_aggregation_node(NodeType::kChannelAdapter, 0x2c9, 0xcf09, "renamed"));
  EXPECT_TRUE(is_aggregation_node(NodeType::kChannelAdapter, 0, 0, "Mellanox Technologies Aggregation Node"));
  EXPECT_FALSE(is_aggregation_node(NodeType::kSwitch, 0x2c9, 0xd2f2, "Aggregation Node Rack"));
  EXPECT_FALSE(is_aggregation_node(NodeType::kChannelAdapter, 0x2c9, 0x1021, "dgx-04 mlx5_5"));
}

}  // namespace
}  // namespace weft::infiniband
