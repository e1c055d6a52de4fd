// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two subnets that one weftd may watch, and what may be moved between them.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/daemon/programs/weftd/core_known_fixture.hpp"

namespace weft::daemon {

/// Subnet A, whose nodes are called "a-…", is `before`; B is `fabric`. One leaf of A is moved.
class MovedSwitchTest : public CoreOtherSubnetTest {
 protected:
  MovedSwitchTest() {
    for (NodeIndex index = 0; index < before.nodes().size(); ++index)
      before.node(index).name = "a-" + before.nodes()[index].name;
  }
  static std::string subnet_of(const fakes::FabricBuilder& one) {
    return one.nodes()[0].name.starts_with("a-") ? "A" : "B";
  }
  NodeGuid guid_of(const std::string& name) { return before.nodes()[before.find(name)].guid; }
  /// Of A it was cut off already.
  void put_leaf_into_b(fakes::FabricBuilder& a, fakes::FabricBuilder& b, const std::string& moved,
                       const std::string& below) {
    const NodeGuid guid = a.nodes()[a.find(moved)].guid, adapter = a.nodes()[a.find(below)].guid;
    a.power_off(a.find(moved));
    const PortIndex free = b.port_towards("leaf-0", "host-0-1 mlx5_0");
    b.unlink(free);
    b.node(b.add_switch(moved, 8)).guid = guid;
    b.connect(b.port_of(moved, 8), free);
    b.node(b.add_adapter(below)).guid = adapter;
    b.connect(b.port_of(moved, 1), b.port_of(below, 1));
    b.rediscover();
  }
  // Of two that are watched: "test", which is B, and "two", which is `other`.
  void sweep_both(int seconds, fakes::FabricBuilder& other) {
    for (int i = 0; i < seconds; ++i) {
      sweep();
      other.advance(clock.time - other.now());
      Sweep next = other.sweep();
      next.fabric = "two";
      clock.time = next.finished;
      core->take_sweep(std::move(next));
      fabric.advance(clock.time - fabric.now());
      core->tick();
      settle();
    }
  }
  // leaf-1 of `fabric` loses its uplinks; `before` is the part of it, as another port of ours at that leaf sees it.
  void cut_leaf_off() {
    before = fakes::FabricBuilder::fat_tree(2, 3, 2);
    fabric.power_off(fabric.find("leaf-1"));
    for (const char* name : {"host-1-0 mlx5_0", "host-1-1 mlx5_0"}) fabric.silence(fabric.find(name));
    for (const char* spine : {"spine-0", "spine-1"}) before.unlink(before.port_towards("leaf-1", spine));
    for (NodeIndex node = 0; node < before.nodes().size(); ++node)
      if (const std::string& name = before.nodes()[node].name; name != "leaf-1" && !name.starts_with("host-1-"))
        before.silence(node);
    before.set_local_port(before.key_of(before.port_of("host-1-1 mlx5_0", 1)));
    before.rediscover();
  }
  std::vector<IncidentKind> open_in(const std::string& name) const {
    std::vector<IncidentKind> kinds;
    for (const Incident& each : shown())
      if (each.is_open() && each.finding.cause.fabric == name) kinds.push_back(each.finding.kind);
    return kinds;
  }
  void swap_subnets() { std::swap(fabric, before), fabric.advance(clock.time - fabric.now()); }
  HealthVerdict verdict_of(const std::string& name) {
    const auto health = publication.load()->health;
    const auto found = std::ranges::find(*health, name, &NodeHealth::node);
    EXPECT_NE(found, health->end()) << name;
    return found == health->end() ? HealthVerdict::kHealthy : found->verdict;
  }
  // B is watched, A is lost, but for its leaf.
  void expect_a_is_lost() {
    const auto fabrics = publication.load()->fabrics;
    ASSERT_EQ(fabrics.size(), 2U);
    EXPECT_EQ(fabrics[0].name, "test");
    EXPECT_TRUE(fabrics[0].watching);
    EXPECT_FALSE(fabrics[1].watching);
    std::size_t lost = 0;
    for (const Incident& each : shown()) {
      const bool is_open_here = each.is_open() && each.finding.cause.fabric == "test";
      EXPECT_FALSE(is_open_here && each.finding.kind == IncidentKind::kSwitchDown) << each.finding.summary;
      if (each.is_open() && each.finding.kind == IncidentKind::kTelemetryLost &&
          each.finding.cause.fabric == fabrics[1].name)
        ++lost;
    }
    EXPECT_EQ(lost, 1U);
    EXPECT_EQ(verdict_of("a-host-0-0"), HealthVerdict::kUnknown);
    EXPECT_EQ(verdict_of("a-host-1-0"), HealthVerdict::kHealthy) << "it is behind the leaf that was moved";
    EXPECT_EQ(verdict_of("host-1-0"), HealthVerdict::kHealthy);
  }
  store::Restored ledger_of_a() {
    store::Restored restored;
    auto& a = restored.fabrics.emplace_back(store::FabricMemory{"test", {}, clock.time - std::chrono::hours(1)});
    for (PortIndex port = 0; port < before.ports().size(); ++port) {
      const PortIndex peer = before.ports()[port].peer;
      if (peer == kNoIndex || before.key_of(peer) < before.key_of(port)) continue;
      const auto end = [&](PortIndex index) {
        const Node& node = before.nodes()[before.ports()[index].node];
        return KnownEnd{node.name, node.type};
      };
      a.state.links.push_back({before.link_of(port), end(port), end(peer)});
    }
    return restored;
  }
  const std::string leaf = "a-leaf-1", host = "a-host-1-0 mlx5_0";
};

}  // namespace weft::daemon
