// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "analyzer/ports/error_bounds.hpp"
#include "analyzer/ports/rates.hpp"
#include "tests/fakes/fabric_builder.hpp"

namespace weft::analyzer {
namespace {

using std::chrono::seconds;

struct CounterRates : testing::Test {
  CounterRates() {
    const NodeIndex leaf = fabric.add_switch("leaf", 2);
    const NodeIndex host = fabric.add_adapter("host mlx5_0");
    port = fabric.nodes()[leaf].first_port + 1;
    peer = fabric.nodes()[host].first_port;
    fabric.connect(port, peer);
  }
  const CounterPass& pass() { return tracker.update(fabric.sweep(), seconds(3)); }
  const PortRates& rates() { return (*pass().rates)[port]; }

  fakes::FabricBuilder fabric;
  PortIndex port = 0;
  PortIndex peer = 0;
  CounterTracker tracker;
};

TEST_F(CounterRates, AreUnknownBeforeASecondReading) {
  const PortRates first = rates();
  EXPECT_TRUE(std::isnan(first.transmit_bits_per_second));
  EXPECT_TRUE(std::isnan(first.stall_ratio));
  EXPECT_EQ(rates().transmit_bits_per_second, 0);
}

TEST_F(CounterRates, AreBitsPerSecondOfTheTimeBetweenReadings) {
  pass();
  fabric.set_interval(seconds(2));
  fabric.add_counter(port, CounterId::kTransmitBytes, 25'000'000'000);
  fabric.add_counter(port, CounterId::kReceiveBytes, 1'000);
  const double tick = static_cast<double>(fabric.ports()[port].wait_tick_seconds);
  fabric.add_counter(port, CounterId::kTransmitWait, static_cast<std::uint64_t>(0.5 / tick));
  const PortRates& now = rates();
  EXPECT_DOUBLE_EQ(now.transmit_bits_per_second, 100e9);
  EXPECT_NEAR(now.utilization_ratio, 0.5, 1e-6);
  EXPECT_NEAR(now.stall_ratio, 0.25, 1e-6);
  EXPECT_NEAR(now.transmit_wait_seconds_total, 0.5, 1e-6);
}

TEST_F(CounterRates, ADecreaseIsAResetAndStartsAnew) {
  fabric.set_counter(port, CounterId::kTransmitBytes, 1000);
  fabric.set_counter(port, CounterId::kSymbolErrors, 7);
  pass();
  fabric.reset_counters(port);
  fabric.set_counter(port, CounterId::kTransmitPackets, 5);
  const CounterPass& after = pass();
  EXPECT_EQ(after.resets, std::vector<PortIndex>{port});
  EXPECT_TRUE(after.errors.empty());
  EXPECT_TRUE(std::isnan((*after.rates)[port].transmit_bits_per_second));
  EXPECT_EQ(after.elapsed_seconds[port], 0);
  EXPECT_EQ(tracker.resets(port), 1U);
  fabric.add_counter(port, CounterId::kTransmitBytes, 125);
  EXPECT_DOUBLE_EQ(rates().transmit_bits_per_second, 1000);
}

TEST_F(CounterRates, ReachingAllOnesIsAtLeastThatMuchAndStandingThereIsUnknown) {
  fabric.set_counter(port, CounterId::kSymbolErrors, 65000);
  pass();
  fabric.set_counter(port, CounterId::kSymbolErrors, 65535, true);
  const CounterPass& reached = pass();
  ASSERT_EQ(reached.errors.size(), 1U);
  EXPECT_EQ(reached.errors[0].symbol_errors, 535U);
  EXPECT_EQ(reached.saturated, std::vector<PortIndex>{port});
  EXPECT_TRUE(pass().errors.empty());
}

TEST_F(CounterRates, AStuckTrafficCounterGivesNoRateOfZero) {
  pass();
  fabric.set_counter(port, CounterId::kTransmitBytes, 0xFFFF'FFFFULL * 4, true);
  EXPECT_TRUE(std::isnan(rates().transmit_bits_per_second));
  EXPECT_TRUE(std::isnan(rates().transmit_bits_per_second));
  EXPECT_TRUE(std::isnan(rates().utilization_ratio));
}

TEST_F(CounterRates, KeepTheLastOnesUntilTheReadingIsStale) {
  pass();
  fabric.add_counter(port, CounterId::kTransmitBytes, 125);
  pass();
  fabric.freeze_counters(fabric.find("leaf"));
  EXPECT_DOUBLE_EQ(rates().transmit_bits_per_second, 1000);
  for (int i = 0; i < 3; ++i) pass();  // four seconds old by now
  EXPECT_TRUE(std::isnan(rates().transmit_bits_per_second));
  EXPECT_FALSE(std::isnan(rates().transmit_wait_seconds_total)) << "a total does not go away";
  fabric.freeze_counters(fabric.find("leaf"), false);
  fabric.add_counter(port, CounterId::kTransmitBytes, 875);
  EXPECT_DOUBLE_EQ(rates().transmit_bits_per_second, 1000) << "over the seven seconds between the two readings";
}

TEST_F(CounterRates, SurviveNodesThatAreFoundLaterAndANewEpoch) {
  pass();
  const NodeIndex late = fabric.add_adapter("late mlx5_0");
  fabric.connect(fabric.port_of("leaf", 2), fabric.nodes()[late].first_port);
  fabric.add_counter(port, CounterId::kTransmitBytes, 125);
  EXPECT_DOUBLE_EQ(rates().transmit_bits_per_second, 1000);
  fabric.rediscover();
  for (const PortRates& each : *pass().rates) EXPECT_TRUE(std::isnan(each.transmit_bits_per_second));
}

TEST_F(CounterRates, UncorrectableCodeWordsComeFromTheDetailTable) {
  Sweep sweep = fabric.sweep();
  auto details = std::make_shared<SampleTable>(SampleTable::of_group(CounterGroup::kDetail, fabric.ports().size()));
  const auto lane3 = details->column(CounterId::kFecUncorrectableBlocks, 3);
  details->set(port, lane3, 4, false);
  details->set_read_at(port, fabric.now());
  sweep.details = details;
  EXPECT_TRUE(tracker.update(sweep, seconds(3)).errors.empty()) << "nothing to compare with";
  sweep = fabric.sweep();
  details = std::make_shared<SampleTable>(*details);
  details->set(port, lane3, 9, false);
  details->set_read_at(port, fabric.now());
  sweep.details = details;
  const CounterPass& moved = tracker.update(sweep, seconds(3));
  ASSERT_EQ(moved.errors.size(), 1U);
  EXPECT_EQ(moved.errors[0].port, port);
  EXPECT_EQ(moved.errors[0].fec_uncorrectable, 5U);
}

TEST_F(CounterRates, StuckCodeWordsAreUnknownAndNoRateOfZero) {
  auto details = std::make_shared<SampleTable>(SampleTable::of_group(CounterGroup::kDetail, fabric.ports().size()));
  const auto column = details->column(CounterId::kRsFecUncorrectableBlocks);
  const auto pass_with = [&](std::uint64_t value, bool stuck) {
    Sweep sweep = fabric.sweep();
    details = std::make_shared<SampleTable>(*details);
    details->set(port, column, value, stuck);
    details->set_read_at(port, fabric.now());
    sweep.details = details;
    return tracker.update(sweep, seconds(3));
  };
  EXPECT_TRUE(pass_with(7, false).uncounted.empty());
  EXPECT_EQ(pass_with(0xFFFFFFFF, true).uncounted, std::vector<PortIndex>{port});
  const CounterPass still = pass_with(0xFFFFFFFF, true);
  EXPECT_EQ(still.uncounted, std::vector<PortIndex>{port});
  EXPECT_TRUE(still.errors.empty());
  EXPECT_TRUE(pass_with(3, false).uncounted.empty()) << "a link that was down has cleared it";
  EXPECT_EQ(pass_with(5, false).errors.at(0).fec_uncorrectable, 2U);
}

TEST(ErrorBounds, AreTheTabulatedOnes) {
  const ErrorBounds bounds(0.95);
  EXPECT_EQ(bounds.lower(0), 0);
  EXPECT_NEAR(bounds.upper(0), 2.996, 1e-3) << "three over the limit, with no error";
  EXPECT_NEAR(bounds.lower(1), 0.0513, 1e-4);
  EXPECT_NEAR(bounds.upper(1), 4.744, 1e-3);
  EXPECT_NEAR(bounds.lower(10), 5.425, 1e-3);
  EXPECT_NEAR(bounds.upper(10), 16.962, 1e-3);
  EXPECT_LT(bounds.lower(100'000), 100'000);
  EXPECT_GT(bounds.lower(100'000), 99'000) << "beyond the cached ones";
}

}  // namespace
}  // namespace weft::analyzer
