// SPDX-License-Identifier: Apache-2.0
#include "api/telemetry/series_pool.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

namespace weft::api {
namespace {

std::size_t hash_of(const std::vector<HostSeries>& list) {
  std::size_t hash = list.size();
  for (const HostSeries& series : list) {
    const std::size_t one = std::hash<std::string_view>()(series.name) ^
                            std::hash<std::string_view>()(series.device) * 31 ^
                            (std::size_t{series.port} << 16U | std::size_t{series.priority} << 8U | series.lane);
    hash = hash * 0x9E3779B97F4A7C15ULL + one;
  }
  return hash;
}

}  // namespace

SeriesList SeriesPool::share(std::vector<HostSeries> list) {
  const std::size_t hash = hash_of(list);
  const std::lock_guard lock(mutex_);
  const auto [first, last] = lists_.equal_range(hash);
  for (auto at = first; at != last; ++at)
    if (auto known = at->second.lock(); known && *known == list) return SeriesList(std::move(known));
  if (lists_.size() >= sweep_at_) sweep();
  SeriesList fresh(std::move(list));
  lists_.emplace(hash, fresh.shared());
  return fresh;
}

void SeriesPool::sweep() {
  std::erase_if(lists_, [](const auto& entry) { return entry.second.expired(); });
  sweep_at_ = std::max<std::size_t>(64, 2 * lists_.size());
}

}  // namespace weft::api
