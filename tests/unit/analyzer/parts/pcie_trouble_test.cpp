// SPDX-License-Identifier: Apache-2.0
#include "analyzer/parts/pcie_trouble.hpp"

#include <gtest/gtest.h>

namespace weft::analyzer {
namespace {

constexpr PcieRate kFull{320, 16};
constexpr TimePoint kPcieNow{std::chrono::seconds(1'800'000'000)};

PartTrouble trouble_of(const PcieLink& link, double port_rate) {
  return pcie_trouble(link, port_rate, Entity{}, kPcieNow, kPcieNow);
}

TEST(PcieTrouble, NamesTheSlowestLink) {
  const std::vector<PcieLink> links{
      {"good", kFull, kFull, kFull}, {"narrow", {320, 8}, kFull, kFull}, {"slow", {25, 16}, kFull, kFull}};
  ASSERT_NE(worst_link(links), nullptr);
  EXPECT_EQ(worst_link(links)->address, "slow");
  EXPECT_EQ(worst_link(std::span(links).first(1)), nullptr);
}

TEST(PcieTrouble, SaysWhatIsMissing) {
  EXPECT_EQ(shortfall_text({"a", {320, 8}, kFull, kFull}), "x8 of x16");
  EXPECT_EQ(shortfall_text({"a", {25, 16}, kFull, kFull}), "2.5 of 32 GT/s");
  EXPECT_EQ(shortfall_text({"a", {160, 8}, kFull, kFull}), "16 GT/s x8 of 32 GT/s x16");
}

TEST(PcieTrouble, IsARemarkWhereThePortsGetAllTheyNeed) {
  const PcieLink narrow{"0000:17:00.0", {160, 8}, {160, 16}, {160, 16}};  // 126 Gb/s
  EXPECT_EQ(trouble_of(narrow, 100e9).severity, Severity::kInfo);
  EXPECT_EQ(trouble_of(narrow, 120e9).severity, Severity::kWarning) << "headers take their part";
  EXPECT_EQ(trouble_of(narrow, 200e9).severity, Severity::kWarning);
  EXPECT_EQ(trouble_of(narrow, 0).severity, Severity::kWarning) << "what is not known is not little";
}

TEST(PcieTrouble, BringsTheNumbersThatLspciPrints) {
  const PartTrouble trouble = trouble_of({"0000:17:00.0", {160, 8}, kFull, kFull}, 400e9);
  ASSERT_EQ(trouble.evidence.size(), 3U);
  EXPECT_EQ(trouble.evidence[0].signal, "pcie_width");
  EXPECT_EQ(trouble.evidence[0].value, 8);
  EXPECT_EQ(trouble.evidence[0].threshold, 16);
  EXPECT_EQ(trouble.evidence[1].signal, "pcie_speed");
  EXPECT_EQ(trouble.evidence[1].value, 16);
  EXPECT_EQ(trouble.evidence[1].threshold, 32);
  EXPECT_EQ(trouble.evidence[2].signal, "pcie_bandwidth");
  EXPECT_NEAR(trouble.evidence[2].value, 126, 0.1);
  EXPECT_EQ(trouble.evidence[2].threshold, 400);
}

}  // namespace
}  // namespace weft::analyzer
