// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/lease_rules.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace weft::store {
namespace {

using namespace std::chrono_literals;

LeaseState state(std::int64_t epoch, std::int64_t n, const char* holder = "a, process 1") {
  LeaseState state;
  state.epoch = epoch;
  state.n = n;
  state.holder = holder;
  return state;
}

TEST(LeaseRules, ABeatThatStoodStillForFiveSecondsIsDue) {
  LeaseRules rules;
  for (Duration now = 100s; now < 105s; now += 1s) EXPECT_FALSE(rules.is_due(state(4, 17), now)) << now / 1s;
  EXPECT_TRUE(rules.is_due(state(4, 17), 105s));
}

TEST(LeaseRules, ABeatThatStandsStillIsLookedForOnAnotherServerAfterTwoSeconds) {
  LeaseRules rules;
  EXPECT_FALSE(rules.is_doubtful(100s)) << "nothing was seen";
  rules.is_due(state(4, 17), 100s);
  rules.is_due(state(4, 17), 101s);
  EXPECT_FALSE(rules.is_doubtful(101s));
  rules.is_due(state(4, 17), 102s);
  EXPECT_TRUE(rules.is_doubtful(102s));
  rules.is_due(state(4, 18), 103s);
  EXPECT_FALSE(rules.is_doubtful(103s)) << "it beats";
}

TEST(LeaseRules, ABeatIsSteadyThatGrowsFromLookToLook) {
  LeaseRules rules;
  EXPECT_FALSE(rules.is_steady());
  rules.is_due(state(4, 17), 100s);
  rules.is_due(state(4, 18), 101s);
  EXPECT_FALSE(rules.is_steady());
  rules.is_due(state(4, 19), 102s);
  EXPECT_TRUE(rules.is_steady());
  rules.is_due(state(4, 19), 103s);
  EXPECT_FALSE(rules.is_steady());
  for (int i = 0; i < 20; ++i) {
    rules.is_due(state(4, 20 + i / 5), 104s + i * 1s);
    EXPECT_FALSE(rules.is_steady()) << "once in five seconds: " << i;
  }
}

TEST(LeaseRules, EachBeatAndEachNewLeaderIsASignOfLife) {
  LeaseRules rules;
  for (int i = 0; i < 60; ++i) EXPECT_FALSE(rules.is_due(state(4, 17 + i / 4), 100s + i * 1s)) << i;
  EXPECT_FALSE(rules.is_due(state(5, 31), 160s));
  EXPECT_FALSE(rules.is_due(state(5, 31), 163s));
  EXPECT_FALSE(rules.is_due(state(6, 31), 165s)) << "another took it, at the same beat";
}

TEST(LeaseRules, TimeInWhichNobodyLookedProvesNothing) {
  LeaseRules rules;
  EXPECT_FALSE(rules.is_due(state(4, 17), 100s));
  EXPECT_FALSE(rules.is_due(state(4, 17), 160s)) << "this weftd was stopped, or the database was away";
  EXPECT_FALSE(rules.is_due(state(4, 17), 163s));
  EXPECT_TRUE(rules.is_due(state(4, 17), 165s));
}

TEST(LeaseRules, WhatWasGivenBackIsDueAtOnce) {
  LeaseRules rules;
  EXPECT_FALSE(rules.is_due(state(4, 17), 100s));
  EXPECT_TRUE(rules.is_due(state(4, 17, ""), 101s));
}

TEST(LeaseRules, ALeaderHoldsItForThreeSecondsAfterItsLastGoodBeatWasSent) {
  LeaseRules rules;
  EXPECT_FALSE(rules.holds(100s));
  rules.take(5, 100s);
  EXPECT_EQ(rules.epoch(), 5);
  EXPECT_TRUE(rules.holds(102900ms));
  EXPECT_FALSE(rules.holds(103s));
  rules.beat(104s);
  EXPECT_TRUE(rules.holds(106900ms)) << "nobody took it meanwhile";
  EXPECT_FALSE(rules.holds(164s)) << "after a minute of sleep";
  rules.lose();
  EXPECT_FALSE(rules.holds(104s));
  EXPECT_FALSE(rules.epoch());
}

TEST(LeaseRules, ALeaseIsTakenAboveEachEpochThatIsKnown) {
  LeaseRules rules;
  EXPECT_EQ(rules.next(4), 5);
  rules.know(9);
  EXPECT_EQ(rules.next(4), 10) << "the database went back";
  EXPECT_EQ(rules.next(12), 13);
  rules.is_due(state(20, 1), 100s);
  rules.is_due(state(6, 1), 101s);
  EXPECT_EQ(rules.next(6), 21) << "it went back while this weftd stood by";
  rules.know(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(rules.next(6), 21) << "no lease ever had that";
}

TEST(LeaseRules, AMarkThatIsTooFarAboveWhatTheDatabaseSaidIsNotBelieved) {
  LeaseRules rules;
  rules.hear(9);
  EXPECT_EQ(rules.next(4), 10) << "the database went back";
  for (const std::int64_t forged :
       {kGreatestEpoch, kGreatestEpoch - 1, kFarthestMark + 1, std::numeric_limits<std::int64_t>::max()}) {
    rules.hear(forged);
    EXPECT_EQ(rules.known(), 9) << forged;
  }
  rules.take(rules.next(4), 100s);
  rules.hear(kGreatestEpoch - 1);
  EXPECT_FALSE(rules.must_rise());
  rules.hear(10 + kFarthestMark);
  EXPECT_TRUE(rules.must_rise());
  rules.hear(11 + kFarthestMark);
  EXPECT_EQ(rules.known(), 10 + kFarthestMark) << "one forged mark makes no room for the next";
  rules.is_due(state(5 * kFarthestMark, 1), 101s);
  rules.hear(6 * kFarthestMark);
  EXPECT_EQ(rules.known(), 6 * kFarthestMark) << "the database itself is believed";
}

TEST(LeaseRules, ALeaderThatLearnsOfAGreaterEpochMustRise) {
  LeaseRules rules;
  rules.know(9);
  EXPECT_FALSE(rules.must_rise()) << "it does not lead";
  rules.take(rules.next(4), 100s);
  EXPECT_FALSE(rules.must_rise());
  rules.know(10);
  EXPECT_FALSE(rules.must_rise()) << "its own";
  rules.know(30);
  EXPECT_TRUE(rules.must_rise());
  EXPECT_TRUE(rules.holds(101s)) << "nobody else leads";
  rules.take(rules.next(10), 101s);
  EXPECT_FALSE(rules.must_rise());
  EXPECT_EQ(rules.epoch(), 31);
}

// Whatever a beat takes on its way: when a standby takes over, the leader does not hold the lease any more.
TEST(LeaseRules, TwoNeverHoldIt) {
  for (Duration way = 0ms; way < 3s; way += 100ms)
    for (Duration offset = 0ms; offset < 1s; offset += 100ms) {
      LeaseRules leader, standby;
      leader.take(1, 100s);
      const Duration arrived = 100s + way;  // the last beat that did
      for (Duration now = 100s + offset; now < 120s; now += 1s) {
        if (!standby.is_due(state(1, now < arrived ? 16 : 17), now)) continue;
        EXPECT_FALSE(leader.holds(now));
        EXPECT_LE(now - arrived, kStillness + 1s);
        break;
      }
    }
}

}  // namespace
}  // namespace weft::store
