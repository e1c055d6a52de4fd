// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/collector/node_exporter_page.hpp"

#include <array>
#include <optional>
#include <string_view>

#include "api/metrics/family.hpp"
#include "api/metrics/sample.hpp"
#include "fabric/counters.hpp"

namespace weft::collector {
namespace {

using api::MetricsFormat;
using api::MetricType;
using rdma::DeviceFiles;
using rdma::FileValues;
using rdma::PortFiles;

/// A counter of node_exporter's, and the file that it is read from.
struct ExportedFile {
  FileValues PortFiles::*folder;
  std::string_view file;
  std::string_view name;       ///< after "node_infiniband_"
  std::string_view canonical;  ///< in the catalogue, which has its help and group; empty: not there
  std::string_view help{};     ///< where the catalogue's is not right
};

constexpr auto kCounters = &PortFiles::counters;
constexpr auto kOld = &PortFiles::counters_ext;
constexpr auto kDriver = &PortFiles::hw_counters;
constexpr auto kExported = std::to_array<ExportedFile>({
    {kOld, "port_multicast_rcv_packets", "legacy_multicast_packets_received_total", "multicast_receive_packets"},
    {kOld, "port_multicast_xmit_packets", "legacy_multicast_packets_transmitted_total", "multicast_transmit_packets"},
    {kOld, "port_rcv_data_64", "legacy_data_received_bytes_total", "receive_bytes"},
    {kOld, "port_rcv_packets_64", "legacy_packets_received_total", "receive_packets"},
    {kOld, "port_unicast_rcv_packets", "legacy_unicast_packets_received_total", "unicast_receive_packets"},
    {kOld, "port_unicast_xmit_packets", "legacy_unicast_packets_transmitted_total", "unicast_transmit_packets"},
    {kOld, "port_xmit_data_64", "legacy_data_transmitted_bytes_total", "transmit_bytes"},
    {kOld, "port_xmit_packets_64", "legacy_packets_transmitted_total", "transmit_packets"},

    {kCounters, "excessive_buffer_overrun_errors", "excessive_buffer_overrun_errors_total",
     "excessive_buffer_overrun_errors"},
    {kCounters, "link_downed", "link_downed_total", "link_downed"},
    {kCounters, "link_error_recovery", "link_error_recovery_total", "link_error_recovery"},
    {kCounters, "local_link_integrity_errors", "local_link_integrity_errors_total", "local_link_integrity_errors"},
    {kCounters, "multicast_rcv_packets", "multicast_packets_received_total", "multicast_receive_packets"},
    {kCounters, "multicast_xmit_packets", "multicast_packets_transmitted_total", "multicast_transmit_packets"},
    {kCounters, "port_rcv_constraint_errors", "port_constraint_errors_received_total", "receive_constraint_errors"},
    {kCounters, "port_xmit_constraint_errors", "port_constraint_errors_transmitted_total",
     "transmit_constraint_errors"},
    {kCounters, "port_rcv_data", "port_data_received_bytes_total", "receive_bytes"},
    {kCounters, "port_xmit_data", "port_data_transmitted_bytes_total", "transmit_bytes"},
    {kCounters, "port_rcv_discards", "port_discards_received_total", "receive_discards"},
    {kCounters, "port_xmit_discards", "port_discards_transmitted_total", "transmit_discards"},
    {kCounters, "port_rcv_errors", "port_errors_received_total", "receive_errors"},
    {kCounters, "port_rcv_packets", "port_packets_received_total", "receive_packets"},
    {kCounters, "port_xmit_packets", "port_packets_transmitted_total", "transmit_packets"},
    {kCounters, "port_xmit_wait", "port_transmit_wait_total", "transmit_wait",
     "Ticks of the port during which it had data to send but no credit."},
    {kCounters, "unicast_rcv_packets", "unicast_packets_received_total", "unicast_receive_packets"},
    {kCounters, "unicast_xmit_packets", "unicast_packets_transmitted_total", "unicast_transmit_packets"},
    {kCounters, "port_rcv_remote_physical_errors", "port_receive_remote_physical_errors_total",
     "receive_remote_physical_errors"},
    {kCounters, "port_rcv_switch_relay_errors", "port_receive_switch_relay_errors_total",
     "receive_switch_relay_errors"},
    {kCounters, "symbol_error", "symbol_error_total", "symbol_errors"},
    {kCounters, "VL15_dropped", "vl15_dropped_total", "vl15_dropped"},

    {kDriver, "duplicate_request", "duplicate_requests_packets_total", "duplicate_request"},
    {kDriver, "implied_nak_seq_err", "implied_nak_seq_errors_total", "implied_nak"},
    {kDriver, "local_ack_timeout_err", "local_ack_timeout_errors_total", "ack_timeout"},
    {kDriver, "np_cnp_sent", "np_cnp_packets_sent_total", "cnp_sent"},
    {kDriver, "np_ecn_marked_roce_packets", "np_ecn_marked_roce_packets_received_total", "ecn_marked_packets"},
    {kDriver, "out_of_buffer", "out_of_buffer_drops_total", "out_of_buffer"},
    {kDriver, "out_of_sequence", "out_of_sequence_packets_received_total", "out_of_sequence"},
    {kDriver, "packet_seq_err", "packet_sequence_errors_total", "sequence_nak"},
    {kDriver, "req_cqe_error", "req_cqes_errors_total", "request_completion_error"},
    {kDriver, "req_cqe_flush_error", "req_cqes_flush_errors_total", "request_flush"},
    {kDriver, "req_remote_access_errors", "req_remote_access_errors_total", "remote_access_error"},
    {kDriver, "req_remote_invalid_request", "req_remote_invalid_request_errors_total", "remote_invalid_request"},
    {kDriver, "resp_cqe_error", "resp_cqes_errors_total", "response_completion_error"},
    {kDriver, "resp_cqe_flush_error", "resp_cqes_flush_errors_total", "response_flush"},
    {kDriver, "resp_local_length_error", "resp_local_length_errors_total", "local_length_error"},
    {kDriver, "resp_remote_access_errors", "resp_remote_access_errors_total", "response_access_error"},
    {kDriver, "rnr_nak_retry_err", "rnr_nak_retry_packets_received_total", "rnr_nak"},
    {kDriver, "roce_adp_retrans", "roce_adp_retransmits_total", "adaptive_retransmit"},
    {kDriver, "roce_adp_retrans_to", "roce_adp_retransmits_timeout_total", "adaptive_retransmit_timeout"},
    {kDriver, "roce_slow_restart", "roce_slow_restart_used_total", "slow_restart"},
    {kDriver, "roce_slow_restart_cnps", "roce_slow_restart_cnps_total", "slow_restart_cnp"},
    {kDriver, "roce_slow_restart_trans", "roce_slow_restart_total", "slow_restart_transition"},
    {kDriver, "rp_cnp_handled", "rp_cnp_packets_handled_total", "cnp_handled"},
    {kDriver, "rp_cnp_ignored", "rp_cnp_ignored_packets_received_total", "cnp_ignored"},
    {kDriver, "rx_atomic_requests", "rx_atomic_requests_total", "", "Atomic requests received."},
    {kDriver, "rx_dct_connect", "rx_dct_connect_requests_total", "",
     "Requests for a dynamically connected transport received."},
    {kDriver, "rx_read_requests", "rx_read_requests_total", "", "RDMA read requests received."},
    {kDriver, "rx_write_requests", "rx_write_requests_total", "", "RDMA write requests received."},
    {kDriver, "rx_icrc_encapsulated", "rx_icrc_encapsulated_errors_total", "icrc_error"},
});

/// Appends the family with the value of each port that has one; a family that no port has is not mentioned.
template <typename ValueOf>
void append_ports(std::string& out, std::span<const DeviceFiles> devices, std::string_view name, MetricType type,
                  std::string_view help, MetricsFormat format, ValueOf&& value_of) {
  const std::string whole = "node_infiniband_" + std::string(name);
  bool headed = false;
  for (const DeviceFiles& device : devices)
    for (const PortFiles& port : device.ports) {
      const std::optional<std::uint64_t> value = value_of(port);
      if (!value) continue;
      if (!headed) append_head(out, {whole, type, help}, format);
      headed = true;
      api::append_sample(out, whole, {{"device", device.name}, {"port", std::to_string(port.number)}}, *value);
    }
}

void append_states(std::string& out, std::span<const DeviceFiles> devices, MetricsFormat format) {
  const std::string_view name = "node_infiniband_info";
  if (!devices.empty())
    append_head(out, {name, MetricType::kGauge, "Properties of the RDMA device; always 1."}, format);
  for (const DeviceFiles& device : devices)
    api::append_sample(out, name,
                       {{"board_id", device.board_id},
                        {"device", device.name},
                        {"firmware_version", device.firmware},
                        {"hca_type", device.device_type}},
                       1);
  append_ports(out, devices, "state_id", MetricType::kGauge,
               "State of the port: 1 Down, 2 Initialize, 3 Armed, 4 Active, 5 ActiveDefer.", format,
               [](const PortFiles& port) { return port.state; });
  append_ports(out, devices, "physical_state_id", MetricType::kGauge,
               "Physical state of the port: 1 Sleep, 2 Polling, 3 Disabled, 4 Training, 5 LinkUp, 6 "
               "LinkErrorRecovery, 7 PhyTest.",
               format, [](const PortFiles& port) { return port.physical_state; });
  append_ports(out, devices, "rate_bytes_per_second", MetricType::kGauge, "Data rate of the port.", format,
               [](const PortFiles& port) -> std::optional<std::uint64_t> {
                 if (!port.rate_bits_per_second) return std::nullopt;
                 return *port.rate_bits_per_second / 8;
               });
}

}  // namespace

std::string node_exporter_page(std::span<const DeviceFiles> devices, MetricsFormat format, MetricGroups groups) {
  constexpr std::uint64_t kBytesInWord = 4;
  std::string out;
  if (groups.has(MetricGroup::kPorts)) append_states(out, devices, format);
  for (const ExportedFile& exported : kExported) {
    const CounterInfo* const info = find_counter(exported.canonical);
    if (!groups.has(info != nullptr ? group_of(*info) : MetricGroup::kRaw)) continue;
    // The files count words, as PortCounters does.
    const std::uint64_t factor = info != nullptr && info->unit == CounterUnit::kBytes ? kBytesInWord : 1;
    append_ports(out, devices, exported.name, MetricType::kCounter,
                 info != nullptr && exported.help.empty() ? info->help : exported.help, format,
                 [&](const PortFiles& port) -> std::optional<std::uint64_t> {
                   const FileValues& values = port.*exported.folder;
                   const auto found = values.find(exported.file);
                   if (found == values.end()) return std::nullopt;
                   return found->second * factor;
                 });
  }
  if (format == MetricsFormat::kOpenMetrics) out += "# EOF\n";
  return out;
}

}  // namespace weft::collector
