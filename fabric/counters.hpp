// SPDX-License-Identifier: Apache-2.0
#pragma once
// The counter catalogue: one table that decoders, collectors, rates, metric names, help texts and documentation all
// read. It has one row for each name, whoever reads it: the sweep of a subnet, a collector on a host, or both.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weft {

/// Counters that the sweep reads from a port. The order is that of the first rows of the catalogue.
enum class CounterId : std::uint8_t {
  // PortCounters and PortCountersExtended (vol. 1, 16.1.3.5 and 16.1.4.11)
  kTransmitBytes,
  kReceiveBytes,
  kTransmitPackets,
  kReceivePackets,
  kUnicastTransmitPackets,
  kUnicastReceivePackets,
  kMulticastTransmitPackets,
  kMulticastReceivePackets,
  kTransmitWait,
  kSymbolErrors,
  kLinkErrorRecovery,
  kLinkDowned,
  kReceiveErrors,
  kReceiveRemotePhysicalErrors,
  kReceiveSwitchRelayErrors,
  kTransmitDiscards,
  kTransmitConstraintErrors,
  kReceiveConstraintErrors,
  kLocalLinkIntegrityErrors,
  kExcessiveBufferOverrunErrors,
  kQp1Dropped,
  kVl15Dropped,
  // PortRcvErrorDetails (16.1.4.1)
  kLocalPhysicalErrors,
  kMalformedPacketErrors,
  kBufferOverrunErrors,
  kDlidMappingErrors,
  kVlMappingErrors,
  kLoopingErrors,
  // PortXmitDiscardDetails (16.1.4.2)
  kInactiveDiscards,
  kNeighborMtuDiscards,
  kSwitchLifetimeDiscards,
  kHeadOfQueueLifetimeDiscards,
  // PortFlowCtlCounters (16.1.4.4)
  kTransmitFlowControlPackets,
  kReceiveFlowControlPackets,
  // PortVLXmitWaitCounters (16.1.4.9), one for each virtual lane
  kVirtualLaneTransmitWait,
  // PortExtendedSpeedsCounters and its RS-FEC form (16.1.4.12), some for each lane
  kSyncHeaderErrors,
  kUnknownBlocks,
  kLaneErrorsDetected,
  kFecCorrectableBlocks,
  kFecUncorrectableBlocks,
  kRsFecCorrectableBlocks,
  kRsFecUncorrectableBlocks,
  kRsFecCorrectedSymbols,
  kCount,
};
inline constexpr std::size_t kCounterCount = static_cast<std::size_t>(CounterId::kCount);

/// What a number counts, after the reader's one conversion. Metrics convert to base units (seconds, degrees Celsius,
/// watts, amperes, volts, ratios); see base_value().
enum class CounterUnit : std::uint8_t {
  kEvents,  ///< errors, discards, transitions, blocks, symbols
  kPackets,
  kFrames,
  kBytes,  ///< the wire's 4-byte words are already multiplied
  kBits,
  kMicroseconds,
  kTicks,         ///< waits in ticks of the InfiniBand port (Port::wait_tick_seconds gives the length)
  kPercent,       ///< of the last second
  kMilliCelsius,  ///< signed
  kNanowatts,     ///< optical power
  kMicroamperes,  ///< laser bias
  kMicrovolts,    ///< signed
  kState,         ///< 0 or 1, or a number that the help text explains
};
const char* to_string(CounterUnit unit);  ///< "bytes", "thousandths of a degree Celsius": for people and the API
/// Whether values of that unit are two's complement.
bool is_signed(CounterUnit unit);
/// A value in the base unit of its metric: microseconds to seconds, nanowatts to watts. Ticks stay ticks: only the port
/// knows their length.
double base_value(CounterUnit unit, std::uint64_t value);

/// What a counter does at its top. InfiniBand counters stick (vol. 1, 16.1.3.5); host counters may wrap.
enum class CounterBehaviour : std::uint8_t { kSticks, kWraps, kGauge };

