// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/ethernet_fabric.hpp"

#include <gtest/gtest.h>

#include <array>

#include "fabric/graph/multipath.hpp"
#include "tests/unit/analyzer/ports/ethernet_hosts.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;
using enum CounterId;

TEST(EthernetFabric, ShowsReportedStatesAndMirrorsThemAtTheOtherEnd) {
  ToldFabric told;
  told.step();
  EXPECT_EQ(told.port("gpu-01 eth2").state, PortState::kActive);
  EXPECT_DOUBLE_EQ(told.port("gpu-01 eth2").bits_per_second(), 400e9);
  EXPECT_EQ(told.port("leaf01 swp1").state, PortState::kActive) << "as its other end says";
  EXPECT_DOUBLE_EQ(told.port("leaf01 swp1").bits_per_second(), 400e9);
  EXPECT_EQ(told.last.state_read_at[told.index("leaf01 swp1")], told.now);
  EXPECT_EQ(told.last.inferred_from_peer[told.index("leaf01 swp1")], 1);
  EXPECT_EQ(told.last.inferred_from_peer[told.index("gpu-01 eth2")], 0);
  // Neither end is read: nothing is known.
  for (const char* label : {"leaf01 swp51", "spine01 swp1"}) {
    EXPECT_EQ(told.port(label).state, PortState::kUnknown);
    EXPECT_EQ(told.last.state_read_at[told.index(label)], kNever);
    EXPECT_EQ(told.last.counters->read_at(told.index(label)), kNever);
    EXPECT_TRUE(told.last.multipath->is_usable(told.index(label)));
  }
  EXPECT_EQ(told.last.fabric, "ethernet");
  EXPECT_EQ(told.last.number, 1U);
  EXPECT_EQ(told.last.routes, nullptr);
}

TEST(EthernetFabric, InfersCountersOfAnUnreadPortFromItsPeer) {
  ToldFabric told;
  ToldHost& gpu = told.host("gpu-01");
  gpu.value("transmit_bytes", "eth2") = 1000;
  gpu.value("receive_bytes", "eth2") = 2000;
  gpu.value("receive_errors", "eth2") = 7;
  gpu.value("pfc_pause", "eth2", Direction::kReceive, 3) = 30;
  gpu.value("pfc_pause", "eth2", Direction::kReceive, 4) = 4;
  gpu.value("pause", "eth2", Direction::kReceive) = 1;
  gpu.value("pfc_pause", "eth2", Direction::kTransmit, 3) = 500;
  told.step();
  EXPECT_EQ(told.counter("gpu-01 eth2", kTransmitBytes), 1000);
  EXPECT_EQ(told.counter("gpu-01 eth2", kTransmitWait), 35) << "all priorities, and the whole link";
  EXPECT_EQ(told.counter("gpu-01 eth2", kReceiveErrors), 7);
  EXPECT_EQ(told.counter("leaf01 swp1", kTransmitBytes), 2000);
  EXPECT_EQ(told.counter("leaf01 swp1", kReceiveBytes), 1000);
  EXPECT_EQ(told.counter("leaf01 swp1", kTransmitWait), 500) << "it was told to pause so long";
  EXPECT_EQ(told.counter("leaf01 swp1", kReceiveErrors), -1) << "nobody counts what arrives there";
  EXPECT_FLOAT_EQ(told.port("leaf01 swp1").wait_tick_seconds, 1e-6F);
}

TEST(EthernetFabric, OfSeveralSourcesTheFirstIsTaken) {
  ToldFabric told;
  ToldHost& gpu = told.host("gpu-01");
  gpu.add_series("receive_errors", "eth2", CounterSource::kNetdev);
  gpu.values().back() = 100;
  gpu.value("receive_errors", "eth2") = 7;
  told.step();
  EXPECT_EQ(told.counter("gpu-01 eth2", kReceiveErrors), 7) << "neither the other one nor their sum";
}

TEST(EthernetFabric, ReceiveErrorsOfRdmaAndOfTheInterfaceDoNotHideEachOther) {
  ToldFabric told;
  ToldHost& gpu = told.host("gpu-01");
  gpu.add_series("receive_errors", "eth2", CounterSource::kRdma);
  gpu.values().back() = 100;
  gpu.value("receive_errors", "eth2") = 7;
  gpu.add_series("crc_errors", "eth2");
  gpu.values().back() = 5;
  told.step();
  EXPECT_EQ(told.counter("gpu-01 eth2", kReceiveErrors), 107) << "the interface's have its bad frames";
}

