// SPDX-License-Identifier: Apache-2.0
#include "fabric/link_rate.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace weft {
namespace {

struct Speed {
  SpeedMask bit;
  double bits_per_second;
  const char* name;
};

// The nominal data rates that people and OpenSM use; FDR's 64b/66b leaves 13.64 of 14.0625 Gb/s.
constexpr std::array<Speed, 9> kSpeeds{{
    {kSpeedSdr, 2e9, "SDR"},
    {kSpeedDdr, 4e9, "DDR"},
    {kSpeedQdr, 8e9, "QDR"},
    {kSpeedFdr10, 10e9, "FDR10"},
    {kSpeedFdr, 13.64e9, "FDR"},
    {kSpeedEdr, 25e9, "EDR"},
    {kSpeedHdr, 50e9, "HDR"},
    {kSpeedNdr, 100e9, "NDR"},
    {kSpeedXdr, 200e9, "XDR"},
}};

const Speed* find(SpeedMask bit) {
  const auto* found = std::find_if(kSpeeds.begin(), kSpeeds.end(), [bit](const Speed& s) { return s.bit == bit; });
  return found == kSpeeds.end() ? nullptr : found;
}

}  // namespace

const char* to_string(LinkLayer layer) {
  switch (layer) {
    case LinkLayer::kInfiniBand:
      return "InfiniBand";
    case LinkLayer::kEthernet:
      return "Ethernet";
    case LinkLayer::kUnknown:
      break;
  }
  return "Unspecified";
}

int lanes(WidthMask width) {
  switch (width) {
    case 1:
      return 1;
    case 2:
      return 4;
    case 4:
      return 8;
    case 8:
      return 12;
    case 16:
      return 2;
    default:
      return 0;
  }
}

int widest_lanes(WidthMask mask) {
  int most = 0;
  for (unsigned bit = 1; bit <= 16; bit <<= 1)
    if (mask & bit) most = std::max(most, lanes(static_cast<WidthMask>(bit)));
  return most;
}

SpeedMask fastest(SpeedMask mask) {
  return std::bit_floor(mask);
}

double lane_bits_per_second(SpeedMask speed) {
  const Speed* found = find(speed);
  return found ? found->bits_per_second : 0.0;
}

double link_bits_per_second(WidthMask width, SpeedMask speed) {
  return lanes(width) * lane_bits_per_second(speed);
}

std::string width_name(WidthMask width) {
  const int count = lanes(width);
  return count ? std::to_string(count) + "X" : "?";
}

std::string speed_name(SpeedMask speed) {
  const Speed* found = find(speed);
  return found ? found->name : "?";
}

}  // namespace weft
