// SPDX-License-Identifier: Apache-2.0
#include "fabric/graph/directed_path.hpp"

#include <gtest/gtest.h>

#include "tests/fakes/fabric_builder.hpp"

namespace weft {
namespace {

// Two spines, three leaves of two hosts; we sit on host-0-0, at leaf-0.
class DirectedWayTest : public ::testing::Test {
 protected:
  DirectedWayTest() : fabric(fakes::FabricBuilder::fat_tree(2, 3, 2)) {}
  LinkKey link(const std::string& from, const std::string& to) { return fabric.link_of(fabric.port_towards(from, to)); }
  NodeGuid guid(const std::string& name) { return fabric.nodes()[fabric.find(name)].guid; }
  std::uint16_t exit(const std::string& from, const std::string& to) {
    return fabric.ports()[fabric.port_towards(from, to)].number.value;
  }
  DirectedPath ports(std::initializer_list<int> numbers) {
    DirectedPath way;
    for (const int number : numbers) way.push_back({static_cast<std::uint8_t>(number)});
    return way;
  }
  std::optional<DirectedPath> way(const std::string& to, std::optional<LinkKey> avoiding = {}) {
    return find_directed_path(*fabric.topology(), fabric.local_port(), guid(to), avoiding);
  }
  Result<LinkEnds> ends(LinkKey key) { return find_link_ends(*fabric.topology(), fabric.local_port(), key); }
  fakes::FabricBuilder fabric;
};

TEST_F(DirectedWayTest, LeavesByOneSwitchAfterTheOther) {
  EXPECT_EQ(way("host-0-0 mlx5_0"), DirectedPath{});
  EXPECT_EQ(way("leaf-0"), ports({1}));
  EXPECT_EQ(way("spine-1"), ports({1, exit("leaf-0", "spine-1")}));
  EXPECT_EQ(way("leaf-2", link("leaf-0", "spine-0")), ports({1, exit("leaf-0", "spine-1"), exit("spine-1", "leaf-2")}));
  EXPECT_EQ(find_directed_path(*fabric.topology(), fabric.local_port(), {42}, {}), std::nullopt);
}

TEST_F(DirectedWayTest, GoesRoundLinksThatAreDown) {
  fabric.unlink(fabric.port_towards("leaf-0", "spine-1"));
  EXPECT_EQ(way("spine-1")->size(), 4U) << "by spine-0 and another leaf";
  EXPECT_EQ(way("spine-1", link("leaf-0", "spine-0")), std::nullopt) << "nothing is left";
  const auto cables =
      find_directed_path(*fabric.topology(), fabric.local_port(), guid("spine-1"), {}, RouteOver::kCables);
  EXPECT_EQ(cables->size(), 2U);
}

TEST_F(DirectedWayTest, ABridgeIsTheLastLinkBetweenItsEnds) {
  const LinkKey uplink = link("leaf-0", "spine-0");
  EXPECT_FALSE(is_bridge(*fabric.topology(), uplink));
  EXPECT_TRUE(is_bridge(*fabric.topology(), link("leaf-0", "host-0-1 mlx5_0")));
  fabric.unlink(fabric.port_towards("leaf-0", "spine-1"));
  EXPECT_TRUE(is_bridge(*fabric.topology(), uplink));
  fabric.relink(fabric.port_towards("leaf-0", "spine-1"));
  fabric.unlink(fabric.port_towards("leaf-0", "spine-0"));
  EXPECT_FALSE(is_bridge(*fabric.topology(), uplink)) << "it is down, and nobody is cut off";
}

TEST_F(DirectedWayTest, DoesNotGoThroughAdapters) {
  // An adapter of two ports joins two leaves; their spines are gone.
  const NodeIndex bridge = fabric.add_adapter("bridge mlx5_0", 2);
  const NodeIndex lone = fabric.add_switch("lone", 4);
  fabric.connect(fabric.nodes()[lone].first_port + 1, fabric.nodes()[bridge].first_port);
  EXPECT_EQ(way("lone"), std::nullopt);
  const NodeIndex leaf = fabric.add_switch("more", 4);
  fabric.connect(fabric.nodes()[leaf].first_port + 1, fabric.nodes()[bridge].first_port + 1);
  EXPECT_EQ(way("more"), std::nullopt);
}

TEST_F(DirectedWayTest, IsNoLongerThanADatagramHolds) {
  NodeIndex last = fabric.find("leaf-2");
  std::uint16_t port = fabric.nodes()[last].port_count;
  fabric.unlink(fabric.nodes()[last].first_port + port);
  for (int i = 0; i < 60; ++i) {
    const NodeIndex next = fabric.add_switch("chain-" + std::to_string(i), 2);
    fabric.connect(fabric.nodes()[last].first_port + port, fabric.nodes()[next].first_port + 1);
    last = next;
    port = 2;
  }
  EXPECT_EQ(way("chain-58")->size(), 62U);
  EXPECT_EQ(way("chain-59"), std::nullopt);
}

TEST_F(DirectedWayTest, TheEndNearerToUsIsTheOneThatIsSet) {
  const auto own_leaf = ends(link("leaf-0", "spine-1"));
  ASSERT_TRUE(own_leaf) << own_leaf.error().message;
  EXPECT_EQ(own_leaf->ours.node, guid("leaf-0"));
  EXPECT_EQ(own_leaf->other.node, guid("spine-1"));
  EXPECT_TRUE(own_leaf->has_way_round());
  EXPECT_EQ(own_leaf->way_to_ours, ports({1}));
  EXPECT_EQ(own_leaf->way_to_other->size(), 4U) << "not over the link itself";
  const auto far_leaf = ends(link("leaf-2", "spine-1"));
  ASSERT_TRUE(far_leaf);
  EXPECT_EQ(far_leaf->ours.node, guid("spine-1"));
  EXPECT_EQ(far_leaf->ours.port.value, exit("spine-1", "leaf-2"));
}

TEST_F(DirectedWayTest, TheEndStaysTheSameWhileLinksComeAndGo) {
  const LinkKey key = link("leaf-2", "spine-1");
  fabric.unlink(fabric.port_towards("leaf-2", "spine-1"));
  EXPECT_EQ(ends(key)->ours.node, guid("spine-1")) << "once it is taken out";
  fabric.unlink(fabric.port_towards("leaf-0", "spine-1"));
  EXPECT_EQ(ends(key)->ours.node, guid("spine-1")) << "spine-1 is now the farther one";
}

TEST_F(DirectedWayTest, TheEndThatWasChosenBeforeIsOursWhicheverIsNearer) {
  const LinkKey key = link("leaf-2", "spine-1");
  for (const PortKey end : {key.low, key.high}) {
    const auto found = find_link_ends(*fabric.topology(), fabric.local_port(), key, end);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->ours, end);
    EXPECT_EQ(found->other, end == key.low ? key.high : key.low);
    EXPECT_EQ(found->way_to_ours, way(end.node == guid("leaf-2") ? "leaf-2" : "spine-1", key));
  }
  const auto other = find_link_ends(*fabric.topology(), fabric.local_port(), key, link("leaf-0", "spine-0").low);
  EXPECT_EQ(other.error().code, ErrorCode::kInvalidArgument);
}

TEST_F(DirectedWayTest, ALinkThatWasFoundDownIsTakenAtItsWord) {
  const LinkKey key = link("leaf-2", "spine-1");
  fabric.unlink(fabric.port_towards("leaf-2", "spine-1"));
  fabric.rediscover();
  const auto found = ends(key);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->ours.node, guid("spine-1"));
}

