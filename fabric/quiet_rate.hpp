// SPDX-License-Identifier: Apache-2.0
#pragma once
// How little a host moves while nobody computes on it.

#include <algorithm>

namespace weft {

/// Of what its ports can: its system talks as well. 10 MB/s at 400 Gb/s.
inline constexpr double kQuietShare = 0.0002;

/// Below it (bytes per second) a host is silent whose ports can move `line` bytes per second. Never below 1 MB/s.
constexpr double quiet_rate(double line, double share = kQuietShare) {
  constexpr double kLeast = 1e6;
  return std::max(kLeast, share * line);
}

}  // namespace weft
