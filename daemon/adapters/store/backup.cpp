// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/backup.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "daemon/adapters/store/audit_table.hpp"
#include "daemon/adapters/store/schema.hpp"
#include "daemon/adapters/store/sql.hpp"
#include "daemon/adapters/store/sqlite_connection.hpp"
#include "daemon/adapters/store/state_dir.hpp"
#include "daemon/adapters/store/store_mark.hpp"
#include "daemon/platform/runtime/unique_fd.hpp"

namespace weft::store {
namespace {

constexpr const char* kFile = "weft.db";
constexpr const char* kCopyPrefix = ".backup-";
/// Ids that a weftd gave after the backup are not given again, if there were not more of them.
constexpr int kGapInIds = 10'000;
/// In other_installation: it is not another one, but what this store was before it was restored.
constexpr std::int64_t kFormerSelf = std::numeric_limits<std::int64_t>::max();

void remove_with_logs(const std::filesystem::path& path) {
  std::error_code ignored;
  for (const char* part : {"", "-wal", "-shm", "-journal"}) std::filesystem::remove(path.string() + part, ignored);
}

/// A file that is removed with this.
struct Scratch {
  std::filesystem::path path;
  ~Scratch() { remove_with_logs(path); }
};

/// An empty file of a new name that starts with `prefix`, for its owner alone.
Result<std::filesystem::path> make_scratch(const std::filesystem::path& prefix) {
  std::string name = prefix.string() + "XXXXXX";
  const runtime::UniqueFd fd(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd)
    return fail(errno == ENOSPC ? ErrorCode::kResourceExhausted : ErrorCode::kUnavailable,
                "no file can be made in " + prefix.parent_path().string() + ": " + errno_message(errno));
  return std::filesystem::path(name);
}

/// What copies left that were broken off: weftd was killed, or the power went.
void remove_leftovers(const std::filesystem::path& state_dir) {
  std::error_code ignored;
  std::vector<std::filesystem::path> left;
  for (const auto& entry : std::filesystem::directory_iterator(state_dir, ignored))
    if (entry.path().filename().string().starts_with(kCopyPrefix)) left.push_back(entry.path());
  for (const std::filesystem::path& path : left) std::filesystem::remove(path, ignored);
}

Result<void> sync(const std::filesystem::path& path) {
  const runtime::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0)
    return fail(ErrorCode::kUnavailable, path.string() + " cannot be written to the disk: " + errno_message(errno));
  return {};
}

/// `error` without what only concerns whoever starts weftd, and with `name` in the place of `path`: the operator knows
/// his file, not the copy of it.
Error of_file(Error error, const std::filesystem::path& path, const std::filesystem::path& name) {
  std::string& text = error.message;
  text.erase(std::min(text.find("; weftd did not change it"), text.size()));
  const std::string is = path.string(), becomes = name.string();
  for (std::size_t at = 0; (at = text.find(is, at)) != std::string::npos; at += becomes.size())
    text.replace(at, is.size(), becomes);
  return error;
}

/// Looks at every page and index, and at every record of the audit trail.
Result<AuditProof> look_through(Database& database) {
  Statement check(database, "PRAGMA integrity_check(1)");
  check.query();
  if (check.next() && check.text(0) != "ok") database.fail(ErrorCode::kCorrupt, "is damaged (" + check.text(0) + ")");
  check.next();
  const AuditProof audit = verify_audit(database);
  if (auto outcome = database.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  return audit;
}

/// Whose a store is, and what it has given out.
struct Identity {
  std::string id;
  std::vector<std::string> before;  ///< its ids before it was restored
  std::map<std::string, std::int64_t> numbers;
  bool is_fresh = false;  ///< nothing happened yet

  bool was(const std::string& other) const { return std::ranges::find(before, other) != before.end(); }
  /// Nobody has gone from one of them to the other.
  bool is_foreign_to(const Identity& other) const { return id != other.id && !was(other.id) && !other.was(id); }
};

Identity read_identity(Database& database) {
  Identity found;
  Statement own(database, "SELECT id FROM installation");
  own.query();
  while (own.next()) found.id = own.text(0);
  Statement former(database, "SELECT id FROM other_installation WHERE plan = ?");
  former.query(kFormerSelf);
  while (former.next()) found.before.push_back(former.text(0));
  Statement numbers(database, "SELECT name, value FROM number WHERE name LIKE 'next\\_%' ESCAPE '\\'");
  numbers.query();
  found.is_fresh = database.number("SELECT records FROM audit_end") == 0;
  for (; numbers.next(); found.is_fresh &= numbers.integer(1) <= 1) found.numbers[numbers.text(0)] = numbers.integer(1);
  return found;
}

/// None where there is no such file, or it cannot be read: that may be why somebody goes back to a backup.
std::optional<Identity> identity_of(const std::filesystem::path& file) {
  if (const auto version = version_of_database(file, state_schema()); !version || *version == 0) return std::nullopt;
  auto opened = SqliteConnection::open(file, SqliteConnection::For::kReading);
  if (!opened) return std::nullopt;
  Database database(std::move(*opened));
  Identity found = read_identity(database);
  if (!database.outcome()) return std::nullopt;
  return found;
}

/// What a weftd must find so that nothing of the time since the backup is taken for something else. Returns how many
/// enrolment tokens it took back.
Result<std::uint64_t> begin_new_life(Database& database, const std::optional<Identity>& replaced, TimePoint now) {
  Transaction transaction(database);
  // Marks of before are foreign, and no newer ones of that store are a sign of another weftd.
  Statement former(database,
                   "INSERT INTO other_installation VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET plan = excluded.plan");
  former.run(read_identity(database).id, kFormerSelf);
  Statement number(database, "UPDATE number SET value = max(value, ?) WHERE name = ?");
  if (replaced) {
    former.run(replaced->id, kFormerSelf);
    for (const std::string& id : replaced->before) former.run(id, kFormerSelf);
    for (const auto& [name, value] : replaced->numbers) number.run(value, name);
  }
  Statement(database, "UPDATE installation SET id = lower(hex(randomblob(8)))").run();
  Statement(database, "UPDATE number SET value = value + ? WHERE name LIKE 'next\\_%' ESCAPE '\\'").run(kGapInIds);
  // Whether people stopped automation meanwhile is not known.
  Statement(database, "UPDATE remedy SET hands_off = 1, hands_off_reason = ?")
      .run("the store was restored from a backup: look at what is out of service, then let go");
  // Nor is it known which tokens were used or revoked meanwhile: none of them may count a second time.
  Statement(database, "DELETE FROM enroll_token WHERE used = 0").run();
  const auto revoked = static_cast<std::uint64_t>(database.changes());
  AuditRecord record;
  record.at = now;
  record.who = "weftd store restore";
  record.what = "store restored";
  record.detail = "from a backup; what happened since it was made is not known";
  if (revoked > 0) record.detail += "; its unused enrollment tokens were taken back: " + std::to_string(revoked);
  append_audit(database, std::span(&record, 1));
  if (auto committed = transaction.commit(); !committed) return tl::unexpected<Error>(committed.error());
  return revoked;
}

/// Copies `backup` to `place`, for its owner alone, with the log that a plain copy of a running weftd's directory has
/// beside it.
Result<void> copy_with_log(const std::filesystem::path& backup, const std::filesystem::path& place) {
  std::error_code error;
  for (const char* part : {"", "-wal"}) {
    const std::filesystem::path from = backup.string() + part;
    if (*part != '\0' && !std::filesystem::exists(from, error)) continue;
    std::filesystem::copy_file(from, place.string() + part, std::filesystem::copy_options::overwrite_existing, error);
    // That took the mode along, too.
    constexpr auto kOwnerOnly = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
    if (!error) std::filesystem::permissions(place.string() + part, kOwnerOnly, error);
    if (error)
      return fail(error == std::errc::no_space_on_device ? ErrorCode::kResourceExhausted : ErrorCode::kUnavailable,
                  from.string() + " cannot be copied to " + place.parent_path().string() + ": " + error.message());
  }
  return {};
}

/// The copy `place` of `backup` becomes one that a weftd can take in the place of `replaced`.
Result<RestoredBackup> prepare(const std::filesystem::path& backup, const std::filesystem::path& place,
                               const std::filesystem::path& replaced, TimePoint now,
                               const RestoreProgress& on_progress) {
  const auto known = [&](Error error) { return tl::unexpected<Error>(of_file(std::move(error), place, backup)); };
  on_progress("copies " + backup.string());
  if (auto copied = copy_with_log(backup, place); !copied) return tl::unexpected<Error>(copied.error());
  on_progress("looks through " + backup.string());
  auto database = open_database(place, state_schema());
  if (!database) return known(database.error());
  auto audit = look_through(*database);
  if (!audit) return known(audit.error());
  const Identity identity = read_identity(*database);
  const std::optional<Identity> present = identity_of(replaced);
  if (present && !present->is_fresh && identity.is_foreign_to(*present))
    return fail(ErrorCode::kFailedPrecondition,
                backup.string() + " is of another installation (" + identity.id + ") than " + replaced.string() + " (" +
                    present->id + "): to put it there nevertheless, move " + replaced.string() + " away first");
  const auto begun = begin_new_life(*database, present, now);
  if (!begun) return known(begun.error());
  database->run("PRAGMA wal_checkpoint(TRUNCATE)");  // closing would do so without a word about a full disk
  if (auto outcome = database->outcome(); !outcome) return known(outcome.error());
  return RestoredBackup{.audit = std::move(*audit), .revoked_tokens = *begun, .kept = {}};
}

/// Gives `file` to the owner of its directory, where we may: root restores for the user that weftd runs as.
Result<void> give_to_owner(const std::filesystem::path& file) {
  struct stat owner {};
  if (::geteuid() != 0) return {};
  if (::stat(file.parent_path().c_str(), &owner) == 0 && ::lchown(file.c_str(), owner.st_uid, owner.st_gid) == 0)
    return {};
  return fail(ErrorCode::kUnavailable,
              file.string() + " cannot be given to the owner of its directory: " + errno_message(errno));
}

/// A second name for `place` and its log, and `fresh` in their place. At every moment there is a whole weft.db: without
/// one weftd would begin anew.
Result<std::filesystem::path> exchange(const std::filesystem::path& fresh, const std::filesystem::path& place,
                                       TimePoint now) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  const std::filesystem::path kept = place.string() + ".before-" + std::to_string(seconds);
  std::error_code error;
  const auto refuse = [&error](const std::filesystem::path& what, const char* why) {
    return fail(ErrorCode::kUnavailable, what.string() + why + error.message());
  };
  bool is_kept = false;
  for (const char* part : {"", "-wal"}) {
    const std::filesystem::path from = place.string() + part;
    if (!std::filesystem::exists(from, error)) continue;
    std::filesystem::create_hard_link(from, kept.string() + part, error);
    if (error) return refuse(kept.string() + part, " cannot be made: ");
    is_kept = true;
  }
  // A log beside another file would be worked into that.
  for (const char* part : {"-wal", "-shm"}) {
    std::filesystem::remove(place.string() + part, error);
    if (error) return refuse(place.string() + part, " cannot be removed: ");
  }
  std::filesystem::rename(fresh, place, error);
  if (error) return refuse(place, " cannot be replaced: ");
  if (auto synced = sync(place.parent_path()); !synced) return tl::unexpected<Error>(synced.error());
  return is_kept ? kept : std::filesystem::path();
}

}  // namespace

