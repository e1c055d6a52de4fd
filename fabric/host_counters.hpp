// SPDX-License-Identifier: Apache-2.0
#pragma once
// The catalogue of what a host's collector reads: canonical names that driver tables, metric names and rules all use.
// The counters of an InfiniBand port that sysfs also shows keep the names of fabric/counters.hpp and are found here
// too.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weft {

/// What a value of a host is measured in, as the collector hands it on. Metrics convert to base units (seconds, bytes,
/// degrees Celsius, watts, amperes, volts, ratios); kEvents and kPackets stay as they are.
enum class HostUnit : std::uint8_t {
  kEvents,
  kPackets,
  kFrames,
  kBytes,
  kBits,
  kBlocks,
  kMicroseconds,
  kTicks,         ///< transmit_wait of InfiniBand: ticks of the port
  kPercent,       ///< of the last second
  kMilliCelsius,  ///< signed
  kNanowatts,     ///< optical power
  kMicroamperes,  ///< laser bias
  kMicrovolts,
  kState,  ///< 0 or 1
};

/// Under which metric a counter is shown.
enum class HostFamily : std::uint8_t {
  kPort,       ///< weft_port_<name>[_<unit>][_total]
  kRdmaError,  ///< weft_rdma_errors_total{error="<name>"}
};

/// One row of the catalogue of host counters.
struct HostCounterInfo {
  std::string_view name;  ///< "cnp_sent", "pfc_frames"
  HostFamily family;
  HostUnit unit;
  bool is_gauge;
  bool by_priority;       ///< has the label priority (IEEE 802.1Q priority code point, 0..7)
  bool by_direction;      ///< has the label direction: "transmit" or "receive"
  bool by_lane;           ///< has the label lane (of an optical module or of a FEC engine, from 0)
  bool is_error;          ///< any movement is worth a look
  std::string_view help;  ///< one sentence for people and for # HELP, without \ and line ends
};

/// The whole catalogue, in the order in which it is shown.
std::span<const HostCounterInfo> host_counter_catalogue();
/// The entry of that canonical name, or nullptr.
const HostCounterInfo* find_host_counter(std::string_view name);
/// The metric's full name: "weft_port_pfc_frames_total", "weft_rdma_errors_total",
/// "weft_port_module_temperature_celsius".
std::string host_metric_name(const HostCounterInfo& info);
/// A value in the base unit of its metric: microseconds → seconds, nanowatts → watts. Signed units are read as such.
double host_metric_value(HostUnit unit, std::uint64_t value);

}  // namespace weft
