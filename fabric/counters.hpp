// SPDX-License-Identifier: Apache-2.0
#pragma once
// The counter catalogue: one table that decoders, rates, metric names, help texts and documentation all read.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace weft {

/// Counters of a port under their canonical names. The order is the order of the catalogue.
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

/// What a number counts, after the decoder's one conversion.
enum class CounterUnit : std::uint8_t {
  kBytes,    ///< bytes; the wire's 4-byte words are already multiplied
  kPackets,  ///<
  kEvents,   ///< errors, discards, transitions, blocks, symbols
  kTicks,    ///< waits in ticks of the port (SampleTable::tick_seconds gives the length)
};

/// What a counter does at its top. InfiniBand counters stick (vol. 1, 16.1.3.5); host counters may wrap.
enum class CounterBehaviour : std::uint8_t { kSticks, kWraps, kGauge };

/// How often the sweep reads it.
enum class CounterGroup : std::uint8_t {
  kEverySweep,  ///< PortCounters and PortCountersExtended
  kDetail,      ///< read when its parent counter moved, and once a detail interval
};

/// One row of the catalogue: name, width and meaning of a counter.
struct CounterInfo {
  CounterId id;
  std::string_view name;  ///< "symbol_errors": the metric is weft_port_<name>_total
  CounterUnit unit;
  std::uint8_t narrow_bits;  ///< width in the classic attribute: 4, 8, 16 or 32; it sticks there
  std::uint8_t wide_bits;    ///< width in the extended attribute: 64, or 0 where there is none
  CounterBehaviour behaviour;
  CounterGroup group;
  std::uint8_t instances;           ///< 1, or 16 virtual lanes, or 12 lanes
  std::string_view instance_label;  ///< "" or "vl" or "lane": the extra metric label
  bool is_error;                    ///< any movement is worth a look (discards and errors; not traffic, not waits)
  std::string_view help;            ///< one sentence for people and for # HELP
};

/// The whole catalogue, in the order of CounterId.
std::span<const CounterInfo, kCounterCount> counter_catalogue();
/// The catalogue's row of `id`, which must not be kCount.
const CounterInfo& counter_info(CounterId id);
/// The counter of that canonical name, or nullptr.
const CounterInfo* find_counter(std::string_view name);

}  // namespace weft
