// SPDX-License-Identifier: Apache-2.0
#pragma once
// An Ethernet fabric without a plan: hosts with collectors that tell their neighbours, in simulated time.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/analyzer/ports/ethernet_hosts.hpp"
#include "tests/unit/analyzer/ports/told_neighbours.hpp"

namespace weft::analyzer {

/// ToldFabric's hosts, which also tell their neighbours, and no plan.
struct FoundHosts {
  FoundHosts() {
    told.fabric = EthernetFabric::find({"^swp", "^mgmt"}, "ethernet", ToldFabric::kSecond);
    for (const CablePlan::Cable& cable : plan.cables)
      neighbours.cables.push_back(
          {{plan.nodes[cable.a.node].name, cable.a.port}, {plan.nodes[cable.b.node].name, cable.b.port}});
  }
  /// A second passes.
  Sweep step() {
    told.now += ToldFabric::kSecond;
    const std::vector<NeighbourTeller> tellers = neighbours.tellers();
    std::vector<std::shared_ptr<const HostView>> views;
    for (auto& [name, host] : told.hosts) {
      host.read(told.now);
      HostView view = host.view();
      auto reading = std::make_shared<HostReading>(*view.reading);
      for (const NeighbourTeller& teller : tellers) {
        if (teller.name != name) continue;
        auto& last = tables[name];
        if (!last || *last != *teller.table) last = teller.table;
        reading->neighbours = last;
        reading->neighbours_at = told.now;
      }
      view.reading = std::move(reading);
      views.push_back(std::make_shared<const HostView>(std::move(view)));
    }
    return told.fabric.sweep(views, told.now);
  }
  /// The port that is called so, "leaf01 swp1".
  static PortIndex index(const Sweep& sweep, const std::string& label) {
    for (PortIndex i = 0; i < sweep.topology->ports().size(); ++i)
      if (port_label(*sweep.topology, i) == label) return i;
    ADD_FAILURE() << "no port " << label;
    return 0;
  }

  CablePlan plan = small_plan();
  ToldFabric told{plan};
  ToldNeighbours neighbours;
  std::map<std::string, std::shared_ptr<const NeighbourTable>> tables;
};

}  // namespace weft::analyzer
