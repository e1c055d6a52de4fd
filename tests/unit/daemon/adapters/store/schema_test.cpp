// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/schema.hpp"

#include <array>

#include "daemon/adapters/store/store.hpp"
#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

constexpr std::array kFirst{"CREATE TABLE thing (name TEXT); INSERT INTO thing VALUES ('kept')"};
constexpr std::array kSecond{kFirst[0], "ALTER TABLE thing ADD COLUMN size INTEGER NOT NULL DEFAULT 7"};
constexpr std::array kBroken{kFirst[0], "ALTER TABLE thing ADD COLUMN half INTEGER; CREATE TABLE thing (again TEXT)"};

Schema schema_of(std::span<const char* const> migrations) {
  Schema schema = state_schema();
  schema.migrations = migrations;
  return schema;
}

Error refusal(const std::filesystem::path& path, const Schema& schema) {
  const auto database = open_database(path, schema);
  if (!database) return database.error();
  ADD_FAILURE() << "was opened";
  return {};
}

TEST(Schema, AnOlderDatabaseIsBroughtUpAndKeepsItsRows) {
  const TempDir dir;
  const auto path = dir.path() / "a.db";
  ASSERT_TRUE(open_database(path, schema_of(kFirst)));
  auto database = open_database(path, schema_of(kSecond));
  ASSERT_TRUE(database) << database.error().message;
  EXPECT_EQ(database->number("PRAGMA user_version"), 2);
  EXPECT_EQ(database->number("SELECT size FROM thing WHERE name = 'kept'"), 7);
}

// Plans of a weftd that looked up what a return takes back in the plans before it.
TEST(Schema, AReturnOfBeforeKnowsWhatItTakesBack) {
  const TempDir dir;
  const auto path = dir.path() / "a.db";
  Schema before = state_schema();
  before.migrations = before.migrations.first(8);
  auto old = open_database(path, before);
  ASSERT_TRUE(old) << old.error().message;
  const auto add = [&](int id, const char* action, int undoes) {
    Statement(*old,
              "INSERT INTO plan VALUES (?, 1, 'COMMITTED', 1, ?, 'opensm', 0, ?, '', '', '', 0, 0, 0, 0, 0, 'NONE', 0, "
              "0, 0, 0, '')")
        .run(id, action, undoes);
  };
  add(1, "RAISE_LINK_COST", 0);
  add(2, "RESTORE_LINK", 1);
  add(3, "RESTORE_LINK", 2);
  add(4, "ISOLATE_LINK", 0);
  add(5, "RESTORE_LINK", 4);
  add(6, "RESTORE_LINK", 99);
  ASSERT_TRUE(old->outcome());
  old = tl::unexpected<Error>(Error{});  // closed
  auto now = open_database(path, state_schema());
  ASSERT_TRUE(now) << now.error().message;
  Statement rows(*now, "SELECT inverse FROM plan ORDER BY id");
  rows.query();
  std::vector<std::string> inverse;
  while (rows.next()) inverse.push_back(rows.text(0));
  EXPECT_EQ(inverse, (std::vector<std::string>{"NOTHING", "RAISE_LINK_COST", "RAISE_LINK_COST", "NOTHING",
                                               "ISOLATE_LINK", "NOTHING"}));
}

TEST(Schema, AStepThatFailsLeavesTheOldVersion) {
  const TempDir dir;
  const auto path = dir.path() / "a.db";
  ASSERT_TRUE(open_database(path, schema_of(kFirst)));
  EXPECT_FALSE(open_database(path, schema_of(kBroken)));
  auto database = open_database(path, schema_of(kFirst));
  ASSERT_TRUE(database) << database.error().message;
  EXPECT_EQ(database->number("PRAGMA user_version"), 1);
  EXPECT_EQ(database->number("SELECT count(*) FROM pragma_table_info('thing')"), 1);
}

