// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/clock_steps.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace weft::analyzer {
namespace {

// More than a lane or a slow disk delays two readings of two clocks by.
constexpr Duration kLeastStep = std::chrono::seconds(5);
constexpr std::size_t kMostSteps = 64;
// The clock was set, or nobody watched any more, at most so long after it was looked at or kept on disk.
constexpr Duration kSlack = std::chrono::minutes(1);

}  // namespace

// Between two steps the clock went on without a break, from where the step before had put it. A moment lies in each
// such time in which the clock may have gone through it, or in a step that went over it.
Duration Ages::of(TimePoint at) const {
  std::optional<Duration> age;
  const auto take = [&age](Duration other) { age = std::min(age.value_or(other), other); };
  Duration set{};  // by all steps since
  TimePoint end = now;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const TimePoint begin = step->at + step->by;
    if (at >= begin - kSlack && at <= end + kSlack) take(now - at - set);
    if (at > step->at && at < begin) take(now - begin - set);
    set += step->by;
    end = step->at;
  }
  if (at <= end + (steps.empty() ? Duration::zero() : kSlack)) take(now - at - set);
  if (age) return std::max(*age, Duration::zero());
  // Later than the clock ever showed while it was watched: no later than the step that hides it.
  Duration since{};
  for (const ClockStep& step : steps) since += step.by;
  for (const ClockStep& step : steps) {
    since -= step.by;
    if (at > step.at) take(now - (step.at + step.by) - since);
  }
  return std::max(age.value_or(Duration::zero()), Duration::zero());
}

Duration ClockSteps::look(TimePoint now, Duration steady) {
  const TimePoint before = std::exchange(now_, now);
  const Duration passed = steady - std::exchange(steady_, steady);
  if (before == kNever) return {};
  const Duration by = now - before - passed;
  if (by < kLeastStep && by > -kLeastStep) return {};
  add({now - by, by});
  return by;
}

Duration ClockSteps::resume(const ClockMemory& memory, TimePoint now, std::string boot) {
  boot_ = std::move(boot);
  steps_ = memory.steps;
  if (memory.until == kNever) return {};
  const Duration by = now - memory.until;
  if (now_ != kNever && !boot_.empty() && boot_ == memory.boot) {
    const Duration passed = steady_ - memory.steady;
    const Duration set = by - passed;
    if (passed >= Duration::zero() && set <= -kLeastStep) {
      if (passed >= kLeastStep) add({memory.until, passed});
      add({memory.until + passed, set});
      return set;
    }
  }
  if (by < kLeastStep && by > -kLeastStep) return {};
  add({memory.until, by});
  return by;
}

// Of too many the oldest two become one that is later than it was: what lay before looks younger, never older.
void ClockSteps::add(ClockStep step) {
  steps_.push_back(step);
  if (steps_.size() <= kMostSteps) return;
  const Duration first = std::max(steps_[0].by, Duration::zero());
  steps_[1] = {std::max(steps_[0].at, steps_[1].at), std::max(steps_[1].by + first, Duration::zero())};
  steps_.erase(steps_.begin());
}

}  // namespace weft::analyzer
