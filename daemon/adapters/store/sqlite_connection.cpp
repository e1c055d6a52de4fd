// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/sqlite_connection.hpp"

namespace weft::store {
namespace {

ErrorCode to_error_code(int code) {
  switch (code & 0xFF) {
    case SQLITE_FULL:
      return ErrorCode::kResourceExhausted;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::kCorrupt;
    case SQLITE_IOERR:
    case SQLITE_BUSY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return ErrorCode::kUnavailable;
    default:
      return ErrorCode::kInternal;
  }
}

/// A path within a name that starts with "file:": https://www.sqlite.org/uri.html, 3.1.
std::string in_uri(const std::string& path) {
  std::string text;
  for (const char c : path) {
    if (c == '%')
      text += "%25";
    else if (c == '?')
      text += "%3f";
    else if (c == '#')
      text += "%23";
    else
      text += c;
  }
  return text;
}

}  // namespace

/// A compiled statement.
class SqliteCursor final : public Cursor {
 public:
  SqliteCursor(const SqliteConnection& connection, sqlite3_stmt* handle) : connection_(connection), handle_(handle) {}

  Result<void> start(std::span<const Value> values) override {
    sqlite3_reset(handle_.get());
    int position = 0;
    for (const Value& value : values) {
      ++position;
      const int code = std::visit([&](const auto& each) { return bind(position, each); }, value);
      if (auto done = connection_.check(code); !done) return done;
    }
    return {};
  }

  Result<bool> next() override {
    const int code = sqlite3_step(handle_.get());
    if (code == SQLITE_ROW) return true;
    Result<void> done = code == SQLITE_DONE ? Result<void>() : connection_.check(code);
    sqlite3_reset(handle_.get());
    if (!done) return tl::unexpected<Error>(std::move(done.error()));
    return false;
  }

  bool null(int column) const override { return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL; }
  std::int64_t integer(int column) const override { return sqlite3_column_int64(handle_.get(), column); }
  double real(int column) const override { return sqlite3_column_double(handle_.get(), column); }

  std::string text(int column) const override {
    const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
    return data == nullptr ? std::string()
                           : std::string(data, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column)));
  }

  std::span<const std::byte> blob(int column) const override {
    const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(handle_.get(), column));
    return {data, data == nullptr ? 0 : static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
  }

 private:
  int bind(int position, std::int64_t value) { return sqlite3_bind_int64(handle_.get(), position, value); }
  /// NaN becomes NULL.
  int bind(int position, double value) { return sqlite3_bind_double(handle_.get(), position, value); }
  int bind(int position, std::string_view text) {
    // A null pointer would bind NULL, and an empty text is not that.
    return sqlite3_bind_text64(handle_.get(), position, text.empty() ? "" : text.data(), text.size(), SQLITE_TRANSIENT,
                               SQLITE_UTF8);
  }
  int bind(int position, std::span<const std::byte> bytes) {
    return sqlite3_bind_blob64(handle_.get(), position, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
  }

  struct Finalize {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };
  const SqliteConnection& connection_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

Result<std::unique_ptr<SqliteConnection>> SqliteConnection::open(const std::filesystem::path& path, For use) {
  sqlite3* raw = nullptr;
  const int mode = use == For::kWriting ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  const int names = use == For::kLooking ? SQLITE_OPEN_URI : 0;
  const std::string name = use == For::kLooking ? "file:" + in_uri(path.string()) + "?immutable=1" : path.string();
  const int code = sqlite3_open_v2(name.c_str(), &raw, mode | names | SQLITE_OPEN_NOMUTEX, nullptr);
  std::unique_ptr<SqliteConnection> connection(new SqliteConnection(raw, path.string()));
  if (auto opened = connection->check(code); !opened) return tl::unexpected<Error>(opened.error());
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, 2000);  // another program may look into the file
  return connection;
}

Result<void> SqliteConnection::check(int code) const {
  if (code == SQLITE_OK) return {};
  const char* why = handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code);
  return fail(to_error_code(code), path_ + ": " + why);
}

Result<std::unique_ptr<Cursor>> SqliteConnection::prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
  std::unique_ptr<Cursor> cursor = std::make_unique<SqliteCursor>(*this, raw);
  if (auto done = check(code); !done) return tl::unexpected<Error>(done.error());
  return cursor;
}

Result<void> SqliteConnection::run(const char* sql) {
  return check(sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr));
}

void SqliteConnection::roll_back() {
  // Some failures (disk full) roll back by themselves.
  if (sqlite3_get_autocommit(handle_.get()) == 0) sqlite3_exec(handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

Result<void> SqliteConnection::check_place() {
  int moved = 0;
  if (sqlite3_file_control(handle_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved)
    return fail(ErrorCode::kUnavailable,
                path_ + ": was removed or replaced while in use: put it back, or restart weftd");
  return {};
}

void SqliteConnection::keep_log_on_close(bool keep) {
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep ? 1 : 0, nullptr);
}

}  // namespace weft::store
