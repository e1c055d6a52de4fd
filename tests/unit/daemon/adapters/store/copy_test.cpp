// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/copy.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <iostream>
#include <random>

#include "daemon/adapters/store/lease.hpp"
#include "daemon/adapters/store/use_marks.hpp"
#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

void quietly(const CopyProgress&) {}

/// A store with something in most tables, among it texts that are no UTF-8.
void fill(SqlStore& store, std::uint64_t incidents) {
  std::vector<Incident> all;
  std::vector<Event> events;
  for (std::uint64_t id = 1; id <= incidents; ++id) {
    Incident incident = make_incident(id);
    incident.finding.summary = "summary \xFF\x80 " + std::to_string(id);
    incident.finding.affected.assign(2, incident.finding.cause);
    incident.finding.evidence.resize(1);
    incident.finding.evidence[0].value = std::nan("");
    incident.finding.evidence[0].threshold = 1.0 / 3;
    incident.finding.jobs = {std::string("nul \0 inside", 12)};
    all.push_back(incident);
    events.push_back({at_second(1), id, "opened", "", ""});
  }
  ASSERT_TRUE(store.save_incidents(all, events));
  Plan plan;
  plan.id = 7;
  plan.steps.resize(3);
  std::vector<AuditRecord> records;
  for (int i = 0; i < 20; ++i) records.push_back({0, at_second(i), "kim \xC3\xA9", "approved", 7, 1, "\xFF", ""});
  ASSERT_TRUE(store.save_plans({{plan}}, nullptr, records));
  std::vector<CollectorMark> marks;
  for (const char* host : {"\x80", "\xC3\xA9", "a", "\xFF", "b"}) {
    marks.emplace_back().host = host;
    marks.back().spool = 5;
  }
  ASSERT_TRUE(store.save_collectors(marks, {}));
  ASSERT_TRUE(store.save_nodes("compute", *make_sweep(at_second(0), 0).topology, at_second(0)));
}

void expect_same(SqlStore& a, SqlStore& b) {
  const auto before = a.restore(kNever), after = b.restore(kNever);
  ASSERT_TRUE(before) << before.error().message;
  ASSERT_TRUE(after) << after.error().message;
  ASSERT_EQ(before->incidents.size(), after->incidents.size());
  for (std::size_t i = 0; i < before->incidents.size(); ++i) {
    EXPECT_EQ(before->incidents[i].finding.summary, after->incidents[i].finding.summary);
    EXPECT_EQ(before->incidents[i].finding.affected.size(), after->incidents[i].finding.affected.size());
    EXPECT_EQ(before->incidents[i].finding.cause.port, after->incidents[i].finding.cause.port);
    EXPECT_EQ(before->incidents[i].finding.jobs, after->incidents[i].finding.jobs);
    EXPECT_TRUE(std::isnan(after->incidents[i].finding.evidence[0].value));
    EXPECT_EQ(before->incidents[i].finding.evidence[0].threshold, after->incidents[i].finding.evidence[0].threshold);
  }
  EXPECT_EQ(before->incident_ids.next(), after->incident_ids.next());
  EXPECT_EQ(before->opened, after->opened);
  EXPECT_EQ(*a.events(1), *b.events(1));
  EXPECT_EQ(before->collectors.size(), after->collectors.size());
  EXPECT_EQ(*a.verify_audit(), *b.verify_audit());
  EXPECT_EQ(a.audit(0, 1)->at(0).detail, b.audit(0, 1)->at(0).detail);
  EXPECT_EQ(a.restore_remedies(kNever)->installation, b.restore_remedies(kNever)->installation);
  EXPECT_EQ(a.restore_remedies(kNever)->plans.at(0).steps.size(), b.restore_remedies(kNever)->plans.at(0).steps.size());
  EXPECT_EQ(a.nodes("compute")->size(), b.nodes("compute")->size());
}

class Copy : public OnEachEngine {
 protected:
  const TempDir from, to, back;
};
INSTANTIATE_TEST_SUITE_P(On, Copy, ::testing::Values(Engine::kPostgres), [](const auto&) { return "Postgres"; });

