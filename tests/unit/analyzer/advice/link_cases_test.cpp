// SPDX-License-Identifier: Apache-2.0

#include "tests/unit/analyzer/watch.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;

/// A leaf with four hosts and two spines; its links can be made to flap and to err.
struct LinkCasesTest : testing::Test {
  LinkCasesTest()
      : watch(FabricBuilder::fat_tree(2, 3, 4)), end(watch.fabric.port_towards("host-1-0 mlx5_0", "leaf-1")) {
    watch.sweeps(5);
  }
  void flap(const std::vector<PortIndex>& ends, unsigned times = 3) {
    for (unsigned i = 0; i < times; ++i) {
      for (const PortIndex one : ends) watch.fabric.unlink(one);
      watch.sweeps(1);
      for (const PortIndex one : ends) {
        watch.fabric.relink(one);
        watch.fabric.add_counter(one, CounterId::kSymbolErrors, 200);  // training makes them
      }
      watch.sweeps(5);
    }
  }
  PortIndex peer(PortIndex port) const { return watch.fabric.ports()[port].peer; }
  const LinkCase* case_of(PortIndex port) const {
    for (const LinkCase& one : watch.analysis.cases)
      if (one.key == watch.fabric.link_of(port)) return &one;
    return nullptr;
  }
  const LinkEnd& host_end(const LinkCase& one) const { return one.a.is_switch ? one.b : one.a; }
  const LinkEnd& leaf_end(const LinkCase& one) const { return one.a.is_switch ? one.a : one.b; }

  Watch watch;
  PortIndex end;
};

TEST_F(LinkCasesTest, AQuietFabricHasNone) {
  EXPECT_TRUE(watch.analysis.cases.empty());
}

TEST_F(LinkCasesTest, DownsOfBothEndsAreOne) {
  flap({end});
  const LinkCase* const one = case_of(end);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->downs.size(), 3U);
  EXPECT_EQ(host_end(*one).name, "host-1-0");
  EXPECT_EQ(leaf_end(*one).name, "leaf-1");
  EXPECT_EQ(leaf_end(*one).others.all, 5U) << "three hosts and two spines";
  EXPECT_EQ(leaf_end(*one).others.bad, 0U);
}

TEST_F(LinkCasesTest, WhatIsStillDownMayBeUnpluggedAndIsNoTroubleYet) {
  flap({end}, 2);
  ASSERT_TRUE(case_of(end));
  const TimePoint before = case_of(end)->troubled;
  EXPECT_EQ(before, case_of(end)->downs.back());
  watch.fabric.unlink(end);
  watch.sweeps(5);
  ASSERT_EQ(case_of(end)->downs.size(), 3U);
  EXPECT_EQ(case_of(end)->troubled, before);
  watch.fabric.relink(end);
  watch.sweeps(2);
  EXPECT_EQ(case_of(end)->troubled, case_of(end)->downs.back());
}

TEST_F(LinkCasesTest, ErrorsOfTrainingDoNotCount) {
  flap({end});
  ASSERT_TRUE(case_of(end));
  EXPECT_EQ(host_end(*case_of(end)).errors, 0U);
}

TEST_F(LinkCasesTest, ErrorsOfALinkThatIsUpCountAtTheirEnd) {
  flap({end});
  for (int i = 0; i < 4; ++i) {
    watch.fabric.add_counter(end, CounterId::kSymbolErrors, 10);
    watch.sweeps(1);
  }
  const LinkCase* const one = case_of(end);
  ASSERT_TRUE(one);
  EXPECT_EQ(host_end(*one).errors, 40U);
  EXPECT_EQ(host_end(*one).errored_readings, 4U);
  EXPECT_EQ(leaf_end(*one).errors, 0U);
  EXPECT_TRUE(leaf_end(*one).is_read);
}

TEST_F(LinkCasesTest, ErrorsAreForgottenAfterTwoHours) {
  flap({end});
  watch.fabric.add_counter(end, CounterId::kSymbolErrors, 10);
  watch.fabric.set_interval(std::chrono::minutes(1));
  watch.sweeps(130);
  if (const LinkCase* const one = case_of(end)) {
    EXPECT_EQ(host_end(*one).errors, 0U);
    EXPECT_TRUE(one->downs.empty());
  }
}

TEST_F(LinkCasesTest, LinksOfOneLeafThatFlapTogetherAreItsFault) {
  flap({end, watch.fabric.port_towards("host-1-1 mlx5_0", "leaf-1"),
        watch.fabric.port_towards("host-1-2 mlx5_0", "leaf-1")});
  const LinkCase* const one = case_of(end);
  ASSERT_TRUE(one);
  EXPECT_EQ(leaf_end(*one).others.bad, 2U);
  EXPECT_EQ(leaf_end(*one).others.shared, 0U);
}

TEST_F(LinkCasesTest, LinksOfTheSameTwoNodesAreShared) {
  FabricBuilder fabric;
  const NodeIndex left = fabric.add_switch("left", 8), right = fabric.add_switch("right", 8);
  const NodeIndex host = fabric.add_adapter("host", 1);
  for (std::uint16_t i = 1; i <= 3; ++i) fabric.connect(fabric.port_of("left", i), fabric.port_of("right", i));
  fabric.connect(fabric.port_of("host", 1), fabric.port_of("left", 8));
  fabric.set_local_port(fabric.key_of(fabric.port_of("host", 1)));
  (void)left, (void)right, (void)host;
  watch = Watch(std::move(fabric));
  watch.sweeps(5);
  flap({watch.fabric.port_of("left", 1), watch.fabric.port_of("left", 2)});
  const LinkCase* const one = case_of(watch.fabric.port_of("left", 1));
  ASSERT_TRUE(one);
  EXPECT_EQ(one->a.others.bad, 1U);
  EXPECT_EQ(one->a.others.shared, 1U);
  EXPECT_EQ(one->b.others.shared, 1U);
}

TEST_F(LinkCasesTest, PortsOfOneCageAreKnownByTheMakeOfTheSwitch) {
  const PortIndex leaf = peer(end);
  Node& node = watch.fabric.node(watch.fabric.find("leaf-1"));
  node.device_id = 0xD2F2;
  flap({end});
  const LinkCase* const one = case_of(end);
  ASSERT_TRUE(one);
  EXPECT_EQ(leaf_end(*one).same_cage.all, 1U) << "port " << watch.fabric.key_of(leaf).port.value;
  EXPECT_EQ(leaf_end(*one).others.all, 4U);
}

}  // namespace
}  // namespace weft::analyzer
