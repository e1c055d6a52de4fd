// SPDX-License-Identifier: Apache-2.0
#include "fabric/graph/traffic.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tests/fakes/three_tiers.hpp"

namespace weft {
namespace {

constexpr std::uint64_t kPlenty = 1'000'000;

/// The slow way, for comparison: pair by pair.
Traffic pair_by_pair(const Topology& topology, const Routes& routes, const std::vector<PortIndex>& group) {
  Traffic result;
  std::set<PortIndex> senders;
  for (const PortIndex from : group)
    for (const PortIndex to : group) {
      if (topology.port(from).node == topology.port(to).node) continue;
      ++result.pairs;
      const Path path = find_path(topology, routes, from, topology.port(to).lid);
      for (const PathHop& hop : path.hops) senders.insert(hop.from);
      if (path.end == PathEnd::kNotRead)
        ++result.unread;
      else if (!path.arrived())
        ++result.broken;
    }
  result.senders.assign(senders.begin(), senders.end());
  return result;
}

class TrafficTest : public ::testing::Test {
 protected:
  // Three pods of two leaves with two hosts each.
  TrafficTest() : fabric(fakes::three_tiers(3, 2, 2, 2, 2)) { fabric.route(); }
  Traffic follow(const std::vector<PortIndex>& group, std::uint64_t most_steps = kPlenty) {
    const std::vector<PortIndex> groups[] = {group};
    return follow_traffic(*fabric.topology(), *fabric.routes(), groups, most_steps);
  }
  PortIndex host(const std::string& name) { return fabric.port_of("host-" + name + " mlx5_0", 1); }
  std::vector<PortIndex> all_hosts() const {
    std::vector<PortIndex> hosts;
    for (const Node& node : fabric.nodes())
      if (node.type == NodeType::kChannelAdapter) hosts.push_back(node.first_port);
    return hosts;
  }
  fakes::FabricBuilder fabric;
};

TEST_F(TrafficTest, UsesTheCablesOfItsPathsAndNoOthers) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<PortIndex> group = all_hosts();
    std::shuffle(group.begin(), group.end(), random);
    group.resize(2 + random() % (group.size() - 1));
    const Traffic found = follow(group);
    const Traffic expected = pair_by_pair(*fabric.topology(), *fabric.routes(), group);
    EXPECT_EQ(found.senders, expected.senders);
    EXPECT_EQ(found.pairs, expected.pairs);
    EXPECT_EQ(found.broken, 0U);
    EXPECT_TRUE(found.complete);
  }
}

TEST_F(TrafficTest, CountsWhatDoesNotArriveAsPathsDo) {
  std::mt19937 random(11);
  const std::vector<PortIndex> group = all_hosts();
  for (int round = 0; round < 20; ++round) {
    fabric.route();
    for (int broken = 0; broken < 6; ++broken) {
      const auto any = [&] { return static_cast<NodeIndex>(random() % fabric.nodes().size()); };
      NodeIndex at = any();
      while (fabric.nodes()[at].type != NodeType::kSwitch) at = any();
      const Lid to = fabric.ports()[group[random() % group.size()]].lid;
      const auto choice = random() % (fabric.nodes()[at].port_count + 2U);
      fabric.send(at, to,
                  choice > fabric.nodes()[at].port_count ? kNoEgress : PortNum{static_cast<std::uint8_t>(choice)});
    }
    const Traffic found = follow(group);
    const Traffic expected = pair_by_pair(*fabric.topology(), *fabric.routes(), group);
    EXPECT_EQ(found.pairs, expected.pairs);
    EXPECT_EQ(found.broken, expected.broken) << "round " << round;
    EXPECT_EQ(found.unread, expected.unread);
    EXPECT_EQ(found.senders, expected.senders);
    for (const Traffic::Pair& pair : found.examples)
      EXPECT_FALSE(find_path(*fabric.topology(), *fabric.routes(), pair.from, pair.to).arrived());
  }
}

TEST_F(TrafficTest, AWayOverADownLinkIsBroken) {
  fabric.unlink(fabric.port_towards("leaf-0-0", "host-0-0-1 mlx5_0"));
  const Traffic found = follow({host("0-0-0"), host("0-0-1")});
  EXPECT_EQ(found.pairs, 2U);
  EXPECT_EQ(found.broken, 1U);
  ASSERT_EQ(found.examples.size(), 1U);
  EXPECT_EQ(found.examples.front().from, host("0-0-0"));
}

TEST_F(TrafficTest, OneAloneSendsNothing) {
  const Traffic found = follow({host("0-0-0")});
  EXPECT_EQ(found.pairs, 0U);
  EXPECT_TRUE(found.senders.empty());
}

TEST_F(TrafficTest, GivesUpAtItsLimitAndSaysSo) {
  EXPECT_FALSE(follow(all_hosts(), 10).complete);
}

/// The slow way by equal-cost ways: the shares of every pair.
Traffic pair_by_pair(const Multipath& multipath, const std::vector<PortIndex>& group) {
  Traffic result;
  std::set<PortIndex> senders;
  for (const PortIndex from : group)
    for (const PortIndex to : group) {
      if (multipath.topology()->port(from).node == multipath.topology()->port(to).node) continue;
      ++result.pairs;
      const auto shares = multipath.shares(from, to);
      for (const Multipath::Share& share : shares) senders.insert(share.sender);
      if (shares.empty()) ++result.broken;
    }
  result.senders.assign(senders.begin(), senders.end());
  return result;
}

TEST_F(TrafficTest, EqualCostWaysUseEveryCableWithAShareOfSomePair) {
  std::mt19937 random(13);
  for (int round = 0; round < 60; ++round) {
    // Ever more cables are down, those of hosts among them, until it falls apart.
    std::vector<PortIndex> cables;
    for (PortIndex port = 0; port < fabric.ports().size(); ++port)
      if (fabric.ports()[port].peer != kNoIndex) cables.push_back(port);
    if (round % 2 == 1) fabric.port(cables[random() % cables.size()]).state = PortState::kDown;
    std::vector<PortIndex> group = all_hosts();
    std::shuffle(group.begin(), group.end(), random);
    group.resize(2 + random() % (group.size() - 1));
    const Multipath multipath(fabric.topology());
    const std::vector<PortIndex> groups[] = {group};
    const Traffic found = follow_traffic(multipath, groups, kPlenty);
    const Traffic expected = pair_by_pair(multipath, group);
    EXPECT_EQ(found.senders, expected.senders) << "round " << round;
    EXPECT_EQ(found.pairs, expected.pairs);
    EXPECT_EQ(found.broken, expected.broken);
    EXPECT_EQ(found.examples.empty(), expected.broken == 0);
    for (const Traffic::Pair& pair : found.examples) EXPECT_TRUE(multipath.shares(pair.from, pair.target).empty());
    EXPECT_TRUE(found.complete);
  }
}

TEST_F(TrafficTest, EqualCostWaysAreGivenUpAtTheLimit) {
  const Multipath multipath(fabric.topology());
  const std::vector<PortIndex> groups[] = {all_hosts()};
  EXPECT_FALSE(follow_traffic(multipath, groups, 10).complete);
}

}  // namespace
}  // namespace weft
