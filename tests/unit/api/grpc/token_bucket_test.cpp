// SPDX-License-Identifier: Apache-2.0
#include "api/access/token_bucket.hpp"

#include <gtest/gtest.h>

namespace weft::api {
namespace {

using namespace std::chrono_literals;
using Clock = TokenBucket::Clock;

constexpr Clock::time_point kStart{1h};

/// How often it gives without a wait at this moment, `most` at most.
int given(TokenBucket& bucket, Clock::time_point now, int most = 1000) {
  int count = 0;
  while (count < most && bucket.take(now) == Clock::duration::zero()) ++count;
  return count;
}

// 64 a second: binary fractions are exact.
TEST(TokenBucket, StartsWithABurstAndThenKeepsItsRate) {
  TokenBucket bucket(64, 200);
  EXPECT_EQ(given(bucket, kStart), 200);
  // The one that was refused is owed: it waits for a 64th of a second, the next one for two.
  EXPECT_EQ(bucket.take(kStart), 31'250us);
  EXPECT_EQ(bucket.take(kStart + 31'250us), 15'625us);
}

TEST(TokenBucket, GivesJustItsRateToWhoWaitsAsLongAsItSays) {
  TokenBucket bucket(64, 1);
  Clock::time_point now = kStart;
  for (int i = 0; i < 641; ++i) now += bucket.take(now);
  EXPECT_EQ(now - kStart, 10s);
}

TEST(TokenBucket, SavesUpNoMoreThanABurst) {
  TokenBucket bucket(64, 10);
  EXPECT_EQ(given(bucket, kStart), 10);
  EXPECT_EQ(given(bucket, kStart + 1h), 10);
  EXPECT_EQ(given(bucket, kStart + 1h + 125ms), 7) << "eight came, one was owed";
}

TEST(TokenBucket, OfLessThanOneASecondWaitsLong) {
  TokenBucket bucket(0.1, 1);
  EXPECT_EQ(bucket.take(kStart), 0s);
  EXPECT_EQ(bucket.take(kStart), 10s);
}

}  // namespace
}  // namespace weft::api
