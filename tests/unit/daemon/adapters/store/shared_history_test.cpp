// SPDX-License-Identifier: Apache-2.0
// Port history in the database of a pair: the leader writes it, the standby reads it and goes on with it.
#include <gmock/gmock.h>

#include <thread>

#include "daemon/adapters/store/history_reader.hpp"
#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class SharedHistory : public OnEachEngine {
 protected:
  void SetUp() override {
    OnEachEngine::SetUp();
    if (!IsSkipped()) url = url_of(dir.path());
  }
  /// One of a pair: a directory of its own, and the database that goes with `dir`.
  std::unique_ptr<SqlStore> open_second() {
    auto store = SqlStore::open(other.path(), {.url = url, .stands_by = true, .shares_history = true});
    EXPECT_TRUE(store) << store.error().message;
    return store ? std::move(*store) : nullptr;
  }
  std::unique_ptr<SqlStore> open_first() { return must_open(dir.path(), {.shares_history = true}); }
  static void append(SqlStore& store, int from, int to) {
    for (int second = from; second <= to; second += 60)
      ASSERT_TRUE(store.append_history(share(make_sweep(at_second(second), 100U * static_cast<unsigned>(second)))));
  }
  HistoryQuestion question(Duration step = 60s) const {
    return {"compute",          {kPort}, {CounterId::kSymbolErrors, CounterId::kTransmitBytes}, at_second(0),
            at_second(100'000), step};
  }
  Result<HistoryAnswer> read(Duration step = 60s) const {
    return read_history(HistoryPlace{other.path(), url}, question(step));
  }
  std::uint64_t errors() const {
    const auto answer = read();
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? answer->ports.at(0).counters.at(0).total : 0;
  }

  /// A moment later each time, until it succeeds, for at most 30 s.
  static void append_in_time(SqlStore& store, int from, unsigned bytes) {
    for (int attempt = 0; attempt < 300; ++attempt) {
      if (store.append_history(share(make_sweep(at_second(from + 60 * attempt), bytes)))) return;
      std::this_thread::sleep_for(100ms);
    }
    ADD_FAILURE() << store.status().message;
  }

  const TempDir dir, other;
  std::string url;
  PostgresServer& server = PostgresServer::shared();
};
INSTANTIATE_TEST_SUITE_P(On, SharedHistory, ::testing::Values(Engine::kPostgres),
                         [](const auto&) { return "Postgres"; });

TEST_P(SharedHistory, GoesAlongToTheNextLeader) {
  auto first = open_first();
  auto second = open_second();
  ASSERT_EQ(read().error().code, ErrorCode::kNotFound);
  append(*first, 0, 180);
  EXPECT_FALSE(std::filesystem::exists(dir.path() / "history.db"));
  EXPECT_GT(first->status().history_bytes, 0U);
  append(*second, 0, 180);
  EXPECT_EQ(second->status().history_written, 0U) << "a standby writes nothing";
  EXPECT_EQ(errors(), 180U) << "the standby reads what the leader wrote";
  Database hand = by_hand(dir.path());
  hand.run("UPDATE weft_store SET epoch = epoch + 1");
  second->lead(hand.number("SELECT epoch FROM weft_store"));
  append(*second, 240, 300);
  EXPECT_EQ(second->status().history_written, 1U) << "it begins with a reading of its own";
  EXPECT_EQ(errors(), 240U);
  const auto late = first->append_history(share(make_sweep(at_second(240), 30'000)));
  ASSERT_FALSE(late);
  EXPECT_THAT(late.error().message, HasSubstr("another weftd has taken this database"));
  EXPECT_EQ(errors(), 240U);
}

TEST_P(SharedHistory, GivesTheAnswersThatAFileGives) {
  const TempDir file;
  auto local = SqlStore::open(file.path(), {});
  ASSERT_TRUE(local);
  auto first = open_first();
  for (const auto& store : {first.get(), local->get()}) {
    append(*store, 0, 3 * 3600);
    for (Result<bool> more = true; more && *more;) more = store->maintain(at_second(3 * 3600), {});
  }
  Database history(std::move(*SqliteConnection::open(file.path() / "history.db")));
  constexpr const char* kHours = "SELECT count(*) FROM hour WHERE next_chunk IS NULL";
  EXPECT_EQ(by_hand(dir.path()).number(kHours), history.number(kHours));
  EXPECT_GT(history.number(kHours), 1);
  for (const Duration step : {Duration(60s), Duration(1h)}) {
    const auto ours = read(step), theirs = read_history(file.path(), question(step));
    ASSERT_TRUE(ours) << ours.error().message;
    ASSERT_TRUE(theirs) << theirs.error().message;
    for (std::size_t i = 0; i < 2; ++i) {
      const CounterHistory &a = ours->ports.at(0).counters.at(i), &b = theirs->ports.at(0).counters.at(i);
      EXPECT_EQ(a.total, b.total);
      ASSERT_EQ(a.buckets.size(), b.buckets.size());
      for (std::size_t each = 0; each < a.buckets.size(); ++each) {
        EXPECT_EQ(a.buckets[each].index, b.buckets[each].index);
        EXPECT_EQ(a.buckets[each].increase, b.buckets[each].increase);
        EXPECT_EQ(a.buckets[each].covered, b.buckets[each].covered);
        EXPECT_EQ(a.buckets[each].peak, b.buckets[each].peak);
      }
    }
  }
  for (Result<bool> more = true; more && *more;) more = first->maintain(at_second(3 * 3600) + 40 * 24h, {});
  EXPECT_EQ(by_hand(dir.path()).number("SELECT count(*) FROM chunk"), 0) << "it is bounded by time";
}

TEST_P(SharedHistory, WaitsForADatabaseThatIsAwayAndCountsNothingTwice) {
  auto first = open_first();
  append(*first, 0, 60);
  server.run("CHECKPOINT");  // else it may have lost that moment
  server.kill();
  EXPECT_FALSE(first->append_history(share(make_sweep(at_second(120), 12'000))));
  EXPECT_EQ(first->status().history_dropped, 1U);
  EXPECT_EQ(read().error().code, ErrorCode::kUnavailable);
  server.start();
  // As if that moment had been stored and the answer lost.
  Database hand = by_hand(dir.path());
  hand.run("INSERT INTO moment (fabric, at, span) SELECT fabric, at + 60000000000, span FROM moment");
  hand.run("INSERT INTO chunk SELECT (SELECT max(id) FROM moment) << 24, data FROM chunk");
  ASSERT_TRUE(hand.outcome());
  EXPECT_EQ(errors(), 120U);
  append_in_time(*first, 180, 18'000);
  EXPECT_EQ(errors(), 180U);
  EXPECT_TRUE(first->status().ok) << first->status().message;
  append(*first, 6000, 6060);
  hand.run("DROP TABLE weft_history, port, moment, chunk, gauge_chunk, hour, hour_chunk, hour_gauge, fec_baseline");
  ASSERT_TRUE(hand.outcome());
  EXPECT_FALSE(first->append_history(share(make_sweep(at_second(6120), 612'000))));
  EXPECT_FALSE(first->status().ok);
  append_in_time(*first, 6180, 618'000);
  EXPECT_EQ(errors(), 120U) << "what a killed server lost is made anew";
}

}  // namespace
}  // namespace weft::store
