// SPDX-License-Identifier: Apache-2.0
#pragma once
// Optical power, bias and temperature of busy ports, for benchmarks of port history.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "daemon/adapters/store/gauge_codec.hpp"

namespace weft::store {

/// `ports` modules of one make in a machine room, of which each differs from the next by its cable and its place in the
/// airflow, and wanders a little within five minutes.
inline std::vector<std::byte> busy_gauges(std::mt19937_64& random, std::size_t ports) {
  std::normal_distribution<double> make, noise(0, 0.5);
  std::vector<GaugePort> chunk(ports);
  for (GaugePort& port : chunk) {
    port.present = (1U << kPortGauges) - 1;
    const auto set = [&](PortGauge gauge, double middle, double spread, double wander, const auto& value_of) {
      const double value = middle + spread * make(random);
      port.ranges[static_cast<std::size_t>(gauge)] = {value_of(value),
                                                      value_of(value - wander * std::abs(noise(random))),
                                                      value_of(value + wander * std::abs(noise(random)))};
    };
    const auto nanowatts = [](double dbm) { return std::llround(1e6 * std::pow(10, dbm / 10)); };
    const auto thousands = [](double value) { return std::llround(1000 * value); };
    set(PortGauge::kReceivePower, -1.5, 1.2, 0.1, nanowatts);
    set(PortGauge::kTransmitPower, 0.5, 0.6, 0.05, nanowatts);
    set(PortGauge::kLaserBias, 7.2, 0.4, 0.05, thousands);
    set(PortGauge::kTemperature, 48, 5, 0.5, thousands);
  }
  return encode_gauges(chunk);
}

}  // namespace weft::store
