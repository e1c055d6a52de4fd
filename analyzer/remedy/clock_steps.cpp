// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/clock_steps.hpp"

#include <utility>

namespace weft::analyzer {
namespace {

// More than a lane or a slow disk delays two readings of two clocks by.
constexpr Duration kLeastStep = std::chrono::seconds(5);
constexpr std::size_t kMostSteps = 64;

}  // namespace

Duration Ages::of(TimePoint at) const {
  Duration age = now - at;
  for (const ClockStep& step : steps)
    if (at <= step.at) age -= step.by;
  return age;
}

Duration ClockSteps::look(TimePoint now, Duration steady) {
  const TimePoint before = std::exchange(now_, now);
  const Duration passed = steady - std::exchange(steady_, steady);
  if (before == kNever) return {};
  const Duration by = now - before - passed;
  if (by < kLeastStep) return {};
  if (steps_.size() == kMostSteps) steps_.erase(steps_.begin());
  steps_.push_back({before, by});
  return by;
}

}  // namespace weft::analyzer
