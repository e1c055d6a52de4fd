// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "daemon/adapters/store/history_codec.hpp"
#include "daemon/adapters/store/history_reader.hpp"
#include "daemon/adapters/store/schema.hpp"
#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Length of a tick of transmit_wait, in seconds.
constexpr float kTick = 0.001F;

/// Two switches of four ports, GUIDs 1 and 2. Until that minute port 2 of the first has waited `slow` ms altogether,
/// port 3 `fast` ms, and those of the second not at all.
std::shared_ptr<const Sweep> sweep_at(int minute, std::uint64_t slow, std::uint64_t fast, bool reads_second = true) {
  const TimePoint when = at_second(kWholeHour + 60 * minute);
  Sweep sweep = make_sweep(when, 0);
  std::vector<Node> nodes(sweep.topology->nodes().begin(), sweep.topology->nodes().end());
  std::vector<Port> ports(sweep.topology->ports().begin(), sweep.topology->ports().end());
  nodes.push_back(nodes[0]);
  nodes[1].guid = NodeGuid{2};
  nodes[1].first_port = 5;
  for (std::size_t i = 0; i < 5; ++i) {
    ports.push_back(ports[i]);
    ports.back().node = 1;
  }
  SampleTable table = SampleTable::of_group(CounterGroup::kEverySweep, ports.size());
  for (std::size_t row = 1; row < ports.size(); ++row) {
    if (row >= 5 && !reads_second) continue;
    table.set(row, table.column(CounterId::kTransmitWait), row == 2 ? slow : row == 3 ? fast : 0, false);
    table.set_read_at(row, when);
  }
  sweep.topology = std::make_shared<const Topology>(1, nodes, ports, std::vector<DuplicateGuid>{});
  sweep.counters = std::make_shared<const SampleTable>(std::move(table));
  return share(std::move(sweep));
}

StallQuestion question(int from, int to, Duration step = 1min) {
  StallQuestion asked{"compute", {}, 2, at_second(kWholeHour + 60 * from), at_second(kWholeHour + 60 * to), step};
  for (std::uint32_t row = 0; row < 2; ++row)
    for (std::uint16_t port = 1; port <= 4; ++port)
      asked.ports.push_back({{NodeGuid{row + 1}, PortNum{port}}, row, kTick});
  return asked;
}

StallAnswer must_read(const HistoryPlace& place, const StallQuestion& asked) {
  const auto answer = read_stall(place, asked);
  if (!answer) ADD_FAILURE() << answer.error().message;
  return answer ? *answer : StallAnswer{{}, 1, std::vector<StallRow>(asked.rows)};
}

std::vector<std::uint32_t> indexes(const StallRow& row) {
  std::vector<std::uint32_t> found;
  for (const StallBucket& bucket : row.buckets) found.push_back(bucket.index);
  return found;
}

class StallReader : public OnEachEngine {
 protected:
  std::unique_ptr<SqlStore> open() {
    return must_open(dir.path(), {.shares_history = GetParam() == Engine::kPostgres});
  }
  HistoryPlace place() const { return {dir.path(), GetParam() == Engine::kPostgres ? url_of(dir.path()) : ""}; }
  const TempDir dir;
};
INSTANTIATE_ON_EACH_ENGINE(StallReader);

TEST_P(StallReader, OfEachSwitchThePortThatWaitsMostAtTheTimeCounts) {
  auto store = open();
  // Minute 1: port 2 waits half of it, port 3 a tenth. Minute 2: port 2 not at all, port 3 all of it.
  ASSERT_TRUE(store->append_history(sweep_at(0, 0, 0)));
  ASSERT_TRUE(store->append_history(sweep_at(1, 30'000, 6'000)));
  ASSERT_TRUE(store->append_history(sweep_at(2, 30'000, 66'000)));
  const StallAnswer answer = must_read(place(), question(0, 3));
  ASSERT_EQ(answer.rows.size(), 2U);
  EXPECT_EQ(answer.read_every, 1U);
  const StallRow& first = answer.rows[0];
  ASSERT_THAT(indexes(first), ElementsAre(0U, 1U)) << "of the third minute nothing is known";
  EXPECT_NEAR(first.buckets[0].share, 0.5, 0.002);
  EXPECT_NEAR(first.buckets[1].share, 1.0, 0.002);
  EXPECT_NEAR(first.share, 0.75, 0.002);
  EXPECT_EQ(first.worst, (PortKey{NodeGuid{1}, PortNum{3}}));
  EXPECT_THAT(indexes(answer.rows[1]), ElementsAre(0U, 1U)) << "it was read, and did not wait";
  EXPECT_EQ(answer.rows[1].share, 0);
  EXPECT_EQ(answer.rows[1].worst, PortKey{});
}

TEST_P(StallReader, WhatWasNotReadIsAbsentAndNotZero) {
  auto store = open();
  ASSERT_TRUE(store->append_history(sweep_at(0, 0, 0)));
  ASSERT_TRUE(store->append_history(sweep_at(1, 600, 0)));
  ASSERT_TRUE(store->append_history(sweep_at(2, 1200, 0, false)));
  store.reset();
  store = open();  // away for seven minutes
  ASSERT_TRUE(store->append_history(sweep_at(9, 1200, 0)));
  ASSERT_TRUE(store->append_history(sweep_at(10, 1800, 0)));
  const StallAnswer answer = must_read(place(), question(0, 10));
  EXPECT_THAT(indexes(answer.rows[0]), ElementsAre(0U, 1U, 9U));
  EXPECT_THAT(indexes(answer.rows[1]), ElementsAre(0U, 9U));
  StallQuestion unknown = question(0, 10);
  for (StallQuestion::Port& port : unknown.ports) port.tick_seconds = 0;
  EXPECT_TRUE(must_read(place(), unknown).rows[0].buckets.empty()) << "nobody knows what a tick is";
}

