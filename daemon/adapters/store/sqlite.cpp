// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/sqlite.hpp"

#include <limits>

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

}  // namespace

Result<Database> Database::open(const std::filesystem::path& path) {
  sqlite3* raw = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(raw, path.string());
  if (code != SQLITE_OK) {
    database.note(code);
    return tl::unexpected<Error>(*database.failure_);
  }
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, 2000);  // another program may look into the file
  return database;
}

void Database::note(int code) {
  if (failure_) return;
  const char* why = handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code);
  failure_ = Error{to_error_code(code), path_ + ": " + why};
}

void Database::fail(ErrorCode code, std::string message) {
  if (!failure_) failure_ = Error{code, path_ + ": " + std::move(message)};
}

void Database::run(const char* sql) {
  if (failed()) return;
  if (const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr); code != SQLITE_OK) note(code);
}

void Database::require_in_place() {
  int moved = 0;
  if (!failed() && sqlite3_file_control(handle_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved)
    fail(ErrorCode::kUnavailable, "was removed or replaced while in use: put it back, or restart weftd");
}

Result<void> Database::outcome() {
  if (!failure_) return {};
  Error error = std::move(*failure_);
  failure_.reset();
  return tl::unexpected<Error>(std::move(error));
}

std::int64_t Database::number(const char* sql) {
  Statement statement(*this, sql);
  statement.query();
  return statement.next() ? statement.integer(0) : 0;
}

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
  if (database_.failed()) return;
  sqlite3_stmt* raw = nullptr;
  check(sqlite3_prepare_v2(database_.handle(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr));
  handle_.reset(raw);
}

void Statement::check(int code) {
  if (code != SQLITE_OK) database_.note(code);
}

bool Statement::next() {
  if (!handle_ || database_.failed()) return false;
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) database_.note(code);
  sqlite3_reset(handle_.get());
  return false;
}

void Statement::bind(int position, std::string_view text) {
  // A null pointer would bind NULL, and an empty text is not that.
  check(sqlite3_bind_text64(handle_.get(), position, text.empty() ? "" : text.data(), text.size(), SQLITE_TRANSIENT,
                            SQLITE_UTF8));
}

void Statement::bind(int position, std::span<const std::byte> bytes) {
  check(sqlite3_bind_blob64(handle_.get(), position, bytes.data(), bytes.size(), SQLITE_TRANSIENT));
}

double Statement::real(int column) const {
  if (sqlite3_column_type(handle_.get(), column) == SQLITE_NULL) return std::numeric_limits<double>::quiet_NaN();
  return sqlite3_column_double(handle_.get(), column);
}

std::string Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  return data == nullptr ? std::string()
                         : std::string(data, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column)));
}

std::span<const std::byte> Statement::blob(int column) const {
  const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(handle_.get(), column));
  return {data, data == nullptr ? 0 : static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

Transaction::Transaction(Database& database) : database_(database) {
  database_.run("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  // Some failures (disk full) roll back by themselves.
  if (sqlite3_get_autocommit(database_.handle()) == 0)
    sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

Result<void> Transaction::commit() {
  database_.run("COMMIT");
  return database_.outcome();
}

}  // namespace weft::store
