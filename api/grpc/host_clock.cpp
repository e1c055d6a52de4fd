// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/host_clock.hpp"

#include <algorithm>

namespace weft::api {

void HostClock::add(TimePoint sent, TimePoint received, TimePoint host_time) {
  if (!is_sane(host_time) || received < sent) return;
  const Duration round_trip = received - sent;
  last_[next_] = {round_trip, sent + round_trip / 2 - host_time};
  next_ = (next_ + 1) % last_.size();
}

Duration HostClock::offset() const {
  return std::ranges::min_element(last_, {}, &Measurement::round_trip)->offset;
}

TimePoint HostClock::correct(TimePoint host_time, TimePoint now) const {
  return is_sane(host_time) ? std::min(host_time + offset(), now) : now;
}

}  // namespace weft::api
