// SPDX-License-Identifier: Apache-2.0
#pragma once
// The bound of one call of an actuator, shared by all that the call asks of others.

#include <algorithm>
#include <chrono>

#include "fabric/clock.hpp"

namespace weft::actuate {

/// The most that a call of an Actuator may take.
inline constexpr Duration kLongestCall = std::chrono::seconds(30);

/// The time by which a call must end.
class Deadline {
 public:
  /// Starts now. At most kLongestCall counts of `timeout`.
  explicit Deadline(Duration timeout) : end_(std::chrono::steady_clock::now() + std::min(timeout, kLongestCall)) {}
  /// At least a millisecond, so that what is asked last fails by its own time-out.
  Duration left() const {
    return std::max<Duration>(end_ - std::chrono::steady_clock::now(), std::chrono::milliseconds(1));
  }
  /// True from the moment the time is over.
  bool passed() const { return std::chrono::steady_clock::now() >= end_; }

 private:
  std::chrono::steady_clock::time_point end_;
};

}  // namespace weft::actuate
