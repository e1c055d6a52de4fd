// SPDX-License-Identifier: Apache-2.0
#pragma once
// Widths and speeds of a link, as PortInfo gives them (InfiniBand Architecture vol. 1, 14.2.5.6; bit positions also in
// infiniband-diags' ibdiag_common and OpenSM's ib_types.h).

#include <cstdint>
#include <string>

namespace weft {

/// Which kind of link a port has.
enum class LinkLayer : std::uint8_t { kUnknown, kInfiniBand, kEthernet };
const char* to_string(LinkLayer layer);  ///< "Unspecified", "InfiniBand", "Ethernet": as sysfs spells them

/// LinkWidth* bit mask: 1X = 1, 4X = 2, 8X = 4, 12X = 8, 2X = 16. The highest bit is not the widest link.
using WidthMask = std::uint8_t;

/// Speeds in one mask, slow to fast, so that the highest bit is the fastest. Decoders fold LinkSpeed*, LinkSpeedExt*
/// and LinkSpeedExt2* of PortInfo into it.
using SpeedMask = std::uint16_t;
inline constexpr SpeedMask kSpeedSdr = 1 << 0;    ///<   2.5    Gb/s a lane, 8b/10b
inline constexpr SpeedMask kSpeedDdr = 1 << 1;    ///<   5      Gb/s, 8b/10b
inline constexpr SpeedMask kSpeedQdr = 1 << 2;    ///<  10      Gb/s, 8b/10b
inline constexpr SpeedMask kSpeedFdr10 = 1 << 3;  ///<  10.3125 Gb/s, 64b/66b (MLNX ExtendedPortInfo)
inline constexpr SpeedMask kSpeedFdr = 1 << 4;    ///<  14.0625 Gb/s, 64b/66b
inline constexpr SpeedMask kSpeedEdr = 1 << 5;    ///<  25.78125 Gb/s, 64b/66b
inline constexpr SpeedMask kSpeedHdr = 1 << 6;    ///<  53.125 Gb/s, PAM4
inline constexpr SpeedMask kSpeedNdr = 1 << 7;    ///< 106.25  Gb/s, PAM4
inline constexpr SpeedMask kSpeedXdr = 1 << 8;    ///< 212.5   Gb/s, PAM4

/// Lanes of one width bit: 0 when `width` has no bit or several.
int lanes(WidthMask width);
/// The most lanes that any bit of `mask` offers; 0 for an empty mask.
int widest_lanes(WidthMask mask);
/// The fastest single bit of `mask`; 0 for an empty mask.
SpeedMask fastest(SpeedMask mask);

/// Data rate after line coding, in bits per second, of one speed bit on one lane: SDR 2e9, DDR 4e9, QDR 8e9,
/// FDR10 10e9, FDR 13.64e9, EDR 25e9, HDR 50e9, NDR 100e9, XDR 200e9. 0 when `speed` is not one bit.
double lane_bits_per_second(SpeedMask speed);
/// lanes(width) × lane_bits_per_second(speed): 4X NDR is 400e9.
double link_bits_per_second(WidthMask width, SpeedMask speed);

/// "4X", "12X"; "?" when `width` is not one bit.
std::string width_name(WidthMask width);
/// "SDR" … "XDR"; "?" when `speed` is not one bit.
std::string speed_name(SpeedMask speed);

}  // namespace weft
