// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cabled Ethernet fabric whose hosts have collectors, in simulated time: what EthernetFabric is told.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/ports/ethernet_fabric.hpp"

namespace weft::analyzer {

/// "leaf01 swp1 gpu-01 eth2": nodes whose ports are called swp… are switches.
inline CablePlan plan_of(const std::vector<std::array<const char*, 4>>& cables) {
  CablePlan plan;
  const auto node = [&](std::string_view name, std::string_view port) {
    const auto known = std::ranges::find(plan.nodes, name, &CablePlan::Node::name);
    if (known != plan.nodes.end()) return static_cast<std::uint32_t>(known - plan.nodes.begin());
    plan.nodes.push_back({std::string(name), port.starts_with("swp")});
    return static_cast<std::uint32_t>(plan.nodes.size() - 1);
  };
  for (const auto& [a, a_port, b, b_port] : cables)
    plan.cables.push_back({{node(a, a_port), a_port}, {node(b, b_port), b_port}});
  return plan;
}

/// Two spines, two leaves, two hosts at each leaf with one interface; leaf0N swp1, swp2: hosts; swp51, swp52: spines.
inline CablePlan small_plan() {
  return plan_of({{"leaf01", "swp1", "gpu-01", "eth2"},
                  {"leaf01", "swp2", "gpu-02", "eth2"},
                  {"leaf02", "swp1", "gpu-03", "eth2"},
                  {"leaf02", "swp2", "gpu-04", "eth2"},
                  {"leaf01", "swp51", "spine01", "swp1"},
                  {"leaf01", "swp52", "spine02", "swp1"},
                  {"leaf02", "swp51", "spine01", "swp2"},
                  {"leaf02", "swp52", "spine02", "swp2"}});
}

/// One host, or a switch with a collector, and what its interfaces say.
class ToldHost {
 public:
  static constexpr std::uint64_t kRate = 400'000'000'000;

  ToldHost(std::string name, const std::vector<std::string>& interfaces) {
    view_.host = std::move(name);
    view_.interval = std::chrono::seconds(1);
    view_.state = CollectorState::kConnected;
    for (const std::string& interface : interfaces) {
      HostPort port;
      port.device = port.netdev = interface;
      port.link_layer = LinkLayer::kEthernet;
      port.state = PortState::kActive;
      port.rate_bits_per_second = kRate;
      inventory_.ports.push_back(port);
      std::vector<HostSeries> all(inventory_.series.begin(), inventory_.series.end());
      const auto add = [&](const char* series, Direction direction = Direction::kNone,
                           std::uint8_t priority = kNoPriority) {
        HostSeries& one = all.emplace_back();
        one.device = interface;
        one.name = series;
        one.direction = direction;
        one.priority = priority;
        values_.push_back(0);
        present_.push_back(1);
      };
      for (const char* series :
           {"transmit_bytes", "receive_bytes", "transmit_packets", "receive_packets", "carrier_down", "receive_errors"})
        add(series);
      for (const Direction direction : {Direction::kTransmit, Direction::kReceive}) {
        add("pause", direction);
        for (const std::uint8_t priority : {std::uint8_t{3}, std::uint8_t{4}}) add("pfc_pause", direction, priority);
      }
      inventory_.series = std::move(all);
    }
  }

  const std::string& name() const { return view_.host; }
  HostPort& port(std::size_t position = 0) { return changed_ = true, inventory_.ports[position]; }
  void add_port(const HostPort& port) { changed_ = true, inventory_.ports.push_back(port); }
  void take_interface_away() { changed_ = true, inventory_.ports.clear(), inventory_.series = {}; }
  HostView& view() { return view_; }
  void add_series(const char* name, const std::string& interface, CounterSource source = CounterSource::kUnknown) {
    HostSeries series;
    series.source = source;
    series.device = interface;
    series.name = name;
    inventory_.series.push_back(series);
    values_.push_back(0);
    present_.push_back(1);
    changed_ = true;
  }
  std::uint64_t& value(std::string_view series, const std::string& interface, Direction direction = Direction::kNone,
                       std::uint8_t priority = kNoPriority) {
    return values_[find(series, interface, direction, priority)];
  }
  std::vector<std::uint64_t>& values() { return values_; }
  void hide(std::string_view series, const std::string& interface, bool hidden = true) {
    for (std::size_t i = 0; i < inventory_.series.size(); ++i)
      if (inventory_.series[i].name == series && inventory_.series[i].device == interface) present_[i] = hidden ? 0 : 1;
  }
  void reboot() { std::ranges::fill(values_, 0); }

