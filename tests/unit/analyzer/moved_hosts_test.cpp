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
  const PortKey leaf = watch.fabric.key_of(place);
  bool is_there = false;
  watch.analyzer.set_elsewhere([&](PortKey end, NodeType type, PortKey other, TimePoint since) {
    if (end != port) return false;
    EXPECT_EQ(type, NodeType::kChannelAdapter);
    EXPECT_EQ(other, leaf);
    EXPECT_NE(since, kNever);
    return is_there;
  });
  watch.fabric.unlink(place);
  watch.sweeps(5);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kLinkDown);
  is_there = true;
  watch.sweeps(20);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  EXPECT_TRUE(std::ranges::none_of(watch.analyzer.state().links,
                                   [&](const KnownLink& link) { return link.key == make_link_key(port, leaf); }));
  is_there = false;
  watch.fabric.relink(place);
  watch.sweeps(400);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  watch.fabric.unlink(place);
  watch.sweeps(5);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kLinkDown) << "it is back here";
}

TEST(Elsewhere, AnAdapterIsWhereASwitchSeesItUp) {
  FabricBuilder there = FabricBuilder::fat_tree(2, 2, 2);
  const PortIndex port = there.port_of("host-1-0 mlx5_0", 1), leaf = there.port_towards("leaf-1", "host-1-0 mlx5_0");
  const PortKey end = there.key_of(port), other{NodeGuid{0x99}, PortNum{1}};
  const auto ask = [&](PortKey of, TimePoint since = kNever) {
    return is_cabled_in(there.sweep(), end, NodeType::kChannelAdapter, of, since);
  };
  EXPECT_TRUE(ask(other));
  EXPECT_FALSE(ask(there.key_of(leaf))) << "it is that very cable";
  EXPECT_TRUE(ask(other, there.now()));
  EXPECT_FALSE(ask(other, there.now() + std::chrono::hours(1))) << "not read since";
  there.silence(there.find("host-1-0 mlx5_0"));
  EXPECT_TRUE(ask(other)) << "the switch sees it";
  there.unlink(leaf);
  EXPECT_FALSE(ask(other));
}

TEST(Elsewhere, ASwitchIsWhereItIsReached) {
  FabricBuilder there = FabricBuilder::fat_tree(2, 2, 2);
  const PortKey end = there.key_of(there.port_of("leaf-1", 1)), other{NodeGuid{0x99}, PortNum{1}};
  EXPECT_TRUE(is_cabled_in(there.sweep(), end, NodeType::kSwitch, other, kNever));
  EXPECT_FALSE(is_cabled_in(there.sweep(), other, NodeType::kSwitch, end, kNever));
  there.node(there.find("leaf-1")).reachable = false;
  EXPECT_FALSE(is_cabled_in(there.sweep(), end, NodeType::kSwitch, other, kNever));
}

}  // namespace
}  // namespace weft::analyzer
