// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/collector/metrics_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::collector {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr TimePoint kNow{std::chrono::seconds(1'700'000'000)};

std::shared_ptr<HostView> make_view() {
  auto inventory = std::make_shared<HostInventory>();
  HostPort port;
  port.device = "mlx5_0";
  port.number = 1;
  port.netdev = "eth0";
  port.driver = "mlx5";
  port.link_layer = LinkLayer::kEthernet;
  port.state = PortState::kActive;
  inventory->ports = {port};
  const auto add = [&](const char* name, Direction direction, std::uint8_t priority, bool raw) {
    HostSeries series;
    series.device = "mlx5_0";
    series.port = 1;
    series.name = name;
    series.direction = direction;
    series.priority = priority;
    series.is_raw = raw;
    inventory->series.push_back(series);
  };
  add("pfc_frames", Direction::kReceive, 3, false);
  add("pfc_pause", Direction::kTransmit, 3, false);
  add("out_of_sequence", Direction::kNone, kNoPriority, false);
  add("cnp_sent", Direction::kNone, kNoPriority, false);
  add("rx_\"odd\"", Direction::kNone, kNoPriority, true);
  auto reading = std::make_shared<HostReading>();
  reading->taken = kNow;
  reading->inventory = inventory;
  reading->values = {7, 1'500'000, 3, 9, 4};
  reading->present = {1, 1, 1, 0, 1};
  reading->sources = {{"sysfs", true, ""}, {"module", false, "no right"}};
  reading->jobs = {"slurm:1"};
  auto view = std::make_shared<HostView>();
  view->host = "gpu-1";
  view->state = CollectorState::kConnected;
  view->interval = std::chrono::seconds(1);
  view->reading = reading;
  return view;
}

TEST(MetricsPage, ValuesHaveTheNamesAndUnitsOfTheCatalogue) {
  const std::string page = metrics_page(make_view(), {}, {kNow, {}}, api::MetricsFormat::kText);
  EXPECT_THAT(page, HasSubstr("weft_port_up{node=\"gpu-1\",device=\"mlx5_0\",port=\"1\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("# TYPE weft_port_pfc_frames_total counter\n"));
  EXPECT_THAT(
      page,
      HasSubstr("weft_rdma_errors_total{node=\"gpu-1\",device=\"mlx5_0\",port=\"1\",error=\"out_of_sequence\"} 3\n"));
  EXPECT_THAT(page, HasSubstr("weft_port_pfc_pause_seconds_total{"));
  EXPECT_THAT(page, HasSubstr("direction=\"transmit\""));
  EXPECT_THAT(page, HasSubstr("} 1.5\n"));
  EXPECT_THAT(page, HasSubstr("priority=\"3\""));
  EXPECT_THAT(page, HasSubstr("rx_\\\"odd\\\""));
  EXPECT_THAT(page, Not(HasSubstr("weft_port_cnp_sent_total{"))) << "what was not read is absent";
  EXPECT_THAT(page, HasSubstr("weft_agent_source_up{source=\"module\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("weft_agent_jobs 1\n"));
}

TEST(MetricsPage, WithoutAnAnalyzerThereIsNeitherSpoolNorUplink) {
  const std::string page = metrics_page(make_view(), {}, {kNow, {}}, api::MetricsFormat::kText);
  EXPECT_THAT(page, Not(HasSubstr("spool")));
  EXPECT_THAT(page, Not(HasSubstr("weft_agent_connected")));
  OwnFigures figures;
  figures.spool.emplace();
  figures.spool->dropped = 5;
  figures.spool->unwritten = 6;
  figures.uplink.emplace();
  figures.uplink->connected = 1;
  figures.uplink->analyzer = 1;
  figures.analyzers = {"weft1:9641", "weft2:9641"};
  const std::string more = metrics_page(make_view(), figures, {kNow, {}}, api::MetricsFormat::kText);
  EXPECT_THAT(more, HasSubstr("weft_agent_lost_batches_total{reason=\"bound\"} 5\n"));
  EXPECT_THAT(more, HasSubstr("weft_agent_lost_batches_total{reason=\"disk\"} 6\n"));
  EXPECT_THAT(more, HasSubstr("weft_agent_connected 1\n"));
  EXPECT_THAT(more, HasSubstr("weft_agent_analyzer_in_use{address=\"weft1:9641\"} 0\n"));
  EXPECT_THAT(more, HasSubstr("weft_agent_analyzer_in_use{address=\"weft2:9641\"} 1\n"));
  EXPECT_THAT(more, Not(HasSubstr("weft_collector_analyzer_in_use"))) << "it never had another name";
  EXPECT_THAT(more, HasSubstr("# TYPE weft_collector_connected gauge\nweft_collector_connected 1\n")) << "the old name";
  EXPECT_THAT(more, Not(HasSubstr("weft_collector_lost_batches"))) << "weftd counts something else under it";
  EXPECT_THAT(more, Not(HasSubstr("weft_collector_late_batches"))) << "weftd counts something else under it";
}

TEST(MetricsPage, WithoutAConnectionNoAddressIsInUse) {
  OwnFigures figures;
  figures.uplink.emplace();
  figures.analyzers = {"weft1:9641"};
  const std::string page = metrics_page(make_view(), figures, {kNow, {}}, api::MetricsFormat::kText);
  EXPECT_THAT(page, HasSubstr("weft_agent_analyzer_in_use{address=\"weft1:9641\"} 0\n"));
}

TEST(MetricsPage, BeforeTheFirstReadingItSpeaksOfItselfAlone) {
  auto view = make_view();
  view->reading = nullptr;
  const std::string page = metrics_page(view, {}, {kNow, {}}, api::MetricsFormat::kOpenMetrics);
  EXPECT_THAT(page, Not(HasSubstr("weft_port_")));
  EXPECT_THAT(page, HasSubstr("weft_agent_readings_total 0\n"));
  EXPECT_THAT(page, EndsWith("# EOF\n"));
}

TEST(MetricsPage, FamiliesOfOtherGroupsAreLeftOut) {
  MetricGroups groups;
  groups.add(MetricGroup::kRdma);
  const std::string some = metrics_page(make_view(), {}, {kNow, {}}, api::MetricsFormat::kText, groups);
  EXPECT_THAT(some, HasSubstr("weft_rdma_errors_total{"));
  EXPECT_THAT(some, Not(HasSubstr("weft_port_")));
  EXPECT_THAT(some, Not(HasSubstr("weft_agent_")));
  EXPECT_THAT(some, Not(HasSubstr("process_")));
  groups = {};
  groups.add(MetricGroup::kSelf);
  const std::string self = metrics_page(make_view(), {}, {kNow, {}}, api::MetricsFormat::kText, groups);
  EXPECT_THAT(self, HasSubstr("weft_agent_jobs 1\n"));
  EXPECT_THAT(self, Not(HasSubstr("weft_port_")));
}

}  // namespace
}  // namespace weft::collector
