// SPDX-License-Identifier: Apache-2.0
// What is exposed of an Ethernet fabric, beside what its hosts' collectors tell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <sstream>

#include "api/metrics/exposition.hpp"
#include "tests/fakes/ethernet_fabric.hpp"
#include "tests/unit/api/small_fabric.hpp"

namespace weft::api {
namespace {

using fakes::EthernetFabric;
using ::testing::HasSubstr;
using ::testing::Not;

// Two leaves below two spines, one host on each leaf. Only gpu-01 has a collector.
class EthernetExposition : public ::testing::Test {
 protected:
  EthernetExposition() : fabric(EthernetFabric::leaf_spine(2, 2, 1)) {
    for (const char* uplink : {"leaf01 swp49", "leaf01 swp50", "leaf02 swp49", "leaf02 swp50", "gpu-02 eth2"})
      fabric.set_state(uplink, PortState::kUnknown);
  }
  std::string expose() {
    Sweep sweep = fabric.sweep();
    const PortIndex host = EthernetFabric::find(*sweep.topology, "gpu-01 eth2");
    auto counters = *sweep.counters;
    std::vector<PortRates> rates(sweep.topology->ports().size());
    for (PortRates& each : rates) each = {kNan, kNan, kNan, kNan, kNan, kNan};
    for (const PortIndex port : {host, sweep.topology->port(host).peer}) {
      counters.set(port, counters.column(CounterId::kTransmitBytes), 7777, false);
      counters.set_read_at(port, kNow);
      rates[port].utilization_ratio = 0.5;
      rates[port].transmit_wait_seconds_total = 0.25;
    }
    sweep.counters = std::make_shared<const SampleTable>(std::move(counters));
    FabricView view;
    view.name = fabric.name();
    view.watching = true;
    view.sweep = std::make_shared<const Sweep>(std::move(sweep));
    view.rates = std::make_shared<const std::vector<PortRates>>(std::move(rates));

    auto inventory = std::make_shared<HostInventory>();
    HostPort port;
    port.device = "mlx5_0";
    port.number = 1;
    port.netdev = "eth2";
    port.link_layer = LinkLayer::kEthernet;
    port.state = PortState::kActive;
    port.rate_bits_per_second = 400'000'000'000;
    inventory->ports.push_back(port);
    HostSeries series;
    series.device = "mlx5_0";
    series.port = 1;
    series.name = "transmit_bytes";
    inventory->series = std::vector<HostSeries>{series};
    auto reading = std::make_shared<HostReading>();
    reading->taken = kNow;
    reading->inventory = inventory;
    reading->values = {7777};
    reading->present = {1};
    auto told = std::make_shared<HostView>();
    told->host = "gpu-01";
    told->state = CollectorState::kConnected;
    told->reading = reading;

    auto snapshot = std::make_shared<Snapshot>();
    snapshot->taken = kNow;
    snapshot->fabrics.push_back(std::move(view));
    snapshot->hosts = std::make_shared<std::vector<std::shared_ptr<const HostView>>>(1, told);
    Exposition exposition(snapshot, {kNow, {}}, MetricsFormat::kText, {});
    std::string text;
    for (std::string_view piece = exposition.next(); !piece.empty(); piece = exposition.next()) text += piece;
    return text;
  }
  static std::string about(const std::string& text, const std::string& name) {
    std::istringstream lines(text);
    std::string result;
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(name + "{")) result += line + '\n';
    return result;
  }
  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EthernetFabric fabric;
};

TEST_F(EthernetExposition, WhatAHostTellsIsToldOnce) {
  const std::string text = expose();
  EXPECT_EQ(about(text, "weft_port_transmit_bytes_total"),
            "weft_port_transmit_bytes_total{node=\"gpu-01\",device=\"mlx5_0\",port=\"1\"} 7777\n")
      << "neither again as the fabric's, nor mirrored at the other end";
  EXPECT_THAT(about(text, "weft_port_up"), HasSubstr("weft_port_up{node=\"gpu-01\",device=\"mlx5_0\",port=\"1\"} 1\n"));
  EXPECT_THAT(about(text, "weft_port_up"), Not(HasSubstr("gpu-01 eth2")));
  EXPECT_THAT(about(text, "weft_port_up"), HasSubstr("{node=\"leaf01\",guid=\"0x0200000000000100\",port=\"1\"} 1\n"))
      << "its other end tells of it";
  EXPECT_THAT(about(text, "weft_port_rate_bytes_per_second"), HasSubstr("port=\"1\"} 50000000000\n"));
  EXPECT_THAT(about(text, "weft_link_utilization_ratio"), HasSubstr("{node=\"gpu-01 eth2\""));
  EXPECT_THAT(about(text, "weft_port_transmit_wait_seconds_total"), HasSubstr("{node=\"gpu-01 eth2\""));
  std::set<std::string> seen;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_TRUE(line.starts_with("#") || seen.insert(line.substr(0, line.rfind(' '))).second) << line;
}

TEST_F(EthernetExposition, WhatNobodyReadsHasNoSeries) {
  const std::string text = expose();
  for (const char* family : {"weft_port_up", "weft_port_stale", "weft_port_info", "weft_port_width_lanes"})
    EXPECT_THAT(about(text, family), Not(HasSubstr("{node=\"spine01\""))) << family;
  EXPECT_EQ(about(text, "weft_port_width_lanes"), "");
  EXPECT_EQ(about(text, "weft_fabric_links"),
            "weft_fabric_links{subnet=\"ethernet\",state=\"up\"} 1\n"
            "weft_fabric_links{subnet=\"ethernet\",state=\"down\"} 0\n"
            "weft_fabric_links{subnet=\"ethernet\",state=\"unknown\"} 5\n");
  for (const char* family : {"weft_sweep_requests_total", "weft_sweep_window", "weft_sweep_nodes_backed_off"})
    EXPECT_EQ(about(text, family), "") << "nobody is asked";
}

TEST_F(EthernetExposition, InfoNamesTheInterfacesOfBothEnds) {
  EXPECT_THAT(about(expose(), "weft_port_info"),
              HasSubstr("{node=\"leaf01\",guid=\"0x0200000000000100\",port=\"1\",node_type=\"switch\",host=\"leaf01\","
                        "peer_node=\"gpu-01 eth2\",peer_guid=\"0x0200000000000200\",peer_port=\"1\",netdev=\"swp1\","
                        "peer_netdev=\"eth2\",subnet=\"ethernet\",link_layer=\"Ethernet\"} 1\n"));
}

}  // namespace
}  // namespace weft::api
