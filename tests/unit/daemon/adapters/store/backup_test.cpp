// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/backup.hpp"

#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "daemon/adapters/store/schema.hpp"
#include "daemon/adapters/store/state_dir.hpp"
#include "daemon/adapters/store/store_mark.hpp"
#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::uint64_t kGap = 10'000;  // of ids, after a restore

void say_nothing(std::string_view) {}

/// Incident and plan `id`, and a record of the plan: in one transaction.
void add(SqlStore& store, std::uint64_t id) {
  ASSERT_TRUE(store.save_incidents({{make_incident(id)}}, {}));
  Plan plan;
  plan.id = id;
  const AuditRecord record{0, at_second(1), "kim", "approved", id, id, "", ""};
  ASSERT_TRUE(store.save_plans({{plan}}, nullptr, {{record}}));
}

class BackupOfStore : public ::testing::Test {
 protected:
  /// The names in a directory that begin with one of ours.
  static std::vector<std::string> scratch_in(const std::filesystem::path& path) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path))
      if (const std::string name = entry.path().filename(); name.starts_with('.') || name.find(".before") != name.npos)
        names.push_back(name);
    std::ranges::sort(names);
    return names;
  }
  /// A backup of the store in `dir`, as weftctl writes it.
  std::filesystem::path back_up(const std::string& name = "copy.db") {
    const std::filesystem::path file = out.path() / name;
    const auto made = make_backup(dir.path());
    EXPECT_TRUE(made) << made.error().message;
    if (!made) return file;
    std::stringstream text;
    text << made->file->rdbuf();
    EXPECT_EQ(text.str().size(), made->size);
    write_file(file, text.str());
    return file;
  }
  /// Why it cannot be restored to `to`; nothing is left of the attempt.
  std::string refusal(const std::filesystem::path& file, const std::filesystem::path& to) {
    const auto restored = restore_backup(file, to, at_second(100), say_nothing);
    EXPECT_FALSE(restored);
    if (std::filesystem::is_directory(to)) {
      EXPECT_THAT(scratch_in(to), IsEmpty());
    }
    return restored ? "" : restored.error().message;
  }
  static std::string installation(const std::filesystem::path& path) {
    return must_open(path)->restore_remedies(kNever)->installation;
  }

  const TempDir dir, out, other;
};

TEST_F(BackupOfStore, ACopyMadeWhileTheStoreIsWrittenIsOfOneMoment) {
  auto store = must_open(dir.path());
  add(*store, 1);
  std::atomic<bool> enough = false;
  std::atomic<std::uint64_t> written = 1;  // and the next one begun
  std::thread writer([&] {
    for (; !enough; ++written) add(*store, written + 1);
  });
  std::uint64_t last = 0;
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t before = written;
    const std::filesystem::path file = back_up(std::to_string(i));
    auto copy = look_into_database(file, state_schema());
    if (!copy) ADD_FAILURE() << copy.error().message;
    if (!copy) break;
    const std::int64_t records = copy->number("SELECT count(*) FROM audit");
    EXPECT_EQ(copy->number("SELECT records FROM audit_end"), records);
    EXPECT_EQ(copy->number("SELECT count(*) FROM plan"), records);
    EXPECT_GE(copy->number("SELECT count(*) FROM incident"), records);
    EXPECT_GE(static_cast<std::uint64_t>(records), before) << "what was stored before is in it";
    last = static_cast<std::uint64_t>(records);
  }
  enough = true;
  writer.join();
  EXPECT_GT(written, last) << "the writer went on";
  EXPECT_TRUE(store->verify_audit());
}

TEST_F(BackupOfStore, ItHasNoNameAndSaysWhatWasFoundWhole) {
  auto store = must_open(dir.path());
  for (std::uint64_t id = 1; id <= 3; ++id) add(*store, id);
  write_file(dir.path() / ".backup-Kilkld", "of a weftd that was killed meanwhile");
  const auto made = make_backup(dir.path());
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(scratch_in(dir.path()), IsEmpty());
  EXPECT_EQ(made->audit, *store->verify_audit());
  EXPECT_EQ(made->audit.records, 3U);
}

