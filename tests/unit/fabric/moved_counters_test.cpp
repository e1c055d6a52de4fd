// SPDX-License-Identifier: Apache-2.0
#include "fabric/moved_counters.hpp"

#include <gtest/gtest.h>

#include "fabric/metric_groups.hpp"

namespace weft {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kHold = seconds(90);

/// On the steady clock.
Duration at(int second) {
  return seconds(5'000 + second);
}

/// One switch for each GUID, with two ports: 0 and 1.
std::shared_ptr<const Topology> switches(std::uint64_t epoch, const std::vector<std::uint64_t>& guids) {
  std::vector<Node> nodes;
  std::vector<Port> ports;
  for (const std::uint64_t guid : guids) {
    Node node;
    node.guid = {guid};
    node.type = NodeType::kSwitch;
    node.port_count = 1;
    node.first_port = static_cast<PortIndex>(ports.size());
    for (std::uint16_t number = 0; number < 2; ++number) {
      Port port;
      port.node = static_cast<NodeIndex>(nodes.size());
      port.number = {number};
      ports.push_back(port);
    }
    nodes.push_back(node);
  }
  return std::make_shared<const Topology>(epoch, std::move(nodes), std::move(ports), std::vector<DuplicateGuid>{});
}

/// A table of symbol errors and virtual lanes' waits that a test changes and hands over again.
struct Ports {
  explicit Ports(std::vector<std::uint64_t> guids)
      : topology(switches(1, guids)),
        table({CounterId::kSymbolErrors, CounterId::kTransmitBytes, CounterId::kVirtualLaneTransmitWait},
              2 * guids.size()) {}

  void read(std::size_t row, std::uint64_t errors, int second) {
    table.set(row, errors_column(), errors, false);
    table.set_read_at(row, TimePoint(at(second)));
    moves.update(&table, topology, at(second));
  }
  SampleTable::Column errors_column() const { return table.column(CounterId::kSymbolErrors); }
  ShownAs shown(std::size_t row, int second) const { return moves.moved()->shown(row, errors_column(), at(second)); }

  std::shared_ptr<const Topology> topology;
  SampleTable table;
  TableMoves moves{kHold};
};

TEST(MovedCounters, WhatNeverMovedIsNotShown) {
  Ports ports({1});
  for (int second = 0; second < 5; ++second) ports.read(1, 0, second);
  EXPECT_EQ(ports.shown(1, 4), ShownAs::kNot);
  EXPECT_EQ(ports.shown(0, 4), ShownAs::kNot) << "never read";
  EXPECT_EQ(ports.moves.moved()->shown(99, 0, at(4)), ShownAs::kNot) << "no row";
}

TEST(MovedCounters, TheFirstMovementIsWithheldSoThatEveryScraperSeesTheZero) {
  Ports ports({1});
  ports.read(1, 0, 0);
  ports.read(1, 5, 10);
  ports.read(1, 7, 11);
  EXPECT_EQ(ports.shown(1, 11), ShownAs::kAtZero);
  EXPECT_EQ(ports.shown(1, 99), ShownAs::kAtZero) << "90 seconds from the first movement";
  EXPECT_EQ(ports.shown(1, 100), ShownAs::kAsRead) << "by the clock of the scrape, without another sweep";
  ports.read(1, 0, 200);
  EXPECT_EQ(ports.shown(1, 200), ShownAs::kAsRead) << "cleared by somebody: a reset, and it is shown";
  ports.read(1, 3, 210);
  EXPECT_EQ(ports.shown(1, 210), ShownAs::kAsRead) << "only the first movement is withheld";
}

TEST(MovedCounters, WhatHadMovedBeforeItWasKnownIsShownAtOnce) {
  // Else a restart of weftd would show a zero that was none: a reset, after which everything counts again.
  Ports ports({1});
  ports.read(1, 5, 0);
  EXPECT_EQ(ports.shown(1, 0), ShownAs::kAsRead);
}

TEST(MovedCounters, TrafficOfTheWholePortIsNotFollowed) {
  EXPECT_FALSE(counter_info(CounterId::kTransmitBytes).is_left_out_at_zero());
  EXPECT_FALSE(counter_info(CounterId::kTransmitWait).is_left_out_at_zero());
  EXPECT_TRUE(counter_info(CounterId::kSymbolErrors).is_left_out_at_zero());
  EXPECT_TRUE(counter_info(CounterId::kVirtualLaneTransmitWait).is_left_out_at_zero());
  for (const CounterInfo& info : counter_catalogue())
    EXPECT_FALSE(info.is_gauge && info.is_left_out_at_zero()) << info.name << ": a gauge at zero says something";
}

TEST(MovedCounters, EachInstanceIsOnItsOwn) {
  Ports ports({1});
  const auto lane = [&](unsigned vl) { return ports.table.column(CounterId::kVirtualLaneTransmitWait, vl); };
  for (unsigned vl = 0; vl < 16; ++vl) ports.table.set(1, lane(vl), 0, false);
  ports.read(1, 0, 0);
  ports.table.set(1, lane(15), 9, false);
  ports.read(1, 0, 1);
  EXPECT_EQ(ports.moves.moved()->shown(1, lane(14), at(1)), ShownAs::kNot);
  EXPECT_EQ(ports.moves.moved()->shown(1, lane(15), at(1)), ShownAs::kAtZero);
}

TEST(MovedCounters, WhatIsPublishedStaysAsItIs) {
  Ports ports({1});
  ports.read(1, 0, 0);
  const auto before = ports.moves.moved();
  ports.read(1, 0, 1);
  EXPECT_EQ(ports.moves.moved(), before) << "no news: the same";
  ports.read(1, 5, 2);
  EXPECT_NE(ports.moves.moved(), before);
  EXPECT_EQ(before->shown(1, ports.errors_column(), at(2)), ShownAs::kNot);
}

TEST(MovedCounters, PortsKeepWhatIsKnownOfThemInANewEpoch) {
  Ports ports({1, 2, 3});
  ports.read(1, 0, 0);  // switch 1
  ports.read(3, 8, 0);  // switch 2
  ports.read(5, 0, 0);  // switch 3
  ports.read(5, 1, 5);
  ports.topology = switches(2, {3, 2, 1, 4});
  ports.table = SampleTable({ports.table.counters().begin(), ports.table.counters().end()}, 8);
  for (std::size_t row = 0; row < 8; ++row) {
    ports.table.set(row, ports.errors_column(), 0, false);
    ports.table.set_read_at(row, TimePoint(at(6)));
  }
  ports.table.set(7, ports.errors_column(), 4, false);  // switch 4, which is new
  ports.table.set(5, ports.errors_column(), 6, false);  // switch 1, whose zero is known
  ports.moves.update(&ports.table, ports.topology, at(6));
  EXPECT_EQ(ports.shown(1, 6), ShownAs::kAtZero) << "switch 3 is still withheld";
  EXPECT_EQ(ports.shown(1, 94), ShownAs::kAtZero);
  EXPECT_EQ(ports.shown(1, 95), ShownAs::kAsRead) << "since it moved, not since the new epoch";
  EXPECT_EQ(ports.shown(3, 6), ShownAs::kAsRead) << "switch 2 moved once";
  EXPECT_EQ(ports.shown(5, 6), ShownAs::kAtZero) << "switch 1 moved now";
  EXPECT_EQ(ports.shown(7, 6), ShownAs::kAsRead) << "switch 4 was never seen at zero";
}

TEST(MovedCounters, PortsThatAreFoundLaterAreFollowedToo) {
  Ports ports({1});
  ports.read(1, 0, 0);
  ports.topology = switches(1, {1, 2});
  ports.table.grow(4);
  ports.read(3, 0, 1);
  ports.read(3, 1, 2);
  EXPECT_EQ(ports.shown(3, 2), ShownAs::kAtZero);
  EXPECT_EQ(ports.shown(1, 2), ShownAs::kNot);
}

TEST(MovedCounters, ATableThatIsNotThereYetSaysNothing) {
  TableMoves moves(kHold);
  moves.update(nullptr, switches(1, {1}), at(0));
  EXPECT_EQ(moves.moved(), nullptr);
}

struct Host {
  HostReading reading;
  HostMoves moves{kHold};

  explicit Host(std::vector<HostSeries> series) { take(std::move(series)); }
  void take(std::vector<HostSeries> series) {
    auto inventory = std::make_shared<HostInventory>();
    inventory->series = std::move(series);
    reading.inventory = std::move(inventory);
    reading.values.assign(reading.inventory->series.size(), 0);
    reading.present.assign(reading.values.size(), 1);
  }
  void read(int second) { moves.update(reading, at(second)); }
  ShownAs shown(std::size_t position, int second) const { return moves.moved()->shown(0, position, at(second)); }
};

HostSeries pause(std::uint8_t priority) {
  HostSeries series{.device = "mlx5_0", .port = 1, .name = "pfc_pause"};
  series.priority = priority;
  return series;
}

TEST(HostMoves, FollowsEachSeriesThroughInventories) {
  std::vector<HostSeries> many;
  for (std::uint8_t priority = 0; priority < 100; ++priority) many.push_back(pause(priority));
  Host host(many);
  host.reading.present[3] = 0;
  host.read(0);
  host.reading.values[99] = 1;
  host.reading.values[3] = 1;
  host.reading.present[3] = 1;
  host.read(1);
  EXPECT_EQ(host.shown(0, 1), ShownAs::kNot);
  EXPECT_EQ(host.shown(99, 1), ShownAs::kAtZero);
  EXPECT_EQ(host.shown(3, 1), ShownAs::kAsRead) << "not read before: its zero was never seen";
  host.take({pause(99), pause(3), pause(0), pause(101)});
  host.reading.values = {1, 0, 1, 1};
  host.read(2);
  EXPECT_EQ(host.shown(0, 90), ShownAs::kAtZero);
  EXPECT_EQ(host.shown(0, 91), ShownAs::kAsRead);
  EXPECT_EQ(host.shown(1, 2), ShownAs::kAsRead);
  EXPECT_EQ(host.shown(2, 2), ShownAs::kAtZero) << "the zero before was seen in the old inventory";
  EXPECT_EQ(host.shown(3, 2), ShownAs::kAsRead);
}

TEST(HostMoves, AHostWithoutSeriesIsNoTrouble) {
  Host host(std::vector<HostSeries>{});
  host.read(0);
  EXPECT_EQ(host.shown(0, 0), ShownAs::kNot);
  HostMoves moves(kHold);
  moves.update(HostReading{}, at(0));
  EXPECT_EQ(moves.moved(), nullptr);
}

TEST(MetricGroups, NamesAreTakenAndRefused) {
  const std::vector<std::string> none;
  EXPECT_EQ(metric_groups(none), MetricGroups::all());
  const std::vector<std::string> two{"ports", "self"};
  const auto chosen = metric_groups(two);
  ASSERT_TRUE(chosen);
  EXPECT_TRUE(chosen->has(MetricGroup::kPorts));
  EXPECT_TRUE(chosen->has(MetricGroup::kSelf));
  EXPECT_FALSE(chosen->has(MetricGroup::kTraffic));
  EXPECT_EQ(metric_groups(none, *chosen), *chosen);
  const std::vector<std::string> odd{"odd"};
  const auto unknown = metric_groups(odd, *chosen);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(unknown.error().message, "'odd' is no group of metrics; the groups are ports, self");
  const std::vector<std::string> raw{"raw"};
  EXPECT_FALSE(metric_groups(raw, *chosen)) << "not in metrics.groups";
}

TEST(MetricGroups, ACollectorHasThoseOfPortsAndOfItself) {
  constexpr MetricGroups kThere = MetricGroups::of_collector();
  const std::vector<std::string> none;
  EXPECT_EQ(metric_groups(none, kThere, kThere), kThere);
  EXPECT_FALSE(kThere.has(MetricGroup::kHosts));
  EXPECT_TRUE(kThere.has(MetricGroup::kPorts));
  EXPECT_TRUE(kThere.has(MetricGroup::kSelf));
  EXPECT_EQ(collector_metric_group_names().front(), "ports");
  EXPECT_EQ(collector_metric_group_names().back(), "self");
  const std::vector<std::string> of_weftd{"fabrics"};
  const auto refused = metric_groups(of_weftd, kThere, kThere);
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      refused.error().message,
      "the group 'fabrics' is on weftd's /metrics only; the groups here are ports, traffic, errors, details, rdma, "
      "gauges, raw, self");
}

TEST(MetricGroups, EveryCounterHasOne) {
  EXPECT_EQ(metric_group_names().size(), static_cast<std::size_t>(MetricGroup::kCount));
  const auto group = [](std::string_view name) { return group_of(*find_counter(name)); };
  EXPECT_EQ(group("transmit_bytes"), MetricGroup::kTraffic);
  EXPECT_EQ(group("transmit_wait"), MetricGroup::kTraffic);
  EXPECT_EQ(group("symbol_errors"), MetricGroup::kErrors);
  EXPECT_EQ(group("virtual_lane_transmit_wait"), MetricGroup::kDetails);
  EXPECT_EQ(group("pfc_pause"), MetricGroup::kDetails);
  EXPECT_EQ(group("fec_lane_corrected_bit_errors"), MetricGroup::kDetails);
  EXPECT_EQ(group("out_of_sequence"), MetricGroup::kRdma);
  EXPECT_EQ(group("module_temperature"), MetricGroup::kGauges);
}

}  // namespace
}  // namespace weft
