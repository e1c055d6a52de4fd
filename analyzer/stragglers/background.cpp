// SPDX-License-Identifier: Apache-2.0
#include "analyzer/stragglers/background.hpp"

#include <algorithm>

namespace weft::analyzer {
namespace {

/// Readings of a block: collectors and sweeps together give two in a second.
constexpr unsigned kBlock = 24;
/// A greater share of the rate of transfers is no background.
constexpr double kMostShare = 0.005;
/// So many readings between transfers must have been seen before it is said what is usual there.
constexpr std::size_t kEnough = 4;
/// Readings between transfers spread over so many times what lies between the least and their lower quartile.
constexpr double kSpread = 5;

}  // namespace

void Background::take(double bytes, double elapsed) {
  least_ = std::min(least_, static_cast<float>(bytes / elapsed));
  if (++in_block_ < kBlock) return;
  least_before_ = least_;
  least_ = kNone;
  in_block_ = 0;
}

void Background::take_quiet(double bytes, double elapsed) {
  quiet_[next_] = static_cast<float>(bytes / elapsed);
  next_ = static_cast<std::uint8_t>((next_ + 1) % kQuiet);
  known_ = static_cast<std::uint8_t>(std::min<std::size_t>(known_ + 1UL, kQuiet));
}

double Background::rate(double fastest) const {
  const double least = std::min(least_, least_before_);
  return least <= kMostShare * fastest ? least : 0;
}

double Background::above(double bytes, double elapsed, double fastest) const {
  return std::max(0.0, bytes - rate(fastest) * elapsed);
}

bool Background::hides(double bytes, double elapsed, double fastest) const {
  const double least = rate(fastest);
  if (known_ < kEnough || least * elapsed < bytes) return false;
  // Of readings between transfers some have a first send in them, sometimes most: the lower ones tell how they differ.
  std::array<float, kQuiet> rates = quiet_;
  const auto lower = rates.begin() + known_ / 4;
  std::partial_sort(rates.begin(), lower + 1, rates.begin() + known_);
  return kSpread * (*lower - least) * elapsed > bytes;
}

}  // namespace weft::analyzer