Result<Backup> make_backup(const std::filesystem::path& state_dir) {
  remove_leftovers(state_dir);
  auto path = make_scratch(state_dir / kCopyPrefix);
  if (!path) return tl::unexpected<Error>(path.error());
  const Scratch scratch{*path};
  {
    auto database = look_into_database(state_dir / kFile, state_schema());
    if (!database) return tl::unexpected<Error>(database.error());
    // One moment of the database, without what was deleted: https://www.sqlite.org/lang_vacuum.html, "VACUUM INTO".
    Statement(*database, "VACUUM INTO ?").run(scratch.path.string());
    if (auto outcome = database->outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  }
  auto copy = look_into_database(scratch.path, state_schema());
  auto audit = copy ? look_through(*copy) : Result<AuditProof>(tl::unexpected<Error>(copy.error()));
  if (!audit) return tl::unexpected<Error>(of_file(audit.error(), scratch.path, state_dir / kFile));
  Backup backup{.file = std::make_unique<std::ifstream>(scratch.path, std::ios::binary), .audit = std::move(*audit)};
  std::error_code error;
  backup.size = std::filesystem::file_size(scratch.path, error);
  if (error || !*backup.file)
    return fail(ErrorCode::kUnavailable, "the copy in " + state_dir.string() + " was removed");
  return backup;
}

Result<RestoredBackup> restore_backup(const std::filesystem::path& backup, const std::filesystem::path& state_dir,
                                      TimePoint now, const RestoreProgress& on_progress) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(backup, error))
    return fail(ErrorCode::kNotFound, backup.string() + " is not a file");
  auto version = version_of_database(backup, state_schema());
  if (version && *version == 0) version = fail(ErrorCode::kCorrupt, backup.string() + " is not a backup of weft.db");
  if (!version) return tl::unexpected<Error>(of_file(version.error(), backup, backup));
  if (!std::filesystem::is_directory(state_dir, error))
    return fail(ErrorCode::kNotFound, state_dir.string() + " is not a directory: make it, for the user of weftd");
  const auto lock = lock_state_dir(state_dir);
  if (!lock) return tl::unexpected<Error>(lock.error());
  // Also where the backup is refused: weftd must be able to take the lock.
  if (auto given = give_to_owner(state_dir / "lock"); !given) return tl::unexpected<Error>(given.error());
  if (auto free = check_mark_for_file(state_dir); !free) return tl::unexpected<Error>(free.error());
  auto path = make_scratch(state_dir / ".restore-");
  if (!path) return tl::unexpected<Error>(path.error());
  const Scratch scratch{*path};
  auto restored = prepare(backup, scratch.path, state_dir / kFile, now, on_progress);
  if (!restored) return restored;
  if (auto given = give_to_owner(scratch.path); !given) return tl::unexpected<Error>(given.error());
  if (auto synced = sync(scratch.path); !synced) return tl::unexpected<Error>(synced.error());
  auto kept = exchange(scratch.path, state_dir / kFile, now);
  if (!kept) return tl::unexpected<Error>(kept.error());
  restored->kept = std::move(*kept);
  return restored;
}

}  // namespace weft::store
