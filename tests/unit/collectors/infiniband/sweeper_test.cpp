// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/collectors/infiniband/small_subnet.hpp"

namespace weft::infiniband {
namespace {

using SweeperTest = SmallSubnet;

TEST_F(SweeperTest, FindsTheWholeGraphWithBothEndsOfEveryLink) {
  Sweeper sweeper(port, options);
  const Sweep result = sweep(sweeper);
  EXPECT_EQ(result.topology->nodes().size(), 4U);
  EXPECT_TRUE(joined(result, {{0x200}, {2}}, {{0x300}, {2}}));
  EXPECT_TRUE(joined(result, {{0x200}, {3}}, {{0x300}, {3}}));
  EXPECT_TRUE(joined(result, {{0x400}, {1}}, {{0x300}, {1}}));
  EXPECT_EQ(result.topology->node(result.topology->find_node({0x400})).name, "host mlx5_0");
  EXPECT_EQ(find(result, 0x200, 2).speed_active, kSpeedHdr);
  EXPECT_EQ(find(result, 0x200, 2).width_active, 2);
  EXPECT_EQ(find(result, 0x200, 7).state, PortState::kDown);
  EXPECT_EQ(Topology::validate(result.topology->nodes(), result.topology->ports()), "");
  EXPECT_EQ(result.local_port, (PortKey{{0x100}, {1}}));
}

TEST_F(SweeperTest, AnXdrLinkIsReadAsOneAtBothEnds) {
  port.tamper = [](const MadAddress&, FakeMadPort::Reply& reply) {
    if (mad_get_field(reply.data(), 0, IB_MAD_ATTRID_F) != IB_ATTR_PORT_INFO) return reply.size();
    const bool is_switchs = mad_get_field(reply.data(), IB_SMP_DATA_OFFS, IB_PORT_LID_F) == 0;
    reply[64 + 22] = is_switchs ? 0 : 0xC0;  // CapabilityMask: only port 0 and adapters say what they can
    reply[64 + 60] = is_switchs ? 0 : 0x18;  // CapabilityMask2
    reply[64 + 56] = 0x29;                   // LinkSpeedExtActive2, Supported2, Enabled2
    return reply.size();
  };
  Sweeper sweeper(port, options);
  sweep(sweeper);
  const Sweep result = sweep(sweeper);
  for (const auto& [guid, number] : {std::pair{0x100, 1}, std::pair{0x200, 2}, std::pair{0x300, 2}}) {
    const Port& end = find(result, static_cast<std::uint64_t>(guid), static_cast<std::uint8_t>(number));
    EXPECT_EQ(end.speed_active, kSpeedXdr) << guid;
    EXPECT_EQ(fastest(end.speed_supported & end.speed_enabled), kSpeedXdr) << guid;
    EXPECT_FLOAT_EQ(end.wait_tick_seconds, static_cast<float>(8 * 8 / 800e9)) << guid;
  }
}

TEST_F(SweeperTest, SaysWhereTheSubnetManagerSits) {
  Sweeper sweeper(port, options);
  EXPECT_EQ(sweep(sweeper).subnet_manager, std::nullopt) << "there is none yet";
  port.subnet_manager_lid = port.port(host, 1).lid;
  EXPECT_EQ(sweep(sweeper).subnet_manager, (PortKey{{0x400}, {1}}));
  port.subnet_manager_lid = port.port(right, 0).lid;
  EXPECT_EQ(sweep(sweeper).subnet_manager, (PortKey{{0x300}, {0}})) << "it runs on a switch";
  port.subnet_manager_lid = 77;
  EXPECT_EQ(sweep(sweeper).subnet_manager, std::nullopt) << "nobody has that LID";
}

TEST_F(SweeperTest, CountersAreReadWithTheirWidthsAndUnits) {
  port.port(left, 2).counters = {{IB_PC_ERR_SYM_F, 0xFFFF}, {IB_PC_LINK_DOWNED_F, 3}, {IB_PC_XMT_WAIT_F, 12}};
  port.port(left, 2).extended_counters = {{IB_PC_EXT_XMT_BYTES_F, 1000}, {IB_PC_EXT_RCV_PKTS_F, 1ULL << 40}};
  Sweeper sweeper(port, options);
  const Sweep result = sweep(sweeper);
  const PortIndex row = result.topology->find_port({{0x200}, {2}});
  const SampleTable& table = *result.counters;
  const auto value = [&](CounterId id) { return table.value(row, table.column(id)); };
  EXPECT_EQ(value(CounterId::kTransmitBytes), 4000U) << "words of four bytes";
  EXPECT_EQ(value(CounterId::kReceivePackets), 1ULL << 40);
  EXPECT_EQ(value(CounterId::kLinkDowned), 3U);
  EXPECT_EQ(value(CounterId::kTransmitWait), 12U);
  EXPECT_TRUE(table.saturated(row, table.column(CounterId::kSymbolErrors)));
  EXPECT_FALSE(table.saturated(row, table.column(CounterId::kLinkDowned)));
  EXPECT_FALSE(table.present(row, table.column(CounterId::kQp1Dropped))) << "the agent does not have it";
  EXPECT_NE(table.read_at(row), kNever);
}

TEST_F(SweeperTest, A32BitAgentGivesSticking32BitTraffic) {
  port.node(right).performance_capabilities = 0;
  port.port(right, 2).counters = {{IB_PC_XMT_BYTES_F, 0xFFFFFFFF}, {IB_PC_RCV_BYTES_F, 5}};
  Sweeper sweeper(port, options);
  const Sweep result = sweep(sweeper);
  const PortIndex row = result.topology->find_port({{0x300}, {2}});
  const SampleTable& table = *result.counters;
  EXPECT_TRUE(table.saturated(row, table.column(CounterId::kTransmitBytes)));
  EXPECT_EQ(table.value(row, table.column(CounterId::kReceiveBytes)), 20U);
  EXPECT_FALSE(table.present(row, table.column(CounterId::kTransmitWait)));
}

TEST_F(SweeperTest, ALinkThatGoesDownShowsInTheNextSweepAndKeepsItsPeer) {
  Sweeper sweeper(port, options);
  sweep(sweeper);
  port.set_link(left, 2, false);
  const Sweep result = sweep(sweeper);
  EXPECT_EQ(find(result, 0x200, 2).state, PortState::kDown);
  EXPECT_EQ(find(result, 0x300, 2).state, PortState::kDown) << "the other switch is still reached by the second cable";
  EXPECT_TRUE(joined(result, {{0x200}, {2}}, {{0x300}, {2}}));
  EXPECT_EQ(find(result, 0x200, 2).speed_active, 0);
  EXPECT_NE(find(result, 0x200, 2).speed_supported, 0) << "what it can do stays known";
}

TEST_F(SweeperTest, WhatIsBehindACutIsUnreachableNotDownAndComesBack) {
  Sweeper sweeper(port, options);
  sweep(sweeper);
  port.set_link(left, 2, false);
  port.set_link(left, 3, false);
  Sweep result = sweep(sweeper);
  EXPECT_FALSE(result.topology->node(result.topology->find_node({0x300})).reachable);
  EXPECT_FALSE(result.topology->node(result.topology->find_node({0x400})).reachable);
  EXPECT_EQ(find(result, 0x300, 1).state, PortState::kActive) << "nobody has said otherwise";
  const std::uint64_t before = port.requests;
  sweep(sweeper);
  const std::uint64_t asked = port.requests - before;
  EXPECT_LT(asked, 60U) << "what cannot be reached is not asked";
  port.set_link(left, 3, true);
  result = sweep(sweeper);
  EXPECT_TRUE(result.topology->node(result.topology->find_node({0x400})).reachable);
}

TEST_F(SweeperTest, AFarEndThatWasLastReadDownDoesNotBarTheWayBack) {
  Sweeper sweeper(port, options);
  sweep(sweeper);
  port.set_link(left, 2, false);
  sweep(sweeper);  // read at both ends: the third cable is still there
  port.set_link(left, 3, false);
  sweep(sweeper);
  port.set_link(left, 2, true);
  sweep(sweeper);
  const Sweep result = sweep(sweeper);
  EXPECT_TRUE(result.topology->node(result.topology->find_node({0x400})).reachable);
  EXPECT_EQ(find(result, 0x300, 2).state, PortState::kActive);
}

TEST_F(SweeperTest, ACableMovedToAnotherPortIsFound) {
  Sweeper sweeper(port, options);
  sweep(sweeper);
  port.set_link(right, 1, false);
  sweep(sweeper);
  port.connect(left, 5, host, 1);
  port.set_link(left, 5, true);
  const Sweep result = sweep(sweeper);
  EXPECT_TRUE(joined(result, {{0x400}, {1}}, {{0x200}, {5}}));
}

// The port of the switch is up in each sweep.
TEST_F(SweeperTest, AnotherAdapterInThePlaceOfOneIsFoundAtOnce) {
  Sweeper sweeper(port, options);
  const std::size_t other = port.add_adapter(0x500, "other mlx5_0");
  sweep(sweeper);
  port.set_link(right, 1, false);
  port.connect(right, 1, other, 1);
  port.set_link(right, 1, true);
  const Sweep result = sweep(sweeper);
  EXPECT_TRUE(joined(result, {{0x300}, {1}}, {{0x500}, {1}}));
  EXPECT_FALSE(result.topology->node(result.topology->find_node({0x400})).reachable);
}

// At whatever moment of a sweep it happens.
TEST_F(SweeperTest, OurOwnCableThatIsPutIntoAnotherSubnetMixesNothing) {
  const std::size_t other = port.add_switch(0x500, "other", 8);
  const std::size_t second = port.add_switch(0x600, "second", 8);
  const std::size_t stranger = port.add_adapter(0x700, "stranger mlx5_0");
  port.connect(other, 2, second, 2);
  port.connect(other, 4, stranger, 1);
  bool is_moved = false;
  for (std::uint64_t moment = 0; moment < 1000; ++moment) {
    port.tamper = {};
    port.connect(self, 1, left, 1);
    Sweeper sweeper(port, options);
    const Sweep before = sweep(sweeper);
    ASSERT_EQ(before.topology->nodes().size(), 4U);
    std::uint64_t replies = 0;
    is_moved = false;
    port.tamper = [&](const MadAddress&, FakeMadPort::Reply& reply) {
      if (replies++ == moment) {
        port.connect(self, 1, other, 1);
        is_moved = true;
      }
      return reply.size();
    };
    const auto is_of_new = [&](const Sweep& result) {
      const bool has_old = result.topology->find_node({0x200}) != kNoIndex;
      const bool has_new = result.topology->find_node({0x500}) != kNoIndex;
      EXPECT_NE(has_old, has_new) << moment;
      EXPECT_EQ(result.topology->nodes().size(), 4U) << moment;
      EXPECT_TRUE(result.topology->duplicates().empty()) << moment;
      EXPECT_EQ(has_new, result.topology->epoch() != before.topology->epoch()) << moment;
      return has_new;
    };
    is_of_new(sweep(sweeper));
    if (!is_moved) break;  // it had fewer replies
    EXPECT_TRUE(is_of_new(sweep(sweeper))) << moment;
  }
}

TEST_F(SweeperTest, OurOwnCableMovedWithinTheSubnetKeepsTheEpoch) {
  Sweeper sweeper(port, options);
  const Sweep before = sweep(sweeper);
  port.set_link(left, 1, false);
  port.connect(self, 1, right, 6);
  port.set_link(self, 1, true);
  sweep(sweeper);
  const Sweep result = sweep(sweeper);
  EXPECT_TRUE(joined(result, {{0x100}, {1}}, {{0x300}, {6}}));
  EXPECT_EQ(result.topology->epoch(), before.topology->epoch());
}

TEST_F(SweeperTest, ANewNodeIsFoundWithoutANewEpoch) {
  Sweeper sweeper(port, options);
  const Sweep before = sweep(sweeper);
  const std::size_t guest = port.add_adapter(0x500, "guest mlx5_0");
  port.connect(right, 6, guest, 1);
  sweep(sweeper);
  const Sweep result = sweep(sweeper);
  EXPECT_TRUE(joined(result, {{0x500}, {1}}, {{0x300}, {6}}));
  EXPECT_EQ(result.topology->epoch(), before.topology->epoch());
  EXPECT_EQ(result.counters->rows(), result.topology->ports().size());
  EXPECT_EQ(result.topology->find_port({{0x200}, {2}}), before.topology->find_port({{0x200}, {2}}));
}

TEST_F(SweeperTest, DuplicateGuidsAreShownNotMerged) {
  const std::size_t twin = port.add_adapter(0x400, "twin mlx5_0");
  port.connect(left, 6, twin, 1);
  Sweeper sweeper(port, options);
  const Sweep result = sweep(sweeper);
  ASSERT_EQ(result.topology->duplicates().size(), 1U);
  const DuplicateGuid& duplicate = result.topology->duplicates()[0];
  EXPECT_EQ(duplicate.guid, NodeGuid{0x400});
  const std::pair<PortKey, PortKey> seen{duplicate.first_seen_behind, duplicate.second_seen_behind};
  const PortKey a{{0x200}, {6}}, b{{0x300}, {1}};
  EXPECT_TRUE(seen == std::pair(a, b) || seen == std::pair(b, a));
  EXPECT_EQ(result.topology->nodes().size(), 4U);
  port.set_link(left, 6, false);
  port.set_link(right, 1, true);
  sweep(sweeper);
  EXPECT_TRUE(sweep(sweeper).topology->duplicates().empty() || seen.second == b);
}

TEST_F(SweeperTest, ASilentNodeGoesStaleIsBackedOffAndOthersAreRead) {
  Sweeper sweeper(port, options);
  const Sweep first = sweep(sweeper);
  port.node(host).silent = true;
  const Sweep second = sweep(sweeper);
  const PortIndex row = second.topology->find_port({{0x400}, {1}});
  EXPECT_EQ(second.state_read_at[row], first.state_read_at[row]) << "no new reading";
  EXPECT_TRUE(second.topology->node(second.topology->find_node({0x400})).reachable) << "its link is up";
  const PortIndex other = second.topology->find_port({{0x300}, {1}});
  EXPECT_GT(second.state_read_at[other], first.state_read_at[other]);
  Sweep later;
  for (int i = 0; i < 4; ++i) later = sweep(sweeper);
  EXPECT_EQ(later.statistics.nodes_backed_off, 1U);
  port.node(host).silent = false;
  for (int i = 0; i < 20; ++i) later = sweep(sweeper);
  EXPECT_EQ(later.statistics.nodes_backed_off, 0U);
  EXPECT_GT(later.state_read_at[row], second.state_read_at[row]);
}

TEST_F(SweeperTest, LidsThatMoveDoNotMixUpNodes) {
  Sweeper sweeper(port, options);
  sweep(sweeper);
  std::swap(port.port(left, 0).lid, port.port(right, 0).lid);
  port.port(right, 2).counters = {{IB_PC_ERR_SYM_F, 77}};
  sweep(sweeper);
  const Sweep result = sweep(sweeper);
  const SampleTable& table = *result.counters;
  const auto column = table.column(CounterId::kSymbolErrors);
  EXPECT_EQ(table.value(result.topology->find_port({{0x300}, {2}}), column), 77U);
  EXPECT_EQ(table.value(result.topology->find_port({{0x200}, {2}}), column), 0U);
}

TEST_F(SweeperTest, WithoutASubnetManagerTheGraphIsStillSeen) {
  for (const std::size_t node : {self, left, right, host})
    for (fakes::FakePort& p : port.node(node).ports) p.lid = 0;
  Sweeper sweeper(port, options);
  const Sweep result = sweep(sweeper);
  EXPECT_EQ(result.topology->nodes().size(), 4U);
  EXPECT_NE(result.state_read_at[result.topology->find_port({{0x400}, {1}})], kNever);
  EXPECT_EQ(result.counters->read_at(result.topology->find_port({{0x200}, {2}})), kNever);
}

// Torus and LASH routing give paths service levels so that they do not deadlock; new routes have new ones.

TEST_F(SweeperTest, AnAdaptersPortInAnotherSubnetIsNotTakenForOneOfOurs) {
  const std::size_t two = port.add_adapter(0x500, "two mlx5_0", 2);
  const std::size_t other = port.add_switch(0x600, "in another subnet", 4);
  port.connect(two, 1, other, 1);
  port.connect(left, 6, two, 2);
  port.port(two, 1).lid = port.port(host, 1).lid;  // each subnet counts its LIDs from one
  port.port(host, 1).counters = {{IB_PC_LINK_DOWNED_F, 9}};
  port.port(two, 2).counters = {{IB_PC_LINK_DOWNED_F, 4}};
  Sweeper sweeper(port, options);
  sweep(sweeper);
  const Sweep result = sweep(sweeper);
  const SampleTable& table = *result.counters;
  const PortIndex there = result.topology->find_port({{0x500}, {1}}), here = result.topology->find_port({{0x500}, {2}});
  EXPECT_EQ(table.read_at(there), kNever) << "those would be the counters of whoever has its LID here";
  ASSERT_NE(table.read_at(here), kNever);
  EXPECT_EQ(table.value(here, table.column(CounterId::kLinkDowned)), 4U);
}

TEST_F(SweeperTest, NodesOfDifferentMakeWithOneGuidAreDuplicatesAndKeepTheEpoch) {
  const std::size_t twin = port.add_switch(0x400, "twin", 4);
  port.connect(left, 6, twin, 1);
  Sweeper sweeper(port, options);
  const Sweep first = sweep(sweeper);
  sweep(sweeper);
  const Sweep result = sweep(sweeper);
  EXPECT_EQ(result.topology->epoch(), first.topology->epoch());
  ASSERT_EQ(result.topology->duplicates().size(), 1U);
  EXPECT_EQ(result.topology->duplicates()[0].guid, NodeGuid{0x400});
}

TEST_F(SweeperTest, ANodeThatComesBackWithMorePortsIsShownSo) {
  Sweeper sweeper(port, options);
  const Sweep first = sweep(sweeper);
  port.node(host).ports.resize(3);
  sweep(sweeper);
  const Sweep result = sweep(sweeper);
  EXPECT_GT(result.topology->epoch(), first.topology->epoch());
  EXPECT_EQ(result.topology->node(result.topology->find_node({0x400})).port_count, 2);
}

TEST_F(SweeperTest, WhatADiscoveryMissedOfASwitchIsLearntLater) {
  bool lossy = true;
  port.tamper = [&lossy](const MadAddress& to, FakeMadPort::Reply& mad) -> std::size_t {
    if (to.mad_class != MadClass::kSubnetDirectedRoute || mad[17] != 0x12) return mad.size();
    mad_set_field(mad.data(), IB_SMP_DATA_OFFS, IB_SW_ENHANCED_PORT0_F, 1);
    return lossy ? 0 : mad.size();
  };
  options.engine.timeout = std::chrono::milliseconds(1);
  Sweeper sweeper(port, options);
  Sweep result = sweep(sweeper);
  EXPECT_FALSE(result.topology->node(result.topology->find_node({0x200})).enhanced_port0);
  lossy = false;
  for (int i = 0; i < 60; ++i) result = sweep(sweeper);
  EXPECT_TRUE(result.topology->node(result.topology->find_node({0x200})).enhanced_port0);
}

TEST_F(SweeperTest, NobodyIsAskedThroughAPortThatIsDown) {
  Sweeper sweeper(port, options);
  sweep(sweeper);
  port.set_link(self, 1, false);
  port.most_by_lid.clear();
  Sweep result = sweep(sweeper);
  EXPECT_EQ(find(result, 0x100, 1).state, PortState::kDown);
  EXPECT_FALSE(port.most_by_lid.contains(port.port(left, 0).lid)) << "a great subnet would take a minute of time-outs";
  EXPECT_FALSE(result.topology->node(result.topology->find_node({0x200})).reachable);
  port.set_link(self, 1, true);
  sweep(sweeper);
  result = sweep(sweeper);
  EXPECT_TRUE(result.topology->node(result.topology->find_node({0x400})).reachable);
  EXPECT_NE(result.counters->read_at(result.topology->find_port({{0x100}, {1}})), kNever);
}

TEST_F(SweeperTest, TwinSwitchesCabledByDifferentPortsStayDuplicates) {
  const std::size_t twin = port.add_switch(0x300, "twin of right", 8);
  port.connect(left, 6, twin, 7);
  Sweeper sweeper(port, options);
  Sweep result = sweep(sweeper);
  ASSERT_EQ(result.topology->duplicates().size(), 1U);
  for (int i = 0; i < 5; ++i) result = sweep(sweeper);
  EXPECT_EQ(result.topology->duplicates().size(), 1U) << "nothing has changed";
  port.set_link(left, 6, false);
  result = sweep(sweeper);
  EXPECT_TRUE(result.topology->duplicates().empty());
}

TEST_F(SweeperTest, ANodeThatMissedOneSweepIsAskedInTheNext) {
  Sweeper sweeper(port, options);
  sweep(sweeper);
  port.node(host).silent = true;
  const Sweep missed = sweep(sweeper);
  port.node(host).silent = false;
  const Sweep result = sweep(sweeper);
  const PortIndex row = result.topology->find_port({{0x400}, {1}});
  EXPECT_GT(result.state_read_at[row], missed.state_read_at[row]);
}

// ---- replies that no sane agent gives

TEST_F(SweeperTest, AbsurdPortCountsAreRefused) {
  port.tamper = [](const MadAddress& to, FakeMadPort::Reply& mad) {
    const bool is_host = mad_get_field64(mad.data(), IB_SMP_DATA_OFFS, IB_NODE_GUID_F) == 0x400;
    if (to.mad_class == MadClass::kSubnetDirectedRoute && mad[17] == 0x11 && is_host)
      mad_set_field(mad.data(), IB_SMP_DATA_OFFS, IB_NODE_NPORTS_F, 255);
    return mad.size();
  };
  Sweeper sweeper(port, options);
  const Sweep result = sweep(sweeper);
  EXPECT_EQ(result.topology->nodes().size(), 3U) << "the others are seen all the same";
  EXPECT_GT(result.statistics.requests[static_cast<std::size_t>(MadResult::kMalformed)], 0U) << "not good ones";
}

TEST_F(SweeperTest, DescriptionsThatAreNoUtf8BecomeText) {
  port.node(host).description = "caf\xE9 \x01\xFF";
  Sweeper sweeper(port, options);
  const Sweep result = sweep(sweeper);
  EXPECT_EQ(result.topology->node(result.topology->find_node({0x400})).name, "caf\xEF\xBF\xBD  \xEF\xBF\xBD");
}

TEST_F(SweeperTest, AnAdapterThatNobodyNamedIsKnownByItsGuid) {
  port.node(host).description = "MT4123 ConnectX6   Mellanox Technologies";
  for (const bool mapped : {false, true}) {
    if (mapped) options.names[{0x400}] = "gpu-1 mlx5_0";
    Sweeper sweeper(port, options);
    const Sweep result = sweep(sweeper);
    const Node& node = result.topology->node(result.topology->find_node({0x400}));
    EXPECT_EQ(node.name, mapped ? "gpu-1 mlx5_0" : "0x0000000000000400");
    EXPECT_EQ(node.name_is_given, mapped);
    EXPECT_EQ(node.description, "MT4123 ConnectX6   Mellanox Technologies");
  }
}

TEST_F(SweeperTest, ALoopOfCablesEnds) {
  port.connect(left, 6, left, 7);
  Sweeper sweeper(port, options);
  const Sweep result = sweep(sweeper);
  EXPECT_TRUE(joined(result, {{0x200}, {6}}, {{0x200}, {7}}));
}

TEST_F(SweeperTest, AnEndlessFabricIsBounded) {
  // Every switch claims to be a new one: the hop limit of a directed route must end it.
  std::uint64_t next = 0x1000;
  port.tamper = [&next](const MadAddress& to, FakeMadPort::Reply& mad) {
    const bool is_right = mad_get_field64(mad.data(), IB_SMP_DATA_OFFS, IB_NODE_GUID_F) == 0x300;
    if (to.mad_class == MadClass::kSubnetDirectedRoute && mad[17] == 0x11 && is_right)
      mad_set_field64(mad.data(), IB_SMP_DATA_OFFS, IB_NODE_GUID_F, ++next);
    return mad.size();
  };
  Sweeper sweeper(port, options);
  const Sweep result = sweep(sweeper);
  EXPECT_LT(result.topology->nodes().size(), 1000U);
  EXPECT_EQ(Topology::validate(result.topology->nodes(), result.topology->ports()), "");
}

// A reply that is lost says little; an agent that never answers says that it does not have the attribute.

TEST_F(SweeperTest, AGoneAdapterIsAnErrorNotACrash) {
  Sweeper sweeper(port, options);
  sweep(sweeper);
  port.gone = true;
  const auto result = sweeper.sweep();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace weft::infiniband
