// SPDX-License-Identifier: Apache-2.0
#pragma once
// A thin layer over SQLite's C interface. The first failure is kept by the Database and everything after it does
// nothing, so that a transaction reads as what it does and is judged once, at its end.

#include <sqlite3.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::store {

/// One connection. Not thread-safe: one lane uses it.
class Database {
 public:
  /// Opens an existing file or makes one. Nothing is written to it yet.
  static Result<Database> open(const std::filesystem::path& path);

  /// Runs statements that give no rows (or whose rows do not matter).
  void run(const char* sql);
  /// Notes a failure that was found by looking at the data.
  void fail(ErrorCode code, std::string message);
  /// A failure was noted since the last outcome(); statements do nothing until then.
  bool failed() const { return failure_.has_value(); }
  /// Fails when the file was removed, or another stands in its place: SQLite would go on writing where nobody can find
  /// it again.
  void require_in_place();
  /// What has happened since the last call: nothing wrong, or the first failure, which is forgotten by this.
  Result<void> outcome();

  /// First column of the first row, or 0 when there is none.
  std::int64_t number(const char* sql);
  /// Rows changed by the last statement.
  std::int64_t changes() const { return sqlite3_changes64(handle_.get()); }
  /// The connection, for calls of SQLite that this class does not wrap.
  sqlite3* handle() const { return handle_.get(); }
  /// The path that was opened.
  const std::string& path() const { return path_; }

 private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  Database(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  void note(int code);

  std::unique_ptr<sqlite3, Close> handle_;
  std::string path_;
  std::optional<Error> failure_;
};

/// A prepared statement. `run` for one without rows; `query`, then `next` until false, for one with rows.
class Statement {
 public:
  /// Compiles `sql`. A failure is noted by the Database, and the statement does nothing.
  Statement(Database& database, std::string_view sql);

  /// Runs the statement with these values for its parameters, in order.
  template <typename... Values>
  void run(const Values&... values) {
    query(values...);
    while (next()) continue;
  }
  /// Binds the values to the parameters; next() gives the rows.
  template <typename... Values>
  void query(const Values&... values) {
    if (!handle_ || database_.failed()) return;
    sqlite3_reset(handle_.get());
    int position = 0;
    (bind(++position, values), ...);
  }
  /// False when there are no more rows, or after a failure: the Database knows which.
  bool next();

  /// Column of the present row, from 0. 0 for NULL.
  std::int64_t integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  /// Integers of SQLite are signed; GUIDs are kept bit by bit.
  std::uint64_t bits(int column) const { return static_cast<std::uint64_t>(integer(column)); }
  /// NaN for NULL: that is how SQLite keeps one.
  double real(int column) const;
  /// Column of the present row as text; empty for NULL.
  std::string text(int column) const;
  /// Column of the present row as bytes; valid until the next call of next().
  std::span<const std::byte> blob(int column) const;
  /// Column of the present row as a time; stored in nanoseconds since 1970.
  TimePoint time(int column) const { return TimePoint(Duration(integer(column))); }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };
  void bind(int position, std::integral auto value) {
    check(sqlite3_bind_int64(handle_.get(), position, static_cast<std::int64_t>(value)));
  }
  void bind(int position, double value) { check(sqlite3_bind_double(handle_.get(), position, value)); }
  void bind(int position, std::string_view text);
  void bind(int position, const char* text) { bind(position, std::string_view(text)); }
  void bind(int position, const std::string& text) { bind(position, std::string_view(text)); }
  void bind(int position, std::span<const std::byte> bytes);
  void bind(int position, const std::vector<std::byte>& bytes) { bind(position, std::span<const std::byte>(bytes)); }
  void bind(int position, TimePoint time) { bind(position, time.time_since_epoch().count()); }
  void bind(int position, Duration duration) { bind(position, duration.count()); }
  void check(int code);

  Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

/// BEGIN IMMEDIATE until commit(); rolled back otherwise.
class Transaction {
 public:
  /// Begins the transaction.
  explicit Transaction(Database& database);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  /// The first failure of the whole transaction, in which case nothing of it stays.
  Result<void> commit();

 private:
  Database& database_;
};

}  // namespace weft::store
