// SPDX-License-Identifier: Apache-2.0
// The careful opening of a file that may be anything.
#include <array>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "daemon/adapters/store/schema.hpp"
#include "daemon/adapters/store/sqlite_connection.hpp"

namespace weft::store {
namespace {

tl::unexpected<Error> refuse(ErrorCode code, const std::filesystem::path& path, const std::string& why) {
  return fail(code,
              path.string() + ' ' + why + "; weftd did not change it. Move it away to start with an empty database");
}

/// Looks at the header without opening the database, because opening one can change it (its log is worked in).
/// Format: https://www.sqlite.org/fileformat.html, 1.3. The version that it tells; 0 for a file that is not there,
/// which only a look into its directory can tell.
Result<std::uint32_t> inspect(const std::filesystem::path& path, const Schema& schema) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return 0U;
  if (status.type() == std::filesystem::file_type::none)
    return fail(ErrorCode::kUnavailable, path.string() + " cannot be looked at: " + error.message());
  if (!std::filesystem::is_regular_file(status)) return refuse(ErrorCode::kCorrupt, path, "is not a file");
  std::array<unsigned char, 100> header{};
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return fail(ErrorCode::kUnavailable, path.string() + " cannot be read: check its owner and mode");
  stream.read(reinterpret_cast<char*>(header.data()), static_cast<std::streamsize>(header.size()));
  const auto got = static_cast<std::size_t>(stream.gcount());
  if (got == 0) return 0U;  // made, then the machine stopped
  const std::string_view magic("SQLite format 3\0", 16);
  if (got < header.size() || std::string_view(reinterpret_cast<const char*>(header.data()), 16) != magic)
    return refuse(ErrorCode::kCorrupt, path, "is not a database");
  const auto word = [&header](std::size_t at) {
    return static_cast<std::uint32_t>(header[at] << 24 | header[at + 1] << 16 | header[at + 2] << 8 | header[at + 3]);
  };
  const std::uint32_t version = word(60);
  const std::uint32_t application = word(68);
  if (application != 0 && application != schema.application_id)
    return refuse(ErrorCode::kCorrupt, path, "belongs to another program");
  if (application != 0 && version > schema.migrations.size())
    return refuse(ErrorCode::kFailedPrecondition, path, newer_version(version, schema.migrations.size()));
  return version;
}

/// Whether something is written that is not in the file yet, or may be there by half.
bool has_log(const std::filesystem::path& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path.string() + "-wal", error);
  return !error && size > 0;
}

/// The same questions once it is open, with its log taken into account.
Result<void> inspect_open(Database& database, const Schema& schema) {
  const auto version = static_cast<std::uint32_t>(database.number("PRAGMA user_version"));
  const auto application = static_cast<std::uint32_t>(database.number("PRAGMA application_id"));
  const std::int64_t tables = database.number("SELECT count(*) FROM sqlite_schema");
  std::string complaint;
  if (schema.verify && !database.failed()) {
    Statement check(database, "PRAGMA quick_check(1)");
    check.query();
    if (check.next() && check.text(0) != "ok") complaint = check.text(0);
  }
  if (const auto outcome = database.outcome(); !outcome) {
    if (outcome.error().code != ErrorCode::kCorrupt) return outcome;
    return refuse(ErrorCode::kCorrupt, database.name(), "is damaged (" + outcome.error().message + ")");
  }
  if (!complaint.empty()) return refuse(ErrorCode::kCorrupt, database.name(), "is damaged (" + complaint + ")");
  if (application != schema.application_id && (application != 0 || tables != 0))
    return refuse(ErrorCode::kCorrupt, database.name(), "belongs to another program");
  if (version > schema.migrations.size())
    return refuse(ErrorCode::kFailedPrecondition, database.name(), newer_version(version, schema.migrations.size()));
  return {};
}

Result<void> migrate(Database& database, const Schema& schema) {
  const auto found = static_cast<std::size_t>(database.number("PRAGMA user_version"));
  for (std::size_t version = found; version < schema.migrations.size(); ++version) {
    Transaction transaction(database);
    database.run(schema.migrations[version]);
    database.run(("PRAGMA application_id = " + std::to_string(schema.application_id)).c_str());
    database.run(("PRAGMA user_version = " + std::to_string(version + 1)).c_str());
    if (auto done = transaction.commit(); !done) return done;
  }
  // So that the header alone tells the version (see inspect).
  if (found < schema.migrations.size()) database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  return database.outcome();
}

}  // namespace

std::string newer_version(std::size_t version, std::size_t known) {
  return "has schema version " + std::to_string(version) + ", but this weftd supports versions up to " +
         std::to_string(known) + ": it is from a newer weftd";
}

Result<Database> open_database(const std::filesystem::path& path, const Schema& schema) {
  if (auto inspected = inspect(path, schema); !inspected) return tl::unexpected<Error>(inspected.error());
  auto opened = SqliteConnection::open(path);
  if (!opened) return tl::unexpected<Error>(opened.error());
  SqliteConnection& file = **opened;
  Database database(std::move(*opened));
  // Closing would work the log into the file, and one that we refuse is not ours to change.
  file.keep_log_on_close(true);
  if (auto inspected = inspect_open(database, schema); !inspected) return tl::unexpected<Error>(inspected.error());
  file.keep_log_on_close(false);
  database.run(schema.creation);
  database.run(schema.connection);
  if (auto migrated = migrate(database, schema); !migrated) return tl::unexpected<Error>(migrated.error());
  return database;
}

Result<std::uint32_t> version_of_database(const std::filesystem::path& path, const Schema& schema) {
  return inspect(path, schema);
}

Result<bool> look_for_damage(const std::filesystem::path& path, const Schema& schema) {
  if (has_log(path)) return false;
  auto opened = SqliteConnection::open(path, SqliteConnection::For::kLooking);
  if (!opened) return tl::unexpected<Error>(opened.error());
  Database database(std::move(*opened));
  const auto inspected = inspect_open(database, schema);
  if (has_log(path)) return false;  // somebody began to write meanwhile
  if (!inspected) return tl::unexpected<Error>(inspected.error());
  return true;
}

Result<Database> look_into_database(const std::filesystem::path& path, const Schema& schema) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return fail(ErrorCode::kUnavailable, path.string() + " was removed");
  // SQLite deletes the log of a database that is empty, and it is the writer's.
  if (std::filesystem::file_size(path, error) == 0 || error || !inspect(path, schema))
    return fail(ErrorCode::kUnavailable,
                path.string() + " is not what this weftd writes: it was replaced while in use");
  auto opened = SqliteConnection::open(path, SqliteConnection::For::kReading);
  if (!opened) return tl::unexpected<Error>(opened.error());
  Database database(std::move(*opened));
  const auto version = static_cast<std::size_t>(database.number("PRAGMA user_version"));
  const auto application = static_cast<std::uint32_t>(database.number("PRAGMA application_id"));
  if (auto outcome = database.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  if (application != schema.application_id || version != schema.migrations.size())
    return fail(ErrorCode::kUnavailable,
                path.string() + " is not what this weftd writes: it was replaced while in use");
  return database;
}

}  // namespace weft::store
