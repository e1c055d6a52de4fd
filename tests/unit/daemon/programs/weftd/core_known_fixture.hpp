// SPDX-License-Identifier: Apache-2.0
#pragma once
// A core whose ledger knows subnets, and two subnets of one name.

#include <algorithm>
#include <string>
#include <utility>

#include "tests/unit/daemon/programs/weftd/core_fixture.hpp"

namespace weft::daemon {

class CoreKnownTest : public CoreTest {
 protected:
  CoreKnownTest() {
    config.infiniband.enabled = config.infiniband.ports.automatic = true;
    const PortIndex end = fabric.port_towards("leaf-1", "spine-0");
    memory.fabric = "test";
    memory.seen = clock.time - std::chrono::hours(1);
    memory.state.links.push_back({fabric.link_of(end), {"leaf-1", NodeType::kSwitch}, {"spine-0", NodeType::kSwitch}});
  }
  void begin() {
    store::Restored restored;
    restored.fabrics.push_back(memory);
    start(std::move(restored));
  }
  void pass(Duration time) {
    for (const TimePoint until = clock.time + time; clock.time < until; clock.time += std::chrono::seconds(1))
      core->tick();
    settle();
  }
  store::FabricMemory memory;
};

// Two subnets of one name: the ledger has the one, the port of this host leads to the other.
class CoreOtherSubnetTest : public CoreKnownTest {
 protected:
  static constexpr const char* kName = "test@0x0002c90300100100";
  CoreOtherSubnetTest() {
    move(before);
    known = memory_of(before);
    down.id = 7;
    down.revision = 1;
    down.finding.kind = IncidentKind::kLinkDown;
    down.finding.summary = "Link leaf-1 port 1 - spine-0 port 2 is down";
    down.finding.cause = {
        .kind = EntityKind::kLink, .fabric = "test", .port = link.low, .peer = link.high, .label = {}};
    down.opened = clock.time - std::chrono::hours(2);
  }
  // Other nodes: no GUID is as it was.
  static void move(fakes::FabricBuilder& moved) {
    for (NodeIndex index = 0; index < moved.nodes().size(); ++index) moved.node(index).guid.value += 0x100000;
    moved.set_local_port({NodeGuid{moved.local_port().node.value + 0x100000}, moved.local_port().port});
  }
  store::FabricMemory memory_of(fakes::FabricBuilder& subnet) {
    link = subnet.link_of(subnet.port_towards("leaf-1", "spine-0"));
    const LinkKey other = subnet.link_of(subnet.port_towards("leaf-0", "spine-0"));
    store::FabricMemory found{"test", {}, clock.time - std::chrono::hours(1)};
    found.state.links.push_back({link, {"spine-0", NodeType::kSwitch}, {"leaf-1", NodeType::kSwitch}});
    found.state.links.push_back({other, {"spine-0", NodeType::kSwitch}, {"leaf-0", NodeType::kSwitch}});
    return found;
  }
  store::Restored ledger() {
    store::Restored restored;
    restored.fabrics.push_back(known);
    restored.incidents.push_back(down);
    return restored;
  }
  void sweep_for(Duration time) {
    for (const TimePoint until = clock.time + time; clock.time < until;) {
      sweep();
      core->tick();
      settle();
    }
  }
  // "test@0x…" is known, lost, and has its incident; what is swept has neither.
  void expect_apart() {
    const auto fabrics = publication.load()->fabrics;
    ASSERT_EQ(fabrics.size(), 2U);
    EXPECT_EQ(fabrics[0].name, "test");
    EXPECT_TRUE(fabrics[0].watching);
    EXPECT_EQ(fabrics[1].name, kName);
    EXPECT_FALSE(fabrics[1].watching);
    EXPECT_TRUE(fabrics[1].is_unreachable);
    ASSERT_EQ(shown().size(), 2U);
    EXPECT_TRUE(shown()[0].is_open()) << "nothing is known of it";
    EXPECT_EQ(shown()[0].id, 7U);
    EXPECT_EQ(shown()[0].finding.cause.fabric, kName);
    EXPECT_EQ(shown()[1].finding.kind, IncidentKind::kTelemetryLost);
    EXPECT_EQ(shown()[1].finding.severity, Severity::kCritical);
    EXPECT_EQ(shown()[1].finding.summary,
              std::string("Fabric ") + kName +
                  " is not monitored: no active port of this host leads to it (spine-0, leaf-0 and 1 more); test is "
                  "another subnet now");
    ASSERT_EQ(store.copy_of_apart().size(), 1U);
    EXPECT_EQ(store.copy_of_apart()[0], (std::pair<std::string, std::string>("test", kName)));
    EXPECT_EQ(store.copy_of_links()[kName].size(), 2U);
    EXPECT_EQ(store.copy_of_saved()[7].finding.cause.fabric, kName);
    const auto links = store.copy_of_links()["test"];
    EXPECT_FALSE(links.empty());
    EXPECT_FALSE(std::ranges::any_of(links, [&](const KnownLink& each) { return each.key == link; }));
  }
  fakes::FabricBuilder before = fakes::FabricBuilder::fat_tree(2, 3, 2);
  store::FabricMemory known;
  LinkKey link;
  Incident down;
};

}  // namespace weft::daemon
