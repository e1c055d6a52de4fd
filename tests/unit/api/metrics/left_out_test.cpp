// SPDX-License-Identifier: Apache-2.0
// Series that are left out: of counters that never moved, and of groups that were not asked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "api/metrics/exposition.hpp"
#include "tests/unit/api/small_fabric.hpp"

namespace weft::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Duration kHold = std::chrono::seconds(90);

/// Where nobody sets the other clock.
Duration steady_at(TimePoint now) {
  return now - kNow + std::chrono::hours(1);
}

std::string expose_at(const std::shared_ptr<const Snapshot>& snapshot, ScrapeTime now, MetricGroups groups) {
  Exposition exposition(snapshot, now, MetricsFormat::kText, {}, groups);
  std::string text;
  for (std::string_view piece = exposition.next(); !piece.empty(); piece = exposition.next()) text += piece;
  return text;
}
std::string expose_at(const std::shared_ptr<const Snapshot>& snapshot, TimePoint now,
                      MetricGroups groups = MetricGroups::all()) {
  return expose_at(snapshot, ScrapeTime{now, steady_at(now)}, groups);
}

/// The samples of `name`, without its name and labels.
std::vector<std::string> values_of(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  std::vector<std::string> values;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(name + "{")) values.push_back(line.substr(line.rfind(' ') + 1));
  return values;
}

/// A subnet followed as weftd follows it.
struct Followed {
  SmallFabric fabric{1};
  TableMoves counters{kHold}, details{kHold};

  Followed() { fabric.details = SampleTable::of_group(CounterGroup::kDetail, fabric.ports.size()); }
  void set_lane(unsigned vl, std::uint64_t value, TimePoint now) {
    fabric.details.set(1, fabric.details.column(CounterId::kVirtualLaneTransmitWait, vl), value, false);
    fabric.details.set_read_at(1, now);
  }
  void set(CounterId id, std::uint64_t value, TimePoint now) {
    fabric.set(1, id, value);
    fabric.counters.set_read_at(1, now);
  }
  std::shared_ptr<Snapshot> sweep(TimePoint now) {
    FabricView view = fabric.build();
    counters.update(view.sweep->counters.get(), view.sweep->topology, steady_at(now));
    details.update(view.sweep->details.get(), view.sweep->topology, steady_at(now));
    view.counters_moved = counters.moved();
    view.details_moved = details.moved();
    return make_snapshot(1, {view});
  }
};

TEST(LeftOut, AnErrorCounterBeginsWithAZeroThatEveryScraperSees) {
  constexpr const char* kErrors = "weft_port_symbol_errors_total";
  Followed weftd;
  weftd.set(CounterId::kSymbolErrors, 0, kNow);
  weftd.set(CounterId::kTransmitBytes, 0, kNow);
  const std::string before = expose_at(weftd.sweep(kNow), kNow);
  EXPECT_THAT(before, Not(HasSubstr(kErrors))) << "not even a head";
  EXPECT_THAT(values_of(before, "weft_port_transmit_bytes_total"), ElementsAre("0")) << "traffic always has its series";

  const TimePoint moved = kNow + std::chrono::seconds(10);
  weftd.set(CounterId::kSymbolErrors, 5, moved);
  const auto snapshot = weftd.sweep(moved);
  EXPECT_THAT(values_of(expose_at(snapshot, moved), kErrors), ElementsAre("0"));
  EXPECT_THAT(values_of(expose_at(snapshot, moved + kHold - Duration(1)), kErrors), ElementsAre("0"));
  EXPECT_THAT(values_of(expose_at(snapshot, moved + kHold), kErrors), ElementsAre("5"));
}

TEST(LeftOut, LanesThatCarryNothingAreAbsent) {
  constexpr const char* kWaits = "weft_port_virtual_lane_transmit_wait_seconds_total";
  Followed weftd;
  for (unsigned vl = 0; vl < 16; ++vl) weftd.set_lane(vl, vl == 0 ? 6 : 0, kNow);
  EXPECT_THAT(values_of(expose_at(weftd.sweep(kNow), kNow), kWaits), ElementsAre("3"))
      << "6 ticks of half a second, known from the first reading on";
  weftd.set_lane(4, 2, kNow + std::chrono::seconds(1));
  const auto snapshot = weftd.sweep(kNow + std::chrono::seconds(1));
  EXPECT_THAT(values_of(expose_at(snapshot, kNow + std::chrono::seconds(1)), kWaits), ElementsAre("3", "0"));
  EXPECT_THAT(values_of(expose_at(snapshot, kNow + std::chrono::seconds(91)), kWaits), ElementsAre("3", "1"));
  for (const Duration step : {std::chrono::seconds(-5), std::chrono::seconds(3600)}) {
    const ScrapeTime then{kNow + std::chrono::seconds(4) + step, steady_at(kNow + std::chrono::seconds(4))};
    EXPECT_THAT(values_of(expose_at(snapshot, then, MetricGroups::all()), kWaits), ElementsAre("3", "0"))
        << "a clock that is set ends nothing";
  }
}

