// SPDX-License-Identifier: Apache-2.0
// Silences of ports from their counters, and who was late in them.
#include <gtest/gtest.h>

#include "analyzer/stragglers/collective_starts.hpp"

namespace weft::analyzer {
namespace {

TimePoint at(double when) {
  return TimePoint(std::chrono::seconds(1000)) +
         std::chrono::duration_cast<Duration>(std::chrono::duration<double>(when));
}

constexpr StragglerThresholds kThresholds;
constexpr std::uint64_t kTransfer = 10'000'000'000;
constexpr std::uint64_t kFirst = 4 << 20;

/// A port whose counters move by so much from one reading to the next.
struct Counting {
  void read(double when, std::uint64_t sent, std::uint64_t received) {
    total.at = at(when);
    total.sent += sent;
    total.received += received;
    activity.take(total, kThresholds);
  }
  std::vector<Silence> silences() {
    activity.settle(at(1e6), kThresholds);
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
  port.read(4, kFirst, 1000);
  port.read(5, 0, kFirst);
  port.read(6, kTransfer, kTransfer);
  const auto silences = port.silences();
  ASSERT_EQ(silences.size(), 1U);
  EXPECT_EQ(silences[0].since, at(2)) << "the end of the last reading with a part of the transfer";
  EXPECT_EQ(silences[0].asleep, at(3));
  EXPECT_EQ(silences[0].begun, at(4));
  EXPECT_EQ(silences[0].until, at(5));
  EXPECT_TRUE(silences[0].received);
}

TEST(PortActivity, SeesASilenceAboveABackground) {
  constexpr std::uint64_t kBackground = 100'000'000;  // more than StragglerThresholds::transfer
  Counting port;
  double when = 0;
  const auto iterate = [&] {
    port.read(++when, kTransfer, kTransfer);
    port.read(++when, kBackground, kBackground);
    port.read(++when, kBackground, kBackground);
    port.read(++when, kBackground + kFirst, kBackground);
    port.read(++when, kBackground, kBackground + kFirst);
  };
  port.read(0, 0, 0);
  for (int i = 0; i < 4; ++i) iterate();
  port.read(++when, kTransfer, kTransfer);
  const Silence silence = port.silences().back();
  EXPECT_EQ(silence.since, at(16));
  EXPECT_EQ(silence.asleep, at(18));
  EXPECT_EQ(silence.begun, at(19));
  EXPECT_EQ(silence.until, at(20));
  EXPECT_NEAR(silence.first, kFirst, 1);
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
  port.read(3, 2 * kFirst, 0);
  sweep.at = at(2.5);
  sweep.sent += kFirst;
  port.activity.take(sweep, kThresholds);  // heard later than what was read later
  port.read(4, kTransfer, 0);
  const auto silences = port.silences();
  ASSERT_EQ(silences.size(), 1U);
  EXPECT_EQ(silences[0].asleep, at(2));
  EXPECT_EQ(silences[0].begun, at(2.5));
  EXPECT_EQ(silences[0].until, at(3));
}

TEST(PortActivity, DoesWithoutSweepsThatCountSomethingElse) {
  Counting port;
  for (int i = 0; i < 40; ++i) {
    port.read(i, i % 4 == 0 ? kTransfer : 0, 0);
    PortActivity::Reading sweep = port.total;
    sweep.is_sweep = true;
    sweep.at = at(i + 0.5);
    sweep.sent += 5 * kTransfer;  // as a counter with another beginning
    port.activity.take(sweep, kThresholds);
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

Silence silence(double since, double until, double asleep = 0, double begun = 0) {
  return {.since = at(since),
          .until = at(until),
          .asleep = begun > 0 ? at(asleep) : kNever,
          .begun = begun > 0 ? at(begun) : kNever};
}

/// Eight that begin between 3.1 and 3.2; member 8 is the caller's.
std::vector<MemberSilence> cohort(Silence last) {
  std::vector<MemberSilence> all;
  for (unsigned i = 0; i < 8; ++i) {
    const double phase = 0.1 * i + 0.02;
    const double asleep = phase < 0.12 ? 3 + phase : 2 + phase;
    all.push_back({i, silence(1 + phase, 5 + phase, asleep, asleep + 1)});
  }
  all.push_back({8, last});
  return all;
}

TEST(CollectiveStarts, BlameWhoWasSilentWhenTheOthersHadBegun) {
  const auto found = find_beginnings(cohort(silence(1.5, 5.5)), at(100), kThresholds);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].waited.size(), 8U);
  ASSERT_EQ(found[0].late.size(), 1U);
  EXPECT_EQ(found[0].late[0].member, 8U);
  EXPECT_NEAR(found[0].late[0].delay, 2.3, 0.1) << "from 3.2, when the first of them was read to have begun, to 5.5";
  EXPECT_GT(found[0].late[0].score, kThresholds.score);
}

TEST(CollectiveStarts, DoNotBlameWhoMayHaveBegunUnseen) {
  // Its first may lie in the reading that also has the end of the transfer before: it is silent only after that.
  const auto found = find_beginnings(cohort(silence(3.3, 5.3)), at(100), kThresholds);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].late.empty());
}

TEST(CollectiveStarts, DoNotBlameWhoMayHaveBegunALittleBeforeTheOthers) {
  // First read silent 20 ms before the others began. Who computes a few per cent faster has sent its first by then.
  const auto found = find_beginnings(cohort(silence(2.7, 5.3)), at(100), kThresholds);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].late.empty());
}

