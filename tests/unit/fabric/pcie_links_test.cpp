// SPDX-License-Identifier: Apache-2.0
#include "fabric/pcie_links.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

constexpr PcieRate kGen5x16{320, 16};
constexpr PcieRate kGen4x16{160, 16};

TEST(PcieLinks, ReadsWhatSysfsSays) {
  EXPECT_EQ(parse_pcie_rate("32.0 GT/s PCIe", "16"), kGen5x16);
  EXPECT_EQ(parse_pcie_rate("2.5 GT/s PCIe", "1"), (PcieRate{25, 1}));
  EXPECT_EQ(parse_pcie_rate("8 GT/s", "8"), (PcieRate{80, 8})) << "kernels before 5.8";
}

TEST(PcieLinks, WhatCannotBeReadIsAbsent) {
  for (const auto& [speed, width] :
       {std::pair("Unknown", "16"), std::pair("Unknown speed", "16"), std::pair("32.0 GT/s PCIe", "0"),
        std::pair("32.0 GT/s PCIe", "255"), std::pair("133 MHz PCI-X", "16"), std::pair("", ""),
        std::pair("0.0 GT/s", "4"), std::pair("-8.0 GT/s PCIe", "4"), std::pair("32.0 GT/s PCIe", "16 lanes")})
    EXPECT_FALSE(parse_pcie_rate(speed, width)) << speed << ", " << width;
}

TEST(PcieLinks, IsDegradedBelowWhatBothEndsCan) {
  EXPECT_FALSE((PcieLink{"a", kGen5x16, kGen5x16, kGen5x16}.is_degraded()));
  EXPECT_TRUE((PcieLink{"a", {320, 8}, kGen5x16, kGen5x16}.is_degraded()));
  EXPECT_TRUE((PcieLink{"a", kGen4x16, kGen5x16, kGen5x16}.is_degraded()));
  EXPECT_FALSE((PcieLink{"a", {320, 8}, kGen5x16, {320, 8}}.is_degraded())) << "a short slot";
  EXPECT_FALSE((PcieLink{"a", kGen4x16, kGen5x16, kGen4x16}.is_degraded())) << "an older host";
  // Lesser each: a slot of the old kind with all lanes, and a new card of few.
  EXPECT_EQ((PcieLink{"a", {160, 8}, {320, 8}, kGen4x16}.most()), (PcieRate{160, 8}));
}

TEST(PcieLinks, CarriesWhatLineCodingLeaves) {
  EXPECT_NEAR(kGen4x16.bits_per_second(), 252.06e9, 1e7);
  EXPECT_NEAR((PcieRate{25, 1}.bits_per_second()), 2e9, 1);
  EXPECT_NEAR((PcieRate{640, 16}.bits_per_second()), 968e9, 1e9);
}

TEST(PcieLinks, TextComesBackAsItWas) {
  const std::vector<PcieLink> links{{"0000:17:00.0", {320, 8}, kGen5x16, kGen5x16},
                                    {"0000:15:00.0", {25, 4}, kGen4x16, kGen5x16}};
  EXPECT_EQ(to_text(links), "0000:17:00.0 32x8/32x16/32x16 0000:15:00.0 2.5x4/16x16/32x16");
  EXPECT_EQ(parse_pcie_links(to_text(links)), links);
  EXPECT_EQ(to_text(std::vector<PcieLink>(9, links.front())),
            to_text(std::vector<PcieLink>(kMostPcieLinks, links.front())));
  EXPECT_EQ(to_text(PcieRate{25, 4}), "2.5 GT/s x4");
}

TEST(PcieLinks, TextThatIsCutKeepsWhatIsWhole) {
  const std::string text = "0000:17:00.0 32x8/32x16/32x16 0000:15:00.0 16x16/16x16/32x16";
  for (std::size_t length = 0; length < text.size(); ++length) {
    const auto links = parse_pcie_links(text.substr(0, length));
    for (const PcieLink& link : links) EXPECT_NE(link.now.lanes, 0U) << length;
    EXPECT_LE(links.size(), 2U);
  }
  EXPECT_TRUE(parse_pcie_links("0000:17:00.0 32x8/32x16").empty());
  EXPECT_TRUE(parse_pcie_links("0000:17:00.0 32x0/32x16/32x16").empty());
  EXPECT_TRUE(parse_pcie_links("  / x ").empty());
}

}  // namespace
}  // namespace weft
