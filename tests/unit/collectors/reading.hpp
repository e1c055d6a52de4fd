// SPDX-License-Identifier: Apache-2.0
#pragma once
// Looking things up in a reading.

#include <cstdint>
#include <optional>
#include <string_view>

#include "fabric/host.hpp"

namespace weft::tests {

struct Which {
  std::string_view device;
  std::uint8_t port;
  std::string_view name;
  Direction direction = Direction::kNone;
  std::uint8_t priority = kNoPriority;
  std::uint8_t lane = kNoLane;
};

inline std::optional<std::size_t> position_of(const HostReading& reading, const Which& which) {
  for (std::size_t i = 0; i < reading.inventory->series.size(); ++i) {
    const HostSeries& series = reading.inventory->series[i];
    if (series.device == which.device && series.port == which.port && series.name == which.name &&
        series.direction == which.direction && series.priority == which.priority && series.lane == which.lane)
      return i;
  }
  return std::nullopt;
}

/// The value when it was read this time.
inline std::optional<std::uint64_t> value_of(const HostReading& reading, const Which& which) {
  const std::optional<std::size_t> position = position_of(reading, which);
  if (!position || reading.present[*position] == 0) return std::nullopt;
  return reading.values[*position];
}

inline const HostSeries* series_of(const HostReading& reading, const Which& which) {
  const std::optional<std::size_t> position = position_of(reading, which);
  return position ? &reading.inventory->series[*position] : nullptr;
}

inline const HostPort* port_of(const HostReading& reading, std::string_view device, std::uint8_t number) {
  for (const HostPort& port : reading.inventory->ports)
    if (port.device == device && port.number == number) return &port;
  return nullptr;
}

}  // namespace weft::tests
