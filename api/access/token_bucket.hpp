// SPDX-License-Identifier: Apache-2.0
#pragma once
// So many a second on average, with bursts.

#include <algorithm>
#include <chrono>

namespace weft::api {

/// Starts full.
class TokenBucket {
 public:
  using Clock = std::chrono::steady_clock;

  /// `rate` tokens a second, at most `burst` saved up; both above 0.
  TokenBucket(double rate, double burst) : rate_(rate), burst_(burst), tokens_(burst) {}

  /// Takes one token, on credit when there is none. How long to wait until the debt is paid; zero mostly.
  Clock::duration take(Clock::time_point now) {
    fill(now);
    tokens_ -= 1;
    if (tokens_ >= 0) return {};
    return std::chrono::ceil<Clock::duration>(std::chrono::duration<double>(-tokens_ / rate_));
  }

  /// Takes one token if there is one.
  bool try_take(Clock::time_point now) {
    fill(now);
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }
  /// Nothing was taken for so long that it is as good as new.
  bool is_full(Clock::time_point now) const {
    return tokens_ + rate_ * std::chrono::duration<double>(now - last_).count() >= burst_;
  }

 private:
  void fill(Clock::time_point now) {
    if (last_ != Clock::time_point{})
      tokens_ = std::min(burst_, tokens_ + rate_ * std::chrono::duration<double>(now - last_).count());
    last_ = now;
  }

  double rate_;
  double burst_;
  double tokens_;
  Clock::time_point last_{};
};

}  // namespace weft::api