TEST_P(Copy, ThereAndBackEverythingIsTheSame) {
  const std::string url = url_of(to.path());
  fill(*std::move(*SqlStore::open(from.path(), {})), 700);
  std::uint64_t told = 0;
  const auto there = copy_store(from.path(), url, [&](const CopyProgress& progress) {
    EXPECT_LE(progress.rows, progress.of) << progress.table;
    ++told;
  });
  ASSERT_TRUE(there) << there.error().message;
  EXPECT_GT(there->rows, 3000U);
  EXPECT_GT(there->added, 3000U);
  EXPECT_LE(there->added, there->rows);
  EXPECT_EQ(there->audit.records, 20U);
  EXPECT_GT(told, 30U);
  const auto again = copy_store(from.path(), url, quietly);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->rows, there->rows);
  EXPECT_EQ(again->added, 0U) << "all of it was there";
  ASSERT_TRUE(copy_store(url, back.path(), quietly));
  auto first = std::move(*SqlStore::open(from.path(), {}));
  auto second = std::move(*SqlStore::open(to.path(), {.url = url}));
  auto third = std::move(*SqlStore::open(back.path(), {}));
  expect_same(*first, *second);
  expect_same(*first, *third);
  // They go on where the first was: events are numbered from behind the last.
  for (SqlStore* store : {second.get(), third.get()}) {
    ASSERT_TRUE(store->save_incidents({{make_incident(701)}}, {{{at_second(9), 1, "resolved", "", ""}}}));
    EXPECT_EQ(store->events(1)->back().what, "resolved");
  }
}

TEST_P(Copy, AWeftdGoesOnWithTheCopyAndNotWithWhatWasLeft) {
  const std::string url = url_of(to.path());
  fill(*std::move(*SqlStore::open(from.path(), {})), 3);
  ASSERT_TRUE(copy_store(from.path(), url, quietly));
  ASSERT_TRUE(SqlStore::open(from.path(), {})->get()->save_incidents({{make_incident(9)}}, {}));
  const auto stale = SqlStore::open(from.path(), {.url = url});
  ASSERT_FALSE(stale);
  EXPECT_NE(stale.error().message.find("was used after it was copied"), std::string::npos) << stale.error().message;
}

// Marks of its uses that are too old were dropped there.
TEST_P(Copy, ADirectoryThatWasCopiedVeryLongAgoIsNotSaidToHaveBeenUsed) {
  const std::string url = url_of(to.path());
  fill(*std::move(*SqlStore::open(from.path(), {})), 3);
  ASSERT_TRUE(copy_store(from.path(), url, quietly));
  std::string uses;
  for (int i = 0; i < 600; ++i) uses = add_use(uses);
  by_hand(to.path()).run(("UPDATE last_use SET mark = '" + uses + "'").c_str());
  const auto opened = SqlStore::open(from.path(), {.url = url});
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("may have been used after it was copied"), std::string::npos)
      << opened.error().message;
}

// The end of a window changes a row, and no number of incidents or records.
TEST_P(Copy, ADirectoryThatWasUsedInAnyWayAfterItWasCopiedBackIsNotLeftBehind) {
  const std::string url = url_of(to.path());
  fill(*std::move(*SqlStore::open(from.path(), {})), 3);
  MaintenanceWindow window;
  window.id = 4;
  window.until = at_second(1000);
  window.reason = "new firmware";
  ASSERT_TRUE(SqlStore::open(from.path(), {})->get()->save_maintenance(window));
  ASSERT_TRUE(copy_store(from.path(), url, quietly));
  ASSERT_TRUE(SqlStore::open(to.path(), {.url = url})->get()->save_links("compute", {}));
  const TempDir unused;
  ASSERT_TRUE(copy_store(url, back.path(), quietly));
  ASSERT_TRUE(copy_store(url, unused.path(), quietly));
  window.ended = at_second(9);
  ASSERT_TRUE(SqlStore::open(back.path(), {})->get()->save_maintenance(window));
  const auto checked = check_store(back.path(), {.url = url});
  ASSERT_FALSE(checked) << *checked;
  EXPECT_NE(checked.error().message.find("was used after it was copied"), std::string::npos) << checked.error().message;
  EXPECT_FALSE(SqlStore::open(back.path(), {.url = url}));
  // What was not used since knows nothing that the database does not, however often that was used.
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(SqlStore::open(to.path(), {.url = url})->get()->save_links("compute", {}));
  for (const TempDir* each : {&from, &unused}) {
    const auto opened = SqlStore::open(each->path(), {.url = url});
    EXPECT_TRUE(opened) << opened.error().message;
  }
}

