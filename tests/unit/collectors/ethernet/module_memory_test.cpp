// SPDX-License-Identifier: Apache-2.0
#include "collectors/ethernet/module_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <optional>

namespace weft::ethernet {
namespace {

using testing::IsEmpty;

/// A part of a module's memory, written by the byte numbers of the standards.
struct PartBytes {
  std::array<std::byte, ModuleMemory::kPartSize> bytes{};

  PartBytes& byte(std::size_t number, unsigned value) {
    bytes[number % bytes.size()] = static_cast<std::byte>(value);
    return *this;
  }
  PartBytes& word(std::size_t number, int value) {
    return byte(number, static_cast<unsigned>(value) >> 8 & 0xFF).byte(number + 1, static_cast<unsigned>(value) & 0xFF);
  }
  PartBytes& text(std::size_t number, std::string_view letters) {
    for (const char letter : letters) byte(number++, static_cast<unsigned char>(letter));
    return *this;
  }
  PartBytes& real(std::size_t number, float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return word(number, static_cast<int>(bits >> 16)).word(number + 2, static_cast<int>(bits & 0xFFFF));
  }
};

Figures figures_of(const ModuleMemory& memory) {
  Figures figures;
  parse_module(memory, figures);
  return figures;
}

std::optional<std::uint64_t> value_of(const Figures& figures, std::string_view name, std::uint8_t lane = kNoLane) {
  for (const Figure& figure : figures)
    if (figure.name == name && figure.lane == lane) return figure.value;
  return std::nullopt;
}

TEST(ModuleMemory, ReadsAnSfp) {
  ModuleMemory memory;
  memory.set(ModulePart::kLower, PartBytes().byte(0, 0x03).byte(92, 0x60).bytes);
  memory.set(
      ModulePart::kDiagnostics,
      PartBytes().word(96, 35 * 256 + 128).word(98, 33'000).word(100, 3'000).word(102, 5'000).word(104, 4'000).bytes);
  EXPECT_EQ(memory.kind(), ModuleKind::kSfp);
  const Figures figures = figures_of(memory);
  EXPECT_EQ(value_of(figures, "module_temperature"), 35'500U);
  EXPECT_EQ(value_of(figures, "module_supply"), 3'300'000U);
  EXPECT_EQ(value_of(figures, "module_bias", 0), 6'000U);
  EXPECT_EQ(value_of(figures, "module_transmit_power", 0), 500'000U);
  EXPECT_EQ(value_of(figures, "module_receive_power", 0), 400'000U);
}

TEST(ModuleMemory, ReadsAColdModuleAsNegative) {
  ModuleMemory memory;
  memory.set(ModulePart::kLower, PartBytes().byte(0, 0x03).byte(92, 0x60).bytes);
  memory.set(ModulePart::kDiagnostics, PartBytes().word(96, 0xFB00).bytes);  // -5 degrees
  EXPECT_EQ(static_cast<std::int64_t>(*value_of(figures_of(memory), "module_temperature")), -5'000);
}

TEST(ModuleMemory, CalibratesAnSfpThatAsksForIt) {
  ModuleMemory memory;
  memory.set(ModulePart::kLower, PartBytes().byte(0, 0x03).byte(92, 0x50).bytes);
  memory.set(ModulePart::kDiagnostics, PartBytes()
                                           .real(68, 2.0F)    // Rx_PWR(1)
                                           .real(72, 10.0F)   // Rx_PWR(0)
                                           .word(76, 0x0180)  // bias: 1.5 …
                                           .word(78, 100)     // … + 100
                                           .word(80, 0x0100)
                                           .word(84, 0x0100)
                                           .word(86, 256)  // one degree more
                                           .word(88, 0x0100)
                                           .word(96, 20 * 256)
                                           .word(98, 30'000)
                                           .word(100, 1'000)
                                           .word(102, 1'000)
                                           .word(104, 1'000)
                                           .bytes);
  const Figures figures = figures_of(memory);
  EXPECT_EQ(value_of(figures, "module_temperature"), 21'000U);
  EXPECT_EQ(value_of(figures, "module_supply"), 3'000'000U);
  EXPECT_EQ(value_of(figures, "module_bias", 0), 3'200U);
  EXPECT_EQ(value_of(figures, "module_transmit_power", 0), 100'000U);
  EXPECT_EQ(value_of(figures, "module_receive_power", 0), 201'000U);
}

TEST(ModuleMemory, ReadsAnSfpWithoutDiagnosticsAsNothing) {
  ModuleMemory memory;
  memory.set(ModulePart::kLower, PartBytes().byte(0, 0x03).bytes);
  memory.set(ModulePart::kDiagnostics, PartBytes().word(96, 256).bytes);
  EXPECT_THAT(figures_of(memory), IsEmpty());
  EXPECT_EQ(changing_parts(memory).size(), 1U);
}

TEST(ModuleMemory, ReadsAQsfp28) {
  PartBytes lower;
  lower.byte(0, 0x11).word(22, 40 * 256).word(26, 32'500);
  for (int lane = 0; lane < 4; ++lane)
    lower.word(static_cast<std::size_t>(34 + 2 * lane), 1000 + lane)
        .word(static_cast<std::size_t>(42 + 2 * lane), 2000 + lane)
        .word(static_cast<std::size_t>(50 + 2 * lane), 3000 + lane);
  ModuleMemory memory;
  memory.set(ModulePart::kLower, lower.bytes);
  EXPECT_THAT(figures_of(memory), IsEmpty()) << "the upper part says what is measured";
  memory.set(ModulePart::kUpper, PartBytes().byte(220, 0x0C).bytes);
  const Figures figures = figures_of(memory);
  EXPECT_EQ(value_of(figures, "module_temperature"), 40'000U);
  EXPECT_EQ(value_of(figures, "module_receive_power", 3), 100'300U);
  EXPECT_EQ(value_of(figures, "module_bias", 1), 4'002U);
  EXPECT_EQ(value_of(figures, "module_transmit_power", 2), 300'200U);
  // Transmitted power is optional; copper has no light at all.
  memory.set(ModulePart::kUpper, PartBytes().byte(220, 0x08).bytes);
  EXPECT_EQ(value_of(figures_of(memory), "module_transmit_power", 2), std::nullopt);
  memory.set(ModulePart::kUpper, PartBytes().byte(147, 0xA0).byte(220, 0x0C).bytes);
  EXPECT_THAT(figures_of(memory), IsEmpty());
}

TEST(ModuleMemory, ReadsAnOsfp) {
  ModuleMemory memory;
  memory.set(ModulePart::kLower, PartBytes().byte(0, 0x19).word(14, 50 * 256).word(16, 33'100).bytes);
  memory.set(ModulePart::kUpper, PartBytes().byte(210, 0xF0).bytes);                          // four lanes only
  memory.set(ModulePart::kAdvertisement, PartBytes().byte(159, 0x03).byte(160, 0x0F).bytes);  // bias × 2
  memory.set(ModulePart::kLanes, PartBytes().word(154, 10'000).word(172, 20'000).word(192, 30'000).word(194, 9).bytes);
  EXPECT_EQ(memory.kind(), ModuleKind::kCmis);
  const Figures figures = figures_of(memory);
  EXPECT_EQ(value_of(figures, "module_temperature"), 50'000U);
  EXPECT_EQ(value_of(figures, "module_supply"), 3'310'000U);
  EXPECT_EQ(value_of(figures, "module_transmit_power", 0), 1'000'000U);
  EXPECT_EQ(value_of(figures, "module_bias", 1), 80'000U);
  EXPECT_EQ(value_of(figures, "module_receive_power", 3), 3'000'000U);
  EXPECT_EQ(value_of(figures, "module_receive_power", 4), std::nullopt);
}

TEST(ModuleMemory, ReadsACmisCableOfFlatMemoryAsNothing) {
  ModuleMemory memory;
  memory.set(ModulePart::kLower, PartBytes().byte(0, 0x18).byte(2, 0x80).bytes);
  EXPECT_THAT(figures_of(memory), IsEmpty());
  EXPECT_EQ(changing_parts(memory).size(), 1U);
  ASSERT_EQ(fixed_parts(memory).size(), 1U) << "flat memory has page 0";
  EXPECT_EQ(fixed_parts(memory)[0], ModulePart::kUpper);
}

/// Four words, as all three standards have them.
PartBytes& limits(PartBytes& part, std::size_t first, int high_alarm, int low_alarm, int high_warning,
                  int low_warning) {
  return part.word(first, high_alarm)
      .word(first + 2, low_alarm)
      .word(first + 4, high_warning)
      .word(first + 6, low_warning);
}

TEST(ModuleMemory, TellsItsOwnLimits) {
  PartBytes page;
  limits(page, 128, 75 * 256, -5 * 256, 70 * 256 + 128, 0);
  limits(page, 184, 40'000, 1'000, 37'500, 1'500);  // 2 uA
  limits(page, 192, 31'623, 316, 19'953, 501);      // 0.1 uW
  const ModuleLimits expected{
      {-5'000, 0, 70'500, 75'000}, {2'000, 3'000, 75'000, 80'000}, {31'600, 50'100, 1'995'300, 3'162'300}};
  ModuleMemory qsfp;
  qsfp.set(ModulePart::kLower, PartBytes().byte(0, 0x11).bytes);
  EXPECT_EQ(limits_of(qsfp), ModuleLimits{}) << "not read yet";
  ASSERT_EQ(fixed_parts(qsfp).size(), 2U);
  EXPECT_EQ(fixed_parts(qsfp)[1], ModulePart::kQsfpLimits);
  qsfp.set(ModulePart::kQsfpLimits, page.bytes);
  EXPECT_EQ(limits_of(qsfp), expected);

  // CMIS has the power before the current, whose steps may be longer.
  PartBytes of_cmis;
  limits(of_cmis, 128, 75 * 256, -5 * 256, 70 * 256 + 128, 0);
  limits(of_cmis, 176, 31'623, 316, 19'953, 501);
  limits(of_cmis, 184, 20'000, 500, 18'750, 750);
  ModuleMemory cmis;
  cmis.set(ModulePart::kLower, PartBytes().byte(0, 0x19).bytes);
  cmis.set(ModulePart::kAdvertisement, PartBytes().byte(160, 0x08).bytes);
  cmis.set(ModulePart::kCmisLimits, of_cmis.bytes);
  EXPECT_EQ(limits_of(cmis), expected);

  PartBytes of_sfp;
  limits(of_sfp, 0, 75 * 256, -5 * 256, 70 * 256 + 128, 0);
  limits(of_sfp, 16, 40'000, 1'000, 37'500, 1'500);
  limits(of_sfp, 24, 31'623, 316, 19'953, 501);
  ModuleMemory sfp;
  sfp.set(ModulePart::kLower, PartBytes().byte(0, 0x03).byte(92, 0x60).bytes);
  sfp.set(ModulePart::kDiagnostics, of_sfp.bytes);
  EXPECT_EQ(limits_of(sfp), expected);
  sfp.set(ModulePart::kLower, PartBytes().byte(0, 0x03).byte(92, 0x50).bytes);
  EXPECT_EQ(limits_of(sfp), ModuleLimits{}) << "calibrated from outside";
}

TEST(ModuleMemory, LimitsThatNobodyFilledInAreNone) {
  ModuleMemory memory;
  memory.set(ModulePart::kLower, PartBytes().byte(0, 0x11).byte(2, 0x04).bytes);
  ASSERT_EQ(fixed_parts(memory).size(), 1U) << "page 0 alone";
  memory.set(ModulePart::kQsfpLimits, PartBytes().bytes);
  EXPECT_EQ(limits_of(memory), ModuleLimits{});
  PartBytes ones;
  for (std::size_t i = 0; i < ModuleMemory::kPartSize; ++i) ones.byte(i, 0xFF);
  memory.set(ModulePart::kQsfpLimits, ones.bytes);
  EXPECT_EQ(limits_of(memory), ModuleLimits{});
}

TEST(ModuleMemory, SaysWhoMadeIt) {
  ModuleMemory memory;
  memory.set(ModulePart::kLower, PartBytes()
                                     .byte(0, 0x03)
                                     .text(20, "FINISAR CORP.   ")
                                     .text(40, "FTLX8571D3BCL   ")
                                     .text(56, "A   ")
                                     .text(68, "UMB0ABC         ")
                                     .bytes);
  EXPECT_EQ(identity_of(memory), (ModuleIdentity{"FINISAR CORP.", "FTLX8571D3BCL", "A", "UMB0ABC"}));
  memory.set(ModulePart::kLower, PartBytes().byte(0, 0x11).bytes);
  EXPECT_EQ(identity_of(memory), ModuleIdentity()) << "its upper part was not read";
  memory.set(ModulePart::kUpper, PartBytes()
                                     .text(148, "Mellanox        ")
                                     .text(168, "MCP1600-C003    ")
                                     .text(184, "A2")
                                     .text(196, " MT1913VS01234")  // zeros behind it
                                     .bytes);
  EXPECT_EQ(identity_of(memory), (ModuleIdentity{"Mellanox", "MCP1600-C003", "A2", "MT1913VS01234"}));
  memory.set(ModulePart::kLower, PartBytes().byte(0, 0x19).byte(2, 0x80).bytes);
  memory.set(ModulePart::kUpper, PartBytes()
                                     .text(129, "NVIDIA          ")
                                     .text(148, "MMA4Z00-NS      ")
                                     .text(164, "B1")
                                     .text(166, "MT2318FT00042   ")
                                     .bytes);
  EXPECT_EQ(identity_of(memory), (ModuleIdentity{"NVIDIA", "MMA4Z00-NS", "B1", "MT2318FT00042"}));
}

TEST(ModuleMemory, WhatIsNoTextIsNotTold) {
  ModuleMemory memory;
  memory.set(ModulePart::kLower, PartBytes().byte(0, 0x11).bytes);
  PartBytes upper;
  upper.text(148, "ACME\x1B[31m").text(168, "                ");
  for (std::size_t i = 196; i < 212; ++i) upper.byte(i, 0xFF);
  memory.set(ModulePart::kUpper, upper.bytes);
  EXPECT_EQ(identity_of(memory), ModuleIdentity());
}

TEST(ModuleMemory, ReadsWhatIsNoModuleAsNothing) {
  ModuleMemory memory;
  EXPECT_THAT(figures_of(memory), IsEmpty());
  memory.set(ModulePart::kLower, PartBytes().byte(0, 0xFF).bytes);
  EXPECT_EQ(memory.kind(), ModuleKind::kUnknown);
  memory.set(ModulePart::kLower, netlink::Bytes(PartBytes().byte(0, 0x03).bytes).first(127));
  EXPECT_EQ(memory.get(ModulePart::kLower), nullptr);
}

}  // namespace
}  // namespace weft::ethernet
