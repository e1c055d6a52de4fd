// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/unit/analyzer/watch.hpp"

namespace weft::analyzer {
namespace {

// Our own port is down: collectors tell of each cable of a switch that was down before.
TEST(OutageParts, ACableOfASwitchThatIsDownIsNoIncidentOfItsOwn) {
  Watch watch(fakes::FabricBuilder::fat_tree(2, 4, 4));
  watch.sweeps(3);
  const LinkKey below = watch.link("leaf-1", "host-1-0 mlx5_0"), elsewhere = watch.link("leaf-2", "host-2-0 mlx5_0");
  const auto tell = [&](const LinkKey& link) {
    Finding finding;
    finding.kind = IncidentKind::kLinkDown;
    finding.cause = {EntityKind::kLink, "test", link.low, link.high, {}};
    watch.book.update("", {finding}, Coverage::blind(), watch.fabric.now());
  };
  watch.fabric.power_off(watch.fabric.find("leaf-1"));
  watch.sweeps(5);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kSwitchDown) << watch.describe();
  tell(below);
  EXPECT_EQ(watch.book.all()->size(), 1U) << watch.describe();
  tell(elsewhere);
  EXPECT_EQ(watch.open().size(), 2U) << "it hangs from another one";
  watch.fabric.power_on(watch.fabric.find("leaf-1"));
  for (const char* other :
       {"spine-0", "spine-1", "host-1-0 mlx5_0", "host-1-1 mlx5_0", "host-1-2 mlx5_0", "host-1-3 mlx5_0"})
    watch.fabric.relink(watch.fabric.port_towards("leaf-1", other));
  watch.sweeps(20);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  tell(below);
  EXPECT_EQ(link_of(watch.only()), below) << "it fails alone";
}

// The switch came back while nobody swept: collectors say so.
TEST(OutageParts, WhatACollectorCallsUpIsNoPartAnyMore) {
  Watch watch(fakes::FabricBuilder::fat_tree(2, 4, 4));
  watch.sweeps(3);
  const LinkKey below = watch.link("leaf-1", "host-1-0 mlx5_0");
  const PortKey host = watch.fabric.key_of(watch.fabric.port_of("host-1-0 mlx5_0", 1));
  const auto parts = [&] {
    const auto affected = watch.only().finding.affected;
    return std::ranges::count_if(
        affected, [&](const Entity& part) { return part.port.node == host.node || part.peer.node == host.node; });
  };
  const auto tell = [&] {
    Finding finding;
    finding.kind = IncidentKind::kLinkDown;
    finding.cause = {EntityKind::kLink, "test", below.low, below.high, {}};
    watch.book.update("", {finding}, Coverage::blind(), watch.fabric.now());
  };
  watch.fabric.power_off(watch.fabric.find("leaf-1"));
  watch.sweeps(5);
  EXPECT_EQ(parts(), 2) << "its cable and itself";
  const TimePoint began = watch.only().beginnings.back();
  watch.book.take_up([](PortKey, TimePoint) { return false; }, watch.fabric.now());
  EXPECT_EQ(parts(), 2);
  const auto changed = watch.book.take_up(
      [&](PortKey port, TimePoint since) {
        EXPECT_EQ(since, began);
        return port.node == host.node;
      },
      watch.fabric.now());
  EXPECT_EQ(changed.size(), 1U) << "it is stored";
  EXPECT_EQ(parts(), 0);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kSwitchDown) << "of others nobody knows";
  tell();
  EXPECT_EQ(watch.open().size(), 2U) << "it failed alone";
}

TEST(OutageParts, AHostWithAPortThatIsUpIsNotDown) {
  IncidentManager book(IncidentPolicy{}, {}, 1);
  Finding finding;
  finding.kind = IncidentKind::kNodeDown;
  finding.cause = {EntityKind::kNode, "test", {NodeGuid{0xA0}, {}}, {}, "gpu-1"};
  finding.affected = {{EntityKind::kLink, "test", {NodeGuid{0x10}, PortNum{1}}, {NodeGuid{0xA0}, PortNum{1}}, {}},
                      {EntityKind::kLink, "test", {NodeGuid{0x11}, PortNum{1}}, {NodeGuid{0xA1}, PortNum{1}}, {}}};
  const TimePoint now{std::chrono::seconds(1'700'000'000)};
  book.update("test", {finding}, Coverage::blind(), now);
  book.take_up([](PortKey port, TimePoint) { return port.node == NodeGuid{0xA1}; }, now);
  EXPECT_FALSE(book.all()->front()->is_open());
}

}  // namespace
}  // namespace weft::analyzer
