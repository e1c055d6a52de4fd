// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/uplink/renewal_time.hpp"

namespace weft::uplink {

void RenewalTime::start(TimePoint begin, TimePoint end, std::optional<Steady::time_point> got) {
  constexpr double kRenewAfter = 2.0 / 3;
  constexpr double kSpread = 0.05;
  begin_ = begin;
  got_ = got;
  after_ = std::chrono::duration_cast<Duration>((end - begin) * (kRenewAfter + kSpread * share_));
  shortest_ = (end - begin) / 3;
}

bool RenewalTime::is_due(TimePoint wall, Steady::time_point now) const {
  if (!got_) return is_due_by_wall(wall);
  return now - *got_ >= after_ || (is_due_by_wall(wall) && now - *got_ >= shortest_);
}

}  // namespace weft::uplink
