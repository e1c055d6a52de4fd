// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/collector/node_exporter_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::collector {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

std::vector<rdma::DeviceFiles> make_devices() {
  rdma::PortFiles port;
  port.number = 1;
  port.state = 4;
  port.rate_bits_per_second = 400'000'000'000;
  port.counters = {{"port_rcv_data", 250}, {"port_xmit_wait", 9}, {"of_another_driver", 1}};
  port.hw_counters = {{"out_of_sequence", 3}, {"rx_read_requests", 7}, {"lifespan", 10}};
  rdma::PortFiles bare;
  bare.number = 2;
  return {{"mlx5_0", "MT_\"1\"", "28.39.1002", "", {port, bare}}};
}

TEST(NodeExporterPage, HasItsNamesLabelsAndUnits) {
  const std::string page = node_exporter_page(make_devices(), api::MetricsFormat::kText, MetricGroups::of_collector());
  EXPECT_THAT(page, HasSubstr("# TYPE node_infiniband_info gauge\n"));
  EXPECT_THAT(page, HasSubstr("node_infiniband_info{board_id=\"MT_\\\"1\\\"\",device=\"mlx5_0\",firmware_version="
                              "\"28.39.1002\",hca_type=\"\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("node_infiniband_state_id{device=\"mlx5_0\",port=\"1\"} 4\n"));
  EXPECT_THAT(page, HasSubstr("node_infiniband_rate_bytes_per_second{device=\"mlx5_0\",port=\"1\"} 50000000000\n"));
  EXPECT_THAT(page, HasSubstr("# TYPE node_infiniband_port_data_received_bytes_total counter\n"
                              "node_infiniband_port_data_received_bytes_total{device=\"mlx5_0\",port=\"1\"} 1000\n"));
  EXPECT_THAT(page, HasSubstr("node_infiniband_port_transmit_wait_total{device=\"mlx5_0\",port=\"1\"} 9\n"));
  EXPECT_THAT(page,
              HasSubstr("node_infiniband_out_of_sequence_packets_received_total{device=\"mlx5_0\",port=\"1\"} 3\n"));
  EXPECT_THAT(page, HasSubstr("node_infiniband_rx_read_requests_total{device=\"mlx5_0\",port=\"1\"} 7\n"));
  EXPECT_THAT(page, Not(HasSubstr("physical_state"))) << "what no port has is not mentioned";
  EXPECT_THAT(page, Not(HasSubstr("port=\"2\"")));
  EXPECT_THAT(page, Not(HasSubstr("another")));
  EXPECT_THAT(page, Not(HasSubstr("lifespan")));
  EXPECT_THAT(page, Not(HasSubstr("weft_")));
}

TEST(NodeExporterPage, FamiliesOfOtherGroupsAreLeftOut) {
  MetricGroups groups;
  groups.add(MetricGroup::kTraffic);
  const std::string page = node_exporter_page(make_devices(), api::MetricsFormat::kOpenMetrics, groups);
  EXPECT_THAT(page, HasSubstr("# TYPE node_infiniband_port_data_received_bytes counter\n"));
  EXPECT_THAT(page, Not(HasSubstr("state_id")));
  EXPECT_THAT(page, Not(HasSubstr("out_of_sequence")));
  EXPECT_THAT(page, EndsWith("# EOF\n"));
  EXPECT_EQ(node_exporter_page({}, api::MetricsFormat::kText, MetricGroups::of_collector()), "");
}

}  // namespace
}  // namespace weft::collector
