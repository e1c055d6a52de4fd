// SPDX-License-Identifier: Apache-2.0
// What a port moves all the time, told from the ends of transfers and from first sendings.
#include <gtest/gtest.h>

#include <random>

#include "analyzer/stragglers/background.hpp"

namespace weft::analyzer {
namespace {

constexpr StragglerThresholds kLimits;
constexpr double kTransferRate = 30e9;
constexpr double kRate = 25e6;
constexpr double kChunk = 4 << 20;

struct Port {
  void read(double bytes, double seconds = 1) { background.take(bytes, seconds, kTransferRate, kLimits); }
  void transfer() { read(kTransferRate); }
  Background background;
};

TEST(Background, IsWhatQuietReadingsAgreeOn) {
  Port port;
  std::mt19937 random(1);
  std::normal_distribution<double> noise(1, 0.01);
  for (int i = 0; i < 10; ++i) {
    port.transfer();
    port.read(kTransferRate / 50 + kRate);  // the end of a transfer
    port.read(kRate * noise(random));
    port.read(kRate * noise(random) + kChunk);
    port.read(kRate * noise(random));
  }
  ASSERT_EQ(port.background.state(), Background::State::kSteady);
  EXPECT_NEAR(port.background.bytes(2), 2 * kRate, 0.1 * kRate);
  EXPECT_LT(port.background.noise(1), 0.15 * kRate);
  EXPECT_GT(port.background.noise(1), 0.01 * kRate);
}

TEST(Background, IsNotWhatOneOfFewPairsHasBesides) {
  Port port;
  for (int i = 0; i < 6; ++i) {
    port.transfer();
    port.read(kRate + (i == 2 ? kChunk : 0));  // the end of a transfer
    port.read(kRate + kChunk);
  }
  ASSERT_EQ(port.background.state(), Background::State::kSteady);
  EXPECT_NEAR(port.background.bytes(1), kRate, 1) << "a first sending would be hidden";
}

TEST(Background, IsNoneWhereAReadingIsSilent) {
  Port port;
  for (int i = 0; i < 10; ++i) {
    port.transfer();
    port.read(kChunk);
    if (i == 5) port.read(1e5);
  }
  EXPECT_EQ(port.background.state(), Background::State::kNone);
  EXPECT_EQ(port.background.bytes(1), 1e5);
}

TEST(Background, MayBeFirstSendingsWhereEachSilenceHasOneReadingOfOneLength) {
  Port port;
  for (int i = 0; i < 30; ++i) {
    port.transfer();
    port.read(kChunk, 1 + 0.001 * (i % 7));
  }
  EXPECT_EQ(port.background.state(), Background::State::kAlike);
  EXPECT_TRUE(port.background.may_include_first());
}

TEST(Background, IsSeenInSingleReadingsWhereSomeHaveAFirstSending) {
  Port port;
  for (int i = 0; i < 8; ++i) {
    port.transfer();
    port.read(i % 2 == 0 ? kRate : kRate + kChunk);
  }
  ASSERT_EQ(port.background.state(), Background::State::kSteady);
  EXPECT_FALSE(port.background.may_include_first());
  EXPECT_NEAR(port.background.bytes(1), kRate, 1);
}

TEST(Background, IsTheOneReadingWithoutAFirstSendingWhereAllOthersHaveOne) {
  Port port;
  for (int i = 0; i < 8; ++i) {
    port.transfer();
    port.read(kRate + kChunk);
  }
  EXPECT_TRUE(port.background.may_include_first());
  port.transfer();
  port.read(kRate);
  EXPECT_FALSE(port.background.may_include_first());
  EXPECT_NEAR(port.background.bytes(1), kRate, 1);
}

TEST(Background, IsMoreThanFirstSendingsCanBe) {
  Port port;
  for (int i = 0; i < 4; ++i) {
    port.transfer();
    port.read(2 * kLimits.transfer);
  }
  EXPECT_EQ(port.background.state(), Background::State::kSteady);
  EXPECT_TRUE(port.background.may_include_first()) << "each of them may have one besides";
}

TEST(Background, IsTheLeastOfWhatIsNearZeroToo) {
  Port port;
  port.read(3e5);
  port.read(2e5);
  port.read(4e5);
  EXPECT_EQ(port.background.state(), Background::State::kNone);
  EXPECT_NEAR(port.background.bytes(2), 4e5, 1e4);
}

TEST(Background, StaysWhatItIsWhereItVariesAroundTheSmallestFirstSending) {
  Port port;
  port.read(9.4e5);
  for (int i = 0; i < 3; ++i) {
    port.read(1.06e6);
    port.read(1.08e6);
    EXPECT_EQ(port.background.state(), Background::State::kNone);
    EXPECT_GT(port.background.bytes(1), 9e5) << "else what it sends all the time would be its first sending";
    port.transfer();
  }
  for (int i = 0; i < 2; ++i) port.read(9.4e5 + 1.5 * kLimits.first_send);
  EXPECT_NE(port.background.state(), Background::State::kNone) << "it has risen by more than a first sending";
}

TEST(Background, IsNotSeenInTheEndsOfTransfersBesideFirstSendings) {
  Port port;
  for (int i = 0; i < 30; ++i) {
    port.transfer();
    port.read(kChunk);
    port.read(kTransferRate / (11 + i));  // the next transfer began just before
  }
  EXPECT_NE(port.background.state(), Background::State::kSteady);
}

TEST(Background, IsSeenInReadingsOfDifferentLength) {
  Port port;
  for (int i = 0; i < 10; ++i) {
    const double length = i % 2 == 0 ? 0.3 : 0.7;
    port.transfer();
    port.read(kRate * length, length);
  }
  ASSERT_EQ(port.background.state(), Background::State::kSteady);
  EXPECT_NEAR(port.background.bytes(1), kRate, 1);
}

TEST(Background, IsNotWhatVariesALot) {
  Port port;
  for (int i = 0; i < 24; ++i) port.read(kRate * (1 + i));
  EXPECT_EQ(port.background.state(), Background::State::kUnknown);
}

TEST(Background, IsNotKnownWhereItsNoiseHidesAFirstSending) {
  Port port;
  for (int i = 0; i < 24; ++i) port.read(kRate * (1 + 0.05 * (i / 2 % 6)));
  EXPECT_EQ(port.background.state(), Background::State::kUnknown);
}

TEST(Background, FollowsWhenItChanges) {
  Port port;
  for (int i = 0; i < 24; ++i) port.read(kRate);
  port.read(3 * kRate);
  port.read(3 * kRate);
  EXPECT_EQ(port.background.state(), Background::State::kUnknown);
  for (int i = 0; i < 24; ++i) port.read(3 * kRate);
  EXPECT_NEAR(port.background.bytes(1), 3 * kRate, 1);
  port.read(0);
  EXPECT_EQ(port.background.state(), Background::State::kNone);
  for (int i = 0; i < 8; ++i) port.read(kRate);
  EXPECT_NEAR(port.background.bytes(1), kRate, 1) << "what was before nothing moved does not count";
}

}  // namespace
}  // namespace weft::analyzer