TEST(Schema, ANewerDatabaseIsRefusedAndUntouched) {
  const TempDir dir;
  const auto path = dir.path() / "a.db";
  ASSERT_TRUE(open_database(path, schema_of(kSecond)));
  const std::string before = read_file(path);
  const Error error = refusal(path, schema_of(kFirst));
  EXPECT_EQ(error.code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(error.message,
            path.string() +
                " has schema version 2, but this weftd supports versions up to 1: it is from a newer weftd; "
                "weftd did not change it. Move it away to start with an empty database");
  EXPECT_EQ(read_file(path), before);
  EXPECT_FALSE(std::filesystem::exists(path.string() + "-wal"));
}

TEST(Schema, ANewerVersionThatIsOnlyInTheLogIsRefusedToo) {
  const TempDir dir;
  const auto path = dir.path() / "a.db";
  auto writer = open_database(path, schema_of(kFirst));
  ASSERT_TRUE(writer);
  writer->run("PRAGMA user_version = 9");
  const std::string before = read_file(path);
  EXPECT_EQ(refusal(path, schema_of(kFirst)).code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(read_file(path), before);
}

TEST(Schema, WhatIsNoDatabaseIsRefusedAndUntouched) {
  const TempDir dir;
  const auto path = dir.path() / "a.db";
  for (const std::string& content :
       {std::string("these are my notes\n"), std::string(5000, 'x'), std::string("SQLite format 3\0", 16),
        std::string("SQLite format 3\0", 16) + std::string(4096, '\xff')}) {
    write_file(path, content);
    EXPECT_EQ(refusal(path, state_schema()).code, ErrorCode::kCorrupt);
    EXPECT_EQ(read_file(path), content);
  }
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  EXPECT_EQ(refusal(path, state_schema()).code, ErrorCode::kCorrupt);
}

TEST(Schema, ADamagedDatabaseIsRefusedAndUntouched) {
  const TempDir dir;
  const auto path = dir.path() / "a.db";
  {
    auto database = open_database(path, state_schema());
    ASSERT_TRUE(database);
    for (int i = 0; i < 200; ++i)
      database->run("INSERT INTO event (at, incident, what, who, detail) VALUES (1, 1, 'a', 'b', 'c')");
    ASSERT_TRUE(database->outcome());
  }
  std::string content = read_file(path);
  for (std::size_t i = 4096; i < content.size(); i += 97) content[i] = static_cast<char>(content[i] ^ 0x5A);
  write_file(path, content);
  const Error error = refusal(path, state_schema());
  EXPECT_EQ(error.code, ErrorCode::kCorrupt);
  EXPECT_NE(error.message.find("is damaged"), std::string::npos) << error.message;
  EXPECT_EQ(read_file(path), content);
}

TEST(Schema, ACheckBeforeAnUpgradeTellsWhatItCannotLookAt) {
  const TempDir dir;
  const auto path = dir.path() / "odd?name#1%25" / "weft.db";
  const auto versions = [&] { return database_versions(path.parent_path(), {}); };
  EXPECT_EQ(versions()->front().found, 0U);
  std::filesystem::create_directory(path.parent_path());
  ASSERT_TRUE(open_database(path, state_schema()));
  EXPECT_EQ(versions()->front().found, state_schema().migrations.size());
  EXPECT_FALSE(versions()->front().has_log);
  const std::string good = read_file(path);

  // Its header is good, and all behind its first page is noise.
  std::string noise = good;
  for (std::size_t i = 4096; i < noise.size(); ++i) noise[i] = static_cast<char>(i * 131 + i / 7);
  write_file(path, noise);
  const auto damaged = versions();
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(damaged.error().message.find("is damaged"), std::string::npos) << damaged.error().message;
  EXPECT_EQ(read_file(path), noise);
  write_file(path.string() + "-wal", "of a weftd that writes it");
  ASSERT_TRUE(versions());
  EXPECT_TRUE(versions()->front().has_log);
  std::filesystem::remove(path.string() + "-wal");
  EXPECT_FALSE(std::filesystem::exists(path.string() + "-shm"));
  write_file(path, good);

  // A file that cannot be seen is not one that is not there.
  std::filesystem::remove(path);
  std::filesystem::create_symlink("weft.db", path);
  const auto unseen = versions();
  ASSERT_FALSE(unseen);
  EXPECT_NE(unseen.error().message.find("cannot be looked at: Too many levels"), std::string::npos)
      << unseen.error().message;
}

TEST(Schema, AnotherProgramsDatabaseIsRefused) {
  const TempDir dir;
  const auto path = dir.path() / "a.db";
  {
    Database theirs(std::move(*SqliteConnection::open(path)));
    theirs.run("CREATE TABLE photos (name TEXT)");
    ASSERT_TRUE(theirs.outcome());
  }
  const std::string before = read_file(path);
  EXPECT_NE(refusal(path, state_schema()).message.find("belongs to another program"), std::string::npos);
  EXPECT_EQ(read_file(path), before);
  const auto history = dir.path() / "b.db";
  ASSERT_TRUE(open_database(history, history_schema()));
  EXPECT_EQ(refusal(history, state_schema()).code, ErrorCode::kCorrupt);
}

TEST(Schema, AFileThatWasOnlyJustMadeIsTaken) {
  const TempDir dir;
  write_file(dir.path() / "a.db", "");
  EXPECT_TRUE(open_database(dir.path() / "a.db", state_schema()));
}

}  // namespace
}  // namespace weft::store
