// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/actuate/hop_weights.hpp"

#include <gtest/gtest.h>

namespace weft::actuate {
namespace {

constexpr PortKey kLeaf{{0x200}, {9}};
constexpr PortKey kSpine{{0x300}, {1}};
const LinkKey kLink = make_link_key(kLeaf, kSpine);
const MarkOwner kWe{"1c9e0b7a5d3f2468", {7}};
constexpr const char* kMark = "weft PLAN-7 INC-17: symbol errors";
const std::string kOurs =
    "0x0000000000000200 9 64 # weft PLAN-7 INC-17: symbol errors\n"
    "0x0000000000000300 1 64 # weft PLAN-7 INC-17: symbol errors\n";

TEST(HopWeights, GoBehindWhatIsThereAndOutAgain) {
  for (const std::string text : {"", "# operators\n\n0x300 2 7\n0x200 9 1 # as by default\n"}) {
    const std::string with = with_hop_weight(text, kLink, 64, kMark, kWe);
    EXPECT_EQ(with, text + kOurs);
    EXPECT_EQ(with_hop_weight(with, kLink, 64, kMark, kWe), with) << "once is enough";
    EXPECT_EQ(without_hop_weight(with, kLink, kWe), text);
    EXPECT_EQ(unreadable_hop_weight_line(with), std::nullopt);
  }
  EXPECT_EQ(with_hop_weight("0x300 2 7", kLink, 64, kMark, kWe), "0x300 2 7\n" + kOurs) << "the last line had no end";
}

TEST(HopWeights, OfOthersStay) {
  const std::string theirs = "512 9 20 # of the operator\n  0x300\t1  3\n";
  EXPECT_EQ(without_hop_weight(theirs, kLink, kWe), theirs);
  EXPECT_EQ(hop_weight_of(theirs, kLeaf, kWe).weight, 20U) << "decimal is 0x200 as well";
  EXPECT_FALSE(hop_weight_of(theirs, kLeaf, kWe).ours);
  EXPECT_EQ(hop_weight_of(theirs, kSpine, kWe).weight, 3U);
  const std::string of_another_link = "0x200 8 64 # weft PLAN-6: cold\n";
  EXPECT_EQ(without_hop_weight(of_another_link + kOurs, kLink, kWe), of_another_link);
}

TEST(HopWeights, TheLastLineCounts) {
  const std::string text = kOurs + "0x200 9 2\n";
  EXPECT_EQ(hop_weight_of(text, kLeaf, kWe).weight, 2U);
  EXPECT_FALSE(hop_weight_of(text, kLeaf, kWe).ours);
  EXPECT_TRUE(hop_weight_of(text, kSpine, kWe).ours);
  EXPECT_EQ(hop_weight_of(text, kSpine, kWe).comment, kMark);
  EXPECT_EQ(hop_weight_of(text, {{0x300}, {2}}, kWe).weight, 1U);
}

TEST(HopWeights, TellWhichPortsAreHeavy) {
  EXPECT_EQ(heavy_ports("", 64), std::vector<PortKey>{});
  EXPECT_EQ(heavy_ports(kOurs + "0x400 3 63\n1024 4 255 # cold\n", 64),
            (std::vector<PortKey>{kLeaf, kSpine, {{0x400}, {4}}}));
  EXPECT_EQ(heavy_ports(kOurs + "0x200 9 2\n# 0x500 1 64\n0x500 1 300\n", 64), std::vector<PortKey>{kSpine})
      << "the last line counts, and OpenSM passes over others";
}

TEST(HopWeights, CarryTheEpochOfTheLeaderThatWroteLast) {
  const MarkOwner other{"ffff0b7a5d3f2468", {}};
  EXPECT_EQ(hop_weights_epoch(kOurs, kWe), 0);
  const std::string third = with_hop_weights_epoch("# operators\n" + kOurs, 3, kWe);
  EXPECT_EQ(third, "# weft epoch 3 of 1c9e0b7a5d3f2468\n# operators\n" + kOurs);
  EXPECT_EQ(hop_weights_epoch(third, kWe), 3);
  EXPECT_EQ(hop_weights_epoch(third, other), 0) << "another installation counts for itself";
  EXPECT_EQ(unreadable_hop_weight_line(third), std::nullopt);
  const std::string both = with_hop_weights_epoch(third, 12, other);
  EXPECT_EQ(hop_weights_epoch(both, kWe), 3);
  EXPECT_EQ(hop_weights_epoch(with_hop_weights_epoch(both, 4, kWe), kWe), 4);
  EXPECT_EQ(hop_weights_epoch(with_hop_weights_epoch(both, 4, kWe), other), 12);
  EXPECT_EQ(hop_weights_epoch("# weft epoch x of 1c9e0b7a5d3f2468\n# weft epoch 9\n# weft epoch 9 of 1c9e\n", kWe), 0);
  EXPECT_EQ(hop_weights_epoch("# weft epoch 99999999999999999999 of 1c9e0b7a5d3f2468\n", kWe), 0);
  EXPECT_EQ(hop_weights_epoch("# weft epoch 9 of 1c9e0b7a5d3f2468\r\n", kWe), 9);
}

TEST(HopWeights, AnyMarkIsOneHarmlessLine) {
  const std::string with =
      with_hop_weight("", kLink, 255, "weft PLAN-7: " + std::string(1000, 'x') + "\n0x300 1 1\n\xff", kWe);
  std::size_t lines = 0;
  for (std::size_t at = 0; at < with.size(); ++lines) {
    const std::size_t end = with.find('\n', at);
    ASSERT_NE(end, std::string::npos);
    EXPECT_LT(end - at, 255U);
    at = end + 1;
  }
  EXPECT_EQ(lines, 2U);
  EXPECT_TRUE(hop_weight_of(with, kLeaf, kWe).ours);
  const std::string broken = with_hop_weight("", kLink, 2, "weft PLAN-7: a\n0x300 1 1", kWe);
  EXPECT_EQ(hop_weight_of(broken, kSpine, kWe).weight, 2U);
  EXPECT_EQ(without_hop_weight(broken, kLink, kWe), "");
}

TEST(HopWeights, WhatOpenSmPassesOverIsNoWeight) {
  for (const char* text :
       {"0x200\n", "0x200 9\n", "0x200 0 7\n", "0x200 9 0\n", "0x200 9 256\n", "# 0x200 9 7\n", "0x200 nine 7\n"}) {
    EXPECT_EQ(hop_weight_of(text, kLeaf, kWe).weight, 1U) << text;
    EXPECT_EQ(without_hop_weight(text, kLink, kWe), text);
    EXPECT_EQ(unreadable_hop_weight_line(text), std::nullopt) << text;
  }
  EXPECT_EQ(unreadable_hop_weight_line("# fine\nleaf-1 9 7\n"), 2U);
  EXPECT_EQ(unreadable_hop_weight_line("0x200x 9 7"), 1U);
}

TEST(HopWeights, OfAnotherWeftdStay) {
  const std::string theirs =
      "0x200 9 64 # weft PLAN-7.ffff0b7a5d3f2468 INC-1: x\n0x300 1 64 # weft PLAN-9.ffff0b7a5d3f2468 INC-1: x\n";
  EXPECT_EQ(without_hop_weight(theirs, kLink, kWe), theirs);
  EXPECT_FALSE(hop_weight_of(theirs, kLeaf, kWe).ours);
  TargetReading seen;
  add_other_marks(theirs + kOurs + "0x200 8 64 # weft PLAN-7.1c9e0b7a5d3f2468: ours\n", kWe, seen);
  EXPECT_EQ(seen.others, (std::vector<PlanMark>{{9, "ffff0b7a5d3f2468"}}));
}

}  // namespace
}  // namespace weft::actuate
