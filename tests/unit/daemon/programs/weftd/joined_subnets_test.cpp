// SPDX-License-Identifier: Apache-2.0
// Two subnets that are watched get a cable between them by mistake, and lose it again.

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/daemon/programs/weftd/moved_switch_fixture.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

class JoinedSubnetsTest : public MovedSwitchTest {
 protected:
  void begin(store::Restored restored = {}) {
    start(std::move(restored));
    core->add_fabric("test", LinkLayer::kInfiniBand, "mlx5_0:1");
    core->add_fabric("two", LinkLayer::kInfiniBand, "mlx5_1:1");
  }
  struct Cabling {
    std::vector<Node> nodes;
    std::vector<Port> ports;
  };
  // What the sweeper finds there anew.
  static void add(fakes::FabricBuilder& subnet, const Cabling& found) {
    std::vector<PortIndex> first;
    for (const Node& node : found.nodes) {
      const auto entries = static_cast<std::uint16_t>(node.port_entries());
      const NodeIndex added = node.type == NodeType::kSwitch
                                  ? subnet.add_switch(node.name, static_cast<std::uint16_t>(entries - 1))
                                  : subnet.add_adapter(node.name, entries);
      subnet.node(added).guid = node.guid;
      first.push_back(subnet.nodes()[added].first_port);
    }
    const auto place = [&](PortIndex port) {
      const NodeIndex node = found.ports[port].node;
      return first[node] + (port - found.nodes[node].first_port);
    };
    for (PortIndex port = 0; port < found.ports.size(); ++port)
      if (const PortIndex peer = found.ports[port].peer; peer != kNoIndex && port < peer)
        subnet.connect(place(port), place(peer));
  }
  void join() {
    const Cabling a{before.nodes(), before.ports()}, b{fabric.nodes(), fabric.ports()};
    add(fabric, a);
    add(before, b);
    for (fakes::FabricBuilder* const each : {&fabric, &before})
      each->connect(each->port_of("leaf-0", 4), each->port_of("a-leaf-0", free_port_of_a));
  }
  void part() {
    for (auto [each, is_a] : {std::pair(&fabric, false), std::pair(&before, true)}) {
      each->unlink(each->port_of("leaf-0", 4));
      for (NodeIndex node = 0; node < each->nodes().size(); ++node)
        if (each->nodes()[node].name.starts_with("a-") != is_a) each->silence(node);
    }
  }
  void restart() {
    store::Restored restored;
    settle();
    for (const char* name : {"test", "two"})
      restored.fabrics.push_back({name, {.links = store.copy_of_links()[name]}, clock.time});
    restored.incidents = shown();
    restored.incident_ids = IdSeries(restored.incidents.size() + 1);
    begin(std::move(restored));
    fabric.rediscover(), before.rediscover();
  }
  void expect_well(const std::string& when) {
    for (const Incident& each : shown()) EXPECT_FALSE(each.is_open()) << when << ": " << each.finding.summary;
    for (const char* name : {"host-1-0", "a-host-1-0"})
      EXPECT_EQ(verdict_of(name), HealthVerdict::kHealthy) << when << ": " << name;
  }
  std::uint16_t free_port_of_a = 4;
};

TEST_F(JoinedSubnetsTest, ForAMomentAreTwoAgain) {
  begin();
  sweep_both(20, before);
  join();
  sweep_both(30, before);
  part();
  sweep_both(120, before);
  expect_well("parted");
  restart();
  sweep_both(120, before);
  expect_well("after a restart");
}

TEST_F(JoinedSubnetsTest, ForLongAreTwoAgain) {
  begin();
  sweep_both(20, before);
  join();
  sweep_both(700, before);
  part();
  sweep_both(120, before);
  expect_well("parted");
  restart();
  sweep_both(120, before);
  expect_well("after a restart");
}

TEST_F(JoinedSubnetsTest, OfDifferentSizeAreTwoAgain) {
  before = fakes::FabricBuilder::fat_tree(3, 4, 2);
  move(before);
  for (NodeIndex node = 0; node < before.nodes().size(); ++node)
    before.node(node).name = "a-" + before.nodes()[node].name;
  before.advance(clock.time - before.now());
  free_port_of_a = 5;
  begin();
  sweep_both(20, before);
  join();
  sweep_both(700, before);
  part();
  sweep_both(120, before);
  expect_well("parted");
}

// The second port is a standby of the first while both lead to one subnet.
TEST_F(JoinedSubnetsTest, AreTwoAgainWherePortsAreFound) {
  begin();
  sweep_both(20, before);
  join();
  sweep_both(10, before);
  core->remove_fabric("two");
  sweep_for(30s);
  part();
  before.rediscover();
  sweep_for(60s);
  core->add_fabric("two", LinkLayer::kInfiniBand, "mlx5_1:1");
  sweep_both(60, before);
  expect_well("parted");
}

// A leaf of A was put into B, which has one switch; and then a host of B into A.
TEST_F(JoinedSubnetsTest, AskEachOtherAlsoWhereOneHasALeafOfTheOther) {
  fakes::FabricBuilder small("test");
  small.add_switch("leaf-0", 16);
  for (std::uint16_t i = 0; i < 4; ++i) {
    const std::string name = "host-0-" + std::to_string(i) + " mlx5_0";
    small.add_adapter(name);
    small.connect(small.port_of("leaf-0", static_cast<std::uint16_t>(i + 1)), small.port_of(name, 1));
  }
  for (NodeIndex node = 0; node < small.nodes().size(); ++node) small.node(node).guid.value += 0x900000;
  small.set_local_port(small.key_of(small.port_of("host-0-0 mlx5_0", 1)));
  small.advance(clock.time - small.now());
  fabric = std::move(small);
  begin();
  sweep_both(20, before);
  put_leaf_into_b(before, fabric, leaf, host);
  sweep_both(60, before);
  const char* const moved = "host-0-3 mlx5_0";
  const NodeGuid guid = fabric.nodes()[fabric.find(moved)].guid;
  const PortIndex place = before.port_towards("a-leaf-2", "a-host-2-1 mlx5_0");
  before.power_off(before.find("a-host-2-1 mlx5_0"));
  before.unlink(place);
  before.port(before.port_of("a-host-2-1 mlx5_0", 1)).peer = kNoIndex;
  fabric.power_off(fabric.find(moved));
  before.node(before.add_adapter(moved)).guid = guid;
  before.connect(place, before.port_of(moved, 1));
  sweep_both(60, before);
  EXPECT_EQ(verdict_of("host-0-3"), HealthVerdict::kHealthy);
}

}  // namespace
}  // namespace weft::daemon
