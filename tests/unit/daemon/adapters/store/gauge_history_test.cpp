// SPDX-License-Identifier: Apache-2.0
// Optical power and temperature in port history: from what collectors read to buckets of an answer.
#include "daemon/adapters/store/history_codec.hpp"
#include "daemon/adapters/store/history_reader.hpp"
#include "daemon/adapters/store/schema.hpp"
#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<const Sweep> sweep_at(int minute) {
  Sweep sweep = make_sweep(at_second(kWholeHour + 60 * minute), 100U * static_cast<unsigned>(minute));
  const Topology& made = *sweep.topology;
  sweep.topology = std::make_shared<const Topology>(1, std::vector<Node>(made.nodes().begin(), made.nodes().end()),
                                                    std::vector<Port>(made.ports().begin(), made.ports().end()),
                                                    std::vector<DuplicateGuid>{}, LinkLayer::kEthernet,
                                                    std::vector<std::string>{"", "swp1", "swp2", "swp3", "swp4"});
  return share(std::move(sweep));
}

/// What the collector of the switch reads at port 2 in that minute: degrees, and nanowatts received.
HostListPtr hosts_at(int minute, std::int64_t degrees, std::int64_t nanowatts) {
  auto inventory = std::make_shared<HostInventory>();
  HostPort& port = inventory->ports.emplace_back();
  port.device = port.netdev = "swp2";
  std::vector<HostSeries> series(2);
  series[0].device = series[1].device = "swp2";
  series[0].name = "module_temperature";
  series[1].name = "module_receive_power";
  inventory->series = std::move(series);
  auto reading = std::make_shared<HostReading>();
  reading->taken = at_second(kWholeHour + 60 * minute);
  reading->inventory = inventory;
  reading->values = {static_cast<std::uint64_t>(degrees * 1000), static_cast<std::uint64_t>(nanowatts)};
  reading->present = {1, 1};
  auto host = std::make_shared<HostView>();
  host->host = "leaf-1";
  host->interval = 10s;
  host->reading = reading;
  return std::make_shared<const std::vector<std::shared_ptr<const HostView>>>(1, host);
}

