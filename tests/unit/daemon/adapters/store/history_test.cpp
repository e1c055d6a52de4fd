// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/history.hpp"

#include "daemon/adapters/store/history_codec.hpp"
#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

using namespace std::chrono_literals;

constexpr PortKey kPort{NodeGuid{1}, PortNum{2}};

std::vector<HistoryPoint> read(Store& store, CounterId counter, PortKey port = kPort) {
  const auto points = store.history("compute", port, counter, at_second(-1'000'000), at_second(10'000'000));
  if (points) return *points;
  ADD_FAILURE() << points.error().message;
  return {};
}

TEST(History, TakesOneSweepInEachIntervalAndGivesTheGrowth) {
  const TempDir dir;
  auto store = must_open(dir.path());
  for (int second = 0; second <= 180; ++second)
    ASSERT_TRUE(store->append_history(share(make_sweep(at_second(second), 100U * static_cast<unsigned>(second)))));
  const auto bytes = read(*store, CounterId::kTransmitBytes);
  ASSERT_EQ(bytes.size(), 3U);
  EXPECT_EQ(bytes[0].at, at_second(60));
  EXPECT_EQ(bytes[0].span, 60s);
  EXPECT_NEAR(static_cast<double>(bytes[1].increase), 6000, 12);
  const auto errors = read(*store, CounterId::kSymbolErrors);
  ASSERT_EQ(errors.size(), 3U);
  EXPECT_EQ(errors[2].increase, 60U);
  EXPECT_EQ(store->status().history_written, 3U);
  EXPECT_GT(store->status().history_bytes, 0U);
}

TEST(History, SurvivesARestart) {
  const TempDir dir;
  {
    auto store = must_open(dir.path());
    ASSERT_TRUE(store->append_history(share(make_sweep(at_second(0), 0))));
    ASSERT_TRUE(store->append_history(share(make_sweep(at_second(60), 600))));
  }
  auto store = must_open(dir.path());
  ASSERT_TRUE(store->append_history(share(make_sweep(at_second(120), 1200))));
  ASSERT_TRUE(store->append_history(share(make_sweep(at_second(180), 1900))));
  const auto points = read(*store, CounterId::kSymbolErrors);
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].increase, 6U);
  EXPECT_EQ(points[1].increase, 7U);
  const auto part = store->history("compute", kPort, CounterId::kSymbolErrors, at_second(100), at_second(180));
  ASSERT_TRUE(part);
  EXPECT_EQ(part->size(), 1U);
}

TEST(History, AResetCountsFromZeroAndAStuckCounterSaysAtLeast) {
  const TempDir dir;
  auto store = must_open(dir.path());
  ASSERT_TRUE(store->append_history(share(make_sweep(at_second(0), 5000))));
  ASSERT_TRUE(store->append_history(share(make_sweep(at_second(60), 300))));
  Sweep stuck = make_sweep(at_second(120), 300);
  SampleTable table = *stuck.counters;
  table.set(2, table.column(CounterId::kSymbolErrors), 65535, true);
  stuck.counters = std::make_shared<const SampleTable>(table);
  ASSERT_TRUE(store->append_history(share(stuck)));
  const auto points = read(*store, CounterId::kSymbolErrors);
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].increase, 3U);
  EXPECT_FALSE(points[0].at_least);
  EXPECT_EQ(points[1].increase, 65532U);
  EXPECT_TRUE(points[1].at_least);
}

TEST(History, WhatWasNotReadIsAbsentAndNotZero) {
  const TempDir dir;
  auto store = must_open(dir.path());
  ASSERT_TRUE(store->append_history(share(make_sweep(at_second(0), 0))));
  Sweep silent = make_sweep(at_second(60), 100);
  SampleTable table = *silent.counters;
  table.set_read_at(2, at_second(0));  // no answer since
  silent.counters = std::make_shared<const SampleTable>(table);
  ASSERT_TRUE(store->append_history(share(silent)));
  EXPECT_TRUE(read(*store, CounterId::kTransmitBytes).empty());
  EXPECT_EQ(read(*store, CounterId::kTransmitBytes, {NodeGuid{1}, PortNum{1}}).size(), 1U);
  EXPECT_TRUE(read(*store, CounterId::kReceiveBytes, {NodeGuid{1}, PortNum{1}}).empty());  // never read at all
}

TEST(History, APortIsFoundAgainWhenTheTopologyIsLaidOutAnew) {
  const TempDir dir;
  auto store = must_open(dir.path());
  ASSERT_TRUE(store->append_history(share(make_sweep(at_second(0), 0))));
  ASSERT_TRUE(store->append_history(share(make_sweep(at_second(60), 100, 4))));
  ASSERT_TRUE(store->append_history(share(make_sweep(at_second(120), 300, 8))));  // its ports have more neighbours now
  ASSERT_TRUE(store->append_history(share(make_sweep(at_second(180), 600, 3))));
  const auto points = read(*store, CounterId::kSymbolErrors);
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[2].increase, 3U);
  EXPECT_EQ(read(*store, CounterId::kSymbolErrors, {NodeGuid{1}, PortNum{8}}).size(), 0U);  // seen once only
}

