// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/store_mark.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <system_error>

#include "daemon/adapters/store/sql.hpp"
#include "daemon/adapters/store/sqlite_connection.hpp"
#include "daemon/adapters/store/use_marks.hpp"
#include "daemon/platform/runtime/durable_file.hpp"
#include "daemon/platform/runtime/regular_file.hpp"

namespace weft::store {
namespace {

constexpr std::size_t kLongestMark = 4096;

std::filesystem::path mark_file(const std::filesystem::path& directory) {
  return directory / "store";
}

struct Mark {
  std::string installation, name;
  std::int64_t epoch = 0;
  std::uint64_t next_incident = 1;  ///< see mark_next_incident()
};

/// Empty texts where there is none.
Result<Mark> read_mark(const std::filesystem::path& directory) {
  const auto text = runtime::read_regular(mark_file(directory), kLongestMark);
  if (!text && text.error().code == ErrorCode::kNotFound) return Mark{};
  if (!text) return tl::unexpected<Error>(text.error());
  std::array<std::string_view, 4> lines;
  std::string_view rest = *text;
  for (std::string_view& line : lines) {
    line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  Mark mark{std::string(lines[0]), std::string(lines[1])};
  // Versions before this one wrote no epoch, or no id.
  std::from_chars(lines[3].data(), lines[3].data() + lines[3].size(), mark.next_incident);
  std::from_chars(lines[2].data(), lines[2].data() + lines[2].size(), mark.epoch);
  return mark;
}

Result<void> keep(const std::filesystem::path& directory, const Mark& mark) {
  std::string text = mark.installation + '\n' + mark.name + '\n' + std::to_string(mark.epoch) + '\n';
  if (mark.next_incident > 1) text += std::to_string(mark.next_incident) + '\n';
  if (const auto present = runtime::read_regular(mark_file(directory), kLongestMark); present && *present == text)
    return {};
  return runtime::replace_durably(mark_file(directory), text);
}

/// What weft.db says of itself. Damage is not looked for: whoever uses it does that.
Result<PostgresFound> look_at_file(const std::filesystem::path& file) {
  auto opened = SqliteConnection::open(file);
  if (!opened) return tl::unexpected<Error>(opened.error());
  (*opened)->keep_log_on_close(true);
  Database database(std::move(*opened));
  PostgresFound found{.name = database.name()};
  Statement id(database, "SELECT id FROM installation");
  id.query();
  if (id.next()) found.installation = id.text(0);
  id.next();
  found.next_incident =
      static_cast<std::uint64_t>(database.number("SELECT value FROM number WHERE name = 'next_incident'"));
  found.audit_records = static_cast<std::uint64_t>(database.number("SELECT records FROM audit_end"));
  // It may be an older weftd's.
  if (database.number("SELECT count(*) FROM sqlite_schema WHERE name = 'last_use'") > 0)
    found.uses = read_uses(database);
  if (auto outcome = database.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  return found;
}

/// What stands behind the address in the name of a database with a schema of its own.
constexpr std::string_view kSchema = " (schema ";
constexpr std::string_view kOfShard = " (schema weft_shard_";

std::string without_schema(const std::string& name) {
  return name.substr(0, name.find(kSchema));
}

/// Empty: of none.
std::string shard_of(const std::string& name) {
  const std::size_t at = name.find(kOfShard);
  return at == std::string::npos ? std::string()
                                 : name.substr(at + kOfShard.size(), name.size() - at - kOfShard.size() - 1);
}

std::string shard_text(const std::string& shard) {
  return shard.empty() ? "a weftd of no site" : "shard " + shard;
}

}  // namespace

Result<void> check_mark_for_file(const std::filesystem::path& directory) {
  const auto mark = read_mark(directory);
  if (!mark) return tl::unexpected<Error>(mark.error());
  if (mark->installation.empty()) return {};
  std::error_code ignored;
  const bool has_file = std::filesystem::exists(directory / "weft.db", ignored);
  return fail(ErrorCode::kFailedPrecondition, directory.string() + " goes with the database " + mark->name +
                                                  ", and what happened lately is there: set store.url, or " +
                                                  (has_file ? "move weft.db* away (history.db stays) and " : "") +
                                                  "copy it back with weftd store copy; to go on without it, remove " +
                                                  mark_file(directory).string());
}

Result<void> check_mark_for_postgres(const std::filesystem::path& directory, const PostgresFound& found) {
  const auto mark = read_mark(directory);
  if (!mark) return tl::unexpected<Error>(mark.error());
  const auto refuse = [](std::string why) { return fail(ErrorCode::kFailedPrecondition, std::move(why)); };
  if (found.is_unfinished) return refuse(found.name + ": " + kUnfinishedCopy);
  if (!mark->installation.empty()) {
    if (mark->installation == found.installation) return {};
    const std::string before = shard_of(mark->name), now = shard_of(found.name);
    if (before.empty() && !now.empty() && found.installation.empty() &&
        without_schema(mark->name) == without_schema(found.name))
      return refuse(directory.string() + " goes with " + mark->name + ", a weftd of no site, and shard " + now +
                    " is empty: to make that its shard, run " + rename_to_shard(now) +
                    " in that database while no weftd uses it (for another schema than public, name that); if this "
                    "weftd was never that one, set another state_dir");
    if (before != now && without_schema(mark->name) == without_schema(found.name))
      return refuse(directory.string() + " goes with " + shard_text(before) + " of the database " +
                    without_schema(mark->name) + ", and this weftd is " + shard_text(now) +
                    ": correct site.shard, or set another state_dir; to go on as " + shard_text(now) + ", remove " +
                    mark_file(directory).string());
    return refuse(directory.string() + " goes with the database " + mark->name + " (installation " +
                  mark->installation + "), but " + found.name +
                  (found.installation.empty() ? " is empty" : " is installation " + found.installation) +
                  ": correct store.url, or set another state_dir; to go on with that database, remove " +
                  mark_file(directory).string());
  }
  const std::filesystem::path file = directory / "weft.db";
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored) || std::filesystem::file_size(file, ignored) == 0) return {};
  const auto before = look_at_file(file);
  const std::string advice =
      ": copy it with weftd store copy " + directory.string() +
      " URL into an empty database, or move weft.db* away (history.db stays) to go on with what " + found.name +
      " holds";
  if (!before || before->installation != found.installation)
    return refuse(file.string() + " holds incidents that " + found.name + " does not know" + advice);
  const bool was_used = !before->uses.empty() && !found.uses.empty() && !has_newest(found.uses, before->uses);
  const bool is_ahead = before->next_incident > found.next_incident || before->audit_records > found.audit_records;
  if (was_used && !is_ahead && is_full(found.uses))
    return refuse(file.string() + " may have been used after it was copied to " + found.name +
                  ", which was used so often since that it does not tell" + advice);
  if (was_used || is_ahead) return refuse(file.string() + " was used after it was copied to " + found.name + advice);
  return {};
}

Result<std::string> moved_from(const std::filesystem::path& directory, const PostgresFound& found) {
  const auto mark = read_mark(directory);
  if (!mark) return tl::unexpected<Error>(mark.error());
  if (mark->installation.empty() || mark->installation != found.installation || mark->name == found.name)
    return std::string();
  // ALTER SCHEMA … RENAME: the step to a site.
  if (shard_of(mark->name).empty() && !shard_of(found.name).empty() &&
      without_schema(mark->name) == without_schema(found.name))
    return directory.string() + " went with " + mark->name + ", and goes on with it as shard " + shard_of(found.name);
  return directory.string() + " went with " + mark->name + ", and goes on with " + found.name +
         ", which is that database by another address or a copy of it: if a weftd still uses the other one, both lead, "
         "and this one does not know what happens there";
}

Result<void> check_mark_for_copy(const std::filesystem::path& directory, const std::string& installation) {
  const auto mark = read_mark(directory);
  if (!mark) return tl::unexpected<Error>(mark.error());
  if (mark->installation.empty() || mark->installation == installation) return {};
  return fail(ErrorCode::kFailedPrecondition, directory.string() + " goes with the database " + mark->name +
                                                  ", which is another installation: nothing was copied");
}

Result<void> write_mark(const std::filesystem::path& directory, const std::string& installation,
                        const std::string& name, std::int64_t epoch) {
  const auto before = read_mark(directory);
  if (!before) return tl::unexpected<Error>(before.error());
  Mark mark{installation, name, epoch};
  if (before->installation == installation) {
    mark.epoch = std::max(epoch, before->epoch);
    mark.next_incident = before->next_incident;
  }
  return keep(directory, mark);
}

Result<void> mark_next_incident(const std::filesystem::path& directory, std::uint64_t next) {
  auto mark = read_mark(directory);
  if (!mark) return tl::unexpected<Error>(mark.error());
  if (mark->installation.empty() || mark->next_incident >= next) return {};
  mark->next_incident = next;
  return keep(directory, *mark);
}

Result<std::uint64_t> marked_next_incident(const std::filesystem::path& directory, const std::string& installation) {
  return read_mark(directory).map(
      [&](const Mark& mark) { return mark.installation == installation ? mark.next_incident : 1; });
}

std::string rename_to_shard(const std::string& shard) {
  return "ALTER SCHEMA public RENAME TO weft_shard_" + shard;
}

Result<std::int64_t> marked_epoch(const std::filesystem::path& directory) {
  return read_mark(directory).map([](const Mark& mark) { return mark.epoch; });
}

void remove_mark(const std::filesystem::path& directory) {
  std::error_code ignored;
  std::filesystem::remove(mark_file(directory), ignored);
}

}  // namespace weft::store
