// SPDX-License-Identifier: Apache-2.0
// Ports of InfiniBand subnets that nobody sweeps any more: their collectors alone tell that they are down.
#include "tests/fakes/fabric_builder.hpp"
#include "tests/unit/analyzer/host_watching.hpp"

namespace weft::analyzer {
namespace {

struct UnsweptPorts : testing::Test {
  UnsweptPorts() {
    const Topology& topology = *fabric.topology();
    const PortIndex own = topology.find_port(fabric.local_port());
    adapter = 0;
    while (topology.node_of(topology.port(adapter)).type != NodeType::kChannelAdapter || !topology.port(adapter).guid ||
           adapter == own)
      ++adapter;
    watching.port().port_guid = topology.port(adapter).guid;
    watching.port().node_guid = topology.node_of(topology.port(adapter)).guid;
    watching.port().link_layer = LinkLayer::kInfiniBand;
    fabric.node(fabric.ports()[adapter].node).name = "node-0 mlx5_0";
    watching.seconds(1);
    join(true);
    watching.seconds(3);
  }
  void join(bool is_watching) {
    FabricView view;
    view.name = "ib0";
    view.watching = is_watching;
    view.sweep = std::make_shared<const Sweep>(fabric.sweep());
    watching.analyzer.join(std::span(&view, 1));
  }
  void lose_own_port() { fabric.unlink(fabric.topology()->find_port(fabric.local_port())); }
  void expect_told_by_the_host(const std::string& subnet = "ib0") {
    watching.set_up(false);
    watching.seconds(3);
    ASSERT_EQ(down().size(), 1U);
    EXPECT_EQ(down().front().finding.cause.kind, EntityKind::kLink);
    EXPECT_EQ(down().front().finding.cause.fabric, subnet);
    watching.set_up(true);
    watching.seconds(120);
    EXPECT_TRUE(down().empty());
  }
  void expect_only_its_host_is_believed(const std::string& description, const std::string& claimant) {
    fabric.node(fabric.ports()[adapter].node).name = description;
    join(true);
    watching.seconds(3);
    const PortKey key = fabric.key_of(adapter);
    lose_own_port();
    join(true);
    watching.silent[0] = 1;
    watching.seconds(120);  // its last word, that it is up, is of the past
    Finding finding;
    finding.kind = IncidentKind::kLinkDown;
    finding.cause = {EntityKind::kLink, "ib0", fabric.link_of(adapter).low, fabric.link_of(adapter).high, {}};
    watching.book.update("ib0", {finding}, Coverage::blind(), watching.now);
    const TimePoint since = watching.now;
    watching.names.push_back(claimant);
    watching.values.push_back(watching.values[0]);
    watching.inventories.push_back(watching.inventories[0]);
    watching.silent.push_back(0);
    watching.seconds(60);
    join(true);
    watching.seconds(60);
    EXPECT_FALSE(watching.analyzer.is_up_without_sweeps(key, since));
    EXPECT_EQ(down().size(), 1U);
    watching.silent[0] = 0;
    watching.seconds(120);
    EXPECT_TRUE(watching.analyzer.is_up_without_sweeps(key, since)) << "its own one says so beside the other";
    EXPECT_TRUE(down().empty());
  }
  std::vector<Incident> down() const {
    auto open = watching.open();
    std::erase_if(open, [](const Incident& each) { return each.finding.kind != IncidentKind::kLinkDown; });
    return open;
  }

