// SPDX-License-Identifier: Apache-2.0
// PortInfo from bytes that were written down by hand. Places: InfiniBand Architecture vol. 1, 14.2.5.6, and rdma-core's
// libibmad/fields.c (of commit 0538e6de8 for the second extended speeds).
#include "collectors/infiniband/mad_codec.hpp"

#include <gtest/gtest.h>

#include <array>

#include "collectors/infiniband/performance_codec.hpp"

namespace weft::infiniband {
namespace {

using Datagram = std::array<std::uint8_t, kMadSize>;
constexpr std::size_t kData = 64;  // attributes of subnet management begin here (14.2.1)

// A 4X port that is Active and LinkUp, with extended speeds and CapabilityMask2.
Datagram active_port() {
  Datagram mad{};
  mad[kData + 22] = 0xC0;  // CapabilityMask 0x0000C000: bit 14 extended speeds, bit 15 CapabilityMask2
  mad[kData + 29] = 0x03;  // LinkWidthEnabled 1X, 4X
  mad[kData + 30] = 0x03;  // LinkWidthSupported
  mad[kData + 31] = 0x02;  // LinkWidthActive 4X
  mad[kData + 32] = 0x74;  // LinkSpeedSupported SDR DDR QDR; PortState 4
  mad[kData + 33] = 0x52;  // PortPhysicalState 5
  mad[kData + 35] = 0x47;  // LinkSpeedActive QDR; LinkSpeedEnabled SDR DDR QDR
  mad[kData + 62] = 0x8F;  // LinkSpeedExtActive NDR; LinkSpeedExtSupported FDR to NDR
  mad[kData + 63] = 0x0F;  // LinkSpeedExtEnabled FDR to NDR
  return mad;
}

constexpr SpeedMask kToNdr = kSpeedSdr | kSpeedDdr | kSpeedQdr | kSpeedFdr | kSpeedEdr | kSpeedHdr | kSpeedNdr;

TEST(PortInfo, AnXdrLinkIsOne) {
  Datagram mad = active_port();
  mad[kData + 60] = 0x18;  // CapabilityMask2 0x1800: second extended speeds, XDR
  mad[kData + 56] = 0x29;  // 0 01 01 001: LinkSpeedExtActive2, Supported2, Enabled2, each XDR
  for (const std::uint8_t first_field : {std::uint8_t{0x8F}, std::uint8_t{0x0F}}) {
    mad[kData + 62] = first_field;
    const PortInfo info = decode_port_info(mad, std::nullopt);
    EXPECT_EQ(info.speed_active, kSpeedXdr) << "the second field overrides the first";
    EXPECT_EQ(info.speed_supported, kToNdr | kSpeedXdr);
    EXPECT_EQ(info.speed_enabled, kToNdr | kSpeedXdr);
    EXPECT_DOUBLE_EQ(link_bits_per_second(info.width_active, info.speed_active), 800e9);
  }
}

TEST(DirectedRoute, LeavesByNoPortThatADatagramCannotName) {
  const auto last = DirectedRoute{}.then({254});
  ASSERT_TRUE(last);
  EXPECT_EQ(last->ports[1], 254);
  EXPECT_FALSE(DirectedRoute{}.then({255}));
  EXPECT_FALSE(DirectedRoute{}.then({300})) << "not port 44";
}

TEST(PortInfo, AnXdrPortThatRunsAtNdrSaysBoth) {
  Datagram mad = active_port();
  mad[kData + 60] = 0x18;
  mad[kData + 56] = 0x09;  // 0 00 01 001: none active, XDR supported and enabled
  const PortInfo info = decode_port_info(mad, std::nullopt);
  EXPECT_EQ(info.speed_active, kSpeedNdr);
  EXPECT_EQ(fastest(info.speed_supported & info.speed_enabled), kSpeedXdr);
  mad[kData + 56] = 0x08;  // supported, but limited to NDR
  EXPECT_EQ(fastest(decode_port_info(mad, std::nullopt).speed_enabled), kSpeedNdr);
}

TEST(PortInfo, SecondExtendedSpeedsNeedBothCapabilityMasks) {
  Datagram mad = active_port();
  mad[kData + 56] = 0x29;
  mad[kData + 60] = 0x10;  // 0x0800 is missing
  EXPECT_EQ(decode_port_info(mad, std::nullopt).speed_active, kSpeedNdr);
  mad[kData + 60] = 0x18;
  mad[kData + 22] = 0x40;  // no bit 15: CapabilityMask2 is not one
  EXPECT_EQ(decode_port_info(mad, std::nullopt).speed_active, kSpeedNdr);
  EXPECT_EQ(decode_port_info(mad, std::nullopt).speed_supported, kToNdr);
}

TEST(PortInfo, ASwitchsPortsSpeakAsItsPort0Can) {
  Datagram mad = active_port();
  mad[kData + 56] = 0x29;
  mad[kData + 22] = 0;  // an external port's own masks mean nothing
  EXPECT_EQ(decode_port_info(mad, PortCapabilities{0xC000, 0x0800}).speed_active, kSpeedXdr);
  EXPECT_EQ(decode_port_info(mad, PortCapabilities{0x4000, 0}).speed_active, kSpeedNdr);
  EXPECT_EQ(decode_port_info(mad, PortCapabilities{}).speed_active, kSpeedQdr);
}

TEST(PortInfo, ReservedSecondSpeedsAreNoSpeeds) {
  Datagram mad = active_port();
  mad[kData + 60] = 0x08;
  mad[kData + 56] = 0xD6;  // 1 10 10 110: bits that nobody has defined
  const PortInfo info = decode_port_info(mad, std::nullopt);
  EXPECT_EQ(info.speed_active, kSpeedNdr);
  EXPECT_EQ(info.speed_supported, kToNdr);
  EXPECT_EQ(info.speed_enabled, kToNdr);
}

// FECModeActive is bytes 4 and 5 of PortInfoExtended (14.2.5.19); modes of NVIDIA as in ibutils2's ibdm, Fabric.h.
TEST(PortInfoExtended, KnowsAllModesOfReedSolomon) {
  for (const unsigned mode : {2U, 3U, 4U, 8U, 9U, 10U, 11U, 13U, 14U}) {
    Datagram mad{};
    mad[kData + 5] = static_cast<std::uint8_t>(mode);
    EXPECT_TRUE(decode_rs_fec_active(mad)) << mode;
  }
  for (const unsigned mode : {0U, 1U, 5U, 7U, 12U, 15U, 0xFFU}) {
    Datagram mad{};
    mad[kData + 5] = static_cast<std::uint8_t>(mode);
    EXPECT_FALSE(decode_rs_fec_active(mad)) << mode;
  }
  Datagram mad{};
  mad[kData + 4] = 1;  // 0x0102 is none of them
  mad[kData + 5] = 2;
  EXPECT_FALSE(decode_rs_fec_active(mad));
}

// M_Key is the first 8 bytes of PortInfo and bytes 24 to 31 of the header, M_KeyProtectBits the upper two bits of byte
// 34 (14.2.1, 14.2.5.6).
TEST(ManagementKey, IsSentInTheHeaderAndComparedWithWhatANodeShows) {
  Datagram mad{};
  set_management_key(mad, 0x0102030405060708);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(mad[24 + i], i + 1);
  EXPECT_FALSE(has_other_management_key(mad, 0x0102030405060708)) << "nothing is protected";
  mad[kData + 34] = 0x40;
  EXPECT_TRUE(has_other_management_key(mad, 0x0102030405060708)) << "a protected key is shown as 0 to others";
  EXPECT_FALSE(has_other_management_key(mad, 0)) << "none was sent";
  for (std::size_t i = 0; i < 8; ++i) mad[kData + i] = static_cast<std::uint8_t>(i + 1);
  EXPECT_FALSE(has_other_management_key(mad, 0x0102030405060708));
}

// Places: rdma-core's libibmad/fields.c, "Mellanox ExtendedPortInfo fields".
TEST(VendorPortInfo, SaysFdr10) {
  Datagram mad{};
  mad[kData + 3] = 0x01;   // StateChangeEnable: no speed
  mad[kData + 7] = 0x01;   // LinkSpeedSupported
  mad[kData + 11] = 0x00;  // LinkSpeedEnabled
  mad[kData + 15] = 0xFF;  // LinkSpeedActive, with bits that nobody has defined
  const VendorPortInfo info = decode_vendor_port_info(mad);
  EXPECT_EQ(info.speed_supported, kSpeedFdr10);
  EXPECT_EQ(info.speed_enabled, 0);
  EXPECT_EQ(info.speed_active, kSpeedFdr10);
  mad[kData + 15] = 0xFE;
  EXPECT_EQ(decode_vendor_port_info(mad).speed_active, 0);
}

TEST(VendorPortInfo, IsAskedOfMellanoxDevicesThatHaveIt) {
  EXPECT_TRUE(has_vendor_port_info(0x2c9, 0xc738)) << "SwitchX";
  EXPECT_TRUE(has_vendor_port_info(0x2c9, 0x1003)) << "ConnectX-3";
  EXPECT_TRUE(has_vendor_port_info(0x2c9, 0xd2f0)) << "Quantum";
  EXPECT_FALSE(has_vendor_port_info(0x2c9, 0xbd36)) << "InfiniScale IV";
  EXPECT_FALSE(has_vendor_port_info(0x2c9, 0x673c)) << "ConnectX-2";
  EXPECT_FALSE(has_vendor_port_info(0x1175, 0x1003)) << "QLogic";
}

}  // namespace
}  // namespace weft::infiniband
