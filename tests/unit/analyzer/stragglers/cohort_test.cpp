// SPDX-License-Identifier: Apache-2.0
// Silences of the ports of a cohort, and who was late in them.
#include <gtest/gtest.h>

#include <array>

#include "analyzer/stragglers/collective_starts.hpp"

namespace weft::analyzer {
namespace {

TimePoint at(double when) {
  return TimePoint(std::chrono::seconds(1000)) +
         std::chrono::duration_cast<Duration>(std::chrono::duration<double>(when));
}

constexpr StragglerThresholds kThresholds;
constexpr std::uint64_t kFirst = 4 << 20;

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

TEST(CollectiveStarts, BlameWhoseTransferHadJustBegunWhenItWasRead) {
  const auto found = find_beginnings(cohort(silence(1.5, 6.5, 5.5, 6.5)), at(100), kThresholds);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].waited.size(), 8U);
  ASSERT_EQ(found[0].late.size(), 1U);
  EXPECT_EQ(found[0].late[0].member, 8U);
  EXPECT_NEAR(found[0].late[0].delay, 2.3, 0.1) << "to 5.5, when it was read silent last";
  // Of two such ones, and beside one that was silent to the end, they are who had to wait for the late one.
  auto two = cohort(silence(1.5, 6.5, 5.5, 6.5));
  two.push_back({9, silence(1.6, 6.6, 5.6, 6.6)});
  EXPECT_TRUE(find_beginnings(two, at(100), kThresholds)[0].late.empty());
  two.back() = {9, silence(1.6, 5.6)};
  const auto late = find_beginnings(two, at(100), kThresholds)[0].late;
  ASSERT_EQ(late.size(), 1U);
  EXPECT_EQ(late[0].member, 9U);
}

TEST(CollectiveStarts, DoNotBlameWhoMayHaveBegunUnseen) {
  // Its first may lie in the reading that also has the end of the transfer before: it is silent only after that.
  const auto found = find_beginnings(cohort(silence(3.3, 5.3)), at(100), kThresholds);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].late.empty());
}

TEST(CollectiveStarts, DoNotBlameWhoMayHaveBegunALittleBeforeTheOthers) {
  // First read silent 20 ms before the others began. Who computes a few per cent faster has sent its first by then. And
  // at 70 ms, which is one spread and a half.
  for (const double since : {2.7, 2.65}) {
    const auto found = find_beginnings(cohort(silence(since, 5.3)), at(100), kThresholds);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(found[0].late.empty()) << since;
  }
}

TEST(CollectiveStarts, BlameWhoCanHardlyHaveBegunSoLongBeforeTheOthers) {
  // First read silent 120 ms before them: a host would have to compute 5.7 % faster, 4 times what hosts differ by.
  const auto found = find_beginnings(cohort(silence(2.6, 5.3)), at(100), kThresholds);
  ASSERT_EQ(found.size(), 1U);
  ASSERT_EQ(found[0].late.size(), 1U);
  EXPECT_EQ(found[0].late[0].member, 8U);
}

TEST(CollectiveStarts, DoNotBlameByLessThanWhatClocksAgreeBy) {
  // They wait for 0.3 s, of which hosts differ by no more than 13 ms; it was read silent 15 ms before them.
  std::vector<MemberSilence> all;
  for (unsigned i = 0; i < 8; ++i) all.push_back({i, silence(2.8 + 0.001 * i, 5, 3 + 0.001 * i, 3.1 + 0.001 * i)});
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

/// A cohort whose silences are shorter than what lies between two readings: the transfer was over after 0.878, most
/// were read silent twice after that, and four were seen to begin at about 1.74. A day's false alarm was made of such.
/// Member 0 is the caller's: read at 0.877, and then at 1.161.
std::vector<MemberSilence> short_silences(Silence first) {
  const auto read = [](double since, double until) {
    Silence silence{.sending = at(since - 0.8), .rate = 20e9, .since = at(since), .until = at(until)};
    silence.second = silence.until;
    return silence;
  };
  std::vector<MemberSilence> all{{0, first}};
  for (const auto& [since, until] : {std::pair(0.888, 1.107),
                                     {0.931, 1.115},
                                     {0.980, 1.131},
                                     {1.042, 1.135},
                                     {1.101, 1.697},
                                     {1.108, 1.410},
                                     {1.112, 1.378},
                                     {1.123, 1.686}})
    all.push_back({static_cast<std::uint32_t>(all.size()), read(since, until)});
  for (const auto& [since, begun] : {std::pair(1.106, 1.755), {1.114, 1.756}, {1.120, 1.773}, {1.134, 1.771}}) {
    Silence begins = read(since, begun);
    begins.asleep = begins.since;
    begins.begun = begins.until;
    begins.first = kFirst;
    all.push_back({static_cast<std::uint32_t>(all.size()), begins});
  }
  return all;
}

/// Of who was read before the transfer was over, with so many bytes of it in the next reading.
Silence end_of_transfer(double bytes) {
  Silence silence{.sending = at(0.077), .rate = 20e9, .since = at(0.877), .until = at(1.161)};
  silence.asleep = silence.since;
  silence.begun = silence.second = silence.until;
  silence.first = bytes;
  return silence;
}

TEST(CollectiveStarts, DoNotTakeTheEndOfATransferForAFirstSending) {
  // Whatever it has: also as much as the others sent first.
  for (const double bytes : {2.9e6, static_cast<double>(kFirst), 47e6}) {
    const auto found = find_beginnings(short_silences(end_of_transfer(bytes)), at(100), kThresholds);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].begun, at(1.755)) << "by then the first of four was read to have begun, and not by 1.161";
    EXPECT_EQ(found[0].waited.size(), 4U);
    EXPECT_TRUE(found[0].late.empty()) << bytes;
  }
}

