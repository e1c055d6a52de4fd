// SPDX-License-Identifier: Apache-2.0
#include "fabric/stuck_ranks.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(StuckRanks, ReadsWhatItWrites) {
  const StuckRanks some{
      32, {{RankTrouble::kDead, 21, "10.0.0.3"}, {RankTrouble::kBehind, std::nullopt, "2001:db8::7"}}, 3};
  EXPECT_EQ(to_text(some), "32 ranks: dead 21 at 10.0.0.3, behind ? at 2001:db8::7, 3 more");
  EXPECT_EQ(parse_stuck_ranks(to_text(some)), some);
  EXPECT_EQ(parse_stuck_ranks("8 ranks: all answer"), (StuckRanks{8, {}, 0}));
}

TEST(StuckRanks, CountsHostsThatHaveNoRoom) {
  StuckRanks many{4096, {}, 0};
  for (unsigned i = 0; i < 100; ++i) many.stuck.push_back({RankTrouble::kMissing, i, "10.0.0." + std::to_string(i)});
  const std::string text = to_text(many);
  EXPECT_LE(text.size(), kMostStuckText);
  const auto read = parse_stuck_ranks(text);
  ASSERT_TRUE(read) << text;
  EXPECT_GE(read->stuck.size(), 2U);
  EXPECT_EQ(read->stuck.size() + read->more, 100U);
}

TEST(StuckRanks, RefusesOtherTexts) {
  for (const char* const text :
       {"", "ranks", "8 ranks: ", "x ranks: all answer", "8 ranks: dead 1", "8 ranks: dead 1 at ",
        "8 ranks: lost 1 at h", "8 ranks: dead x at h", "8 ranks: dead 1 at a b", "8 ranks: dead 1 at h, x more",
        "8 ranks: 3 more, dead 1 at h"})
    EXPECT_FALSE(parse_stuck_ranks(text)) << text;
  EXPECT_FALSE(parse_stuck_ranks("8 ranks: dead 1 at " + std::string(200, 'h')));
}

}  // namespace
}  // namespace weft
