// SPDX-License-Identifier: Apache-2.0
// What was not read is a gap, whatever came before and after it.

#include "daemon/adapters/store/history_reader.hpp"
#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

using namespace std::chrono_literals;

constexpr PortKey kPortOfGaps{NodeGuid{1}, PortNum{2}};

Result<HistoryAnswer> ask_of_gaps(const TempDir& dir, CounterId counter, Duration step = 60s) {
  return read_history(dir.path(), {"compute", {kPortOfGaps}, {counter}, at_second(0), at_second(100'000), step});
}

/// Oldest first.
std::vector<HistoryBucket> bytes_with_gaps(const TempDir& dir, Duration step = 60s) {
  const auto answer = ask_of_gaps(dir, CounterId::kTransmitBytes, step);
  if (answer && !answer->ports.at(0).counters.empty()) return answer->ports[0].counters[0].buckets;
  ADD_FAILURE() << (answer ? "no buckets" : answer.error().message);
  return {};
}

TEST(HistoryGaps, APortThatWasSilentHasNoRateOfALongTimeInOneInterval) {
  const TempDir dir;
  auto store = must_open(dir.path());
  for (int minute = 0; minute <= 20; ++minute) {
    const bool is_silent = minute > 5 && minute < 15;
    Sweep sweep = make_sweep(at_second(60 * minute), 6000U * static_cast<unsigned>(is_silent ? 5 : minute));
    SampleTable table = *sweep.counters;
    if (is_silent) table.set_read_at(2, at_second(300));
    sweep.counters = std::make_shared<const SampleTable>(table);
    ASSERT_TRUE(store->append_history(share(sweep)));
  }
  const auto bytes = bytes_with_gaps(dir);
  ASSERT_EQ(bytes.size(), 11U) << "nine minutes are a gap";
  for (const HistoryBucket& bucket : bytes) {
    EXPECT_NEAR(bucket.increase, 6000, 12) << bucket.index;
    EXPECT_NEAR(bucket.peak, 100, 1) << bucket.index;
  }
}

TEST(HistoryGaps, AnEventThatASilentPortCountedIsNotLost) {
  const TempDir dir;
  auto store = must_open(dir.path());
  for (int minute = 0; minute <= 12; ++minute) {
    Sweep sweep = make_sweep(at_second(60 * minute), minute < 11 ? 0 : 100);
    SampleTable table = *sweep.counters;
    if (minute > 1 && minute < 11) table.set_read_at(2, at_second(60));
    sweep.counters = std::make_shared<const SampleTable>(table);
    ASSERT_TRUE(store->append_history(share(sweep)));
  }
  const auto answer = ask_of_gaps(dir, CounterId::kSymbolErrors);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->ports[0].counters[0].total, 1U);
  EXPECT_TRUE(answer->ports[0].counters[0].at_least);
}

TEST(HistoryGaps, TimeWithoutSweepsIsAGap) {
  const TempDir dir;
  auto store = must_open(dir.path());
  for (const int minute : {0, 1, 2, 32, 33, 35})
    ASSERT_TRUE(
        store->append_history(share(make_sweep(at_second(60 * minute), 6000U * static_cast<unsigned>(minute)))));
  const auto bytes = bytes_with_gaps(dir);
  std::vector<std::uint32_t> read_at;
  for (const HistoryBucket& bucket : bytes) {
    read_at.push_back(bucket.index);
    EXPECT_NEAR(bucket.increase, 6000, 12) << bucket.index;
    EXPECT_NEAR(bucket.peak, 100, 1) << bucket.index;
  }
  EXPECT_EQ(read_at, (std::vector<std::uint32_t>{0, 1, 31, 32, 33, 34})) << "a sweep that is late leaves none";
}

TEST(HistoryGaps, AClockThatIsSetForwardMakesNoReadings) {
  const TempDir dir;
  auto store = must_open(dir.path());
  for (int minute = 0; minute <= 6; ++minute) {
    const int shown = minute < 3 ? minute : minute + 120;  // two hours forward
    ASSERT_TRUE(store->append_history(share(make_sweep(at_second(60 * shown), 6000U * static_cast<unsigned>(minute))),
                                      nullptr, std::chrono::minutes(minute)));
  }
  const auto bytes = bytes_with_gaps(dir);
  ASSERT_EQ(bytes.size(), 5U);
  EXPECT_EQ(bytes[1].index, 1U);
  EXPECT_EQ(bytes[2].index, 123U);
  for (const HistoryBucket& bucket : bytes) EXPECT_NEAR(bucket.increase, 6000, 12) << bucket.index;
}

TEST(HistoryGaps, APartOfAnIntervalHasItsRateAsItsPeak) {
  const TempDir dir;
  auto store = must_open(dir.path());
  for (int minute = 0; minute <= 3; ++minute)
    ASSERT_TRUE(
        store->append_history(share(make_sweep(at_second(60 * minute), 6000U * static_cast<unsigned>(minute)))));
  const auto bytes = bytes_with_gaps(dir, 20s);
  ASSERT_EQ(bytes.size(), 9U);
  for (const HistoryBucket& bucket : bytes) EXPECT_NEAR(bucket.peak, 100, 1) << bucket.index;
}

}  // namespace
}  // namespace weft::store
