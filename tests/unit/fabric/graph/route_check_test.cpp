// SPDX-License-Identifier: Apache-2.0
#include "fabric/graph/route_check.hpp"

#include <gtest/gtest.h>

#include "tests/fakes/fabric_builder.hpp"

namespace weft {
namespace {

// Two spines, three leaves of two hosts.
class RouteCheckTest : public ::testing::Test {
 protected:
  RouteCheckTest() : fabric(fakes::FabricBuilder::fat_tree(2, 3, 2)) { fabric.route(); }
  Reachability reach() { return check_reachability(*fabric.topology(), *fabric.routes()); }
  std::vector<PortIndex> loop() { return find_credit_loop(*fabric.topology(), *fabric.routes()); }
  PortNum towards(const std::string& from, const std::string& to) {
    return fabric.ports()[fabric.port_towards(from, to)].number;
  }
  void send(const std::string& at, const std::string& to, const std::string& through) {
    fabric.send(fabric.find(at), fabric.lid_of(to), towards(at, through));
  }
  bool routed(LinkKey link) {
    return is_routed_over(*fabric.topology(), *fabric.routes(), LidOwners(*fabric.topology()), link);
  }
  fakes::FabricBuilder fabric;
};

/// The slow way, for comparison: pair by pair.
Reachability pair_by_pair(const Topology& topology, const Routes& routes) {
  Reachability result;
  const LidOwners owners(topology);
  for (PortIndex from = 0; from < topology.ports().size(); ++from) {
    const Port& sender = topology.port(from);
    if (topology.node_of(sender).type == NodeType::kSwitch || !sender.is_up()) continue;
    for (std::uint16_t number = 1; number < 0xC000; ++number) {
      const PortIndex owner = owners.owner({number});
      if (owner == kNoIndex || owner == from || topology.node_of(topology.port(owner)).type == NodeType::kSwitch)
        continue;
      if (!topology.port(owner).is_up()) continue;
      ++result.pairs;
      const Path path = find_path(topology, routes, from, {number});
      if (path.end == PathEnd::kNotRead)
        ++result.unknown;
      else if (!path.arrived())
        ++result.lost;
    }
  }
  return result;
}

TEST_F(RouteCheckTest, AllPairsArrive) {
  const Reachability found = reach();
  EXPECT_TRUE(found.all_arrive());
  EXPECT_EQ(found.pairs, 6U * 5U);
  EXPECT_TRUE(loop().empty());
}

TEST_F(RouteCheckTest, NoTableLeadsBeyondPort254) {
  fakes::FabricBuilder great;
  const NodeIndex hub = great.add_switch("hub", 300);
  const PortIndex first = great.nodes()[hub].first_port;
  for (const unsigned number : {1U, 2U, 300U}) {
    const NodeIndex host = great.add_adapter("host-" + std::to_string(number) + " mlx5_0");
    great.connect(first + number, great.nodes()[host].first_port);
  }
  great.route();
  const auto topology = great.topology();
  const auto routes = great.routes();
  const Reachability reached = check_reachability(*topology, *routes);
  EXPECT_EQ(reached.lost, 2U) << "nobody reaches what is behind port 300";
  EXPECT_TRUE(find_credit_loop(*topology, *routes).empty());
  EXPECT_TRUE(destinations_over(*topology, *routes, LidOwners(*topology), first + 300).empty());
  EXPECT_TRUE(destinations_over(*topology, *routes, LidOwners(*topology), first + 255).empty()) << "255 is no egress";
}

TEST_F(RouteCheckTest, ALostPairIsNamed) {
  const Lid far = fabric.lid_of("host-2-1 mlx5_0");
  fabric.send(fabric.find("spine-0"), far, kNoEgress);
  fabric.send(fabric.find("spine-1"), far, kNoEgress);
  Reachability found = reach();
  EXPECT_FALSE(found.all_arrive());
  EXPECT_EQ(found.lost, 4U) << "the hosts of the two other leaves";
  EXPECT_EQ(found.to, far);
  EXPECT_FALSE(find_path(*fabric.topology(), *fabric.routes(), found.from, found.to).arrived());

  send("leaf-0", "host-2-1 mlx5_0", "host-0-0 mlx5_0");
  EXPECT_EQ(reach().lost, 4U) << "it ends at a host that does not have the LID";
  send("leaf-0", "host-2-1 mlx5_0", "spine-0");
  send("spine-0", "host-2-1 mlx5_0", "leaf-0");
  EXPECT_EQ(reach().lost, 4U) << "it runs in a circle";
  EXPECT_FALSE(loop().empty()) << "a circle of one LID is one of credits, too";
}

TEST_F(RouteCheckTest, WhatWasNotReadIsUnknownNotWell) {
  const auto topology = fabric.topology();
  RouteTables nothing(1);
  nothing.set_top(fabric.find("leaf-0"), Lid{20});
  const Reachability found = check_reachability(*topology, *nothing.publish());
  EXPECT_EQ(found.pairs, 30U);
  EXPECT_EQ(found.unknown, 30U);
  EXPECT_FALSE(found.all_arrive());
  EXPECT_FALSE(check_reachability(Topology{}, *nothing.publish()).all_arrive()) << "nobody is there";
}

TEST_F(RouteCheckTest, AHostThatIsDownIsNobodysPartner) {
  fabric.unlink(fabric.port_of("host-1-0 mlx5_0", 1));
  EXPECT_EQ(reach().pairs, 5U * 4U);
  EXPECT_TRUE(reach().all_arrive());
}

TEST_F(RouteCheckTest, ALinkIsUsedUntilTheTablesSayOtherwise) {
  const PortIndex end = fabric.port_towards("leaf-1", "spine-0");
  const LinkKey link = fabric.link_of(end);
  EXPECT_TRUE(routed(link));
  fabric.unlink(end);
  EXPECT_TRUE(routed(link)) << "the tables are the old ones";
  EXPECT_GT(reach().lost, 0U);
  fabric.route();
  EXPECT_FALSE(routed(link));
  EXPECT_TRUE(reach().all_arrive());
  EXPECT_TRUE(loop().empty());
  EXPECT_FALSE(routed(make_link_key({{1}, {1}}, {{2}, {1}}))) << "nobody knows it";
}

TEST_F(RouteCheckTest, DownAndUpAgainMakesACircle) {
  // What is for leaf-1 turns round at leaf-2, what is for leaf-0 at leaf-1.
  send("leaf-0", "host-1-0 mlx5_0", "spine-0");
  send("spine-0", "host-1-0 mlx5_0", "leaf-2");
  send("leaf-2", "host-1-0 mlx5_0", "spine-1");
  EXPECT_TRUE(reach().all_arrive());
  EXPECT_TRUE(loop().empty()) << "one turn waits for another, but not in a circle";
  send("leaf-2", "host-0-0 mlx5_0", "spine-1");
  send("spine-1", "host-0-0 mlx5_0", "leaf-1");
  send("leaf-1", "host-0-0 mlx5_0", "spine-0");
  // Closed by what goes from leaf-1 over spine-0 down to leaf-2 as it should.
  send("leaf-1", "host-2-0 mlx5_0", "spine-0");
  const auto circle = loop();
  ASSERT_EQ(circle.size(), 4U);
  EXPECT_TRUE(reach().all_arrive()) << "every packet arrives, while the fabric is not loaded";
  for (std::size_t i = 0; i < circle.size(); ++i) {
    const PortIndex peer = fabric.ports()[circle[i]].peer;
    EXPECT_EQ(fabric.ports()[peer].node, fabric.ports()[circle[(i + 1) % circle.size()]].node);
  }
}

TEST_F(RouteCheckTest, ATurnFromDownToUpIsFoundWhereSomebodyUsesIt) {
  const auto review = [this](std::size_t most = 100) {
    std::vector<std::uint8_t> tiers;
    for (const Node& node : fabric.nodes())
      tiers.push_back(node.type != NodeType::kSwitch ? 0 : node.name.starts_with("leaf") ? 1 : 2);
    return review_routes(*fabric.topology(), *fabric.routes(), tiers, most);
  };
  RouteReview found = review();
  EXPECT_EQ(found.known, 6U);
  EXPECT_EQ(found.destinations, 6U);
  EXPECT_EQ(found.turn, kNoIndex);
  EXPECT_EQ(found.lost, 0U);
  EXPECT_EQ(review(4).destinations, 3U) << "every second one";

  // What is for leaf-1 turns round at leaf-2; but as long as nobody sends it by spine-0, nobody does.
  for (const char* leaf : {"leaf-0", "leaf-2"}) send(leaf, "host-1-0 mlx5_0", "spine-1");
  send("spine-0", "host-1-0 mlx5_0", "leaf-2");
  EXPECT_EQ(review().turn, kNoIndex);
  send("leaf-0", "host-1-0 mlx5_0", "spine-0");
  found = review();
  EXPECT_EQ(found.turn, fabric.find("leaf-2"));
  EXPECT_EQ(found.turn_to, fabric.lid_of("host-1-0 mlx5_0"));
  EXPECT_EQ(found.lost, 0U);
  fabric.send(fabric.find("leaf-2"), fabric.lid_of("host-1-0 mlx5_0"), kNoEgress);
  EXPECT_EQ(review().lost, 4U) << "of the hosts at two leaves";
  fabric.node(fabric.find("leaf-2")).reachable = false;
  EXPECT_EQ(review().lost, 2U) << "whoever sits there is out of reach anyway";
}

TEST_F(RouteCheckTest, OnlyPairsThatWereThereBeforeAreNewlyLost) {
  const auto before = fabric.topology();
  const auto tables = fabric.routes();
  const auto lost = [&](std::size_t most = 100) {
    return count_newly_lost(*before, *tables, *fabric.topology(), *fabric.routes(), most);
  };
  EXPECT_EQ(lost(), 0U);
  const auto forget = [this](const char* at, const char* to) {
    fabric.send(fabric.find(at), fabric.lid_of(to), kNoEgress);
  };
  forget("leaf-2", "host-1-0 mlx5_0");
  EXPECT_EQ(lost(), 2U) << "of the two hosts of leaf-2";
  EXPECT_EQ(lost(0), 0U);
  // One that does not answer is in no table any more.
  for (const Node& node : fabric.nodes())
    if (node.type == NodeType::kSwitch) forget(node.name.c_str(), "host-0-0 mlx5_0");
  EXPECT_EQ(lost(), 2U);
  // The other way round: what is lost before, and what was not there before, is not new.
  const auto after = fabric.topology();
  const auto tables_after = fabric.routes();
  EXPECT_EQ(count_newly_lost(*after, *tables_after, *after, *tables_after, 100), 0U);
  fabric.power_off(fabric.find("host-1-0 mlx5_0"));
  fabric.rediscover();
  fabric.route();
  EXPECT_EQ(lost(), 0U) << "nobody is sent to who left";
  forget("leaf-2", "host-1-1 mlx5_0");
  EXPECT_EQ(lost(), 2U);
  EXPECT_EQ(count_newly_lost(*fabric.topology(), *fabric.routes(), *after, *tables_after, 100), 0U)
      << "nor counts who came";
}

TEST_F(RouteCheckTest, AgreesWithThePathOfEachPair) {
  std::mt19937 random(3);
  fabric = fakes::FabricBuilder::fat_tree(3, 5, 4);
  fabric.route();
  for (int round = 0; round < 60; ++round) {
    const auto node = static_cast<NodeIndex>(random() % fabric.nodes().size());
    if (fabric.nodes()[node].type != NodeType::kSwitch) continue;
    fabric.send(node, Lid{static_cast<std::uint16_t>(1 + random() % 28)},
                PortNum{static_cast<std::uint8_t>(random() % (fabric.nodes()[node].port_count + 2U))});
    if (round % 7 == 0) fabric.unlink(fabric.port_towards("leaf-" + std::to_string(random() % 5), "spine-1"));
    const auto topology = fabric.topology();
    const auto routes = fabric.routes();
    const Reachability ours = check_reachability(*topology, *routes);
    const Reachability theirs = pair_by_pair(*topology, *routes);
    EXPECT_EQ(ours.pairs, theirs.pairs);
    EXPECT_EQ(ours.lost, theirs.lost) << "round " << round;
    EXPECT_EQ(ours.unknown, theirs.unknown);
  }
}

}  // namespace
}  // namespace weft