TEST_F(BackupOfStore, WhatIsNotWholeIsNotCopied) {
  add(*must_open(dir.path()), 1);
  const std::filesystem::path file = dir.path() / "weft.db";
  const std::string good = read_file(file);
  by_hand(dir.path()).run("UPDATE audit SET who = 'somebody else'");
  const auto changed = make_backup(dir.path());
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(changed.error().message, HasSubstr(file.string() + ": record 1 of the audit trail"));
  EXPECT_THAT(scratch_in(dir.path()), IsEmpty());

  // An index that does not lead to its rows, which a quick look does not find.
  add(*must_open(other.path()), 1);
  {
    auto database = by_hand(other.path());
    database.run(
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE INDEX incident_by_state ON incident "
        "(resolved, state)' WHERE name = 'incident_by_state'");
    ASSERT_TRUE(database.outcome());
  }
  const std::filesystem::path bad = out.path() / "bad.db";
  write_file(bad, read_file(other.path() / "weft.db"));
  const TempDir empty;
  EXPECT_THAT(refusal(bad, empty.path()), HasSubstr("bad.db: is damaged (row 1 missing from index incident_by_state"));

  const TempDir removed;
  const auto none = make_backup(removed.path());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(none.error().message, HasSubstr("weft.db was removed"));
}

TEST_F(BackupOfStore, AFullDiskLeavesNoHalfFile) {
  if (::mount("tmpfs", dir.path().c_str(), "tmpfs", 0, "size=4m") != 0)
    GTEST_SKIP() << "needs the right to mount a tmpfs";
  {
    auto store = must_open(dir.path());
    add(*store, 1);
    write_file(dir.path() / "filler", std::string(4'000'000, 'x'));
    const auto made = make_backup(dir.path());
    EXPECT_FALSE(made);
    if (!made) {
      EXPECT_EQ(made.error().code, ErrorCode::kResourceExhausted) << made.error().message;
    }
    EXPECT_THAT(scratch_in(dir.path()), IsEmpty());
    std::filesystem::remove(dir.path() / "filler");
    EXPECT_TRUE(make_backup(dir.path()));
  }
  EXPECT_EQ(::umount(dir.path().c_str()), 0);
}