TEST(CollectiveStarts, SeeWhoBeginsAfterTheEndOfItsTransferWasRead) {
  Silence first = end_of_transfer(2.9e6);
  first.until = at(1.9);
  first.asleep_again = at(1.2);
  first.begun_again = at(1.8);
  first.first_again = kFirst;
  EXPECT_EQ(find_beginnings(short_silences(first), at(100), kThresholds)[0].waited.size(), 5U);
}

TEST(CollectiveStarts, DoNotBlameWhoMayHaveBegunInTheReadingOfTheEndOfItsTransfer) {
  auto silences = short_silences(end_of_transfer(2.9e6));
  silences[0].silence.until = at(2.9);
  EXPECT_TRUE(find_beginnings(silences, at(100), kThresholds)[0].late.empty());
  silences.push_back({13, silences[1].silence});
  silences.back().silence.until = at(2.9);
  const auto found = find_beginnings(silences, at(100), kThresholds);
  ASSERT_EQ(found[0].late.size(), 1U) << "nothing is sent in its first reading";
  EXPECT_EQ(found[0].late[0].member, 13U);
}

TEST(CollectiveStarts, CountFirstSendingsOfAnyAmountOnceTheTransferWasOver) {
  // Where counters move in steps, half of a first sending is read, or two of them. Nothing was read in between.
  auto silences = short_silences(end_of_transfer(0));
  silences.erase(silences.begin());
  for (unsigned i = 8; i < 12; ++i) silences[i].silence.first = std::array{1.5e6, 4.2e6, 2.7e6, 9e6}[i - 8];
  EXPECT_EQ(find_beginnings(silences, at(100), kThresholds)[0].waited.size(), 4U);
}

TEST(CollectiveStarts, SayNothingWhereTheBackgroundsOfMostAreNotKnown) {
  const auto beside = [](unsigned unknown) {
    auto silences = cohort(silence(1.5, 5.5));
    for (MemberSilence& member : silences) member.silence.has_background = true;
    for (unsigned i = 9; i < 9 + unknown; ++i) {
      silences.push_back({i, silence(1.5, 5.5)});
      silences.back().silence.may_have_background = true;
    }
    return find_beginnings(silences, at(100), kThresholds);
  };
  const auto enough = beside(13);
  ASSERT_EQ(enough[0].late.size(), 1U) << "9 of 22 are known, more than two of five";
  EXPECT_EQ(enough[0].late[0].member, 8U);
  const auto few = beside(14);
  EXPECT_EQ(few[0].begun, kNever) << "9 of 23 are known: a burst of storage hides when the others began";
  EXPECT_TRUE(few[0].late.empty());
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

TEST(CollectiveStarts, TakeNoHostsBackgroundForThatOfAnother) {
  // One of 40 MB/s may be of 36 and a first sending in each reading, while the others have any from 20 to 300.
  auto silences = cohort_with_background(-2.0 * kFirst);
  for (unsigned i = 0; i < 8; ++i) silences[i].silence.background = 20e6 + 40e6 * i;
  const auto found = find_beginnings(silences, at(100), kThresholds);
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

TEST(CollectiveStarts, PreferWhoSendsThenOverWhoOnlyReceives) {
  // Of two stages of a pipeline: the later one sends to storage at other times, and is sent to by the late one.
  auto silences = cohort(silence(1.5, 5.5));
  silences.push_back({9, silence(1.6, 5.6)});
  EXPECT_EQ(find_beginnings(silences, at(100), kThresholds)[0].late.size(), 2U) << "nobody knows which";
  silences[8].silence.then_sent = true;
  const auto found = find_beginnings(silences, at(100), kThresholds);
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
