// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/sized_fabric.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace weft::bench {
namespace {

constexpr unsigned kAdapters = 8;  // of a host
constexpr unsigned kRadix = 64;
constexpr Duration kWithheld = std::chrono::seconds(90);
constexpr auto kRdmaErrors = std::to_array<const char*>(
    {"out_of_sequence", "sequence_nak", "implied_nak", "ack_timeout", "rnr_nak", "out_of_buffer", "duplicate_request",
     "adaptive_retransmit", "adaptive_retransmit_timeout", "slow_restart", "request_completion_error",
     "response_completion_error", "request_flush", "response_flush", "remote_access_error", "response_access_error",
     "local_length_error", "remote_invalid_request"});

struct Graph {
  std::vector<Node> nodes;
  std::vector<Port> ports;

  NodeIndex add(NodeType type, unsigned port_count, std::string name) {
    Node node;
    node.type = type;
    node.guid = {0x2c5eab0300000000ULL + nodes.size()};
    node.port_count = static_cast<std::uint16_t>(port_count);
    node.first_port = static_cast<PortIndex>(ports.size());
    node.name = node.description = std::move(name);
    const auto index = static_cast<NodeIndex>(nodes.size());
    nodes.push_back(std::move(node));
    for (unsigned number = nodes.back().lowest_port(); number <= port_count; ++number) {
      Port port;
      port.node = index;
      port.number = {static_cast<std::uint16_t>(number)};
      port.guid = {nodes.back().guid.value + (type == NodeType::kSwitch ? 0 : 1ULL << 40)};
      port.state = PortState::kActive;
      port.physical_state = PortPhysicalState::kLinkUp;
      port.width_active = 2;
      port.speed_active = kSpeedNdr;
      port.wait_tick_seconds = 1e-6F;
      ports.push_back(port);
    }
    return index;
  }
  void cable(NodeIndex one, unsigned number, NodeIndex other, unsigned other_number) {
    const PortIndex a = nodes[one].first_port + number - nodes[one].lowest_port();
    const PortIndex b = nodes[other].first_port + other_number - nodes[other].lowest_port();
    ports[a].peer = b;
    ports[b].peer = a;
  }
};

std::string host_of(unsigned host) {
  return "dgx-" + std::to_string(host + 1);
}

/// Rail-optimised: the same adapter of 32 hosts at one leaf; leaves and spines in pods of 32, cores above them.
Graph fat_tree(unsigned hosts) {
  constexpr unsigned kDown = kRadix / 2;
  Graph graph;
  const unsigned leaf_count = (hosts + kDown - 1) / kDown * kAdapters;
  const unsigned spine_count = (leaf_count + kDown - 1) / kDown * kDown;
  const unsigned core_count = (spine_count + 1) / 2;
  std::vector<NodeIndex> leaves, spines, cores;
  const auto name = [](const char* kind, unsigned number) {
    return "MF0;" + std::string(kind) + '-' + std::to_string(number + 1) + ":MQM9700/U1";
  };
  for (unsigned i = 0; i < leaf_count; ++i) leaves.push_back(graph.add(NodeType::kSwitch, kRadix, name("leaf", i)));
  for (unsigned i = 0; i < spine_count; ++i) spines.push_back(graph.add(NodeType::kSwitch, kRadix, name("spine", i)));
  for (unsigned i = 0; i < core_count; ++i) cores.push_back(graph.add(NodeType::kSwitch, kRadix, name("core", i)));
  for (unsigned leaf = 0; leaf < leaf_count; ++leaf)
    for (unsigned up = 0; up < kDown; ++up)
      graph.cable(leaves[leaf], kDown + up + 1, spines[leaf / kDown * kDown + up], leaf % kDown + 1);
  for (unsigned cable = 0; cable < spine_count * kDown; ++cable)
    graph.cable(spines[cable / kDown], kDown + cable % kDown + 1, cores[cable % core_count], cable / core_count + 1);
  for (unsigned host = 0; host < hosts; ++host)
    for (unsigned adapter = 0; adapter < kAdapters; ++adapter) {
      const NodeIndex node =
          graph.add(NodeType::kChannelAdapter, 1, host_of(host) + " mlx5_" + std::to_string(adapter));
      graph.cable(node, 1, leaves[host / kDown * kAdapters + adapter], host % kDown + 1);
    }
  return graph;
}

/// Numbers that look like chance and are the same in each run.
class Chance {
 public:
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    return state_ ^= state_ << 17;
  }
  bool one_in(std::uint64_t count) { return next() % count == 0; }

 private:
  std::uint64_t state_ = 88'172'645'463'325'252ULL;
};

std::uint64_t value_of(const CounterInfo& info, unsigned instance, Chance& chance) {
  const std::uint64_t few = 1 + chance.next() % 1000;
  if (!info.is_left_out_at_zero()) return chance.next() >> 16;  // traffic: long numbers
  if (info.id == CounterId::kVirtualLaneTransmitWait) return instance == 0 ? chance.next() >> 32 : 0;
  if (info.id == CounterId::kRsFecCorrectedSymbols) return instance < 4 ? chance.next() >> 32 : 0;
  if (info.id == CounterId::kRsFecCorrectableBlocks) return chance.next() >> 32;
  if (!info.is_error) return 0;  // FEC that the link does not use
  if (info.instances > 1) return 0;
  return chance.one_in(info.id == CounterId::kLinkDowned ? 5 : 50) ? few : 0;
}

