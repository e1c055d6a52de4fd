// SPDX-License-Identifier: Apache-2.0
// How performance agents are asked: where, at which service level, for what, and what is never done to them.

#include <set>

#include "tests/unit/collectors/infiniband/small_subnet.hpp"

namespace weft::infiniband {
namespace {

using SweeperAgentsTest = SmallSubnet;

TEST_F(SweeperAgentsTest, NothingIsEverClearedUnlessAnOperatorSaidSo) {
  port.port(left, 2).counters = {{IB_PC_ERR_SYM_F, 0xFFFF}};
  Sweeper careful(port, options);
  for (int i = 0; i < 3; ++i) sweep(careful);
  EXPECT_EQ(port.sets, 0U);
  options.clear_saturated_counters = true;
  Sweeper told(port, options);
  sweep(told);
  EXPECT_EQ(port.sets, 1U);
}

TEST_F(SweeperAgentsTest, ARedirectedAgentIsAskedWhereItSaysItIs) {
  const std::size_t proxy = port.add_adapter(0x600, "proxy");
  port.connect(left, 8, proxy, 1);
  port.node(host).redirect_lid = port.port(proxy, 1).lid;
  port.port(proxy, 1).counters = {{IB_PC_LINK_DOWNED_F, 9}};
  Sweeper sweeper(port, options);
  const Sweep result = sweep(sweeper);
  const SampleTable& table = *result.counters;
  EXPECT_EQ(table.value(result.topology->find_port({{0x400}, {1}}), table.column(CounterId::kLinkDowned)), 9U);
}

TEST_F(SweeperAgentsTest, ARedirectionIsFollowedIntoItsPartition) {
  const std::size_t proxy = port.add_adapter(0x600, "proxy");
  port.connect(left, 8, proxy, 1);
  port.pkeys = {0xFFFF, 0x0000, 0x8005};
  port.node(host).redirect_lid = port.port(proxy, 1).lid;
  port.node(host).redirect_pkey = 0x0005;  // a limited member of the partition that we are a full one of
  port.node(proxy).partition = 0x0005;
  port.port(proxy, 1).counters = {{IB_PC_LINK_DOWNED_F, 9}};
  Sweeper sweeper(port, options);
  const Sweep result = sweep(sweeper);
  const PortIndex index = result.topology->find_port({{0x400}, {1}});
  ASSERT_NE(result.counters->read_at(index), kNever);
  EXPECT_EQ(result.counters->value(index, result.counters->column(CounterId::kLinkDowned)), 9U);
}

TEST_F(SweeperAgentsTest, ARedirectionIntoAPartitionThatIsNotOursIsNotAskedInAnother) {
  const std::size_t proxy = port.add_adapter(0x600, "proxy");
  port.connect(left, 8, proxy, 1);
  port.node(host).redirect_lid = port.port(proxy, 1).lid;
  port.node(host).redirect_pkey = 0x8007;
  Sweeper sweeper(port, options);
  const Sweep result = sweep(sweeper);
  EXPECT_EQ(result.counters->read_at(result.topology->find_port({{0x400}, {1}})), kNever);
}

TEST_F(SweeperAgentsTest, TheServiceLevelIsTheOneThatTheSubnetAdministratorSays) {
  port.subnet_manager_lid = port.port(host, 1).lid;
  port.path_service_level = 3;
  // OpenSM sends a record, not a whole datagram.
  port.tamper = [](const MadAddress& to, FakeMadPort::Reply&) -> std::size_t {
    return to.mad_class == MadClass::kSubnetAdministration ? 120 : 256;
  };
  options.service_level.reset();
  Sweeper sweeper(port, options);
  for (int i = 0; i < 5; ++i) sweep(sweeper);
  port.service_levels.clear();
  const Sweep result = sweep(sweeper);
  EXPECT_EQ(port.service_levels, std::set<std::uint8_t>{3});
  EXPECT_EQ(result.statistics.requests[static_cast<std::size_t>(MadResult::kMalformed)], 0U);
}

TEST_F(SweeperAgentsTest, ServiceLevelsAreAskedForAgainWhenRoutesChange) {
  port.subnet_manager_lid = port.port(host, 1).lid;
  port.path_service_level = 3;
  port.node(left).forwarding.assign(8, 255);
  options.service_level.reset();
  Sweeper sweeper(port, options);
  for (int i = 0; i < 10; ++i) sweep(sweeper);
  port.path_service_level = 5;
  port.node(left).forwarding[port.port(host, 1).lid] = 2;
  port.node(left).port_state_change = true;
  for (int i = 0; i < 80; ++i) sweep(sweeper);
  port.service_levels.clear();
  sweep(sweeper);
  EXPECT_EQ(port.service_levels, std::set<std::uint8_t>{5});
}

TEST_F(SweeperAgentsTest, AnotherSubnetManagerIsAskedForServiceLevels) {
  port.subnet_manager_lid = port.port(host, 1).lid;
  options.service_level.reset();
  Sweeper sweeper(port, options);
  for (int i = 0; i < 5; ++i) sweep(sweeper);
  port.path_service_level = 2;
  port.subnet_manager_lid = port.port(right, 0).lid;
  for (int i = 0; i < 8; ++i) sweep(sweeper);
  port.service_levels.clear();
  sweep(sweeper);
  EXPECT_EQ(port.service_levels, std::set<std::uint8_t>{2});
}

class SweeperKeyTest : public SmallSubnet {
 protected:
  /// Protects everything but our own adapter, which its driver reads without a key.
  void protect(std::uint8_t level) {
    for (const std::size_t node : {left, right, host}) {
      port.node(node).management_key = kKey;
      port.node(node).key_protection = level;
    }
  }
  static constexpr std::uint64_t kKey = 0x0123'4567'89ab'cdef;
};

TEST_F(SweeperKeyTest, AProtectedSubnetIsReadWithItsKey) {
  protect(2);
  options.engine.management_key = kKey;
  bool leaked = false;
  port.loses = [&](const FakeMadPort::Reply& request) {
    // Only subnet management has a key there; in other classes it would be data.
    if (request[1] != 0x01 && request[1] != 0x81)
      leaked |= mad_get_field64(const_cast<std::uint8_t*>(request.data()), 0, IB_MAD_MKEY_F) == kKey;
    return false;
  };
  Sweeper sweeper(port, options);
  const Sweep result = sweep(sweeper);
  EXPECT_EQ(result.topology->nodes().size(), 4U);
  EXPECT_EQ(result.statistics.nodes_with_other_key, 0U);
  EXPECT_EQ(result.statistics.silent_neighbors, 0U);
  EXPECT_NE(result.counters->read_at(result.topology->find_port({{0x400}, {1}})), kNever);
  EXPECT_FALSE(leaked);
}

TEST_F(SweeperKeyTest, AWrongOrMissingKeyShowsAsSilentNeighbors) {
  protect(2);
  for (const std::uint64_t key : {std::uint64_t{0}, kKey + 1}) {
    options.engine.management_key = key;
    Sweeper sweeper(port, options);
    const Sweep result = sweep(sweeper);
    EXPECT_EQ(result.topology->nodes().size(), 1U);
    EXPECT_EQ(result.statistics.silent_neighbors, 1U) << "our own link is up, and nobody answers behind it";
  }
}

TEST_F(SweeperKeyTest, AWrongKeyIsSaidWhereNodesCanStillBeRead) {
  protect(1);
  options.engine.management_key = kKey + 1;
  Sweeper wrong(port, options);
  Sweep result = sweep(wrong);
  EXPECT_EQ(result.topology->nodes().size(), 4U);
  EXPECT_EQ(result.statistics.nodes_with_other_key, 3U);
  options.engine.management_key = 0;
  Sweeper none(port, options);
  EXPECT_EQ(sweep(none).statistics.nodes_with_other_key, 0U) << "no key was claimed";
}

TEST_F(SweeperAgentsTest, Fdr10IsReadFromTheVendorsAttribute) {
  for (const std::size_t node : {left, right}) {
    port.node(node).vendor_id = 0x2c9;
    port.node(node).device_id = 0xc738;
    port.node(node).runs_at_fdr10 = true;
  }
  Sweeper sweeper(port, options);
  const Sweep first = sweep(sweeper);
  for (const std::uint64_t guid : {0x200, 0x300}) {
    const Port& end = find(first, guid, 2);
    EXPECT_EQ(end.speed_active, kSpeedFdr10);
    EXPECT_TRUE(end.speed_supported & end.speed_enabled & kSpeedFdr10);
    EXPECT_FLOAT_EQ(end.wait_tick_seconds, static_cast<float>(8 * 8 / 40e9));
  }
  EXPECT_EQ(port.vendor_questions, 6U) << "once for each external port that is up";
  const Sweep later = sweep(sweeper);
  EXPECT_EQ(port.vendor_questions, 6U);
  EXPECT_EQ(later.topology, first.topology) << "PortInfo, which says QDR, is no news";
  // The link trains again at QDR: what was known of the old one is not said of the new one.
  port.set_link(left, 2, false);
  sweep(sweeper);
  port.node(left).runs_at_fdr10 = port.node(right).runs_at_fdr10 = false;
  port.set_link(left, 2, true);
  EXPECT_NE(find(sweep(sweeper), 0x200, 2).speed_active, kSpeedFdr10);
}

TEST_F(SweeperAgentsTest, TheSubnetManagersOwnLinkIsFdr10AsItsOtherEndSays) {
  for (const std::size_t node : {self, left, right, host}) {
    port.node(node).vendor_id = 0x2c9;
    port.node(node).device_id = node == left || node == right ? 0xc738 : 0x1003;
    port.node(node).runs_at_fdr10 = true;
  }
  port.subnet_manager_lid = find_lid(host).value;
  Sweeper sweeper(port, options);
  const Sweep first = sweep(sweeper);
  EXPECT_EQ(port.vendor_questions, 7U) << "everybody, but not the node beside the subnet manager";
  const Port& manager = find(first, 0x400, 1);
  EXPECT_EQ(manager.speed_active, kSpeedFdr10);
  EXPECT_TRUE(manager.speed_supported & manager.speed_enabled & kSpeedFdr10);
}

TEST_F(SweeperAgentsTest, TheVendorsAttributeIsAskedForOnlyWhereItMayBe) {
  port.tamper = [](const MadAddress&, FakeMadPort::Reply& reply) {
    if (mad_get_field(reply.data(), 0, IB_MAD_ATTRID_F) == IB_ATTR_PORT_INFO)
      mad_set_field(reply.data(), IB_SMP_DATA_OFFS, IB_PORT_CAPMASK_F, 0);  // no extended speeds: QDR
    return reply.size();
  };
  port.node(left).vendor_id = 0x1175;  // another vendor
  port.node(left).device_id = 0xc738;
  port.node(right).vendor_id = 0x2c9;  // the vendor, but an agent without the attribute
  port.node(right).device_id = 0xc738;
  Sweeper sweeper(port, options);
  EXPECT_EQ(find(sweep(sweeper), 0x300, 2).speed_active, kSpeedQdr);
  const std::uint64_t asked = port.vendor_questions;
  EXPECT_GE(asked, 1U);
  EXPECT_LE(asked, 3U) << "one node, its ports that are up";
  for (int i = 0; i < 70; ++i) sweep(sweeper);
  EXPECT_EQ(port.vendor_questions, asked) << "an agent that does not have it is left alone";
}

TEST_F(SweeperAgentsTest, ASwitchThatIsFasterThanQdrIsNotAskedForFdr10) {
  port.node(left).vendor_id = port.node(right).vendor_id = 0x2c9;
  port.node(left).device_id = port.node(right).device_id = 0xd2f0;
  Sweeper sweeper(port, options);
  for (int i = 0; i < 3; ++i) sweep(sweeper);
  EXPECT_EQ(port.vendor_questions, 0U);
}

TEST_F(SweeperAgentsTest, OneLostDetailIsNoLackOfDetails) {
  options.detail_interval = options.interval;
  port.node(right).details = port.node(host).details = true;
  unsigned asked_of_left = 0;
  std::set<std::uint16_t> lost_once;
  port.tamper = [&](const MadAddress& to, FakeMadPort::Reply& reply) -> std::size_t {
    const auto attribute = mad_get_field(reply.data(), 0, IB_MAD_ATTRID_F);
    if (to.mad_class != MadClass::kPerformance || attribute < IB_GSI_PORT_RCV_ERROR_DETAILS ||
        attribute == IB_GSI_PORT_COUNTERS_EXT)
      return reply.size();
    if (to.lid == find_lid(left)) return ++asked_of_left, 0;
    return lost_once.insert(to.lid.value).second ? 0 : reply.size();
  };
  Sweeper sweeper(port, options);
  for (int i = 0; i < 8; ++i) sweep(sweeper);
  const unsigned asked = asked_of_left;
  const Sweep result = sweep(sweeper);
  ASSERT_TRUE(result.details);
  EXPECT_FALSE(lost_once.empty());
  for (const std::uint64_t guid : {0x300, 0x400})
    EXPECT_NE(result.details->read_at(result.topology->find_port({{guid}, {1}})), kNever) << guid;
  EXPECT_GT(asked, 0U);
  EXPECT_EQ(asked_of_left, asked) << "who never answers is left alone";
}

TEST_F(SweeperAgentsTest, DetailsComeBackWithTheirNode) {
  options.detail_interval = options.interval;
  port.node(host).details = true;
  bool hung = false;
  port.tamper = [&](const MadAddress& to, FakeMadPort::Reply& reply) -> std::size_t {
    return hung && to.mad_class == MadClass::kPerformance && to.lid == find_lid(host) ? 0 : reply.size();
  };
  Sweeper sweeper(port, options);
  sweep(sweeper);
  hung = true;  // first its agent stops answering, then the node is gone
  for (int i = 0; i < 6; ++i) sweep(sweeper);
  port.node(host).silent = true;
  for (int i = 0; i < 2; ++i) sweep(sweeper);
  hung = port.node(host).silent = false;
  const auto read_at = [](const Sweep& sweep) {
    return sweep.details->read_at(sweep.topology->find_port({{0x400}, {1}}));
  };
  Sweep result = sweep(sweeper);
  const TimePoint before = read_at(result);
  for (int i = 0; i < 8; ++i) result = sweep(sweeper);
  EXPECT_GT(read_at(result), before);
}

TEST_F(SweeperAgentsTest, AnAgentThatHangsIsNotTakenForOneWithoutDetails) {
  options.detail_interval = options.interval;
  port.node(right).details = true;
  std::size_t more = 0;
  for (std::uint8_t i = 4; i <= 8; ++i) {
    more = port.add_adapter(0x600U + i, "more-" + std::to_string(i) + " mlx5_0");
    port.connect(right, i, more, 1);
  }
  bool hung = false;
  port.tamper = [&](const MadAddress& to, FakeMadPort::Reply& reply) -> std::size_t {
    return hung && to.mad_class == MadClass::kPerformance && to.lid == find_lid(right) ? 0 : reply.size();
  };
  const auto read_at = [](const Sweep& sweep) {
    return sweep.details->read_at(sweep.topology->find_port({{0x300}, {1}}));
  };
  for (const bool another_is_silent : {false, true}) {
    Sweeper sweeper(port, options);
    const TimePoint before = read_at(sweep(sweeper));
    EXPECT_NE(before, kNever);
    hung = true;
    for (int i = 0; i < 6; ++i) {
      port.node(host).silent = another_is_silent && i % 2 == 0;
      port.node(more).silent = another_is_silent && i % 2 == 1;
      sweep(sweeper);
    }
    hung = port.node(host).silent = port.node(more).silent = false;
    EXPECT_GT(read_at(sweep(sweeper)), before) << another_is_silent;
  }
}

TEST_F(SweeperAgentsTest, DetailsThatAreLostInOneSweepAreAskedForAgain) {
  options.detail_interval = options.interval;
  port.node(right).details = true;
  for (std::uint8_t i = 4; i <= 8; ++i)
    port.connect(right, i, port.add_adapter(0x600U + i, "more-" + std::to_string(i) + " mlx5_0"), 1);
  bool lost = true;
  port.tamper = [&](const MadAddress& to, FakeMadPort::Reply& reply) -> std::size_t {
    const auto attribute = mad_get_field(reply.data(), 0, IB_MAD_ATTRID_F);
    const bool detail = attribute >= IB_GSI_PORT_RCV_ERROR_DETAILS && attribute != IB_GSI_PORT_COUNTERS_EXT;
    return lost && detail && to.mad_class == MadClass::kPerformance ? 0 : reply.size();
  };
  Sweeper sweeper(port, options);
  sweep(sweeper);
  lost = false;
  const Sweep result = sweep(sweeper);
  for (std::uint8_t i = 1; i <= 8; ++i)
    EXPECT_NE(result.details->read_at(result.topology->find_port({{0x300}, {i}})), kNever) << unsigned{i};
}

}  // namespace
}  // namespace weft::infiniband
