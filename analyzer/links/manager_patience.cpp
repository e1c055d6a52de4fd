// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/manager_patience.hpp"

#include <algorithm>

namespace weft::analyzer {
namespace {

constexpr Duration kRemembered = std::chrono::hours(24);
constexpr int kMostTimes = 10;
/// What took longer than so many times the patience was no slow subnet manager, but none.
constexpr int kBelieved = 2;

}  // namespace

bool ManagerPatience::is_forgotten(TimePoint now) const {
  return slowest_at_ == kNever || now < slowest_at_ || now - slowest_at_ > kRemembered;
}

void ManagerPatience::note(Duration taken, TimePoint now) {
  if ((!is_forgotten(now) && taken < slowest_) || taken > value(now) * kBelieved) return;
  slowest_ = taken;
  slowest_at_ = now;
}

Duration ManagerPatience::value(TimePoint now) const {
  const Duration learned = is_forgotten(now) ? Duration{} : slowest_ * 2;
  return std::clamp(learned, thresholds_.sm_patience, thresholds_.sm_patience * kMostTimes);
}

}  // namespace weft::analyzer
