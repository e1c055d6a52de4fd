// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the tables speak to, whichever engine stands behind it. The first failure is kept by the Database and everything
// after it does nothing, so that a transaction reads as what it does and is judged once, at its end.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/adapters/store/connection.hpp"
#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::store {

/// One connection. Not thread-safe: one lane uses it.
class Database {
 public:
  /// Takes a connection that is open.
  explicit Database(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}

  /// Runs statements that give no rows (or whose rows do not matter).
  void run(const char* sql);
  /// Notes a failure that was found by looking at the data.
  void fail(ErrorCode code, std::string message);
  /// A failure was noted since the last outcome(); statements do nothing until then.
  bool failed() const { return failure_.has_value(); }
  /// Fails when the file was removed, or another stands in its place.
  void require_in_place();
  /// What has happened since the last call: nothing wrong, or the first failure, which is forgotten by this.
  Result<void> outcome();

  /// First column of the first row, or 0 when there is none.
  std::int64_t number(const char* sql);
  /// Rows changed by the last statement; 0 after a failure.
  std::int64_t changes() { return keep(connection_->changes()); }
  /// The engine's side.
  Connection& connection() { return *connection_; }
  /// What messages call it: a path, or an address without a password.
  const std::string& name() const { return connection_->name(); }

 private:
  friend class Statement;
  friend class Transaction;
  /// Keeps the failure of `done`, if it is the first. Its value, or T{}.
  template <typename T>
  T keep(Result<T> done) {
    if (done) return std::move(*done);
    if (!failure_) failure_ = std::move(done.error());
    return T{};
  }
  void keep(Result<void> done) {
    if (!done && !failure_) failure_ = std::move(done.error());
  }

  std::unique_ptr<Connection> connection_;
  std::optional<Error> failure_;
};

/// A prepared statement. `run` for one without rows; `query`, then `next` until false, for one with rows.
class Statement {
 public:
  /// Compiles `sql`. A failure is noted by the Database, and the statement does nothing.
  Statement(Database& database, std::string_view sql);

  /// Runs the statement with these values for its parameters, in order. In a transaction a failure may be noted later.
  template <typename... Values>
  void run(const Values&... values) {
    finish(std::array<Value, sizeof...(values)>{value(values)...});
  }
  /// Binds the values to the parameters; next() gives the rows.
  template <typename... Values>
  void query(const Values&... values) {
    start(std::array<Value, sizeof...(values)>{value(values)...});
  }
  /// The same for a number of values that is known late.
  void start(std::span<const Value> values);
  /// False when there are no more rows, or after a failure: the Database knows which.
  bool next();

  /// The column of the present row, from 0, is NULL.
  bool null(int column) const { return cursor_->null(column); }
  /// Column of the present row, from 0. 0 for NULL.
  std::int64_t integer(int column) const { return cursor_->integer(column); }
  /// Integers of SQL are signed; GUIDs are kept bit by bit.
  std::uint64_t bits(int column) const { return static_cast<std::uint64_t>(integer(column)); }
  /// NaN for NULL: that is how one is kept.
  double real(int column) const;
  /// Column of the present row as text; empty for NULL.
  std::string text(int column) const { return cursor_->text(column); }
  /// Column of the present row as bytes; valid until the next call of next().
  std::span<const std::byte> blob(int column) const { return cursor_->blob(column); }
  /// Column of the present row as a time; stored in nanoseconds since 1970.
  TimePoint time(int column) const { return TimePoint(Duration(integer(column))); }

 private:
  void finish(std::span<const Value> values);
  static Value value(std::integral auto value) { return static_cast<std::int64_t>(value); }
  static Value value(double value) { return value; }
  static Value value(std::string_view text) { return text; }
  static Value value(const char* text) { return std::string_view(text); }
  static Value value(const std::string& text) { return std::string_view(text); }
  static Value value(const std::vector<std::byte>& bytes) { return std::span<const std::byte>(bytes); }
  static Value value(TimePoint time) { return std::int64_t{time.time_since_epoch().count()}; }
  static Value value(Duration duration) { return std::int64_t{duration.count()}; }

  Database& database_;
  std::unique_ptr<Cursor> cursor_;
};

/// A transaction until commit(); rolled back otherwise.
class Transaction {
 public:
  /// Begins the transaction.
  explicit Transaction(Database& database);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  /// The first failure of the whole transaction, in which case nothing of it stays (see Connection::commit()).
  Result<void> commit();

 private:
  Database& database_;
};

}  // namespace weft::store