  fakes::FabricBuilder fabric = fakes::FabricBuilder::fat_tree(2, 3, 2);
  PortIndex adapter = kNoIndex;
  HostWatching watching;
};

TEST_F(UnsweptPorts, AreToldWhileOurOwnPortIsDown) {
  lose_own_port();
  join(true);
  expect_told_by_the_host();
}

TEST_F(UnsweptPorts, AreToldUnderTheNameOfTheirCableWhenTheFabricIsLost) {
  watching.analyzer.set_known({{"ib0", std::make_shared<std::vector<KnownLink>>()}});
  join(false);
  expect_told_by_the_host();
}

// Our cable was put into another subnet, which has the name of this one now.
TEST_F(UnsweptPorts, AreThoseOfTheirSubnetWhateverHasItsNameNow) {
  const PortIndex leaf = fabric.topology()->port(adapter).peer;
  auto links = std::make_shared<std::vector<KnownLink>>();
  links->push_back({.key = fabric.link_of(adapter),
                    .low = {"leaf", NodeType::kSwitch},
                    .high = {"node-0 mlx5_0", NodeType::kChannelAdapter}});
  if (links->front().key.low != fabric.key_of(leaf)) std::swap(links->front().low, links->front().high);
  fakes::FabricBuilder other;
  other.connect(other.port_of(other.nodes()[other.add_switch("b-leaf", 4)].name, 1),
                other.port_of(other.nodes()[other.add_adapter("b-host")].name, 1));
  other.set_local_port(other.key_of(other.port_of("b-host", 1)));
  watching.analyzer.set_known({{"ib0", std::make_shared<std::vector<KnownLink>>(), SubnetSight::kSwept},
                               {"ib0@0x10", links, SubnetSight::kUnswept}});
  std::swap(fabric, other);
  for (Node node : fabric.nodes()) fabric.node(fabric.find(node.name)).guid.value += 0x9000;
  fabric.set_local_port(fabric.key_of(fabric.port_of("b-host", 1)));
  fabric.rediscover();  // another epoch
  join(true);
  expect_told_by_the_host("ib0@0x10");
}

// The collector came after the sweeps had told, and has never seen it up.
TEST_F(UnsweptPorts, AreNotUpBecauseOurOwnPortIsDown) {
  const auto expect_open = [&] {
    lose_own_port();
    join(true);
    watching.seconds(30);
    EXPECT_EQ(down().size(), 1U);
    watching.set_up(true);
    watching.seconds(120);
    EXPECT_TRUE(down().empty()) << "its collector says that it is up";
  };
  const auto tell = [&] {
    Finding finding;
    finding.kind = IncidentKind::kLinkDown;
    finding.cause.kind = EntityKind::kLink;
    finding.cause.fabric = "ib0";
    finding.cause.port = fabric.link_of(adapter).low;
    finding.cause.peer = fabric.link_of(adapter).high;
    watching.book.update("ib0", {finding}, Coverage::blind(), watching.now);
  };
  tell();
  HostPort never = watching.port();
  never.state = PortState::kDown;
  watching.analyzer.forget("node-0");
  watching.port() = never;
  watching.seconds(3);
  join(true);
  expect_open();
}

// Both show its port: the one has it no more.
TEST_F(UnsweptPorts, AreThoseOfTheSubnetThatTheyWereCabledInto) {
  fakes::FabricBuilder other = fakes::FabricBuilder::fat_tree(2, 3, 2);
  fabric.unlink(adapter);
  other.unlink(other.topology()->find_port(other.local_port()));
  FabricView views[2];
  for (FabricView& view : views) {
    auto& builder = &view == views ? fabric : other;
    view.name = &view == views ? "ib0" : "ib1";
    view.watching = true;
    view.sweep = std::make_shared<const Sweep>(builder.sweep());
  }
  watching.analyzer.join(views);
  expect_told_by_the_host("ib1");
}

// What it says at once it may have read before.
TEST_F(UnsweptPorts, AreUpWhenTheirCollectorHasSaidSoSince) {
  const PortKey key = fabric.key_of(adapter);
  EXPECT_FALSE(watching.analyzer.is_up_without_sweeps(key)) << "sweeps tell";
  lose_own_port();
  join(true);
  const TimePoint since = watching.now;
  watching.seconds(1);
  EXPECT_TRUE(watching.analyzer.is_up_without_sweeps(key));
  EXPECT_FALSE(watching.analyzer.is_up_without_sweeps(key, since));
  watching.seconds(20);
  EXPECT_TRUE(watching.analyzer.is_up_without_sweeps(key, since));
  EXPECT_TRUE(watching.analyzer.is_up_without_sweeps({key.node, {}}, since)) << "any port of it";
  watching.set_up(false);
  watching.seconds(20);
  EXPECT_FALSE(watching.analyzer.is_up_without_sweeps(key, since));
}

// Whoever claims its adapter is not its host, also by a name that is like its own, or where the adapter has none.
TEST_F(UnsweptPorts, AreUpByTheWordOfTheirOwnHostOnly) {
  expect_only_its_host_is_believed("node-0 mlx5_0", "zz-other-host");
}

TEST_F(UnsweptPorts, AreNotUpByTheWordOfANameLikeThat) {
  expect_only_its_host_is_believed("node-0 mlx5_0", "node-0.other.example");
}

TEST_F(UnsweptPorts, AreNotUpByTheWordOfTheSecondOneWhereTheyHaveNoName) {
  expect_only_its_host_is_believed("MT4129 ConnectX7   Mellanox Technologies", "aa-other-host");
}

TEST_F(UnsweptPorts, OfASubnetThatIsShownNoMoreAreTheHostsOwn) {
  watching.analyzer.join({});
  watching.set_up(false);
  watching.seconds(3);
  ASSERT_EQ(down().size(), 1U);
  EXPECT_EQ(down().front().finding.cause.kind, EntityKind::kHostPort);
}

TEST_F(UnsweptPorts, ThatNoSweepFindsAnyMoreAreToldByThese) {
  // The sweeper began anew, and does not find what is down.
  fabric.unlink(adapter);
  fabric.rediscover();
  watching.set_up(false);
  join(true);
  watching.seconds(5);
  EXPECT_TRUE(down().empty()) << "the fabric's rules know that it was there";
}

}  // namespace
}  // namespace weft::analyzer
