// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/statistics.hpp"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <limits>

namespace weft::scenarios {
namespace {

constexpr double kZ = 1.959963984540054;  // 95 %, both sides

}  // namespace

double Share::value() const {
  return whole == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(part) / static_cast<double>(whole);
}

Interval Share::interval() const {
  if (whole == 0) return {0, 1};
  const auto n = static_cast<double>(whole);
  const double p = value();
  const double centre = p + kZ * kZ / (2 * n);
  const double spread = kZ * std::sqrt(p * (1 - p) / n + kZ * kZ / (4 * n * n));
  const double scale = 1 + kZ * kZ / n;
  return {std::max(0.0, (centre - spread) / scale), std::min(1.0, (centre + spread) / scale)};
}

Interval poisson_interval(std::uint64_t count) {
  const auto half_quantile = [](double degrees, double probability) {
    return boost::math::quantile(boost::math::chi_squared(degrees), probability) / 2;
  };
  const auto n = static_cast<double>(count);
  return {count == 0 ? 0 : half_quantile(2 * n, 0.025), half_quantile(2 * n + 2, 0.975)};
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::ranges::sort(values);
  const auto last = static_cast<double>(values.size() - 1);
  const double at = share * last;
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (values[above] - values[below]) * (at - static_cast<double>(below));
}

}  // namespace weft::scenarios
