// SPDX-License-Identifier: Apache-2.0
#include "collectors/rdma/driver_tables.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace weft::rdma {
namespace {

using enum CounterBehaviour;
constexpr auto kNoDirection = Direction::kNone;
constexpr auto kNoIndex = NameIndex::kNone;
constexpr std::uint32_t kBytesInWord = 4;

constexpr DriverCounter line(std::string_view driver_name, std::string_view name, std::uint8_t bits = 64,
                             CounterBehaviour behaviour = kWraps, std::uint32_t factor = 1) {
  return {driver_name, name, kNoDirection, kNoIndex, bits, behaviour, factor};
}
/// Virtual functions show it, too, and the same.
constexpr DriverCounter port_line(std::string_view driver_name, std::string_view name) {
  DriverCounter counter = line(driver_name, name);
  counter.of_whole_port = true;
  return counter;
}

// Widths are those of PortCounters and PortCountersExtended, which drivers/infiniband/core/sysfs.c shows; all of them
// stick (InfiniBand vol. 1, 16.1.3.5). Data is in words of four bytes.
constexpr auto kPortCounters = std::to_array<DriverCounter>({
    line("port_xmit_data", "transmit_bytes", 64, kSticks, kBytesInWord),
    line("port_rcv_data", "receive_bytes", 64, kSticks, kBytesInWord),
    line("port_xmit_packets", "transmit_packets", 64, kSticks),
    line("port_rcv_packets", "receive_packets", 64, kSticks),
    line("unicast_xmit_packets", "unicast_transmit_packets", 64, kSticks),
    line("unicast_rcv_packets", "unicast_receive_packets", 64, kSticks),
    line("multicast_xmit_packets", "multicast_transmit_packets", 64, kSticks),
    line("multicast_rcv_packets", "multicast_receive_packets", 64, kSticks),
    line("port_xmit_wait", "transmit_wait", 32, kSticks),
    line("symbol_error", "symbol_errors", 16, kSticks),
    line("link_error_recovery", "link_error_recovery", 8, kSticks),
    line("link_downed", "link_downed", 8, kSticks),
    line("port_rcv_errors", "receive_errors", 16, kSticks),
    line("port_rcv_remote_physical_errors", "receive_remote_physical_errors", 16, kSticks),
    line("port_rcv_switch_relay_errors", "receive_switch_relay_errors", 16, kSticks),
    line("port_xmit_discards", "transmit_discards", 16, kSticks),
    line("port_xmit_constraint_errors", "transmit_constraint_errors", 8, kSticks),
    line("port_rcv_constraint_errors", "receive_constraint_errors", 8, kSticks),
    line("local_link_integrity_errors", "local_link_integrity_errors", 4, kSticks),
    line("excessive_buffer_overrun_errors", "excessive_buffer_overrun_errors", 4, kSticks),
    line("VL15_dropped", "vl15_dropped", 16, kSticks),
});

// drivers/infiniband/hw/mlx5/counters.c: queue counters are 32 bit and wrap, congestion and optional ones are 64 bit.
// A flush is counted as an error of its completion, too. Optional counters ("rdma statistic set") see all packets of
// RDMA that pass the port, and so stand for themselves.
constexpr auto kMlx5 = std::to_array<DriverCounter>({
    line("out_of_buffer", "out_of_buffer", 32),
    line("out_of_sequence", "out_of_sequence", 32),
    line("duplicate_request", "duplicate_request", 32),
    line("rnr_nak_retry_err", "rnr_nak", 32),
    line("packet_seq_err", "sequence_nak", 32),
    line("implied_nak_seq_err", "implied_nak", 32),
    line("local_ack_timeout_err", "ack_timeout", 32),
    line("resp_local_length_error", "local_length_error", 32),
    line("resp_cqe_error", "response_completion_error", 32),
    line("req_cqe_error", "request_completion_error", 32),
    line("resp_cqe_flush_error", "response_flush", 32),
    line("req_cqe_flush_error", "request_flush", 32),
    line("req_remote_invalid_request", "remote_invalid_request", 32),
    line("req_remote_access_errors", "remote_access_error", 32),
    line("resp_remote_access_errors", "response_access_error", 32),
    line("req_transport_retries_exceeded", "retries_exhausted", 32),
    line("req_rnr_retries_exceeded", "rnr_retries_exhausted", 32),
    line("roce_adp_retrans", "adaptive_retransmit", 32),
    line("roce_adp_retrans_to", "adaptive_retransmit_timeout", 32),
    line("roce_slow_restart", "slow_restart", 32),
    line("roce_slow_restart_cnps", "slow_restart_cnp", 32),
    line("roce_slow_restart_trans", "slow_restart_transition", 32),
    port_line("rx_icrc_encapsulated", "icrc_error"),
    port_line("np_cnp_sent", "cnp_sent"),
    port_line("rp_cnp_handled", "cnp_handled"),
    port_line("rp_cnp_ignored", "cnp_ignored"),
    port_line("np_ecn_marked_roce_packets", "ecn_marked_packets"),
    line("cc_rx_ce_pkts", "rdma_ecn_marked_packets"),
    line("cc_rx_cnp_pkts", "rdma_cnp_received"),
    line("cc_tx_cnp_pkts", "rdma_cnp_sent"),
    line("rdma_tx_bytes", "rdma_transmit_bytes"),
    line("rdma_rx_bytes", "rdma_receive_bytes"),
    line("rdma_tx_packets", "rdma_transmit_packets"),
    line("rdma_rx_packets", "rdma_receive_packets"),
});

// drivers/infiniband/hw/mlx4/main.c, diag counters: 32 bit; rq is the responder's side, sq the requester's.
constexpr auto kMlx4 = std::to_array<DriverCounter>({
    line("rq_num_oos", "out_of_sequence", 32),
    line("sq_num_oos", "sequence_nak", 32),
    line("sq_num_to", "ack_timeout", 32),
    line("sq_num_tree", "retries_exhausted", 32),
    line("sq_num_rree", "rnr_retries_exhausted", 32),
    line("sq_num_rnr", "rnr_nak", 32),
    line("rq_num_dup", "duplicate_request", 32),
    line("sq_num_rire", "remote_invalid_request", 32),
    line("sq_num_rae", "remote_access_error", 32),
    line("rq_num_lle", "local_length_error", 32),
    line("rq_num_wrfe", "response_flush", 32),
    line("sq_num_wrfe", "request_flush", 32),
    line("rq_num_rae", "response_access_error", 32),
    line("sq_num_roe", "remote_operation_error", 32),
});

// drivers/infiniband/hw/bnxt_re/hw_counters.c. Kernel 6.18 (ef56081d1864) renamed many; a kernel has one spelling.
constexpr auto kBnxtRe = std::to_array<DriverCounter>({
    line("tx_bytes", "transmit_bytes"),
    line("rx_bytes", "receive_bytes"),
    line("tx_pkts", "transmit_packets"),
    line("rx_pkts", "receive_packets"),
    line("rx_roce_errors", "receive_errors"),
    line("rx_roce_discards", "receive_drop"),
    line("to_retransmits", "ack_timeout"),
    line("seq_err_naks_rcvd", "sequence_nak"),
    line("max_retry_exceeded", "retries_exhausted"),
    line("rnr_naks_rcvd", "rnr_nak"),
    line("dup_req", "duplicate_request"),
    line("missing_resp", "implied_nak"),
    line("oos_drop_count", "out_of_sequence"),
    line("rx_out_of_buffer", "out_of_buffer"),
    line("remote_access_err", "remote_access_error"),
    line("remote_invalid_req_err", "remote_invalid_request"),
    line("res_length_mismatch", "local_length_error"),
    line("remote_op_err", "remote_operation_error"),
    line("local_qp_op_err", "local_operation_error"),
    line("mem_mgmt_op_err", "local_operation_error"),
    line("local_protection_err", "local_protection_error"),
    line("tx_cnp_pkts", "cnp_sent"),
    line("rx_cnp_pkts", "cnp_handled"),
    line("rx_ecn_marked_pkts", "ecn_marked_packets"),

    line("local_ack_timeout_err", "ack_timeout"),
    line("packet_seq_err", "sequence_nak"),
    line("rnr_nak_retry_err", "rnr_nak"),
    line("implied_nak_seq_err", "implied_nak"),
    line("req_remote_invalid_request", "remote_invalid_request"),
    line("req_remote_access_errors", "remote_access_error"),
    line("resp_remote_access_errors", "response_access_error"),
    line("req_cqe_error", "request_completion_error"),
    line("resp_cqe_error", "response_completion_error"),
    line("duplicate_request", "duplicate_request"),
    line("resp_local_length_error", "local_length_error"),
    line("out_of_sequence", "out_of_sequence"),
    line("out_of_buffer", "out_of_buffer"),
    line("np_cnp_pkts", "cnp_sent"),
    line("rp_cnp_handled", "cnp_handled"),
    line("np_ecn_marked_roce_packets", "ecn_marked_packets"),
});

// drivers/infiniband/hw/irdma/verbs.c. The driver itself widens what is 32 bit in the hardware. Names before 6.2
// began with "tcp"; both spellings stand here, a kernel has one of them.
constexpr auto kIrdma = std::to_array<DriverCounter>({
    line("cnpSent", "cnp_sent"),
    line("cnpHandled", "cnp_handled"),
    line("cnpIgnored", "cnp_ignored"),
    line("RxECNMrkd", "ecn_marked_packets"),
    line("tcpRetransSegs", "retransmit"),
    line("RetransSegs", "retransmit"),
    line("ip4InDiscards", "receive_drop"),
    line("ip6InDiscards", "receive_drop"),
    line("RNR received", "rnr_nak"),
    line("Nak Sequence Error", "sequence_nak"),
    line("Nak Sequence Error Implied", "implied_nak"),
    line("RTO", "ack_timeout"),
    line("Rcvd Out of order packets", "out_of_sequence"),
    line("CRC errors", "icrc_error"),
    line("tcpInProtoErrors", "protocol_error"),
    line("InProtoErrors", "protocol_error"),
});

// drivers/infiniband/hw/ionic/ionic_hw_stats.c names what the firmware tells; one name is spelt "outouf" there. Names
// as AMD's "amd-smi metric --nic --rdma_devices" lists them.
constexpr auto kIonic = std::to_array<DriverCounter>({
    line("tx_rdma_ucast_bytes", "transmit_bytes"),
    line("rx_rdma_ucast_bytes", "receive_bytes"),
    line("tx_rdma_ucast_pkts", "transmit_packets"),
    line("rx_rdma_ucast_pkts", "receive_packets"),
    line("tx_rdma_cnp_pkts", "cnp_sent"),
    line("rx_rdma_cnp_pkts", "cnp_handled"),
    line("rx_rdma_ecn_pkts", "ecn_marked_packets"),
    line("resp_rx_outouf_seq", "out_of_sequence"),
    line("req_rx_pkt_seq_err", "sequence_nak"),
    line("req_rx_impl_nak_seq_err", "implied_nak"),
    line("tx_rdma_ack_timeout", "ack_timeout"),
    line("tx_rdma_retx_pkts", "retransmit"),
    line("tx_rdma_retx_bytes", "retransmitted_bytes"),
    line("req_tx_retry_excd_err", "retries_exhausted"),
    line("req_rx_rnr_retry_err", "rnr_nak"),
    line("resp_rx_outof_buf", "out_of_buffer"),
    line("resp_rx_dup_request", "duplicate_request"),
    line("req_rx_dup_response", "duplicate_response"),
    line("req_rx_inval_pkts", "invalid_packet"),
    line("req_rx_oper_err", "remote_operation_error"),
    line("req_rx_cqe_flush", "request_flush"),
    line("resp_rx_cqe_flush", "response_flush"),
    line("req_tx_loc_acc_err", "local_protection_error"),
    line("req_tx_loc_oper_err", "local_operation_error"),
    line("req_tx_loc_sgl_inv_err", "local_operation_error"),
    line("req_tx_mem_mgmt_err", "local_operation_error"),
    line("resp_rx_loc_oper_err", "local_operation_error"),
    line("resp_rx_s0_table_err", "local_operation_error"),
    line("resp_tx_loc_sgl_inv_err", "local_operation_error"),
    line("resp_rx_inval_request", "invalid_request"),
    line("resp_rx_outof_atomic", "out_of_atomic_resources"),
    line("resp_tx_pkt_seq_err", "sequence_nak_sent"),
    line("resp_tx_rnr_retry_err", "rnr_nak_sent"),
    line("resp_tx_rmt_acc_err", "response_access_error"),
    line("resp_tx_rmt_inval_req_err", "response_invalid_request"),
    line("resp_tx_rmt_oper_err", "response_operation_error"),
    line("req_rx_rmt_acc_err", "remote_access_error"),
    line("req_rx_rmt_req_err", "remote_invalid_request"),
    line("resp_rx_loc_len_err", "local_length_error"),
    line("req_rx_cqe_err", "request_completion_error"),
    line("resp_rx_cqe_err", "response_completion_error"),
    line("rx_rdma_mtu_discard_pkts", "receive_drop"),
});

// drivers/infiniband/hw/hns/hns_roce_main.c
constexpr auto kHns = std::to_array<DriverCounter>({
    line("tx_pkt", "transmit_packets"),
    line("rx_pkt", "receive_packets"),
    line("rx_err_pkt", "receive_errors"),
    line("tx_err_pkt", "send_error"),
    line("tx_cnp_pkt", "cnp_sent"),
    line("rx_cnp_pkt", "cnp_handled"),
});

// drivers/infiniband/hw/mana/counters.c; CNPs sent and ECN marks are counted for the device, CNPs received for both.
constexpr auto kMana = std::to_array<DriverCounter>({
    line("tx_bytes", "transmit_bytes"),
    line("rx_bytes", "receive_bytes"),
    line("tx_packets", "transmit_packets"),
    line("rx_packets", "receive_packets"),
    line("sent_cnps", "cnp_sent"),
    line("received_cnps", "cnp_handled"),
    line("received_cnp_count", "rdma_cnp_received"),
    line("received_ecns", "ecn_marked_packets"),
    line("responder_oos", "out_of_sequence"),
    line("requester_oos_nak", "sequence_nak"),
    line("requester_implicit_nak", "implied_nak"),
    line("requester_timeout", "ack_timeout"),
    line("requester_retries_exceeded", "retries_exhausted"),
    line("requester_rnr_nak", "rnr_nak"),
    line("requester_rnr_nak_retries_exceeded", "rnr_retries_exhausted"),
    line("responder_dup_request", "duplicate_request"),
    line("responder_rem_access_error", "remote_access_error"),
    line("responder_local_len_error", "local_length_error"),
    line("nak_inv_req", "remote_invalid_request"),
});

// drivers/infiniband/hw/efa/efa_verbs.c
constexpr auto kEfa = std::to_array<DriverCounter>({
    line("tx_bytes", "transmit_bytes"),
    line("rx_bytes", "receive_bytes"),
    line("tx_pkts", "transmit_packets"),
    line("rx_pkts", "receive_packets"),
    line("rx_drops", "receive_drop"),
    line("rdma_read_wr_err", "read_write_error"),
    line("rdma_write_wr_err", "read_write_error"),
    line("retrans_pkts", "retransmit"),
    line("retrans_bytes", "retransmitted_bytes"),
    line("retrans_timeout_events", "ack_timeout"),
    line("unresponsive_remote_events", "unresponsive_peer"),
    line("impaired_remote_conn_events", "impaired_connection"),
});

// drivers/infiniband/hw/erdma/erdma_verbs.c; what it drops on its own limits is no error. Alibaba's driver outside of
// the kernel's tree has the prefix "hw_", and no direction in one name.
constexpr auto kErdma = std::to_array<DriverCounter>({
    line("tx_bytes_cnt", "transmit_bytes"),
    line("rx_bytes_cnt", "receive_bytes"),
    line("tx_packets_cnt", "transmit_packets"),
    line("rx_packets_cnt", "receive_packets"),
    line("rx_disable_drop_cnt", "receive_drop"),
    line("tx_disable_drop_cnt", "send_error"),
    line("hw_tx_bytes_cnt", "transmit_bytes"),
    line("hw_rx_bytes_cnt", "receive_bytes"),
    line("hw_tx_packets_cnt", "transmit_packets"),
    line("hw_rx_packets_cnt", "receive_packets"),
    line("hw_rx_disable_drop_cnt", "receive_drop"),
    line("hw_disable_drop_cnt", "send_error"),
});

// drivers/infiniband/sw/rxe/rxe_hw_counters.c
constexpr auto kRxe = std::to_array<DriverCounter>({
    line("sent_pkts", "transmit_packets"),
    line("rcvd_pkts", "receive_packets"),
    line("duplicate_request", "duplicate_request"),
    line("out_of_seq_request", "out_of_sequence"),
    line("rcvd_rnr_err", "rnr_nak"),
    line("rcvd_seq_err", "sequence_nak"),
    line("retry_exceeded_err", "retries_exhausted"),
    line("retry_rnr_exceeded_err", "rnr_retries_exhausted"),
    line("completer_retry_err", "retransmit"),
    line("send_err", "send_error"),
    line("link_downed", "link_downed"),
});

// drivers/infiniband/hw/cxgb4/provider.c: TCP under iWARP, counted by address family.
constexpr auto kCxgb4 = std::to_array<DriverCounter>({
    line("ip4InSegs", "receive_packets"),
    line("ip6InSegs", "receive_packets"),
    line("ip4OutSegs", "transmit_packets"),
    line("ip6OutSegs", "transmit_packets"),
    line("ip4RetransSegs", "retransmit"),
    line("ip6RetransSegs", "retransmit"),
});

struct Driver {
  std::string_view name;
  std::span<const DriverCounter> table;
};
// hfi1 and siw have no hw_counters that mean what the catalogue has; their lines say that they are known.
constexpr auto kDrivers = std::to_array<Driver>({
    {"mlx5", kMlx5},
    {"mlx4", kMlx4},
    {"bnxt_re", kBnxtRe},
    {"irdma", kIrdma},
    {"ionic", kIonic},
    {"hns", kHns},
    {"mana", kMana},
    {"efa", kEfa},
    {"erdma", kErdma},
    {"rxe", kRxe},
    {"cxgb4", kCxgb4},
    {"hfi1", {}},
    {"siw", {}},
});

constexpr auto kBusDrivers = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"mlx5_core", "mlx5"},
    {"mlx5_core.sf", "mlx5"},
    {"mlx4_core", "mlx4"},
    {"bnxt_en", "bnxt_re"},
    {"ice", "irdma"},
    {"i40e", "irdma"},
    {"idpf", "irdma"},
    {"hns3", "hns"},
    {"hns_roce_hw_v2", "hns"},
});

}  // namespace

