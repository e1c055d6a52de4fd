// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an engine of the store must do: SQLite (sqlite_connection.hpp) and PostgreSQL (postgres_connection.hpp) do it.
// Parameters are written `?`, or `?1`, `?2` where one stands twice. Rows of a statement are read to their end before
// another statement begins.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "fabric/result.hpp"

namespace weft::store {

/// The value of a parameter. Texts and bytes are copied before start() returns.
using Value = std::variant<std::int64_t, double, std::string_view, std::span<const std::byte>>;

/// A statement with its rows. Columns count from 0 and are those of the present row.
class Cursor {
 public:
  virtual ~Cursor() = default;
  /// Begins anew, with these values for the parameters.
  virtual Result<void> start(std::span<const Value> values) = 0;
  /// The same to its end, for a statement whose rows do not matter. In a transaction it may fail later: with what
  /// follows there, at the latest with Connection::commit().
  virtual Result<void> run(std::span<const Value> values) {
    if (auto begun = start(values); !begun) return begun;
    while (true) {
      const auto row = next();
      if (!row) return tl::unexpected<Error>(row.error());
      if (!*row) return {};
    }
  }
  /// Goes to the next row. False: there is none, and the statement is at its end.
  virtual Result<bool> next() = 0;
  /// The column holds NULL.
  virtual bool null(int column) const = 0;
  /// 0 for NULL.
  virtual std::int64_t integer(int column) const = 0;
  /// Not called for NULL.
  virtual double real(int column) const = 0;
  /// Empty for NULL.
  virtual std::string text(int column) const = 0;
  /// Valid until the next call of next().
  virtual std::span<const std::byte> blob(int column) const = 0;
};

/// One connection to a database. Not thread-safe: one lane uses it.
class Connection {
 public:
  virtual ~Connection() = default;
  /// What messages call the database: a path, or an address without a password.
  virtual const std::string& name() const = 0;
  /// Compiles `sql`; the cursor must end before the connection.
  virtual Result<std::unique_ptr<Cursor>> prepare(std::string_view sql) = 0;
  /// Runs statements whose rows do not matter.
  virtual Result<void> run(const char* sql) = 0;
  /// Begins a transaction that may write.
  virtual Result<void> begin() = 0;
  /// Success: it stays, whatever happens to the machine. On failure nothing stays, unless unsettled() says that this is
  /// not known.
  virtual Result<void> commit() = 0;
  /// Gives an open transaction up; does nothing where none is open.
  virtual void roll_back() = 0;
  /// Rows changed by the last statement; fails where Cursor::run() said that one may fail later, and it did.
  virtual Result<std::int64_t> changes() = 0;
  /// Fails when what was opened is no longer where it was.
  virtual Result<void> check_place() = 0;
  /// The last commit() failed, and it is not known whether it stayed. The next begin() finds out, or fails.
  virtual bool unsettled() const = 0;
  /// What is written from now on is of this epoch (see Lease). SQLite has none.
  virtual void lead(std::int64_t epoch) = 0;
  /// What begin() found out since the last call: true: that commit had stayed. None: nothing was to be found out.
  virtual std::optional<bool> take_settled() = 0;
  /// Whether begin() found since the last call that the database does not have what commit() had promised: another
  /// server took over that never had it. SQLite loses nothing.
  virtual bool take_loss() = 0;
};

}  // namespace weft::store
