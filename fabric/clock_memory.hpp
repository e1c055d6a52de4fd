// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one process leaves to the next about the wall clock.

#include <algorithm>
#include <vector>

#include "fabric/clock.hpp"

namespace weft {

/// The wall clock was set, or nobody watched for a time.
struct ClockStep {
  TimePoint at = kNever;  ///< what the clock showed before
  Duration by{};          ///< by how much it showed more afterwards; negative when it was set back
  bool operator==(const ClockStep&) const = default;
};

/// What the wall clock showed last, and its steps until then.
struct ClockMemory {
  TimePoint until = kNever;        ///< kNever: nobody looked
  std::vector<ClockStep> steps{};  ///< oldest first
  /// `now`, or what the clock showed last where it was set forward since: no plan is older than by that.
  TimePoint seen_by(TimePoint now) const { return until == kNever ? now : std::min(now, until); }
  bool operator==(const ClockMemory&) const = default;
};

}  // namespace weft
