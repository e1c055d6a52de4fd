// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a port moves in one direction whatever its job does: logs, metrics, services of the host.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace weft::analyzer {

/// Learns the background of one direction of a port from its readings, and tells what stands above it. Where the
/// background is more than a two-hundredth of the rate of transfers, nothing is known of it and nothing is taken off.
class Background {
 public:
  /// One more reading, of any kind: `bytes` in `elapsed` seconds, which must be positive.
  void take(double bytes, double elapsed);
  /// One more reading between two transfers.
  void take_quiet(double bytes, double elapsed);
  /// Bytes above the least that the port always moved lately, at least 0. `fastest`: the rate of its transfers, bytes
  /// per second.
  double above(double bytes, double elapsed, double fastest) const;
  /// The background alone is as much as `bytes`, and so uneven that `bytes` more would not stand out.
  bool hides(double bytes, double elapsed, double fastest) const;

 private:
  /// The least, bytes per second; 0 where that is no background.
  double rate(double fastest) const;

  static constexpr std::size_t kQuiet = 8;  ///< readings between transfers that are remembered
  static constexpr float kNone = std::numeric_limits<float>::infinity();

  float least_ = kNone;         ///< bytes per second, of this block of readings …
  float least_before_ = kNone;  ///< … and of the one before
  std::uint8_t in_block_ = 0;
  std::uint8_t next_ = 0, known_ = 0;
  std::array<float, kQuiet> quiet_{};  ///< bytes per second; the first `known_` mean something
};

}  // namespace weft::analyzer
