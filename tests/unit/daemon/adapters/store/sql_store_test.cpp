// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/sql_store.hpp"

#include <sys/mount.h>
#include <unistd.h>

#include <functional>

#include "daemon/adapters/store/history_reader.hpp"
#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

using namespace std::chrono_literals;

Incident large_incident(std::uint64_t id) {
  Incident incident = make_incident(id);
  incident.finding.summary = std::string(20'000, 'x');
  return incident;
}

TEST(Store, ASecondWeftdIsKeptOut) {
  const TempDir dir;
  auto first = must_open(dir.path());
  const auto second = open_store(dir.path(), {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(second.error().message, "another weftd (process " + std::to_string(::getpid()) + ") uses " +
                                        dir.path().string() + "; stop it first, or use another state directory");
  first.reset();
  EXPECT_TRUE(open_store(dir.path(), {}));
}

TEST(Store, TheDirectoryIsMadeWhenMissing) {
  const TempDir dir;
  EXPECT_TRUE(open_store(dir.path() / "a" / "b", {}));
}

TEST(Store, ADirectoryThatCannotBeUsedIsAnErrorWithItsReason) {
  const TempDir dir;
  write_file(dir.path() / "file", "x");
  const auto on_file = open_store(dir.path() / "file", {});
  ASSERT_FALSE(on_file);
  EXPECT_EQ(on_file.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(on_file.error().message.find("cannot be created"), std::string::npos);
  EXPECT_EQ(read_file(dir.path() / "file"), "x");
  const auto in_proc = open_store("/proc/weft", {});
  ASSERT_FALSE(in_proc);
  EXPECT_EQ(in_proc.error().code, ErrorCode::kUnavailable);
  const auto in_proc_self = open_store("/proc/self", {});
  ASSERT_FALSE(in_proc_self);
  EXPECT_NE(in_proc_self.error().message.find("is not writable"), std::string::npos);
}

/// With `store` unable to grow: incidents wait, history is dropped, both are said. With room again: all is well by
/// itself.
void expect_degrades_and_recovers(SqlStore& store, const TempDir& dir, const std::function<void()>& make_room) {
  ASSERT_TRUE(store.append_history(share(make_sweep(at_second(0), 0, 250))));
  std::uint64_t id = 2;
  Result<void> saved;
  for (; saved && id < 500; ++id)
    saved = store.save_incidents({{large_incident(id)}}, {{{at_second(1), id, "opened", "", ""}}});
  ASSERT_FALSE(saved) << "it never became full";
  EXPECT_EQ(saved.error().code, ErrorCode::kResourceExhausted) << saved.error().message;
  EXPECT_EQ(store.status().message.find("1 incident is not stored yet: "), 0U) << store.status().message;
  Result<void> appended;
  int minute = 1;
  for (; appended && minute < 5000; ++minute)
    appended = store.append_history(
        share(make_sweep(at_second(60 * minute), 977'777U * static_cast<unsigned>(minute * minute), 250)));
  ASSERT_FALSE(appended) << "history never became full";

  EXPECT_FALSE(store.save_incidents({{large_incident(id)}}, {}));
  StoreStatus status = store.status();
  EXPECT_FALSE(status.ok);
  EXPECT_EQ(status.incidents_waiting, 2U);
  EXPECT_EQ(status.history_dropped, 1U);
  EXPECT_NE(status.message.find("2 incidents are not stored yet"), std::string::npos) << status.message;
  EXPECT_NE(status.message.find("history is not written"), std::string::npos) << status.message;
  EXPECT_NE(status.message.find("full"), std::string::npos) << status.message;
  EXPECT_EQ(store.events(id - 1)->size(), 1U);  // it waits, and is shown

  make_room();
  ASSERT_TRUE(store.maintain(at_second(1), {}));
  status = store.status();
  EXPECT_EQ(status.incidents_waiting, 0U);
  EXPECT_TRUE(store.append_history(share(make_sweep(at_second(60 * minute), 1, 250))));
  EXPECT_TRUE(store.status().ok) << store.status().message;
  const auto restored = store.restore(kNever);
  ASSERT_TRUE(restored);
  EXPECT_EQ(restored->incidents.back().id, id);
  EXPECT_EQ(restored->incident_ids.next(), id + 1);
  EXPECT_EQ(restored->incidents[restored->incidents.size() - 2].id, id - 1);
  const auto answer = read_history(dir.path(), {"compute",
                                                {{NodeGuid{1}, PortNum{1}}},
                                                {CounterId::kTransmitBytes},
                                                at_second(60 * (minute - 2)),
                                                at_second(60 * minute),
                                                std::chrono::seconds(60)});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->ports.at(0).counters.at(0).buckets.size(), 2U);  // the gap is covered, at a coarser grain
}

TEST(Store, AFullDiskDegradesHistoryAndKeepsIncidentsForLater) {
  const TempDir dir;
  auto store = must_open(dir.path());
  store->limit_growth(20);
  expect_degrades_and_recovers(*store, dir, [&store] { store->limit_growth(0); });
}

TEST(Store, WhatFailsWithoutAnIncidentThatWaitsCountsNone) {
  const TempDir dir;
  auto store = must_open(dir.path());
  ASSERT_TRUE(store->save_incidents({{large_incident(1)}}, {}));
  store->limit_growth(1);
  ASSERT_FALSE(store->save_incidents({}, {{{at_second(1), 1, "opened", std::string(1 << 20, 'x'), ""}}}));
  EXPECT_EQ(store->status().incidents_waiting, 0U);
  EXPECT_EQ(store->status().message.find("the state cannot be written: "), 0U) << store->status().message;
}

TEST(Store, TheSameOnAFileSystemThatIsReallyFull) {
  const TempDir dir;
  if (::mount("tmpfs", dir.path().c_str(), "tmpfs", 0, "size=2m") != 0)
    GTEST_SKIP() << "needs the right to mount a tmpfs";
  if (auto store = must_open(dir.path()))
    expect_degrades_and_recovers(
        *store, dir, [&dir] { EXPECT_EQ(::mount("tmpfs", dir.path().c_str(), "tmpfs", MS_REMOUNT, "size=32m"), 0); });
  EXPECT_EQ(::umount(dir.path().c_str()), 0);
}

TEST(Store, FilesRemovedUnderItAreMissedAndNotWrittenOn) {
  const TempDir dir;
  auto store = must_open(dir.path());
  ASSERT_TRUE(store->save_incidents(std::vector{make_incident(1)}, {}));
  std::filesystem::rename(dir.path() / "weft.db", dir.path() / "aside");
  EXPECT_FALSE(store->maintain(at_second(0), {})) << "also when nothing is to be written";
  EXPECT_FALSE(store->status().ok);
  const auto saved = store->save_incidents(std::vector{make_incident(2)}, {});
  ASSERT_FALSE(saved);
  EXPECT_NE(saved.error().message.find("was removed or replaced"), std::string::npos) << saved.error().message;
  EXPECT_EQ(store->status().incidents_waiting, 1U);
  std::filesystem::rename(dir.path() / "aside", dir.path() / "weft.db");
  EXPECT_TRUE(store->maintain(at_second(60), {}));
  EXPECT_TRUE(store->status().ok) << store->status().message;
  EXPECT_EQ(store->status().incidents_waiting, 0U);
}

TEST(Store, NewestRevisionWinsWhileWaiting) {
  const TempDir dir;
  auto store = must_open(dir.path());
  store->limit_growth(1);
  Incident incident = large_incident(1);
  EXPECT_FALSE(store->save_incidents({{incident}}, {}));
  incident.revision = 2;
  EXPECT_FALSE(store->save_incidents({{incident}}, {}));
  EXPECT_EQ(store->status().incidents_waiting, 1U);
  store->limit_growth(0);
  EXPECT_TRUE(store->save_incidents({}, {}));
  EXPECT_EQ(store->restore(kNever)->incidents.at(0).revision, 2U);
}

std::vector<Incident> many_incidents(std::size_t count) {
  std::vector<Incident> incidents;
  for (std::size_t i = 0; i < count; ++i) incidents.push_back(make_incident(i + 1));
  return incidents;
}

std::vector<Event> openings_of(std::span<const Incident> incidents) {
  std::vector<Event> events;
  for (const Incident& incident : incidents) events.push_back({incident.opened, incident.id, "opened", "", ""});
  return events;
}

/// Runs one of two texts, as somebody who has psql or sqlite3.
void change_by_hand(const TempDir& dir, const char* sqlite, const char* postgres) {
  Database database = by_hand(dir.path());
  database.run(engine() == Engine::kPostgres ? postgres : sqlite);
  ASSERT_TRUE(database.outcome());
}

using ManyIncidents = OnEachEngine;
INSTANTIATE_ON_EACH_ENGINE(ManyIncidents);

// The database refuses one of them: what was committed before shows how far a transaction reached.
TEST_P(ManyIncidents, AreStoredInTransactionsThatAreBoundedAndWithTheirEvents) {
  const TempDir dir;
  auto store = must_open(dir.path());
  change_by_hand(
      dir,
      "CREATE TRIGGER refuses BEFORE INSERT ON incident WHEN NEW.id = 2100 BEGIN SELECT RAISE(ABORT, 'refused'); END",
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''refused''; END'; "
      "CREATE TRIGGER refuses BEFORE INSERT ON incident FOR EACH ROW WHEN (NEW.id = 2100) EXECUTE FUNCTION refuse()");
  const auto incidents = many_incidents(2500);
  const auto events = openings_of(incidents);
  EXPECT_FALSE(store->save_incidents(incidents, events));
  EXPECT_EQ(store->status().incidents_waiting, 500U);
  Database database = by_hand(dir.path());
  EXPECT_EQ(database.number("SELECT count(*) FROM incident"), 2000);
  EXPECT_EQ(database.number("SELECT value FROM number WHERE name = 'next_incident'"), 2001);
  EXPECT_EQ(database.number("SELECT count(*) FROM event"), 2000);
  EXPECT_EQ(database.number("SELECT count(*) FROM event WHERE incident > 2000"), 0);
  EXPECT_EQ(store->events(2400)->size(), 1U) << "it waits, and is shown";
  change_by_hand(dir, "DROP TRIGGER refuses", "DROP TRIGGER refuses ON incident");
  EXPECT_TRUE(store->save_collectors({}, {})) << "what waits goes first";
  EXPECT_EQ(store->status().incidents_waiting, 0U);
  EXPECT_EQ(database.number("SELECT count(*) FROM incident"), 2500);
  EXPECT_EQ(database.number("SELECT count(DISTINCT incident) FROM event"), 2500);
  EXPECT_EQ(database.number("SELECT count(*) FROM event"), 2500);
  EXPECT_TRUE(database.outcome());
}

// A row that one transaction writes n times costs PostgreSQL n * n / 2 steps.
TEST_P(ManyIncidents, OfOneTransactionWriteEachCountOnce) {
  const TempDir dir;
  auto store = must_open(dir.path());
  change_by_hand(dir,
                 "CREATE TABLE written (what TEXT) STRICT; "
                 "CREATE TRIGGER ids AFTER UPDATE ON number BEGIN INSERT INTO written VALUES ('id'); END; "
                 "CREATE TRIGGER first AFTER INSERT ON opened BEGIN INSERT INTO written VALUES ('opened'); END; "
                 "CREATE TRIGGER more AFTER UPDATE ON opened BEGIN INSERT INTO written VALUES ('opened'); END",
                 "CREATE TABLE written (what TEXT); "
                 "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO written VALUES "
                 "(TG_ARGV[0]); RETURN NULL; END'; "
                 "CREATE TRIGGER ids AFTER UPDATE ON number FOR EACH ROW EXECUTE FUNCTION note('id'); "
                 "CREATE TRIGGER opens AFTER INSERT OR UPDATE ON opened FOR EACH ROW EXECUTE FUNCTION note('opened')");
  auto incidents = many_incidents(200);
  for (std::size_t i = 0; i < incidents.size(); i += 2) incidents[i].finding.kind = IncidentKind::kLinkFlap;
  ASSERT_TRUE(store->save_incidents(incidents, {}));
  Database database = by_hand(dir.path());
  EXPECT_EQ(database.number("SELECT count(*) FROM written WHERE what = 'id'"), 1);
  EXPECT_EQ(database.number("SELECT count(*) FROM written WHERE what = 'opened'"), 2) << "one of each kind";
  for (Incident& incident : incidents) incident.occurrences = 3;
  ASSERT_TRUE(store->save_incidents(incidents, {}));
  const auto restored = store->restore(kNever);
  ASSERT_TRUE(restored);
  EXPECT_EQ(restored->opened[static_cast<std::size_t>(IncidentKind::kLinkFlap)], 300U);
  EXPECT_EQ(restored->opened[static_cast<std::size_t>(IncidentKind::kLinkDown)], 300U);
  EXPECT_EQ(restored->incident_ids.next(), 201U);
}

}  // namespace
}  // namespace weft::store
