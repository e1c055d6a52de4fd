// SPDX-License-Identifier: Apache-2.0
#include "analyzer/drift/cohort_vote.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <string>
#include <vector>

namespace weft::analyzer {
namespace {

/// Ballots with the texts that they point at.
struct Urn {
  std::deque<std::string> texts;
  std::vector<Ballot> ballots;

  std::string_view keep(std::string text) { return texts.emplace_back(std::move(text)); }
  void add(std::uint32_t host, std::string value, std::string name = "gpu-#", std::string place = {}) {
    ballots.push_back({keep(std::move(value)), keep(std::move(name)), keep(std::move(place)), host, kNever});
  }
};

constexpr ConfigDriftLimits kLimits{};

TEST(CohortVote, NamesWithoutDigits) {
  EXPECT_EQ(stem_of("gpu-0001"), "gpu-#");
  EXPECT_EQ(stem_of("gpu-12.cluster.example"), "gpu-#");
  EXPECT_EQ(stem_of("r12n3"), "r#n#");
  EXPECT_EQ(stem_of(""), "");
  EXPECT_EQ(stem_of("1"), "#");
}

TEST(CohortVote, NobodyVotes) {
  EXPECT_TRUE(hold_votes({}, kLimits).empty());
}

/// A share of the ports of 64 hosts with 8 adapters each has another value, drawn at random: all of them are found,
/// nobody else, and the value of the others is said to be meant.
TEST(CohortVote, EveryShareIsFoundRightly) {
  for (const double share : {0.01, 0.05, 0.2, 0.4, 0.44}) {
    for (unsigned seed = 0; seed < 50; ++seed) {
      std::mt19937 random(seed);
      Urn urn;
      std::vector<std::uint32_t> order(512);
      for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
      std::ranges::shuffle(order, random);
      order.resize(static_cast<std::size_t>(share * 512));
      std::ranges::sort(order);
      for (std::uint32_t i = 0; i < 512; ++i)
        urn.add(i / 8, std::ranges::binary_search(order, i) ? "old" : "new", "gpu-#", "0000:1" + std::to_string(i % 8));
      const auto votes = hold_votes(urn.ballots, kLimits);
      ASSERT_EQ(votes.size(), 1U) << share << ' ' << seed;
      EXPECT_EQ(votes[0].state, VoteState::kDiffers);
      EXPECT_EQ(votes[0].values[0].value, "new");
      EXPECT_EQ(votes[0].differing, order) << share << ' ' << seed;
    }
  }
}

/// The same of whole hosts: a rack that was forgotten.
TEST(CohortVote, WholeHostsAreFound) {
  for (const std::uint32_t drifted : {1U, 3U, 25U}) {
    Urn urn;
    for (std::uint32_t i = 0; i < 64 * 8; ++i)
      urn.add(i / 8, i / 8 < drifted ? "1500" : "9000", "gpu-#", "0000:1" + std::to_string(i % 8));
    const auto votes = hold_votes(urn.ballots, kLimits);
    ASSERT_EQ(votes.size(), 1U);
    EXPECT_EQ(votes[0].state, VoteState::kDiffers);
    EXPECT_EQ(votes[0].differing.size(), drifted * 8);
    EXPECT_EQ(votes[0].hosts, 64U);
  }
}

TEST(CohortVote, TiesAndMinoritiesAreUndecided) {
  Urn tie;
  for (std::uint32_t i = 0; i < 20; ++i) tie.add(i, i % 2 == 0 ? "a" : "b");
  EXPECT_EQ(hold_votes(tie.ballots, kLimits).at(0).state, VoteState::kNoMajority);
  Urn thirds;
  for (std::uint32_t i = 0; i < 21; ++i) thirds.add(i, std::string(1, static_cast<char>('a' + i % 3)));
  const auto votes = hold_votes(thirds.ballots, kLimits);
  EXPECT_EQ(votes.at(0).state, VoteState::kNoMajority);
  EXPECT_TRUE(votes[0].differing.empty());
  EXPECT_EQ(votes[0].values.size(), 3U);
  // Half is no majority, whatever the key says.
  EXPECT_EQ(hold_votes(tie.ballots, {.majority = 0.5}).at(0).state, VoteState::kNoMajority);
}

TEST(CohortVote, FewHostsAreUndecidedHoweverManyPortsTheyHave) {
  Urn urn;
  for (std::uint32_t i = 0; i < 32; ++i)
    urn.add(i / 8, i < 8 ? "1500" : "9000", "gpu-#", "0000:1" + std::to_string(i % 8));
  EXPECT_EQ(hold_votes(urn.ballots, kLimits).at(0).state, VoteState::kTooFew);
  Urn one;
  one.add(0, "9000");
  EXPECT_EQ(hold_votes(one.ballots, kLimits).at(0).state, VoteState::kTooFew);
}

/// Which of three hosts is right nobody knows, but one adapter of 24 that is not as the others of its host, nor as the
/// same one of other hosts, differs.
TEST(CohortVote, OnFewHostsOnlyWhatIsPlainIsTold) {
  const auto urn_of = [](std::uint32_t hosts, auto value) {
    Urn urn;
    for (std::uint32_t host = 0; host < hosts; ++host)
      for (std::uint32_t place = 0; place < 8; ++place)
        urn.add(host, value(host, place), "gpu-#", "0000:1" + std::to_string(place) + ":00.0");
    return urn;
  };
  const auto state = [](const Urn& urn) { return hold_votes(urn.ballots, kLimits).at(0).state; };
  for (const std::uint32_t hosts : {2U, 3U, 4U}) {
    EXPECT_EQ(state(urn_of(hosts, [](auto host, auto place) { return host == 1 && place == 3 ? "b" : "a"; })),
              VoteState::kDiffers);
    // A place that is set up otherwise in each of them, and a host of its own.
    EXPECT_EQ(state(urn_of(hosts, [](auto, auto place) { return place == 3 ? "b" : "a"; })), VoteState::kTooFew);
    EXPECT_EQ(state(urn_of(hosts, [](auto host, auto) { return host == 1 ? "b" : "a"; })), VoteState::kTooFew);
  }
  EXPECT_EQ(state(urn_of(1, [](auto, auto place) { return place == 3 ? "b" : "a"; })), VoteState::kTooFew);
}

/// Five to seven hosts: places count when they are unanimous, and two thirds are a majority.
TEST(CohortVote, ASmallCleanFleetIsClean) {
  for (std::uint32_t hosts = 5; hosts < 8; ++hosts) {
    Urn urn;
    for (std::uint32_t host = 0; host < hosts; ++host)
      for (std::uint32_t place = 0; place < 9; ++place)
        urn.add(host, place == 8 ? "1500" : "9000", "gpu-#", std::to_string(place));
    for (const Vote& vote : hold_votes(urn.ballots, kLimits)) EXPECT_EQ(vote.state, VoteState::kAgreed) << hosts;
  }
  Urn three_to_two;
  for (std::uint32_t i = 0; i < 5; ++i) three_to_two.add(i, i < 3 ? "a" : "b");
  EXPECT_EQ(hold_votes(three_to_two.ballots, kLimits).at(0).state, VoteState::kNoMajority);
  Urn four_to_one;
  for (std::uint32_t i = 0; i < 5; ++i) four_to_one.add(i, i < 4 ? "a" : "b");
  EXPECT_EQ(hold_votes(four_to_one.ballots, kLimits).at(0).state, VoteState::kDiffers);
}

/// Storage hosts with the same adapters are set up otherwise on purpose: they are called otherwise.
TEST(CohortVote, HostsThatAreCalledOtherwiseVoteOnTheirOwn) {
  Urn urn;
  for (std::uint32_t i = 0; i < 100; ++i) urn.add(i, "4200", "gpu-#");
  for (std::uint32_t i = 100; i < 112; ++i) urn.add(i, i == 105 ? "1500" : "9000", "store-#");
  for (std::uint32_t i = 112; i < 114; ++i) urn.add(i, "1500", "login-#");
  const auto votes = hold_votes(urn.ballots, kLimits);
  ASSERT_EQ(votes.size(), 3U);
  EXPECT_EQ(votes[0].state, VoteState::kAgreed);
  EXPECT_EQ(votes[1].stem, "login-#");
  EXPECT_EQ(votes[1].state, VoteState::kTooFew);
  EXPECT_EQ(votes[2].stem, "store-#");
  EXPECT_EQ(votes[2].state, VoteState::kDiffers);
  EXPECT_EQ(votes[2].differing, std::vector<std::uint32_t>{105});
}

TEST(CohortVote, NamesThatAllDifferTellNothing) {
  Urn urn;
  for (std::uint32_t i = 0; i < 26; ++i)
    urn.add(i, i == 7 ? "1500" : "9000", std::string("pool-") + static_cast<char>('a' + i));
  const auto votes = hold_votes(urn.ballots, kLimits);
  ASSERT_EQ(votes.size(), 1U);
  EXPECT_EQ(votes[0].stem, "");
  EXPECT_EQ(votes[0].differing, std::vector<std::uint32_t>{7});
}

/// The adapter for storage and the second ports have settings of their own, in every host.
TEST(CohortVote, PlacesOfOneMindVoteOnTheirOwn) {
  Urn urn;
  for (std::uint32_t host = 0; host < 40; ++host)
    for (std::uint32_t place = 0; place < 8; ++place)
      urn.add(host, place == 7 ? "9000" : "4200", "gpu-#", "0000:1" + std::to_string(place) + ":00.0");
  auto votes = hold_votes(urn.ballots, kLimits);
  ASSERT_EQ(votes.size(), 2U);
  EXPECT_EQ(votes[0].state, VoteState::kAgreed);
  EXPECT_EQ(votes[1].state, VoteState::kAgreed);
  // One that drifts to what others have is found all the same.
  for (Ballot& ballot : urn.ballots)
    if (ballot.host == 3 && ballot.place == "0000:17:00.0") ballot.value = "4200";
  votes = hold_votes(urn.ballots, kLimits);
  ASSERT_EQ(votes.size(), 2U);
  const auto found = std::ranges::find(votes, VoteState::kDiffers, &Vote::state);
  ASSERT_NE(found, votes.end());
  EXPECT_EQ(found->places, std::vector<std::string_view>{"0000:17:00.0"});
  ASSERT_EQ(found->differing.size(), 1U);
  EXPECT_EQ(urn.ballots[found->differing[0]].host, 3U);
  EXPECT_EQ(found->values[0].value, "9000");
}

/// Half of the places are set up otherwise: no majority over all, and yet all is as it should be.
TEST(CohortVote, HalfOfThePlacesMayDiffer) {
  Urn urn;
  for (std::uint32_t host = 0; host < 16; ++host)
    for (std::uint32_t place = 0; place < 4; ++place)
      urn.add(host, place < 2 ? "16" : "8", "gpu-#", "0000:1" + std::to_string(place) + ":00.0");
  const auto votes = hold_votes(urn.ballots, kLimits);
  ASSERT_EQ(votes.size(), 2U);
  for (const Vote& vote : votes) EXPECT_EQ(vote.state, VoteState::kAgreed);
}

TEST(CohortVote, EveryBallotIsInOneVote) {
  std::mt19937 engine(7);
  const auto random = [&engine] { return static_cast<std::uint32_t>(engine()); };
  for (unsigned round = 0; round < 200; ++round) {
    Urn urn;
    const std::uint32_t count = 1 + random() % 300;
    for (std::uint32_t i = 0; i < count; ++i)
      urn.add(random() % 40, std::string(1, static_cast<char>('a' + random() % 3)), random() % 3 == 0 ? "x#" : "y#",
              random() % 5 == 0 ? "" : std::to_string(random() % 4));
    std::uint32_t ballots = 0;
    for (const Vote& vote : hold_votes(urn.ballots, kLimits)) {
      ballots += vote.ballots;
      std::uint32_t values = 0;
      for (const ValueCount& value : vote.values) values += value.ballots;
      EXPECT_EQ(values, vote.ballots);
      const std::size_t others = vote.ballots - vote.values[0].ballots;
      EXPECT_EQ(vote.differing.size(), vote.state == VoteState::kDiffers ? others : 0);
    }
    EXPECT_EQ(ballots, count);
  }
}

}  // namespace
}  // namespace weft::analyzer