TEST_F(DirectedWayTest, RefusesWhatCouldNotBeUndone) {
  const auto why = [&](LinkKey key) {
    const auto found = ends(key);
    EXPECT_FALSE(found);
    return found ? Error{} : found.error();
  };
  Error error = why(fabric.link_of(fabric.port_of("host-1-0 mlx5_0", 1)));
  EXPECT_EQ(error.code, ErrorCode::kFailedPrecondition);
  EXPECT_NE(error.message.find("access link"), std::string::npos) << error.message;
  error = why(fabric.link_of(fabric.port_of("host-0-0 mlx5_0", 1)));
  EXPECT_EQ(error.code, ErrorCode::kFailedPrecondition);
  EXPECT_NE(error.message.find("that weftd uses"), std::string::npos) << error.message;

  error = why(make_link_key(link("leaf-1", "spine-0").low, link("leaf-2", "spine-1").high));
  EXPECT_EQ(error.code, ErrorCode::kFailedPrecondition);
  EXPECT_NE(error.message.find("now cabled to"), std::string::npos) << error.message;
  error = why(make_link_key({{43}, {1}}, {{42}, {1}}));
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument) << error.message;
}

TEST_F(DirectedWayTest, TheLastWayToAnEndHasNoWayRound) {
  const LinkKey last = link("leaf-2", "spine-1");
  fabric.unlink(fabric.port_towards("leaf-2", "spine-0"));
  auto found = ends(last);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->ours.node, guid("spine-1"));
  EXPECT_FALSE(found->has_way_round());
  EXPECT_TRUE(found->way_to_ours) << "taken out by mistake, it can be brought back";
  const LinkKey own = link("leaf-0", "spine-1");
  fabric.unlink(fabric.port_towards("leaf-0", "spine-0"));
  found = ends(own);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->ours.node, guid("leaf-0"));
  EXPECT_FALSE(found->has_way_round()) << "our own way out";
}

TEST_F(DirectedWayTest, AnEndThatOnlyTheLinkItselfLeadsToIsNeverOurs) {
  const LinkKey key = link("leaf-2", "spine-1");
  fabric.unlink(fabric.port_towards("leaf-2", "spine-0"));
  fabric.unlink(fabric.port_towards("leaf-2", "spine-1"));
  const NodeGuid cut_off = guid("leaf-2");
  fabric.silence(fabric.find("leaf-2"));
  fabric.rediscover();
  ASSERT_EQ(fabric.topology()->find_node(cut_off), kNoIndex);
  const auto found = ends(key);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->ours.node, guid("spine-1"));
  EXPECT_TRUE(found->way_to_ours);
  EXPECT_FALSE(found->way_to_other);
}

}  // namespace
}  // namespace weft
