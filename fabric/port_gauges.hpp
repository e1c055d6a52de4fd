// SPDX-License-Identifier: Apache-2.0
#pragma once
// What goes up and down at a port and is kept over time: optical power, laser bias and temperature of its module, as
// the collector beside the port reads them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/counters.hpp"
#include "fabric/host.hpp"
#include "fabric/topology.hpp"

namespace weft {

/// The gauges of a port that history keeps. Of a module with several lanes: the power of the weakest lane, and the bias
/// of the lane with the highest.
enum class PortGauge : std::uint8_t { kReceivePower, kTransmitPower, kLaserBias, kTemperature, kCount };
inline constexpr std::size_t kPortGauges = static_cast<std::size_t>(PortGauge::kCount);

/// The catalogue's row of the gauge, which must not be kCount: "module_receive_power" (nanowatts),
/// "module_transmit_power" (nanowatts), "module_bias" (microamperes), "module_temperature" (thousandths of a degree
/// Celsius).
const CounterInfo& gauge_info(PortGauge gauge);
/// The gauge of that canonical name; nullopt: history keeps none.
std::optional<PortGauge> find_port_gauge(std::string_view name);

/// The gauges of one port at one moment.
struct PortGauges {
  std::uint8_t present = 0;                        ///< bit i: PortGauge i was read
  std::array<std::int64_t, kPortGauges> values{};  ///< in the unit of gauge_info()
  /// The gauge was read.
  bool has(PortGauge gauge) const { return (present >> static_cast<unsigned>(gauge) & 1) != 0; }
  /// Its value, in the unit of gauge_info(); 0 where it was not read.
  std::int64_t value(PortGauge gauge) const { return values[static_cast<std::size_t>(gauge)]; }
  bool operator==(const PortGauges&) const = default;
};

/// All hosts and switches with a collector; null: there never was one.
using HostListPtr = std::shared_ptr<const std::vector<std::shared_ptr<const HostView>>>;

/// The gauges of each port of `topology`, by PortIndex; empty where no collector tells of any. A port is that of the
/// collector's device with the same port GUID, on Ethernet its interface of the same name on the host or switch of the
/// same name. A reading that is older than three of its collector's intervals says nothing of `now`.
std::vector<PortGauges> read_port_gauges(const Topology& topology, const HostListPtr& hosts, TimePoint now);

}  // namespace weft
