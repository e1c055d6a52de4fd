// SPDX-License-Identifier: Apache-2.0
// Hosts whose cable was put into another place, in the same subnet or in another one.

#include <algorithm>

#include "analyzer/ports/elsewhere.hpp"
#include "tests/unit/analyzer/watch.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;

constexpr const char* kHost = "host-1-0 mlx5_0";

struct MovedHosts : testing::Test {
  MovedHosts() { watch.sweeps(3); }
  void silence_host() {
    watch.fabric.silence(watch.fabric.find(kHost));
    watch.sweeps(20);
    ASSERT_EQ(watch.only().finding.kind, IncidentKind::kTelemetryLost) << watch.describe();
    ASSERT_EQ(watch.only().finding.cause.label, kHost);
  }
  void plug_another() {
    const PortIndex place = watch.fabric.port_towards("leaf-1", kHost);
    watch.fabric.port(watch.fabric.port_of(kHost, 1)).peer = kNoIndex;
    watch.fabric.add_adapter("other mlx5_0");
    watch.fabric.connect(place, watch.fabric.port_of("other mlx5_0", 1));
  }
  Watch watch{FabricBuilder::fat_tree(2, 4, 4)};
};

TEST_F(MovedHosts, ASilentOneInWhosePlaceIsAnotherIsMissedNoMore) {
  silence_host();
  plug_another();
  watch.sweeps(20);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST_F(MovedHosts, ASilentOneThatIsInNoGraphAfterARestartIsMissedNoMore) {
  silence_host();
  plug_another();
  watch.sweeps(1);
  watch.restart();
  const NodeGuid host = watch.fabric.nodes()[watch.fabric.find(kHost)].guid;
  watch.fabric.rediscover();
  ASSERT_EQ(watch.fabric.topology()->find_node(host), kNoIndex);
  watch.sweeps(20);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST_F(MovedHosts, ASilentOneThatARestartDoesNotFindIsStillMissed) {
  silence_host();
  watch.restart();
  watch.fabric.rediscover();
  watch.sweeps(20);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kTelemetryLost) << "the switch says that its link is up";
}

TEST_F(MovedHosts, ASilentOneWhoseLinkGoesDownIsDownAndNotSilent) {
  silence_host();
  watch.fabric.power_off(watch.fabric.find(kHost));
  watch.sweeps(20);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kLinkDown) << watch.describe();
}

TEST_F(MovedHosts, OneThatIsCabledInAnotherSubnetIsNotDownHere) {
  const PortKey port = watch.fabric.key_of(watch.fabric.port_of(kHost, 1));
  const PortIndex place = watch.fabric.port_towards("leaf-1", kHost);
  const LinkKey cable = watch.fabric.link_of(place);
  TimePoint last_up = watch.fabric.now();
  bool is_there = false;
  watch.analyzer.set_elsewhere([&](const LostCable& lost) {
    if (lost.key != cable) return Whereabouts::kUnknown;
    EXPECT_TRUE(is_there || lost.last_up == last_up);
    return is_there ? Whereabouts::kLeft : Whereabouts::kUnknown;
  });
  watch.fabric.unlink(place);
  watch.sweeps(5);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kLinkDown);
  is_there = true;
  watch.sweeps(20);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  EXPECT_TRUE(
      std::ranges::none_of(watch.analyzer.state().links, [&](const KnownLink& link) { return link.key == cable; }));
  ASSERT_TRUE(watch.analyzer.left());
  EXPECT_TRUE(std::ranges::binary_search(*watch.analyzer.left(), port));
  is_there = false;
  watch.fabric.relink(place);
  watch.sweeps(400);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  last_up = watch.fabric.now();
  watch.fabric.unlink(place);
  watch.sweeps(5);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kLinkDown) << "it is back here";
  EXPECT_FALSE(watch.analyzer.left());
}

