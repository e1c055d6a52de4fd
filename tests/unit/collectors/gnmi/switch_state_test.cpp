// SPDX-License-Identifier: Apache-2.0
#include "collectors/gnmi/switch_state.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <string>

namespace weft::gnmi {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;

struct SwitchStateTest : ::testing::Test {
  void tell(const std::string& at, const Value& value) {
    auto path = parse_path(at);
    ASSERT_TRUE(path) << at;
    state.update(*path, value, now);
  }
  void tell(const std::string& port, const std::string& leaf, const Value& value) {
    tell("/interfaces/interface[name=" + port + "]/" + leaf, value);
  }
  void hear(const std::string& port, const std::string& leaf, std::string_view value) {
    tell("/lldp/interfaces/interface[name=" + port + "]/neighbors/neighbor[id=1]/state/" + leaf, value);
  }
  HostReading read() { return state.reading(now, now, 15s); }
  /// nullopt: absent, or no such series.
  std::optional<std::uint64_t> value(const std::string& port, std::string_view name,
                                     Direction direction = Direction::kNone, std::uint8_t priority = kNoPriority) {
    const HostReading reading = read();
    for (std::size_t i = 0; i < reading.inventory->series.size(); ++i) {
      const HostSeries& series = reading.inventory->series[i];
      if (series.device == port && series.name == name && series.direction == direction && series.priority == priority)
        return reading.present[i] != 0 ? std::optional(reading.values[i]) : std::nullopt;
    }
    return std::nullopt;
  }

