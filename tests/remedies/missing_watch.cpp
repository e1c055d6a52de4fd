// SPDX-License-Identifier: Apache-2.0
#include "tests/remedies/missing_watch.hpp"

#include <utility>

namespace weft::remedies {
namespace {

// What lies between two sweeps that are further apart was watched by nobody.
constexpr Duration kLongestGap = std::chrono::minutes(1);

}  // namespace

void MissingWatch::swept(std::uint32_t missing, Duration at) {
  const Duration gap = std::exchange(restarted_, false) ? kLongestGap : last_ ? at - *last_ : Duration{};
  for (unsigned node = 0; node < watched_.size(); ++node) {
    if ((missing & missing_) >> node & 1U)
      watched_[node] += gap <= kLongestGap ? gap : Duration{};
    else
      watched_[node] = {};
  }
  missing_ = missing;
  last_ = at;
}

unsigned MissingWatch::lately(Duration span, Duration now) const {
  const Duration since = last_ && now - *last_ <= kLongestGap ? now - *last_ : Duration{};
  unsigned count = 0;
  for (unsigned node = 0; node < watched_.size(); ++node)
    count += (missing_ >> node & 1U) != 0 && watched_[node] + since <= span;
  return count;
}

}  // namespace weft::remedies
