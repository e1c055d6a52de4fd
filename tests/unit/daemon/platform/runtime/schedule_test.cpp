// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/runtime/schedule.hpp"

#include <gtest/gtest.h>

namespace weft::runtime {
namespace {

using namespace std::chrono_literals;

TEST(Cadence, StaysOnItsGridAndSkipsWhatWasMissed) {
  const TimePoint start = TimePoint(1000s);
  Cadence cadence(start, 1s);
  EXPECT_TRUE(cadence.take(start));
  EXPECT_FALSE(cadence.take(start + 999ms));
  EXPECT_TRUE(cadence.take(start + 1200ms));
  EXPECT_EQ(cadence.due(), start + 2s);
  EXPECT_TRUE(cadence.take(start + 7500ms));
  EXPECT_EQ(cadence.due(), start + 8s);
  EXPECT_FALSE(cadence.take(start + 7600ms));
}

TEST(Cadence, AClockSetBackDoesNotStopIt) {
  Cadence cadence(TimePoint(1000s), 10s);
  EXPECT_TRUE(cadence.take(TimePoint(1000s)));
  EXPECT_TRUE(cadence.take(TimePoint(500s)));
  EXPECT_EQ(cadence.due(), TimePoint(510s));
}

TEST(Backoff, DoublesUpToItsLimitAndStartsAgain) {
  Backoff backoff(100ms, 1s);
  EXPECT_EQ(backoff.next(), 100ms);
  EXPECT_EQ(backoff.next(), 200ms);
  EXPECT_EQ(backoff.next(), 400ms);
  EXPECT_EQ(backoff.next(), 800ms);
  EXPECT_EQ(backoff.next(), 1s);
  EXPECT_EQ(backoff.next(), 1s);
  backoff.reset();
  EXPECT_EQ(backoff.next(), 100ms);
}

}  // namespace
}  // namespace weft::runtime
