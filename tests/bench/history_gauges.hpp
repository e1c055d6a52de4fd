// SPDX-License-Identifier: Apache-2.0
#pragma once
// Optical power, bias and temperature of busy ports, for benchmarks of port history.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "daemon/adapters/store/gauge_codec.hpp"

namespace weft::store {

/// Modules of one make in a machine room: each differs from the next by its cable and its place in the airflow, is
/// measured with a little noise, and gets warmer and colder with its load and with the room.
class BusyGauges {
 public:
  BusyGauges(std::uint64_t seed, std::size_t ports) : random_(seed), middle_(ports), before_(ports) {
    for (auto& port : middle_)
      for (double& gauge : port) gauge = normal_(random_);
  }

  /// The next five minutes, as differences to those before; whole where that is wanted.
  std::vector<std::byte> next(bool whole) {
    room_ = 0.98 * room_ + 0.1 * normal_(random_);
    std::vector<GaugeCodes> row(middle_.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      GaugePort port;
      port.present = (1U << kPortGauges) - 1;
      double& load = middle_[i][kPortGauges];
      load = 0.9 * load + 0.45 * normal_(random_);
      set(port, PortGauge::kReceivePower, -1.5 + 1.2 * middle_[i][0], 0.04, nanowatts);
      set(port, PortGauge::kTransmitPower, 0.5 + 0.6 * middle_[i][1], 0.02, nanowatts);
      set(port, PortGauge::kLaserBias, 7.2 + 0.4 * middle_[i][2], 0.03, thousandths);
      set(port, PortGauge::kTemperature, 48 + 5 * middle_[i][3] + load + 2 * room_, 0.3, thousandths);
      row[i] = to_codes(port, before_[i]);
    }
    auto packed = whole ? encode_gauges(row) : encode_gauges(row, before_);
    before_ = std::move(row);
    return packed;
  }

 private:
  static std::int64_t nanowatts(double dbm) { return std::llround(1e6 * std::pow(10, dbm / 10)); }
  static std::int64_t thousandths(double value) { return std::llround(1000 * value); }
  void set(GaugePort& port, PortGauge gauge, double value, double noise, std::int64_t (*of)(double)) {
    std::array<double, 5> read{};
    for (double& each : read) each = value + noise * normal_(random_);
    port.ranges[static_cast<std::size_t>(gauge)] = {of(read.back()), of(*std::ranges::min_element(read)),
                                                    of(*std::ranges::max_element(read))};
  }

  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::vector<std::array<double, kPortGauges + 1>> middle_;
  std::vector<GaugeCodes> before_;
  double room_ = 0;
};

}  // namespace weft::store
