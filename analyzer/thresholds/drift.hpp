// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers of the test for slow change (analyzer/ports/drift.hpp).

namespace weft::analyzer {

/// Parameters of the drift test.
struct DriftLimits {
  /// Readings from which the usual level and spread are learned.
  unsigned baseline_readings = 20;
  /// k: spreads above the usual level that are let pass.
  double slack = 0.5;
  /// h: the sum at which the figure drifts. 5, as textbooks have it, would raise 51 false alarms in each round of
  /// readings of 48,000 ports; 18 raises about one a day.
  double alarm = 18;
  /// One reading counts for at most so many spreads: an outlier is no trend.
  double largest_step = 3;
};

}  // namespace weft::analyzer