TEST_P(StallReader, DaysAreReadFromWholeHoursAndTheMinutesSince) {
  auto store = open();
  // A tenth of the time in the first hour, none in the second, all of the last ten minutes.
  for (int minute = 0; minute <= 130; ++minute) {
    const int slow = std::min(minute, 60) * 6'000 + std::max(0, minute - 120) * 60'000;
    ASSERT_TRUE(store->append_history(sweep_at(minute, static_cast<std::uint64_t>(slow), 0)));
  }
  int steps = 0;
  while (*store->maintain(at_second(kWholeHour + 60 * 130), {}) && ++steps < 10'000) {
  }
  StallQuestion days = question(-5 * 24 * 60, 130, 1h);
  const StallAnswer answer = must_read(place(), days);
  EXPECT_EQ(answer.step, 1h);
  ASSERT_THAT(indexes(answer.rows[0]), ElementsAre(120U, 121U, 122U));
  EXPECT_NEAR(answer.rows[0].buckets[0].share, 0.1, 0.002);
  EXPECT_EQ(answer.rows[0].buckets[1].share, 0);
  EXPECT_NEAR(answer.rows[0].buckets[2].share, 1, 0.002);
}

TEST(StallReaderOfFiles, OfALargeFabricAPartIsReadAndNoPartOfTheTimeIsLeftOut) {
  const TempDir dir;
  { auto store = must_open(dir.path()); }
  // 100 chunks of ports in each of 700 minutes are more than are read at once.
  constexpr std::int64_t kChunks = 100;
  constexpr int kMinutes = 700;
  auto history = open_database(dir.path() / "history.db", history_schema());
  ASSERT_TRUE(history);
  StallQuestion asked{"compute", {}, kChunks, at_second(0), at_second(60 * kMinutes), 10min};
  {
    Transaction transaction(*history);
    Statement port(*history, "INSERT INTO port VALUES (?, 'compute', ?, 1, 0)");
    for (std::int64_t chunk = 0; chunk < kChunks; ++chunk) {
      port.run(chunk * 256, chunk + 1);
      asked.ports.push_back(
          {{NodeGuid{static_cast<std::uint64_t>(chunk) + 1}, PortNum{1}}, static_cast<std::uint32_t>(chunk), kTick});
    }
    ChunkPort waits;
    waits.present = (1U << kHistoryCounters.size()) - 1;
    waits.increase[4] = 30'000;
    const std::vector<std::byte> data = encode_chunk(std::vector{waits});
    Statement moment(*history, "INSERT INTO moment (fabric, at, span) VALUES ('compute', ?, ?)");
    Statement chunk(*history, "INSERT INTO chunk VALUES (?, ?)");
    for (int minute = 1; minute <= kMinutes; ++minute) {
      moment.run(at_second(60 * minute), Duration(1min));
      for (std::int64_t i = 0; i < kChunks; ++i) chunk.run(std::int64_t{minute} << 24 | i, data);
    }
    ASSERT_TRUE(transaction.commit());
  }
  const StallAnswer answer = must_read({dir.path()}, asked);
  EXPECT_EQ(answer.read_every, 7U) << "70,000 chunks, and 10,000 are read";
  EXPECT_EQ(answer.step, 10min);
  ASSERT_EQ(answer.rows.size(), static_cast<std::size_t>(kChunks));
  for (const StallRow& row : answer.rows) {
    EXPECT_EQ(row.buckets.size(), 70U) << "each bucket has a reading";
    EXPECT_NEAR(row.share, 0.5, 0.002);
  }
  asked.step = 1min;
  const StallAnswer fine = must_read({dir.path()}, asked);
  EXPECT_EQ(fine.step, 7min) << "what is not read is no gap";
  EXPECT_EQ(fine.rows[0].buckets.size(), 100U);
}

TEST(StallReaderOfFiles, RefusesWhatIsNoneOrTooMuch) {
  const TempDir dir;
  EXPECT_EQ(read_stall({dir.path()}, question(0, 10)).error().code, ErrorCode::kUnavailable);
  auto store = must_open(dir.path());
  EXPECT_EQ(read_stall({dir.path()}, question(0, 10)).error().code, ErrorCode::kNotFound);
  StallQuestion none = question(10, 10);
  EXPECT_EQ(read_stall({dir.path()}, none).error().code, ErrorCode::kInvalidArgument);
  StallQuestion years = question(0, 60 * 24 * 365 * 40, 1s);
  EXPECT_THAT(read_stall({dir.path()}, years).error().message, HasSubstr("more than a million values"));
  StallQuestion wrong = question(0, 10);
  wrong.ports[0].row = 2;
  EXPECT_EQ(read_stall({dir.path()}, wrong).error().code, ErrorCode::kInvalidArgument);
}

TEST(StallReaderOfFiles, ADamagedChunkIsAGap) {
  const TempDir dir;
  auto store = must_open(dir.path());
  for (int minute = 0; minute <= 2; ++minute)
    ASSERT_TRUE(store->append_history(sweep_at(minute, 600U * static_cast<unsigned>(minute), 0)));
  auto history = open_database(dir.path() / "history.db", history_schema());
  history->run("UPDATE chunk SET data = x'00' WHERE id = (SELECT min(id) FROM chunk)");
  ASSERT_TRUE(history->outcome());
  EXPECT_THAT(indexes(must_read({dir.path()}, question(0, 2)).rows[0]), ElementsAre(1U));
}

}  // namespace
}  // namespace weft::store
