// SPDX-License-Identifier: Apache-2.0
// How long the subnet manager is given.
#include "analyzer/links/manager_patience.hpp"

#include <gtest/gtest.h>

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

TEST(ManagerPatience, GrowsToTwiceWhatWasSeenAndForgetsIt) {
  const Thresholds thresholds;
  ManagerPatience patience(thresholds);
  const TimePoint start{std::chrono::seconds(1'700'000'000)};
  EXPECT_EQ(patience.value(start), 60s);
  patience.note(20s, start);
  EXPECT_EQ(patience.value(start), 60s) << "it is fast";
  patience.note(50s, start);
  patience.note(3s, start + 1min);
  EXPECT_EQ(patience.value(start + 1h), 100s);
  EXPECT_EQ(patience.value(start + 25h), 60s);
  EXPECT_EQ(patience.value(start - 1h), 60s) << "a clock that was set back";
}

TEST(ManagerPatience, DoesNotLearnFromASubnetManagerThatWasAway) {
  const Thresholds thresholds;
  ManagerPatience patience(thresholds);
  const TimePoint start{std::chrono::seconds(1'700'000'000)};
  patience.note(15min, start);
  EXPECT_EQ(patience.value(start), 60s);
  // A slow one is learned step by step, up to a limit.
  for (int i = 0; i < 10; ++i) patience.note(patience.value(start) * 2, start);
  EXPECT_EQ(patience.value(start), 600s);
}

}  // namespace
}  // namespace weft::analyzer
