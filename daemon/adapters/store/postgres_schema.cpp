// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/postgres_schema.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "daemon/adapters/store/dialect.hpp"
#include "daemon/adapters/store/lease.hpp"
#include "daemon/adapters/store/plan_table.hpp"
#include "daemon/adapters/store/postgres_connection.hpp"
#include "daemon/adapters/store/use_marks.hpp"

namespace weft::store {
namespace {

/// Begins the name of a holder that is a copy.
constexpr std::string_view kCopyHolder = "weftd store copy, ";

struct Taken {
  std::int64_t epoch = 0;  ///< the new one
  std::string from;        ///< who had it; empty: nobody
};

/// Whoever has the database has it no more.
Taken take(Database& database, const std::string& holder) {
  Taken taken;
  database.run(postgres::kTakeBeat);  // from here on nobody else takes it
  Statement before(database, postgres::kHolder);
  before.query();
  while (before.next()) taken.from = before.text(0);
  Statement take(database, postgres::kTake);
  take.query(holder);
  while (take.next()) taken.epoch = take.integer(0);
  return taken;
}

struct Found {
  Database database;
  PostgresConnection* connection;
  bool is_ours;         ///< our tables are there
  std::size_t version;  ///< of them
};

constexpr std::int64_t kOldestServer = 150000;

/// First column of the first row of `sql`; empty when there is none.
std::string text_of(Database& database, const char* sql) {
  Statement statement(database, sql);
  statement.query();
  std::string text;
  while (statement.next()) text = statement.text(0);
  return text;
}

bool has_table(Database& database, const char* name) {
  Statement look(database, postgres::kHasTable);
  look.query(name);
  bool is_there = false;
  while (look.next()) is_there = look.integer(0) == 1;
  return is_there;
}

/// The shard of a site whose schema is the own one; empty: of none.
std::string shard_of_schema(Database& database) {
  // The site's tables may be others' business.
  if (!text_of(database, postgres::kOwnSchema).starts_with(shard_schema(""))) return {};
  if (!has_table(database, "weft_site.given")) return {};
  return text_of(database, postgres::kShardOfSchema);
}

/// Where search_path names no schema that the role may use.
void fail_without_schema(Database& database, const std::string& role) {
  std::string named;
  bool is_there = false;
  Statement row(database, postgres::kFirstOfPath);
  row.query();
  while (row.next()) {
    named = row.text(0);
    is_there = row.integer(1) == 1;
  }
  if (is_there)
    database.fail(ErrorCode::kPermissionDenied, "the role " + role + " may not use the schema " + named +
                                                    ": let its owner run GRANT USAGE, CREATE ON SCHEMA " + named +
                                                    " TO " + role);
  else
    database.fail(ErrorCode::kFailedPrecondition,
                  "the schema " + named +
                      ", which search_path names, is not there (the weftd of a shard needs site.shard). To begin anew: "
                      "CREATE SCHEMA " +
                      named + " AUTHORIZATION " + role);
}

/// Connects and looks, without changing anything.
Result<Found> inspect_postgres(const std::string& url, const Schema& schema) {
  auto address = parse_postgres_address(url);
  if (!address) return fail(address.error().code, "store.url " + address.error().message);
  name_connection(*address, "store");
  auto opened = PostgresConnection::open(*address);
  if (!opened) return tl::unexpected<Error>(opened.error());
  PostgresConnection* const connection = opened->get();
  Found found{Database(std::move(*opened)), connection, false, 0};
  Database& database = found.database;
  require_server(database);
  // A pooler may have dropped what the connection began with.
  if (!address->schema.empty() && text_of(database, postgres::kOwnSchema) != address->schema)
    database.fail(ErrorCode::kFailedPrecondition,
                  "the schema " + address->schema +
                      " is not there, or a pooler between does not pass on search_path: see the guide, site.md");
  if (auto outcome = database.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  found.is_ours = database.number(postgres::kHasOwner) == 1;
  if (found.is_ours) found.version = static_cast<std::size_t>(database.number(postgres::kVersion));
  if (!found.is_ours && database.number(postgres::kCountTables) > 0)
    database.fail(ErrorCode::kCorrupt,
                  "its schema contains tables of another program; weftd did not change it. Give weftd a database or a "
                  "schema of its own");
  if (!found.is_ours && database.number(postgres::kMayMakeTables) == 0) {
    const std::string own = text_of(database, postgres::kOwnSchema), role = text_of(database, postgres::kRole);
    if (own.empty())
      fail_without_schema(database, role);
    else
      database.fail(ErrorCode::kPermissionDenied, "the role " + role + " may not make tables in the schema " + own +
                                                      ": let its owner run GRANT " + "CREATE ON SCHEMA " + own +
                                                      " TO " + role);
  }
  if (found.version > schema.migrations.size())
    database.fail(ErrorCode::kFailedPrecondition,
                  newer_version(found.version, schema.migrations.size()) + "; weftd did not change it");
  if (auto outcome = database.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  return found;
}

}  // namespace

namespace {

/// What open_postgres() does, with kTimeout where others are in the way.
Result<Found> prepare(const std::string& url, const Schema& schema, Opening opening) {
  auto found = inspect_postgres(url, schema);
  if (!found) return found;
  Database& database = found->database;
  if (found->version < schema.migrations.size() || database.number(postgres::kHasBeat) == 0) {
    // All or none: nobody finds tables that are half made.
    Transaction transaction(database);
    database.run(postgres::kWaitShortly);
    if (!found->is_ours) database.run(postgres::kCreateOwner);
    if (database.number(postgres::kHasBeat) == 0) database.run(postgres::kCreateBeat);
    for (std::size_t version = found->version; version < schema.migrations.size(); ++version)
      database.run(postgres::migration(schema.migrations[version]).c_str());
    Statement(database, postgres::kSetVersion).run(schema.migrations.size());
    // An older weftd must not write into tables that it does not know.
    if (found->is_ours) {
      const Taken taken = take(database, holder_name());
      // Nobody beats for who does not take it: the next one, itself in the first place, would wait for that. Where
      // another one had it, waiting is right: that one may act for some seconds more.
      if (opening != Opening::kTake && taken.from.empty()) Statement(database, postgres::kRelease).run(taken.epoch);
    }
    if (auto done = transaction.commit(); !done) return tl::unexpected<Error>(done.error());
  }
  if (opening == Opening::kFollow) {
    found->connection->follow();
    return found;
  }
  if (opening == Opening::kCopy) return found;
  std::int64_t epoch = 0;
  {
    Transaction transaction(database);
    epoch = take(database, holder_name()).epoch;
    if (auto done = transaction.commit(); !done) return tl::unexpected<Error>(done.error());
  }
  found->connection->lead(epoch);
  return found;
}

}  // namespace

Result<Database> open_postgres(const std::string& url, const Schema& schema, Opening opening, const TellWait& tell) {
  auto found = wait_for_others(tell, [&] { return prepare(url, schema, opening); });
  if (!found) return tl::unexpected<Error>(found.error());
  return std::move(found->database);
}

Result<void> refuse_led(const std::string& url, const Schema& schema) {
  auto found = inspect_postgres(url, schema);
  if (!found) return tl::unexpected<Error>(found.error());
  Database& database = found->database;
  if (!found->is_ours || database.number(postgres::kHasBeat) == 0) return database.outcome();
  std::string holder;
  const auto look = [&] {
    std::int64_t n = 0;
    Statement row(database, postgres::kLook);
    row.query();
    while (row.next()) {
      n = row.integer(1);
      holder = row.text(2);
    }
    return n;
  };
  const std::int64_t first = look();
  const auto until = std::chrono::steady_clock::now() + kLongestGap;
  while (!database.failed() && !holder.empty() && !holder.starts_with(kCopyHolder) &&
         std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(kBeatEvery / 4);
    if (look() != first)
      return fail(ErrorCode::kFailedPrecondition, database.name() + " is used by a weftd (" + holder +
                                                      "): stop each weftd that uses it first, the standby too");
  }
  return database.outcome();
}

Result<bool> take_for_copy(Database& database) {
  Taken taken;
  {
    Transaction transaction(database);
    taken = take(database, std::string(kCopyHolder) + holder_name());
    if (auto done = transaction.commit(); !done) return tl::unexpected<Error>(done.error());
  }
  database.connection().lead(taken.epoch);
  return taken.from.empty() || taken.from.starts_with(kCopyHolder);
}

void give_back(Database& database) {
  Statement(database, postgres::kRelease).run(database.number("SELECT epoch FROM weft_store"));
}

Result<Database> open_postgres_history(const std::string& url) {
  auto address = parse_postgres_address(url);
  if (!address) return fail(address.error().code, "store.url " + address.error().message);
  name_connection(*address, "history");
  auto connection = PostgresConnection::make(*address);
  connection->keep_history();
  connection->follow();
  return Database(std::move(connection));
}

Result<void> make_history_tables(Database& history) {
  const Schema schema = history_schema();
  Transaction transaction(history);
  history.run(postgres::kCreateHistoryVersion);
  const auto version = static_cast<std::size_t>(history.number(postgres::kHistoryVersion));
  if (version > schema.migrations.size())
    history.fail(ErrorCode::kFailedPrecondition, newer_version(version, schema.migrations.size()));
  for (std::size_t next = version; next < schema.migrations.size(); ++next)
    history.run(postgres::migration(schema.migrations[next]).c_str());
  if (version < schema.migrations.size())
    Statement(history, postgres::kSetHistoryVersion).run(schema.migrations.size());
  return transaction.commit();
}

void require_server(Database& database) {
  if (database.number(postgres::kServerVersion) < kOldestServer)
    database.fail(
        ErrorCode::kFailedPrecondition,
        "its server is PostgreSQL " + text_of(database, postgres::kServerVersionText) + "; Weft needs 15 or newer");
  if (database.number(postgres::kIsUtf8) == 0)
    database.fail(ErrorCode::kFailedPrecondition,
                  "the database does not keep texts as UTF-8: create it with ENCODING 'UTF8'");
}

std::vector<std::string> cautions_of(Database& database) {
  std::vector<std::string> cautions;
  if (database.number(postgres::kWaitsForStandby) == 0) cautions.emplace_back(postgres::kNoStandby);
  const std::string rights = text_of(database, postgres::kMoreRights);
  if (!rights.empty())
    cautions.push_back("its role " + text_of(database, postgres::kRole) + " is " + rights +
                       ", which weftd does not need: whoever takes over weftd has that, too; give weftd a role of its "
                       "own (createuser --pwprompt weft)");
  return cautions;
}

std::optional<StandbyView> standby_of(Database& database) {
  if (database.number(postgres::kIsNamed) != 1) return std::nullopt;
  StandbyView standby;
  Statement row(database, postgres::kStandby);
  row.query();
  while (row.next()) {
    const std::string name = row.text(0);
    const std::size_t slash = name.rfind('/');
    standby.holder = name.substr(0, slash) + ", process " + name.substr(slash + 1);
    standby.seen = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(row.real(1)));
    standby.fabrics = parse_sight(row.text(2));
  }
  return standby;
}

Result<PostgresFound> look_at_postgres(const std::string& url, const Schema& schema) {
  auto found = inspect_postgres(url, schema);
  if (!found) return tl::unexpected<Error>(found.error());
  Database& database = found->database;
  PostgresFound result{.name = database.name(), .state = "is reachable, and empty"};
  result.cautions = cautions_of(database);
  result.shard = shard_of_schema(database);
  if (!found->is_ours) {
    if (auto outcome = database.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
    return result;
  }
  result.state = "is reachable, with schema version " + std::to_string(found->version);
  // Whoever holds these is in the way of a start.
  for (const char* table : {"incident", "plan"})
    if (has_table(database, table))
      database.number(("SELECT count(*) FROM (SELECT 1 FROM " + std::string(table) + " LIMIT 1) AS one").c_str());
  result.version = static_cast<std::uint32_t>(found->version);
  // What a copy is of is known before it has the row that says so.
  Statement copying(database, "SELECT source FROM copying");
  copying.query();
  while (copying.next()) result.installation = copying.text(0).substr(0, copying.text(0).find(' '));
  result.is_unfinished = !result.installation.empty();
  if (!result.is_unfinished) result.installation = read_installation(database);
  result.next_incident =
      static_cast<std::uint64_t>(database.number("SELECT value FROM number WHERE name = 'next_incident'"));
  result.audit_records = static_cast<std::uint64_t>(database.number("SELECT records FROM audit_end"));
  result.epoch = database.number("SELECT epoch FROM weft_store");
  if (has_table(database, "last_use")) result.uses = read_uses(database);
  if (auto outcome = database.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  return result;
}

}  // namespace weft::store
