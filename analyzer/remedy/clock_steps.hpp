// SPDX-License-Identifier: Apache-2.0
#pragma once
// A clock that is set forward makes nothing older: what must wait for an hour waits for an hour that passed.

#include <span>
#include <vector>

#include "fabric/clock.hpp"

namespace weft::analyzer {

/// The wall clock was set forward.
struct ClockStep {
  TimePoint at = kNever;  ///< what it showed before
  Duration by{};          ///< > 0
};

/// How long ago something was, without what the clock was set forward since. A value for one moment.
struct Ages {
  TimePoint now = kNever;
  std::span<const ClockStep> steps{};
  /// Time that passed since `at`. Negative when the clock was set back since, or `at` lies ahead.
  Duration of(TimePoint at) const;
};

/// Compares the wall clock with one that nobody sets (CLOCK_MONOTONIC, clock_gettime(2)). A machine that was suspended
/// or a guest that was stopped looks the same as a step: nothing was seen in that time.
class ClockSteps {
 public:
  /// By how much the wall clock went further than `steady` since the last call; zero when that is less than a few
  /// seconds, at the first call, and when it was set back.
  Duration look(TimePoint now, Duration steady);
  /// Ages as of `now`, which should be what was looked at last. Valid until the next look().
  Ages ages(TimePoint now) const { return {now, steps_}; }

 private:
  TimePoint now_ = kNever;
  Duration steady_{};
  std::vector<ClockStep> steps_;  // the newest, oldest first
};

}  // namespace weft::analyzer
