// SPDX-License-Identifier: Apache-2.0
#pragma once
// Slow change of a figure for the worse, against its own past.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "analyzer/thresholds/drift.hpp"
#include "fabric/analyzer_state.hpp"
#include "fabric/clock.hpp"

namespace weft::analyzer {

/// A link that was down for longer may have been worked on: what is known of its past is another cable's.
inline constexpr Duration kTimeForRepair = std::chrono::minutes(3);

/// A one-sided cumulative sum (Page, 1954): S ← max(0, S + z − k), where z is how many spreads a reading lies above the
/// level that the first readings had. For figures that grow when they get worse; of others the negative.
class Drift {
 public:
  Drift() = default;
  /// Goes on from what another one remembered.
  explicit Drift(const DriftState& state) : state_(state) {}
  /// What is worth remembering.
  const DriftState& state() const { return state_; }

  /// The next reading. `least_spread` bounds the spread from below, in the unit of `value`: what is steady by chance
  /// while it is learned must not make everything after it remarkable.
  void add(double value, double least_spread, const DriftLimits& limits) {
    state_.last = static_cast<float>(value);
    if (state_.readings < limits.baseline_readings) {
      ++state_.readings;
      const double before = value - static_cast<double>(state_.mean);
      state_.mean += static_cast<float>(before / state_.readings);
      state_.squares += static_cast<float>(before * (value - static_cast<double>(state_.mean)));
      state_.recent = state_.mean;
      return;
    }
    state_.recent += static_cast<float>(kRecent * (value - static_cast<double>(state_.recent)));
    const double spread =
        std::max(least_spread, std::sqrt(static_cast<double>(state_.squares) / std::max(1, state_.readings - 1)));
    const double z = std::min((value - static_cast<double>(state_.mean)) / spread, limits.largest_step);
    // Bounded above too: the end of a long trouble is seen as soon as its beginning was.
    state_.sum =
        static_cast<float>(std::clamp(static_cast<double>(state_.sum) + z - limits.slack, 0.0, 1.5 * limits.alarm));
    if (static_cast<double>(state_.sum) >= limits.alarm) state_.drifting = true;
    if (static_cast<double>(state_.sum) <= limits.alarm / 2) state_.drifting = false;
  }

  /// Begins at `alarm`, ends at half of it.
  bool drifting() const { return state_.drifting; }
  double usual() const { return static_cast<double>(state_.mean); }  ///< level learned, or so far
  /// The latest reading.
  double last() const { return static_cast<double>(state_.last); }
  /// Level of the last few readings: an exponential mean. How far it is from usual() does not hang on one reading.
  double recent() const { return static_cast<double>(state_.recent); }

 private:
  static constexpr double kRecent = 0.25;  ///< weight of the last reading

  DriftState state_;
};

}  // namespace weft::analyzer