std::shared_ptr<const SampleTable> table_of(CounterGroup group, const Graph& graph, TimePoint now, Chance& chance) {
  auto table = std::make_shared<SampleTable>(SampleTable::of_group(group, graph.ports.size()));
  for (std::size_t row = 0; row < graph.ports.size(); ++row) {
    if (graph.ports[row].number.value == 0) continue;  // ports 0 have no counters
    for (const CounterId id : table->counters())
      for (unsigned instance = 0; instance < counter_info(id).instances; ++instance)
        table->set(row, table->column(id, instance), value_of(counter_info(id), instance, chance), false);
    table->set_read_at(row, now);
  }
  return table;
}

void add_series(std::vector<HostSeries>& series, const std::string& device) {
  for (const char* name : kRdmaErrors) series.push_back({.device = device, .port = 1, .name = name});
  for (const char* name : {"module_temperature", "module_supply"})
    series.push_back({.device = device, .port = 1, .name = name});
  for (const char* name : {"module_transmit_power", "module_receive_power", "module_bias"})
    for (std::uint8_t lane = 0; lane < 4; ++lane) {
      series.push_back({.device = device, .port = 1, .name = name});
      series.back().lane = lane;
    }
}

/// `first_port`: of the host's adapters in the graph, one after the other.
std::shared_ptr<const HostView> host_view(unsigned host, const Port* first_port, const SeriesList& series,
                                          TimePoint now, bool leaves_out, Chance& chance) {
  auto inventory = std::make_shared<HostInventory>();
  for (unsigned adapter = 0; adapter < kAdapters; ++adapter) {
    HostPort& port = inventory->ports.emplace_back();
    port.device = "mlx5_" + std::to_string(adapter);
    port.number = 1;
    port.driver = "mlx5";
    port.firmware = "28.39.1002";
    port.board_id = "MT_0000000838";
    port.device_type = "MT4129";
    port.pci_address = "0000:1" + std::to_string(adapter) + ":00.0";
    port.link_layer = LinkLayer::kInfiniBand;
    port.port_guid = first_port[adapter].guid;
    port.state = PortState::kActive;
  }
  inventory->series = series;
  auto reading = std::make_shared<HostReading>();
  reading->taken = now;
  for (const HostSeries& one : series)
    reading->values.push_back(one.name.starts_with("module") ? 1'234'567
                              : chance.one_in(50)            ? 1 + chance.next() % 1000
                                                             : 0);
  reading->present.assign(series.size(), 1);
  reading->inventory = std::move(inventory);
  auto view = std::make_shared<HostView>();
  view->host = host_of(host);
  view->state = CollectorState::kConnected;
  view->interval = std::chrono::seconds(1);
  if (leaves_out) {
    HostMoves moves(kWithheld);
    moves.update(*reading, now.time_since_epoch());
    view->moved = moves.moved();
  }
  view->reading = std::move(reading);
  return view;
}

}  // namespace

SizedFabric sized_fabric(unsigned hosts, TimePoint now, bool leaves_out) {
  Graph graph = fat_tree(hosts);
  SizedFabric made;
  made.ports = static_cast<std::size_t>(
      std::ranges::count_if(graph.ports, [](const Port& port) { return port.number.value != 0; }));
  made.snapshot = std::make_shared<Snapshot>();
  Chance chance;
  auto sweep = std::make_shared<Sweep>();
  sweep->fabric = "mlx5_0-1";
  sweep->interval = std::chrono::seconds(1);
  sweep->finished = now;
  sweep->state_read_at.assign(graph.ports.size(), now);
  sweep->counters = table_of(CounterGroup::kEverySweep, graph, now, chance);
  sweep->details = table_of(CounterGroup::kDetail, graph, now, chance);
  auto views = std::make_shared<std::vector<std::shared_ptr<const HostView>>>();
  std::vector<HostSeries> list;
  for (unsigned adapter = 0; adapter < kAdapters; ++adapter) add_series(list, "mlx5_" + std::to_string(adapter));
  const SeriesList series(std::move(list));
  for (unsigned host = 0; host < hosts; ++host)
    views->push_back(host_view(host, &graph.ports[graph.ports.size() - std::size_t{hosts - host} * kAdapters], series,
                               now, leaves_out, chance));
  made.snapshot->hosts = std::move(views);
  FabricView view;
  view.name = sweep->fabric;
  view.watching = true;
  view.stale_after = std::chrono::seconds(3);
  view.rates = std::make_shared<const std::vector<PortRates>>(graph.ports.size(),
                                                              PortRates{1e9, 1e9, 0.123456, 0.01, 1.5e-17, 17.25});
  sweep->topology =
      std::make_shared<const Topology>(1, std::move(graph.nodes), std::move(graph.ports), std::vector<DuplicateGuid>{});
  if (leaves_out) {
    TableMoves counters(kWithheld), details(kWithheld);
    counters.update(sweep->counters.get(), sweep->topology, now.time_since_epoch());
    details.update(sweep->details.get(), sweep->topology, now.time_since_epoch());
    view.counters_moved = counters.moved();
    view.details_moved = details.moved();
  }
  view.sweep = std::move(sweep);
  made.snapshot->fabrics.push_back(std::move(view));
  return made;
}

}  // namespace weft::bench
