// SPDX-License-Identifier: Apache-2.0
// Silences of a port from its counters.
#include <gtest/gtest.h>

#include "analyzer/stragglers/port_activity.hpp"

namespace weft::analyzer {
namespace {

TimePoint clock_at(double when) {
  return TimePoint(std::chrono::seconds(1000)) +
         std::chrono::duration_cast<Duration>(std::chrono::duration<double>(when));
}

constexpr StragglerThresholds kPortThresholds;
constexpr std::uint64_t kTransfer = 10'000'000'000;
constexpr std::uint64_t kFirstSent = 4 << 20;

/// A port whose counters move by so much from one reading to the next.
struct Counting {
  void read(double when, std::uint64_t sent, std::uint64_t received) {
    total.at = clock_at(when);
    total.sent += sent;
    total.received += received;
    activity.take(total, kPortThresholds);
  }
  std::vector<Silence> silences() {
    activity.settle(clock_at(1e6), kPortThresholds);
    std::vector<Silence> found;
    activity.each_silence(kNever, [&](const Silence& silence) { found.push_back(silence); });
    return found;
  }
  PortActivity activity;
  PortActivity::Reading total{.sent = 77, .received = 99};
};

TEST(PortActivity, KnowsWhenASilenceBeganAndWhenTheFirstWasSent) {
  Counting port;
  port.read(0, 0, 0);
  port.read(1, kTransfer, kTransfer);
  port.read(2, kTransfer / 20, 0);
  port.read(3, 1000, 1000);
  port.read(4, kFirstSent, 1000);
  port.read(5, 0, kFirstSent);
  port.read(6, kTransfer, kTransfer);
  const auto silences = port.silences();
  ASSERT_EQ(silences.size(), 1U);
  EXPECT_EQ(silences[0].since, clock_at(2)) << "the end of the last reading with a part of the transfer";
  EXPECT_EQ(silences[0].asleep, clock_at(3));
  EXPECT_EQ(silences[0].begun, clock_at(4));
  EXPECT_EQ(silences[0].until, clock_at(5));
  EXPECT_TRUE(silences[0].received);
  EXPECT_TRUE(silences[0].then_sent);
}

TEST(PortActivity, SendsNoFirstWithKeepAlivesThatVaryAroundTheSmallestOne) {
  Counting port;
  port.read(0, 0, 0);
  double when = 0;
  for (int i = 0; i < 3; ++i) {
    port.read(++when, kTransfer, kTransfer);
    for (const std::uint64_t bytes : {960'000, 1'060'000, 1'070'000, 950'000}) port.read(++when, bytes, bytes);
  }
  port.read(++when, kTransfer, kTransfer);
  const auto silences = port.silences();
  ASSERT_EQ(silences.size(), 3U);
  for (const Silence& silence : silences) {
    EXPECT_FALSE(silence.was_seen_to_begin());
    EXPECT_FALSE(silence.may_have_background);
  }
}

TEST(PortActivity, RemembersWhatCameAfterTheReadingThatMayHaveTheEndOfTheTransfer) {
  constexpr std::uint64_t kRest = 47'000'000;
  Counting port;
  port.read(0, 0, 0);
  port.read(1, kTransfer, kTransfer);
  port.read(2, kRest, kRest);
  port.read(3, 1000, 1000);
  port.read(4, kFirstSent, 1000);
  port.read(5, kFirstSent, 1000);
  port.read(6, kTransfer, kTransfer);
  const auto silences = port.silences();
  ASSERT_EQ(silences.size(), 1U);
  EXPECT_EQ(silences[0].sending, clock_at(0));
  EXPECT_DOUBLE_EQ(silences[0].rate, kTransfer);
  EXPECT_EQ(silences[0].since, clock_at(1));
  EXPECT_EQ(silences[0].asleep, clock_at(1));
  EXPECT_EQ(silences[0].begun, clock_at(2));
  EXPECT_NEAR(silences[0].first, kRest, 1000);
  EXPECT_EQ(silences[0].asleep_again, clock_at(3));
  EXPECT_EQ(silences[0].begun_again, clock_at(4));
  EXPECT_NEAR(silences[0].first_again, kFirstSent, 1000);
}

TEST(PortActivity, SeesASilenceAboveABackground) {
  constexpr std::uint64_t kBackground = 100'000'000;  // more than StragglerThresholds::transfer
  Counting port;
  double when = 0;
  const auto iterate = [&] {
    port.read(++when, kTransfer, kTransfer);
    port.read(++when, kBackground, kBackground);
    port.read(++when, kBackground, kBackground);
    port.read(++when, kBackground + kFirstSent, kBackground);
    port.read(++when, kBackground, kBackground + kFirstSent);
  };
  port.read(0, 0, 0);
  for (int i = 0; i < 4; ++i) iterate();
  port.read(++when, kTransfer, kTransfer);
  const Silence silence = port.silences().back();
  EXPECT_EQ(silence.since, clock_at(16));
  EXPECT_EQ(silence.asleep, clock_at(18));
  EXPECT_EQ(silence.begun, clock_at(19));
  EXPECT_EQ(silence.until, clock_at(20));
  EXPECT_NEAR(silence.first, kFirstSent, 1);
  EXPECT_TRUE(silence.received);
  EXPECT_TRUE(silence.has_background);
  EXPECT_FALSE(silence.may_have_background);
}

TEST(PortActivity, OfAPortThatOnlyReceivesIsNone) {
  Counting port;
  for (int i = 0; i < 20; ++i) port.read(i, 1000, i % 4 < 2 ? kTransfer : 0);
  EXPECT_TRUE(port.silences().empty());
  EXPECT_EQ(port.activity.sends_since(), kNever);
}

TEST(PortActivity, OfAPortThatReceivesAndSendsSomethingElseNowAndThenIsNone) {
  Counting port;
  for (int i = 0; i < 20; ++i) port.read(i, 1000, i % 4 < 2 ? kTransfer : 0);
  port.read(20, kTransfer, kTransfer);  // to storage
  for (int i = 21; i < 40; ++i) port.read(i, 1000, i % 4 < 2 ? kTransfer : 0);
  EXPECT_TRUE(port.silences().empty());
}

TEST(PortActivity, OfAPortThatSentInOneOfTwoTransfersIsNone) {
  Counting port;
  port.read(0, 0, 0);
  port.read(1, kTransfer, kTransfer);  // to storage
  port.read(2, 1000, 1000);
  port.read(3, 1000, kTransfer);
  ASSERT_EQ(port.silences().size(), 1U) << "it sent in the only one that is known";
  EXPECT_FALSE(port.silences()[0].then_sent);
  port.read(4, 1000, 1000);
  port.read(5, 1000, kTransfer);
  EXPECT_EQ(port.silences().size(), 1U);
}

TEST(PortActivity, OfAPortWithSlowTransfersIsNone) {
  // At 1 GB/s the beginning of a transfer looks like a first sending for 60 ms.
  Counting port;
  for (int i = 0; i < 20; ++i) port.read(i, i % 4 < 2 ? 1'000'000'000 : 0, 0);
  EXPECT_TRUE(port.silences().empty());
}

TEST(PortActivity, ThatNobodyReadForLongIsNotKnown) {
  Counting port;
  port.read(0, 0, 0);
  port.read(1, kTransfer, 0);
  port.read(2, 0, 0);
  port.read(8, 0, 0);
  port.read(9, kTransfer, 0);
  EXPECT_TRUE(port.silences().empty());
}

TEST(PortActivity, PutsReadingsOfCollectorAndSweepsInOrder) {
  Counting port;
  port.read(0, 0, 0);
  port.read(1, kTransfer, 0);
  port.read(2, 0, 0);
  auto sweep = port.total;
  sweep.is_sweep = true;
  port.read(3, 2 * kFirstSent, 0);
  sweep.at = clock_at(2.5);
  sweep.sent += kFirstSent;
  port.activity.take(sweep, kPortThresholds);  // heard later than what was read later
  port.read(4, kTransfer, 0);
  const auto silences = port.silences();
  ASSERT_EQ(silences.size(), 1U);
  EXPECT_EQ(silences[0].asleep, clock_at(2));
  EXPECT_EQ(silences[0].begun, clock_at(2.5));
  EXPECT_EQ(silences[0].until, clock_at(3));
}

TEST(PortActivity, DoesWithoutSweepsThatCountSomethingElse) {
  Counting port;
  for (int i = 0; i < 40; ++i) {
    port.read(i, i % 4 == 0 ? kTransfer : 0, 0);
    PortActivity::Reading sweep = port.total;
    sweep.is_sweep = true;
    sweep.at = clock_at(i + 0.5);
    sweep.sent += 5 * kTransfer;  // as a counter with another beginning
    port.activity.take(sweep, kPortThresholds);
  }
  const auto silences = port.silences();
  ASSERT_GE(silences.size(), 3U);
  for (const Silence& silence : silences) {
    EXPECT_FALSE(silence.was_seen_to_begin());
    EXPECT_EQ(silence.until - silence.since, std::chrono::seconds(3));
  }
}

TEST(PortActivity, MakesANewStartWhenTheClockWasSetBack) {
  Counting port;
  for (int i = 0; i < 12; ++i) port.read(100 + i, i % 4 == 0 ? kTransfer : 0, 0);
  ASSERT_EQ(port.silences().size(), 1U);
  port.read(20, 0, 0);
  EXPECT_TRUE(port.silences().empty());
  for (int i = 0; i < 6; ++i) port.read(21 + i, i % 4 == 0 ? kTransfer : 0, 0);
  EXPECT_EQ(port.silences().size(), 1U);
}

}  // namespace
}  // namespace weft::analyzer