/// How often the sweep reads it.
enum class CounterGroup : std::uint8_t {
  kEverySweep,  ///< PortCounters and PortCountersExtended
  kDetail,      ///< read when its parent counter moved, and once a detail interval
  kNotSwept,    ///< no MAD carries it
};

/// Under which metric a counter is shown.
enum class CounterFamily : std::uint8_t {
  kPort,       ///< weft_port_<name>[_<unit>][_total]
  kRdmaError,  ///< weft_rdma_errors_total{error="<name>"}
};

/// Who counts a quantity of a port, where several do so at different places. Labels tell them apart; they are no parts
/// of one sum.
enum class CounterSource : std::uint8_t {
  kUnknown,  ///< one source alone counts it, or the collector is of a version that does not tell
  kSweep,    ///< the port itself, read in-band
  kRdma,     ///< the RDMA device, read on its host: sysfs, RDMA netlink
  kNetdev,   ///< the network interface, read on its host: statistics of its driver and of the kernel
};
const char* to_string(CounterSource source);  ///< "", "sweep", "rdma", "netdev": the value of the label source

/// One row of the catalogue: name, meaning, and how it is read.
struct CounterInfo {
  std::string_view name;  ///< canonical: "symbol_errors", "pfc_frames"
  CounterUnit unit = CounterUnit::kEvents;
  CounterFamily family = CounterFamily::kPort;
  bool is_error = false;  ///< any movement is worth a look (discards and errors; not traffic, not waits)
  bool is_gauge = false;
  bool by_source = false;  ///< has the label source: no source hides another

  // Where a collector reads it on a host.
  bool on_hosts = false;      ///< a collector may read it
  bool by_priority = false;   ///< has the label priority (IEEE 802.1Q priority code point, 0..7)
  bool by_direction = false;  ///< has the label direction: "transmit" or "receive"
  bool by_lane = false;       ///< has the label lane (of an optical module or of a FEC engine, from 0)

  // Where a MAD carries it.
  CounterId id = CounterId::kCount;  ///< kCount where none does
  CounterGroup group = CounterGroup::kNotSwept;
  std::uint8_t narrow_bits = 0;          ///< width in the classic attribute: 4, 8, 16 or 32; it sticks there
  std::uint8_t wide_bits = 0;            ///< width in the extended attribute: 64, or 0 where there is none
  std::uint8_t instances = 1;            ///< 1, or 16 virtual lanes, or 12 lanes
  std::string_view instance_label = {};  ///< "" or "vl" or "lane": the extra metric label

  std::string_view help;  ///< one sentence for people and for # HELP, right for all who read it; no \ and line ends

  /// Whether the sweep reads it; then `id` is its own.
  bool is_swept() const { return id != CounterId::kCount; }
  /// Whether a series of it says nothing while it never moved: errors and events, and what is counted for each lane,
  /// priority or direction. Not traffic and waits of a whole port: people add and divide those.
  bool is_left_out_at_zero() const {
    return !is_gauge &&
           (is_error || unit == CounterUnit::kEvents || instances > 1 || by_priority || by_direction || by_lane);
  }
};

/// The whole catalogue: first swept_counters(), then the rest in the order in which it is shown.
std::span<const CounterInfo> counter_catalogue();
/// The rows that the sweep reads, in the order of CounterId.
std::span<const CounterInfo, kCounterCount> swept_counters();
/// The catalogue's row of `id`, which must not be kCount.
const CounterInfo& counter_info(CounterId id);
/// The row of that canonical name, or nullptr. It compares name after name.
const CounterInfo* find_counter(std::string_view name);
/// The metric's full name: "weft_port_symbol_errors_total", "weft_port_transmit_wait_seconds_total",
/// "weft_port_module_temperature_celsius", "weft_rdma_errors_total".
std::string metric_name(const CounterInfo& info);

}  // namespace weft
