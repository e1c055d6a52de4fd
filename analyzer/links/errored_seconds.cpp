// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/errored_seconds.hpp"

#include <algorithm>

namespace weft::analyzer {

std::int64_t ErroredSeconds::minute_of(TimePoint at) {
  return std::chrono::floor<std::chrono::minutes>(at.time_since_epoch()).count();
}

void ErroredSeconds::add(PortKey port, TimePoint now, double elapsed) {
  static_assert(kWindows.back() == std::tuple_size_v<decltype(History::seconds)>);
  const std::int64_t minute = minute_of(now);
  const auto [found, added] = ports_.try_emplace(port);
  History& history = found->second;
  const auto length = static_cast<std::int64_t>(history.seconds.size());
  // A clock that was set back makes a past that lies ahead.
  if (added || minute < history.newest || minute - history.newest >= length) {
    history = {.newest = minute, .spacing = elapsed};
  } else {
    while (history.newest < minute) history.seconds[static_cast<std::size_t>(++history.newest % length)] = 0;
  }
  history.spacing = std::min(history.spacing, elapsed);
  std::uint8_t& seconds = history.seconds[static_cast<std::size_t>(minute % length)];
  if (seconds < 60) ++seconds;
}

void ErroredSeconds::forget(PortKey port) {
  if (!ports_.empty()) ports_.erase(port);
}

void ErroredSeconds::expire(TimePoint now) {
  const std::int64_t minute = minute_of(now);
  std::erase_if(ports_, [&](const auto& entry) {
    return minute - entry.second.newest >= static_cast<std::int64_t>(kWindows.back());
  });
}

ErroredSeconds::Count ErroredSeconds::count(PortKey port, std::size_t window, TimePoint now) const {
  Count count;
  const auto found = ports_.find(port);
  if (found == ports_.end()) return count;
  const History& history = found->second;
  count.spacing = history.spacing;
  const auto length = static_cast<std::int64_t>(history.seconds.size());
  const std::int64_t first = minute_of(now) - kWindows[window] + 1;
  for (std::int64_t minute = std::max(first, history.newest - length + 1); minute <= history.newest; ++minute) {
    const std::uint8_t seconds = history.seconds[static_cast<std::size_t>(minute % length)];
    count.seconds += seconds;
    if (seconds > 0) ++count.minutes;
  }
  return count;
}

}  // namespace weft::analyzer
