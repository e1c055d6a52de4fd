// SPDX-License-Identifier: Apache-2.0
#include "analyzer/stragglers/background.hpp"

#include <algorithm>
#include <cmath>
#include <span>
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
constexpr double kMostNoise = 4;
/// Keep-alives and management, the least that was seen, may grow by so much with each reading.
constexpr double kFloorRises = 1.02;
/// Of readings that are alone in their silences, so many must agree, and most of them. Parts of transfers differ by far
/// more.
constexpr std::size_t kLeastAlike = 3;
/// First sendings above them: so many must agree, which they do when they are within such a share of their median.
constexpr std::size_t kLeastRises = 3;
constexpr float kAlikeRises = 0.25F;

/// Enough of them, and most of them, are near their median.
bool agree(std::span<float> rises) {
  if (rises.size() < kLeastRises) return false;
  const auto middle = rises.begin() + static_cast<std::ptrdiff_t>(rises.size() / 2);
  std::nth_element(rises.begin(), middle, rises.end());
  const float usual = *middle;
  const auto near = static_cast<std::size_t>(std::count_if(
      rises.begin(), rises.end(), [&](float rise) { return std::abs(rise - usual) <= kAlikeRises * usual; }));
  return near >= kLeastRises && 2 * near > rises.size();
}

}  // namespace

void Background::take(double bytes, double seconds, double transfer_rate, const StragglerThresholds& thresholds) {
  if (bytes > kQuietShare * transfer_rate * seconds) {
    before_ = kAlone;
    return;
  }
  if (seconds < kShortest) return;
  const auto rate = static_cast<float>(bytes / seconds);
  // What is near zero may vary around the smallest first sending: only one that it rises by can be told from it.
  const double floor = state_ == State::kNone ? std::min(rate_, thresholds.first_send) : 0;
  const auto least = static_cast<float>(thresholds.first_send + floor);
  const float before = std::exchange(before_, rate);
  if (rate < least) {
    const double lowest = state_ == State::kNone ? std::min(kFloorRises * rate_, bytes / seconds) : bytes / seconds;
    count_ = next_ = 0;
    forget(State::kNone);
    rate_ = lowest;
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
  learn(thresholds);
}

void Background::forget(State state) {
  rate_ = noise_ = 0;
  may_include_first_ = false;
  state_ = state;
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

/// Silences are too short for two readings: those without a first sending agree, and those with one agree above them.
void Background::learn_levels(float lowest, float most_noise, const StragglerThresholds& thresholds) {
  Rates low;
  Rates rises;
  std::size_t low_count = 0, rise_count = 0;
  float shortest = kAlone;
  for (std::size_t i = 0; i < count_; ++i) {
    const float rise = (quiet_[i].rate - lowest) * quiet_[i].seconds;
    if (rise < static_cast<float>(thresholds.first_send)) {
      low[low_count++] = quiet_[i].rate;
      shortest = std::min(shortest, quiet_[i].seconds);
    } else if (rise <= static_cast<float>(thresholds.transfer)) {
      rises[rise_count++] = rise;
    }
  }
  may_include_first_ = !agree(std::span(rises).first(rise_count));
  if (may_include_first_ && low_count < std::max(kLeastAlike, rise_count + 1)) return forget(State::kUnknown);
  const auto middle = low.begin() + static_cast<std::ptrdiff_t>(low_count / 2);
  std::nth_element(low.begin(), middle, low.begin() + static_cast<std::ptrdiff_t>(low_count));
  const float agreed = *middle;
  const auto high = low.begin() + static_cast<std::ptrdiff_t>(low_count * 3 / 4);
  std::nth_element(low.begin(), high, low.begin() + static_cast<std::ptrdiff_t>(low_count));
  const float noise = kNoise * (*high - lowest);
  if (noise > most_noise) return forget(State::kUnknown);
  rate_ = static_cast<double>(agreed);
  noise_ = static_cast<double>(noise);
  const bool is_more = rate_ * static_cast<double>(shortest) > thresholds.transfer;
  state_ = may_include_first_ && !is_more ? State::kAlike : State::kSteady;
}

void Background::learn(const StragglerThresholds& thresholds) {
  float lowest = kAlone;
  for (std::size_t i = 0; i < count_; ++i) lowest = std::min(lowest, quiet_[i].rate);
  forget(State::kUnknown);
  const float latest = quiet_[(next_ + kReadings - 1) % kReadings].lower;
  if (latest != kAlone && latest > kSteadyRatio * lowest) return;  // it has risen
  const auto most = static_cast<float>(kMostNoise * thresholds.first_send);
  Rates rates;
  if (agree_on(std::span(rates).first(rates_of_pairs(rates)), lowest, most)) return;
  if (agree_on(std::span(rates).first(rates_of_lengths(lowest, rates)), lowest, most)) return;
  learn_levels(lowest, most, thresholds);
}

/// Enough of the rates, which have no first sending in them, are near the lowest; and the noise is not too much.
bool Background::agree_on(std::span<float> rates, float lowest, float most_noise) {
  if (rates.size() < kLeastAgreeing) return false;
  const auto agreeing =
      rates.begin() + static_cast<std::ptrdiff_t>(std::max(kLeastAgreeing, rates.size() / kAgreeing) - 1);
  std::nth_element(rates.begin(), agreeing, rates.end());
  if (*agreeing > kSteadyRatio * lowest) return false;
  // Of few pairs those that agree are nearly all, and both readings of one may have something besides.
  const auto level = rates.begin() + static_cast<std::ptrdiff_t>((rates.size() - 1) / kAgreeing);
  std::nth_element(rates.begin(), level, rates.end());
  const float agreed = *level;
  const auto high = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() * 3 / 4);
  std::nth_element(rates.begin(), high, rates.end());
  const float noise = kNoise * (*high - lowest);
  if (noise > most_noise) return false;
  state_ = State::kSteady;
  rate_ = static_cast<double>(agreed);
  noise_ = static_cast<double>(noise);
  return true;
}

}  // namespace weft::analyzer
