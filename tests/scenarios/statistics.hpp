// SPDX-License-Identifier: Apache-2.0
#pragma once
// How sure a figure is.

#include <cstdint>
#include <vector>

namespace weft::scenarios {

struct Interval {
  double low = 0;
  double high = 0;
};

/// `part` of `whole`, with the 95 % interval of Wilson (1927). An empty whole has no share: value NaN, interval 0..1.
struct Share {
  std::uint64_t part = 0;
  std::uint64_t whole = 0;
  double value() const;
  Interval interval() const;
};

/// Exact 95 % interval (Garwood 1936) of the mean of a Poisson count.
Interval poisson_interval(std::uint64_t count);

/// Value below which `share` (0..1) of the sorted values lie, NaN for none.
double quantile(std::vector<double> values, double share);

}  // namespace weft::scenarios
