// SPDX-License-Identifier: Apache-2.0
#pragma once
// A clock that is set makes nothing older: what must wait for an hour waits for an hour that passed.

#include <span>
#include <string>
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
  /// Goes on from what the process before left, next to the first look(). How much time nobody watched until `now`: it
  /// counts as a step. Negative when the clock was set back, by at least that much. `boot` names the start of the
  /// machine that the other clock counts from; empty: not known. Where it is that of the process before and look() was
  /// first, that clock tells what passed, and so each step back. Otherwise one that is as long as the time that passed
  /// looks like no time at all.
  Duration resume(const ClockMemory& memory, TimePoint now, std::string boot = {});
  /// What the next process needs.
  ClockMemory memory() const { return {now_, steps_, steady_, boot_}; }
  /// Ages as of `now`, which should be what was looked at last. Valid until the next look().
  Ages ages(TimePoint now) const { return {now, steps_}; }

 private:
  void add(ClockStep step);

  TimePoint now_ = kNever;
  Duration steady_{};
  std::string boot_;
  std::vector<ClockStep> steps_;  // oldest first; the first may stand for several
};

}  // namespace weft::analyzer
