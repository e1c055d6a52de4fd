// SPDX-License-Identifier: Apache-2.0
#include "fabric/counters.hpp"

#include <algorithm>

namespace weft {
namespace {

using enum CounterId;
using enum CounterUnit;

/// A row of PortCounters and PortCountersExtended.
constexpr CounterInfo swept(CounterId id, std::string_view name, CounterUnit unit, std::uint8_t narrow_bits,
                            std::uint8_t wide_bits, bool is_error, std::string_view help) {
  CounterInfo info{.name = name, .unit = unit, .is_error = is_error, .id = id, .help = help};
  info.group = CounterGroup::kEverySweep;
  info.narrow_bits = narrow_bits;
  info.wide_bits = wide_bits;
  return info;
}
/// A row of an optional attribute.
constexpr CounterInfo detail(CounterId id, std::string_view name, CounterUnit unit, std::uint8_t bits, bool is_error,
                             std::string_view help, std::uint8_t instances = 1, std::string_view instance_label = "") {
  CounterInfo info = swept(id, name, unit, bits, 0, is_error, help);
  info.group = CounterGroup::kDetail;
  info.instances = instances;
  info.instance_label = instance_label;
  return info;
}
/// Collectors read it as well as the sweep.
constexpr CounterInfo both(CounterInfo info) {
  info.on_hosts = true;
  return info;
}
/// The RDMA device and the network interface count it too, each what it sees. (Of traffic the most trusted source is
/// shown alone: everybody adds traffic up.)
constexpr CounterInfo by_source(CounterInfo info) {
  info.by_source = true;
  return info;
}
constexpr CounterInfo counter(std::string_view name, CounterUnit unit, bool is_error, std::string_view help) {
  return {.name = name, .unit = unit, .is_error = is_error, .on_hosts = true, .help = help};
}
constexpr CounterInfo gauge(CounterInfo info) {
  info.is_gauge = true;
  return info;
}
constexpr CounterInfo by_priority(std::string_view name, CounterUnit unit, bool is_error, std::string_view help) {
  CounterInfo info = counter(name, unit, is_error, help);
  info.by_priority = true;
  return info;
}
constexpr CounterInfo by_direction(std::string_view name, CounterUnit unit, std::string_view help) {
  CounterInfo info = counter(name, unit, false, help);
  info.by_direction = true;
  return info;
}
constexpr CounterInfo by_priority_and_direction(std::string_view name, CounterUnit unit, std::string_view help) {
  CounterInfo info = by_direction(name, unit, help);
  info.by_priority = true;
  return info;
}
constexpr CounterInfo by_lane(std::string_view name, CounterUnit unit, std::string_view help) {
  CounterInfo info = counter(name, unit, false, help);
  info.by_lane = true;
  return info;
}
constexpr CounterInfo rdma(std::string_view name, std::string_view help) {
  CounterInfo info = counter(name, kEvents, true, help);
  info.family = CounterFamily::kRdmaError;
  return info;
}
/// Shown among the errors of RDMA, and none by itself.
constexpr CounterInfo rdma_event(std::string_view name, std::string_view help) {
  CounterInfo info = rdma(name, help);
  info.is_error = false;
  return info;
}

// Widths: vol. 1, tables of 16.1.3.5 (PortCounters), 16.1.4 (optional attributes); infiniband/mad.h names the same
// fields. Meanings on hosts: Documentation/ABI/stable/sysfs-class-infiniband for counters/, the drivers' counter
// documents for the rest (NVIDIA "Understanding mlx5 ethtool counters", Documentation/networking/ethtool-netlink.rst,
// linux/dcbnl.h).
constexpr auto kCatalogue = std::to_array<CounterInfo>({
    both(swept(kTransmitBytes, "transmit_bytes", kBytes, 32, 64, false,
               "Bytes sent, without the link packets of InfiniBand.")),
    both(swept(kReceiveBytes, "receive_bytes", kBytes, 32, 64, false,
               "Bytes received, without the link packets of InfiniBand.")),
    both(swept(kTransmitPackets, "transmit_packets", kPackets, 32, 64, false, "Packets sent.")),
    both(swept(kReceivePackets, "receive_packets", kPackets, 32, 64, false,
               "Packets received; on InfiniBand also those with errors.")),
    both(swept(kUnicastTransmitPackets, "unicast_transmit_packets", kPackets, 0, 64, false, "Unicast packets sent.")),
    both(swept(kUnicastReceivePackets, "unicast_receive_packets", kPackets, 0, 64, false, "Unicast packets received.")),
    both(swept(kMulticastTransmitPackets, "multicast_transmit_packets", kPackets, 0, 64, false,
               "Multicast packets sent.")),
    both(swept(kMulticastReceivePackets, "multicast_receive_packets", kPackets, 0, 64, false,
               "Multicast packets received.")),
    both(swept(kTransmitWait, "transmit_wait", kTicks, 32, 64, false,
               "Time during which the port had data to send but no credit.")),
    both(swept(kSymbolErrors, "symbol_errors", kEvents, 16, 64, true, "Minor link errors seen on the physical lanes.")),
    both(swept(kLinkErrorRecovery, "link_error_recovery", kEvents, 8, 64, true,
               "Times the link completed the error recovery process.")),
    both(
        swept(kLinkDowned, "link_downed", kEvents, 8, 64, true, "Times the link failed error recovery and went down.")),
    by_source(both(swept(kReceiveErrors, "receive_errors", kEvents, 16, 64, true,
                         "Packets received with an error, such as a bad CRC."))),
    both(swept(kReceiveRemotePhysicalErrors, "receive_remote_physical_errors", kEvents, 16, 64, true,
               "Packets received that were already marked bad (EBP): the fault is upstream of the peer.")),
    both(swept(kReceiveSwitchRelayErrors, "receive_switch_relay_errors", kEvents, 16, 64, true,
               "Packets the switch could not forward (unknown DLID, VL mapping, looping).")),
    by_source(both(swept(kTransmitDiscards, "transmit_discards", kEvents, 16, 64, true,
                         "Packets dropped before they were sent: the port was down or congested."))),
    both(swept(kTransmitConstraintErrors, "transmit_constraint_errors", kEvents, 8, 64, true,
               "Packets not sent by partition or raw filters.")),
    both(swept(kReceiveConstraintErrors, "receive_constraint_errors", kEvents, 8, 64, true,
               "Packets discarded on arrival by partition or raw filters.")),
    both(swept(kLocalLinkIntegrityErrors, "local_link_integrity_errors", kEvents, 4, 64, true,
               "Times local physical errors exceeded the port's threshold.")),
    both(swept(kExcessiveBufferOverrunErrors, "excessive_buffer_overrun_errors", kEvents, 4, 64, true,
               "Times buffer overruns persisted over several flow control periods.")),
    swept(kQp1Dropped, "qp1_dropped", kEvents, 16, 64, true, "Management packets for queue pair 1 that were dropped."),
    both(swept(kVl15Dropped, "vl15_dropped", kEvents, 16, 64, true,
               "Subnet management packets dropped for lack of buffers.")),
    detail(kLocalPhysicalErrors, "local_physical_errors", kEvents, 16, true,
           "Packets received with a physical error such as a bad CRC (part of receive_errors)."),
    detail(kMalformedPacketErrors, "malformed_packet_errors", kEvents, 16, true,
           "Packets received malformed (part of receive_errors)."),
    detail(kBufferOverrunErrors, "buffer_overrun_errors", kEvents, 16, true,
           "Packets lost to input buffer overruns (part of receive_errors)."),
    detail(kDlidMappingErrors, "dlid_mapping_errors", kEvents, 16, true,
           "Packets whose destination LID has no forwarding entry (part of receive_switch_relay_errors)."),
    detail(kVlMappingErrors, "vl_mapping_errors", kEvents, 16, true,
           "Packets whose virtual lane could not be mapped (part of receive_switch_relay_errors)."),
    detail(kLoopingErrors, "looping_errors", kEvents, 16, true,
           "Packets whose output port is their input port (part of receive_switch_relay_errors)."),
    detail(kInactiveDiscards, "inactive_discards", kEvents, 16, true,
           "Packets discarded because the port was not active (part of transmit_discards)."),
    detail(kNeighborMtuDiscards, "neighbor_mtu_discards", kEvents, 16, true,
           "Packets larger than the neighbour accepts (part of transmit_discards)."),
    detail(kSwitchLifetimeDiscards, "switch_lifetime_discards", kEvents, 16, true,
           "Packets that exceeded the switch lifetime limit (part of transmit_discards)."),
    detail(kHeadOfQueueLifetimeDiscards, "head_of_queue_lifetime_discards", kEvents, 16, true,
           "Packets that exceeded the head-of-queue lifetime limit (part of transmit_discards)."),
    detail(kTransmitFlowControlPackets, "transmit_flow_control_packets", kPackets, 32, false,
           "Flow control packets sent."),
    detail(kReceiveFlowControlPackets, "receive_flow_control_packets", kPackets, 32, false,
           "Flow control packets received."),
    detail(kVirtualLaneTransmitWait, "virtual_lane_transmit_wait", kTicks, 16, false,
           "Time during which this virtual lane had data to send but no credit.", 16, "vl"),
    detail(kSyncHeaderErrors, "sync_header_errors", kEvents, 16, true,
           "Blocks received with a bad synchronisation header on an extended-speed link."),
    detail(kUnknownBlocks, "unknown_blocks", kEvents, 16, true,
           "Blocks received with an unknown block type on an extended-speed link."),
    detail(kLaneErrorsDetected, "lane_errors_detected", kEvents, 16, true,
           "Errors detected on this lane of an extended-speed link.", 12, "lane"),
    detail(kFecCorrectableBlocks, "fec_correctable_blocks", kEvents, 32, false,
           "Blocks corrected by forward error correction on this lane.", 12, "lane"),
    both(detail(kFecUncorrectableBlocks, "fec_uncorrectable_blocks", kEvents, 32, true,
                "Blocks that forward error correction could not correct, of one lane where a lane is named.", 12,
                "lane")),
    detail(kRsFecCorrectableBlocks, "rs_fec_correctable_blocks", kEvents, 32, false,
           "Code words corrected by Reed-Solomon forward error correction."),
    detail(kRsFecUncorrectableBlocks, "rs_fec_uncorrectable_blocks", kEvents, 32, true,
           "Code words that Reed-Solomon forward error correction could not correct."),
    detail(kRsFecCorrectedSymbols, "rs_fec_corrected_symbols", kEvents, 32, false,
           "Symbols corrected by Reed-Solomon forward error correction on this lane.", 12, "lane"),

    // Only collectors read what follows.
    counter("transmit_errors", kEvents, true, "Packets that could not be sent because of an error."),
    counter("receive_discards", kPackets, true, "Packets dropped on arrival for lack of buffers."),
    by_priority("priority_receive_discards", kPackets, true, "Packets of one priority dropped on arrival."),
    by_priority("priority_buffer_discards", kPackets, true,
                "Packets of one priority dropped on arrival for lack of buffers (part of priority_receive_discards)."),
    by_priority("priority_congestion_discards", kPackets, true,
                "Packets of one priority dropped on arrival by the congestion rule of the adapter's buffer (part of "
                "priority_receive_discards)."),
    counter("carrier_up", kEvents, false, "Times the interface gained its carrier."),
    counter("carrier_down", kEvents, true, "Times the interface lost its carrier."),
    counter("link_down_events", kEvents, true, "Times the physical link went down, as the adapter counts."),
    counter("crc_errors", kFrames, true, "Frames received with a bad check sequence."),
    counter("physical_symbol_errors", kEvents, true, "Symbols received that are not valid code."),
    // Not "bits": promtool wants what is counted in bits to be counted in bytes.
    counter("fec_corrected_bit_errors", kBits, false, "Bits corrected by forward error correction: normal with PAM4."),
    counter("fec_corrected_blocks", kEvents, false, "Blocks corrected by forward error correction."),
    by_lane("fec_lane_corrected_bit_errors", kBits, "Bits of one lane corrected by forward error correction."),
    counter("cnp_sent", kPackets, false,
            "Congestion notification packets sent, after packets with an ECN mark arrived."),
    counter("cnp_handled", kPackets, false, "Congestion notification packets received and obeyed."),
    counter("cnp_ignored", kPackets, true, "Congestion notification packets received and not obeyed."),
    counter("ecn_marked_packets", kPackets, false, "RoCE packets received with the congestion experienced mark."),
    counter("ecn_marks_made", kPackets, false,
            "Packets that a switch gave the congestion experienced mark on their way out of the port."),
    counter("rdma_ecn_marked_packets", kPackets, false,
            "RoCE packets with the congestion experienced mark that passed the port, an optional counter."),
    counter(
        "rdma_cnp_received", kPackets, false,
        "Congestion notification packets that passed the port inwards, obeyed or not: an optional counter, or one of "
        "the whole device."),
    counter("rdma_cnp_sent", kPackets, false,
            "Congestion notification packets that passed the port outwards, an optional counter."),
    counter("rdma_transmit_bytes", kBytes, false, "Bytes sent by RDMA, an optional counter."),
    counter("rdma_receive_bytes", kBytes, false, "Bytes received by RDMA, an optional counter."),
    counter("rdma_transmit_packets", kPackets, false, "Packets sent by RDMA, an optional counter."),
    counter("rdma_receive_packets", kPackets, false, "Packets received by RDMA, an optional counter."),
    counter("retransmitted_bytes", kBytes, false, "Bytes that were sent again by RDMA."),
    by_priority_and_direction("pfc_frames", kFrames, "Priority flow control frames (IEEE 802.1Qbb)."),
    gauge(by_priority("pfc_enabled", kState, false, "1 for a priority with priority flow control enabled.")),
    by_priority_and_direction("pfc_pause", kMicroseconds, "Time that a priority was paused."),
    by_direction("pause_frames", kFrames, "Pause frames of the whole link (IEEE 802.3x)."),
    by_direction("pause", kMicroseconds, "Time that the whole link was paused."),
    counter("pause_storm_warnings", kEvents, true, "Times the adapter stalled beyond its warning limit."),
    counter("pause_storm_errors", kEvents, true, "Times the adapter stalled so long that it stopped pausing."),
    gauge(counter("pcie_read_stall", kPercent, false, "Share of the last second in which PCIe reads were stalled.")),
    gauge(counter("pcie_write_stall", kPercent, false, "Share of the last second in which PCIe writes were stalled.")),
    counter("pcie_read_stall_events", kEvents, true, "Seconds in which PCIe reads stalled beyond the limit."),
    counter("pcie_write_stall_events", kEvents, true, "Seconds in which PCIe writes stalled beyond the limit."),
    counter("pcie_buffer_overflows", kPackets, true, "Packets dropped because PCIe did not drain the buffer."),
    counter("pcie_correctable_errors", kEvents, true,
            "PCIe errors that were corrected, seen by the adapter or the port above it (AER)."),
    counter("pcie_nonfatal_errors", kEvents, true,
            "PCIe errors that cost a transaction, seen by the adapter or the port above it (AER)."),
    counter("pcie_fatal_errors", kEvents, true,
            "PCIe errors that cost the link, seen by the adapter or the port above it (AER)."),
    gauge(counter("adapter_temperature", kMilliCelsius, false, "Temperature of the adapter's chip.")),
    gauge(counter("signal_quality_index", kState, false,
                  "Signal quality index of the link from its PHY, from 0 to the PHY's maximum.")),
    counter("module_bus_stuck", kEvents, true, "Times the management bus of the module was found stuck."),
    counter("module_high_temperature", kEvents, true, "Times the module reported that it is too hot."),
    counter("module_shorted", kEvents, true, "Times the module or cable was found bad or shorted."),
    gauge(counter("module_temperature", kMilliCelsius, false, "Temperature of the optical module or cable.")),
    gauge(counter("module_supply", kMicrovolts, false, "Supply voltage of the module.")),
    gauge(by_lane("module_transmit_power", kNanowatts, "Optical power sent on one lane.")),
    gauge(by_lane("module_receive_power", kNanowatts, "Optical power received on one lane.")),
    gauge(by_lane("module_bias", kMicroamperes, "Laser bias current of one lane.")),

    // All errors of RDMA are one metric: they stay together at the end.
    rdma("out_of_sequence", "Packets that arrived out of order: something before them was lost."),
    rdma("sequence_nak", "Sequence NAKs received: the peer missed a packet."),
    rdma("implied_nak", "Acknowledgements that implied a lost packet."),
    rdma("ack_timeout", "Acknowledgement timeouts."),
    rdma("retransmit", "Packets or requests retransmitted."),
    rdma("retries_exhausted", "Times the retries of a queue pair were used up: it went into error."),
    rdma("rnr_nak", "Receiver-not-ready NAKs received: the peer had no receive request posted."),
    rdma("rnr_retries_exhausted", "Times the receiver-not-ready retries of a queue pair were used up."),
    rdma("out_of_buffer", "Packets dropped because no receive request was posted."),
    rdma("duplicate_request", "Duplicate requests received."),
    rdma("adaptive_retransmit", "Retransmissions by the adapter's adaptive rule."),
    rdma("adaptive_retransmit_timeout", "Timeouts of the adapter's adaptive retransmission."),
    rdma("slow_restart", "Times a queue pair restarted slowly after a loss."),
    rdma_event("slow_restart_cnp", "Congestion notification packets that slow restarts generated."),
    rdma_event("slow_restart_transition", "Times a queue pair went into slow restart."),
    rdma("request_completion_error", "Requests that ended with an error, flushed ones included."),
    rdma("response_completion_error", "Responses that ended with an error, flushed ones included."),
    rdma_event("request_flush", "Requests that were flushed with their queue pair: normal when a job ends."),
    rdma_event("response_flush", "Receive requests that were flushed with their queue pair: normal when a job ends."),
    rdma("remote_access_error", "Requests refused by the peer's memory protection."),
    rdma("response_access_error", "Requests of peers that this port's memory protection refused."),
    rdma("local_length_error", "Requests whose length did not fit."),
    rdma("local_protection_error", "Requests that this port's own memory protection refused."),
    rdma("local_operation_error", "Operations of queue pairs that failed in this port."),
    rdma("remote_invalid_request", "Requests that the peer found invalid."),
    rdma("remote_operation_error", "Requests that failed in the peer."),
    rdma("invalid_request", "Invalid requests received."),
    rdma("response_invalid_request", "Responses that refused a request as invalid."),
    rdma("response_operation_error", "Responses that said that an operation failed in this port."),
    rdma("out_of_atomic_resources", "Requests dropped for lack of resources for atomic operations."),
    rdma("sequence_nak_sent", "Sequence NAKs sent: this port missed a packet."),
    rdma("rnr_nak_sent", "Receiver-not-ready NAKs sent: this port had no receive request posted."),
    rdma("duplicate_response", "Duplicate responses received."),
    rdma("invalid_packet", "Responses received that are not valid."),
    rdma("icrc_error", "Packets with a bad invariant CRC: their data was damaged on its way, unseen by any link."),
    rdma("protocol_error", "Packets received that broke the protocol."),
    rdma("unresponsive_peer", "Times a peer did not respond."),
    rdma("impaired_connection", "Times a connection to a peer became impaired, which limits its rate."),
    rdma("send_error", "Packets that the driver could not send."),
    rdma("receive_drop", "RDMA packets dropped on arrival."),
    rdma("read_write_error", "RDMA reads or writes that failed."),
});

constexpr bool in_order() {
  for (std::size_t i = 0; i < kCatalogue.size(); ++i)
    if (static_cast<std::size_t>(kCatalogue[i].id) != std::min(i, kCounterCount)) return false;
  return true;
}
static_assert(in_order(), "swept counters are read by position");

/// What tells the units apart: the ending of a metric's name, and how many of the unit are one of the base unit.
struct UnitInfo {
  const char* name;
  std::string_view suffix;
  double of_base = 1;
  bool is_signed = false;
};
constexpr std::array<UnitInfo, static_cast<std::size_t>(kState) + 1> kUnits{{
    {"events", ""},
    {"packets", ""},
    {"frames", ""},
    {"bytes", ""},
    {"bits", ""},
    {"microseconds", "_seconds", 1e6},
    {"ticks", "_seconds"},
    {"percent", "_ratio", 100},
    {"thousandths of a degree Celsius", "_celsius", 1e3, true},
    {"nanowatts", "_watts", 1e9},
    {"microamperes", "_amperes", 1e6},
    {"microvolts", "_volts", 1e6, true},
    {"state", ""},
}};

constexpr const UnitInfo& unit_info(CounterUnit unit) {
  return kUnits[static_cast<std::size_t>(unit)];
}

}  // namespace

const char* to_string(CounterUnit unit) {
  return unit_info(unit).name;
}

bool is_signed(CounterUnit unit) {
  return unit_info(unit).is_signed;
}

double base_value(CounterUnit unit, std::uint64_t value) {
  const UnitInfo& info = unit_info(unit);
  return (info.is_signed ? static_cast<double>(static_cast<std::int64_t>(value)) : static_cast<double>(value)) /
         info.of_base;
}

const char* to_string(CounterSource source) {
  switch (source) {
    case CounterSource::kUnknown:
      break;
    case CounterSource::kSweep:
      return "sweep";
    case CounterSource::kRdma:
      return "rdma";
    case CounterSource::kNetdev:
      return "netdev";
  }
  return "";
}

std::span<const CounterInfo> counter_catalogue() {
  return kCatalogue;
}

std::span<const CounterInfo, kCounterCount> swept_counters() {
  return std::span(kCatalogue).first<kCounterCount>();
}

const CounterInfo& counter_info(CounterId id) {
  return kCatalogue[static_cast<std::size_t>(id)];
}

const CounterInfo* find_counter(std::string_view name) {
  const auto found = std::ranges::find(kCatalogue, name, &CounterInfo::name);
  return found == kCatalogue.end() ? nullptr : &*found;
}

std::string metric_name(const CounterInfo& info) {
  if (info.family == CounterFamily::kRdmaError) return "weft_rdma_errors_total";
  std::string name = "weft_port_" + std::string(info.name);
  name += unit_info(info.unit).suffix;
  if (!info.is_gauge) name += "_total";
  return name;
}

}  // namespace weft
