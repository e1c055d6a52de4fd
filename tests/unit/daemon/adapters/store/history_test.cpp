// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/history.hpp"

#include "daemon/adapters/store/history_codec.hpp"
#include "daemon/adapters/store/history_reader.hpp"
#include "daemon/adapters/store/schema.hpp"
#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

using namespace std::chrono_literals;

/// The interval up to second `n` × `step` is in bucket `n` - 1.
HistoryQuestion question_of(CounterId counter, PortKey port = kPort, Duration step = 60s) {
  return {"compute", {port}, {counter}, at_second(0), at_second(100'000), step};
}

/// Oldest first.
std::vector<HistoryBucket> read(const TempDir& dir, CounterId counter, PortKey port = kPort, Duration step = 60s) {
  const auto answer = read_history(dir.path(), question_of(counter, port, step));
  if (answer)
    return answer->ports.at(0).counters.empty() ? std::vector<HistoryBucket>{} : answer->ports[0].counters[0].buckets;
  ADD_FAILURE() << answer.error().message;
  return {};
}

TEST(History, TakesOneSweepInEachIntervalAndGivesTheGrowth) {
  const TempDir dir;
  auto store = must_open(dir.path());
  for (int second = 0; second <= 180; ++second)
    ASSERT_TRUE(store->append_history(share(make_sweep(at_second(second), 100U * static_cast<unsigned>(second)))));
  const auto bytes = read(dir, CounterId::kTransmitBytes);
  ASSERT_EQ(bytes.size(), 3U);
  EXPECT_EQ(bytes[0].index, 0U);
  EXPECT_EQ(bytes[0].covered, 60s);
  EXPECT_NEAR(bytes[1].increase, 6000, 12);
  const auto errors = read(dir, CounterId::kSymbolErrors);
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
  const auto points = read(dir, CounterId::kSymbolErrors);
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].increase, 6U);
  EXPECT_EQ(points[1].increase, 7U);
  HistoryQuestion part = question_of(CounterId::kSymbolErrors);
  part.from = at_second(120);
  part.to = at_second(180);
  EXPECT_EQ(read_history(dir.path(), part)->ports.at(0).counters.at(0).buckets.size(), 1U);
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
  const auto points = read(dir, CounterId::kSymbolErrors);
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].increase, 3U);
  EXPECT_EQ(points[1].increase, 65532U);
  EXPECT_TRUE(read_history(dir.path(), question_of(CounterId::kSymbolErrors))->ports.at(0).counters.at(0).at_least);
  HistoryQuestion before = question_of(CounterId::kSymbolErrors);
  before.to = at_second(61);
  EXPECT_FALSE(read_history(dir.path(), before)->ports.at(0).counters.at(0).at_least);
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
  EXPECT_TRUE(read(dir, CounterId::kTransmitBytes).empty());
  EXPECT_EQ(read(dir, CounterId::kTransmitBytes, {NodeGuid{1}, PortNum{1}}).size(), 1U);
  EXPECT_TRUE(read(dir, CounterId::kReceiveBytes, {NodeGuid{1}, PortNum{1}}).empty());  // never read at all
}

TEST(History, APortIsFoundAgainWhenTheTopologyIsLaidOutAnew) {
  const TempDir dir;
  auto store = must_open(dir.path());
  ASSERT_TRUE(store->append_history(share(make_sweep(at_second(0), 0))));
  ASSERT_TRUE(store->append_history(share(make_sweep(at_second(60), 100, 4))));
  ASSERT_TRUE(store->append_history(share(make_sweep(at_second(120), 300, 8))));  // its ports have more neighbours now
  ASSERT_TRUE(store->append_history(share(make_sweep(at_second(180), 600, 3))));
  const auto points = read(dir, CounterId::kSymbolErrors);
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[2].increase, 3U);
  EXPECT_EQ(read(dir, CounterId::kSymbolErrors, {NodeGuid{1}, PortNum{8}}).size(), 0U);  // seen once only
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
    const auto points = read(dir, CounterId::kSymbolErrors, {NodeGuid{1}, PortNum{static_cast<std::uint16_t>(number)}});
    ASSERT_EQ(points.size(), 2U) << number;
    for (const HistoryBucket& point : points) EXPECT_EQ(point.increase, grown) << number;
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
  EXPECT_EQ(read(dir, CounterId::kSymbolErrors)[0].increase, 1U);
  HistoryQuestion other = question_of(CounterId::kSymbolErrors);
  other.fabric = "storage";
  const auto points = read_history(dir.path(), other)->ports.at(0).counters.at(0).buckets;
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[1].increase, 5U);
}

