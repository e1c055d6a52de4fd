// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/cli/spelling.hpp"

#include <gtest/gtest.h>

namespace weft::usage {
namespace {

TEST(Spelling, DistanceCountsLetters) {
  EXPECT_EQ(distance("", "abc"), 3U);
  EXPECT_EQ(distance("kitten", "sitting"), 3U);
  EXPECT_EQ(distance("same", "same"), 0U);
  EXPECT_EQ(distance("abcd", "abdc"), 1U) << "two neighbours swapped";
}

}  // namespace
}  // namespace weft::usage
