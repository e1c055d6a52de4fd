// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/wire_speeds.hpp"

#include <array>
#include <cstdint>
#include <optional>

#include "collectors/infiniband/mad_codec.hpp"

namespace weft::scenarios {
namespace {

/// Where the attribute begins in a subnet management datagram (vol. 1, 14.2.1.2).
constexpr std::size_t kAttribute = 64;
/// Bytes of PortInfo by their offsets (vol. 1, 14.2.5.6).
enum Offset : std::size_t {
  kCapabilityMask = 20,           // 4 bytes
  kWidthEnabled = 29,             // then supported, active
  kSpeedSupportedState = 32,      // 4 bits each
  kPhysicalState = 33,            // upper 4 bits
  kSpeedActiveEnabled = 35,       // 4 bits each
  kExtended2 = 56,                // 1 reserved bit, active 2, supported 2, enabled 3
  kCapabilityMask2 = 60,          // 2 bytes
  kExtendedActiveSupported = 62,  // 4 bits each
  kExtendedEnabled = 63,          // lower 5 bits
};
constexpr std::uint32_t kExtendedSpeeds = 1U << 14;
constexpr std::uint32_t kHasCapabilityMask2 = 1U << 15;
constexpr std::uint16_t kExtendedSpeeds2 = 0x0800;
constexpr std::uint8_t kFourLanes = 2;
/// An active extended speed stands beside QDR in the field of old.
constexpr SpeedMask kOldFieldWhenExtended = kSpeedQdr;

unsigned old_field(SpeedMask speeds) {
  return speeds & (kSpeedSdr | kSpeedDdr | kSpeedQdr);
}
/// FDR, EDR, HDR, NDR from bit 0.
unsigned extended_field(SpeedMask speeds) {
  return static_cast<unsigned>(speeds) >> 4U & 0xFU;
}
unsigned extended2_field(SpeedMask speeds) {
  return speeds & kSpeedXdr ? 1 : 0;
}

}  // namespace

WireSpeeds read_from_wire(const WireSpeeds& real) {
  std::array<std::uint8_t, 256> mad{};
  const auto set = [&](std::size_t offset, unsigned value) {
    mad[kAttribute + offset] = static_cast<std::uint8_t>(value);
  };
  const std::uint32_t mask = kExtendedSpeeds | kHasCapabilityMask2;
  for (unsigned i = 0; i < 4; ++i) set(kCapabilityMask + i, mask >> (24 - 8 * i) & 0xFFU);
  for (const std::size_t offset : {0, 1, 2}) set(kWidthEnabled + offset, kFourLanes);
  set(kSpeedSupportedState, old_field(real.supported) << 4U | static_cast<unsigned>(PortState::kActive));
  set(kPhysicalState, static_cast<unsigned>(PortPhysicalState::kLinkUp) << 4U);
  const SpeedMask old_active = real.active > kSpeedQdr ? kOldFieldWhenExtended : real.active;
  set(kSpeedActiveEnabled, old_field(old_active) << 4U | old_field(real.enabled));
  set(kExtended2,
      extended2_field(real.active) << 5U | extended2_field(real.supported) << 3U | extended2_field(real.enabled));
  if (extended2_field(real.supported)) {
    set(kCapabilityMask2, kExtendedSpeeds2 >> 8U);
    set(kCapabilityMask2 + 1, kExtendedSpeeds2 & 0xFFU);
  }
  set(kExtendedActiveSupported, extended_field(real.active) << 4U | extended_field(real.supported));
  set(kExtendedEnabled, extended_field(real.enabled));
  const infiniband::PortInfo info = infiniband::decode_port_info(mad, std::nullopt);
  return {info.speed_active, info.speed_enabled, info.speed_supported};
}

}  // namespace weft::scenarios
