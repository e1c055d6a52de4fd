// SPDX-License-Identifier: Apache-2.0
// What is known where two processes have watched a fabric, each at times on its own.
#include "analyzer/links/joined_state.hpp"

#include <algorithm>

#include "tests/unit/analyzer/watch.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;

constexpr const char* kHost = "host-1-0 mlx5_0";
constexpr const char* kOther = "host-2-1 mlx5_0";

bool has(const AnalyzerState& state, const LinkKey& key) {
  return std::ranges::find(state.links, key, &KnownLink::key) != state.links.end();
}

struct JoinedState : testing::Test {
  JoinedState() {
    own.sweeps(3);
    other.sweeps(3);
  }
  /// Puts the cable of kHost into the port of kOther; the link that it makes there.
  static LinkKey move(Watch& watch) {
    FabricBuilder& fabric = watch.fabric;
    const PortIndex host = fabric.port_of(kHost, 1), from = fabric.port_towards("leaf-1", kHost);
    const PortIndex to = fabric.port_towards("leaf-2", kOther);
    fabric.unlink(from);
    fabric.unlink(to);
    for (const PortIndex end : {from, fabric.port_of(kOther, 1)}) fabric.port(end).peer = kNoIndex;
    fabric.connect(host, to);
    watch.sweeps(3);
    return fabric.link_of(host);
  }
  LinkKey first() const { return other.link("leaf-1", kHost); }

  Watch own{FabricBuilder::fat_tree(2, 4, 4)}, other{FabricBuilder::fat_tree(2, 4, 4)};
};

TEST_F(JoinedState, NothingIsNewWhereBothSawTheSame) {
  EXPECT_FALSE(own.analyzer.joined_state(other.analyzer.state()));
}

TEST_F(JoinedState, WhatOnlyTheOtherSawIsAdded) {
  const LinkKey link = first();
  Watch blank{FabricBuilder::fat_tree(2, 4, 4)};
  blank.fabric.unlink(blank.fabric.port_of(kHost, 1));
  blank.sweeps(3);
  ASSERT_FALSE(has(blank.analyzer.state(), link));
  const auto joined = blank.analyzer.joined_state(other.analyzer.state());
  ASSERT_TRUE(joined);
  EXPECT_TRUE(has(*joined, link));
  EXPECT_EQ(joined->links.size(), other.analyzer.state().links.size());
}

TEST_F(JoinedState, ACableThatWeSawMoveStaysWhereItIs) {
  const AnalyzerState stored = other.analyzer.state();
  move(own);
  EXPECT_FALSE(own.analyzer.joined_state(stored));
}

TEST_F(JoinedState, OneThatMovedAndFailedWhileWeWereBlindIsWhereTheOtherSawIt) {
  const LinkKey before = first();
  own.fabric.unlink(own.fabric.port_of(kHost, 1));
  own.sweeps(3);
  const LinkKey moved = move(other);
  const LinkKey replaced = own.link("leaf-2", kOther);
  const auto joined = own.analyzer.joined_state(other.analyzer.state());
  ASSERT_TRUE(joined);
  EXPECT_TRUE(has(*joined, moved));
  EXPECT_FALSE(has(*joined, before)) << "one port has one cable";
  EXPECT_TRUE(has(*joined, replaced)) << "it is up here";
}

TEST_F(JoinedState, TroubleThatTheOtherToldOfGoesOn) {
  AnalyzerState stored;
  stored.flaps.push_back({.link = first(), .fast = 5'000, .updated = own.fabric.now(), .suppressed = true});
  const auto joined = own.analyzer.joined_state(stored);
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->flaps.size(), 1U);
  EXPECT_EQ(joined->links.size(), own.analyzer.state().links.size());
  stored.flaps[0].suppressed = false;
  EXPECT_FALSE(own.analyzer.joined_state(stored)) << "nobody was told of it";
  stored.errors.push_back({first().low, 1e-12});
  EXPECT_EQ(own.analyzer.joined_state(stored)->errors.size(), 1U);
}

}  // namespace
}  // namespace weft::analyzer
