// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/gauge_codec.hpp"

#include <algorithm>
#include <cmath>

#include "daemon/adapters/store/history_codec.hpp"
#include "daemon/adapters/store/packing.hpp"

namespace weft::store {
namespace {

// A chunk is a zlib stream of: format, number of ports, then for each gauge that a port has: its number, a plane of one
// byte for each port with the code of `last`, one of how far `low` is below it, and one of how far `high` is above.
// Most of the latter two are 0, and planes of equal bytes pack to almost nothing.
constexpr std::uint8_t kGaugeFormat = 1;
constexpr std::size_t kLargestGauges = 2 + kPortGauges * (1 + 3 * kChunkPorts);

/// Code of a value: 0 is absent.
using Code = std::uint8_t;
constexpr int kLastCode = 255;
constexpr double kLeast = 100;         ///< nanowatts (-40 dBm, what a module counts in), or microamperes
constexpr double kPowerStep = 0.02;    ///< log10: 0.2 dB
constexpr double kBiasStep = 0.01494;  ///< log10: 3.5 %
constexpr std::int64_t kMilli = 1000;  ///< of a degree
constexpr std::int64_t kColdest = -100;

/// 1: nothing at all; from 2 on steps of a logarithm.
Code to_steps(std::int64_t value, double step) {
  if (value <= 0) return 1;
  return static_cast<Code>(
      std::clamp(std::round(std::log10(static_cast<double>(value) / kLeast) / step) + 2, 2.0, 1.0 * kLastCode));
}
std::int64_t from_steps(Code code, double step) {
  return code <= 1 ? 0 : std::llround(kLeast * std::pow(10, (code - 2) * step));
}

Code to_code(PortGauge gauge, std::int64_t value) {
  switch (gauge) {
    case PortGauge::kTemperature:
      return static_cast<Code>(
          std::clamp(std::round(static_cast<double>(value) / kMilli) - kColdest + 1, 1.0, 1.0 * kLastCode));
    case PortGauge::kLaserBias:
      return to_steps(value, kBiasStep);
    default:
      return to_steps(value, kPowerStep);
  }
}

std::int64_t from_code(PortGauge gauge, Code code) {
  switch (gauge) {
    case PortGauge::kTemperature:
      return (code - 1 + kColdest) * kMilli;
    case PortGauge::kLaserBias:
      return from_steps(code, kBiasStep);
    default:
      return from_steps(code, kPowerStep);
  }
}

bool has(const GaugePort& port, std::size_t gauge) {
  return (port.present >> gauge & 1) != 0;
}

void add_range(GaugePort& port, std::size_t gauge, const GaugeRange& later) {
  GaugeRange& range = port.ranges[gauge];
  range = has(port, gauge) ? GaugeRange{later.last, std::min(range.low, later.low), std::max(range.high, later.high)}
                           : later;
  port.present = static_cast<std::uint8_t>(port.present | 1U << gauge);
}

}  // namespace

void add(GaugePort& port, const PortGauges& reading) {
  for (std::size_t gauge = 0; gauge < kPortGauges; ++gauge)
    if ((reading.present >> gauge & 1) != 0)
      add_range(port, gauge, {reading.values[gauge], reading.values[gauge], reading.values[gauge]});
}

void add(GaugePort& port, const GaugePort& later) {
  for (std::size_t gauge = 0; gauge < kPortGauges; ++gauge)
    if (has(later, gauge)) add_range(port, gauge, later.ranges[gauge]);
}

std::int64_t round_gauge(PortGauge gauge, std::int64_t value) {
  return from_code(gauge, to_code(gauge, value));
}

std::vector<std::byte> encode_gauges(std::span<const GaugePort> ports) {
  ports = ports.first(std::min(ports.size(), kChunkPorts));
  std::vector<std::uint8_t> raw;
  raw.push_back(kGaugeFormat);
  raw.push_back(static_cast<std::uint8_t>(ports.size() - 1));
  for (std::size_t i = 0; i < kPortGauges; ++i) {
    if (std::ranges::none_of(ports, [i](const GaugePort& port) { return has(port, i); })) continue;
    const auto gauge = static_cast<PortGauge>(i);
    const auto plane = [&](const auto& byte_of) {
      for (const GaugePort& port : ports) raw.push_back(has(port, i) ? byte_of(port.ranges[i]) : std::uint8_t{0});
    };
    raw.push_back(static_cast<std::uint8_t>(i));
    plane([gauge](const GaugeRange& range) { return to_code(gauge, range.last); });
    plane([gauge](const GaugeRange& range) {
      return static_cast<std::uint8_t>(to_code(gauge, range.last) - to_code(gauge, range.low));
    });
    plane([gauge](const GaugeRange& range) {
      return static_cast<std::uint8_t>(to_code(gauge, range.high) - to_code(gauge, range.last));
    });
  }
  return pack(raw);
}

Result<std::vector<GaugePort>> decode_gauges(std::span<const std::byte> data) {
  const auto raw = unpack(data, kLargestGauges);
  if (!raw) return tl::unexpected<Error>(raw.error());
  ByteReader reader(*raw);
  if (reader.byte() != kGaugeFormat) return damaged("has an unknown format");
  std::vector<GaugePort> ports(reader.byte() + std::size_t{1});
  std::size_t next = 0;
  while (!reader.at_end() && !reader.failed()) {
    const std::size_t i = reader.byte();
    if (i < next || i >= kPortGauges) return damaged("has an unknown gauge");
    next = i + 1;
    const auto gauge = static_cast<PortGauge>(i);
    std::vector<Code> last(ports.size());
    for (Code& code : last) code = reader.byte();
    std::vector<Code> below(ports.size());
    for (Code& code : below) code = reader.byte();
    for (std::size_t port = 0; port < ports.size(); ++port) {
      const Code above = reader.byte();
      const bool is_none = last[port] == 0 && below[port] == 0 && above == 0;
      if (!is_none && (below[port] >= last[port] || above > kLastCode - last[port]))
        return damaged("has a value that is none");
      if (is_none) continue;
      ports[port].present = static_cast<std::uint8_t>(ports[port].present | 1U << i);
      ports[port].ranges[i] = {from_code(gauge, last[port]),
                               from_code(gauge, static_cast<Code>(last[port] - below[port])),
                               from_code(gauge, static_cast<Code>(last[port] + above))};
    }
  }
  if (reader.failed()) return damaged("is cut short");
  return ports;
}

}  // namespace weft::store
