// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/start_waits.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "daemon/adapters/store/postgres_address.hpp"
#include "daemon/adapters/store/postgres_connection.hpp"
#include "daemon/adapters/store/postgres_schema.hpp"
#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

class StartWaits : public OnEachEngine {
 protected:
  /// Somebody at psql, until that is destroyed.
  std::unique_ptr<Database> hold(const std::string& lock) const {
    auto blocker = std::make_unique<Database>(by_hand(dir.path()));
    blocker->run(("BEGIN; SET application_name = 'the blocker'; " + lock).c_str());
    EXPECT_TRUE(blocker->outcome());
    return blocker;
  }
  /// Whether a process of ours waits for a lock.
  bool is_waited_for() const {
    return by_hand(dir.path()).number("SELECT count(*) FROM pg_locks WHERE NOT granted") > 0;
  }
  static constexpr const char* kWho = "its tables are in use: the blocker, process ";

  const TempDir dir;
};
INSTANTIATE_TEST_SUITE_P(On, StartWaits, ::testing::Values(Engine::kPostgres), [](const auto&) { return "Postgres"; });

TEST_P(StartWaits, AnUpgradeWaitsForABackupAndHoldsUpNobody) {
  const std::string url = url_of(dir.path());
  must_open(dir.path());
  // The next version's.
  Schema schema = state_schema();
  std::vector<const char*> migrations(schema.migrations.begin(), schema.migrations.end());
  migrations.push_back("ALTER TABLE link ADD COLUMN next INTEGER NOT NULL DEFAULT 0;");
  schema.migrations = migrations;
  auto backup = std::make_unique<Database>(by_hand(dir.path()));
  backup->run("BEGIN; SET application_name = 'pg_dump'; LOCK TABLE link IN ACCESS SHARE MODE");
  ASSERT_TRUE(backup->outcome());
  std::vector<std::string> told;
  const auto opened = open_postgres(url, schema, Opening::kTake, [&](const std::string& why) {
    told.push_back(why);
    Database writer = by_hand(dir.path());
    writer.run("SET lock_timeout = '1s'; INSERT INTO link SELECT * FROM link LIMIT 0");
    EXPECT_TRUE(writer.outcome()) << "nobody is left waiting";
    backup.reset();
  });
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].find("its tables are in use: pg_dump, process "), std::string::npos) << told[0];
}

TEST_P(StartWaits, AStartNamesWhoHoldsATableThatItReadsAndGoesOnAfterwards) {
  must_open(dir.path());
  for (const char* table : {"weft_store", "number", "installation"}) {
    auto blocker = hold("LOCK TABLE " + std::string(table) + " IN ACCESS EXCLUSIVE MODE");
    std::vector<std::string> told;
    StoreOptions options;
    options.on_caution = [&](const std::string& why) {
      told.push_back(why);
      EXPECT_FALSE(is_waited_for()) << table;
      blocker.reset();
    };
    const auto began = std::chrono::steady_clock::now();
    const auto opened = SqlStore::open(dir.path(), options_for(dir.path(), options));
    ASSERT_TRUE(opened) << table << ": " << opened.error().message;
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(15)) << table;
    ASSERT_EQ(told.size(), 1U) << table;
    EXPECT_THAT(told[0], testing::HasSubstr(kWho)) << table;
    EXPECT_TRUE(told[0].ends_with("; a start waits for that")) << told[0];
  }
}

TEST_P(StartWaits, ACheckNamesThemToo) {
  must_open(dir.path());
  const auto reader = hold("LOCK TABLE incident IN ACCESS SHARE MODE");
  const auto blocker = hold("LOCK TABLE number IN ACCESS EXCLUSIVE MODE");
  reader->run("SET application_name = 'pg_dump'");
  const auto began = std::chrono::steady_clock::now();
  const auto checked = check_store(dir.path(), {.url = url_of(dir.path())});
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(6));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(checked.error().message, testing::HasSubstr(kWho));
  EXPECT_THAT(checked.error().message, testing::Not(testing::HasSubstr("pg_dump"))) << "which is in nobody's way";
  EXPECT_TRUE(checked.error().message.ends_with(". This check waits for nobody: repeat it")) << checked.error().message;
  EXPECT_FALSE(is_waited_for());
}

