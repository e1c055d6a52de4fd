// SPDX-License-Identifier: Apache-2.0
#include "analyzer/stragglers/background.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft::analyzer {
namespace {

/// A quiet reading shows at most this share of the rate of transfers.
constexpr double kQuietShare = 0.1;
/// In a shorter time the moments of reading, which are known to some milliseconds, matter.
constexpr double kShortest = 0.1;
/// Quiet readings that must agree with the lowest one: so many, and one in so many. The others may have been read while
/// the background was another one.
constexpr std::size_t kLeastAgreeing = 6;
constexpr std::size_t kAgreeing = 4;
/// They agree when they are at most so many times the lowest.
constexpr float kSteadyRatio = 1.5F;
/// Readings differ in length when the longest is so many times the shortest: what moves the same in each of them does
/// not agree.
constexpr float kLengths = 2;
/// The noise is so many times the distance from the lowest rate to the upper quartile. From the lower quartile,
/// backgrounds that come and go look steady by chance.
constexpr float kNoise = 3;
/// Where in a second it is more than so many of the smallest first sendings, first sendings drown in it.
constexpr double kMostNoise = 2;

}  // namespace

void Background::take(double bytes, double seconds, double transfer_rate, const StragglerThresholds& thresholds) {
  if (bytes > kQuietShare * transfer_rate * seconds) {
    before_ = kAlone;
    return;
  }
  if (seconds < kShortest) return;
  const auto rate = static_cast<float>(bytes / seconds);
  const auto least = static_cast<float>(thresholds.first_send);
  const float before = std::exchange(before_, rate);
  if (rate < least) {
    count_ = next_ = 0;
    rate_ = noise_ = 0;
    state_ = State::kNone;
    return;
  }
  // A member sends first once in a silence: of two readings one is without that. Where they differ by more than it can
  // send, one has a part of a transfer in it, and all of the silence may lie in the other.
  const bool is_pair =
      before != kAlone && static_cast<double>(std::abs(rate - before)) * seconds <= thresholds.transfer;
  const float lower = is_pair ? std::min(before, rate) : kAlone;
  if (state_ == State::kNone && (!is_pair || lower < least)) return;
  quiet_[next_] = {static_cast<float>(seconds), rate, lower};
  next_ = (next_ + 1) % kReadings;
  count_ = std::min(count_ + 1, kReadings);
  learn();
  if (noise_ <= kMostNoise * thresholds.first_send) return;
  rate_ = noise_ = 0;
  state_ = State::kUnknown;
}

std::size_t Background::rates_of_pairs(Rates& rates) const {
  std::size_t found = 0;
  for (std::size_t i = 0; i < count_; ++i)
    if (quiet_[i].lower != kAlone) rates[found++] = quiet_[i].lower;
  return found;
}

/// Those near the lowest, where their lengths differ: a first sending is the same in a long one and in a short one.
std::size_t Background::rates_of_lengths(float lowest, Rates& rates) const {
  std::size_t found = 0;
  float shortest = kAlone, longest = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    if (quiet_[i].rate > kSteadyRatio * lowest) continue;
    rates[found++] = quiet_[i].rate;
    shortest = std::min(shortest, quiet_[i].seconds);
    longest = std::max(longest, quiet_[i].seconds);
  }
  return longest >= kLengths * shortest ? found : 0;
}

void Background::learn() {
  float lowest = kAlone;
  for (std::size_t i = 0; i < count_; ++i) lowest = std::min(lowest, quiet_[i].rate);
  rate_ = noise_ = 0;
  state_ = State::kUnknown;
  const float latest = quiet_[(next_ + kReadings - 1) % kReadings].lower;
  if (latest != kAlone && latest > kSteadyRatio * lowest) return;  // it has risen
  Rates rates;
  std::size_t count = rates_of_pairs(rates);
  if (count < kLeastAgreeing) count = rates_of_lengths(lowest, rates);
  if (count < kLeastAgreeing) return;
  const auto agreeing = rates.begin() + static_cast<std::ptrdiff_t>(std::max(kLeastAgreeing, count / kAgreeing) - 1);
  std::nth_element(rates.begin(), agreeing, rates.begin() + static_cast<std::ptrdiff_t>(count));
  if (*agreeing > kSteadyRatio * lowest) return;
  const float agreed = *agreeing;
  const auto high = rates.begin() + static_cast<std::ptrdiff_t>(count * 3 / 4);
  std::nth_element(rates.begin(), high, rates.begin() + static_cast<std::ptrdiff_t>(count));
  const float noise = kNoise * (*high - lowest);
  state_ = State::kSteady;
  rate_ = static_cast<double>(agreed);
  noise_ = static_cast<double>(noise);
}

}  // namespace weft::analyzer
