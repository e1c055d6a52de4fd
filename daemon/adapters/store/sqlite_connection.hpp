// SPDX-License-Identifier: Apache-2.0
#pragma once
// A file of SQLite, as an engine of the store.

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "daemon/adapters/store/connection.hpp"

namespace weft::store {

/// See Connection for what its members promise.
class SqliteConnection final : public Connection {
 public:
  /// What a connection is for.
  enum class For : std::uint8_t {
    kWriting,
    kReading,
    kLooking,  ///< reading a file that nobody writes: without its log, locks and files beside it
  };

  /// Opens an existing file or, for writing, makes one. Nothing is written to it yet.
  static Result<std::unique_ptr<SqliteConnection>> open(const std::filesystem::path& path, For use = For::kWriting);

  const std::string& name() const override { return path_; }
  Result<std::unique_ptr<Cursor>> prepare(std::string_view sql) override;
  Result<void> run(const char* sql) override;
  Result<void> begin() override { return run("BEGIN IMMEDIATE"); }
  Result<void> commit() override { return run("COMMIT"); }
  void roll_back() override;
  Result<std::int64_t> changes() override { return sqlite3_changes64(handle_.get()); }
  /// SQLite would go on writing a file that was removed, where nobody can find it again.
  Result<void> check_place() override;
  void lead(std::int64_t) override {}
  bool unsettled() const override { return false; }
  std::optional<bool> take_settled() override { return std::nullopt; }
  bool take_loss() override { return false; }

  /// Whether closing works the log into the file; it does unless told otherwise.
  void keep_log_on_close(bool keep);

 private:
  friend class SqliteCursor;
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  SqliteConnection(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  Result<void> check(int code) const;

  std::unique_ptr<sqlite3, Close> handle_;
  std::string path_;
};

}  // namespace weft::store