std::span<const DriverCounter> port_counter_table() {
  return kPortCounters;
}

std::span<const DriverCounter> hw_counter_table(std::string_view driver) {
  for (const Driver& known : kDrivers)
    if (known.name == driver) return known.table;
  return {};
}

std::optional<CounterMatch> find_own_counter(std::span<const DriverCounter> table, std::string_view driver_name,
                                             bool is_beside_its_port) {
  const std::optional<CounterMatch> match = find_driver_counter(table, driver_name);
  return match && match->counter->of_whole_port && is_beside_its_port ? std::nullopt : match;
}

std::string_view rdma_driver_of(std::string_view bus_driver) {
  for (const auto& [bus, driver] : kBusDrivers)
    if (bus == bus_driver) return driver;
  return bus_driver;
}

std::string_view rdma_driver_from_device_name(std::string_view device) {
  for (const Driver& known : kDrivers) {
    if (!device.starts_with(known.name)) continue;
    std::string_view rest = device.substr(known.name.size());
    if (rest.starts_with('_')) rest.remove_prefix(1);
    if (!rest.empty() && rest.find_first_not_of("0123456789") == std::string_view::npos) return known.name;
  }
  return {};
}

std::string_view rdma_driver_from_counter_names(std::span<const std::string> names) {
  // Less could be chance: drivers share names.
  constexpr std::size_t kFewest = 3;
  std::size_t most = kFewest - 1;
  std::string_view best;
  for (const Driver& known : kDrivers) {
    const auto matches = static_cast<std::size_t>(std::ranges::count_if(
        names, [&](const std::string& name) { return find_driver_counter(known.table, name).has_value(); }));
    if (matches == most) best = {};
    if (matches > most) best = known.name;
    most = std::max(most, matches);
  }
  return best;
}

}  // namespace weft::rdma
