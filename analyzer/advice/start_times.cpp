// SPDX-License-Identifier: Apache-2.0
#include "analyzer/advice/start_times.hpp"

#include <algorithm>
#include <optional>

#include "analyzer/advice/link_case.hpp"

namespace weft::analyzer {
namespace {

constexpr std::size_t kMostStarts = 16;
/// Sweeps notice that a link is down at another moment than its host's collector reads.
constexpr Duration kSlack = std::chrono::seconds(10);

template <typename List, typename Value>
void add_newest(List& list, Value value, std::size_t most) {
  if (list.size() == most) list.erase(list.begin());
  list.push_back(value);
}

}  // namespace

void StartTimes::follow(const HostWatch& host, std::vector<std::uint32_t>& followed) {
  for (const PortWatch& port : host.ports) ports_[port.slot].followed.clear();
  const auto begins_anew = [](const HostSeries& series) -> std::optional<bool> {
    const bool is_one =
        series.name == "transmit_bytes" || series.name == "receive_bytes" || series.name == "carrier_down";
    return is_one && series.priority == kNoPriority && series.lane == kNoLane ? std::optional(true) : std::nullopt;
  };
  follow_series(host, followed, begins_anew,
                [&](const PortWatch& port, const auto& one) { ports_[port.slot].followed.push_back(one.series); });
}

void StartTimes::take(const HostWatch& host, const HostMovement& movement) {
  const TimePoint before = movement.taken - std::max(movement.elapsed, Duration::zero());
  for (const PortWatch& port : host.ports) {
    if (port.is_virtual) continue;
    Memory& memory = ports_[port.slot];
    const bool went = memory.is_known && port.times_away != memory.times_away;
    memory.times_away = port.times_away;
    if (went && !port.set_down) add_newest(memory.downs, movement.taken, kMostDowns);
    const bool was_reset = std::ranges::any_of(memory.followed, [&](std::uint32_t series) {
      const SeriesMovement& row = movement.series[series];
      return row.present && row.known && row.delta.was_reset;
    });
    const bool is_missing = !port.present;
    const bool begins = memory.is_known && ((is_missing && !memory.was_missing) || (was_reset && !memory.was_missing));
    if (begins) add_newest(memory.starts, Start{before, movement.taken}, kMostStarts);
    // It is over with the first reading that has the port again.
    if ((is_missing || memory.was_missing) && !memory.starts.empty()) memory.starts.back().to = movement.taken;
    memory.was_missing = is_missing;
    memory.is_known = memory.is_known || port.present;
  }
}

std::uint32_t StartTimes::starts_among(const PortWatch& port, std::span<const TimePoint> downs) const {
  const std::vector<Start>& starts = ports_[port.slot].starts;
  return static_cast<std::uint32_t>(std::ranges::count_if(downs, [&](TimePoint down) {
    return std::ranges::any_of(
        starts, [&](const Start& start) { return down >= start.from - kSlack && down <= start.to + kSlack; });
  }));
}

}  // namespace weft::analyzer
