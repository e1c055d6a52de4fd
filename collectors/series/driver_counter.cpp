// SPDX-License-Identifier: Apache-2.0
#include "collectors/series/driver_counter.hpp"

#include <charconv>

namespace weft {
namespace {

constexpr std::uint8_t kPriorities = 8;
constexpr std::uint8_t kMostIndices = 32;
constexpr std::size_t kLongestName = 128;

/// The number that stands for '#' in `pattern`, when `name` fits it.
std::optional<std::uint8_t> number_in(std::string_view pattern, std::string_view name) {
  const std::size_t mark = pattern.find('#');
  const std::string_view tail = pattern.substr(mark + 1);
  if (name.size() < mark + 1 + tail.size() || !name.starts_with(pattern.substr(0, mark)) || !name.ends_with(tail))
    return std::nullopt;
  const std::string_view digits = name.substr(mark, name.size() - mark - tail.size());
  std::uint8_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<CounterMatch> find_driver_counter(std::span<const DriverCounter> table, std::string_view driver_name) {
  for (const DriverCounter& counter : table) {
    if (counter.index == NameIndex::kNone) {
      if (counter.driver_name == driver_name) return CounterMatch{&counter, 0};
      continue;
    }
    const std::optional<std::uint8_t> number = number_in(counter.driver_name, driver_name);
    if (number && *number < (counter.index == NameIndex::kPriority ? kPriorities : kMostIndices))
      return CounterMatch{&counter, *number};
  }
  return std::nullopt;
}

HostSeries series_of(const CounterMatch& match, std::string_view device, std::uint8_t port) {
  const DriverCounter& counter = *match.counter;
  HostSeries series;
  series.device = device;
  series.port = port;
  series.name = counter.name;
  series.direction = counter.direction;
  if (counter.index == NameIndex::kPriority) series.priority = match.index;
  if (counter.index == NameIndex::kLane) series.lane = match.index;
  series.bits = counter.bits;
  series.behaviour = counter.behaviour;
  return series;
}

HostSeries raw_series(std::string_view driver_name, std::string_view device, std::uint8_t port) {
  HostSeries series;
  series.device = device;
  series.port = port;
  series.name = driver_name.substr(0, kLongestName);
  series.is_raw = true;
  return series;
}

}  // namespace weft
