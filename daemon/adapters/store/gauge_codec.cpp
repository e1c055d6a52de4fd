// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/gauge_codec.hpp"

#include <algorithm>
#include <cmath>

#include "daemon/adapters/store/history_codec.hpp"
#include "daemon/adapters/store/packing.hpp"

namespace weft::store {
namespace {

// A chunk is a zlib stream of: format, number of ports, then for each gauge of which there is anything to say: its
// number, and planes of one byte for each port with `last` (in a row of differences what it grew by, modulo 256),
// `below` and `above`. Most of them are 0, and planes of equal bytes pack to almost nothing.
constexpr std::uint8_t kWhole = 1;
constexpr std::uint8_t kDifferences = 2;
constexpr std::size_t kLargestGauges = 2 + kPortGauges * (1 + 3 * kChunkPorts);

constexpr int kLastCode = 255;
constexpr double kLeast = 100;         ///< nanowatts (-40 dBm, what a module counts in), or microamperes
constexpr double kPowerStep = 0.02;    ///< log10: 0.2 dB
constexpr double kBiasStep = 0.01494;  ///< log10: 3.5 %
constexpr std::int64_t kMilli = 1000;  ///< of a degree
constexpr std::int64_t kColdest = -100;
constexpr double kHold = 0.75;  ///< of a step

double step_of(PortGauge gauge) {
  return gauge == PortGauge::kLaserBias ? kBiasStep : kPowerStep;
}

/// Of powers and bias 1 is nothing at all; from 2 on steps of a logarithm.
std::uint8_t code_of(PortGauge gauge, std::int64_t value, std::uint8_t before) {
  const bool is_temperature = gauge == PortGauge::kTemperature;
  if (!is_temperature && value <= 0) return 1;
  const double least = is_temperature ? 1 : 2;
  const double steps = is_temperature ? static_cast<double>(value) / kMilli - kColdest + 1
                                      : std::log10(static_cast<double>(value) / kLeast) / step_of(gauge) + 2;
  if (before >= least && std::abs(steps - before) <= kHold) return before;
  return static_cast<std::uint8_t>(std::clamp(std::round(steps), least, 1.0 * kLastCode));
}

std::int64_t value_of(PortGauge gauge, std::size_t code) {
  if (gauge == PortGauge::kTemperature) return (static_cast<std::int64_t>(code) - 1 + kColdest) * kMilli;
  return code <= 1 ? 0 : std::llround(kLeast * std::pow(10, (static_cast<double>(code) - 2) * step_of(gauge)));
}

/// By gauge and code.
const std::array<std::array<std::int64_t, kLastCode + 1>, kPortGauges>& code_values() {
  static const auto kValues = [] {
    std::array<std::array<std::int64_t, kLastCode + 1>, kPortGauges> values{};
    for (std::size_t gauge = 0; gauge < kPortGauges; ++gauge)
      for (std::size_t code = 0; code <= kLastCode; ++code)
        values[gauge][code] = value_of(static_cast<PortGauge>(gauge), code);
    return values;
  }();
  return kValues;
}

bool is_port(const GaugeCodes& codes, std::size_t gauge) {
  if (codes.last[gauge] == 0) return codes.below[gauge] == 0 && codes.above[gauge] == 0;
  return codes.below[gauge] < codes.last[gauge] && codes.above[gauge] <= kLastCode - codes.last[gauge];
}

std::uint8_t byte_of(int value) {
  return static_cast<std::uint8_t>(value);
}

}  // namespace

void add(GaugePort& port, const PortGauges& reading) {
  for (std::size_t gauge = 0; gauge < kPortGauges; ++gauge) {
    if ((reading.present >> gauge & 1) == 0) continue;
    const std::int64_t value = reading.values[gauge];
    GaugeRange& range = port.ranges[gauge];
    range = (port.present >> gauge & 1) == 0
                ? GaugeRange{value, value, value}
                : GaugeRange{value, std::min(range.low, value), std::max(range.high, value)};
    port.present = static_cast<std::uint8_t>(port.present | 1U << gauge);
  }
}

GaugeCodes to_codes(const GaugePort& port, const GaugeCodes& before) {
  GaugeCodes codes;
  for (std::size_t i = 0; i < kPortGauges; ++i) {
    if ((port.present >> i & 1) == 0) continue;
    const auto gauge = static_cast<PortGauge>(i);
    const std::uint8_t last = code_of(gauge, port.ranges[i].last, before.last[i]);
    codes.last[i] = last;
    codes.below[i] = byte_of(last - std::min(last, code_of(gauge, port.ranges[i].low, last)));
    codes.above[i] = byte_of(std::max(last, code_of(gauge, port.ranges[i].high, last)) - last);
  }
  return codes;
}

GaugeRange range_of(const GaugeCodes& codes, PortGauge gauge) {
  const auto i = static_cast<std::size_t>(gauge);
  const auto& values = code_values()[i];
  return {values[codes.last[i]], values[byte_of(codes.last[i] - codes.below[i])],
          values[byte_of(codes.last[i] + codes.above[i])]};
}

void add(GaugeCodes& codes, const GaugeCodes& later) {
  for (std::size_t i = 0; i < kPortGauges; ++i) {
    const int last = later.last[i];
    if (last == 0) continue;
    const bool is_new = codes.last[i] == 0;
    const int low = std::min(last - later.below[i], is_new ? last : codes.last[i] - codes.below[i]);
    const int high = std::max(last + later.above[i], is_new ? last : codes.last[i] + codes.above[i]);
    codes.last[i] = byte_of(last);
    codes.below[i] = byte_of(last - low);
    codes.above[i] = byte_of(high - last);
  }
}

std::vector<std::byte> encode_gauges(std::span<const GaugeCodes> ports, std::span<const GaugeCodes> before) {
  const std::size_t count = std::min(std::max(ports.size(), before.size()), kChunkPorts);
  std::vector<std::uint8_t> raw;
  raw.push_back(before.empty() ? kWhole : kDifferences);
  raw.push_back(byte_of(static_cast<int>(count) - 1));
  for (std::size_t gauge = 0; gauge < kPortGauges; ++gauge) {
    std::vector<std::uint8_t> planes(3 * count);
    for (std::size_t i = 0; i < count; ++i) {
      if (i < before.size()) planes[i] = byte_of(-before[i].last[gauge]);
      if (i >= ports.size()) continue;
      planes[i] = byte_of(planes[i] + ports[i].last[gauge]);
      planes[count + i] = ports[i].below[gauge];
      planes[2 * count + i] = ports[i].above[gauge];
    }
    if (std::ranges::all_of(planes, [](std::uint8_t byte) { return byte == 0; })) continue;
    raw.push_back(byte_of(static_cast<int>(gauge)));
    raw.insert(raw.end(), planes.begin(), planes.end());
  }
  return pack(raw);
}

Result<std::vector<GaugeCodes>> decode_gauges(std::span<const std::byte> data, std::span<const GaugeCodes> before) {
  std::array<std::uint8_t, kLargestGauges> room;
  const auto raw = unpack(data, room);
  if (!raw) return tl::unexpected<Error>(raw.error());
  ByteReader reader(*raw);
  const std::uint8_t format = reader.byte();
  if (format != kWhole && format != kDifferences) return damaged("has an unknown format");
  if (format == kDifferences && before.empty()) return damaged("tells differences to one that is not known");
  std::vector<GaugeCodes> ports(reader.byte() + std::size_t{1});
  if (format == kDifferences) {
    if (before.size() > ports.size()) return damaged("tells differences to another one");
    for (std::size_t i = 0; i < before.size(); ++i) ports[i].last = before[i].last;
  }
  std::size_t next = 0;
  while (!reader.at_end() && !reader.failed()) {
    const std::size_t gauge = reader.byte();
    if (gauge < next || gauge >= kPortGauges) return damaged("has an unknown gauge");
    next = gauge + 1;
    for (GaugeCodes& port : ports) port.last[gauge] = byte_of(port.last[gauge] + reader.byte());
    for (GaugeCodes& port : ports) port.below[gauge] = reader.byte();
    for (GaugeCodes& port : ports) port.above[gauge] = reader.byte();
    if (!std::ranges::all_of(ports, [gauge](const GaugeCodes& port) { return is_port(port, gauge); }))
      return damaged("has a value that is none");
  }
  if (reader.failed()) return damaged("is cut short");
  return ports;
}

const std::vector<GaugeCodes>* GaugeChain::next(std::span<const std::byte> data, TimePoint begin, TimePoint end) {
  auto row = decode_gauges(data, begin == end_ ? std::span<const GaugeCodes>(row_) : std::span<const GaugeCodes>());
  end_ = row ? end : kNever;
  if (!row) return nullptr;
  row_ = std::move(*row);
  return &row_;
}

}  // namespace weft::store
