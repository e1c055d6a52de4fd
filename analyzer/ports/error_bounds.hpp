// SPDX-License-Identifier: Apache-2.0
#pragma once
// How sure can one be of an error rate after k errors? One-sided bounds of a Poisson count.

#include <cstdint>
#include <vector>

namespace weft::analyzer {

/// Bounds on the expected number of errors when `k` were counted: lower χ²(1−c; 2k)/2, upper χ²(c; 2k+2)/2. Divided by
/// the bits seen they bound the errors per bit. The first few thousand are computed once, at construction.
class ErrorBounds {
 public:
  /// `confidence` (0..1, exclusive) of each of the two one-sided bounds.
  explicit ErrorBounds(double confidence);

  /// Lower bound of the expected number of errors when `k` were counted.
  double lower(std::uint64_t k) const { return k < lower_.size() ? lower_[k] : far_lower(k); }
  /// Upper bound of the expected number of errors when `k` were counted.
  double upper(std::uint64_t k) const { return k < upper_.size() ? upper_[k] : far_upper(k); }

 private:
  double far_lower(std::uint64_t k) const;
  double far_upper(std::uint64_t k) const;

  double confidence_;
  std::vector<double> lower_;
  std::vector<double> upper_;
};

}  // namespace weft::analyzer
