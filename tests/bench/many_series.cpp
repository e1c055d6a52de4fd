// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/many_series.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "api/metrics/exposition.hpp"

namespace weft::bench {
namespace {

constexpr unsigned kHosts = 64;  // at each switch

Port active_port(NodeIndex node, unsigned number) {
  Port port;
  port.node = node;
  port.number = {static_cast<std::uint16_t>(number)};
  port.state = PortState::kActive;
  port.physical_state = PortPhysicalState::kLinkUp;
  port.width_active = 2;
  port.speed_active = kSpeedNdr;
  return port;
}

std::shared_ptr<const Snapshot> snapshot_of(unsigned switches, TimePoint now) {
  std::vector<Node> nodes;
  std::vector<Port> ports;
  const auto add_node = [&](NodeType type, unsigned port_count, std::string name) {
    Node node;
    node.type = type;
    node.guid = {0x2c5eab0300000000ULL + nodes.size()};
    node.port_count = static_cast<std::uint16_t>(port_count);
    node.first_port = static_cast<PortIndex>(ports.size());
    node.name = node.description = std::move(name);
    nodes.push_back(node);
    for (unsigned number = node.lowest_port(); number <= port_count; ++number)
      ports.push_back(active_port(static_cast<NodeIndex>(nodes.size() - 1), number));
  };
  for (unsigned s = 0; s < switches; ++s) {
    const auto first = static_cast<PortIndex>(ports.size());
    add_node(NodeType::kSwitch, kHosts, "MF0;leaf-" + std::to_string(s) + ":MQM9700/U1");
    for (unsigned host = 1; host <= kHosts; ++host) {
      add_node(NodeType::kChannelAdapter, 1, "dgx-" + std::to_string(s * kHosts + host) + " mlx5_0");
      ports[first + host].peer = static_cast<PortIndex>(ports.size() - 1);
      ports.back().peer = first + host;
    }
  }
  auto sweep = std::make_shared<Sweep>();
  auto counters = std::make_shared<SampleTable>(SampleTable::of_group(CounterGroup::kEverySweep, ports.size()));
  auto rates = std::make_shared<std::vector<PortRates>>();
  std::uint64_t value = 88'172'645'463'325'252ULL;
  for (std::size_t row = 0; row < ports.size(); ++row) {
    for (SampleTable::Column column = 0; column < counters->columns(); ++column) {
      value ^= value << 13;
      value ^= value >> 7;
      value ^= value << 17;
      // Traffic counters are long numbers, error counters short ones, as in life.
      counters->set(row, column, column < 8 ? value >> 16 : value >> 60, false);
    }
    counters->set_read_at(row, now);
    rates->push_back({1e9, 1e9, 0.123456, 0.01, 1.5e-17, 17.25 + static_cast<double>(row)});
  }
  sweep->state_read_at.assign(ports.size(), now);
  sweep->interval = std::chrono::seconds(1);
  sweep->topology = std::make_shared<Topology>(1, std::move(nodes), std::move(ports), std::vector<DuplicateGuid>{});
  sweep->counters = std::move(counters);
  auto snapshot = std::make_shared<Snapshot>();
  FabricView view;
  view.name = "mlx5_0-1";
  view.sweep = std::move(sweep);
  view.rates = std::move(rates);
  snapshot->fabrics.push_back(std::move(view));
  return snapshot;
}

std::size_t series_of(unsigned switches, TimePoint now) {
  api::Exposition exposition(snapshot_of(switches, now), {now, {}}, api::MetricsFormat::kText);
  std::size_t count = 0;
  for (std::string_view piece = exposition.next(); !piece.empty(); piece = exposition.next())
    count += static_cast<std::size_t>(std::count(piece.begin(), piece.end(), '\n'));
  return count;
}

}  // namespace

std::shared_ptr<const Snapshot> snapshot_with_series(std::size_t series, TimePoint now) {
  const std::size_t of_one_switch = series_of(2, now) - series_of(1, now);
  return snapshot_of(static_cast<unsigned>(series / of_one_switch + 1), now);
}

}  // namespace weft::bench