TEST(EthernetFabric, BadFramesAreReceiveErrorsWhereNothingElseIs) {
  ToldFabric told;
  ToldHost& leaf = told.add(small_plan(), "leaf01");
  leaf.take_interface_away();
  HostPort port;
  port.device = port.netdev = "swp1";
  port.link_layer = LinkLayer::kEthernet;
  port.state = PortState::kActive;
  leaf.add_port(port);
  leaf.values().clear();
  leaf.add_series("crc_errors", "swp1");
  leaf.values().back() = 5;
  leaf.add_series("physical_symbol_errors", "swp1");
  leaf.values().back() = 3;
  leaf.add_series("fec_uncorrectable_blocks", "swp1");
  leaf.values().back() = 2;
  told.step();
  EXPECT_EQ(told.counter("leaf01 swp1", kReceiveErrors), 5);
  EXPECT_EQ(told.counter("leaf01 swp1", kSymbolErrors), 5) << "symbols, and blocks beyond correction";
}

TEST(EthernetFabric, ACounterThatWasNotReadIsAbsent) {
  ToldFabric told;
  ToldHost& gpu = told.host("gpu-01");
  gpu.hide("transmit_bytes", "eth2");
  gpu.hide("pfc_pause", "eth2");
  told.step();
  EXPECT_EQ(told.counter("gpu-01 eth2", kTransmitBytes), -1);
  EXPECT_EQ(told.counter("leaf01 swp1", kReceiveBytes), -1);
  EXPECT_EQ(told.counter("gpu-01 eth2", kTransmitWait), -1) << "a sum without its parts is none";
  EXPECT_EQ(told.counter("gpu-01 eth2", kReceiveBytes), 0) << "read, and zero";
  EXPECT_EQ(told.counter("gpu-01 eth2", kSymbolErrors), -1) << "this driver has none";
}

TEST(EthernetFabric, CarriersLostStandForLinksDowned) {
  ToldFabric told;
  told.host("gpu-01").value("carrier_down", "eth2") = 3;
  told.step();
  EXPECT_EQ(told.counter("gpu-01 eth2", kLinkDowned), 3);
}

TEST(EthernetFabric, TheTopologyIsTheSameObjectUntilAStateChanges) {
  ToldFabric told;
  const auto first = told.step().topology;
  const auto ways = told.last.multipath;
  EXPECT_EQ(told.step().topology, first);
  told.host("gpu-01").port().rate_bits_per_second = 100'000'000'000;
  const auto slower = told.step().topology;
  EXPECT_NE(slower, first);
  EXPECT_EQ(slower->epoch(), first->epoch());
  EXPECT_EQ(told.last.multipath, ways) << "the ways are the same";
  told.host("gpu-01").port().state = PortState::kDown;
  const auto down = told.step().topology;
  EXPECT_NE(down, slower);
  EXPECT_EQ(down->port(told.index("gpu-01 eth2")).bits_per_second(), 0);
  EXPECT_EQ(down->port(told.index("leaf01 swp1")).state, PortState::kDown);
  ASSERT_NE(told.last.multipath, ways);
  EXPECT_FALSE(told.last.multipath->is_usable(told.index("leaf01 swp1")));
  EXPECT_EQ(told.step().topology, down);
}

TEST(EthernetFabric, DisablingOneEndDoesNotMarkTheOtherAsDisabled) {
  ToldFabric told;
  told.host("gpu-01").port().administratively_down = true;
  told.step();
  EXPECT_EQ(told.port("gpu-01 eth2").state, PortState::kDown);
  EXPECT_EQ(told.port("gpu-01 eth2").physical_state, PortPhysicalState::kDisabled);
  EXPECT_EQ(told.port("leaf01 swp1").state, PortState::kDown);
  EXPECT_EQ(told.port("leaf01 swp1").physical_state, PortPhysicalState::kUnknown);
}

TEST(EthernetFabric, KeepsTheLastReportOfASilentCollectorWithItsTime) {
  ToldFabric told;
  told.step();
  const TimePoint last = told.now;
  told.host("gpu-01").view().state = CollectorState::kSilent;
  for (int i = 0; i < 10; ++i) told.step();
  EXPECT_EQ(told.last.state_read_at[told.index("gpu-01 eth2")], last);
  EXPECT_EQ(told.last.state_read_at[told.index("leaf01 swp1")], last);
  EXPECT_EQ(told.last.counters->read_at(told.index("gpu-01 eth2")), last);
  EXPECT_EQ(told.last.state_read_at[told.index("gpu-02 eth2")], told.now);
}

TEST(EthernetFabric, TakesTheLastReportOfASilentCollectorForNoNewOneWhenTheClockIsSetBack) {
  ToldFabric told;
  told.add(small_plan(), "leaf01");
  told.step();
  const TimePoint last = told.now;
  told.host("gpu-01").view().state = CollectorState::kSilent;
  told.host("gpu-02").view().state = CollectorState::kSilent;
  told.host("leaf01").view().state = CollectorState::kSilent;
  told.now -= std::chrono::hours(1);
  told.step();
  EXPECT_EQ(told.last.state_read_at[told.index("gpu-01 eth2")], last) << "it lies ahead, and is not of now";
  told.host("leaf01").view().state = CollectorState::kConnected;
  told.host("leaf01").port(0).state = PortState::kDown;
  told.step();
  EXPECT_EQ(told.port("gpu-01 eth2").state, PortState::kDown) << "as the other end says now";
  EXPECT_EQ(told.last.state_read_at[told.index("gpu-01 eth2")], told.now);
}

