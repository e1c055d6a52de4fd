// SPDX-License-Identifier: Apache-2.0
#pragma once
// The table of all families with series of ports, whoever reads the port.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/metrics/family.hpp"
#include "fabric/counters.hpp"
#include "fabric/metric_groups.hpp"
#include "fabric/snapshot.hpp"

namespace weft::api {

/// What the lines of a family are made of.
enum class PortRow : std::uint8_t { kUp, kStale, kInfo, kByteRate, kLanes, kRate, kCounter, kSaturated, kRaw };

/// One family.
struct PortFamily {
  std::string name;
  std::string_view help;
  MetricType type = MetricType::kGauge;
  PortRow row = PortRow::kUp;
  const CounterInfo* counter = nullptr;  ///< kCounter: its row of the catalogue, the first of those that share a name
  double PortRates::*rate = nullptr;     ///< kRate
  MetricGroup group = MetricGroup::kPorts;
};

/// All families in the order in which they are written.
struct PortFamilyTable {
  std::vector<PortFamily> families;
  std::unordered_map<std::string_view, std::uint16_t> of_host_counter;  ///< place of what a host shows, by counter
  std::uint16_t raw = 0;                                                ///< place of kRaw
};
/// The table, made once from the catalogue of counters.
const PortFamilyTable& port_family_table();

}  // namespace weft::api
