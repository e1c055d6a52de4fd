// SPDX-License-Identifier: Apache-2.0
#include "fabric/graph/multipath.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "tests/fakes/three_tiers.hpp"

namespace weft {
namespace {

// Three pods of two leaves with two hosts each; two spines a pod, two cores above each spine's plane.
class MultipathTest : public ::testing::Test {
 protected:
  MultipathTest() : fabric(fakes::three_tiers(3, 2, 2, 2, 2)) { fabric.route(); }
  Multipath ways() { return Multipath(fabric.topology()); }
  PortIndex host(const std::string& name) { return fabric.port_of("host-" + name + " mlx5_0", 1); }
  std::vector<PortIndex> all_hosts() const {
    std::vector<PortIndex> hosts;
    for (const Node& node : fabric.nodes())
      if (node.type == NodeType::kChannelAdapter) hosts.push_back(node.first_port);
    return hosts;
  }
  fakes::FabricBuilder fabric;
};

/// The slow way, for comparison: distances to one host by relaxing every cable until nothing changes, then all that is
/// sent followed cable by cable, with an even split over every cable that leads nearer.
struct Tried {
  static constexpr int kFar = 1000;
  Tried(const Topology& graph, PortIndex from, PortIndex to) : topology(graph), away(graph.nodes().size(), kFar) {
    away[topology.port(to).node] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (PortIndex port = 0; port < topology.ports().size(); ++port) {
        if (!up(port) || !passes(topology.port(port).node)) continue;
        int& here = away[topology.port(port).node];
        const int better = away[topology.port(topology.port(port).peer).node] + 1;
        changed = changed || better < here;
        here = std::min(here, better);
      }
    }
    const NodeIndex first = topology.port(topology.port(from).peer).node;
    if (!up(from) || away[first] >= kFar) return;
    shares[from] = 1;
    spread(first, 1.0);
  }
  bool passes(NodeIndex node) const { return topology.node(node).type == NodeType::kSwitch; }
  bool up(PortIndex port) const {
    const PortIndex peer = topology.port(port).peer;
    return peer != kNoIndex && topology.port(port).state != PortState::kDown &&
           topology.port(peer).state != PortState::kDown;
  }
  void spread(NodeIndex node, double amount) {
    if (away[node] == 0) return;
    std::vector<PortIndex> best;
    const Node& at = topology.node(node);
    for (PortIndex port = at.first_port; port < at.first_port + at.port_entries(); ++port)
      if (up(port) && away[topology.port(topology.port(port).peer).node] == away[node] - 1) best.push_back(port);
    for (const PortIndex port : best) {
      shares[port] += amount / static_cast<double>(best.size());
      spread(topology.port(topology.port(port).peer).node, amount / static_cast<double>(best.size()));
    }
  }
  const Topology& topology;
  std::vector<int> away;
  std::map<PortIndex, double> shares{};
};

TEST_F(MultipathTest, SharesAreThoseOfAllShortestWays) {
  std::mt19937 random(3);
  const std::vector<PortIndex> hosts = all_hosts();
  for (int round = 0; round < 30; ++round) {
    const Multipath multipath = ways();
    const PortIndex from = hosts[random() % hosts.size()], to = hosts[random() % hosts.size()];
    const auto found = multipath.shares(from, to);
    if (from == to) {
      EXPECT_TRUE(found.empty());
      continue;
    }
    const Topology& topology = *fabric.topology();
    const Tried tried(topology, from, to);
    std::map<PortIndex, double> sums;
    for (const Multipath::Share& share : found) sums[share.sender] += share.share;
    ASSERT_EQ(sums.size(), tried.shares.size());
    ASSERT_EQ(sums.size(), found.size());
    for (const auto& [port, share] : tried.shares) EXPECT_NEAR(sums[port], share, 1e-9);
    // One more cable between switches goes down for the next round.
    std::vector<PortIndex> inner;
    for (PortIndex port = 0; port < topology.ports().size(); ++port)
      if (tried.up(port) && topology.node_of(topology.port(port)).type == NodeType::kSwitch &&
          topology.node_of(topology.port(topology.port(port).peer)).type == NodeType::kSwitch)
        inner.push_back(port);
    if (round % 3 == 0 && !inner.empty()) fabric.port(inner[random() % inner.size()]).state = PortState::kDown;
  }
}

TEST_F(MultipathTest, SplitsAcrossThePodAndBeyondIt) {
  const Multipath multipath = ways();
  // Two spines in the pod, and two cores above each of them.
  EXPECT_EQ(multipath.shares(host("0-0-0"), host("0-0-1")).size(), 2U);
  EXPECT_EQ(multipath.shares(host("0-0-0"), host("0-1-0")).size(), 2U + 2U + 2U);
  const auto far = multipath.shares(host("0-0-0"), host("1-0-0"));
  ASSERT_EQ(far.size(), 2U + 2U + 4U + 4U + 2U);
  EXPECT_DOUBLE_EQ(far.front().share, 1);
  EXPECT_DOUBLE_EQ(far[1].share, 0.5);
  EXPECT_DOUBLE_EQ(far[3].share, 0.25);
  EXPECT_DOUBLE_EQ(far.back().share, 1);
}

TEST_F(MultipathTest, CarriesWhatSomeDestinationBringsOverBoth) {
  const Multipath multipath = ways();
  const Topology& topology = *fabric.topology();
  const std::vector<PortIndex> hosts = all_hosts();
  for (PortIndex egress = 0; egress < topology.ports().size(); ++egress) {
    const PortIndex peer = topology.port(egress).peer;
    if (peer == kNoIndex) continue;
    const NodeIndex between = topology.port(peer).node;
    if (topology.node(between).type != NodeType::kSwitch) continue;
    for (PortIndex next = topology.node(between).first_port;
         next < topology.node(between).first_port + topology.node(between).port_entries(); ++next) {
      if (topology.port(next).peer == kNoIndex) continue;
      bool expected = false;
      for (const PortIndex to : hosts) {
        const auto into = multipath.next_hops(topology.port(egress).node, to);
        const auto out = multipath.next_hops(between, to);
        expected = expected || (std::ranges::find(into, egress) != into.end() &&
                                std::ranges::find(out, next) != out.end() && next != peer);
      }
      EXPECT_EQ(multipath.carries(egress, next), expected)
          << port_label(topology, egress) << " then " << port_label(topology, next);
    }
  }
}

TEST_F(MultipathTest, WhoIsCutOffIsReachedByNobody) {
  const PortIndex to = host("1-0-0");
  fabric.port(to).state = PortState::kDown;
  const Multipath multipath = ways();
  EXPECT_TRUE(multipath.shares(host("0-0-0"), to).empty());
  EXPECT_FALSE(multipath.shares(host("0-0-0"), host("1-0-1")).empty());
  EXPECT_TRUE(multipath.next_hops(fabric.topology()->port(fabric.topology()->port(to).peer).node, to).empty());
}

TEST_F(MultipathTest, DestinationsOfAnUplinkAreAllOtherLeaves) {
  const Multipath multipath = ways();
  const Topology& topology = *fabric.topology();
  const PortIndex from = host("0-0-0"), there = host("2-1-0");
  const auto far = multipath.shares(from, there);
  ASSERT_GT(far.size(), 2U);
  EXPECT_EQ(multipath.destinations_over(far[1].sender).size(), 5U);
  const PortIndex down = topology.port(there).peer;
  EXPECT_EQ(multipath.destinations_over(down), std::vector<NodeIndex>{topology.port(down).node});
  EXPECT_TRUE(multipath.destinations_over(from).empty());
}

TEST_F(MultipathTest, AFlowMayPassTheCablesOfItsShortestWaysAndNoOther) {
  fabric.port(host("1-0-1")).state = PortState::kDown;
  const Multipath multipath = ways();
  const Topology& topology = *fabric.topology();
  const std::vector<PortIndex> hosts = all_hosts();
  for (const PortIndex from : hosts) {
    std::vector<std::uint8_t> passes(topology.ports().size(), 0);
    for (const PortIndex to : hosts)
      for (const Multipath::Share& share : multipath.shares(from, to)) passes[share.sender] = 1;
    for (PortIndex port = 0; port < topology.ports().size(); ++port) {
      if (port == from || topology.port(port).peer == kNoIndex) continue;
      EXPECT_EQ(multipath.may_pass(from, port), passes[port] != 0) << from << " over " << port;
    }
  }
}

}  // namespace
}  // namespace weft
