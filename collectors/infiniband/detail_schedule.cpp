// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/detail_schedule.hpp"

#include <algorithm>

namespace weft::infiniband {

void DetailSchedule::restart() {
  watched_.clear();
  turn_ = 0;
}

void DetailSchedule::watch(PortIndex port, TimePoint until) {
  const auto known = std::ranges::find(watched_, port, &Watched::port);
  if (known != watched_.end()) {
    known->until = until;
  } else if (watched_.size() < kMostWatched) {
    watched_.push_back({port, until});
  } else if (const auto oldest = std::ranges::min_element(watched_, {}, &Watched::until); oldest->until < until) {
    *oldest = {port, until};
  }
}

std::vector<PortIndex> DetailSchedule::next(std::span<const PortIndex> troubled, std::span<const PortIndex> moved,
                                            std::size_t ports, Duration interval, Duration detail_interval,
                                            TimePoint now, const std::function<bool(PortIndex)>& takes_turns) {
  // A clock that was set back must not keep a port under watch for hours.
  std::erase_if(watched_, [&](const Watched& w) { return w.until <= now || w.until > now + kWatchFor; });
  for (const PortIndex port : troubled) watch(port, now + kWatchFor);
  std::vector<PortIndex> chosen;
  for (const Watched& w : watched_) chosen.push_back(w.port);
  for (const std::span<const PortIndex> once : {troubled, moved})
    for (std::size_t i = 0; i < once.size() && chosen.size() < kMostWatched + kMostAtOnce; ++i)
      chosen.push_back(once[i]);
  const double share = seconds(interval) / std::max(seconds(detail_interval), 1e-3);
  const auto slice = std::min(ports, static_cast<std::size_t>(static_cast<double>(ports) * std::min(share, 1.0)) + 1);
  for (std::size_t i = 0; i < slice; ++i) {
    if (turn_ >= ports) turn_ = 0;
    if (takes_turns(turn_)) chosen.push_back(turn_);
    ++turn_;
  }
  std::ranges::sort(chosen);
  const auto doubles = std::unique(chosen.begin(), chosen.end());  // clang 14 knows no ranges::unique
  chosen.erase(doubles, chosen.end());
  return chosen;
}

}  // namespace weft::infiniband