TEST_P(StartWaits, WhatIsReadAndWrittenLaterNamesThemToo) {
  const auto store = must_open(dir.path());
  for (const char* lock : {"LOCK TABLE incident IN ACCESS EXCLUSIVE MODE", "SELECT 1 FROM weft_store FOR UPDATE"}) {
    const auto blocker = hold(lock);
    const auto saved = store->save_incidents({{make_incident(1)}}, {});
    ASSERT_FALSE(saved);
    EXPECT_THAT(saved.error().message, testing::HasSubstr(kWho));
    EXPECT_FALSE(is_waited_for());
  }
  ASSERT_TRUE(store->catch_up());
  const auto blocker = hold("LOCK TABLE incident IN ACCESS EXCLUSIVE MODE");
  const auto read = store->restore(kNever);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kTimeout) << "so that a start waits";
  EXPECT_THAT(read.error().message, testing::HasSubstr(kWho));
  EXPECT_FALSE(is_waited_for());
}

// Somebody who writes a row of another table, or another row, is in nobody's way.
TEST_P(StartWaits, WhoWritesSomethingElseIsNotNamed) {
  const auto store = must_open(dir.path());
  by_hand(dir.path()).run("CREATE TABLE others (x BIGINT)");
  const auto innocent = hold("INSERT INTO others VALUES (1); INSERT INTO opened VALUES ('x', 1)");
  innocent->run("SET application_name = 'innocent'");
  ASSERT_TRUE(innocent->outcome());
  for (const char* lock : {"LOCK TABLE incident IN EXCLUSIVE MODE", "SELECT 1 FROM weft_store FOR UPDATE"}) {
    const auto blocker = hold(lock);
    const auto saved = store->save_incidents({{make_incident(1)}}, {});
    ASSERT_FALSE(saved);
    EXPECT_THAT(saved.error().message, testing::HasSubstr(kWho)) << lock;
    EXPECT_THAT(saved.error().message, testing::Not(testing::HasSubstr("innocent"))) << lock;
  }
}

// A transaction that was prepared belongs to no process.
TEST_P(StartWaits, WhoCannotBeSeenIsNotMadeUp) {
  must_open(dir.path());
  auto blocker = hold("LOCK TABLE number IN ACCESS EXCLUSIVE MODE; PREPARE TRANSACTION 'in doubt'");
  const auto checked = check_store(dir.path(), {.url = url_of(dir.path())});
  PostgresServer::shared().run("ROLLBACK PREPARED 'in doubt'");
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message,
              testing::HasSubstr("another session holds a lock that it needs, and which one cannot be told (canceling "
                                 "statement due to lock timeout)"));
}

// Else whoever comes later waits for one that hangs, for as long as it does.
TEST_P(StartWaits, AStartThatHangsIsEndedByTheServer) {
  auto opened = PostgresConnection::open(*parse_postgres_address(url_of(dir.path())));
  ASSERT_TRUE(opened);
  Database database(std::move(*opened));
  Transaction transaction(database);
  const auto milliseconds = [&](const std::string& name) {
    return database.number(("SELECT setting::BIGINT FROM pg_settings WHERE name = '" + name + "'").c_str());
  };
  EXPECT_EQ(milliseconds("idle_in_transaction_session_timeout"), 10'000);
  EXPECT_EQ(milliseconds("lock_timeout"), 3'000);
  EXPECT_EQ(milliseconds("statement_timeout"), 55'000) << "before we give up after 60 s";
}

}  // namespace
}  // namespace weft::store
