// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/host_clock.hpp"

#include <algorithm>

namespace weft::api {

void HostClock::add(TimePoint sent, TimePoint received, TimePoint host_time) {
  if (!is_sane(host_time) || received < sent) return;
  const Duration round_trip = received - sent;
  const Measurement now{round_trip, sent + round_trip / 2 - host_time};
  // What both measured is within half of either round trip, unless a clock was set between them.
  constexpr Duration kDrift = std::chrono::milliseconds(200);
  for (Measurement& before : last_)
    if (before.round_trip != Duration::max() &&
        std::chrono::abs(now.offset - before.offset) > (now.round_trip + before.round_trip) / 2 + kDrift)
      before = {};
  last_[next_] = now;
  next_ = (next_ + 1) % last_.size();
}

Duration HostClock::offset() const {
  return std::ranges::min_element(last_, {}, &Measurement::round_trip)->offset;
}

TimePoint HostClock::correct(TimePoint host_time, TimePoint now) const {
  return is_sane(host_time) ? std::min(host_time + offset(), now) : now;
}

}  // namespace weft::api
