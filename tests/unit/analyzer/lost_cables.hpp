// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two subnets whose rules ask each other where something went.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/unit/analyzer/watch.hpp"

namespace weft::analyzer {

// Two subnets that are swept one after the other.
struct LostCables : testing::Test {
  static constexpr const char* kHost = "host-1-0 mlx5_0";
  LostCables() {
    for (NodeIndex node = 0; node < there.fabric.nodes().size(); ++node) {
      there.fabric.node(node).guid.value += 0x100000;
      there.fabric.node(node).name = "b-" + there.fabric.nodes()[node].name;
    }
    there.fabric.set_local_port(there.fabric.key_of(there.fabric.port_of("b-host-0-0 mlx5_0", 1)));
    there.name = "test-2";
    there.analyzer = FabricAnalyzer(there.name, {});
    here.others = {&there};
    there.others = {&here};
    sweeps(3);
    for (const Node& node : here.fabric.nodes()) guids[node.name] = node.guid;
  }
  void sweeps(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      here.sweeps(1);
      sweeps_there(1);
    }
  }
  // Nobody reads `here` meanwhile.
  void sweeps_there(unsigned count) {
    there.fabric.advance(here.fabric.now() - there.fabric.now());
    there.sweeps(count);
    here.fabric.advance(there.fabric.now() - here.fabric.now());
  }
  // Of `here` the sweeper has started anew, too.
  void restart() {
    here.restart();
    there.restart();
    here.fabric.rediscover();
  }
  PortIndex free_place() {
    const PortIndex place = there.fabric.port_towards("b-leaf-1", "b-host-1-1 mlx5_0");
    there.fabric.unlink(place);
    there.fabric.port(there.fabric.port_of("b-host-1-1 mlx5_0", 1)).peer = kNoIndex;
    return place;
  }
  // An adapter with the GUID of `name` gets the place of b-host-1-1.
  PortIndex plug_there(const std::string& name) {
    const PortIndex place = free_place();
    there.fabric.node(there.fabric.add_adapter(name)).guid = guids.at(name);
    there.fabric.connect(place, there.fabric.port_of(name, 1));
    return place;
  }
  void power_off_leaf() {
    here.fabric.power_off(here.fabric.find("leaf-1"));
    for (int host = 0; host < 4; ++host)
      here.fabric.silence(here.fabric.find("host-1-" + std::to_string(host) + " mlx5_0"));
  }
  // It gets the place of b-host-1-1, with its first hosts.
  void plug_leaf_there(int hosts) {
    const PortIndex place = free_place();
    there.fabric.node(there.fabric.add_switch("leaf-1", 6)).guid = guids.at("leaf-1");
    there.fabric.connect(place, there.fabric.port_of("leaf-1", 2));
    for (int host = 0; host < hosts; ++host) plug_behind_leaf(host);
  }
  void plug_behind_leaf(int host) {
    const std::string name = "host-1-" + std::to_string(host) + " mlx5_0";
    there.fabric.node(there.fabric.add_adapter(name)).guid = guids.at(name);
    there.fabric.connect(there.fabric.port_of("leaf-1", static_cast<std::uint16_t>(host + 3)),
                         there.fabric.port_of(name, 1));
  }
  std::vector<IncidentKind> open_here() const {
    std::vector<IncidentKind> kinds;
    for (const Incident& incident : here.open()) kinds.push_back(incident.finding.kind);
    return kinds;
  }
  static constexpr unsigned kBroughtUp = 1000;  // sweeps of a second, after which a new link counts
  using Kinds = std::vector<IncidentKind>;
  static constexpr IncidentKind kDown = IncidentKind::kLinkDown, kDouble = IncidentKind::kDuplicateGuid;
  std::map<std::string, NodeGuid> guids;
  Watch here{fakes::FabricBuilder::fat_tree(2, 4, 4)}, there{fakes::FabricBuilder::fat_tree(2, 4, 4)};
};

}  // namespace weft::analyzer
