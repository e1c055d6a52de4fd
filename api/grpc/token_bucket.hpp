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
    if (last_ != Clock::time_point{})
      tokens_ = std::min(burst_, tokens_ + rate_ * std::chrono::duration<double>(now - last_).count());
    last_ = now;
    tokens_ -= 1;
    if (tokens_ >= 0) return {};
    return std::chrono::ceil<Clock::duration>(std::chrono::duration<double>(-tokens_ / rate_));
  }

 private:
  double rate_;
  double burst_;
  double tokens_;
  Clock::time_point last_{};
};

}  // namespace weft::api