TEST(History, SaysWhatItDoesNotHave) {
  const TempDir dir;
  auto store = must_open(dir.path());
  const auto unknown = read_history(dir.path(), question_of(CounterId::kTransmitBytes));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  const auto not_kept = read_history(dir.path(), question_of(CounterId::kUnknownBlocks));
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
  const auto points = read(dir, CounterId::kTransmitBytes);
  ASSERT_EQ(points.size(), 11U);
  EXPECT_EQ(points.front().index, 19U);
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
  const auto points = read(dir, CounterId::kTransmitBytes, kPort, 1s);
  EXPECT_GT(points.size(), 100U);
  EXPECT_LT(points.size(), 4000U);
  EXPECT_EQ(points.back().index, 4999U);
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
  EXPECT_EQ(read(dir, CounterId::kTransmitBytes, kPort, 1s).size(), 61U);
}

/// A sweep a minute; the symbol errors of minute `m` come to `errors(m)` altogether.
void write_minutes(Store& store, int first, int last, const std::function<unsigned(int)>& errors,
                   std::uint16_t ports = 2) {
  for (int minute = first; minute <= last; ++minute)
    ASSERT_TRUE(
        store.append_history(share(make_sweep(at_second(kWholeHour + 60 * minute), 100U * errors(minute), ports))));
}

