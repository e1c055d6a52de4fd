// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/series_movement.hpp"

#include <algorithm>
#include <utility>

namespace weft::analyzer {

void SeriesMemory::follow(const HostInventory& inventory, std::vector<std::uint32_t> followed) {
  std::ranges::sort(followed);
  followed.erase(std::unique(followed.begin(), followed.end()), followed.end());  // clang 14 knows no ranges::unique
  const std::vector<Last> before = std::exchange(last_, {});
  const SeriesList known = std::exchange(series_, inventory.series);
  const bool same = known == series_;
  last_.reserve(followed.size());
  for (const std::uint32_t position : followed) {
    const auto old = std::ranges::find_if(before, [&](const Last& last) {
      return same ? last.series == position : known[last.series] == series_[position];
    });
    Last& last = last_.emplace_back(old == before.end() ? Last{} : *old);
    last.series = position;
    last.bits = series_[position].bits;
    last.behaviour = series_[position].behaviour;
  }
}

void SeriesMemory::take(const HostReading& reading, HostMovement& movement) {
  movement.taken = reading.taken;
  movement.elapsed = taken_ == kNever ? Duration::zero() : reading.taken - taken_;
  taken_ = reading.taken;
  movement.series.resize(std::max(movement.series.size(), series_.size()));
  for (Last& last : last_) {
    SeriesMovement& row = movement.series[last.series];
    row.present = reading.present[last.series] != 0;
    if (row.present) {
      row.value = reading.values[last.series];
      row.known = last.known;
      row.successive = last.successive;
      row.delta = last.known ? counter_delta(last.value, row.value, last.bits, last.behaviour) : CounterDelta{};
      last.value = row.value;
      last.known = true;
    }
    last.successive = row.present;
  }
}

}  // namespace weft::analyzer
