// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one process leaves to the next about the wall clock.

#include <algorithm>
#include <string>
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
  Duration steady{};               ///< Clock::steady() at `until`
  std::string boot{};              ///< the start of the machine that `steady` counts from; empty: not known
  /// `now`, or what the clock showed last where it was set forward since: no plan is older than by that.
  TimePoint seen_by(TimePoint now) const { return until == kNever ? now : std::min(now, until); }
  /// What the clock showed `age` ago, as far as it is known, or an earlier moment: what bears an earlier time than this
  /// is older than `age`, however the clock was set. What a clock that ran ahead wrote may never seem old.
  TimePoint before(TimePoint now, Duration age) const;
  bool operator==(const ClockMemory&) const = default;
};

/// See above.
inline TimePoint ClockMemory::before(TimePoint now, Duration age) const {
  // It is looked at all the time: a longer way was a step that nobody has noted yet.
  constexpr Duration kUnnoted = std::chrono::minutes(1);
  TimePoint end = now, earliest = TimePoint::max();
  // Goes back over one step, from where it led to, to what the clock showed before it. True: `age` lies behind it.
  const auto is_behind = [&](TimePoint at, TimePoint begin) {
    if (end - begin >= age) return true;
    earliest = std::min(earliest, begin);
    age -= std::max(end - begin, Duration::zero());
    end = at;
    return false;
  };
  const bool is_noted = until == kNever || (now - until <= kUnnoted && until - now <= kUnnoted);
  if (!is_noted && is_behind(until, now)) return std::min(earliest, end - age);
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    if (is_behind(step->at, step->at + step->by)) break;
  return std::min(earliest, end - age);
}

}  // namespace weft