void add_up(Store& store, TimePoint now) {
  int steps = 0;
  while (*store.maintain(now, {}) && ++steps < 10'000) {
  }
  EXPECT_LT(steps, 10'000);
}

HistoryQuestion days_of(CounterId counter, PortKey port = kPort) {
  return {"compute", {port}, {counter}, at_second(kWholeHour), at_second(10 * 86'400), 1h};
}

TEST(HistoryHours, SumsAndPeaksOfMinutes) {
  const TempDir dir;
  auto store = must_open(dir.path());
  // One error a minute, and 600 more within minute 90: 10 a second.
  write_minutes(*store, 0, 200, [](int minute) { return static_cast<unsigned>(minute) + (minute >= 90 ? 600U : 0U); });
  const HistoryAnswer minutes = *read_history(dir.path(), days_of(CounterId::kSymbolErrors));
  add_up(*store, at_second(kWholeHour + 60 * 200));
  const HistoryAnswer hours = *read_history(dir.path(), days_of(CounterId::kSymbolErrors));
  for (const HistoryAnswer& answer : {minutes, hours}) {
    EXPECT_EQ(answer.step, 1h);
    const auto& buckets = answer.ports.at(0).counters.at(0).buckets;
    ASSERT_EQ(buckets.size(), 4U);
    EXPECT_EQ(buckets[0].increase, 60U);
    EXPECT_EQ(buckets[1].increase, 660U);
    EXPECT_EQ(buckets[3].increase, 20U);
    EXPECT_EQ(buckets[0].covered, 1h);
    EXPECT_EQ(buckets[3].covered, 20min);
    EXPECT_NEAR(buckets[0].peak, 1.0 / 60, 1e-9);
    EXPECT_NEAR(buckets[1].peak, 601.0 / 60, 1e-9);
  }
}

TEST(HistoryHours, AreReadAfterTheirMinutesAreGone) {
  const TempDir dir;
  auto store = must_open(dir.path());
  write_minutes(*store, 0, 130, [](int minute) { return static_cast<unsigned>(minute); });
  add_up(*store, at_second(kWholeHour + 60 * 130));
  auto database = open_database(dir.path() / "history.db", history_schema());
  database->run("DELETE FROM chunk; DELETE FROM moment");
  ASSERT_TRUE(database->outcome());
  const HistoryAnswer hours = *read_history(dir.path(), days_of(CounterId::kSymbolErrors));
  const auto& buckets = hours.ports.at(0).counters.at(0).buckets;
  ASSERT_EQ(buckets.size(), 2U);
  EXPECT_EQ(buckets[0].increase + buckets[1].increase, 120U);
}

TEST(HistoryHours, GoOnAfterARestartInTheMiddleOfAnHour) {
  const TempDir dir;
  const auto errors = [](int minute) { return static_cast<unsigned>(minute); };
  {
    auto store = must_open(dir.path());
    write_minutes(*store, 0, 70, errors, 12'000);  // 47 chunks, of which a step does 33
    ASSERT_TRUE(*store->maintain(at_second(kWholeHour + 60 * 70), {})) << "there must be more to do";
    EXPECT_EQ(
        read_history(dir.path(), days_of(CounterId::kSymbolErrors))->ports.at(0).counters.at(0).buckets.at(0).increase,
        60U)
        << "an hour that is not whole is not read";
  }
  auto store = must_open(dir.path());
  add_up(*store, at_second(kWholeHour + 60 * 70));
  for (const auto port : std::array<std::uint16_t, 2>{1, 11'999}) {
    const auto answer = read_history(dir.path(), days_of(CounterId::kSymbolErrors, {NodeGuid{1}, PortNum{port}}));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->ports.at(0).counters.at(0).buckets.at(0).increase, 60U);
  }
}

TEST(HistoryHours, OfAHistoryFromBeforeThereWereAnyAreAddedUp) {
  const TempDir dir;
  {
    Schema before = history_schema();
    before.migrations = before.migrations.first(1);  // ports, moments and chunks
    ASSERT_TRUE(open_database(dir.path() / "history.db", before));
    Database history(std::move(*SqliteConnection::open(dir.path() / "history.db")));
    Transaction transaction(history);
    Statement port(history, "INSERT INTO port VALUES (0, 'compute', ?, ?, ?)");
    port.run(kPort.node.value, kPort.port.value, at_second(kWholeHour));
    ChunkPort grown;
    grown.present = (1U << kHistoryCounters.size()) - 1;
    grown.increase[5] = 3;
    ASSERT_EQ(kHistoryCounters[5], CounterId::kSymbolErrors);
    for (int minute = 1; minute <= 130; ++minute) {
      Statement(history, "INSERT INTO moment (fabric, at, span) VALUES ('compute', ?, ?)")
          .run(at_second(kWholeHour + 60 * minute), Duration(1min));
      Statement(history, "INSERT INTO chunk VALUES (?, ?)")
          .run(std::int64_t{minute} << 24, encode_chunk(std::vector{grown}));
    }
    ASSERT_TRUE(transaction.commit());
  }
  auto store = must_open(dir.path());  // the new weftd
  const auto minutes = read_history(dir.path(), days_of(CounterId::kSymbolErrors));
  ASSERT_TRUE(minutes) << minutes.error().message;
  EXPECT_EQ(minutes->ports.at(0).counters.at(0).total, 390U);
  add_up(*store, at_second(kWholeHour + 60 * 130));
  auto database = open_database(dir.path() / "history.db", history_schema());
  EXPECT_EQ(database->number("SELECT count(*) FROM hour WHERE next_chunk IS NULL"), 2);
  const auto hours = read_history(dir.path(), days_of(CounterId::kSymbolErrors));
  ASSERT_TRUE(hours) << hours.error().message;
  EXPECT_EQ(hours->ports.at(0).counters.at(0).total, 390U) << "nothing is lost, and nothing counted twice";
  EXPECT_EQ(hours->ports.at(0).counters.at(0).buckets.at(0).increase, 180);
}

TEST(HistoryHours, AreKeptAsLongAsMinutes) {
  const TempDir dir;
  auto store = must_open(dir.path(), {.history_retention = 5h});
  write_minutes(*store, 0, 60 * 12, [](int) { return 0U; });
  add_up(*store, at_second(kWholeHour + 3600 * 12));
  const HistoryAnswer answer = *read_history(dir.path(), days_of(CounterId::kSymbolErrors));
  EXPECT_EQ(answer.ports.at(0).counters.at(0).buckets.front().index, 6U);
}

TEST(HistoryReader, SharesAnIntervalAmongTheBucketsThatItReachesInto) {
  const TempDir dir;
  auto store = must_open(dir.path());
  write_minutes(*store, 0, 3, [](int minute) { return static_cast<unsigned>(60 * minute); });
  HistoryQuestion question = question_of(CounterId::kSymbolErrors);
  question.from = at_second(kWholeHour - 30);  // each minute is half in one bucket and half in the next
  const CounterHistory counter = read_history(dir.path(), question)->ports.at(0).counters.at(0);
  ASSERT_EQ(counter.buckets.size(), 4U);
  EXPECT_DOUBLE_EQ(counter.buckets[0].increase, 30);
  EXPECT_DOUBLE_EQ(counter.buckets[1].increase, 60);
  EXPECT_DOUBLE_EQ(counter.buckets[3].increase, 30);
  EXPECT_EQ(counter.buckets[0].covered, 30s);
  EXPECT_EQ(counter.total, 180U);
}

TEST(HistoryHours, AGapIsAGap) {
  const TempDir dir;
  auto store = must_open(dir.path());
  write_minutes(*store, 0, 60, [](int) { return 0U; });
  store.reset();
  store = must_open(dir.path());  // away for four hours
  write_minutes(*store, 300, 421, [](int) { return 0U; });
  add_up(*store, at_second(kWholeHour + 60 * 421));
  std::vector<std::uint32_t> indexes;
  const HistoryAnswer answer = *read_history(dir.path(), days_of(CounterId::kSymbolErrors));
  for (const HistoryBucket& bucket : answer.ports.at(0).counters.at(0).buckets) indexes.push_back(bucket.index);
  EXPECT_EQ(indexes, (std::vector<std::uint32_t>{0, 5, 6, 7}));
}

TEST(HistoryHours, ATimeThatDoesNotEndWithAnHourHasItsMinutes) {
  const TempDir dir;
  auto store = must_open(dir.path());
  write_minutes(*store, 0, 400, [](int minute) { return static_cast<unsigned>(minute); });
  add_up(*store, at_second(kWholeHour + 60 * 400));
  HistoryQuestion question = days_of(CounterId::kSymbolErrors);
  question.from = at_second(kWholeHour + 60 * 30 - 4 * 86'400);
  question.to = at_second(kWholeHour + 60 * 330);
  EXPECT_EQ(read_history(dir.path(), question)->ports.at(0).counters.at(0).total, 330U);
  question.from = at_second(kWholeHour + 60 * 30);
  EXPECT_EQ(read_history(dir.path(), question)->ports.at(0).counters.at(0).total, 300U);
}

TEST(HistoryHours, AClockThatRanAheadHidesNothing) {
  const TempDir dir;
  auto store = must_open(dir.path());
  const auto still = [](int) { return 0U; };
  write_minutes(*store, 0, 2, still);
  write_minutes(*store, 10 * 1440, 10 * 1440 + 3, still);
  write_minutes(*store, 11 * 1440, 11 * 1440 + 3, still);
  add_up(*store, at_second(kWholeHour + 60 * 11 * 1440));
  write_minutes(*store, 3, 200, [](int minute) { return static_cast<unsigned>(minute); });
  HistoryQuestion question = days_of(CounterId::kSymbolErrors);
  question.to = at_second(kWholeHour + 60 * 200);
  question.from = question.to - 24h * 7;
  const auto total = [&] { return read_history(dir.path(), question)->ports.at(0).counters.at(0).total; };
  EXPECT_EQ(total(), 197U);
  add_up(*store, at_second(kWholeHour + 60 * 200));
  EXPECT_EQ(total(), 197U);
  auto database = open_database(dir.path() / "history.db", history_schema());
  EXPECT_GE(database->number("SELECT count(*) FROM hour WHERE at < 1701000000000000000"), 3)
      << "they are added up, too";
}

TEST(HistoryHours, AnHourThatIsBegunIsEndedAlsoWhereTheClockHadRunAhead) {
  const TempDir dir;
  auto store = must_open(dir.path());
  const auto still = [](int) { return 0U; };
  write_minutes(*store, 10 * 1440, 10 * 1440 + 1, still, 12'000);
  write_minutes(*store, 11 * 1440, 11 * 1440 + 1, still, 12'000);
  add_up(*store, at_second(kWholeHour + 60 * 11 * 1440));
  write_minutes(*store, 0, 70, still, 12'000);  // 47 chunks, of which a step does 33
  add_up(*store, at_second(kWholeHour + 60 * 70));
  auto database = open_database(dir.path() / "history.db", history_schema());
  EXPECT_EQ(database->number("SELECT count(*) FROM hour WHERE next_chunk IS NOT NULL"), 0);
  EXPECT_EQ(database->number("SELECT count(*) FROM hour"), 3) << "two of when it ran ahead, and the first of now";
}

TEST(HistoryHours, TheOldestGoesFirstAlsoWhereItIsAnHour) {
  const TempDir dir;
  auto store = must_open(dir.path(), {.max_history_bytes = 1 << 20});
  write_minutes(
      *store, 0, 61, [](int minute) { return static_cast<unsigned>(minute); }, 4000);
  add_up(*store, at_second(kWholeHour + 60 * 61));
  auto database = open_database(dir.path() / "history.db", history_schema());
  database->run(
      "INSERT INTO hour (fabric, at, span) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
      "300) "
      "SELECT 'compute', (SELECT min(at) FROM moment) - i * 3600000000000, 3600000000000 FROM n");
  database->run(
      "INSERT INTO hour_chunk SELECT id << 24, randomblob(4000), randomblob(4000) FROM hour WHERE next_chunk IS NULL "
      "AND (id << 24) NOT IN (SELECT id FROM hour_chunk)");
  ASSERT_TRUE(database->outcome());
  const std::int64_t newest = database->number("SELECT max(at) FROM moment");
  add_up(*store, at_second(kWholeHour + 60 * 61));
  EXPECT_LE(store->status().history_bytes, 1U << 20);
  EXPECT_EQ(database->number("SELECT max(at) FROM moment"), newest) << "the newest stays";
  EXPECT_LT(database->number("SELECT count(*) FROM hour"), 200);
}

TEST(HistoryReader, WritesNothingIntoAFileThatWasPutInItsPlace) {
  const TempDir dir;
  auto store = must_open(dir.path());
  write_minutes(*store, 0, 3, [](int) { return 0U; });
  std::filesystem::rename(dir.path() / "history.db", dir.path() / "aside");
  write_file(dir.path() / "history.db", "");
  EXPECT_EQ(read_history(dir.path(), question_of(CounterId::kSymbolErrors)).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(std::filesystem::file_size(dir.path() / "history.db"), 0U);
  EXPECT_FALSE(store->append_history(share(make_sweep(at_second(kWholeHour + 60 * 4), 0, 2)))) << "it was replaced";
  EXPECT_FALSE(store->status().ok);
  std::filesystem::rename(dir.path() / "aside", dir.path() / "history.db");
  const auto again = store->append_history(share(make_sweep(at_second(kWholeHour + 60 * 5), 0, 2)));
  EXPECT_TRUE(again) << again.error().message;
  EXPECT_TRUE(read_history(dir.path(), question_of(CounterId::kSymbolErrors)));
}

TEST(HistoryReader, RefusesWhatIsTooMuch) {
  const TempDir dir;
  auto store = must_open(dir.path());
  write_minutes(*store, 0, 2, [](int) { return 0U; });
  HistoryQuestion question = days_of(CounterId::kSymbolErrors);
  question.step = 1ms;
  EXPECT_EQ(read_history(dir.path(), question).error().code, ErrorCode::kInvalidArgument);
  question = days_of(CounterId::kSymbolErrors);
  question.to = question.from;
  EXPECT_EQ(read_history(dir.path(), question).error().code, ErrorCode::kInvalidArgument);
  question = days_of(CounterId::kSymbolErrors);
  question.counters.clear();
  question.ports.assign(1000, kPort);
  EXPECT_EQ(read_history(dir.path(), question).error().code, ErrorCode::kInvalidArgument);
}

TEST(HistoryReader, ADamagedChunkIsAGapAndAMissingFileIsSaid) {
  const TempDir dir;
  auto store = must_open(dir.path());
  write_minutes(*store, 0, 3, [](int minute) { return static_cast<unsigned>(minute); });
  auto database = open_database(dir.path() / "history.db", history_schema());
  database->run("UPDATE chunk SET data = x'0102' WHERE id >> 24 = 2");
  ASSERT_TRUE(database->outcome());
  HistoryQuestion question = question_of(CounterId::kSymbolErrors);
  question.from = at_second(kWholeHour);
  EXPECT_EQ(read_history(dir.path(), question)->ports.at(0).counters.at(0).buckets.size(), 2U);
  std::filesystem::remove(dir.path() / "history.db");
  const auto missing = read_history(dir.path(), question_of(CounterId::kSymbolErrors));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kUnavailable);
  EXPECT_FALSE(std::filesystem::exists(dir.path() / "history.db"));
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
