// SPDX-License-Identifier: Apache-2.0
// Silences of a port from its counters.
#include <gtest/gtest.h>

#include <initializer_list>

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

TEST(PortActivity, IsSilentAtOnceBesideABackgroundThatIsMoreThanASmallTransfer) {
  constexpr std::uint64_t kBackground = 80'000'000;  // more than StragglerThresholds::transfer
  Counting port;
  port.read(0, 0, 0);
  port.read(1, kTransfer, kTransfer);
  port.read(2, kBackground, kBackground);
  port.read(3, kBackground + kFirstSent, kBackground);
  port.read(4, kTransfer, kTransfer);
  const auto silences = port.silences();
  ASSERT_EQ(silences.size(), 1U);
  EXPECT_EQ(silences[0].since, clock_at(1));
  EXPECT_EQ(silences[0].asleep, clock_at(2));
  EXPECT_EQ(silences[0].begun, clock_at(3));
  EXPECT_NEAR(silences[0].background, kBackground, 1);
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

// Beside storage a transfer is slow. A sweep reads the port right after its collector: in 30 ms few bytes move, at the
// rate of before.
constexpr std::uint64_t kSlow = 1'400'000'000;
constexpr std::uint64_t kSlowInShort = 42'000'000;

TEST(PortActivity, DoesNotBeginWhereATransferGoesOn) {
  Counting port;
  port.read(0, 0, 0);
  double when = 0;
  for (int i = 0; i < 3; ++i) {
    port.read(++when, kTransfer, 0);
    port.read(++when, kSlow, 0);
    port.read(when + 0.03, kSlowInShort, 0);
    port.read(++when, kSlow - kSlowInShort, 0);
  }
  EXPECT_TRUE(port.silences().empty());
}

// While something else takes most of the line, a sweep may read it a moment after the collector.
TEST(PortActivity, IsNotSilentForAMomentInWhichASlowTransferMovesLittle) {
  Counting port;
  port.read(0, 0, 0);
  port.read(1, kTransfer, kTransfer);
  port.read(1.03, 42'000'000, 42'000'000);  // 1.4 GB/s
  port.read(2, 1'400'000'000, 1'400'000'000);
  port.read(3, kTransfer, kTransfer);
  EXPECT_TRUE(port.silences().empty());
}

TEST(PortActivity, IsSilentAfterTheShortReadingInWhichATransferWentOn) {
  Counting port;
  port.read(0, 0, 0);
  port.read(1, kTransfer, 0);
  port.read(2, kSlow, 0);
  port.read(2.03, kSlowInShort, 0);
  port.read(3, 0, 0);
  port.read(4, kFirstSent, 0);
  port.read(5, 0, 0);
  port.read(6, kTransfer, 0);
  const auto silences = port.silences();
  ASSERT_EQ(silences.size(), 1U);
  EXPECT_EQ(silences[0].since, clock_at(2.03));
  EXPECT_EQ(silences[0].asleep, clock_at(3));
  EXPECT_EQ(silences[0].begun, clock_at(4));
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

/// One that sends 50 MB/s besides, and in each silence from one reading to the next so many bytes more.
struct BesideABackground : Counting {
  static constexpr std::uint64_t kBackground = 50'000'000;
  BesideABackground() {
    read(0, 0, 0);
    read(++when, kTransfer, kTransfer);
  }
  void silence(std::initializer_list<std::uint64_t> more) {
    for (const std::uint64_t bytes : more) read(++when, kBackground + bytes, 0);
    read(++when, kTransfer, kTransfer);
  }
  double when = 0;
};

TEST(PortActivity, TellsItsBackgroundByTheOtherReadingsOfASilence) {
  BesideABackground port;
  port.silence({0, kFirstSent});
  port.silence({0, 0, 0});
  const auto silences = port.silences();
  ASSERT_EQ(silences.size(), 2U);
  EXPECT_EQ(silences[0].asleep, clock_at(2)) << "only one reading of a silence has a first sending";
  EXPECT_EQ(silences[0].begun, clock_at(3));
  EXPECT_NEAR(silences[0].first, kFirstSent, 1);
  EXPECT_FALSE(silences[1].was_seen_to_begin());
  for (const Silence& silence : silences) {
    EXPECT_FALSE(silence.may_have_background);
    EXPECT_FALSE(silence.may_include_first);
    EXPECT_NEAR(silence.background, BesideABackground::kBackground, 1);
  }
}

TEST(PortActivity, UsesABackgroundThatTwoSilencesToldInOneOfASingleReading) {
  BesideABackground port;
  port.silence({0});
  port.silence({0, kFirstSent});
  port.silence({0});
  port.silence({kFirstSent, 0});
  port.silence({0});
  port.silence({kFirstSent});
  const auto silences = port.silences();
  ASSERT_EQ(silences.size(), 6U);
  const auto is_known = [&](std::size_t at) {
    return !silences[at].may_have_background && !silences[at].may_include_first;
  };
  EXPECT_FALSE(is_known(0));
  EXPECT_FALSE(is_known(2)) << "one silence may be chance";
  EXPECT_TRUE(is_known(4) && !silences[4].was_seen_to_begin());
  EXPECT_TRUE(is_known(5) && silences[5].was_seen_to_begin());
  EXPECT_NEAR(silences[5].first, kFirstSent, 1);
}

TEST(PortActivity, TellsNothingByReadingsThatDifferByMoreThanAFirstSending) {
  BesideABackground port;
  port.silence({0, kFirstSent, 3 * kFirstSent});
  port.silence({0, 700'000, kFirstSent});
  for (const Silence& silence : port.silences()) EXPECT_TRUE(silence.may_have_background);
}

TEST(PortActivity, BeginsNotByASmallShareOfWhatItSendsAllTheTime) {
  // 8.5 % of what it sends in transfers: two flows that are as slow as a third one, and so are steady for a while.
  constexpr std::uint64_t kSteady = 4'250'000'000;
  Counting port;
  port.read(0, 0, 0);
  double when = 0;
  port.read(++when, 5 * kTransfer, 0);
  for (int i = 0; i < 20; ++i) port.read(++when, kSteady, 0);
  port.read(++when, kSteady + 3 * kFirstSent, 0);
  port.read(++when, 5 * kTransfer, 0);
  const auto silences = port.silences();
  ASSERT_FALSE(silences.empty());
  EXPECT_FALSE(silences.back().was_seen_to_begin());
}

}  // namespace
}  // namespace weft::analyzer
