// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gauges of up to 256 ports over a stretch of time, packed: for each the last, the lowest and the highest value. A
// value is one byte, with steps of 0.2 dB, 3.5 % or 1 °C. Gauges move slowly: a row is mostly the differences to the
// row before, and those are mostly 0.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fabric/clock.hpp"
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

/// One port as it is stored, by PortGauge: the code of the last value (0: absent), and by how many codes the lowest is
/// below it and the highest above.
struct GaugeCodes {
  std::array<std::uint8_t, kPortGauges> last{};
  std::array<std::uint8_t, kPortGauges> below{};
  std::array<std::uint8_t, kPortGauges> above{};
  bool operator==(const GaugeCodes&) const = default;
};

/// A value that is within three quarters of a step of `before` keeps its code, so that noise moves nothing.
GaugeCodes to_codes(const GaugePort& port, const GaugeCodes& before);
/// One gauge, which must not be absent. Power within 0.15 dB from -40 to 10 dBm, and 0 and less as no light (0); bias
/// within 3 % from 0.1 to 600 mA; temperature within 0.75 °C from -100 to 154 °C. Beyond that the end.
GaugeRange range_of(const GaugeCodes& codes, PortGauge gauge);
/// Adds what came later.
void add(GaugeCodes& codes, const GaugeCodes& later);

/// From 1 to kChunkPorts ports, as differences to the row before; whole where `before` is empty.
std::vector<std::byte> encode_gauges(std::span<const GaugeCodes> ports, std::span<const GaugeCodes> before = {});
/// kCorrupt for anything that encode_gauges did not make with the same row before. May have more ports than were
/// encoded, which are absent.
Result<std::vector<GaugeCodes>> decode_gauges(std::span<const std::byte> data, std::span<const GaugeCodes> before = {});

/// Rows of one chunk, one after the other.
class GaugeChain {
 public:
  /// The ports in the time from `begin` to `end`. Null: it is damaged, or tells differences to a row that was not
  /// given.
  const std::vector<GaugeCodes>* next(std::span<const std::byte> data, TimePoint begin, TimePoint end);

 private:
  std::vector<GaugeCodes> row_;
  TimePoint end_ = kNever;  ///< of `row_`
};

}  // namespace weft::store
