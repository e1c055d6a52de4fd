// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gauges of up to 256 ports over a stretch of time, packed: for each the last, the lowest and the highest value. A
// value is one byte, with steps of 0.2 dB, 3.5 % or 1 °C: modules are no more exact than that.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fabric/port_gauges.hpp"
#include "fabric/result.hpp"

namespace weft::store {

/// One gauge of one port over a stretch of time, in the unit of gauge_info().
struct GaugeRange {
  std::int64_t last = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;
  bool operator==(const GaugeRange&) const = default;
};

/// One port. Ranges of gauges that are absent are 0.
struct GaugePort {
  std::uint8_t present = 0;  ///< bit i: PortGauge i was read in that time
  std::array<GaugeRange, kPortGauges> ranges{};
  bool operator==(const GaugePort&) const = default;
};

/// Adds one reading.
void add(GaugePort& port, const PortGauges& reading);
/// Adds what came later.
void add(GaugePort& port, const GaugePort& later);

/// `value` as it comes back from history: power within 0.1 dB from -40 to 10 dBm, and 0 and less as no light
/// (0); bias within 2 % from 0.1 to 600 mA; temperature within 0.5 °C from -100 to 154 °C. Beyond that the end.
std::int64_t round_gauge(PortGauge gauge, std::int64_t value);

/// From 1 to kChunkPorts ports; `low` <= `last` <= `high` in each range.
std::vector<std::byte> encode_gauges(std::span<const GaugePort> ports);
/// kCorrupt for anything that encode_gauges did not make.
Result<std::vector<GaugePort>> decode_gauges(std::span<const std::byte> data);

}  // namespace weft::store