  SwitchState state;
  TimePoint now{1'700'000'000s};
};

TEST_F(SwitchStateTest, APortHasItsStateRateAndCounters) {
  tell("Ethernet1", "state/oper-status", "UP"sv);
  tell("Ethernet1", "ethernet/state/port-speed", "openconfig-if-ethernet:SPEED_400GB"sv);
  tell("Ethernet1", "state/counters/in-octets", std::uint64_t{12});
  tell("Ethernet2", "state/oper-status", "LOWER_LAYER_DOWN"sv);
  tell("Ethernet2", "state/admin-status", "DOWN"sv);
  const HostReading reading = read();
  ASSERT_EQ(reading.inventory->ports.size(), 2U);
  const HostPort& one = reading.inventory->ports[0];
  EXPECT_EQ(one.device, "Ethernet1");
  EXPECT_EQ(one.netdev, "Ethernet1");
  EXPECT_EQ(one.state, PortState::kActive);
  EXPECT_EQ(one.rate_bits_per_second, 400'000'000'000U);
  EXPECT_EQ(one.link_layer, LinkLayer::kEthernet);
  EXPECT_FALSE(one.administratively_down);
  EXPECT_EQ(reading.inventory->ports[1].state, PortState::kDown);
  EXPECT_TRUE(reading.inventory->ports[1].administratively_down);
  EXPECT_EQ(value("Ethernet1", "receive_bytes"), 12U);
  EXPECT_FALSE(value("Ethernet1", "transmit_bytes"));
  EXPECT_FALSE(value("Ethernet2", "receive_bytes"));
}

TEST_F(SwitchStateTest, TheInventoryIsTheSameUntilSomethingChanges) {
  tell("Ethernet1", "state/oper-status", "UP"sv);
  tell("Ethernet1", "state/counters/in-octets", std::uint64_t{1});
  const auto before = read().inventory;
  tell("Ethernet1", "state/counters/in-octets", std::uint64_t{2});
  tell("Ethernet1", "state/oper-status", "UP"sv);
  EXPECT_EQ(read().inventory, before);
  const auto changes = state.state_changes();
  tell("Ethernet1", "state/oper-status", "DOWN"sv);
  EXPECT_EQ(state.state_changes(), changes + 1);
  const auto after = read().inventory;
  EXPECT_NE(after, before);
  EXPECT_EQ(after->series.shared(), before->series.shared());
}

TEST_F(SwitchStateTest, AValueOutOfRangeIsDroppedAndCountedAndTheOneBeforeStays) {
  tell("Ethernet1", "state/counters/in-octets", std::uint64_t{5});
  for (const Value& bad : {Value(std::int64_t{-1}), Value("x"sv), Value(1.5), Value(true), Value(),
                           Value(std::numeric_limits<std::uint64_t>::max())})
    tell("Ethernet1", "state/counters/in-octets", bad);
  EXPECT_EQ(state.figures().bad, 6U);
  EXPECT_EQ(state.figures().taken, 1U);
  EXPECT_EQ(value("Ethernet1", "receive_bytes"), 5U);
}

TEST_F(SwitchStateTest, WhatIsNotToldAnyMoreIsAbsentNotZero) {
  tell("Ethernet1", "state/oper-status", "UP"sv);
  tell("Ethernet1", "state/counters/in-octets", std::uint64_t{5});
  now += 16s;
  EXPECT_FALSE(value("Ethernet1", "receive_bytes"));
  tell("Ethernet1", "state/counters/in-octets", "6"sv);
  EXPECT_EQ(value("Ethernet1", "receive_bytes"), 6U);
}

TEST_F(SwitchStateTest, UnknownLeavesAreCountedAndHarmNothing) {
  tell("Ethernet1", "state/counters/in-strange-pkts", std::uint64_t{5});
  EXPECT_EQ(state.figures().unknown, 1U);
  EXPECT_TRUE(read().inventory->ports.empty());
}

TEST_F(SwitchStateTest, WhatIsNoEthernetPortIsLeftOut) {
  tell("Vlan10", "state/type", "iana-if-type:l3ipvlan"sv);
  tell("Vlan10", "state/oper-status", "UP"sv);
  tell("Vlan10", "state/counters/in-octets", std::uint64_t{5});
  tell("Ethernet1", "state/type", "ethernetCsmacd"sv);
  tell("Ethernet1", "state/oper-status", "UP"sv);
  const HostReading reading = read();
  ASSERT_EQ(reading.inventory->ports.size(), 1U);
  EXPECT_EQ(reading.inventory->series.size(), 1U);
  EXPECT_EQ(reading.present.size(), 1U);
}

TEST_F(SwitchStateTest, JsonOfAWholeTableIsTakenAsSonicTellsIt) {
  tell("/COUNTERS/Ethernet*", Json{R"({"Ethernet0": {"SAI_PORT_STAT_IF_IN_OCTETS": "77",
      "SAI_PORT_STAT_PFC_3_RX_PKTS": "9", "SAI_PORT_STAT_STRANGE": "1"}, "Ethernet4": {"SAI_PORT_STAT_IF_IN_OCTETS": "78"}})"});
  EXPECT_EQ(value("Ethernet0", "receive_bytes"), 77U);
  EXPECT_EQ(value("Ethernet0", "pfc_frames", Direction::kReceive, 3), 9U);
  EXPECT_EQ(value("Ethernet4", "receive_bytes"), 78U);
  EXPECT_EQ(state.figures().unknown, 1U);
  tell("/COUNTERS/Ethernet*", Json{"{"});
  EXPECT_EQ(state.figures().bad, 1U);
}

TEST_F(SwitchStateTest, OfTwoLeavesThatAreOneCounterTheFirstCounts) {
  tell("Ethernet1", "state/counters/in-fcs-errors", std::uint64_t{5});
  EXPECT_EQ(value("Ethernet1", "crc_errors"), 5U);
  tell("Ethernet1", "ethernet/state/counters/in-crc-errors", std::uint64_t{7});
  EXPECT_EQ(value("Ethernet1", "crc_errors"), 7U);
  now += 16s;
  tell("Ethernet1", "state/counters/in-fcs-errors", std::uint64_t{6});
  EXPECT_FALSE(value("Ethernet1", "crc_errors"));
}

TEST_F(SwitchStateTest, PartsAreAddedUpAndAbsentTogether) {
  const auto queue = [&](const std::string& name, std::uint64_t marks) {
    tell("/qos/interfaces/interface[interface-id=Ethernet1]/output/queues/queue[name=" + name +
             "]/state/ecn-marked-pkts",
         marks);
  };
  queue("0", 5);
  queue("3", 7);
  EXPECT_EQ(value("Ethernet1", "ecn_marks_made"), 12U);
  now += 16s;
  queue("3", 8);
  EXPECT_FALSE(value("Ethernet1", "ecn_marks_made"));
}

TEST_F(SwitchStateTest, LossesOfTheCarrierAreHalfOfItsTransitions) {
  tell("Ethernet1", "state/oper-status", "UP"sv);
  EXPECT_EQ(value("Ethernet1", "carrier_down"), 0U);
  tell("Ethernet1", "state/counters/carrier-transitions", std::uint64_t{5});
  EXPECT_EQ(value("Ethernet1", "carrier_down"), 2U);
  tell("Ethernet1", "state/oper-status", "DOWN"sv);
  tell("Ethernet1", "state/counters/carrier-transitions", std::uint64_t{6});
  EXPECT_EQ(value("Ethernet1", "carrier_down"), 3U);
  tell("Ethernet1", "state/oper-status", "UP"sv);
  tell("Ethernet1", "state/counters/carrier-transitions", std::uint64_t{7});
  EXPECT_EQ(value("Ethernet1", "carrier_down"), 3U);
}

TEST_F(SwitchStateTest, AStateThatIsToldBeforeOrAfterItsTransitionsTakesNoLossBack) {
  tell("Ethernet1", "state/oper-status", "DOWN"sv);
  tell("Ethernet1", "state/counters/carrier-transitions", std::uint64_t{3});
  EXPECT_EQ(value("Ethernet1", "carrier_down"), 2U);
  tell("Ethernet1", "state/oper-status", "UP"sv);
  tell("Ethernet1", "state/counters/carrier-transitions", std::uint64_t{3});
  EXPECT_EQ(value("Ethernet1", "carrier_down"), 2U);
}

TEST_F(SwitchStateTest, TransitionsThatBeganAnewAreNoLosses) {
  tell("Ethernet1", "state/oper-status", "UP"sv);
  tell("Ethernet1", "state/counters/carrier-transitions", std::uint64_t{11});
  tell("Ethernet1", "state/counters/carrier-transitions", std::uint64_t{1});
  EXPECT_EQ(value("Ethernet1", "carrier_down"), 0U);
}

TEST_F(SwitchStateTest, WithoutTransitionsLossesAreThoseThatWereSeen) {
  for (const auto status : {"UP"sv, "DOWN"sv, "DOWN"sv, "UP"sv, "DOWN"sv})
    tell("Ethernet1", "state/oper-status", status);
  EXPECT_EQ(value("Ethernet1", "carrier_down"), 2U);
}

TEST_F(SwitchStateTest, NeighboursAreATableAsACollectorGivesIt) {
  EXPECT_EQ(read().neighbours, nullptr);
  tell("/lldp/state/chassis-id", "001C.7300.00AA"sv);
  tell("/lldp/state/chassis-id-type", "openconfig-lldp-types:MAC_ADDRESS"sv);
  tell("/lldp/state/system-name", "leaf01"sv);
  tell("Ethernet1", "state/oper-status", "UP"sv);
  hear("Ethernet1", "chassis-id", "00:1c:73:00:00:BB");
  hear("Ethernet1", "chassis-id-type", "MAC_ADDRESS");
  hear("Ethernet1", "port-id", "Ethernet7");
  hear("Ethernet1", "port-id-type", "INTERFACE_NAME");
  hear("Ethernet1", "system-name", "spine01");
  const auto table = read().neighbours;
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->chassis, (ChassisId{ChassisIdType::kMac, "00:1c:73:00:00:aa"}));
  EXPECT_EQ(table->system_name, "leaf01");
  ASSERT_EQ(table->ports.size(), 1U);
  EXPECT_EQ(table->ports[0].own, (LldpPortId{PortIdType::kInterfaceName, "Ethernet1"}));
  ASSERT_EQ(table->ports[0].neighbours.size(), 1U);
  const Neighbour& heard = table->ports[0].neighbours[0];
  EXPECT_EQ(heard.chassis, (ChassisId{ChassisIdType::kMac, "00:1c:73:00:00:bb"}));
  EXPECT_EQ(heard.port, (LldpPortId{PortIdType::kInterfaceName, "Ethernet7"}));
  EXPECT_EQ(heard.system_name, "spine01");
  hear("Ethernet1", "system-name", "spine01");
  EXPECT_EQ(read().neighbours, table);
  state.remove(*parse_path("/lldp/interfaces/interface[name=Ethernet1]/neighbors/neighbor[id=1]"));
  EXPECT_TRUE(read().neighbours->ports[0].neighbours.empty());
}

TEST_F(SwitchStateTest, NeighboursThatAreNoLongerToldAreForgottenWhenAsked) {
  tell("/lldp/state/chassis-id", "leaf01"sv);
  hear("Ethernet1", "chassis-id", "a");
  const TimePoint before = now += 5s;
  hear("Ethernet2", "chassis-id", "b");
  state.forget_neighbours(before);
  const auto table = read().neighbours;
  ASSERT_EQ(table->ports.size(), 2U);
  EXPECT_TRUE(table->ports[0].neighbours.empty());
  EXPECT_EQ(table->ports[1].neighbours.size(), 1U);
}

TEST_F(SwitchStateTest, APortThatIsDeletedIsGone) {
  tell("Ethernet1", "state/oper-status", "UP"sv);
  tell("Ethernet1", "state/counters/in-octets", std::uint64_t{5});
  tell("Ethernet2", "state/oper-status", "UP"sv);
  state.remove(*parse_path("/interfaces/interface[name=Ethernet1]/state/counters"));
  EXPECT_EQ(read().inventory->ports.size(), 2U);
  state.remove(*parse_path("/interfaces/interface[name=Ethernet1]"));
  ASSERT_EQ(read().inventory->ports.size(), 1U);
  EXPECT_EQ(read().inventory->ports[0].device, "Ethernet2");
  state.remove(*parse_path("/interfaces"));
  EXPECT_TRUE(read().inventory->ports.empty());
}

TEST_F(SwitchStateTest, PortsAndValuesAreBounded) {
  state = SwitchState({.ports = 2, .values = 3});
  for (int port = 0; port < 4; ++port) {
    tell("Ethernet" + std::to_string(port), "state/counters/in-octets", std::uint64_t{1});
    tell("Ethernet" + std::to_string(port), "state/counters/out-octets", std::uint64_t{1});
  }
  EXPECT_EQ(read().inventory->ports.size(), 2U);
  EXPECT_EQ(state.figures().taken, 3U);
  EXPECT_EQ(state.figures().left_out, 5U);
  tell("A\x01", "state/oper-status", "UP"sv);
  EXPECT_EQ(read().inventory->ports.size(), 2U);
}

/// Leaves of another table.
constexpr Leaf kPushedBytes{.path = {}, .kind = LeafKind::kCounter, .counter = "receive_bytes"};
constexpr Leaf kPushedState{.path = {}, .kind = LeafKind::kOperStatus};
constexpr std::uint64_t kSecond = 1'000'000'000;

TEST_F(SwitchStateTest, WhatIsPushedLateChangesNothing) {
  const Place bytes{.leaf = &kPushedBytes, .port = "Ethernet1"}, status{.leaf = &kPushedState, .port = "Ethernet1"};
  state.push(bytes, std::uint64_t{100}, {1000 * kSecond}, now);
  state.push(status, "UP"sv, {1000 * kSecond}, now);
  state.push(bytes, std::uint64_t{90}, {990 * kSecond}, now);
  state.push(bytes, std::uint64_t{100}, {1000 * kSecond}, now);
  state.push(status, "DOWN"sv, {990 * kSecond}, now);
  EXPECT_EQ(state.figures().late, 3U);
  const HostReading shown = read();
  EXPECT_EQ(shown.values[0], 100U);
  EXPECT_EQ(shown.inventory->ports[0].state, PortState::kActive);
  // Older than any request that is sent again: its clock was set back.
  state.push(bytes, std::uint64_t{200}, {10 * kSecond}, now);
  EXPECT_EQ(read().values[0], 200U);
}

TEST_F(SwitchStateTest, IncrementsArePutTogether) {
  const Place bytes{.leaf = &kPushedBytes, .port = "Ethernet1"};
  state.push(bytes, std::uint64_t{100}, {1 * kSecond, true}, now);
  state.push(bytes, std::uint64_t{20}, {2 * kSecond, true}, now);
  state.push(bytes, std::uint64_t{20}, {2 * kSecond, true}, now);
  EXPECT_EQ(read().values[0], 120U) << "the last one was sent twice";
  EXPECT_EQ(state.size(), 1U);
}

TEST(GnmiTexts, SpeedsAndMacAddresses) {
  EXPECT_EQ(parse_speed("SPEED_100GB"), 100'000'000'000U);
  EXPECT_EQ(parse_speed("SPEED_10MB"), 10'000'000U);
  EXPECT_EQ(parse_speed("800G"), 800'000'000'000U);
  EXPECT_EQ(parse_speed("25000000000"), 25'000'000'000U);
  for (const auto bad : {"", "SPEED_UNKNOWN", "SPEED_", "G", "99999999999999999999", "1T"})
    EXPECT_EQ(parse_speed(bad), 0U);
  EXPECT_EQ(parse_mac("00-1C-73-00-00-AA"), "00:1c:73:00:00:aa");
  for (const auto bad : {"", "001c730000aa", "00:1c:73:00:00", "00:1c:73:00:00:aa:bb", "0g:1c:73:00:00:aa"})
    EXPECT_FALSE(parse_mac(bad)) << bad;
}

}  // namespace
}  // namespace weft::gnmi
