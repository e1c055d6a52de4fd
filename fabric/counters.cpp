// SPDX-License-Identifier: Apache-2.0
#include "fabric/counters.hpp"

namespace weft {
namespace {

using enum CounterId;
using enum CounterUnit;
using enum CounterGroup;
constexpr auto kStick = CounterBehaviour::kSticks;

// Widths: vol. 1, tables of 16.1.3.5 (PortCounters), 16.1.4 (optional attributes); infiniband/mad.h names the same
// fields.
constexpr std::array<CounterInfo, kCounterCount> kCatalogue{{
    {kTransmitBytes, "transmit_bytes", kBytes, 32, 64, kStick, kEverySweep, 1, "", false,
     "Bytes sent on all virtual lanes, link packets not included."},
    {kReceiveBytes, "receive_bytes", kBytes, 32, 64, kStick, kEverySweep, 1, "", false,
     "Bytes received on all virtual lanes, link packets not included."},
    {kTransmitPackets, "transmit_packets", kPackets, 32, 64, kStick, kEverySweep, 1, "", false,
     "Packets sent on all virtual lanes."},
    {kReceivePackets, "receive_packets", kPackets, 32, 64, kStick, kEverySweep, 1, "", false,
     "Packets received on all virtual lanes, packets with errors included."},
    {kUnicastTransmitPackets, "unicast_transmit_packets", kPackets, 0, 64, kStick, kEverySweep, 1, "", false,
     "Unicast packets sent."},
    {kUnicastReceivePackets, "unicast_receive_packets", kPackets, 0, 64, kStick, kEverySweep, 1, "", false,
     "Unicast packets received."},
    {kMulticastTransmitPackets, "multicast_transmit_packets", kPackets, 0, 64, kStick, kEverySweep, 1, "", false,
     "Multicast packets sent."},
    {kMulticastReceivePackets, "multicast_receive_packets", kPackets, 0, 64, kStick, kEverySweep, 1, "", false,
     "Multicast packets received."},
    {kTransmitWait, "transmit_wait", kTicks, 32, 64, kStick, kEverySweep, 1, "", false,
     "Time during which the port had data to send but no credit."},
    {kSymbolErrors, "symbol_errors", kEvents, 16, 64, kStick, kEverySweep, 1, "", true,
     "Minor link errors seen on the physical lanes."},
    {kLinkErrorRecovery, "link_error_recovery", kEvents, 8, 64, kStick, kEverySweep, 1, "", true,
     "Times the link completed the error recovery process."},
    {kLinkDowned, "link_downed", kEvents, 8, 64, kStick, kEverySweep, 1, "", true,
     "Times the link failed error recovery and went down."},
    {kReceiveErrors, "receive_errors", kEvents, 16, 64, kStick, kEverySweep, 1, "", true,
     "Packets received with an error (CRC, malformed, buffer overrun)."},
    {kReceiveRemotePhysicalErrors, "receive_remote_physical_errors", kEvents, 16, 64, kStick, kEverySweep, 1, "", true,
     "Packets received that were already marked bad (EBP): the fault is upstream of the peer."},
    {kReceiveSwitchRelayErrors, "receive_switch_relay_errors", kEvents, 16, 64, kStick, kEverySweep, 1, "", true,
     "Packets the switch could not forward (unknown DLID, VL mapping, looping)."},
    {kTransmitDiscards, "transmit_discards", kEvents, 16, 64, kStick, kEverySweep, 1, "", true,
     "Packets discarded because the port was down or congested."},
    {kTransmitConstraintErrors, "transmit_constraint_errors", kEvents, 8, 64, kStick, kEverySweep, 1, "", true,
     "Packets not sent by partition or raw filters."},
    {kReceiveConstraintErrors, "receive_constraint_errors", kEvents, 8, 64, kStick, kEverySweep, 1, "", true,
     "Packets discarded on arrival by partition or raw filters."},
    {kLocalLinkIntegrityErrors, "local_link_integrity_errors", kEvents, 4, 64, kStick, kEverySweep, 1, "", true,
     "Times local physical errors exceeded the port's threshold."},
    {kExcessiveBufferOverrunErrors, "excessive_buffer_overrun_errors", kEvents, 4, 64, kStick, kEverySweep, 1, "", true,
     "Times buffer overruns persisted over several flow control periods."},
    {kQp1Dropped, "qp1_dropped", kEvents, 16, 64, kStick, kEverySweep, 1, "", true,
     "Management packets for queue pair 1 that were dropped."},
    {kVl15Dropped, "vl15_dropped", kEvents, 16, 64, kStick, kEverySweep, 1, "", true,
     "Subnet management packets dropped for lack of buffers."},
    {kLocalPhysicalErrors, "local_physical_errors", kEvents, 16, 0, kStick, kDetail, 1, "", true,
     "Packets received with a physical error such as a bad CRC (part of receive_errors)."},
    {kMalformedPacketErrors, "malformed_packet_errors", kEvents, 16, 0, kStick, kDetail, 1, "", true,
     "Packets received malformed (part of receive_errors)."},
    {kBufferOverrunErrors, "buffer_overrun_errors", kEvents, 16, 0, kStick, kDetail, 1, "", true,
     "Packets lost to input buffer overruns (part of receive_errors)."},
    {kDlidMappingErrors, "dlid_mapping_errors", kEvents, 16, 0, kStick, kDetail, 1, "", true,
     "Packets whose destination LID has no forwarding entry (part of receive_switch_relay_errors)."},
    {kVlMappingErrors, "vl_mapping_errors", kEvents, 16, 0, kStick, kDetail, 1, "", true,
     "Packets whose virtual lane could not be mapped (part of receive_switch_relay_errors)."},
    {kLoopingErrors, "looping_errors", kEvents, 16, 0, kStick, kDetail, 1, "", true,
     "Packets whose output port is their input port (part of receive_switch_relay_errors)."},
    {kInactiveDiscards, "inactive_discards", kEvents, 16, 0, kStick, kDetail, 1, "", true,
     "Packets discarded because the port was not active (part of transmit_discards)."},
    {kNeighborMtuDiscards, "neighbor_mtu_discards", kEvents, 16, 0, kStick, kDetail, 1, "", true,
     "Packets larger than the neighbour accepts (part of transmit_discards)."},
    {kSwitchLifetimeDiscards, "switch_lifetime_discards", kEvents, 16, 0, kStick, kDetail, 1, "", true,
     "Packets that exceeded the switch lifetime limit (part of transmit_discards)."},
    {kHeadOfQueueLifetimeDiscards, "head_of_queue_lifetime_discards", kEvents, 16, 0, kStick, kDetail, 1, "", true,
     "Packets that exceeded the head-of-queue lifetime limit (part of transmit_discards)."},
    {kTransmitFlowControlPackets, "transmit_flow_control_packets", kPackets, 32, 0, kStick, kDetail, 1, "", false,
     "Flow control packets sent."},
    {kReceiveFlowControlPackets, "receive_flow_control_packets", kPackets, 32, 0, kStick, kDetail, 1, "", false,
     "Flow control packets received."},
    {kVirtualLaneTransmitWait, "virtual_lane_transmit_wait", kTicks, 16, 0, kStick, kDetail, 16, "vl", false,
     "Time during which this virtual lane had data to send but no credit."},
    {kSyncHeaderErrors, "sync_header_errors", kEvents, 16, 0, kStick, kDetail, 1, "", true,
     "Blocks received with a bad synchronisation header on an extended-speed link."},
    {kUnknownBlocks, "unknown_blocks", kEvents, 16, 0, kStick, kDetail, 1, "", true,
     "Blocks received with an unknown block type on an extended-speed link."},
    {kLaneErrorsDetected, "lane_errors_detected", kEvents, 16, 0, kStick, kDetail, 12, "lane", true,
     "Errors detected on this lane of an extended-speed link."},
    {kFecCorrectableBlocks, "fec_correctable_blocks", kEvents, 32, 0, kStick, kDetail, 12, "lane", false,
     "Blocks corrected by forward error correction on this lane."},
    {kFecUncorrectableBlocks, "fec_uncorrectable_blocks", kEvents, 32, 0, kStick, kDetail, 12, "lane", true,
     "Blocks that forward error correction could not correct on this lane."},
    {kRsFecCorrectableBlocks, "rs_fec_correctable_blocks", kEvents, 32, 0, kStick, kDetail, 1, "", false,
     "Code words corrected by Reed-Solomon forward error correction."},
    {kRsFecUncorrectableBlocks, "rs_fec_uncorrectable_blocks", kEvents, 32, 0, kStick, kDetail, 1, "", true,
     "Code words that Reed-Solomon forward error correction could not correct."},
    {kRsFecCorrectedSymbols, "rs_fec_corrected_symbols", kEvents, 32, 0, kStick, kDetail, 12, "lane", false,
     "Symbols corrected by Reed-Solomon forward error correction on this lane."},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kCounterCount; ++i)
    if (static_cast<std::size_t>(kCatalogue[i].id) != i) return false;
  return true;
}
static_assert(in_order(), "the catalogue is read by position");

}  // namespace

std::span<const CounterInfo, kCounterCount> counter_catalogue() {
  return kCatalogue;
}

const CounterInfo& counter_info(CounterId id) {
  return kCatalogue[static_cast<std::size_t>(id)];
}

const CounterInfo* find_counter(std::string_view name) {
  for (const CounterInfo& info : kCatalogue)
    if (info.name == name) return &info;
  return nullptr;
}

}  // namespace weft
