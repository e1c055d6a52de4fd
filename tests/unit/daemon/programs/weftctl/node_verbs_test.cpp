// SPDX-License-Identifier: Apache-2.0
// Nodes and the topology, whole and in part.

#include <gmock/gmock.h>

#include "tests/unit/daemon/programs/weftctl/verbs_fixture.hpp"

namespace weft::ctl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class NodeVerbs : public Verbs {
 protected:
  NodeVerbs() {
    api::SmallFabric fabric(3);
    fabric.nodes[1].name = "gpu-10 mlx5_0";
    fabric.nodes[2].name = "gpu-2 mlx5_7";
    fabric.nodes[3].name = "gpu-2 mlx5_0";
    fabric.nodes[1].reachable = false;
    publication.publish(api::make_snapshot(1, {fabric.build()}));
  }
  /// Names of the nodes, in the table's order.
  std::vector<std::string> nodes(const NodeChoice& choice) {
    const auto told = json(Exit::kGood, show_nodes, choice);
    const std::string table = say(Exit::kGood, show_nodes, choice);
    std::vector<std::string> names;
    for (const auto& node : told.value("nodes", nlohmann::json::array())) names.push_back(node["name"]);
    std::ranges::sort(names, {}, [&](const std::string& name) { return table.find(name); });
    return names;
  }
};

TEST_F(NodeVerbs, AreChosenByNameTextAndType) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(nodes({}), (Names{"gpu-2 mlx5_0", "gpu-2 mlx5_7", "gpu-10 mlx5_0", "leaf-1"}));
  EXPECT_EQ(nodes({.node = "gpu-2"}), (Names{"gpu-2 mlx5_0", "gpu-2 mlx5_7"})) << "a host: all its adapters";
  EXPECT_EQ(nodes({.node = "GPU-2 mlx5_7"}), (Names{"gpu-2 mlx5_7"}));
  EXPECT_EQ(nodes({.contains = "MLX5_0"}), (Names{"gpu-2 mlx5_0", "gpu-10 mlx5_0"}));
  EXPECT_EQ(nodes({.type = "switch"}), (Names{"leaf-1"}));
  EXPECT_EQ(nodes({.node = "gpu-2", .contains = "mlx5_7", .type = "adapter"}), (Names{"gpu-2 mlx5_7"}));
  EXPECT_EQ(nodes({.down_only = true}), (Names{"gpu-10 mlx5_0"}));
  EXPECT_EQ(say(Exit::kGood, show_nodes, NodeChoice{.type = "adapter", .names_only = true}), "gpu-2\ngpu-10\n");
  EXPECT_EQ(fails(show_nodes, NodeChoice{.node = "gpu-3"}).exit, Exit::kBadNews);
  EXPECT_STREQ(fails(show_topology, NodeChoice{.node = "leaf:3"}).what(),
               "no node named leaf:3; those with it in their names: weftctl nodes --contains leaf");
}

TEST_F(NodeVerbs, LinksAreInTheOrderInWhichPeopleCount) {
  api::SmallFabric first(2, "ib0"), second(2, "ib1");
  first.nodes[0].name = "leaf-10";
  second.nodes[0].name = "leaf-2";
  publication.publish(api::make_snapshot(2, {first.build(), second.build()}));
  const std::string table = say(Exit::kGood, show_links, LinkChoice{});
  std::vector<std::size_t> places;
  for (const char* end : {"\nleaf-2 port 1 ", "\nleaf-2 port 2 ", "\nleaf-10 port 1 ", "\nleaf-10 port 2 "})
    places.push_back(table.find(end));
  EXPECT_NE(places.back(), std::string::npos) << table;
  EXPECT_TRUE(std::ranges::is_sorted(places)) << table;
}

TEST_F(NodeVerbs, SayWhyTheListIsEmpty) {
  EXPECT_EQ(say(Exit::kGood, show_nodes, NodeChoice{.type = "router"}), "No routers are known.\n");
  EXPECT_EQ(say(Exit::kGood, show_nodes, NodeChoice{.contains = "x\x1b[2J"}), "No nodes contain \"x?[2J\".\n");
  EXPECT_EQ(say(Exit::kGood, show_nodes, NodeChoice{.type = "switch", .down_only = true}),
            "No switches are cut off.\n");
  EXPECT_EQ(say(Exit::kGood, show_nodes, NodeChoice{.node = "gpu-2", .contains = "mlx5_9"}),
            "No nodes of gpu-2 contain \"mlx5_9\".\n");
  EXPECT_EQ(say(Exit::kGood, show_topology, NodeChoice{.contains = "spine"}), "No nodes contain \"spine\".\n");
  publication.publish(api::make_snapshot(2, {}));
  EXPECT_EQ(say(Exit::kGood, show_nodes, NodeChoice{}),
            "No nodes are known.\nNot ready: no fabric is monitored yet.\n");
}

TEST_F(NodeVerbs, WithoutAPortAListSaysWhyItIsEmpty) {
  Snapshot snapshot = *api::make_snapshot(2, {});
  snapshot.no_port = "no active InfiniBand port; do this";
  publication.publish(std::make_shared<const Snapshot>(snapshot));
  const std::string why = "Not ready: no fabric is monitored yet: no active InfiniBand port; do this.\n";
  EXPECT_EQ(say(Exit::kGood, show_nodes, NodeChoice{}), "No nodes are known.\n" + why);
  EXPECT_EQ(say(Exit::kGood, show_topology, NodeChoice{}), "No nodes are known.\n" + why);
  EXPECT_EQ(say(Exit::kGood, show_links, LinkChoice{}), "No links are known.\n" + why);
  const std::string status = say(Exit::kBadNews, show_status);
  EXPECT_TRUE(status.starts_with("No fabric is monitored yet: no active InfiniBand port; do this.\n")) << status;
  EXPECT_EQ(status.find("Not ready"), std::string::npos) << "it is said once";
}

TEST_F(NodeVerbs, TheTopologyIsSortedAndMayBeOfOneNode) {
  const std::string whole = say(Exit::kGood, show_topology, NodeChoice{});
  EXPECT_LT(whole.find("adapter gpu-2 mlx5_0"), whole.find("adapter gpu-10 mlx5_0"));
  EXPECT_LT(whole.find("adapter gpu-10 mlx5_0"), whole.find("switch leaf-1"));
  const std::string one = say(Exit::kGood, show_topology, NodeChoice{.node = "gpu-10"});
  EXPECT_THAT(one, HasSubstr("adapter gpu-10 mlx5_0"));
  EXPECT_THAT(one, HasSubstr("leaf-1 port 1\n"));
  EXPECT_THAT(one, Not(HasSubstr("switch leaf-1")));
  const auto told = json(Exit::kGood, show_topology, NodeChoice{.node = "gpu-10"});
  EXPECT_EQ(told["nodes"].size(), 1U);
  EXPECT_EQ(told["ports"].size(), 1U);
  EXPECT_EQ(told["links"].size(), 1U);
  EXPECT_EQ(fails(show_topology, NodeChoice{.node = "gpu-3"}).exit, Exit::kBadNews);
}

}  // namespace
}  // namespace weft::ctl
