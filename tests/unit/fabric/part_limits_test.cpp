// SPDX-License-Identifier: Apache-2.0
#include "fabric/part_limits.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(PartLimits, TextComesBackAsItWas) {
  const PartLimits temperature{-5'000, 0, 70'500, 75'000};
  EXPECT_EQ(to_text(temperature, 3), "-5 0 70.5 75");
  EXPECT_EQ(parse_part_limits("-5 0 70.5 75", 3), temperature);
  const PartLimits half{{}, {}, 105'000, {}};
  EXPECT_EQ(to_text(half, 3), "- - 105 -");
  EXPECT_EQ(parse_part_limits("- - 105 -", 3), half);
  const PartLimits power{31'600, 50'100, 1'995'300, 3'162'300};
  EXPECT_EQ(to_text(power, 6), "0.0316 0.0501 1.9953 3.1623");
  EXPECT_EQ(parse_part_limits(to_text(power, 6), 6), power);
  EXPECT_EQ(to_text(PartLimits{}, 3), "");
  EXPECT_EQ(decimal_text(-500, 3), "-0.5");
  EXPECT_EQ(decimal_text(INT64_MIN, 0), "-9223372036854775808");
}

TEST(PartLimits, WhatContradictsItselfIsNoLimit) {
  EXPECT_TRUE(parse_part_limits("75 0 70 -5", 3).is_empty());
  EXPECT_TRUE(parse_part_limits("0 0 0 0", 3).is_empty());
  EXPECT_TRUE(parse_part_limits("-5 0 80 75", 3).is_empty()) << "a warning above the alarm";
  EXPECT_EQ(parse_part_limits("-5 0 0 75", 3), (PartLimits{-5'000, {}, {}, 75'000})) << "no warnings";
}

TEST(PartLimits, WhatIsNotUnderstoodIsAbsent) {
  for (const char* const text : {"", "1", "1 2 3", "1 2 3 x", "1 2 3 4.00001", "1 2 3 --4", "  ", "1  3 4",
                                 "1 2 3 99999999999999999999", "1 2 3 .5"})
    EXPECT_TRUE(parse_part_limits(text, 3).is_empty()) << text;
}

}  // namespace
}  // namespace weft
