// SPDX-License-Identifier: Apache-2.0
#include "fabric/host_counters.hpp"

#include <algorithm>
#include <array>

namespace weft {
namespace {

constexpr auto kPort = HostFamily::kPort;
constexpr auto kRdmaError = HostFamily::kRdmaError;

constexpr HostCounterInfo counter(std::string_view name, HostUnit unit, bool is_error, std::string_view help) {
  return {name, kPort, unit, false, false, false, false, is_error, help};
}
constexpr HostCounterInfo by_direction(std::string_view name, HostUnit unit, bool by_priority, std::string_view help) {
  return {name, kPort, unit, false, by_priority, true, false, false, help};
}
constexpr HostCounterInfo gauge(std::string_view name, HostUnit unit, bool by_lane, std::string_view help) {
  return {name, kPort, unit, true, false, false, by_lane, false, help};
}
constexpr HostCounterInfo rdma(std::string_view name, std::string_view help) {
  return {name, kRdmaError, HostUnit::kEvents, false, false, false, false, true, help};
}

// Meanings: Documentation/ABI/stable/sysfs-class-infiniband for counters/, the drivers' counter documents for the rest
// (NVIDIA "Understanding mlx5 ethtool counters", Documentation/networking/ethtool-netlink.rst, linux/dcbnl.h).
constexpr auto kHostCatalogue = std::to_array<HostCounterInfo>({
    counter("transmit_bytes", HostUnit::kBytes, false, "Bytes sent."),
    counter("receive_bytes", HostUnit::kBytes, false, "Bytes received."),
    counter("transmit_packets", HostUnit::kPackets, false, "Packets sent."),
    counter("receive_packets", HostUnit::kPackets, false, "Packets received."),
    counter("unicast_transmit_packets", HostUnit::kPackets, false, "Unicast packets sent."),
    counter("unicast_receive_packets", HostUnit::kPackets, false, "Unicast packets received."),
    counter("multicast_transmit_packets", HostUnit::kPackets, false, "Multicast packets sent."),
    counter("multicast_receive_packets", HostUnit::kPackets, false, "Multicast packets received."),
    counter("transmit_wait", HostUnit::kTicks, false, "Ticks in which the port had data to send but no credit."),
    counter("symbol_errors", HostUnit::kEvents, true, "Minor link errors seen on the physical lanes."),
    counter("link_error_recovery", HostUnit::kEvents, true, "Times the link completed the error recovery process."),
    counter("link_downed", HostUnit::kEvents, true, "Times the link failed error recovery and went down."),
    counter("receive_errors", HostUnit::kEvents, true, "Packets received with an error."),
    counter("transmit_errors", HostUnit::kEvents, true, "Packets that could not be sent because of an error."),
    counter("receive_remote_physical_errors", HostUnit::kEvents, true,
            "Packets received that were already marked bad."),
    counter("receive_switch_relay_errors", HostUnit::kEvents, true, "Packets that could not be forwarded."),
    counter("receive_discards", HostUnit::kPackets, true, "Packets dropped on arrival for lack of buffers."),
    counter("transmit_discards", HostUnit::kPackets, true, "Packets dropped before they were sent."),
    {"priority_receive_discards", kPort, HostUnit::kPackets, false, true, false, false, true,
     "Packets of one priority dropped on arrival."},
    counter("transmit_constraint_errors", HostUnit::kEvents, true, "Packets not sent by partition or raw filters."),
    counter("receive_constraint_errors", HostUnit::kEvents, true,
            "Packets discarded on arrival by partition or raw filters."),
    counter("local_link_integrity_errors", HostUnit::kEvents, true,
            "Times local physical errors exceeded the threshold."),
    counter("excessive_buffer_overrun_errors", HostUnit::kEvents, true, "Times buffer overruns persisted."),
    counter("vl15_dropped", HostUnit::kEvents, true, "Subnet management packets dropped for lack of buffers."),
    counter("carrier_up", HostUnit::kEvents, false, "Times the interface gained its carrier."),
    counter("carrier_down", HostUnit::kEvents, true, "Times the interface lost its carrier."),
    counter("link_down_events", HostUnit::kEvents, true, "Times the physical link went down, as the adapter counts."),
    counter("crc_errors", HostUnit::kFrames, true, "Frames received with a bad check sequence."),
    counter("physical_symbol_errors", HostUnit::kEvents, true, "Symbols received that are not valid code."),
    // Not "bits": promtool wants what is counted in bits to be counted in bytes.
    counter("fec_corrected_bit_errors", HostUnit::kBits, false,
            "Bits corrected by forward error correction: normal with PAM4."),
    counter("fec_corrected_blocks", HostUnit::kBlocks, false, "Blocks corrected by forward error correction."),
    counter("fec_uncorrectable_blocks", HostUnit::kBlocks, true,
            "Blocks that forward error correction could not correct."),
    {"fec_lane_corrected_bit_errors", kPort, HostUnit::kBits, false, false, false, true, false,
     "Bits of one lane corrected by forward error correction."},
    counter("cnp_sent", HostUnit::kPackets, false,
            "Congestion notification packets sent, after packets with an ECN mark arrived."),
    counter("cnp_handled", HostUnit::kPackets, false, "Congestion notification packets received and obeyed."),
    counter("cnp_ignored", HostUnit::kPackets, true, "Congestion notification packets received and not obeyed."),
    counter("ecn_marked_packets", HostUnit::kPackets, false,
            "RoCE packets received with the congestion experienced mark."),
    by_direction("pfc_frames", HostUnit::kFrames, true, "Priority flow control frames (IEEE 802.1Qbb)."),
    {"pfc_enabled", kPort, HostUnit::kState, true, true, false, false, false,
     "1 for a priority with priority flow control enabled."},
    by_direction("pfc_pause", HostUnit::kMicroseconds, true, "Time that a priority was paused."),
    by_direction("pause_frames", HostUnit::kFrames, false, "Pause frames of the whole link (IEEE 802.3x)."),
    by_direction("pause", HostUnit::kMicroseconds, false, "Time that the whole link was paused."),
    counter("pause_storm_warnings", HostUnit::kEvents, true, "Times the adapter stalled beyond its warning limit."),
    counter("pause_storm_errors", HostUnit::kEvents, true,
            "Times the adapter stalled so long that it stopped pausing."),
    gauge("pcie_read_stall", HostUnit::kPercent, false, "Share of the last second in which PCIe reads were stalled."),
    gauge("pcie_write_stall", HostUnit::kPercent, false, "Share of the last second in which PCIe writes were stalled."),
    counter("pcie_read_stall_events", HostUnit::kEvents, true, "Seconds in which PCIe reads stalled beyond the limit."),
    counter("pcie_write_stall_events", HostUnit::kEvents, true,
            "Seconds in which PCIe writes stalled beyond the limit."),
    counter("pcie_buffer_overflows", HostUnit::kPackets, true,
            "Packets dropped because PCIe did not drain the buffer."),
    gauge("signal_quality_index", HostUnit::kState, false,
          "Signal quality index of the link from its PHY, from 0 to the PHY's maximum."),
    gauge("module_temperature", HostUnit::kMilliCelsius, false, "Temperature of the optical module or cable."),
    gauge("module_supply", HostUnit::kMicrovolts, false, "Supply voltage of the module."),
    gauge("module_transmit_power", HostUnit::kNanowatts, true, "Optical power sent on one lane."),
    gauge("module_receive_power", HostUnit::kNanowatts, true, "Optical power received on one lane."),
    gauge("module_bias", HostUnit::kMicroamperes, true, "Laser bias current of one lane."),
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
    rdma("slow_restart", "Times a queue pair restarted slowly after a loss."),
    rdma("request_completion_error", "Requests that ended with an error."),
    rdma("response_completion_error", "Responses that ended with an error."),
    rdma("remote_access_error", "Requests refused by the peer's memory protection."),
    rdma("local_length_error", "Requests whose length did not fit."),
    rdma("remote_invalid_request", "Requests that the peer found invalid."),
    rdma("send_error", "Packets that the driver could not send."),
    rdma("receive_drop", "RDMA packets dropped on arrival."),
    rdma("read_write_error", "RDMA reads or writes that failed."),
});

std::string_view unit_suffix(HostUnit unit) {
  switch (unit) {
    case HostUnit::kMicroseconds:
    case HostUnit::kTicks:
      return "_seconds";
    case HostUnit::kPercent:
      return "_ratio";
    case HostUnit::kMilliCelsius:
      return "_celsius";
    case HostUnit::kNanowatts:
      return "_watts";
    case HostUnit::kMicroamperes:
      return "_amperes";
    case HostUnit::kMicrovolts:
      return "_volts";
    default:
      return "";
  }
}

}  // namespace

std::span<const HostCounterInfo> host_counter_catalogue() {
  return kHostCatalogue;
}

const HostCounterInfo* find_host_counter(std::string_view name) {
  const auto found = std::ranges::find(kHostCatalogue, name, &HostCounterInfo::name);
  return found == kHostCatalogue.end() ? nullptr : &*found;
}

std::string host_metric_name(const HostCounterInfo& info) {
  if (info.family == HostFamily::kRdmaError) return "weft_rdma_errors_total";
  std::string name = "weft_port_" + std::string(info.name);
  name += unit_suffix(info.unit);
  if (!info.is_gauge) name += "_total";
  return name;
}

double host_metric_value(HostUnit unit, std::uint64_t value) {
  const auto whole = static_cast<double>(value);
  const auto with_sign = static_cast<double>(static_cast<std::int64_t>(value));
  switch (unit) {
    case HostUnit::kMicroseconds:
    case HostUnit::kMicroamperes:
      return whole / 1e6;
    case HostUnit::kMicrovolts:
      return with_sign / 1e6;
    case HostUnit::kPercent:
      return whole / 100;
    case HostUnit::kMilliCelsius:
      return with_sign / 1e3;
    case HostUnit::kNanowatts:
      return whole / 1e9;
    default:
      return whole;
  }
}

}  // namespace weft