// Two subnets that are swept one after the other; the rules of `here` ask those of `there`.
struct LostCables : testing::Test {
  LostCables() {
    for (NodeIndex node = 0; node < there.fabric.nodes().size(); ++node) {
      there.fabric.node(node).guid.value += 0x100000;
      there.fabric.node(node).name = "b-" + there.fabric.nodes()[node].name;
    }
    there.fabric.set_local_port(there.fabric.key_of(there.fabric.port_of("b-host-0-0 mlx5_0", 1)));
    here.analyzer.set_elsewhere(
        [this](const LostCable& lost) { return last = there.analyzer.find(lost, here.analyzer); });
    sweeps(3);
  }
  void sweeps(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      here.sweeps(1);
      there.fabric.advance(here.fabric.now() - there.fabric.now());
      there.sweeps(1);
      here.fabric.advance(there.fabric.now() - here.fabric.now());
    }
  }
  // An adapter with the GUID of `name` gets the place of b-host-1-1.
  PortIndex plug_there(const std::string& name) {
    const PortIndex place = there.fabric.port_towards("b-leaf-1", "b-host-1-1 mlx5_0");
    there.fabric.unlink(place);
    there.fabric.port(there.fabric.port_of("b-host-1-1 mlx5_0", 1)).peer = kNoIndex;
    there.fabric.node(there.fabric.add_adapter(name)).guid = here.fabric.nodes()[here.fabric.find(name)].guid;
    there.fabric.connect(place, there.fabric.port_of(name, 1));
    return place;
  }
  void expect_down(const char* why) {
    EXPECT_EQ(here.only().finding.kind, IncidentKind::kLinkDown) << why << here.describe();
  }
  Watch here{FabricBuilder::fat_tree(2, 4, 4)}, there{FabricBuilder::fat_tree(2, 4, 4)};
  Whereabouts last = Whereabouts::kUnknown;
};

TEST_F(LostCables, AnAdapterThatCameAfterItsLinkWasLostIsMissedNoMore) {
  here.fabric.power_off(here.fabric.find(kHost));
  sweeps(10);
  expect_down("");
  const PortIndex place = plug_there(kHost);
  sweeps(10);
  EXPECT_TRUE(here.open().empty()) << here.describe();
  EXPECT_EQ(last, Whereabouts::kLeft);
  there.fabric.unlink(place);
  sweeps(10);
  EXPECT_TRUE(here.open().empty()) << "what becomes of it there is told there" << here.describe();
}

TEST_F(LostCables, OneThatIsCabledThereAtOnceIsMissedNoMore) {
  here.fabric.power_off(here.fabric.find(kHost));
  plug_there(kHost);
  sweeps(10);
  EXPECT_TRUE(here.open().empty()) << here.describe();
}

TEST_F(LostCables, AnotherWithItsGuidIsNotIt) {
  const PortIndex place = plug_there(kHost);
  sweeps(5);
  here.fabric.power_off(here.fabric.find(kHost));
  sweeps(10);
  expect_down("the other one was there before");
  EXPECT_EQ(last, Whereabouts::kDouble);
  there.fabric.unlink(place);
  sweeps(5);
  there.fabric.relink(place);
  sweeps(10);
  expect_down("the link of the other one flapped");
  EXPECT_FALSE(here.analyzer.left());
}

TEST_F(LostCables, AnotherWithItsGuidIsNotItAfterARestart) {
  plug_there(kHost);
  sweeps(5);
  here.fabric.power_off(here.fabric.find(kHost));
  sweeps(10);
  for (Watch* each : {&here, &there}) each->restart();
  here.analyzer.set_elsewhere([this](const LostCable& lost) { return there.analyzer.find(lost, here.analyzer); });
  sweeps(10);
  expect_down("");
}

TEST_F(LostCables, OneThatMovedWhileNobodyRanIsMissedNoMore) {
  for (Watch* each : {&here, &there}) each->restart();
  here.analyzer.set_elsewhere([this](const LostCable& lost) { return there.analyzer.find(lost, here.analyzer); });
  here.fabric.power_off(here.fabric.find(kHost));
  plug_there(kHost);
  sweeps(10);
  EXPECT_TRUE(here.open().empty()) << here.describe();
}