TEST(EthernetFabric, UsesTheCollectorOfASwitchForItsPorts) {
  ToldFabric told;
  ToldHost& leaf = told.add(small_plan(), "leaf01");
  leaf.value("receive_bytes", "swp1") = 4321;
  told.step();
  EXPECT_EQ(told.last.inferred_from_peer[told.index("leaf01 swp1")], 0);
  EXPECT_EQ(told.counter("leaf01 swp1", kReceiveBytes), 4321);
  EXPECT_EQ(told.port("spine01 swp1").state, PortState::kActive) << "as leaf01 says";
  EXPECT_EQ(told.last.inferred_from_peer[told.index("spine01 swp1")], 1);
  EXPECT_EQ(told.port("spine01 swp2").state, PortState::kUnknown);
}

TEST(EthernetFabric, UsesThePeerAfterACollectorFallsSilent) {
  ToldFabric told;
  ToldHost& leaf = told.add(small_plan(), "leaf01");
  leaf.value("receive_bytes", "swp1") = 5'000'000;
  told.host("gpu-01").value("transmit_bytes", "eth2") = 100;
  told.step();
  leaf.view().state = CollectorState::kSilent;
  told.step();
  told.step();
  EXPECT_EQ(told.last.state_read_at[told.index("leaf01 swp1")], told.now);
  EXPECT_EQ(told.last.inferred_from_peer[told.index("leaf01 swp1")], 1);
  EXPECT_EQ(told.counter("leaf01 swp1", kReceiveBytes), 5'000'000) << "its own, not stale yet";
  // Numbers of two tellers do not follow each other: the row is empty once in between.
  std::vector<std::int64_t> seen;
  for (int i = 0; i < 4; ++i) {
    told.step();
    seen.push_back(told.counter("leaf01 swp1", kReceiveBytes));
  }
  EXPECT_EQ(seen, (std::vector<std::int64_t>{5'000'000, 5'000'000, -1, 100}));
  leaf.view().state = CollectorState::kConnected;
  told.step();
  EXPECT_EQ(told.last.inferred_from_peer[told.index("leaf01 swp1")], 0);
  EXPECT_EQ(told.counter("leaf01 swp1", kReceiveBytes), -1);
  told.step();
  EXPECT_EQ(told.counter("leaf01 swp1", kReceiveBytes), 5'000'000);
}

TEST(EthernetFabric, ARemovedInterfaceIsDownAnUnseenOneIsUnknown) {
  ToldFabric told;
  told.host("gpu-02").take_interface_away();
  told.step();
  told.host("gpu-01").take_interface_away();
  told.step();
  told.step();
  EXPECT_EQ(told.port("gpu-01 eth2").state, PortState::kActive) << "a driver may be reset";
  told.step();
  EXPECT_EQ(told.port("gpu-01 eth2").state, PortState::kDown);
  EXPECT_EQ(told.last.counters->read_at(told.index("gpu-01 eth2")), kNever);
  EXPECT_EQ(told.port("gpu-02 eth2").state, PortState::kUnknown);
}

TEST(EthernetFabric, ASlowCollectorMakesTheSweepsInterval) {
  ToldFabric told;
  told.host("gpu-01").view().interval = 10s;
  EXPECT_EQ(told.step().interval, Duration(10s));
  EXPECT_EQ(told.last.finished - told.last.started, Duration(15s));
  told.host("gpu-01").view().interval = 1h;
  EXPECT_EQ(told.step().interval, Duration(30s)) << "it is not heeded further";
}

TEST(EthernetFabric, IgnoresUnplannedAndInfiniBandPorts) {
  ToldFabric told;
  told.hosts.try_emplace("stranger", "stranger", std::vector<std::string>{"eth2"});
  told.host("gpu-01").port().link_layer = LinkLayer::kInfiniBand;
  told.step();
  EXPECT_EQ(told.port("gpu-01 eth2").state, PortState::kUnknown);
  EXPECT_EQ(told.port("gpu-02 eth2").state, PortState::kActive);
}

TEST(EthernetFabric, AnAdaptersOwnPortComesBeforeSoftRoceOnIt) {
  ToldFabric told;
  ToldHost& gpu = told.host("gpu-01");
  HostPort hardware = gpu.port();
  hardware.device = "mlx5_0";
  hardware.number = 1;
  hardware.pci_address = "0000:17:00.0";
  gpu.port().device = "rxe0";
  gpu.port().state = PortState::kDown;
  gpu.add_port(hardware);
  told.step();
  EXPECT_EQ(told.port("gpu-01 eth2").state, PortState::kActive);
}

}  // namespace
}  // namespace weft::analyzer
