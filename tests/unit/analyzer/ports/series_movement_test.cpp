// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/series_movement.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

TEST(CounterDelta, WrapsResetsAndSticks) {
  using enum CounterBehaviour;
  EXPECT_EQ(counter_delta(5, 9, 64, kWraps).moved, 4U);
  EXPECT_EQ(counter_delta(0xFFFF'FFF0, 0x10, 32, kWraps).moved, 0x20U);
  const auto reset = counter_delta(1000, 3, 32, kWraps);
  EXPECT_TRUE(reset.was_reset);
  EXPECT_EQ(reset.moved, 0U);
  EXPECT_TRUE(counter_delta(7, 3, 64, kWraps).was_reset);
  EXPECT_TRUE(counter_delta(250, 255, 8, kSticks).at_least);
  EXPECT_EQ(counter_delta(250, 255, 8, kSticks).moved, 5U);
  EXPECT_TRUE(counter_delta(255, 2, 8, kSticks).was_reset);
  EXPECT_EQ(counter_delta(3, 1, 64, kGauge).moved, 0U);
  EXPECT_FALSE(counter_delta(3, 1, 64, kGauge).was_reset);
}

/// One host, whose readings are compared.
struct SeriesMovements : testing::Test {
  SeriesMovements() {
    inventory.series = std::vector<HostSeries>{{.device = "eth0", .name = "wide"},
                                               {.device = "eth0", .name = "narrow", .bits = 32},
                                               {.device = "eth0", .name = "unasked"}};
    memory.follow(inventory, {1, 0, 1});
  }
  /// A reading a second after the one before; what is nullopt was not read.
  const HostMovement& read(const std::vector<std::optional<std::uint64_t>>& values) {
    HostReading reading;
    reading.taken = now += 1s;
    for (const auto& value : values) {
      reading.values.push_back(value.value_or(0));
      reading.present.push_back(value ? 1 : 0);
    }
    memory.take(reading, movement);
    return movement;
  }
  const SeriesMovement& row(std::size_t series) const { return movement.series[series]; }

  HostInventory inventory;
  SeriesMemory memory;
  HostMovement movement;
  TimePoint now{1'700'000'000s};
};

TEST_F(SeriesMovements, TheFirstReadingSaysNothing) {
  EXPECT_EQ(read({5, 7, 9}).elapsed, Duration::zero());
  EXPECT_TRUE(row(0).present);
  EXPECT_EQ(row(0).value, 5U);
  EXPECT_FALSE(row(0).known);
  EXPECT_FALSE(row(0).is_exact());
}

TEST_F(SeriesMovements, IsTheDifferenceOfTwoReadings) {
  read({5, 0xFFFF'FFF0, 9});
  EXPECT_EQ(read({8, 0x10, 9}).elapsed, 1s);
  EXPECT_EQ(row(0).delta.moved, 3U);
  EXPECT_EQ(row(1).delta.moved, 0x20U) << "it is 32 bits wide";
  EXPECT_TRUE(row(0).is_exact());
  EXPECT_FALSE(row(2).present) << "nobody asked for it";
}

TEST_F(SeriesMovements, AGapIsNeitherZeroNorOneStep) {
  read({5, 0, 0});
  read({{}, 0, 0});
  EXPECT_FALSE(row(0).present);
  read({9, 0, 0});
  EXPECT_EQ(row(0).delta.moved, 4U) << "since it was last read";
  EXPECT_TRUE(row(0).known);
  EXPECT_FALSE(row(0).is_exact()) << "nobody knows in which of two seconds";
  read({9, 0, 0});
  EXPECT_TRUE(row(0).is_exact());
}

TEST_F(SeriesMovements, AResetMovesNothingAndIsToldOnce) {
  read({500, 0, 0});
  read({3, 0, 0});
  EXPECT_TRUE(row(0).delta.was_reset);
  EXPECT_EQ(row(0).delta.moved, 0U);
  EXPECT_FALSE(row(0).is_exact());
  read({5, 0, 0});
  EXPECT_FALSE(row(0).delta.was_reset);
  EXPECT_EQ(row(0).delta.moved, 2U);
}

TEST_F(SeriesMovements, ValuesFollowTheirSeriesIntoAnotherInventory) {
  read({5, 7, 9});
  HostInventory other;
  other.series = std::vector<HostSeries>{
      {.device = "eth1", .name = "wide"}, {.device = "eth0", .name = "unasked"}, {.device = "eth0", .name = "wide"}};
  memory.follow(other, {0, 1, 2});
  read({100, 10, 6});
  EXPECT_FALSE(row(0).known) << "another device's";
  EXPECT_FALSE(row(1).known) << "nobody asked for it before";
  EXPECT_EQ(row(2).delta.moved, 1U);
  EXPECT_TRUE(row(2).is_exact());
}

TEST_F(SeriesMovements, OneRowServesHostsWithMoreAndFewerSeries) {
  read({5, 7, 9});
  SeriesMemory small;
  HostInventory one;
  one.series = std::vector<HostSeries>{{.device = "eth0", .name = "wide"}};
  small.follow(one, {0});
  HostReading reading;
  reading.taken = now;
  reading.values = {std::numeric_limits<std::uint64_t>::max()};
  reading.present = {1};
  small.take(reading, movement);
  EXPECT_FALSE(row(0).known);
  read({6, 7, 9});
  EXPECT_EQ(row(0).delta.moved, 1U);
}

}  // namespace
}  // namespace weft::analyzer