// All its uplinks are cut; another port of ours hangs on that leaf.
TEST_F(LostCables, ALeafThatIsReachedWithItsHostsIsAPartOfItsSubnet) {
  there.fabric = FabricBuilder::fat_tree(2, 4, 4);
  there.analyzer = FabricAnalyzer("part", {});
  here.fabric.power_off(here.fabric.find("leaf-1"));
  for (int host = 0; host < 4; ++host)
    here.fabric.silence(here.fabric.find("host-1-" + std::to_string(host) + " mlx5_0"));
  for (const char* spine : {"spine-0", "spine-1"}) there.fabric.unlink(there.fabric.port_towards("leaf-1", spine));
  for (NodeIndex node = 0; node < there.fabric.nodes().size(); ++node)
    if (const std::string& name = there.fabric.nodes()[node].name; name != "leaf-1" && !name.starts_with("host-1-"))
      there.fabric.silence(node);
  there.fabric.set_local_port(there.fabric.key_of(there.fabric.port_of("host-1-1 mlx5_0", 1)));
  there.fabric.rediscover();
  sweeps(30);
  EXPECT_EQ(here.only().finding.kind, IncidentKind::kSwitchDown) << here.describe();
  EXPECT_EQ(here.only().finding.cause.label, "leaf-1");
  EXPECT_EQ(last, Whereabouts::kUnknown);
}

// With one host at the port that it had, and another one that lost its cable.
TEST_F(LostCables, ASwitchThatWasMovedLeavesBehindWhatLostItsCable) {
  here.fabric.power_off(here.fabric.find("leaf-1"));
  for (int host = 0; host < 4; ++host)
    here.fabric.silence(here.fabric.find("host-1-" + std::to_string(host) + " mlx5_0"));
  sweeps(10);
  EXPECT_EQ(here.only().finding.kind, IncidentKind::kSwitchDown) << here.describe();
  const PortIndex place = there.fabric.port_towards("b-leaf-1", "b-host-1-1 mlx5_0");
  there.fabric.unlink(place);
  there.fabric.port(there.fabric.port_of("b-host-1-1 mlx5_0", 1)).peer = kNoIndex;
  for (const char* name : {"leaf-1", "host-1-0 mlx5_0", "host-1-1 mlx5_0", "host-1-2 mlx5_0"}) {
    const Node& node = here.fabric.nodes()[here.fabric.find(name)];
    const bool is_leaf = node.type == NodeType::kSwitch;
    there.fabric.node(is_leaf ? there.fabric.add_switch(name, 6) : there.fabric.add_adapter(name)).guid = node.guid;
    if (is_leaf) there.fabric.connect(place, there.fabric.port_of(name, 2));
  }
  for (std::uint16_t host = 0; host < 3; ++host)
    there.fabric.connect(there.fabric.port_of("leaf-1", static_cast<std::uint16_t>(host + 3)),
                         there.fabric.port_of("host-1-" + std::to_string(host) + " mlx5_0", 1));
  sweeps(20);
  EXPECT_EQ(here.only().finding.kind, IncidentKind::kLinkDown) << here.describe();
  EXPECT_NE(here.only().finding.cause.label.find("host-1-3"), std::string::npos) << here.describe();
  there.fabric.node(there.fabric.add_adapter("host-1-3 mlx5_0")).guid =
      here.fabric.nodes()[here.fabric.find("host-1-3 mlx5_0")].guid;
  there.fabric.connect(there.fabric.port_of("leaf-1", 6), there.fabric.port_of("host-1-3 mlx5_0", 1));
  sweeps(20);
  EXPECT_TRUE(here.open().empty()) << here.describe();
}

}  // namespace
}  // namespace weft::analyzer