TEST_P(Copy, OnlyWhatIsEmptyIsATarget) {
  const std::string url = url_of(to.path());
  fill(*std::move(*SqlStore::open(from.path(), {})), 3);
  fill(*std::move(*SqlStore::open(to.path(), {.url = url})), 1);
  by_hand(to.path()).run("UPDATE weft_store SET holder = ''");
  const std::int64_t epoch = by_hand(to.path()).number("SELECT epoch FROM weft_store");
  const auto full = copy_store(from.path(), url, quietly);
  ASSERT_FALSE(full);
  EXPECT_NE(full.error().message.find("is not empty"), std::string::npos) << full.error().message;
  EXPECT_EQ(by_hand(to.path()).number("SELECT epoch FROM weft_store"), epoch) << "it was not taken";
  EXPECT_FALSE(copy_store(url, from.path(), quietly));
  EXPECT_EQ(by_hand(to.path()).number("SELECT epoch FROM weft_store"), epoch) << "as the source neither";
  EXPECT_EQ(SqlStore::open(to.path(), {.url = url})->get()->restore(kNever)->incidents.size(), 1U);
  const auto nothing = copy_store(back.path(), url, quietly);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(back.path() / "weft.db"));
  const std::filesystem::path mistyped = back.path() / "waft" / "state";
  const auto nowhere = copy_store(url, mistyped.string(), quietly);
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::kNotFound);
  EXPECT_NE(nowhere.error().message.find("there is no directory " + mistyped.parent_path().string()), std::string::npos)
      << nowhere.error().message;
  EXPECT_FALSE(std::filesystem::exists(mistyped.parent_path()));
  const auto busy = std::move(*SqlStore::open(from.path(), {}));
  EXPECT_FALSE(copy_store(from.path(), url_of(back.path()), quietly)) << "a weftd uses it";
}

TEST_P(Copy, WhatIsWholeMayBeCopiedAgain) {
  fill(*std::move(*SqlStore::open(from.path(), {})), 3);
  const auto first = copy_store(from.path(), url_of(to.path()), quietly);
  ASSERT_TRUE(first) << first.error().message;
  const auto again = copy_store(from.path(), url_of(to.path()), quietly);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->rows, first->rows);
  EXPECT_EQ(again->audit, first->audit);
  ASSERT_TRUE(SqlStore::open(to.path(), {.url = url_of(to.path())})->get()->save_incidents({{make_incident(9)}}, {}));
  EXPECT_FALSE(copy_store(from.path(), url_of(to.path()), quietly)) << "the target was used since";
}

// What a weftd writes in its first seconds changes no number of incidents, plans or records.
TEST_P(Copy, AWeftdThatRanForAMomentHasUsedIt) {
  const auto runs = [](const std::filesystem::path& directory, const StoreOptions& options) {
    const auto store = SqlStore::open(directory, options);
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_TRUE((*store)->save_links("compute", {}));
  };
  const auto expect_full = [](const std::string& source, const std::string& target) {
    const auto refused = copy_store(source, target, quietly);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kFailedPrecondition);
    EXPECT_NE(refused.error().message.find("is not empty"), std::string::npos) << refused.error().message;
  };
  fill(*std::move(*SqlStore::open(from.path(), {})), 3);
  const std::string url = url_of(to.path());
  ASSERT_TRUE(copy_store(from.path(), url, quietly));
  ASSERT_TRUE(copy_store(url, back.path(), quietly));
  ASSERT_TRUE(copy_store(url, back.path(), quietly)) << "nobody used it";
  runs(back.path(), {});
  expect_full(url, back.path());
  ASSERT_TRUE(copy_store(from.path(), url, quietly)) << "nobody used it";
  runs(to.path(), {.url = url});
  expect_full(from.path(), url);
  // Both were used, as often and for the same.
  runs(from.path(), {});
  expect_full(from.path(), url);
}