TEST(History, PortsBeyond255AreThemselvesAfterARestart) {
  const TempDir dir;
  const auto sweep_at = [](int second) {
    Sweep sweep = make_sweep(at_second(second), 100U * static_cast<unsigned>(second), 512);
    SampleTable counters = *sweep.counters;
    // 300 cut to eight bits is 44.
    counters.set(44, counters.column(CounterId::kSymbolErrors), 0, false);
    sweep.counters = std::make_shared<const SampleTable>(std::move(counters));
    return share(std::move(sweep));
  };
  for (int run = 0; run < 2; ++run) {
    auto store = must_open(dir.path());
    ASSERT_TRUE(store->append_history(sweep_at(run * 120)));
    ASSERT_TRUE(store->append_history(sweep_at(run * 120 + 60)));
  }
  auto store = must_open(dir.path());
  for (const auto& [number, grown] : {std::pair(300, 60U), {44, 0U}, {512, 60U}}) {
    const auto points =
        read(*store, CounterId::kSymbolErrors, {NodeGuid{1}, PortNum{static_cast<std::uint16_t>(number)}});
    ASSERT_EQ(points.size(), 2U) << number;
    for (const HistoryPoint& point : points) EXPECT_EQ(point.increase, grown) << number;
  }
}

TEST(History, TwoFabricsShareTheFileAndNotTheirPorts) {
  const TempDir dir;
  auto store = must_open(dir.path());
  for (int i = 0; i <= 2; ++i) {
    ASSERT_TRUE(store->append_history(share(make_sweep(at_second(i * 60), 100U * static_cast<unsigned>(i)))));
    Sweep other = make_sweep(at_second(i * 60), 500U * static_cast<unsigned>(i));
    other.fabric = "storage";
    ASSERT_TRUE(store->append_history(share(other)));
  }
  EXPECT_EQ(read(*store, CounterId::kSymbolErrors)[0].increase, 1U);
  const auto points = store->history("storage", kPort, CounterId::kSymbolErrors, kNever, at_second(1000));
  ASSERT_EQ(points->size(), 2U);
  EXPECT_EQ((*points)[1].increase, 5U);
}

TEST(History, SaysWhatItDoesNotHave) {
  const TempDir dir;
  auto store = must_open(dir.path());
  const auto unknown = store->history("compute", kPort, CounterId::kTransmitBytes, kNever, at_second(1));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  const auto not_kept = store->history("compute", kPort, CounterId::kUnknownBlocks, kNever, at_second(1));
  ASSERT_FALSE(not_kept);
  EXPECT_EQ(not_kept.error().code, ErrorCode::kInvalidArgument);
}

TEST(History, IsBoundedByTime) {
  const TempDir dir;
  auto store = must_open(dir.path(), {.history_retention = 10min});
  for (int minute = 0; minute <= 30; ++minute) {
    ASSERT_TRUE(store->append_history(share(make_sweep(at_second(60 * minute), 0))));
    ASSERT_TRUE(store->maintain(at_second(60 * minute), {}));
  }
  const auto points = read(*store, CounterId::kTransmitBytes);
  ASSERT_EQ(points.size(), 11U);
  EXPECT_EQ(points.front().at, at_second(60 * 20));
}

TEST(History, IsBoundedByBytes) {
  const TempDir dir;
  constexpr std::uint64_t kLimit = 1 << 20;
  auto store = must_open(dir.path(), {.history_interval = 1s, .max_history_bytes = kLimit});
  for (int second = 0; second <= 5000; ++second) {
    ASSERT_TRUE(store->append_history(
        share(make_sweep(at_second(second), static_cast<std::uint64_t>(second) * 1'234'567, 200))));
    if (second % 60 == 0) {
      ASSERT_TRUE(store->maintain(at_second(second), {}));
    }
  }
  ASSERT_TRUE(store->maintain(at_second(5000), {}));
  EXPECT_LE(store->status().history_bytes, kLimit);
  const auto points = read(*store, CounterId::kTransmitBytes);
  EXPECT_GT(points.size(), 100U);
  EXPECT_LT(points.size(), 4000U);
  EXPECT_EQ(points.back().at, at_second(5000));
}

TEST(History, ALowerLimitGivesTheRoomBackInSteps) {
  const TempDir dir;
  {
    auto store = must_open(dir.path(), {.history_interval = 1s});
    for (int second = 0; second <= 5000; ++second)
      ASSERT_TRUE(store->append_history(
          share(make_sweep(at_second(second), static_cast<std::uint64_t>(second) * 1'234'567, 200))));
  }
  auto store = must_open(dir.path(), {.history_interval = 1s, .history_retention = 60s});
  int steps = 1;
  while (*store->maintain(at_second(5000), {}) && steps < 100) ++steps;
  EXPECT_GT(steps, 1);
  EXPECT_LT(steps, 100);
  EXPECT_EQ(read(*store, CounterId::kTransmitBytes).size(), 61U);
}

TEST(History, ADamagedFileIsRefusedAtOpening) {
  const TempDir dir;
  must_open(dir.path());
  write_file(dir.path() / "history.db", "not any more");
  const auto store = open_store(dir.path(), {});
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(read_file(dir.path() / "history.db"), "not any more");
}

}  // namespace
}  // namespace weft::store