TEST(LeftOut, HostsToo) {
  auto inventory = std::make_shared<HostInventory>();
  inventory->series = std::vector<HostSeries>{{.device = "eth0", .name = "crc_errors"},
                                              {.device = "eth0", .name = "carrier_down"},
                                              {.device = "eth0", .name = "cnp_sent"},
                                              {.device = "eth0", .name = "module_temperature"},
                                              {.device = "eth0", .name = "rx_steer_missed", .is_raw = true}};
  auto reading = std::make_shared<HostReading>();
  reading->taken = kNow;
  reading->inventory = inventory;
  reading->values.assign(5, 0);
  reading->present.assign(5, 1);
  HostMoves moves(kHold);
  moves.update(*reading, steady_at(kNow));
  reading->values[1] = 4;
  moves.update(*reading, steady_at(kNow + std::chrono::seconds(1)));
  auto host = std::make_shared<HostView>();
  host->host = "gpu-1";
  host->reading = reading;
  host->moved = moves.moved();
  auto snapshot = make_snapshot(1, {});
  snapshot->hosts = std::make_shared<std::vector<std::shared_ptr<const HostView>>>(1, host);
  const std::string text = expose_at(snapshot, kNow + std::chrono::seconds(1));
  EXPECT_THAT(text, Not(HasSubstr("weft_port_crc_errors_total")));
  EXPECT_THAT(values_of(text, "weft_port_carrier_down_total"), ElementsAre("0"));
  EXPECT_THAT(values_of(text, "weft_port_cnp_sent_total"), ElementsAre("0"));
  EXPECT_THAT(values_of(text, "weft_port_module_temperature_celsius"), ElementsAre("0")) << "a gauge";
  EXPECT_THAT(values_of(text, "weft_port_raw"), ElementsAre("0")) << "nobody knows what it counts";
  EXPECT_THAT(values_of(expose_at(snapshot, kNow + std::chrono::seconds(91)), "weft_port_carrier_down_total"),
              ElementsAre("4"));
}

/// The names of all families of a text.
std::set<std::string> families_of(const std::string& text) {
  std::istringstream lines(text);
  std::set<std::string> names;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("# TYPE ")) names.insert(line.substr(7, line.find(' ', 7) - 7));
  return names;
}

TEST(LeftOut, TheGroupsTogetherAreTheWholeAndNoFamilyIsInTwo) {
  SmallFabric fabric(2);
  for (const CounterId id : fabric.counters.counters()) fabric.set(1, id, 1);
  fabric.details = SampleTable::of_group(CounterGroup::kDetail, fabric.ports.size());
  for (SampleTable::Column column = 0; column < fabric.details.columns(); ++column)
    fabric.details.set(1, column, 1, false);
  fabric.rates.assign(fabric.ports.size(), PortRates{1, 1, 1, 1, 1, 1});
  auto inventory = std::make_shared<HostInventory>();
  HostPort& port = inventory->ports.emplace_back();
  port.device = "eth0";
  std::vector<HostSeries> series;
  for (const CounterInfo& info : counter_catalogue())
    if (info.on_hosts && info.unit != CounterUnit::kTicks)
      series.push_back({.device = "eth0", .name = std::string(info.name)});
  series.push_back({.device = "eth0", .name = "odd", .is_raw = true});
  inventory->series = series;
  auto reading = std::make_shared<HostReading>();
  reading->inventory = inventory;
  reading->values.assign(series.size(), 7);
  reading->present.assign(series.size(), 1);
  reading->jobs = {"slurm:1"};
  auto host = std::make_shared<HostView>();
  host->host = "gpu-1";
  host->state = CollectorState::kConnected;
  host->reading = reading;
  auto snapshot =
      make_snapshot(1, {fabric.build()}, {make_incident(1)}, {make_health("host-1", 0x101, HealthVerdict::kHealthy)});
  snapshot->hosts = std::make_shared<std::vector<std::shared_ptr<const HostView>>>(1, host);

  std::set<std::string> together;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(MetricGroup::kCount); ++i) {
    MetricGroups one;
    one.add(static_cast<MetricGroup>(i));
    const std::string text = expose_at(snapshot, kNow, one);
    EXPECT_FALSE(text.empty()) << metric_group_names()[i];
    bytes += text.size();
    for (const std::string& name : families_of(text))
      EXPECT_TRUE(together.insert(name).second) << name << " is in " << metric_group_names()[i] << " and another";
  }
  const std::string whole = expose_at(snapshot, kNow);
  EXPECT_EQ(together, families_of(whole));
  EXPECT_EQ(bytes, whole.size());
  EXPECT_EQ(expose_at(snapshot, kNow, MetricGroups()), "");
}

}  // namespace
}  // namespace weft::api
