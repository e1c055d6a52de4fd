// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/error_bounds.hpp"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cstddef>

namespace weft::analyzer {
namespace {

constexpr std::size_t kCached = 1024;

double half_quantile(double degrees, double probability) {
  return boost::math::quantile(boost::math::chi_squared(degrees), probability) / 2;
}

}  // namespace

ErrorBounds::ErrorBounds(double confidence)
    : confidence_(std::clamp(confidence, 0.5, 0.999999)), lower_(kCached), upper_(kCached) {
  lower_[0] = 0;
  for (std::size_t k = 0; k < kCached; ++k) {
    if (k > 0) lower_[k] = far_lower(k);
    upper_[k] = far_upper(k);
  }
}

double ErrorBounds::far_lower(std::uint64_t k) const {
  return half_quantile(2.0 * static_cast<double>(k), 1 - confidence_);
}

double ErrorBounds::far_upper(std::uint64_t k) const {
  return half_quantile(2.0 * static_cast<double>(k) + 2.0, confidence_);
}

}  // namespace weft::analyzer