/// A sweep a minute with `degrees(minute)`.
void write_degrees(Store& store, int first, int last, const std::function<std::int64_t(int)>& degrees) {
  for (int minute = first; minute <= last; ++minute)
    ASSERT_TRUE(store.append_history(sweep_at(minute), hosts_at(minute, degrees(minute), 500'000)));
}

void add_up(Store& store, int minute) {
  while (*store.maintain(at_second(kWholeHour + 60 * minute), {})) {
  }
}

HistoryQuestion question_of(Duration step, int minutes) {
  return {"compute",
          {kPort},
          {},
          at_second(kWholeHour),
          at_second(kWholeHour + 60 * minutes),
          step,
          {PortGauge::kTemperature}};
}

std::vector<GaugeBucket> read(const TempDir& dir, const HistoryQuestion& question) {
  const auto answer = read_history(dir.path(), question);
  if (answer && !answer->ports.at(0).gauges.empty()) return answer->ports[0].gauges[0].buckets;
  if (!answer) ADD_FAILURE() << answer.error().message;
  return {};
}

TEST(GaugeHistory, EveryFifthMomentTellsOfTheTimeSinceTheOneBefore) {
  const TempDir dir;
  auto store = must_open(dir.path());
  // 40 degrees, and 55 in minute 7, which is between two rows.
  write_degrees(*store, 0, 15, [](int minute) { return minute == 7 ? 55 : 40 + minute / 10; });
  auto database = open_database(dir.path() / "history.db", history_schema());
  EXPECT_EQ(database->number("SELECT count(*) FROM gauge_chunk"), 3);
  const auto buckets = read(dir, question_of(60s, 15));
  ASSERT_EQ(buckets.size(), 15U) << "each minute is spoken of";
  EXPECT_EQ(buckets[4].high, 40'000);
  EXPECT_EQ(buckets[5].high, 55'000);
  EXPECT_EQ(buckets[5].low, 40'000);
  EXPECT_EQ(buckets[9].last, 41'000);
  EXPECT_EQ(buckets[14].last, 41'000);
  const auto rough = read(dir, question_of(10min, 15));
  ASSERT_EQ(rough.size(), 2U);
  EXPECT_EQ(rough[0].last, 41'000);
  EXPECT_EQ(rough[0].low, 40'000);
  EXPECT_EQ(rough[0].high, 55'000);
}

TEST(GaugeHistory, StandsBesideTheCountersAndAloneWhereItIsAskedFor) {
  const TempDir dir;
  auto store = must_open(dir.path());
  write_degrees(*store, 0, 10, [](int) { return 40; });
  HistoryQuestion all = question_of(60s, 10);
  all.gauges.clear();
  const auto both = read_history(dir.path(), all);
  ASSERT_TRUE(both);
  ASSERT_EQ(both->ports.at(0).gauges.size(), 2U);
  EXPECT_EQ(both->ports[0].gauges[0].gauge, PortGauge::kReceivePower);
  EXPECT_NEAR(static_cast<double>(both->ports[0].gauges[0].buckets.at(0).last), 500'000, 12'000);
  EXPECT_FALSE(both->ports[0].counters.empty());
  EXPECT_TRUE(read_history(dir.path(), question_of(60s, 10))->ports.at(0).counters.empty());
  all.counters = {CounterId::kSymbolErrors};
  EXPECT_TRUE(read_history(dir.path(), all)->ports.at(0).gauges.empty());
}

TEST(GaugeHistory, AGapStaysAGap) {
  const TempDir dir;
  auto store = must_open(dir.path());
  write_degrees(*store, 0, 10, [](int) { return 40; });
  for (int minute = 11; minute <= 20; ++minute)  // the collector is silent
    ASSERT_TRUE(store->append_history(sweep_at(minute), hosts_at(10, 40, 1)));
  write_degrees(*store, 21, 25, [](int) { return 42; });
  store.reset();  // weftd was away until minute 40
  store = must_open(dir.path());
  write_degrees(*store, 40, 45, [](int) { return 43; });
  // And no sweep came until minute 60.
  write_degrees(*store, 60, 70, [](int) { return 44; });
  std::vector<int> known(70, 0);
  for (const GaugeBucket& bucket : read(dir, question_of(60s, 70)))
    known[bucket.index] = static_cast<int>(bucket.last / 1000);
  EXPECT_EQ(known[9], 40);
  for (int minute = 10; minute < 20; ++minute) EXPECT_EQ(known[minute], 0) << minute;
  EXPECT_EQ(known[24], 42);
  for (int minute = 25; minute < 40; ++minute) EXPECT_EQ(known[minute], 0) << minute;
  EXPECT_EQ(known[44], 43);
  for (int minute = 45; minute < 57; ++minute) EXPECT_EQ(known[minute], 0) << minute;
  EXPECT_EQ(known[65], 44);
}

TEST(GaugeHistory, HoursKeepTheLowestTheHighestAndTheLast) {
  const TempDir dir;
  auto store = must_open(dir.path());
  write_degrees(*store, 0, 130, [](int minute) { return minute == 30 ? 70 : minute == 90 ? 20 : 40; });
  const auto minutes = read(dir, question_of(1h, 120));
  add_up(*store, 130);
  auto database = open_database(dir.path() / "history.db", history_schema());
  EXPECT_EQ(database->number("SELECT count(*) FROM hour_gauge"), 2);
  database->run("DELETE FROM chunk; DELETE FROM gauge_chunk; DELETE FROM moment");
  ASSERT_TRUE(database->outcome());
  const auto hours = read(dir, question_of(1h, 120));
  for (const auto& buckets : {minutes, hours}) {
    ASSERT_EQ(buckets.size(), 2U);
    EXPECT_EQ(buckets[0].high, 70'000);
    EXPECT_EQ(buckets[0].low, 40'000);
    EXPECT_EQ(buckets[0].last, 40'000);
    EXPECT_EQ(buckets[1].low, 20'000);
    EXPECT_EQ(buckets[1].high, 40'000);
  }
}

class SharedGaugeHistory : public OnEachEngine {};
INSTANTIATE_TEST_SUITE_P(On, SharedGaugeHistory, ::testing::Values(Engine::kPostgres),
                         [](const auto&) { return "Postgres"; });

TEST_P(SharedGaugeHistory, IsTheSameInTheDatabaseOfAPair) {
  const TempDir dir;
  auto store = must_open(dir.path(), {.shares_history = true});
  write_degrees(*store, 0, 130, [](int minute) { return minute == 30 ? 70 : minute == 125 ? 20 : 40; });
  add_up(*store, 130);
  Database hand = by_hand(dir.path());
  EXPECT_EQ(hand.number("SELECT count(*) FROM gauge_chunk"), 26);
  EXPECT_EQ(hand.number("SELECT count(*) FROM hour_gauge"), 2);
  const auto answer = read_history(HistoryPlace{dir.path(), url_of(dir.path())}, question_of(1h, 130));
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(answer->ports.at(0).gauges.size(), 1U);
  const auto& buckets = answer->ports[0].gauges[0].buckets;
  ASSERT_EQ(buckets.size(), 3U);
  EXPECT_EQ(buckets[0].high, 70'000);
  EXPECT_EQ(buckets[0].low, 40'000);
  EXPECT_EQ(buckets[1].low, 40'000);
  EXPECT_EQ(buckets[2].low, 20'000) << "of minutes that no whole hour has";
}

TEST(GaugeHistory, GoesWithItsMoments) {
  const TempDir dir;
  auto store = must_open(dir.path(), {.history_retention = 1h});
  write_degrees(*store, 0, 300, [](int) { return 40; });
  add_up(*store, 300);
  auto database = open_database(dir.path() / "history.db", history_schema());
  EXPECT_LE(database->number("SELECT count(*) FROM gauge_chunk"), 13);
  EXPECT_LE(database->number("SELECT count(*) FROM hour_gauge"), 2);
  EXPECT_EQ(database->number("SELECT count(*) FROM gauge_chunk WHERE id >> 24 NOT IN (SELECT id FROM moment)"), 0);
}

TEST(GaugeHistory, AFileOfTheVersionBeforeIsReadAndGoesOn) {
  const TempDir dir;
  {
    Schema before = history_schema();
    before.migrations = before.migrations.first(3);
    ASSERT_TRUE(open_database(dir.path() / "history.db", before));
    Database history(std::move(*SqliteConnection::open(dir.path() / "history.db")));
    Transaction transaction(history);
    Statement(history, "INSERT INTO port VALUES (0, 'compute', ?, ?, ?)")
        .run(kPort.node.value, kPort.port.value, at_second(kWholeHour));
    ChunkPort grown;
    grown.present = (1U << kHistoryCounters.size()) - 1;
    grown.increase[5] = 3;
    for (int minute = 1; minute <= 10; ++minute) {
      Statement(history, "INSERT INTO moment (fabric, at, span) VALUES ('compute', ?, ?)")
          .run(at_second(kWholeHour + 60 * minute), Duration(1min));
      Statement(history, "INSERT INTO chunk VALUES (?, ?)")
          .run(std::int64_t{minute} << 24, encode_chunk(std::vector{grown}));
    }
    ASSERT_TRUE(transaction.commit());
  }
  auto store = must_open(dir.path());  // the new weftd
  write_degrees(*store, 11, 21, [](int) { return 40; });
  HistoryQuestion all = question_of(60s, 21);
  all.gauges.clear();
  const auto answer = read_history(dir.path(), all);
  ASSERT_TRUE(answer) << answer.error().message;
  const auto& counters = answer->ports.at(0).counters;
  const auto errors = std::ranges::find(counters, CounterId::kSymbolErrors, &CounterHistory::counter);
  ASSERT_NE(errors, counters.end());
  EXPECT_EQ(errors->total, 30U + 10U);
  ASSERT_EQ(answer->ports[0].gauges.size(), 2U);
  EXPECT_GE(answer->ports[0].gauges[0].buckets.at(0).index, 9U) << "of before nothing is known";
}

TEST(GaugeHistory, ADamagedRowIsAGap) {
  const TempDir dir;
  auto store = must_open(dir.path());
  write_degrees(*store, 0, 15, [](int) { return 40; });
  auto database = open_database(dir.path() / "history.db", history_schema());
  database->run("UPDATE gauge_chunk SET data = x'0102' WHERE id >> 24 = 10");
  ASSERT_TRUE(database->outcome());
  EXPECT_EQ(read(dir, question_of(60s, 15)).size(), 5U) << "what tells differences to it is lost, too";
  write_degrees(*store, 16, 70, [](int) { return 40; });
  const auto later = read(dir, question_of(60s, 70));
  EXPECT_EQ(later.back().index, 69U);
  EXPECT_EQ(later.size(), 5U + 10U) << "the next hour begins with a whole row";
}

TEST(GaugeHistory, IsReadFromTheMiddleOfAnHour) {
  const TempDir dir;
  auto store = must_open(dir.path());
  write_degrees(*store, 0, 50, [](int minute) { return 40 + minute; });
  HistoryQuestion question = question_of(60s, 50);
  question.from = at_second(kWholeHour + 60 * 32);
  const auto buckets = read(dir, question);
  ASSERT_EQ(buckets.size(), 18U);
  EXPECT_EQ(buckets[0].index, 0U);
  EXPECT_EQ(buckets[0].last, 75'000) << "of the row that ends at minute 35";
  EXPECT_EQ(buckets[0].low, 71'000);
  question.to = at_second(kWholeHour + 60 * 33);
  EXPECT_EQ(read(dir, question).at(0).last, 75'000);
}

}  // namespace
}  // namespace weft::store
