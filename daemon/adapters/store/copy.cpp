// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/copy.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "daemon/adapters/store/audit_table.hpp"
#include "daemon/adapters/store/dialect.hpp"
#include "daemon/adapters/store/plan_table.hpp"
#include "daemon/adapters/store/postgres_address.hpp"
#include "daemon/adapters/store/postgres_schema.hpp"
#include "daemon/adapters/store/schema.hpp"
#include "daemon/adapters/store/shard_ids.hpp"
#include "daemon/adapters/store/sqlite_connection.hpp"
#include "daemon/adapters/store/state_dir.hpp"
#include "daemon/adapters/store/store_mark.hpp"
#include "daemon/adapters/store/use_marks.hpp"
#include "daemon/platform/runtime/unique_fd.hpp"

namespace weft::store {
namespace {

constexpr std::int64_t kRowsAtOnce = 500;

struct Column {
  std::string name;  ///< quoted
  std::string type;  ///< INTEGER, REAL or TEXT
  std::int64_t key;  ///< its place in the primary key, from 1; 0: none
};

/// In the order in which they were made: what is referred to comes first.
struct Table {
  std::string name;
  std::vector<Column> columns;

  /// Of all columns, or of those of the key in its order; `each` for each of them.
  std::string list(bool of_key, const char* each = nullptr) const {
    std::string text;
    for (std::int64_t place = 1; place <= static_cast<std::int64_t>(columns.size()); ++place)
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const bool is_next = of_key ? columns[i].key == place : static_cast<std::int64_t>(i) + 1 == place;
        if (is_next) text += (text.empty() ? "" : ", ") + (each ? std::string(each) : columns[i].name);
      }
    return text;
  }
};

/// The migrations tell: an empty database of SQLite is asked. Both engines have the same columns.
Result<std::vector<Table>> read_tables() {
  auto opened = SqliteConnection::open(":memory:");
  if (!opened) return tl::unexpected<Error>(opened.error());
  Database database(std::move(*opened));
  for (const char* migration : state_schema().migrations) database.run(migration);
  std::vector<Table> tables;
  Statement names(database,
                  "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> "
                  "'copying' ORDER BY rowid");
  names.query();
  while (names.next()) tables.push_back({names.text(0), {}});
  Statement columns(database, "SELECT name, type, pk FROM pragma_table_info(?) ORDER BY cid");
  for (Table& table : tables) {
    columns.query(table.name);
    while (columns.next()) table.columns.push_back({'"' + columns.text(0) + '"', columns.text(1), columns.integer(2)});
  }
  if (auto outcome = database.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  return tables;
}

/// A row, or a key, with its own texts.
class Row {
 public:
  void read(const Statement& row, const std::vector<const Column*>& columns) {
    texts_.assign(columns.size(), {});
    values_.clear();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto at = static_cast<int>(i);
      if (columns[i]->type == "TEXT")
        values_.emplace_back(std::string_view(texts_[i] = row.text(at)));
      else if (columns[i]->type == "REAL")
        values_.emplace_back(row.real(at));
      else
        values_.emplace_back(row.integer(at));
    }
  }
  std::vector<Value>& values() { return values_; }

 private:
  std::vector<std::string> texts_;
  std::vector<Value> values_;
};

/// One end of the copy.
struct Side {
  runtime::UniqueFd lock;
  Database database;
  bool is_postgres;
  bool was_free = false;  ///< it was taken, and nobody had it before
};

/// From now on no weftd writes there.
Result<void> take(Side& side) {
  if (!side.is_postgres) return {};
  return take_for_copy(side.database).map([&side](bool was_free) { side.was_free = was_free; });
}

/// Of a copy that failed: a weftd that starts next need not wait for it. Where a weftd had it before, waiting is right.
void leave(Side& side) {
  if (!side.was_free) return;
  static_cast<void>(side.database.outcome());
  Transaction transaction(side.database);
  give_back(side.database);
  static_cast<void>(transaction.commit());
}

Result<Side> open_side(const std::string& place, bool is_source) {
  if (is_url(place)) {
    const auto found = look_at_postgres(place, state_schema());
    if (!found) return tl::unexpected<Error>(found.error());
    if (is_source && found->installation.empty())
      return fail(ErrorCode::kNotFound, found->name + " holds nothing that could be copied");
    if (auto free = refuse_led(place, state_schema()); !free) return tl::unexpected<Error>(free.error());
    auto database = open_postgres(place, state_schema(), Opening::kCopy);
    if (!database) return tl::unexpected<Error>(database.error());
    return Side{.lock = runtime::UniqueFd(), .database = std::move(*database), .is_postgres = true};
  }
  const std::filesystem::path file = std::filesystem::path(place) / "weft.db";
  std::error_code ignored;
  if (is_source && !std::filesystem::exists(file, ignored))
    return fail(ErrorCode::kNotFound, file.string() + " does not exist: name a state directory or postgresql://…");
  const std::filesystem::path parent = std::filesystem::absolute(std::filesystem::path(place) / "x").parent_path();
  if (!is_source && !std::filesystem::exists(parent, ignored) &&
      !std::filesystem::is_directory(parent.parent_path(), ignored))
    return fail(ErrorCode::kNotFound, "there is no directory " + parent.parent_path().string() +
                                          " to make the state directory in: nothing was copied");
  auto lock = lock_state_dir(place);
  if (!lock) return tl::unexpected<Error>(lock.error());
  if (is_source)
    if (auto checked = check_mark_for_file(place); !checked) return tl::unexpected<Error>(checked.error());
  auto database = open_database(file, state_schema());
  if (!database) return tl::unexpected<Error>(database.error());
  return Side{.lock = std::move(*lock), .database = std::move(*database), .is_postgres = false};
}

/// The id, and what is another whenever a weftd has used it. Of a copy that no weftd has used, that of its source.
std::string fingerprint(Database& database) {
  const std::string installation = read_installation(database);
  return installation + ' ' + read_uses(database);
}

/// No leader had a greater one, on whatever database.
std::int64_t greatest_epoch(Side& side) {
  const std::int64_t led = side.database.number("SELECT epoch FROM last_use");
  return std::max(led, side.is_postgres ? side.database.number("SELECT epoch FROM weft_store") : 0);
}

std::int64_t count_rows(Database& database, const Table& table) {
  return database.number(("SELECT count(*) FROM " + table.name).c_str());
}

/// Nothing was written since it was made.
bool is_fresh(Database& target, const std::vector<Table>& tables) {
  // What the migrations put there.
  const auto was_made_with = [](const std::string& name) -> std::int64_t {
    if (name == "number") return 4;
    return name == "audit_end" || name == "remedy" || name == "installation" || name == "last_use" ? 1 : 0;
  };
  for (const Table& table : tables)
    if (count_rows(target, table) != was_made_with(table.name)) return false;
  return target.number("SELECT max(value) FROM number") == 1 && target.number("SELECT records FROM audit_end") == 0;
}

/// Whether the target is a copy of the source as it is now, whole or not; else it must be emptied. Fails where it is
/// no target.
Result<bool> goes_on(Side& target, const std::vector<Table>& tables, const std::string& source) {
  Database& database = target.database;
  Statement mark(database, "SELECT source FROM copying");
  mark.query();
  const bool is_marked = mark.next();
  const std::string before = is_marked ? mark.text(0) : std::string();
  while (is_marked && mark.next()) continue;
  if (before == source && !database.failed()) return true;
  // It was broken off, or run again, after its end.
  if (!is_marked && fingerprint(database) == source && !database.failed()) return true;
  const auto id = [](const std::string& text) { return text.substr(0, text.find(' ')); };
  if (is_marked ? id(before) != id(source) : !is_fresh(database, tables))
    database.fail(ErrorCode::kFailedPrecondition,
                  is_marked            ? "is the target of another copy that was not finished"
                  : target.is_postgres ? "is not empty: nothing was copied. Give an empty database"
                                       : "is not empty: nothing was copied. Give another directory, or move weft.db* "
                                         "away (history.db stays)");
  if (auto outcome = database.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  return false;
}

/// Marks the target as a copy that is not finished, and empties it unless it is one of the source as it is now.
Result<void> prepare(Side& target, const std::vector<Table>& tables, const std::string& source) {
  Database& database = target.database;
  const auto is_there = goes_on(target, tables, source);
  if (!is_there) return tl::unexpected<Error>(is_there.error());
  if (*is_there) return {};
  Transaction transaction(database);
  for (auto table = tables.rbegin(); table != tables.rend(); ++table)
    database.run(("DELETE FROM " + table->name).c_str());
  Statement(database, "DELETE FROM copying").run();
  Statement(database, "INSERT INTO copying VALUES (1, ?)").run(source);
  return transaction.commit();
}

/// Copies what the target does not have, piece by piece in the order of the keys: a piece is there or not. Returns how
/// many rows it did not have.
Result<std::uint64_t> copy_table(Database& source, Database& target, const Table& table,
                                 const std::function<void(const CopyProgress&)>& on_progress) {
  std::vector<const Column*> all, key;
  for (const Column& column : table.columns) all.push_back(&column);
  for (std::int64_t place = 1; place <= static_cast<std::int64_t>(all.size()); ++place)
    for (const Column* column : all)
      if (column->key == place) key.push_back(column);
  const std::string keys = table.list(true);
  const std::string what = "SELECT " + keys + ", " + table.list(false) + " FROM " + table.name;
  const std::string order = " ORDER BY " + keys + " LIMIT ?";
  CopyProgress progress{table.name, static_cast<std::uint64_t>(count_rows(target, table)),
                        static_cast<std::uint64_t>(count_rows(source, table))};
  const std::uint64_t before = progress.rows;
  Row last;
  bool has_last = false;
  {
    std::string newest;
    for (const Column* column : key) newest += (newest.empty() ? "" : ", ") + column->name + " DESC";
    Statement row(target, "SELECT " + keys + " FROM " + table.name + " ORDER BY " + newest + " LIMIT 1");
    row.query();
    while (row.next()) {
      last.read(row, key);
      has_last = true;
    }
  }
  for (std::int64_t got = kRowsAtOnce; got == kRowsAtOnce;) {
    Statement rows(
        source, what + (has_last ? " WHERE (" + keys + ") > (" + table.list(true, "?") + ")" : std::string()) + order);
    std::vector<Value> bound;
    if (has_last) bound = last.values();
    bound.emplace_back(kRowsAtOnce);
    rows.start(bound);
    Transaction transaction(target);
    // A text that is no UTF-8 may stand elsewhere in the order of the other engine, so that it is met again.
    Statement insert(target, "INSERT INTO " + table.name + " (" + table.list(false) + ") VALUES (" +
                                 table.list(false, "?") + ") ON CONFLICT DO NOTHING");
    std::vector<const Column*> both = key;
    both.insert(both.end(), all.begin(), all.end());
    Row row;
    for (got = 0; rows.next(); ++got) {
      row.read(rows, both);
      insert.start(std::span(row.values()).subspan(key.size()));
      while (insert.next()) continue;
      progress.rows += static_cast<std::uint64_t>(target.changes());
      last.read(rows, key);
      has_last = true;
    }
    if (auto outcome = source.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
    if (auto done = transaction.commit(); !done) return tl::unexpected<Error>(done.error());
    on_progress(progress);
  }
  return progress.rows - before;
}

/// The target has as many rows of each table as the source, and the same trail.
Result<Copied> verify(Database& source, Database& target, const std::vector<Table>& tables) {
  Copied copied;
  for (const Table& table : tables) {
    const std::int64_t rows = count_rows(target, table);
    if (rows != count_rows(source, table))
      target.fail(ErrorCode::kCorrupt, "the table " + table.name + " was not copied whole");
    copied.rows += static_cast<std::uint64_t>(rows);
    if (table.name == "incident") copied.incidents = static_cast<std::uint64_t>(rows);
    if (table.name == "plan") copied.plans = static_cast<std::uint64_t>(rows);
    if (table.name == "maintenance") copied.windows = static_cast<std::uint64_t>(rows);
  }
  copied.audit = verify_audit(source);
  if (auto outcome = source.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  if (!(verify_audit(target) == copied.audit) && !target.failed())
    target.fail(ErrorCode::kCorrupt, "the audit trail is not the one that was copied");
  if (auto outcome = target.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  return copied;
}

/// Copies, once both are prepared.
Result<Copied> copy_all(Side& source, Side& target, const std::vector<Table>& tables,
                        const std::function<void(const CopyProgress&)>& on_progress) {
  std::uint64_t added = 0;
  for (const Table& table : tables) {
    const auto rows = copy_table(source.database, target.database, table, on_progress);
    if (!rows) return tl::unexpected<Error>(rows.error());
    added += *rows;
  }
  auto copied = verify(source.database, target.database, tables);
  if (!copied) return copied;
  copied->added = added;
  if (source.is_postgres) {
    Transaction end(source.database);
    give_back(source.database);
    if (auto done = end.commit(); !done) return tl::unexpected<Error>(done.error());
  }
  // Whoever leads next is newer than all that led before: the marks that they left in the world say so.
  const std::int64_t epoch = greatest_epoch(source);
  if (auto outcome = source.database.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  Transaction transaction(target.database);
  Statement(target.database, "UPDATE last_use SET epoch = ?1 WHERE epoch < ?1").run(epoch);
  if (target.is_postgres) {
    target.database.run(postgres::kCountOn);
    Statement(target.database, postgres::kLiftBeat).run(epoch);
    Statement(target.database, postgres::kLift).run(epoch);
    give_back(target.database);
  }
  target.database.run("DELETE FROM copying");
  if (auto done = transaction.commit(); !done) return tl::unexpected<Error>(done.error());
  return copied;
}

/// Takes both, and copies. Nothing is taken where it is known before that it cannot be.
Result<Copied> copy_sides(Side& source, Side& target, const std::vector<Table>& tables,
                          const std::function<void(const CopyProgress&)>& on_progress) {
  const std::string at_first = fingerprint(source.database);
  if (auto outcome = source.database.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  if (auto checked = goes_on(target, tables, at_first); !checked) return tl::unexpected<Error>(checked.error());
  for (Side* each : {&source, &target})
    if (auto taken = take(*each); !taken) return tl::unexpected<Error>(taken.error());
  // A weftd may have used either until then.
  const std::string as_it_is = fingerprint(source.database);
  if (auto outcome = source.database.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  if (auto prepared = prepare(target, tables, as_it_is); !prepared) return tl::unexpected<Error>(prepared.error());
  auto copied = copy_all(source, target, tables, on_progress);
  if (!copied && copied.error().code != ErrorCode::kCorrupt)
    copied.error().message += "; the copy is not finished: the same command goes on where it was";
  return copied;
}

/// Of an address; `name`: which of the two, for messages.
Result<void> check_place(const std::string& name, const std::string& place) {
  if (!is_url(place)) return {};
  const auto address = parse_postgres_address(place);
  if (!address) return fail(address.error().code, name + ' ' + address.error().message);
  return {};
}

}  // namespace

Result<Copied> copy_store(const std::string& from, const std::string& to,
                          const std::function<void(const CopyProgress&)>& on_progress) {
  if (auto checked = check_place("FROM", from); !checked) return tl::unexpected<Error>(checked.error());
  if (auto checked = check_place("TO", to); !checked) return tl::unexpected<Error>(checked.error());
  const auto tables = read_tables();
  if (!tables) return tl::unexpected<Error>(tables.error());
  auto source = open_side(from, true);
  if (!source) return tl::unexpected<Error>(source.error());
  if (source->database.number("SELECT count(*) FROM copying") > 0)
    source->database.fail(ErrorCode::kFailedPrecondition, "is itself a copy that is not finished");
  const std::string installation = read_installation(source->database);
  if (auto outcome = source->database.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  if (!is_url(to))
    if (auto checked = check_mark_for_copy(to, installation); !checked) return tl::unexpected<Error>(checked.error());
  if (is_url(to))
    if (auto fits = check_ids_for_shard(source->database, to); !fits) return tl::unexpected<Error>(fits.error());
  auto target = open_side(to, false);
  if (!target) return tl::unexpected<Error>(target.error());
  auto copied = copy_sides(*source, *target, *tables, on_progress);
  if (!copied)
    for (Side* each : {&*source, &*target}) leave(*each);
  else if (!is_url(to))
    remove_mark(to);
  return copied;
}

}  // namespace weft::store
