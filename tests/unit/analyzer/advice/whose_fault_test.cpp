// SPDX-License-Identifier: Apache-2.0
#include "analyzer/advice/whose_fault.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "analyzer/advice/weights.hpp"

namespace weft::analyzer {
namespace {

constexpr TimePoint kNow{std::chrono::hours(400'000)};

Entity port(std::uint64_t node, std::uint16_t number, std::string label) {
  return {.kind = EntityKind::kPort, .fabric = "f", .port = {{node}, {number}}, .peer = {}, .label = std::move(label)};
}
Entity node(std::uint64_t guid, std::string label) {
  return {.kind = EntityKind::kNode, .fabric = "f", .port = {{guid}, {0}}, .peer = {}, .label = std::move(label)};
}

/// The link of a host to its leaf, both read, that went down three times.
struct WhoseFault : testing::Test {
  WhoseFault() {
    link.link = {
        .kind = EntityKind::kLink, .fabric = "f", .port = {{1}, {1}}, .peer = {{2}, {7}}, .label = "gpu-1 - leaf-1"};
    link.a = {.port = port(1, 1, "gpu-1 mlx5_0 port 1"), .whole = node(1, "gpu-1"), .name = "gpu-1", .is_read = true};
    link.b = {.port = port(2, 7, "leaf-1 port 7"),
              .whole = node(2, "leaf-1"),
              .name = "leaf-1",
              .is_switch = true,
              .is_read = true};
    for (int i = 3; i > 0; --i) link.downs.push_back(kNow - std::chrono::minutes(i));
    link.window = std::chrono::minutes(20);
  }
  void errors(LinkEnd& end, std::uint32_t readings) {
    end.errors = readings * 7;
    end.errored_readings = readings;
  }
  const Suspect& first() {
    advice = whose_fault(link);
    return advice.suspects.front();
  }
  bool says(std::string_view text) const {
    return std::ranges::any_of(advice.reasons,
                               [&](const std::string& one) { return one.find(text) != std::string::npos; });
  }

  LinkCase link;
  Advice advice;
};

TEST_F(WhoseFault, SharesOfPartsAreOfOne) {
  const double sum = std::accumulate(kPartShares.begin(), kPartShares.end(), 0.0,
                                     [](double all, const PartShare& one) { return all + one.share; });
  EXPECT_NEAR(sum, 1, 1e-9);
}

TEST_F(WhoseFault, NothingReadIsNothingTold) {
  link.downs.clear();
  link.a.is_read = link.b.is_read = false;
  EXPECT_EQ(first().part, LinkPart::kCable) << "that is what most faults are";
  EXPECT_FALSE(advice.is_clear);
  EXPECT_TRUE(says("nothing was read"));
  EXPECT_TRUE(advice.first.starts_with("It cannot be told")) << advice.first;
}

TEST_F(WhoseFault, ErrorsAtBothEndsAreOfTheCable) {
  errors(link.a, 12);
  errors(link.b, 9);
  EXPECT_EQ(first().part, LinkPart::kCable);
  EXPECT_TRUE(first().where.same_as(link.link));
  EXPECT_TRUE(advice.is_clear);
  EXPECT_TRUE(says("gpu-1 mlx5_0 port 1 received 84 physical errors in 12 readings")) << advice.reasons.front();
}

TEST_F(WhoseFault, ErrorsAtOneEndSayLessThanAtBoth) {
  errors(link.a, 12);
  errors(link.b, 9);
  const double both = first().share;
  errors(link.b, 1);
  EXPECT_EQ(first().part, LinkPart::kCable);
  EXPECT_LT(first().share, both);
  EXPECT_TRUE(says("one direction is hurt"));
  link.b.is_read = false;
  (void)first();
  EXPECT_TRUE(says("the counters of the other end are not read")) << "that is not the same as none";
}

TEST_F(WhoseFault, ThatAllElseIsWellMakesNothingClear) {
  link.downs.clear();
  link.a.others = {.all = 7};
  link.b.others = {.all = 31};
  EXPECT_EQ(first().part, LinkPart::kCable);
  EXPECT_FALSE(advice.is_clear);
  EXPECT_TRUE(says("the 31 other links of leaf-1 are well"));
}

TEST_F(WhoseFault, ErrorsOfAGoodLinkOverHoursAreNoSign) {
  errors(link.a, 5);
  EXPECT_EQ(first().part, LinkPart::kCable);
  EXPECT_TRUE(advice.is_clear);
  link.window = std::chrono::hours(2);
  (void)first();
  EXPECT_FALSE(says("received 35"));
}

TEST_F(WhoseFault, ABurstIsNoSign) {
  errors(link.a, kErroredReadings - 1);
  (void)first();
  EXPECT_FALSE(says("received 14"));
}

TEST_F(WhoseFault, SeveralLinksOfASwitchAreTheSwitch) {
  link.a.others = {.all = 3};
  link.b.others = {.all = 31, .bad = 2};
  EXPECT_EQ(first().part, LinkPart::kSwitch);
  EXPECT_TRUE(first().where.same_as(link.b.whole));
  EXPECT_TRUE(advice.is_clear);
  EXPECT_TRUE(says("2 of the 31 other links of leaf-1 are in trouble at the same time"));
  EXPECT_TRUE(advice.first.starts_with("Look at switch leaf-1 first")) << advice.first;
}

TEST_F(WhoseFault, OneOfManyMayBeChance) {
  errors(link.a, 12);
  errors(link.b, 9);
  link.b.others = {.all = 63, .bad = 1};
  EXPECT_EQ(first().part, LinkPart::kCable);
  link.b.others = {.all = 63, .bad = 4};
  EXPECT_EQ(first().part, LinkPart::kSwitch);
}

TEST_F(WhoseFault, SeveralLinksOfAHostAreTheHost) {
  link.a.others = {.all = 7, .bad = 3};
  link.b.others = {.all = 31};
  EXPECT_EQ(first().part, LinkPart::kHost);
  EXPECT_TRUE(advice.is_clear);
}

TEST_F(WhoseFault, AllLinksOfAHostAreNotTheSwitchThatTheyLeadTo) {
  link.a.others = {.all = 3, .bad = 2, .shared = 2};
  link.b.others = {.all = 31, .bad = 2, .shared = 2};
  EXPECT_EQ(first().part, LinkPart::kHost) << "29 links of the switch are well";
  EXPECT_TRUE(advice.is_clear);
}

TEST_F(WhoseFault, LinksBetweenTheSameTwoSpeakForBoth) {
  link.a.name = link.a.whole.label = "spine-1";
  link.a.is_switch = true;
  link.a.others = {.all = 30, .bad = 2, .shared = 2};
  link.b.others = {.all = 31, .bad = 2, .shared = 2};
  (void)first();
  EXPECT_FALSE(advice.is_clear) << "which of the two it is nothing says";
  EXPECT_NE(advice.suspects[0].part, LinkPart::kCable);
  EXPECT_NE(advice.suspects[1].part, LinkPart::kCable);
  EXPECT_TRUE(advice.first.starts_with("It cannot be told whether it is spine-1 or leaf-1")) << advice.first;
}

TEST_F(WhoseFault, DownAtEachStartIsTheHost) {
  link.a.tells_starts = true;
  link.a.starts = 3;
  EXPECT_EQ(first().part, LinkPart::kHost);
  EXPECT_TRUE(advice.is_clear);
  EXPECT_TRUE(advice.first.starts_with("Find out why gpu-1")) << advice.first;
}

TEST_F(WhoseFault, OneStartAmongManyDownsIsNoReason) {
  errors(link.a, 12);
  errors(link.b, 9);
  link.a.tells_starts = true;
  link.a.starts = 1;
  EXPECT_EQ(first().part, LinkPart::kCable);
  EXPECT_TRUE(advice.is_clear);
}

TEST_F(WhoseFault, BothLinksOfACageAreItsModule) {
  link.b.same_cage = {.all = 1, .bad = 1};
  link.b.others = {.all = 30};
  EXPECT_EQ(first().part, LinkPart::kModule);
  EXPECT_TRUE(first().where.same_as(link.b.port));
  EXPECT_TRUE(advice.is_clear);
}

TEST_F(WhoseFault, AReplacedCableIsNotToBlameForWhatGoesOn) {
  errors(link.a, 12);
  errors(link.b, 9);
  link.a.past = {.module = "NVIDIA MCP4Y10 serial MT2",
                 .has_fixed_cable = true,
                 .replaced = Swap{.before = "NVIDIA MCP4Y10 serial MT1",
                                  .at = kNow - std::chrono::hours(2),
                                  .since = std::chrono::hours(2),
                                  .goes_on = true}};
  EXPECT_NE(first().part, LinkPart::kCable) << advice.suspects[0].share;
  EXPECT_TRUE(says("and the trouble stayed with the port"));
  EXPECT_FALSE(advice.is_clear) << "host or switch nothing says";
  EXPECT_NE(advice.first.find("Move that to another port of leaf-1"), std::string::npos) << advice.first;
  // It was moved, and the trouble stayed.
  link.a.past.recabled = Swap{
      .before = "leaf-1 port 3", .at = kNow - std::chrono::hours(1), .since = std::chrono::hours(1), .goes_on = true};
  EXPECT_EQ(first().part, LinkPart::kHost);
  EXPECT_TRUE(advice.is_clear);
}

TEST_F(WhoseFault, OneReplacedModuleLeavesTheRestOfTheCable) {
  errors(link.a, 12);
  link.a.past = {.module = "ACME MMA serial 2", .replaced = Swap{.before = "ACME MMA serial 1", .goes_on = true}};
  link.b.past = {.module = "ACME MMA serial 3"};
  EXPECT_EQ(first().part, LinkPart::kCable) << "the fibre is as it was";
  EXPECT_TRUE(advice.is_clear);
  link.b.past = {};
  (void)first();
  EXPECT_FALSE(advice.is_clear) << "whether the rest of the cable was replaced, too, nobody tells";
}

TEST_F(WhoseFault, TroubleThatMovedWithAModuleIsThatModule) {
  errors(link.a, 12);
  link.a.past = {.module = "ACME MMA serial 1",
                 .moved = MovedModule{.from = "gpu-2 mlx5_0 1", .at = kNow - std::chrono::hours(2), .left_well = true}};
  link.b.past = {.module = "ACME MMA serial 3"};
  EXPECT_EQ(first().part, LinkPart::kModule);
  EXPECT_TRUE(first().where.same_as(link.a.port));
  EXPECT_TRUE(advice.is_clear);
  EXPECT_TRUE(says("the trouble moved with the module"));
  EXPECT_EQ(advice.first, "Replace the module at gpu-1 mlx5_0 port 1 (ACME MMA serial 1)");
}

TEST_F(WhoseFault, TroubleThatMovedWithACableIsThatCable) {
  link.a.past = {.module = "NVIDIA MCP4Y10 serial MT1",
                 .has_fixed_cable = true,
                 .moved = MovedModule{.from = "gpu-2 mlx5_0 1", .at = kNow - std::chrono::hours(2)}};
  EXPECT_EQ(first().part, LinkPart::kCable);
  EXPECT_TRUE(advice.is_clear);
  EXPECT_EQ(advice.first, "Replace the cable");
}

TEST_F(WhoseFault, WhatIsQuietSinceASwapIsLeftAlone) {
  link.a.past = {.module = "ACME MMA serial 2",
                 .replaced = Swap{.before = "ACME MMA serial 1", .since = std::chrono::minutes(5)}};
  (void)first();
  EXPECT_FALSE(advice.first.starts_with("Leave it")) << "it is too early";
  link.a.past.replaced->since = std::chrono::hours(1);
  EXPECT_EQ(first().part, LinkPart::kModule);
  EXPECT_TRUE(advice.first.starts_with("Leave it, and watch")) << advice.first;
}

TEST_F(WhoseFault, IsNeverSurerThanTheMost) {
  link.a.others = {.all = 40, .bad = 40};
  link.a.tells_starts = true;
  link.a.starts = 3;
  EXPECT_LE(first().share, kMostSure + 0.02);
  double sum = 0;
  for (const Suspect& suspect : advice.suspects) sum += suspect.share;
  EXPECT_NEAR(sum, 1, 1e-9);
}

TEST_F(WhoseFault, TheEndsCanBeNamedInEitherOrder) {
  link.a.others = {.all = 3};
  link.b.others = {.all = 31, .bad = 2};
  const Suspect one = first();
  std::swap(link.a, link.b);
  EXPECT_EQ(first().part, one.part);
  EXPECT_TRUE(first().where.same_as(one.where));
  EXPECT_DOUBLE_EQ(first().share, one.share);
}

}  // namespace
}  // namespace weft::analyzer
