// SPDX-License-Identifier: Apache-2.0
#pragma once
// Chance that is the same everywhere: the engine is fixed by the standard, the distributions are ours, because the
// standard library's differ from one implementation to the next.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <numbers>
#include <random>

namespace weft::scenarios {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed * 0x9E3779B97F4A7C15ULL + 0x632BE59BD9B4E019ULL) {}

  /// 0 ≤ x < 1.
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Evenly spread over the logarithm; both bounds above zero.
  double log_uniform(double low, double high) { return low * std::pow(high / low, uniform()); }
  /// 0 … n - 1; n must not be 0.
  std::uint32_t below(std::uint64_t n) {
    return static_cast<std::uint32_t>(static_cast<double>(n) * uniform());  // n is far below 2^32: no bias to speak of
  }
  bool chance(double probability) { return uniform() < probability; }
  double exponential(double mean) { return -mean * std::log1p(-uniform()); }
  double normal() { return std::sqrt(-2 * std::log1p(-uniform())) * std::cos(2 * std::numbers::pi * uniform()); }
  /// How many events of a Poisson process; from 64 on by the normal approximation.
  std::uint64_t poisson(double mean) {
    if (mean <= 0) return 0;
    if (mean > 64) return static_cast<std::uint64_t>(std::max(0.0, std::round(mean + std::sqrt(mean) * normal())));
    const double first = uniform();
    if (first > kSurely * mean) return 0;  // as -log(1 - x) >= x; mostly no logarithm is needed
    std::uint64_t events = 0;
    for (double left = -std::log1p(-first); left < mean; left += exponential(1)) ++events;
    return events;
  }
  /// One element of something that is not empty.
  template <typename Range>
  const auto& pick(const Range& from) {
    return std::data(from)[below(std::size(from))];
  }

 private:
  static constexpr double kSurely = 1.000001;  ///< more than what rounding may do to a logarithm
  std::mt19937_64 engine_;
};

}  // namespace weft::scenarios
