// SPDX-License-Identifier: Apache-2.0
#include "fabric/port_gauges.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

using namespace std::chrono_literals;

const TimePoint kNow{1000h};

/// A host with one port, whose module has two lanes.
std::shared_ptr<HostView> make_host(const std::string& name, std::uint64_t port_guid, const std::string& netdev) {
  auto inventory = std::make_shared<HostInventory>();
  HostPort port;
  port.device = "mlx5_0";
  port.number = 1;
  port.netdev = netdev;
  port.port_guid = PortGuid{port_guid};
  inventory->ports.push_back(port);
  std::vector<HostSeries> series;
  const auto add = [&](const char* gauge, std::uint8_t lane) {
    HostSeries& each = series.emplace_back();
    each.device = "mlx5_0";
    each.port = 1;
    each.name = gauge;
    each.lane = lane;
    each.behaviour = CounterBehaviour::kGauge;
  };
  add("module_temperature", kNoLane);
  for (std::uint8_t lane = 0; lane < 2; ++lane) {
    add("module_receive_power", lane);
    add("module_transmit_power", lane);
    add("module_bias", lane);
  }
  add("module_supply", kNoLane);
  inventory->series = std::move(series);
  auto reading = std::make_shared<HostReading>();
  reading->taken = kNow - 1s;
  reading->inventory = inventory;
  reading->values = {static_cast<std::uint64_t>(-5'000), 800'000, 900'000, 7'000, 400'000, 910'000, 7'500, 3'300'000};
  reading->present.assign(8, 1);
  auto host = std::make_shared<HostView>();
  host->host = name;
  host->interval = 10s;
  host->reading = reading;
  return host;
}

HostListPtr list_of(std::vector<std::shared_ptr<const HostView>> hosts) {
  return std::make_shared<const std::vector<std::shared_ptr<const HostView>>>(std::move(hosts));
}

/// Two adapters of one port each, whose GUIDs are 11 and 12.
Topology adapters() {
  std::vector<Node> nodes(2);
  std::vector<Port> ports(2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    nodes[i].guid = NodeGuid{1 + i};
    nodes[i].type = NodeType::kChannelAdapter;
    nodes[i].port_count = 1;
    nodes[i].first_port = i;
    ports[i].node = i;
    ports[i].number = PortNum{1};
    ports[i].guid = PortGuid{11 + i};
  }
  return Topology(1, nodes, ports, {});
}

Topology interfaces() {
  std::vector<Node> nodes(2);
  std::vector<Port> ports(2);
  const std::array<NodeType, 2> types{NodeType::kChannelAdapter, NodeType::kSwitch};
  nodes[0].name = "gpu-01 eth0";
  nodes[1].name = "leaf-1";
  for (std::uint32_t i = 0; i < 2; ++i) {
    nodes[i].guid = NodeGuid{1 + i};
    nodes[i].type = types[i];
    nodes[i].port_count = i == 0 ? 1 : 0;  // a switch has a port 0 besides
    nodes[i].first_port = i;
    ports[i].node = i;
    ports[i].number = PortNum{static_cast<std::uint16_t>(1 - i)};
  }
  return Topology(1, nodes, ports, {}, LinkLayer::kEthernet, {"eth0", "swp1"});
}

TEST(PortGauges, TheWeakestLaneAndTheHighestBias) {
  const auto gauges = read_port_gauges(adapters(), list_of({make_host("gpu-01", 12, "")}), kNow);
  ASSERT_EQ(gauges.size(), 2U);
  EXPECT_EQ(gauges[0].present, 0);
  EXPECT_EQ(gauges[1].present, 0b1111);
  EXPECT_EQ(gauges[1].value(PortGauge::kReceivePower), 400'000);
  EXPECT_EQ(gauges[1].value(PortGauge::kTransmitPower), 900'000);
  EXPECT_EQ(gauges[1].value(PortGauge::kLaserBias), 7'500);
  EXPECT_EQ(gauges[1].value(PortGauge::kTemperature), -5'000);
}

TEST(PortGauges, OnEthernetByHostAndInterface) {
  const auto host = make_host("gpu-01", 12, "eth0");
  const auto leaf = make_host("leaf-1", 0, "swp1");
  const auto other = make_host("gpu-02", 11, "eth0");
  const auto gauges = read_port_gauges(interfaces(), list_of({host, leaf, other}), kNow);
  ASSERT_EQ(gauges.size(), 2U);
  EXPECT_TRUE(gauges[0].has(PortGauge::kReceivePower));
  EXPECT_TRUE(gauges[1].has(PortGauge::kReceivePower));
  EXPECT_TRUE(read_port_gauges(interfaces(), list_of({other}), kNow).empty());
}

TEST(PortGauges, WhatIsNotReadOrOldIsAbsent) {
  const auto host = make_host("gpu-01", 12, "");
  auto reading = std::make_shared<HostReading>(*host->reading);
  reading->present[1] = 0;  // receive power of lane 0: the other lane is still known
  reading->present[0] = 0;  // temperature
  host->reading = reading;
  const auto gauges = read_port_gauges(adapters(), list_of({host}), kNow);
  EXPECT_EQ(gauges.at(1).value(PortGauge::kReceivePower), 400'000);
  EXPECT_FALSE(gauges.at(1).has(PortGauge::kTemperature));
  reading = std::make_shared<HostReading>(*host->reading);
  reading->taken = kNow - 31s;  // three intervals and one second
  host->reading = reading;
  EXPECT_TRUE(read_port_gauges(adapters(), list_of({host}), kNow).empty());
  EXPECT_TRUE(read_port_gauges(adapters(), nullptr, kNow).empty());
}

TEST(PortGauges, AreRowsOfTheCatalogue) {
  for (std::size_t i = 0; i < kPortGauges; ++i) {
    const auto gauge = static_cast<PortGauge>(i);
    EXPECT_TRUE(gauge_info(gauge).is_gauge);
    EXPECT_EQ(find_port_gauge(gauge_info(gauge).name), gauge);
  }
  EXPECT_EQ(find_port_gauge("module_supply"), std::nullopt);
}

}  // namespace
}  // namespace weft
