// SPDX-License-Identifier: Apache-2.0
#include "fabric/graph/ecmp_path.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "fabric/graph/multipath.hpp"
#include "tests/fakes/ethernet_fabric.hpp"
#include "tests/fakes/three_tiers.hpp"

namespace weft {
namespace {

// Four spines, three leaves, two hosts on each.
class FlowPathTest : public ::testing::Test {
 protected:
  FlowPathTest() : fabric(fakes::EthernetFabric::leaf_spine(4, 3, 2)) {}
  EcmpPath ask(const std::string& from, const std::string& to) {
    topology = fabric.topology();
    const auto path = find_flow_path(Multipath(topology), intact_ways(*topology), port(from), port(to));
    if (!path) throw std::runtime_error("no answer");
    text = describe(*topology, *path, port(from), port(to));
    return *path;
  }
  // "leaf01" alone is its port 0.
  PortIndex port(const std::string& label) {
    for (const Node& node : topology->nodes())
      if (node.name == label) return node.first_port;
    return fakes::EthernetFabric::find(*topology, label);
  }
  std::string hop(const EcmpPath& path, std::size_t at) {
    const PortIndex from = path.hops.at(at).from;
    return port_label(*topology, from) + " - " + port_label(*topology, topology->port(from).peer);
  }
  fakes::EthernetFabric fabric;
  std::shared_ptr<const Topology> topology;
  std::string text;
};

TEST_F(FlowPathTest, FourSpinesAreFourWays) {
  const EcmpPath path = ask("gpu-01 eth2", "gpu-03 eth2");
  EXPECT_TRUE(path.arrived());
  EXPECT_EQ(path.ways, 4U);
  ASSERT_EQ(path.hops.size(), 1U + 4U + 4U + 1U);
  EXPECT_EQ(hop(path, 0), "gpu-01 eth2 - leaf01 swp1");
  EXPECT_EQ(hop(path, 1), "leaf01 swp49 - spine01 swp1");
  EXPECT_EQ(hop(path, 9), "leaf02 swp1 - gpu-03 eth2");
  for (std::size_t i = 1; i < 9; ++i) EXPECT_DOUBLE_EQ(path.hops[i].share, 0.25);
  EXPECT_EQ(path.hops[1].stage, 2U);
  EXPECT_EQ(path.hops[5].stage, 3U);
  EXPECT_EQ(path.hops[9].stage, 4U);
  EXPECT_EQ(text, "4 ECMP paths");
}

TEST_F(FlowPathTest, WhatIsDownIsShownAndPassedByNobody) {
  fabric.set_state("leaf01 swp50", PortState::kDown);
  EcmpPath path = ask("gpu-01 eth2", "gpu-03 eth2");
  EXPECT_EQ(path.ways, 3U);
  EXPECT_EQ(path.ways_intact, 4U);
  ASSERT_EQ(path.hops.size(), 1U + 4U + 3U + 1U) << "beyond the cable that is down nothing is on the way";
  EXPECT_EQ(hop(path, 2), "leaf01 swp50 - spine02 swp1");
  EXPECT_EQ(path.hops[2].share, 0);
  EXPECT_DOUBLE_EQ(path.hops[1].share, 1.0 / 3);
  EXPECT_EQ(text, "3 ECMP paths of 4: the other is cut by links that are down");

  // What nobody reads is no fault.
  fabric.set_state("leaf01 swp50", PortState::kUnknown);
  EXPECT_EQ(ask("gpu-01 eth2", "gpu-03 eth2").ways, 4U);
}

TEST_F(FlowPathTest, CutWaysAreSaidAndShown) {
  fabric.set_state("gpu-03 eth2", PortState::kDown);
  EcmpPath path = ask("gpu-01 eth2", "gpu-03 eth2");
  EXPECT_EQ(path.end, PathEnd::kLinkDown);
  EXPECT_EQ(text, "the link of gpu-03 eth2 is down");
  EXPECT_EQ(path.ways, 0U);
  ASSERT_EQ(path.hops.size(), 10U);
  for (const EcmpPath::Hop& each : path.hops) EXPECT_EQ(each.share, 0);

  for (const char* uplink : {"leaf01 swp49", "leaf01 swp50", "leaf01 swp51", "leaf01 swp52"})
    fabric.set_state(uplink, PortState::kDown);
  path = ask("gpu-01 eth2", "gpu-05 eth2");
  EXPECT_EQ(path.end, PathEnd::kNoRoute);
  EXPECT_EQ(text, "all paths from gpu-01 eth2 to gpu-05 eth2 are cut by links that are down");
  EXPECT_EQ(path.hops.size(), 10U);
  path = ask("gpu-01 eth2", "gpu-02 eth2");
  EXPECT_TRUE(path.arrived());
  EXPECT_EQ(path.hops.size(), 2U);
  EXPECT_EQ(text, "one path");
}

TEST_F(FlowPathTest, OtherIslandsAreNotReached) {
  fabric.cable("leaf09", "swp1", "gpu-09", "eth2");
  const EcmpPath path = ask("gpu-01 eth2", "gpu-09 eth2");
  EXPECT_EQ(path.end, PathEnd::kNoRoute);
  EXPECT_EQ(text, "no cables connect gpu-01 eth2 to gpu-09 eth2");
  EXPECT_TRUE(ask("gpu-09 eth2", "gpu-09 eth2").hops.empty());
}

TEST_F(FlowPathTest, SwitchesAreEndsToo) {
  EcmpPath path = ask("leaf01", "leaf03");
  EXPECT_EQ(path.hops.size(), 8U);
  EXPECT_EQ(path.ways, 4U);
  path = ask("spine02", "gpu-03 eth2");
  ASSERT_EQ(path.hops.size(), 2U);
  EXPECT_EQ(hop(path, 0), "spine02 swp2 - leaf02 swp50");
  // Where no host hangs, the way back tells.
  path = ask("gpu-03 eth2", "spine02");
  ASSERT_EQ(path.hops.size(), 2U);
  EXPECT_EQ(hop(path, 0), "gpu-03 eth2 - leaf02 swp1");
  EXPECT_EQ(hop(path, 1), "leaf02 swp50 - spine02 swp2");
  EXPECT_EQ(path.hops[1].stage, 2U);
  EXPECT_DOUBLE_EQ(path.hops[1].share, 1);
  EXPECT_FALSE(find_flow_path(Multipath(topology), intact_ways(*topology), port("spine01"), port("spine02")));
}

TEST_F(FlowPathTest, ALongerWayIsCalledSo) {
  fabric.cable("leaf01", "swp60", "leaf02", "swp60");
  EXPECT_EQ(ask("gpu-01 eth2", "gpu-03 eth2").hops.size(), 3U);
  fabric.set_state("leaf01 swp60", PortState::kDown);
  const EcmpPath path = ask("gpu-01 eth2", "gpu-03 eth2");
  EXPECT_TRUE(path.detour);
  EXPECT_EQ(path.hops.size(), 11U) << "ten on the way, and the one that is down";
  EXPECT_EQ(text, "4 ECMP paths, longer than the paths cut by links that are down");
}

TEST(EcmpPath, SharesAreThoseOfTheWaysThemselves) {
  auto fabric = fakes::three_tiers(3, 3, 2, 2, 2);
  std::mt19937 random(11);
  std::vector<PortIndex> hosts, inner;
  for (PortIndex port = 0; port < fabric.ports().size(); ++port) {
    const auto kind = [&](PortIndex at) { return fabric.nodes()[fabric.ports()[at].node].type; };
    const PortIndex peer = fabric.ports()[port].peer;
    if (kind(port) != NodeType::kSwitch) hosts.push_back(port);
    if (kind(port) == NodeType::kSwitch && peer != kNoIndex && kind(peer) == NodeType::kSwitch) inner.push_back(port);
  }
  std::size_t cut = 0;
  for (int round = 0; round < 60; ++round) {
    const auto topology = fabric.topology();
    const Multipath ways(topology);
    const PortIndex from = hosts[random() % hosts.size()], to = hosts[random() % hosts.size()];
    if (topology->port(from).node == topology->port(to).node) continue;
    const auto expected = ways.shares(from, to);
    const auto path = find_flow_path(ways, intact_ways(*topology), from, to);
    ASSERT_TRUE(path);
    EXPECT_EQ(path->arrived(), !expected.empty());
    cut += path->arrived() ? 0 : 1;
    std::map<PortIndex, double> found;
    for (const EcmpPath::Hop& hop : path->hops)
      if (hop.share > 0) found[hop.from] = hop.share;
    ASSERT_EQ(found.size(), expected.size());
    for (const Multipath::Share& share : expected) EXPECT_NEAR(found[share.sender], share.share, 1e-9);
    for (int i = 0; i < 2; ++i) fabric.port(inner[random() % inner.size()]).state = PortState::kDown;
  }
  EXPECT_GT(cut, 0U) << "in the end some are cut off";
}

}  // namespace
}  // namespace weft
