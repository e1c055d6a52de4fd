// SPDX-License-Identifier: Apache-2.0
#pragma once
// A made-up Ethernet fabric, as a plan of its cables gives it.

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/graph/multipath.hpp"
#include "fabric/sweep.hpp"

namespace weft::fakes {

/// Lay cables by names, then take topology() or sweep(). A host's interface is a node of its own, "gpu-01 eth2", with
/// one port; a switch has its ports in the order in which they got cables. Links come up Active at 400 Gb/s.
class EthernetFabric {
 public:
  explicit EthernetFabric(std::string name = "ethernet") : name_(std::move(name)) {}

  /// `spines` spines above `leaves` leaves with `hosts` hosts each: "spine01", "leaf01", "gpu-01", counted through.
  /// Port swp1… of a leaf leads to its hosts' "eth2", swp49… to the spines; swp<l> of a spine to leaf l.
  static EthernetFabric leaf_spine(unsigned spines, unsigned leaves, unsigned hosts) {
    EthernetFabric fabric;
    unsigned host = 0;
    for (unsigned leaf = 1; leaf <= leaves; ++leaf) {
      for (unsigned h = 1; h <= hosts; ++h)
        fabric.cable(two("leaf", leaf), "swp" + std::to_string(h), two("gpu-", ++host), "eth2");
      for (unsigned spine = 1; spine <= spines; ++spine)
        fabric.cable(two("leaf", leaf), "swp" + std::to_string(48 + spine), two("spine", spine),
                     "swp" + std::to_string(leaf));
    }
    return fabric;
  }
  /// "leaf01" of "leaf" and 1.
  static std::string two(const std::string& name, unsigned number) {
    return name + (number < 10 ? "0" : "") + std::to_string(number);
  }

  /// A cable between two ports, each made where it is not there. A node whose name begins with "gpu" is a host.
  void cable(const std::string& node, const std::string& port, const std::string& other, const std::string& far) {
    const auto one = end(node, port);
    cables_.emplace_back(one, end(other, far));
  }
  /// Both ends of the cable at the port, "leaf01 swp3", "gpu-01 eth2": kDown as when it is pulled, kUnknown as when
  /// nobody reads them.
  void set_state(const std::string& label, PortState state) { states_[label] = state; }

  std::shared_ptr<const Topology> topology() const {
    std::vector<Node> nodes;
    std::vector<Port> ports;
    std::vector<std::string> names;
    std::map<std::pair<std::size_t, std::size_t>, PortIndex> place;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      Node node;
      node.guid = {0x0200'0000'0000'0000ULL + 0x100 * (n + 1)};
      node.type = nodes_[n].host ? NodeType::kChannelAdapter : NodeType::kSwitch;
      node.port_count = static_cast<std::uint16_t>(nodes_[n].ports.size());
      node.first_port = static_cast<PortIndex>(ports.size());
      node.name = node.description = nodes_[n].name;
      for (unsigned entry = 0; entry < node.port_entries(); ++entry) {
        Port port;
        port.node = static_cast<NodeIndex>(n);
        port.number = {static_cast<std::uint16_t>(entry + node.lowest_port())};
        port.guid = {node.guid.value + (nodes_[n].host ? 1U : 0U)};
        names.push_back(port.number.value == 0 ? std::string() : nodes_[n].ports[port.number.value - 1U]);
        if (port.number.value > 0) place[{n, port.number.value - 1U}] = static_cast<PortIndex>(ports.size());
        ports.push_back(port);
      }
      nodes.push_back(std::move(node));
    }
    for (const auto& [one, other] : cables_) connect(place.at(one), place.at(other), ports);
    auto plain =
        std::make_shared<const Topology>(1, nodes, ports, std::vector<DuplicateGuid>(), LinkLayer::kEthernet, names);
    for (PortIndex index = 0; index < ports.size(); ++index)
      if (const auto found = states_.find(port_label(*plain, index)); found != states_.end())
        for (const PortIndex at : {index, ports[index].peer}) {
          ports[at].state = found->second;
          ports[at].ethernet_rate = 0;
        }
    return std::make_shared<const Topology>(1, std::move(nodes), std::move(ports), std::vector<DuplicateGuid>(),
                                            LinkLayer::kEthernet, std::move(names));
  }
  /// Read just now, without counters.
  Sweep sweep() const {
    Sweep sweep;
    sweep.fabric = name_;
    sweep.number = 1;
    sweep.started = sweep.finished = now();
    sweep.interval = std::chrono::seconds(1);
    sweep.topology = topology();
    sweep.multipath = std::make_shared<const Multipath>(sweep.topology);
    for (const Port& port : sweep.topology->ports())
      sweep.state_read_at.push_back(port.state == PortState::kUnknown ? kNever : now());
    sweep.counters = std::make_shared<const SampleTable>(
        SampleTable::of_group(CounterGroup::kEverySweep, sweep.topology->ports().size()));
    return sweep;
  }
  const std::string& name() const { return name_; }
  static TimePoint now() { return TimePoint(std::chrono::seconds(1'700'000'000)); }

  /// The port that is called so; throws when there is none.
  static PortIndex find(const Topology& topology, std::string_view label) {
    for (PortIndex index = 0; index < topology.ports().size(); ++index)
      if (port_label(topology, index) == label) return index;
    throw std::invalid_argument("no port " + std::string(label));
  }

 private:
  struct Place {
    std::string name;
    bool host = false;
    std::vector<std::string> ports{};
  };
  static void connect(PortIndex one, PortIndex other, std::vector<Port>& ports) {
    ports[one].peer = other;
    ports[other].peer = one;
    for (const PortIndex index : {one, other}) {
      ports[index].state = PortState::kActive;
      ports[index].physical_state = PortPhysicalState::kLinkUp;
      ports[index].ethernet_rate = 400'000'000'000;
      ports[index].wait_tick_seconds = 1e-6F;
    }
  }
  std::pair<std::size_t, std::size_t> end(const std::string& node, const std::string& port) {
    const bool host = node.starts_with("gpu");
    const std::string name = host ? node + ' ' + port : node;
    std::size_t n = 0;
    while (n < nodes_.size() && nodes_[n].name != name) ++n;
    if (n == nodes_.size()) nodes_.push_back({name, host});
    std::vector<std::string>& ports = nodes_[n].ports;
    std::size_t p = 0;
    while (p < ports.size() && ports[p] != port) ++p;
    if (p == ports.size()) ports.push_back(port);
    return {n, p};
  }

  std::string name_;
  std::vector<Place> nodes_;
  std::vector<std::pair<std::pair<std::size_t, std::size_t>, std::pair<std::size_t, std::size_t>>> cables_;
  std::map<std::string, PortState> states_;
};

}  // namespace weft::fakes
