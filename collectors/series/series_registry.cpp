// SPDX-License-Identifier: Apache-2.0
#include "collectors/series/series_registry.hpp"

#include <limits>
#include <utility>

namespace weft {
namespace {

std::string identity(const HostSeries& series) {
  std::string text = series.device + '\n' + series.name + '\n';
  for (const unsigned field : {static_cast<unsigned>(series.port), static_cast<unsigned>(series.direction),
                               static_cast<unsigned>(series.priority), static_cast<unsigned>(series.lane),
                               static_cast<unsigned>(series.source)})
    text += static_cast<char>(field);
  return text;
}

}  // namespace

std::optional<SeriesPosition> SeriesRegistry::enter(HostSeries series) {
  const CounterInfo* const info = series.is_raw ? nullptr : find_counter(series.name);
  if (info != nullptr && info->by_source) series.source = kind_;
  std::string key = identity(series);
  if (const auto known = owners_.find(key); known != owners_.end()) {
    const auto [position, source] = known->second;
    if (source != source_ || series.is_raw || parts_[position] == std::numeric_limits<std::uint8_t>::max())
      return std::nullopt;
    ++parts_[position];
    return position;
  }
  if (is_full()) return std::nullopt;
  const auto position = static_cast<SeriesPosition>(series_.size());
  owners_.emplace(std::move(key), Owner{position, source_});
  series_.push_back(std::move(series));
  parts_.push_back(1);
  return position;
}

}  // namespace weft