TEST_P(Copy, TheNextLeaderHasAGreaterEpochThanEachBefore) {
  const std::string url = url_of(to.path()), last = url_of(back.path());
  const TempDir between;
  fill(*std::move(*SqlStore::open(from.path(), {.url = url_of(from.path())})), 3);
  const std::int64_t highest = 41;
  by_hand(from.path()).run("UPDATE weft_beat SET epoch = 40");
  by_hand(from.path()).run("UPDATE weft_store SET epoch = 40, holder = ''");
  {
    const auto store = SqlStore::open(from.path(), {.url = url_of(from.path()), .stands_by = true});
    const auto lease = Lease::start(url_of(from.path()), "a", "a:1");
    ASSERT_TRUE(lease && (*lease)->view().epoch);
    EXPECT_EQ(*(*lease)->view().epoch, highest);
    (*store)->lead(highest);
    ASSERT_TRUE((*store)->save_incidents({{make_incident(1)}}, {}));
    (*lease)->release();
  }
  // By way of an engine that knows no epochs.
  ASSERT_TRUE(copy_store(url_of(from.path()), between.path(), quietly));
  ASSERT_TRUE(copy_store(between.path(), url, quietly));
  ASSERT_TRUE(copy_store(url, last, quietly));
  for (const std::string& each : {url, last}) {
    const auto lease = Lease::start(each, "b", "b:1");
    ASSERT_TRUE(lease) << lease.error().message;
    EXPECT_GT((*lease)->view().epoch.value_or(0), highest) << each;
  }
}

TEST_P(Copy, AWeftdThatLeadsIsLeftAlone) {
  const std::string url = url_of(to.path());
  fill(*std::move(*SqlStore::open(from.path(), {})), 3);
  ASSERT_TRUE(copy_store(from.path(), url, quietly));
  const auto lease = Lease::start(url, "host, process 7", "host:9641");
  ASSERT_TRUE(lease) << lease.error().message;
  ASSERT_TRUE((*lease)->view().epoch) << "a copy that has ended holds nothing";
  for (const auto& [source, target] : {std::pair{url, back.path().string()}, std::pair{from.path().string(), url}}) {
    const auto refused = copy_store(source, target, quietly);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kFailedPrecondition);
    EXPECT_NE(refused.error().message.find("is used by a weftd (host, process 7)"), std::string::npos)
        << refused.error().message;
  }
  EXPECT_FALSE((*lease)->view().is_lost);
  EXPECT_TRUE((*lease)->permit().has_value());
}

TEST_P(Copy, ABrokenTrailIsNoCopy) {
  fill(*std::move(*SqlStore::open(from.path(), {})), 1);
  Database(std::move(*SqliteConnection::open(from.path() / "weft.db")))
      .run("UPDATE audit SET detail = '' WHERE sequence = 5");
  const auto copied = copy_store(from.path(), url_of(to.path()), quietly);
  ASSERT_FALSE(copied);
  EXPECT_NE(copied.error().message.find("record 5 of the audit trail was changed"), std::string::npos);
  EXPECT_EQ(by_hand(to.path()).number("SELECT count(*) FROM weft_store WHERE holder = ''"), 1)
      << "a copy that ends without success holds nothing";
}

TEST_P(Copy, WhoeverLosesTheConnectionReadsWhatGoesOn) {
  fill(*std::move(*SqlStore::open(from.path(), {})), 3);
  const std::string url = url_of(to.path());
  const auto lost = copy_store(from.path(), url, [](const CopyProgress& progress) {
    if (progress.table == "incident") PostgresServer::shared().kill();
  });
  PostgresServer::shared().start();
  ASSERT_FALSE(lost);
  EXPECT_NE(lost.error().message.find("; the copy is not finished: the same command goes on where it was"),
            std::string::npos)
      << lost.error().message;
  const auto whole = copy_store(from.path(), url, quietly);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_LT(whole->added, whole->rows);
}

