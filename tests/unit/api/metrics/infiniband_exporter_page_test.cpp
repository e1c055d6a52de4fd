// SPDX-License-Identifier: Apache-2.0
#include "api/metrics/infiniband_exporter_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "tests/unit/api/small_fabric.hpp"

namespace weft::api {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

std::string exporter_page(const std::shared_ptr<const Snapshot>& snapshot, MetricsFormat format = MetricsFormat::kText,
                          MetricGroups groups = MetricGroups::all()) {
  InfinibandExporterPage page(snapshot, kNow, format, groups);
  std::string text;
  for (std::string_view piece = page.next(); !piece.empty(); piece = page.next()) text += piece;
  EXPECT_TRUE(page.next().empty()) << "the end stays the end";
  return text;
}

/// The names of the samples, each once.
std::set<std::string> sample_names(const std::string& text) {
  std::istringstream lines(text);
  std::set<std::string> names;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with('#')) names.insert(line.substr(0, line.find('{')));
  return names;
}

/// The suffixes of names that infiniband_exporter 0.10.0 has for a port of a switch and of an adapter alike, written
/// down from NewSwitchCollector() in collectors/switch.go and NewHCACollector() in collectors/hca.go.
const std::set<std::string> kPortNames{
    "port_transmit_data_bytes_total",
    "port_receive_data_bytes_total",
    "port_transmit_packets_total",
    "port_receive_packets_total",
    "port_unicast_transmit_packets_total",
    "port_unicast_receive_packets_total",
    "port_multicast_transmit_packets_total",
    "port_multicast_receive_packets_total",
    "port_symbol_error_total",
    "port_link_error_recovery_total",
    "port_link_downed_total",
    "port_receive_errors_total",
    "port_receive_remote_physical_errors_total",
    "port_receive_switch_relay_errors_total",
    "port_transmit_discards_total",
    "port_transmit_constraint_errors_total",
    "port_receive_constraint_errors_total",
    "port_local_link_integrity_errors_total",
    "port_excessive_buffer_overrun_errors_total",
    "port_vl15_dropped_total",
    "port_transmit_wait_total",
    "port_qp1_dropped_total",
    "port_local_physical_errors_total",
    "port_malformed_packet_errors_total",
    "port_buffer_overrun_errors_total",
    "port_dli_mapping_errors_total",
    "port_vl_mapping_errors_total",
    "port_looping_errors_total",
    "uplink_info",
    "info",
};

TEST(InfinibandExporterPage, HasEachNameOfTheExporterAndNoOther) {
  SmallFabric fabric(2);
  for (PortIndex port = 0; port < fabric.ports.size(); ++port)
    for (const CounterId id : fabric.counters.counters()) fabric.set(port, id, 0);
  fabric.details = SampleTable::of_group(CounterGroup::kDetail, fabric.ports.size());
  for (SampleTable::Column column = 0; column < fabric.details.columns(); ++column)
    for (PortIndex port = 0; port < fabric.ports.size(); ++port) fabric.details.set(port, column, 5, false);
  std::set<std::string> expected{"infiniband_switch_port_rate_bytes_per_second",
                                 "infiniband_switch_port_raw_rate_bytes_per_second",
                                 "infiniband_hca_rate_bytes_per_second", "infiniband_hca_raw_rate_bytes_per_second",
                                 "infiniband_exporter_collect_timeouts"};
  for (const std::string& name : kPortNames) {
    expected.insert("infiniband_switch_" + name);
    expected.insert("infiniband_hca_" + name);
  }
  EXPECT_EQ(sample_names(exporter_page(make_snapshot(1, {fabric.build()}))), expected);
}

