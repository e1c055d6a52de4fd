// SPDX-License-Identifier: Apache-2.0
#include "fabric/port_gauges.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

namespace weft {
namespace {

constexpr std::array<std::string_view, kPortGauges> kGaugeNames{"module_receive_power", "module_transmit_power",
                                                                "module_bias", "module_temperature"};
/// A collector may miss so many readings, and its clock differ by so much.
constexpr unsigned kFreshReadings = 3;
constexpr Duration kFreshAtLeast = std::chrono::seconds(5);

/// Where a gauge stands in a reading.
struct GaugeSeries {
  std::uint32_t series;
  PortGauge gauge;
};
/// Of each port of a host, by (device, number).
using GaugeSeriesOfPorts = std::map<std::pair<std::string_view, std::uint8_t>, std::vector<GaugeSeries>>;

GaugeSeriesOfPorts find_gauge_series(const SeriesList& list) {
  GaugeSeriesOfPorts found;
  for (std::uint32_t i = 0; i < list.size(); ++i)
    if (!list[i].is_raw)
      if (const auto gauge = find_port_gauge(list[i].name))
        found[{list[i].device, list[i].port}].push_back({i, *gauge});
  return found;
}

/// The port of the graph that a host's port is.
class PortFinder {
 public:
  explicit PortFinder(const Topology& topology) : is_ethernet_(topology.is_ethernet()) {
    for (PortIndex index = 0; index < topology.ports().size(); ++index) {
      const Port& port = topology.port(index);
      if (is_ethernet_) {
        if (const auto interface = topology.port_name(index); !interface.empty())
          by_interface_.emplace(key_of(host_name(topology.node_of(port)), interface), index);
      } else if (port.guid && topology.node_of(port).type == NodeType::kChannelAdapter) {
        by_guid_.emplace(port.guid.value, index);
      }
    }
  }

  PortIndex find(const std::string& host, const HostPort& port) const {
    if (!is_ethernet_) {
      const auto found = by_guid_.find(port.port_guid.value);
      return port.port_guid && found != by_guid_.end() ? found->second : kNoIndex;
    }
    const auto found = port.netdev.empty() ? by_interface_.end() : by_interface_.find(key_of(host, port.netdev));
    return found == by_interface_.end() ? kNoIndex : found->second;
  }

 private:
  static std::string key_of(std::string_view host, std::string_view interface) {
    return std::string(host) + ' ' + std::string(interface);
  }

  bool is_ethernet_;
  std::unordered_map<std::uint64_t, PortIndex> by_guid_;
  std::unordered_map<std::string, PortIndex> by_interface_;
};

void add(PortGauges& to, PortGauge gauge, std::int64_t value) {
  std::int64_t& kept = to.values[static_cast<std::size_t>(gauge)];
  const bool is_power = gauge == PortGauge::kReceivePower || gauge == PortGauge::kTransmitPower;
  if (!to.has(gauge))
    kept = value;
  else
    kept = is_power ? std::min(kept, value) : std::max(kept, value);
  to.present = static_cast<std::uint8_t>(to.present | 1U << static_cast<unsigned>(gauge));
}

}  // namespace

const CounterInfo& gauge_info(PortGauge gauge) {
  static const auto kInfos = [] {
    std::array<const CounterInfo*, kPortGauges> infos{};
    for (std::size_t i = 0; i < kPortGauges; ++i) infos[i] = find_counter(kGaugeNames[i]);
    return infos;
  }();
  return *kInfos[static_cast<std::size_t>(gauge)];
}

std::optional<PortGauge> find_port_gauge(std::string_view name) {
  const auto found = std::ranges::find(kGaugeNames, name);
  if (found == kGaugeNames.end()) return std::nullopt;
  return static_cast<PortGauge>(found - kGaugeNames.begin());
}

std::vector<PortGauges> read_port_gauges(const Topology& topology, const HostListPtr& hosts, TimePoint now) {
  std::vector<PortGauges> gauges;
  if (!hosts || hosts->empty()) return gauges;
  std::optional<PortFinder> ports;  // only where somebody has a gauge
  // Hosts of one make share their list of series.
  std::unordered_map<const void*, GaugeSeriesOfPorts> known;
  for (const auto& host : *hosts) {
    const HostReading* const reading = host->reading.get();
    if (reading == nullptr || !reading->inventory) continue;
    if (now - reading->taken > std::max<Duration>(host->interval * kFreshReadings, kFreshAtLeast)) continue;
    const SeriesList& list = reading->inventory->series;
    const auto [entry, is_new] = known.try_emplace(list.shared().get());
    if (is_new) entry->second = find_gauge_series(list);
    if (entry->second.empty()) continue;
    if (!ports) ports.emplace(topology);
    for (const HostPort& port : reading->inventory->ports) {
      const auto series = entry->second.find({port.device, port.number});
      if (series == entry->second.end()) continue;
      const PortIndex index = ports->find(host->host, port);
      if (index == kNoIndex) continue;
      gauges.resize(topology.ports().size());
      for (const auto& [position, gauge] : series->second)
        if (position < reading->values.size() && position < reading->present.size() && reading->present[position] != 0)
          add(gauges[index], gauge, static_cast<std::int64_t>(reading->values[position]));
    }
  }
  return gauges;
}

}  // namespace weft