TEST_F(BackupOfStore, AStoreGoesBackAndTakesNothingForSomethingElse) {
  {
    auto store = must_open(dir.path());
    for (std::uint64_t id = 1; id <= 3; ++id) add(*store, id);
  }
  const std::filesystem::path file = back_up();
  const std::string backup = read_file(file);
  const std::string before = installation(dir.path());
  const AuditProof trail = *must_open(dir.path())->verify_audit();
  add(*must_open(dir.path()), 50'000);

  std::vector<std::string> steps;
  const auto restored =
      restore_backup(file, dir.path(), at_second(100), [&](std::string_view step) { steps.emplace_back(step); });
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_THAT(steps, ElementsAre("copies " + file.string(), "looks through " + file.string()));
  EXPECT_EQ(restored->audit, trail);
  EXPECT_EQ(restored->kept, dir.path() / "weft.db.before-1700000100");
  EXPECT_EQ(read_file(file), backup) << "the backup is as it was";
  struct stat status {};
  ASSERT_EQ(::stat((dir.path() / "weft.db").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);

  auto store = must_open(dir.path());
  const auto found = store->restore(kNever);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->incidents.size(), 3U);
  EXPECT_EQ(found->incident_ids.next(), 50'001 + kGap) << "behind what was there, not only behind the backup";
  const auto remedies = store->restore_remedies(kNever);
  EXPECT_EQ(remedies->plans.size(), 3U);
  EXPECT_NE(remedies->installation, before);
  EXPECT_TRUE(remedies->holds.hands_off);
  EXPECT_THAT(remedies->holds.hands_off_reason, HasSubstr("restored from a backup"));
  EXPECT_EQ(store->verify_audit()->records, 4U);
  EXPECT_EQ(store->audit(0, 1)->at(0).what, "store restored");
  // A mark that was left after the backup is a mark of before, however new it is.
  ASSERT_EQ(remedies->holds.others.size(), 1U);
  EXPECT_EQ(remedies->holds.others[0].installation, before);
  EXPECT_GT(remedies->holds.others[0].plan, std::uint64_t{1} << 62);
}

TEST_F(BackupOfStore, NoTokenCountsASecondTimeAfterTheWayBack) {
  const EnrollToken unused{
      .node = "dgx-01", .hash = "one", .made_by = "kim", .made = at_second(0), .expires = at_second(5000)};
  EnrollToken used{.node = "dgx-02", .hash = "two", .made_by = "kim", .made = at_second(0), .expires = at_second(5000)};
  used.used = at_second(1);
  used.key_hash = "of a key";
  ASSERT_TRUE(must_open(dir.path())->save_enroll_tokens({{unused, used}}, {}, {}));
  const std::filesystem::path file = back_up();
  EnrollToken later = unused;
  later.used = at_second(2);
  later.key_hash = "of another key";
  ASSERT_TRUE(must_open(dir.path())->save_enroll_tokens({{later}}, {}, {}));

  const auto restored = restore_backup(file, dir.path(), at_second(100), say_nothing);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(restored->revoked_tokens, 1U);
  auto store = must_open(dir.path());
  EXPECT_EQ(*store->find_enroll_token("one"), std::nullopt) << "it was used after the backup";
  EXPECT_EQ(*store->find_enroll_token("two"), used) << "it counts for its key alone";
  EXPECT_THAT(store->audit(0, 1)->at(0).detail, HasSubstr("unused enrollment tokens were taken back: 1"));
}

TEST_F(BackupOfStore, WhatWasThereIsKeptWithItsLogAndIsAWayBackItself) {
  auto store = must_open(dir.path());
  add(*store, 1);
  const std::filesystem::path file = back_up();
  add(*store, 2);
  // As after a kill: the last transactions are only in the log.
  const TempDir killed;
  for (const char* name : {"weft.db", "weft.db-wal"}) write_file(killed.path() / name, read_file(dir.path() / name));
  ASSERT_GT(std::filesystem::file_size(killed.path() / "weft.db-wal"), 0U);
  const auto there = restore_backup(file, killed.path(), at_second(100), say_nothing);
  ASSERT_TRUE(there) << there.error().message;
  {
    const auto opened = must_open(killed.path());
    ASSERT_TRUE(opened) << "the log of the one must not be worked into the other";
    EXPECT_EQ(opened->restore(kNever)->incidents.size(), 1U);
  }
  // The same second again: what is kept is not overwritten.
  const auto again = restore_backup(file, killed.path(), at_second(100), say_nothing);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("before-1700000100 cannot be made: File exists"));
  const auto back = restore_backup(there->kept, killed.path(), at_second(200), say_nothing);
  ASSERT_TRUE(back) << back.error().message;
  const auto found = must_open(killed.path())->restore(kNever);
  EXPECT_EQ(found->incidents.size(), 2U) << "the log was kept, too";
  EXPECT_GT(found->incident_ids.next(), 2 * kGap);
}

TEST_F(BackupOfStore, TheWayBackToAnEmptyDirectoryAndOverAStoreThatNeverHeldAnything) {
  add(*must_open(dir.path()), 1);
  const std::filesystem::path file = back_up();
  const auto first = restore_backup(file, other.path(), at_second(100), say_nothing);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_TRUE(first->kept.empty());
  const auto others = must_open(other.path())->restore_remedies(kNever)->holds.others;
  ASSERT_EQ(others.size(), 1U);
  EXPECT_EQ(others[0].installation, installation(dir.path()));
  EXPECT_EQ(must_open(other.path())->restore(kNever)->incidents.size(), 1U);
  const TempDir installed;  // and weftd was started once
  ASSERT_TRUE(must_open(installed.path()));
  const auto second = restore_backup(file, installed.path(), at_second(100), say_nothing);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(must_open(installed.path())->restore(kNever)->incidents.size(), 1U);
}

TEST_F(BackupOfStore, ADamagedStoreDoesNotHinderTheWayBack) {
  add(*must_open(dir.path()), 1);
  const std::filesystem::path file = back_up();
  write_file(dir.path() / "weft.db", "what a broken disk left");
  const auto restored = restore_backup(file, dir.path(), at_second(100), say_nothing);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(read_file(restored->kept), "what a broken disk left");
  EXPECT_EQ(must_open(dir.path())->restore(kNever)->incidents.size(), 1U);
}

TEST_F(BackupOfStore, AnotherInstallationsBackupIsRefused) {
  add(*must_open(dir.path()), 1);
  add(*must_open(other.path()), 1);
  const std::filesystem::path file = back_up();
  const std::string why = refusal(file, other.path());
  EXPECT_THAT(why, HasSubstr(file.string() + " is of another installation (" + installation(dir.path()) + ") than "));
  EXPECT_THAT(why, HasSubstr("move " + (other.path() / "weft.db").string() + " away first"));
  EXPECT_EQ(must_open(other.path())->restore(kNever)->incidents.size(), 1U);
  // What was restored is still the same installation: to its backups of before and of after.
  ASSERT_TRUE(restore_backup(file, dir.path(), at_second(100), say_nothing));
  const std::filesystem::path newer = back_up("newer.db");
  ASSERT_TRUE(restore_backup(file, dir.path(), at_second(200), say_nothing));
  ASSERT_TRUE(restore_backup(file, dir.path(), at_second(250), say_nothing));
  const auto after = restore_backup(newer, dir.path(), at_second(300), say_nothing);
  EXPECT_TRUE(after) << after.error().message;
}

TEST_F(BackupOfStore, WhatIsNoWholeBackupOfThisVersionIsRefused) {
  add(*must_open(dir.path()), 1);
  const std::filesystem::path file = back_up();
  const std::string good = read_file(file);
  const auto refused = [&](const std::string& text) {
    write_file(out.path() / "bad", text);
    const std::string why = refusal(out.path() / "bad", other.path());
    EXPECT_THAT(why, HasSubstr("bad"));
    EXPECT_THAT(why, Not(HasSubstr(".restore-"))) << "that is our copy, which he does not know";
    EXPECT_THAT(why, Not(HasSubstr("start with an empty database")));
    EXPECT_EQ(read_file(out.path() / "bad"), text);
    return why;
  };
  EXPECT_THAT(refused(""), HasSubstr("is not a backup of weft.db"));
  EXPECT_THAT(refused("a letter"), HasSubstr("is not a database"));
  EXPECT_THAT(refused(good.substr(0, good.size() / 2)), HasSubstr("is damaged"));
  std::string newer = good;
  newer[63] = static_cast<char>(newer[63] + 1);  // the last byte of the version
  EXPECT_THAT(refused(newer), HasSubstr("it is from a newer weftd"));
  EXPECT_THAT(refused(read_file(dir.path() / "history.db")), HasSubstr("belongs to another program"));
  std::string changed = good;
  changed.replace(changed.rfind("approved"), 8, "rejected");
  EXPECT_THAT(refused(changed), HasSubstr("of the audit trail"));
  EXPECT_THAT(refusal(out.path() / "none", other.path()), HasSubstr("none is not a file"));
  EXPECT_THAT(refusal(file, other.path() / "typo"), HasSubstr("typo is not a directory"));
  EXPECT_FALSE(std::filesystem::exists(other.path() / "typo"));
  EXPECT_FALSE(std::filesystem::exists(other.path() / "weft.db"));
}

TEST_F(BackupOfStore, ADirectoryThatIsUsedOrGoesWithADatabaseIsRefused) {
  add(*must_open(dir.path()), 1);
  const std::filesystem::path file = back_up();
  {
    const auto lock = lock_state_dir(dir.path());
    EXPECT_THAT(refusal(file, dir.path()), HasSubstr("another weftd (process "));
  }
  ASSERT_TRUE(write_mark(other.path(), "0123456789abcdef", "postgresql://weft@db1/weft", 1));
  EXPECT_THAT(refusal(file, other.path()), HasSubstr("goes with the database postgresql://weft@db1/weft"));
}

}  // namespace
}  // namespace weft::store
