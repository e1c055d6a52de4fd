// SPDX-License-Identifier: Apache-2.0
#include "api/metrics/port_family_table.hpp"

#include <utility>

namespace weft::api {
namespace {

void add_counters(std::vector<PortFamily>& families, std::span<const CounterInfo> counters) {
  for (const CounterInfo& info : counters) {
    std::string name = metric_name(info);
    // All errors of RDMA are one family, told apart by a label.
    const bool is_rdma = info.family == CounterFamily::kRdmaError;
    if (is_rdma && families.back().name == name) continue;
    PortFamily& family = families.emplace_back();
    family.name = std::move(name);
    family.help = is_rdma ? "Errors of the RDMA transport, by canonical name." : info.help;
    family.type = info.is_gauge ? MetricType::kGauge : MetricType::kCounter;
    family.row = PortRow::kCounter;
    family.counter = &info;
    family.group = group_of(info);
    // Ticks change their length with the link's rate: their sum in seconds is kept with the rates.
    if (info.id != CounterId::kTransmitWait) continue;
    family.row = PortRow::kRate;
    family.rate = &PortRates::transmit_wait_seconds_total;
  }
}

PortFamilyTable make_table() {
  PortFamilyTable table;
  std::vector<PortFamily>& families = table.families;
  const auto gauge = [&](const char* name, std::string_view help, PortRow row, double PortRates::*rate = nullptr) {
    families.push_back({name, help, MetricType::kGauge, row, nullptr, rate});
  };
  gauge("weft_port_up", "1 if the port is logically active.", PortRow::kUp);
  gauge("weft_port_stale", "1 if the port's last reading is older than three intervals.", PortRow::kStale);
  families.push_back({"weft_port_info", "Properties of the port and of its peer.", MetricType::kInfo, PortRow::kInfo,
                      nullptr, nullptr});
  // In bytes: "promtool check metrics" objects to bits, whatever the name says besides.
  gauge("weft_port_rate_bytes_per_second", "Active data rate of the port after line coding.", PortRow::kByteRate);
  gauge("weft_port_width_lanes", "Active lanes of the port.", PortRow::kLanes);
  add_counters(families, swept_counters());
  gauge("weft_port_saturated", "1 for a saturated counter (all ones): its value is a minimum.", PortRow::kSaturated);
  gauge("weft_link_utilization_ratio", "The busier direction's data rate as a share of the active rate.",
        PortRow::kRate, &PortRates::utilization_ratio);
  gauge("weft_link_stall_ratio", "Share of time in which the port had data to send but no credit.", PortRow::kRate,
        &PortRates::stall_ratio);
  gauge("weft_link_error_rate", "Errors per bit, over the error window.", PortRow::kRate, &PortRates::error_rate);
  add_counters(families, counter_catalogue().subspan(kCounterCount));
  table.raw = static_cast<std::uint16_t>(families.size());
  gauge("weft_port_raw", "A counter without a canonical name, under the driver's name.", PortRow::kRaw);
  families.back().group = MetricGroup::kRaw;

  std::unordered_map<std::string_view, std::uint16_t> by_name;
  for (std::size_t i = 0; i < families.size(); ++i) by_name.emplace(families[i].name, static_cast<std::uint16_t>(i));
  for (const CounterInfo& info : counter_catalogue())
    // Ticks have no length on a host: only the subnet's sweep knows the port's.
    if (info.on_hosts && info.unit != CounterUnit::kTicks)
      table.of_host_counter.emplace(info.name, by_name.at(metric_name(info)));
  return table;
}

}  // namespace

const PortFamilyTable& port_family_table() {
  static const PortFamilyTable kTable = make_table();
  return kTable;
}

}  // namespace weft::api
