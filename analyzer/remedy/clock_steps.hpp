// SPDX-License-Identifier: Apache-2.0
#pragma once
// A clock that is set makes nothing older: what must wait for an hour waits for an hour that passed.

#include <span>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/clock_memory.hpp"

namespace weft::analyzer {

/// How long ago something was, whatever the clock was set since. A value for one moment.
struct Ages {
  TimePoint now = kNever;
  std::span<const ClockStep> steps{};  ///< oldest first
  /// Time that passed since the clock showed `at`; where it did so more than once, since the last time. Zero when it
  /// has not been that late yet. What was in a time that nobody watched counts from the end of that time.
  Duration of(TimePoint at) const;
};

/// Compares the wall clock with one that nobody sets (CLOCK_MONOTONIC, clock_gettime(2)). A machine that was suspended
/// or a guest that was stopped looks the same as a step: nothing was seen in that time.
class ClockSteps {
 public:
  /// By how much the wall clock went further than `steady` since the last call, negative when it was set back; zero
  /// when that is less than a few seconds, and at the first call.
  Duration look(TimePoint now, Duration steady);
  /// Goes on from what the process before left, before anything was looked at. How much time nobody watched until
  /// `now`: all of it counts as a step, for what of it passed nobody knows. Negative when the clock was set back, by
  /// at least that much.
  Duration resume(const ClockMemory& memory, TimePoint now);
  /// What the next process needs.
  ClockMemory memory() const { return {now_, steps_}; }
  /// Ages as of `now`, which should be what was looked at last. Valid until the next look().
  Ages ages(TimePoint now) const { return {now, steps_}; }

 private:
  void add(ClockStep step);

  TimePoint now_ = kNever;
  Duration steady_{};
  std::vector<ClockStep> steps_;  // oldest first; the first may stand for several
};

}  // namespace weft::analyzer
