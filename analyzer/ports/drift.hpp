// SPDX-License-Identifier: Apache-2.0
#pragma once
// Slow change of a figure for the worse, against its own past.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "analyzer/thresholds/drift.hpp"
#include "fabric/clock.hpp"

namespace weft::analyzer {

/// A link that was down for longer may have been worked on: what is known of its past is another cable's.
inline constexpr Duration kTimeForRepair = std::chrono::minutes(3);

/// A one-sided cumulative sum (Page, 1954): S ← max(0, S + z − k), where z is how many spreads a reading lies above the
/// level that the first readings had. For figures that grow when they get worse; of others the negative.
class Drift {
 public:
  /// The next reading. `least_spread` bounds the spread from below, in the unit of `value`: what is steady by chance
  /// while it is learned must not make everything after it remarkable.
  void add(double value, double least_spread, const DriftLimits& limits) {
    last_ = static_cast<float>(value);
    if (readings_ < limits.baseline_readings) {
      ++readings_;
      const double before = value - static_cast<double>(mean_);
      mean_ += static_cast<float>(before / readings_);
      squares_ += static_cast<float>(before * (value - static_cast<double>(mean_)));
      recent_ = mean_;
      return;
    }
    recent_ += static_cast<float>(kRecent * (value - static_cast<double>(recent_)));
    const double spread = std::max(least_spread, std::sqrt(static_cast<double>(squares_) / std::max(1, readings_ - 1)));
    const double z = std::min((value - static_cast<double>(mean_)) / spread, limits.largest_step);
    // Bounded above too: the end of a long trouble is seen as soon as its beginning was.
    sum_ = static_cast<float>(std::clamp(static_cast<double>(sum_) + z - limits.slack, 0.0, 1.5 * limits.alarm));
    if (static_cast<double>(sum_) >= limits.alarm) drifting_ = true;
    if (static_cast<double>(sum_) <= limits.alarm / 2) drifting_ = false;
  }

  /// Begins at `alarm`, ends at half of it.
  bool drifting() const { return drifting_; }
  double usual() const { return static_cast<double>(mean_); }  ///< level learned, or so far
  /// The latest reading.
  double last() const { return static_cast<double>(last_); }
  /// Level of the last few readings: an exponential mean. How far it is from usual() does not hang on one reading.
  double recent() const { return static_cast<double>(recent_); }

 private:
  static constexpr double kRecent = 0.25;  ///< weight of the last reading

  float mean_ = 0;
  float squares_ = 0;  ///< Σ (value − mean)² of the readings that were learned from (Welford, 1962)
  float sum_ = 0;
  float last_ = 0;
  float recent_ = 0;
  std::uint16_t readings_ = 0;
  bool drifting_ = false;
};

}  // namespace weft::analyzer
