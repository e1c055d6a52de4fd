// SPDX-License-Identifier: Apache-2.0
#pragma once
// A made-up fabric whose flows lose packets on purpose, as its hosts and its counters show it.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/loss/loss_tracker.hpp"
#include "fabric/graph/path.hpp"
#include "tests/fakes/fabric_builder.hpp"

namespace weft::analyzer {

struct Flow {
  std::string from, to;
  std::uint64_t packets = 1'000'000;  ///< per second
};

/// Four leaves with four hosts each, two spines; flows whose packets get lost on purpose.
struct LossyFabric {
  LossyFabric() {
    fabric.route();
    for (const Node& node : fabric.nodes())
      if (node.type == NodeType::kChannelAdapter) hosts.push_back(node.name);
  }

  PortIndex port(const std::string& host) const { return fabric.port_of(host, 1); }

  void all_to_all() {
    for (const std::string& from : hosts)
      for (const std::string& to : hosts)
        if (from != to) flows.push_back({from, to, 100'000});
  }

  /// Takes the cable of `port` out, as a later sweep sees it that found one of its ends elsewhere.
  void pull(PortIndex port) {
    fabric.port(fabric.ports()[port].peer).peer = kNoIndex;
    fabric.port(port).peer = kNoIndex;
  }

  /// One second passes.
  Sweep second() {
    const Sweep before = last.topology ? last : fabric.sweep();
    for (const Flow& flow : flows) {
      const std::vector<std::vector<PathHop>> ways = ways_of(before, flow);
      std::uint64_t arrived = 0;
      for (const std::vector<PathHop>& way : ways) {
        std::uint64_t packets = flow.packets / ways.size();
        for (const PathHop& hop : way) {
          const NodeIndex node = fabric.ports()[hop.from].node;
          packets -= static_cast<std::uint64_t>(static_cast<double>(packets) * lost_in[node]);
          fabric.add_counter(hop.from, CounterId::kTransmitPackets, packets);
          packets -= static_cast<std::uint64_t>(static_cast<double>(packets) * lost_on[hop.from]);
          fabric.add_counter(hop.to, CounterId::kReceivePackets, packets);
        }
        arrived += packets;
      }
      TransferTotals& from = totals[flow.from];
      TransferTotals& to = totals[flow.to];
      from.sent += flow.packets;
      from.sent_again += flow.packets - arrived;
      to.received += arrived;
      to.out_of_sequence += flow.packets - arrived;
    }
    last = fabric.sweep();
    return last;
  }

  /// The way of the tables; with `spread` the ways over both spines.
  std::vector<std::vector<PathHop>> ways_of(const Sweep& sweep, const Flow& flow) const {
    const Path path = find_path(*sweep.topology, *sweep.routes, port(flow.from), fabric.lid_of(flow.to));
    EXPECT_TRUE(path.arrived());
    if (!spread || path.hops.size() != 4) return {path.hops};
    std::vector<std::vector<PathHop>> ways(2, path.hops);
    const auto name = [&](PortIndex at) { return fabric.nodes()[fabric.ports()[at].node].name; };
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const std::string spine = "spine-" + std::to_string(i);
      const std::string up = name(path.hops[1].from);
      const std::string down = name(path.hops[2].to);
      ways[i][1] = {fabric.port_towards(up, spine), fabric.port_towards(spine, up)};
      ways[i][2] = {fabric.port_towards(spine, down), fabric.port_towards(down, spine)};
    }
    return ways;
  }

  std::vector<TransferEnd> ends() {
    std::vector<TransferEnd> all;
    for (const std::string& host : hosts)
      all.push_back({.port = port(host), .rail = 0, .totals = totals[host], .jobs = {0}});
    return all;
  }
  std::vector<LossEnd> lost() {
    std::vector<LossEnd> all;
    for (const TransferEnd& end : ends()) {
      LossEnd& lost = all.emplace_back();
      lost.port = end.port;
      lost.jobs = end.jobs;
      lost.sent = static_cast<double>(end.totals.sent);
      lost.received = static_cast<double>(end.totals.received);
      lost.sent_again = static_cast<double>(end.totals.sent_again);
      lost.out_of_sequence = static_cast<double>(end.totals.out_of_sequence);
    }
    return all;
  }
  std::vector<LossHypothesis> find(const LossWitness& witness = {}, std::vector<LossHypothesis>* rivals = nullptr) {
    const auto ends = lost();
    return find_losses({.topology = *last.topology, .routes = last.routes.get(), .ends = ends}, {}, witness, rivals);
  }
  LossSuspect cable(const std::string& from, const std::string& to) const {
    return {.sender = fabric.port_towards(from, to), .node = kNoIndex};
  }
  LossSuspect device(const std::string& name) const { return {.sender = kNoIndex, .node = fabric.find(name)}; }

  fakes::FabricBuilder fabric = fakes::FabricBuilder::fat_tree(2, 4, 4);
  std::vector<std::string> hosts;
  std::vector<Flow> flows;
  std::map<PortIndex, double> lost_on;  ///< by sending port
  std::map<NodeIndex, double> lost_in;
  bool spread = false;  ///< adaptive routing: each flow over both spines, whatever the tables say
  std::map<std::string, TransferTotals> totals;
  Sweep last;
};

}  // namespace weft::analyzer