// As in TestSwitchCollector of collectors/switch_test.go and TestHCACollector of hca_test.go, where labels stand in the
// order of the alphabet.
TEST(InfinibandExporterPage, LabelsAndUnitsAreTheExporters) {
  SmallFabric fabric(1);
  fabric.nodes[0].name = "ib-i1l1s01";
  fabric.nodes[0].name_is_given = true;
  fabric.nodes[1].name = "0x0000000000000101";
  fabric.nodes[1].description = "o0001 \"HCA\"-1";
  for (const PortIndex port : {1U, 3U}) {
    fabric.ports[port].speed_active = kSpeedEdr;
    fabric.set(port, CounterId::kTransmitBytes, 145'192'107'443'712);
    fabric.set(port, CounterId::kTransmitWait, 22'730'501);
    fabric.set(port, CounterId::kLinkDowned, 0);
  }
  const std::string page = exporter_page(make_snapshot(1, {fabric.build()}));
  const std::string leaf = "{guid=\"0x0000000000000010\",port=\"1\"}";
  const std::string adapter = "{guid=\"0x0000000000000201\",port=\"1\"}";
  EXPECT_THAT(page, HasSubstr("# TYPE infiniband_switch_info gauge\n"
                              "infiniband_switch_info{guid=\"0x0000000000000010\",switch=\"ib-i1l1s01\",lid=\"1\"} 1\n"
                              "# HELP"));
  EXPECT_THAT(page,
              HasSubstr("infiniband_hca_info{guid=\"0x0000000000000201\",hca=\"o0001 \\\"HCA\\\"-1\",lid=\"2\"} 1\n"
                        "# HELP"));
  EXPECT_THAT(page, HasSubstr("infiniband_switch_port_rate_bytes_per_second" + leaf + " 12500000000\n"));
  EXPECT_THAT(page, HasSubstr("infiniband_switch_port_raw_rate_bytes_per_second" + leaf + " 12890625000\n"));
  EXPECT_THAT(page, HasSubstr("infiniband_hca_rate_bytes_per_second{guid=\"0x0000000000000201\"} 12500000000\n"));
  EXPECT_THAT(page, HasSubstr("infiniband_hca_raw_rate_bytes_per_second{guid=\"0x0000000000000201\"} 12890625000\n"));
  EXPECT_THAT(page,
              HasSubstr("infiniband_switch_uplink_info{guid=\"0x0000000000000010\",port=\"1\",switch=\"ib-i1l1s01\","
                        "uplink=\"o0001 \\\"HCA\\\"-1\",uplink_guid=\"0x0000000000000201\",uplink_lid=\"2\","
                        "uplink_port=\"1\",uplink_type=\"CA\"} 1\n"));
  EXPECT_THAT(page,
              HasSubstr("infiniband_hca_uplink_info{guid=\"0x0000000000000201\",port=\"1\",hca=\"o0001 "
                        "\\\"HCA\\\"-1\",uplink=\"ib-i1l1s01\",uplink_guid=\"0x0000000000000010\",uplink_lid=\"1\","
                        "uplink_port=\"1\",uplink_type=\"SW\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("# TYPE infiniband_switch_port_transmit_data_bytes_total counter\n"
                              "infiniband_switch_port_transmit_data_bytes_total" +
                              leaf + " 145192107443712\n"));
  EXPECT_THAT(page, HasSubstr("infiniband_hca_port_transmit_data_bytes_total" + adapter + " 145192107443712\n"));
  EXPECT_THAT(page, HasSubstr("infiniband_switch_port_transmit_wait_total" + leaf + " 22730501\n")) << "in ticks";
  EXPECT_THAT(page, HasSubstr("infiniband_switch_port_link_downed_total" + leaf + " 0\n")) << "zeros are shown";
  EXPECT_THAT(page, Not(HasSubstr("symbol_error"))) << "what was not read is absent";
  EXPECT_THAT(page, Not(HasSubstr("port=\"0\"")));
  EXPECT_THAT(page, Not(HasSubstr("port=\"2\""))) << "that port is down";
  EXPECT_THAT(page, Not(HasSubstr("weft_")));
}