  /// Its collector reads everything, now.
  void read(TimePoint now) {
    if (changed_ || !shared_) shared_ = std::make_shared<const HostInventory>(inventory_);
    changed_ = false;
    auto reading = std::make_shared<HostReading>();
    reading->taken = now;
    reading->inventory = shared_;
    reading->values.assign(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(inventory_.series.size()));
    reading->present.assign(present_.begin(), present_.begin() + static_cast<std::ptrdiff_t>(inventory_.series.size()));
    reading->facts = facts_;
    if (facts_) reading->facts_at = now;
    view_.reading = std::move(reading);
    view_.heard = now;
  }
  /// How its interfaces are set up, from its next reading on.
  void set_facts(FactTable facts) { facts_ = std::make_shared<const FactTable>(tidy(std::move(facts))); }

 private:
  std::size_t find(std::string_view series, const std::string& interface, Direction direction, std::uint8_t priority) {
    for (std::size_t i = 0; i < inventory_.series.size(); ++i) {
      const HostSeries& one = inventory_.series[i];
      if (one.name == series && one.device == interface && one.direction == direction && one.priority == priority)
        return i;
    }
    ADD_FAILURE() << view_.host << " has no " << series;
    return 0;
  }

  HostView view_;
  HostInventory inventory_;
  std::shared_ptr<const HostInventory> shared_;
  std::shared_ptr<const FactTable> facts_;
  std::vector<std::uint64_t> values_;
  std::vector<std::uint8_t> present_;
  bool changed_ = false;
};

/// The hosts of small_plan(), each with a collector, read and swept once a second.
struct ToldFabric {
  explicit ToldFabric(const CablePlan& plan = small_plan()) : fabric(*EthernetFabric::make(plan, "ethernet", kSecond)) {
    for (const CablePlan::Node& node : plan.nodes)
      if (!node.is_switch) add(plan, node.name);
  }

  static constexpr Duration kSecond = std::chrono::seconds(1);

  ToldHost& add(const CablePlan& plan, const std::string& name) {
    std::vector<std::string> interfaces;
    for (const CablePlan::Cable& cable : plan.cables)
      for (const CableEnd* end : {&cable.a, &cable.b})
        if (plan.nodes[end->node].name == name) interfaces.push_back(end->port);
    return hosts.try_emplace(name, name, interfaces).first->second;
  }
  ToldHost& host(const std::string& name) { return hosts.at(name); }

  std::vector<std::shared_ptr<const HostView>> views() {
    std::vector<std::shared_ptr<const HostView>> list;
    for (auto& [name, host] : hosts) list.push_back(std::make_shared<const HostView>(host.view()));
    return list;
  }
  /// A second passes; whoever is not silent reads.
  const Sweep& step() {
    now += kSecond;
    for (auto& [name, host] : hosts)
      if (host.view().state == CollectorState::kConnected) host.read(now);
    return last = fabric.sweep(views(), now);
  }

  /// "leaf01 swp1", "gpu-01 eth2"
  PortIndex index(const std::string& label) const {
    const Topology& topology = *fabric.topology();
    for (PortIndex port = 0; port < topology.ports().size(); ++port)
      if (topology.port(port).peer != kNoIndex && port_label(topology, port) == label) return port;
    ADD_FAILURE() << "no port " << label;
    return 0;
  }
  const Port& port(const std::string& label) const { return last.topology->port(index(label)); }
  /// -1: absent
  std::int64_t counter(const std::string& label, CounterId id) const {
    const auto column = last.counters->column(id);
    const PortIndex row = index(label);
    if (last.counters->read_at(row) == kNever) return -1;
    return last.counters->present(row, column) ? static_cast<std::int64_t>(last.counters->value(row, column)) : -1;
  }

  EthernetFabric fabric;
  std::map<std::string, ToldHost> hosts;
  TimePoint now{std::chrono::seconds(1'700'000'000)};
  Sweep last;
};

}  // namespace weft::analyzer