TEST(CollectiveStarts, BlameWhoCanHardlyHaveBegunSoLongBeforeTheOthers) {
  // First read silent 120 ms before them: a host would have to compute 5.7 % faster, 4 times what hosts differ by.
  const auto found = find_beginnings(cohort(silence(2.6, 5.3)), at(100), kThresholds);
  ASSERT_EQ(found.size(), 1U);
  ASSERT_EQ(found[0].late.size(), 1U);
  EXPECT_EQ(found[0].late[0].member, 8U);
}

TEST(CollectiveStarts, DoNotBlameByLessThanWhatClocksAgreeBy) {
  // They wait for half a second, of which the differences of hosts are 11 ms; it was read silent 15 ms before them.
  std::vector<MemberSilence> all;
  for (unsigned i = 0; i < 8; ++i) all.push_back({i, silence(2.6 + 0.001 * i, 5, 3 + 0.001 * i, 3.1 + 0.001 * i)});
  all.push_back({8, silence(2.991, 5)});
  EXPECT_TRUE(find_beginnings(all, at(100), kThresholds)[0].late.empty());
  all.back().silence.since = at(2.98);
  EXPECT_EQ(find_beginnings(all, at(100), kThresholds)[0].late.size(), 1U);
}

TEST(CollectiveStarts, DoNotBlameWhoWasReadTooEarlyToTell) {
  const auto found = find_beginnings(cohort(silence(1.5, 3.05)), at(100), kThresholds);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].late.empty());
}

TEST(CollectiveStarts, DoNotBlameWhoComputesAFewPerCentLonger) {
  // Hosts differ by a per cent, and from one iteration to the next by another.
  const auto silences = [](double last) {
    std::vector<MemberSilence> all;
    for (unsigned i = 0; i < 8; ++i) all.push_back({i, silence(1 + 0.02 * i, 13, 10.5 + 0.02 * i, 11 + 0.02 * i)});
    all.push_back({8, silence(1.1, last)});
    return all;
  };
  EXPECT_TRUE(find_beginnings(silences(11.6), at(100), kThresholds)[0].late.empty());
  EXPECT_EQ(find_beginnings(silences(12), at(100), kThresholds)[0].late.size(), 1U);
}

TEST(CollectiveStarts, DoNotBlameMany) {
  auto silences = cohort(silence(1.5, 5.5));
  for (unsigned i = 9; i < 14; ++i) silences.push_back({i, silence(1.5, 5.5)});
  const auto found = find_beginnings(silences, at(100), kThresholds);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].late.empty());
}

TEST(CollectiveStarts, DoNotBlameWhoseBackgroundHidesAFirstSending) {
  auto silences = cohort(silence(1.5, 5.5));
  for (MemberSilence& member : silences) member.silence.first = kFirst;
  silences.back().silence.first = 0;
  silences.back().silence.hidden = kFirst - 1;
  EXPECT_EQ(find_beginnings(silences, at(100), kThresholds)[0].late.size(), 1U);
  silences.back().silence.hidden = kFirst + 1;
  EXPECT_TRUE(find_beginnings(silences, at(100), kThresholds)[0].late.empty());
}