TEST_P(Copy, AMistakeInAnAddressIsSaidOfTheOneThatHasIt) {
  const std::string good = from.path().string();
  const auto why = [](const std::string& source, const std::string& target) {
    const auto copied = copy_store(source, target, quietly);
    return copied ? "" : copied.error().message;
  };
  EXPECT_EQ(why("postgresql://db1/weft?passfil=x", good), "FROM has the keyword passfil, which libpq does not know");
  EXPECT_EQ(why(good, "postgresql://weft:secret@db1/weft").substr(0, 25), "TO contains a password: p");
  EXPECT_FALSE(std::filesystem::exists(from.path() / "weft.db"));
}

TEST_P(Copy, KilledAtAnyMomentItGoesOn) {
  fill(*std::move(*SqlStore::open(from.path(), {})), 400);
  std::mt19937 random(std::random_device{}());
  const std::string url = url_of(to.path());
  const auto run = [&](const std::string& source, const std::string& target) {
    bool broken = false, done = false;
    for (int round = 0; round < 500 && !done; ++round) {
      // In every other round at a point of its progress, however fast the machine is; else anywhere.
      const unsigned last = round % 2 == 0 ? static_cast<unsigned>(random() % 8 + 1) : 0;
      const pid_t child = ::fork();
      if (child == 0) {
        unsigned told = 0;
        const auto copied = copy_store(source, target, [&](const CopyProgress&) {
          if (++told == last) ::raise(SIGKILL);
        });
        if (!copied) std::cerr << copied.error().message << std::endl;
        ::_exit(copied ? 0 : 1);
      }
      if (last == 0) {
        ::usleep(static_cast<useconds_t>(random() % 200'000 + static_cast<unsigned>(round) * 20'000));
        ::kill(child, SIGKILL);
      }
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
      ASSERT_TRUE(done || WIFSIGNALED(status)) << "it failed in round " << round;
      broken = broken || !done;
    }
    ASSERT_TRUE(done);
    EXPECT_TRUE(broken) << "it was never broken off";
  };
  run(from.path(), url);
  run(url, back.path());
  auto first = std::move(*SqlStore::open(from.path(), {}));
  auto third = std::move(*SqlStore::open(back.path(), {}));
  expect_same(*first, *third);
}

TEST_P(Copy, WhatIsNotFinishedIsNotOpenedAndGoesOnOnlyAsItWas) {
  const std::string url = url_of(to.path());
  fill(*std::move(*SqlStore::open(from.path(), {})), 3);
  ASSERT_TRUE(copy_store(from.path(), url, quietly));
  by_hand(to.path()).run("INSERT INTO copying SELECT 1, id || ' as it was before' FROM installation");
  by_hand(to.path()).run("UPDATE incident SET summary = 'old'");
  const auto unfinished = SqlStore::open(to.path(), {.url = url});
  ASSERT_FALSE(unfinished);
  EXPECT_NE(unfinished.error().message.find("is a copy that is not finished: run the same weftd store copy again, or "
                                            "go on with the store that it is a copy of"),
            std::string::npos);
  EXPECT_FALSE(check_store(to.path(), {.url = url})) << "--check-config says so, too";
  const TempDir other;
  fill(*std::move(*SqlStore::open(other.path(), {})), 1);
  EXPECT_FALSE(copy_store(other.path(), url, quietly)) << "it is another's";
  // The source was used since: everything is copied anew.
  ASSERT_TRUE(copy_store(from.path(), url, quietly));
  const auto store = SqlStore::open(to.path(), {.url = url});
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ((*store)->restore(kNever)->incidents.at(0).finding.summary, "summary \xFF\x80 1");
}

}  // namespace
}  // namespace weft::store
