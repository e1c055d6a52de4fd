// SPDX-License-Identifier: Apache-2.0
// Whole pages with every family of the catalogue, as promtool wants them: of weftd, with hosts and a subnet, and of
// weft-collector.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <ranges>
#include <sstream>

#include "api/metrics/exposition.hpp"
#include "daemon/programs/collector/metrics_page.hpp"
#include "fabric/counters.hpp"
#include "tests/fakes/ethernet_fabric.hpp"
#include "tests/unit/api/small_plans.hpp"

namespace weft::api {
namespace {

using ::testing::HasSubstr;

/// What `promtool check metrics` says of the page, and how it ended; nullopt where it is not installed.
std::optional<std::string> promtool_says(const std::string& page) {
  if (std::system("command -v promtool >/dev/null 2>&1") != 0) return std::nullopt;  // NOLINT: one thread
  std::string name = (std::filesystem::temp_directory_path() / "weft-page-XXXXXX").string();
  const int file = ::mkstemp(name.data());
  EXPECT_GE(file, 0);
  ::close(file);
  std::ofstream(name, std::ios::binary) << page;
  std::string said;
  FILE* const output = ::popen(("promtool check metrics <" + name + " 2>&1").c_str(), "r");  // NOLINT: the same
  EXPECT_NE(output, nullptr);
  std::array<char, 4096> piece;
  while (const std::size_t got = std::fread(piece.data(), 1, piece.size(), output)) said.append(piece.data(), got);
  if (const int status = ::pclose(output); status != 0) said += "\nstatus " + std::to_string(status);
  std::filesystem::remove(name);
  return said;
}

void expect_silence(const std::string& page) {
  const auto said = promtool_says(page);
  if (!said) GTEST_SKIP() << "not installed: promtool";
  EXPECT_EQ(*said, "");
}

HostPort make_port(const char* device, std::uint8_t number, const char* netdev, LinkLayer layer) {
  HostPort port;
  port.device = device;
  port.number = number;
  port.netdev = netdev;
  port.bond = layer == LinkLayer::kEthernet ? "bond0" : "";
  port.pci_address = "0000:3b:00.0";
  port.driver = "mlx5";
  port.firmware = "28.39.1002 (MT_\"0\"\\1)";
  port.board_id = "MT_0000000838";
  port.device_type = "MT4129";
  port.link_layer = layer;
  port.state = PortState::kActive;
  port.rate_bits_per_second = 400'000'000'000;
  return port;
}

/// Everything of the catalogue on the first port, with all of its labels, and what has no place there.
std::vector<HostSeries> every_series(const HostPort& port) {
  std::vector<HostSeries> all;
  for (const CounterInfo& info : counter_catalogue() | std::views::filter(&CounterInfo::on_hosts))
    for (const Direction direction : {Direction::kNone, Direction::kTransmit, Direction::kReceive})
      for (const std::uint8_t priority : {std::uint8_t{0}, std::uint8_t{7}, kNoPriority})
        for (const std::uint8_t lane : {std::uint8_t{0}, std::uint8_t{3}, kNoLane}) {
          if (info.by_direction == (direction == Direction::kNone) || info.by_priority == (priority == kNoPriority) ||
              info.by_lane == (lane == kNoLane))
            continue;
          HostSeries& series = all.emplace_back();
          series.device = port.device;
          series.port = port.number;
          series.name = info.name;
          series.direction = direction;
          series.priority = priority;
          series.lane = lane;
          if (!info.by_source) continue;
          series.source = CounterSource::kRdma;
          HostSeries other = series;
          other.source = CounterSource::kNetdev;
          all.push_back(std::move(other));
        }
  for (const char* name : {"rx_prio0_odd", "with \"quotes\", a \\ and\na line end", "\xC3\xA4\xFF"}) {
    HostSeries& series = all.emplace_back();
    series.device = port.device;
    series.port = port.number;
    series.name = name;
    series.is_raw = true;
  }
  return all;
}

std::shared_ptr<HostView> make_host(const std::string& name) {
  auto inventory = std::make_shared<HostInventory>();
  inventory->ports = {make_port("mlx5_bond_0", 1, "ens1f0np0", LinkLayer::kEthernet),
                      make_port("mlx5_4", 1, "ib0", LinkLayer::kInfiniBand),
                      make_port("ens9", 0, "ens9", LinkLayer::kEthernet)};
  inventory->ports[1].port_guid = {0x201};  // host-1's in the subnet
  inventory->ports[2].state = PortState::kDown;
  inventory->series = every_series(inventory->ports[0]);
  auto reading = std::make_shared<HostReading>();
  reading->taken = kNow;
  reading->inventory = inventory;
  for (std::size_t i = 0; i < inventory->series.size(); ++i) reading->values.push_back(1'234'567 + i);
  reading->present.assign(inventory->series.size(), 1);
  reading->sources = {{"sysfs", true, ""}, {"module", false, "no right"}};
  reading->jobs = {"slurm:1"};
  auto view = std::make_shared<HostView>();
  view->host = name;
  view->state = CollectorState::kConnected;
  view->interval = std::chrono::seconds(1);
  view->reading = std::move(reading);
  return view;
}

std::string page_with(std::shared_ptr<Snapshot> snapshot, std::vector<std::shared_ptr<const HostView>> hosts) {
  snapshot->hosts = std::make_shared<std::vector<std::shared_ptr<const HostView>>>(std::move(hosts));
  std::string page;
  Exposition exposition(std::move(snapshot), {kNow, {}}, MetricsFormat::kText);
  for (std::string_view piece = exposition.next(); !piece.empty(); piece = exposition.next()) page += piece;
  return page;
}

void expect_whole(const std::string& page) {
  for (const CounterInfo& info : counter_catalogue()) {
    if (!info.on_hosts || info.unit == CounterUnit::kTicks) continue;
    EXPECT_THAT(page, HasSubstr("\n# TYPE " + metric_name(info) + (info.is_gauge ? " gauge\n" : " counter\n")));
  }
  EXPECT_THAT(page, HasSubstr("\nweft_port_raw{"));
}

TEST(Promtool, ComplainsOfWhatIsWrong) {
  const auto said = promtool_says("weft_port_odd 1\n");
  if (!said) GTEST_SKIP() << "not installed: promtool";
  EXPECT_THAT(*said, HasSubstr("weft_port_odd"));
}

TEST(Promtool, FindsNothingToSayOfHostsAlone) {
  auto snapshot = make_snapshot(1, {});
  const std::string page = page_with(std::move(snapshot), {make_host("gpu-1"), make_host("gpu-\"2\"\\\n")});
  expect_whole(page);
  expect_silence(page);
}

TEST(Promtool, FindsNothingToSayOfHostsBesideASubnet) {
  SmallFabric fabric(2);
  for (PortIndex port = 0; port < fabric.ports.size(); ++port)
    for (const CounterId id : fabric.counters.counters()) fabric.set(port, id, 1'000'000, port == 1);
  fabric.details = SampleTable::of_group(CounterGroup::kDetail, fabric.ports.size());
  for (SampleTable::Column column = 0; column < fabric.details.columns(); ++column)
    fabric.details.set(1, column, 5, true);
  fabric.rates.assign(fabric.ports.size(), PortRates{0.5, 0.5, 0.5, 0.5, 0.5, 1.5});
  auto snapshot =
      make_snapshot(1, {fabric.build()}, {make_incident(1)}, {make_health("host-1", 0x101, HealthVerdict::kUnhealthy)});
  snapshot = with_plans(std::move(snapshot), {make_plan(1), make_plan(2, PlanState::kCommitted)});
  const std::string page = page_with(std::move(snapshot), {make_host("gpu-1"), make_host("gpu-2")});
  expect_whole(page);
  EXPECT_THAT(page, HasSubstr("\nweft_plans{action=\"ISOLATE_LINK\",state=\"PROPOSED\"} 1\n"));
  expect_silence(page);
}

TEST(Promtool, FindsNothingToSayOfHostsBesideAnEthernetFabric) {
  auto fabric = fakes::EthernetFabric::leaf_spine(2, 2, 2);
  fabric.cable("leaf01", "swp\"7\"", "gpu-1", "ens1f0np0");
  fabric.set_state("leaf01 swp49", PortState::kUnknown);
  FabricView view;
  view.name = fabric.name();
  view.watching = true;
  view.sweep = std::make_shared<const Sweep>(fabric.sweep());
  view.rates = std::make_shared<const std::vector<PortRates>>(view.sweep->topology->ports().size(),
                                                              PortRates{0.5, 0.5, 0.5, 0.5, 0.5, 1.5});
  const std::string page = page_with(make_snapshot(1, {view}), {make_host("gpu-1"), make_host("gpu-2")});
  expect_whole(page);
  EXPECT_THAT(page, HasSubstr("peer_netdev=\"swp\\\"7\\\"\""));
  expect_silence(page);
}

TEST(Promtool, FindsNothingToSayOfTheCollectorsOwnPage) {
  collector::OwnFigures figures;
  figures.spool.emplace();
  figures.uplink.emplace();
  const std::string page = collector::metrics_page(make_host("gpu-1"), figures, {kNow, {}}, MetricsFormat::kText);
  expect_whole(page);
  expect_silence(page);
}

}  // namespace
}  // namespace weft::api