TEST(CollectiveStarts, LeaveOutUnknownBackgroundsWhereOthersHaveOne) {
  auto silences = cohort(silence(1.5, 5.5));
  for (unsigned i = 0; i < 8; ++i) silences[i].silence.may_have_background = true;
  EXPECT_EQ(find_beginnings(silences, at(100), kThresholds)[0].late.size(), 1U);
  silences.back().silence.has_background = true;
  const auto found = find_beginnings(silences, at(100), kThresholds);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].begun, kNever) << "what looked like first sendings may be backgrounds";
  EXPECT_TRUE(found[0].late.empty());
}

/// What moves in the silences of eight others is known, and what moves in the last one's may be first sendings.
std::vector<MemberSilence> cohort_with_background(double background) {
  constexpr double kBackground = 50e6;
  auto silences = cohort(silence(1.5, 5.5));
  for (MemberSilence& member : silences) {
    member.silence.first = kFirst;
    member.silence.has_background = true;
    member.silence.background = kBackground;
    member.silence.longest = 1;
  }
  Silence& last = silences.back().silence;
  last.first = 0;
  last.has_background = false;
  last.is_alike = last.may_include_first = true;
  last.background = kBackground + background;
  last.second = at(2.5);
  return silences;
}

TEST(CollectiveStarts, BlameWhoMovesNoMoreThanTheBackgroundOfTheOthers) {
  const auto found = find_beginnings(cohort_with_background(0.1 * kFirst), at(100), kThresholds);
  ASSERT_EQ(found[0].late.size(), 1U);
  EXPECT_EQ(found[0].late[0].member, 8U);
}

TEST(CollectiveStarts, DoNotBlameWhoMovesAFirstSendingMoreInEachReading) {
  const auto found = find_beginnings(cohort_with_background(kFirst), at(100), kThresholds);
  EXPECT_EQ(found[0].waited.size(), 8U);
  EXPECT_TRUE(found[0].late.empty());
}

TEST(CollectiveStarts, TakeReadingsThatAreAlikeForFirstSendingsWhereNoBackgroundIsKnown) {
  auto silences = cohort(silence(1.5, 5.5));
  for (unsigned i = 0; i < 8; ++i) {
    Silence& alike = silences[i].silence;
    alike.second = alike.begun;
    alike.since = alike.asleep;
    alike.asleep = alike.begun = kNever;
    alike.is_alike = alike.may_include_first = true;
    alike.background = kFirst;
    alike.longest = 1;
  }
  const auto found = find_beginnings(silences, at(100), kThresholds);
  EXPECT_EQ(found[0].waited.size(), 8U);
  ASSERT_EQ(found[0].late.size(), 1U);
  EXPECT_EQ(found[0].late[0].member, 8U);
}

TEST(CollectiveStarts, PreferWhoHasReceivedNothingOverWhoWaitsToSendToIt) {
  auto silences = cohort(silence(1.5, 5.5));
  Silence waiting = silence(1.6, 5.6);
  waiting.received = true;
  silences.push_back({9, waiting});
  const auto found = find_beginnings(silences, at(100), kThresholds);
  ASSERT_EQ(found.size(), 1U);
  ASSERT_EQ(found[0].late.size(), 1U);
  EXPECT_EQ(found[0].late[0].member, 8U);
}

TEST(CollectiveStarts, AreToldApartByTheTransfersBetweenAndJudgedWhenTheyAreOver) {
  auto silences = cohort(silence(1.5, 5.5));
  for (MemberSilence next : cohort(silence(1.5, 5.5))) {
    for (TimePoint* time : {&next.silence.since, &next.silence.until, &next.silence.asleep, &next.silence.begun})
      if (*time != kNever) *time += std::chrono::seconds(10);
    silences.push_back(next);
  }
  EXPECT_EQ(find_beginnings(silences, at(100), kThresholds).size(), 2U);
  EXPECT_EQ(find_beginnings(silences, at(12), kThresholds).size(), 1U);
  EXPECT_TRUE(find_beginnings(silences, at(5), kThresholds).empty());
  EXPECT_TRUE(find_beginnings({}, at(5), kThresholds).empty());
}

TEST(CollectiveStarts, SayNothingOfMembersThatDoNotMoveInStep) {
  std::vector<MemberSilence> silences = cohort(silence(1.5, 5.5));
  for (unsigned i = 0; i < 8; ++i) silences.push_back({i, silence(4.9, 7)});
  const auto found = find_beginnings(silences, at(100), kThresholds);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].begun, kNever);
  EXPECT_TRUE(found[0].late.empty());
}

}  // namespace
}  // namespace weft::analyzer
