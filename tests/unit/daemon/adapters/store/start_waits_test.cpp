// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/start_waits.hpp"

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
