// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/forwarding.hpp"

#include <gtest/gtest.h>

#include "tests/unit/collectors/infiniband/small_subnet.hpp"

namespace weft::infiniband {
namespace {

class ForwardingTest : public SmallSubnet {
 protected:
  ForwardingTest() {
    port.node(left).forwarding.assign(1000, 255);
    port.node(left).forwarding[lid(host)] = 2;
    port.node(right).forwarding.assign(1000, 255);
    port.node(right).forwarding[lid(host)] = 1;
    sweeper = std::make_unique<Sweeper>(port, options);
  }
  std::uint16_t lid(std::size_t node) { return port.port(node, 1).lid; }
  Sweep sweep(int times = 1) {
    Sweep last;
    for (int i = 0; i < times; ++i) {
      auto result = sweeper->sweep();
      EXPECT_TRUE(result) << result.error().message;
      if (result) last = *result;
    }
    return last;
  }
  static std::optional<PortNum> egress(const Sweep& sweep, std::uint64_t guid, std::uint16_t to) {
    return sweep.routes->egress(sweep.topology->find_node({guid}), Lid{to});
  }
  std::unique_ptr<Sweeper> sweeper;
};

TEST_F(ForwardingTest, TablesAreReadUpToTheirTops) {
  const Sweep last = sweep(3);
  ASSERT_NE(last.routes, nullptr);
  EXPECT_EQ(last.routes->epoch(), last.topology->epoch());
  EXPECT_EQ(egress(last, 0x200, lid(host)), PortNum{2});
  EXPECT_EQ(egress(last, 0x300, lid(host)), PortNum{1});
  EXPECT_EQ(egress(last, 0x300, 999), kNoEgress);
  EXPECT_EQ(last.routes->table(last.topology->find_node({0x200}))->blocks.size(), 16U);
  EXPECT_EQ(last.routes->table(last.topology->find_node({0x400})), nullptr) << "a host has none";
  EXPECT_EQ(port.sets, 0U);
}

TEST_F(ForwardingTest, WhatDoesNotChangeIsTheSameValue) {
  const auto before = sweep(4).routes;
  EXPECT_EQ(sweep(20).routes, before);
}

TEST_F(ForwardingTest, ATableThatWasRewrittenShowsSoonAfterALinkChange) {
  port.connect(left, 3, right, 3);
  sweep(30);
  port.set_link(left, 2, false);
  sweep();
  port.node(left).forwarding[lid(host)] = 3;
  EXPECT_EQ(egress(sweep(2), 0x200, lid(host)), PortNum{3});
}

TEST_F(ForwardingTest, ATableThatWasRewrittenForNoVisibleReasonShowsToo) {
  sweep(30);
  port.node(left).forwarding[lid(host)] = 4;
  EXPECT_EQ(egress(sweep(3), 0x200, lid(host)), PortNum{4});
}

TEST_F(ForwardingTest, WhereNoLidLeadsTablesAreReadByDirectedRoute) {
  sweep(30);
  port.loses = [](const FakeMadPort::Reply& mad) { return mad[1] == 0x01; };  // all that is LID routed
  sweep(2);
  port.node(right).forwarding[lid(host)] = 7;
  EXPECT_EQ(egress(sweep(3), 0x300, lid(host)), PortNum{7});
}

TEST_F(ForwardingTest, AShareOfASweepIsEnough) {
  // Tables as long as can be: 2 × 768 blocks. In quiet, a round takes many sweeps.
  port.node(left).forwarding.resize(0xC000, 255);
  port.node(right).forwarding.resize(0xC000, 255);
  sweep(60);
  port.node(right).forwarding[0xBFFF] = 5;
  const std::uint64_t before = port.forwarding_blocks;
  sweep();
  EXPECT_LE(port.forwarding_blocks - before, 64U);
  EXPECT_EQ(egress(sweep(40), 0x300, 0xBFFF), PortNum{5});
}

TEST_F(ForwardingTest, ASwitchThatIsSilentKeepsItsTableAndDelaysNobody) {
  sweep(4);
  port.node(right).silent = true;
  const Sweep last = sweep(3);
  EXPECT_EQ(egress(last, 0x300, lid(host)), PortNum{1});
  EXPECT_EQ(egress(last, 0x200, lid(host)), PortNum{2});
}

TEST_F(ForwardingTest, AgentsThatDoNotKnowTheAttributeLeaveItAbsent) {
  port.tamper = [](const MadAddress&, fakes::FakeMadPort::Reply& mad) -> std::size_t {
    if (mad[1] == 0x01 && mad[17] == 0x19) mad[5] = 0x0C;  // status: attribute not supported
    return mad.size();
  };
  const Sweep last = sweep(4);
  ASSERT_NE(last.routes, nullptr);
  EXPECT_EQ(egress(last, 0x200, lid(host)), std::nullopt);
}

}  // namespace
}  // namespace weft::infiniband
