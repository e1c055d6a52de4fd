// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "collectors/ethernet/driver_statistics.hpp"

namespace weft::ethernet {
namespace {

constexpr auto kTransmit = Direction::kTransmit;
constexpr auto kReceive = Direction::kReceive;

constexpr DriverCounter line(std::string_view driver_name, std::string_view name, std::uint8_t bits = 64) {
  return {driver_name, name, Direction::kNone, NameIndex::kNone, bits};
}
constexpr DriverCounter way(std::string_view driver_name, std::string_view name, Direction direction,
                            NameIndex index = NameIndex::kNone) {
  return {driver_name, name, direction, index};
}
constexpr DriverCounter each(std::string_view driver_name, std::string_view name, NameIndex index) {
  return {driver_name, name, Direction::kNone, index};
}
constexpr DriverCounter gauge(std::string_view driver_name, std::string_view name) {
  return {driver_name, name, Direction::kNone, NameIndex::kNone, 64, CounterBehaviour::kGauge};
}
constexpr auto kPriority = NameIndex::kPriority;

// Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst. PFC pause durations are in microseconds.
constexpr auto kMlx5 = std::to_array<DriverCounter>({
    line("tx_bytes_phy", "transmit_bytes"),
    line("rx_bytes_phy", "receive_bytes"),
    line("tx_packets_phy", "transmit_packets"),
    line("rx_packets_phy", "receive_packets"),
    line("rx_discards_phy", "receive_discards"),
    line("tx_discards_phy", "transmit_discards"),
    line("tx_errors_phy", "transmit_errors"),
    line("rx_crc_errors_phy", "crc_errors"),
    line("rx_symbol_err_phy", "physical_symbol_errors"),
    line("rx_corrected_bits_phy", "fec_corrected_bit_errors"),
    line("rx_pcs_symbol_err_phy", "fec_uncorrectable_blocks"),
    each("rx_err_lane_#_phy", "fec_lane_corrected_bit_errors", NameIndex::kLane),
    line("link_down_events_phy", "link_down_events", 32),
    way("rx_prio#_pause", "pfc_frames", kReceive, kPriority),
    way("tx_prio#_pause", "pfc_frames", kTransmit, kPriority),
    way("rx_prio#_pause_duration", "pfc_pause", kReceive, kPriority),
    way("tx_prio#_pause_duration", "pfc_pause", kTransmit, kPriority),
    way("rx_global_pause", "pause_frames", kReceive),
    way("tx_global_pause", "pause_frames", kTransmit),
    way("rx_global_pause_duration", "pause", kReceive),
    way("tx_global_pause_duration", "pause", kTransmit),
    each("rx_prio#_discards", "priority_receive_discards", kPriority),
    each("rx_prio#_buf_discard", "priority_buffer_discards", kPriority),
    each("rx_prio#_cong_discard", "priority_congestion_discards", kPriority),
    line("module_bus_stuck", "module_bus_stuck"),
    line("module_high_temp", "module_high_temperature"),
    line("module_bad_shorted", "module_shorted"),
    line("tx_pause_storm_warning_events", "pause_storm_warnings"),
    line("tx_pause_storm_error_events", "pause_storm_errors"),
    gauge("outbound_pci_stalled_rd", "pcie_read_stall"),
    gauge("outbound_pci_stalled_wr", "pcie_write_stall"),
    line("outbound_pci_stalled_rd_events", "pcie_read_stall_events"),
    line("outbound_pci_stalled_wr_events", "pcie_write_stall_events"),
    line("outbound_pci_buffer_overflow", "pcie_buffer_overflows"),
});

// drivers/net/ethernet/mellanox/mlx4/en_ethtool.c
constexpr auto kMlx4 = std::to_array<DriverCounter>({
    way("rx_pause_prio_#", "pfc_frames", kReceive, kPriority),
    way("tx_pause_prio_#", "pfc_frames", kTransmit, kPriority),
    way("rx_pause_duration_prio_#", "pfc_pause", kReceive, kPriority),
    way("tx_pause_duration_prio_#", "pfc_pause", kTransmit, kPriority),
    way("rx_pause", "pause_frames", kReceive),
    way("tx_pause", "pause_frames", kTransmit),
    way("rx_pause_duration", "pause", kReceive),
    way("tx_pause_duration", "pause", kTransmit),
});

// drivers/net/ethernet/mellanox/mlxsw/spectrum_ethtool.c: a switch. Durations are those of the register PPCNT, as with
// mlx5.
constexpr auto kMlxsw = std::to_array<DriverCounter>({
    way("rx_pause_prio_#", "pfc_frames", kReceive, kPriority),
    way("tx_pause_prio_#", "pfc_frames", kTransmit, kPriority),
    way("rx_pause_duration_prio_#", "pfc_pause", kReceive, kPriority),
    way("tx_pause_duration_prio_#", "pfc_pause", kTransmit, kPriority),
    line("ecn_marked", "ecn_marks_made"),
});

// drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c. Discards are counted by class of service.
constexpr auto kBnxt = std::to_array<DriverCounter>({
    line("tx_bytes", "transmit_bytes"),
    line("rx_bytes", "receive_bytes"),
    line("tx_good_frames", "transmit_packets"),
    line("rx_good_frames", "receive_packets"),
    each("rx_discard_packets_cos#", "receive_discards", NameIndex::kSummed),
    line("rx_fcs_err_frames", "crc_errors"),
    line("rx_fec_corrected_blocks", "fec_corrected_blocks"),
    line("rx_fec_uncorrectable_blocks", "fec_uncorrectable_blocks"),
    line("link_down_events", "link_down_events"),
    way("rx_pfc_ena_frames_pri#", "pfc_frames", kReceive, kPriority),
    way("tx_pfc_ena_frames_pri#", "pfc_frames", kTransmit, kPriority),
    way("pfc_pri#_rx_duration_us", "pfc_pause", kReceive, kPriority),
    way("pfc_pri#_tx_duration_us", "pfc_pause", kTransmit, kPriority),
    way("rx_pause_frames", "pause_frames", kReceive),
    way("tx_pause_frames", "pause_frames", kTransmit),
    line("continuous_roce_pause_events", "pause_storm_warnings"),
});

// drivers/net/ethernet/intel/ice/ice_ethtool.c
constexpr auto kIce = std::to_array<DriverCounter>({
    line("tx_bytes.nic", "transmit_bytes"),
    line("rx_bytes.nic", "receive_bytes"),
    line("rx_dropped.nic", "receive_discards"),
    line("tx_dropped_link_down.nic", "transmit_discards"),
    line("rx_crc_errors.nic", "crc_errors"),
    line("illegal_bytes.nic", "physical_symbol_errors"),
    way("rx_priority_#_xoff.nic", "pfc_frames", kReceive, kPriority),
    way("tx_priority_#_xoff.nic", "pfc_frames", kTransmit, kPriority),
    way("link_xoff_rx.nic", "pause_frames", kReceive),
    way("link_xoff_tx.nic", "pause_frames", kTransmit),
});

// drivers/net/ethernet/intel/i40e/i40e_ethtool.c
constexpr auto kI40e = std::to_array<DriverCounter>({
    line("port.tx_bytes", "transmit_bytes"),
    line("port.rx_bytes", "receive_bytes"),
    line("port.rx_dropped", "receive_discards"),
    line("port.rx_crc_errors", "crc_errors"),
    line("port.illegal_bytes", "physical_symbol_errors"),
    way("port.rx_priority_#_xoff", "pfc_frames", kReceive, kPriority),
    way("port.tx_priority_#_xoff", "pfc_frames", kTransmit, kPriority),
    way("port.link_xoff_rx", "pause_frames", kReceive),
    way("port.link_xoff_tx", "pause_frames", kTransmit),
});

// drivers/net/ethernet/pensando/ionic/ionic_stats.c. PFC frames are counted for all priorities together.
constexpr auto kIonic = std::to_array<DriverCounter>({
    line("octets_tx_ok", "transmit_bytes"),
    line("octets_rx_ok", "receive_bytes"),
    line("frames_tx_ok", "transmit_packets"),
    line("frames_rx_ok", "receive_packets"),
    line("frames_rx_dropped", "receive_discards"),
    line("frames_rx_bad_fcs", "crc_errors"),
    way("frames_rx_pripause", "pfc_frames", kReceive),
    way("frames_tx_pripause", "pfc_frames", kTransmit),
    way("rx_pripause_#_1us_count", "pfc_pause", kReceive, kPriority),
    way("tx_pripause_#_1us_count", "pfc_pause", kTransmit, kPriority),
    way("frames_rx_pause", "pause_frames", kReceive),
    way("frames_tx_pause", "pause_frames", kTransmit),
    way("rx_pause_1us_count", "pause", kReceive),
    way("tx_pause_1us_count", "pause", kTransmit),
});

// drivers/net/ethernet/hisilicon/hns3/hns3pf/hclge_main.c
constexpr auto kHns3 = std::to_array<DriverCounter>({
    line("mac_tx_total_oct_num", "transmit_bytes"),
    line("mac_rx_total_oct_num", "receive_bytes"),
    line("mac_tx_total_pkt_num", "transmit_packets"),
    line("mac_rx_total_pkt_num", "receive_packets"),
    line("mac_rx_fcs_err_pkt_num", "crc_errors"),
    way("mac_rx_pfc_pri#_pkt_num", "pfc_frames", kReceive, kPriority),
    way("mac_tx_pfc_pri#_pkt_num", "pfc_frames", kTransmit, kPriority),
    way("mac_rx_pfc_pri#_xoff_time", "pfc_pause", kReceive, kPriority),
    way("mac_tx_pfc_pri#_xoff_time", "pfc_pause", kTransmit, kPriority),
    way("mac_rx_mac_pause_num", "pause_frames", kReceive),
    way("mac_tx_mac_pause_num", "pause_frames", kTransmit),
});

// drivers/net/ethernet/chelsio/cxgb4/cxgb4_ethtool.c pads its names with blanks.
constexpr auto kCxgb4 = std::to_array<DriverCounter>({
    line("tx_octets_ok", "transmit_bytes"),
    line("rx_octets_ok", "receive_bytes"),
    line("tx_frames_ok", "transmit_packets"),
    line("rx_frames_ok", "receive_packets"),
    line("rx_fcs_errors", "crc_errors"),
    line("rx_symbol_errors", "physical_symbol_errors"),
    each("rx_bg#_frames_dropped", "receive_discards", NameIndex::kSummed),
    way("rx_ppp#_frames", "pfc_frames", kReceive, kPriority),
    way("tx_ppp#_frames", "pfc_frames", kTransmit, kPriority),
    way("rx_pause_frames", "pause_frames", kReceive),
    way("tx_pause_frames", "pause_frames", kTransmit),
});

struct Driver {
  std::string_view name;
  std::span<const DriverCounter> table;
};
constexpr auto kDrivers = std::to_array<Driver>({
    {"mlx5_core", kMlx5},
    {"mlx4_en", kMlx4},
    {"mlxsw_spectrum", kMlxsw},
    {"mlxsw_spectrum2", kMlxsw},
    {"mlxsw_spectrum3", kMlxsw},
    {"mlxsw_spectrum4", kMlxsw},
    {"bnxt_en", kBnxt},
    {"ice", kIce},
    {"i40e", kI40e},
    {"ionic", kIonic},
    {"hns3", kHns3},
    {"cxgb4", kCxgb4},
});

}  // namespace

std::span<const DriverCounter> ethtool_table(std::string_view driver) {
  for (const Driver& known : kDrivers)
    if (known.name == driver) return known.table;
  return {};
}

}  // namespace weft::ethernet