TEST(InfinibandExporterPage, ZerosAreShownWhereWeftLeavesThemOut) {
  SmallFabric fabric(1);
  fabric.set(1, CounterId::kSymbolErrors, 0);
  FabricView view = fabric.build();
  view.counters_moved = std::make_shared<const MovedCounters>();
  EXPECT_THAT(exporter_page(make_snapshot(1, {view})), HasSubstr("infiniband_switch_port_symbol_error_total{"));
}

TEST(InfinibandExporterPage, APortWithOldReadingsHasNoSeriesAndIsATimeout) {
  SmallFabric fabric(2);
  fabric.set(1, CounterId::kLinkDowned, 3);
  fabric.set(2, CounterId::kLinkDowned, 4);
  fabric.state_read_at[2] = kNow - std::chrono::seconds(60);
  const std::string page = exporter_page(make_snapshot(1, {fabric.build()}));
  EXPECT_THAT(page, HasSubstr("infiniband_switch_port_link_downed_total{guid=\"0x0000000000000010\",port=\"1\"} 3\n"));
  EXPECT_THAT(page, Not(HasSubstr("{guid=\"0x0000000000000010\",port=\"2\"")));
  EXPECT_THAT(page, HasSubstr("infiniband_exporter_collect_timeouts{collector=\"switch\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("infiniband_exporter_collect_timeouts{collector=\"hca\"} 0\n"));
}

TEST(InfinibandExporterPage, APortThatTwoSubnetsKnowHasOneSeries) {
  SmallFabric fabric(1);
  SmallFabric same(1, "ib1");
  fabric.set(1, CounterId::kLinkDowned, 3);
  same.set(1, CounterId::kLinkDowned, 3);
  const std::string page = exporter_page(make_snapshot(1, {fabric.build(), same.build()}));
  const std::size_t first = page.find("infiniband_switch_port_link_downed_total{");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(page.find("infiniband_switch_port_link_downed_total{", first + 1), std::string::npos);
}

TEST(InfinibandExporterPage, GroupsMayBeChosenAndTheEndIsMarked) {
  SmallFabric fabric(1);
  fabric.set(1, CounterId::kTransmitBytes, 5);
  fabric.set(1, CounterId::kSymbolErrors, 5);
  MetricGroups groups;
  groups.add(MetricGroup::kErrors);
  const std::string page = exporter_page(make_snapshot(1, {fabric.build()}), MetricsFormat::kOpenMetrics, groups);
  EXPECT_EQ(sample_names(page), std::set<std::string>{"infiniband_switch_port_symbol_error_total"});
  EXPECT_THAT(page, EndsWith("# EOF\n"));
  EXPECT_EQ(exporter_page(make_snapshot(1, {}), MetricsFormat::kText, groups), "");
}

TEST(InfinibandExporterPage, ALargeSubnetComesInPiecesAndWhole) {
  SmallFabric fabric(200);
  for (PortIndex port = 0; port < fabric.ports.size(); ++port)
    for (const CounterId id : fabric.counters.counters()) fabric.set(port, id, port);
  InfinibandExporterPage page(make_snapshot(1, {fabric.build()}), kNow, MetricsFormat::kText, MetricGroups::all());
  std::multiset<std::string> heads;
  std::size_t lines = 0;
  std::size_t pieces = 0;
  std::string text;
  for (std::string_view piece = page.next(); !piece.empty(); piece = page.next(), ++pieces) {
    EXPECT_LT(piece.size(), 66'000U);
    text += piece;
  }
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("# TYPE ")) heads.insert(line);
    if (line.starts_with("infiniband_switch_port_symbol_error_total{")) ++lines;
  }
  EXPECT_GT(pieces, 10U);
  EXPECT_EQ(lines, 200U);
  EXPECT_EQ(heads.size(), std::set<std::string>(heads.begin(), heads.end()).size()) << "one head for each family";
}

}  // namespace
}  // namespace weft::api
