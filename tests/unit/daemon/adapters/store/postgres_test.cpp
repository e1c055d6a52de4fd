// SPDX-License-Identifier: Apache-2.0
// What only PostgreSQL does: addresses, lost connections, commits of which nobody knows, and another weftd.

#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "daemon/adapters/store/dialect.hpp"
#include "daemon/adapters/store/lease.hpp"
#include "daemon/adapters/store/postgres_address.hpp"
#include "daemon/adapters/store/postgres_schema.hpp"
#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

using namespace std::chrono_literals;

std::string refused(const std::string& url) {
  const auto address = parse_postgres_address(url);
  if (!address) return address.error().message;
  ADD_FAILURE() << url << " was taken";
  return "";
}

TEST(PostgresAddress, IsReadAndCompleted) {
  const auto address = parse_postgres_address("postgresql://weft@127.0.0.1:5433,localhost:5434/site?connect_timeout=9");
  ASSERT_TRUE(address) << address.error().message;
  EXPECT_EQ(address->name, "postgresql://weft@127.0.0.1:5433,localhost:5434/site");
  EXPECT_EQ(address->options.at("target_session_attrs"), "read-write");
  EXPECT_EQ(address->options.at("connect_timeout"), "9");
  EXPECT_EQ(address->options.at("tcp_user_timeout"), "10000");
  EXPECT_FALSE(address->options.contains("sslmode"));
}

TEST(PostgresAddress, OverANetworkTheServerShowsItsName) {
  EXPECT_EQ(parse_postgres_address("postgresql://weft@db1,db2/weft")->options.at("sslmode"), "verify-full");
  EXPECT_EQ(parse_postgres_address("postgresql://weft@/weft?host=/run/postgresql")->options.count("sslmode"), 0U);
  EXPECT_EQ(parse_postgres_address("postgresql://weft@localhost,[::1]/weft?sslmode=disable")->name,
            "postgresql://weft@localhost,::1/weft");
  for (const char* mode : {"disable", "allow", "prefer", "require", "verify-ca"})
    EXPECT_EQ(refused(std::string("postgresql://weft@localhost,db2/weft?sslmode=") + mode),
              std::string("has sslmode=") + mode +
                  " for db2, which is not this machine: only verify-full makes sure who answers");
  EXPECT_NE(refused("postgresql://weft@localhost/weft?hostaddr=10.0.0.1&sslmode=require").find("10.0.0.1"),
            std::string::npos);
  EXPECT_NE(refused("postgresql://weft@128.0.0.1/weft?sslmode=prefer"), "");
}

TEST(PostgresAddress, AKeywordThatLibpqDoesNotHaveIsNamed) {
  for (const char* url : {"postgresql://db1/weft?passfil=/etc/weft/pgpass", "postgresql://db1/weft?port=1&passfil=x",
                          "postgresql://weft@db1:5432/weft?sslmode=verify-full&passfil="})
    EXPECT_EQ(refused(url), "has the keyword passfil, which libpq does not know") << url;
  // Of what may be a password nothing is shown.
  for (const char* url : {"postgresql://weft:%zz?secret=1@db1/weft", "postgresql://db1/weft?secret",
                          "postgresql://db1/weft?se cret=1", "postgresql://db1/weft?Secret1=1"})
    EXPECT_EQ(refused(url), "is not a PostgreSQL address: postgresql://user@host,host/database?keyword=value") << url;
}

TEST(PostgresAddress, ConnectionsSayWhoseTheyAre) {
  const std::string holder = holder_name();
  const std::string host = holder.substr(0, holder.find(',')) + '/' + std::to_string(::getpid());
  auto alone = parse_postgres_address("postgresql://db1/weft");
  name_connection(*alone, "store");
  EXPECT_EQ(alone->options.at("application_name"), "weftd " + host + " store");
  auto north = parse_postgres_address(shard_url("postgresql://db1/weft", "north"));
  name_connection(*north, "lease");
  EXPECT_EQ(north->options.at("application_name"), "weftd " + host + " north lease");
  auto busy = parse_postgres_address("postgresql://db1/weft");
  const std::string use(63 - std::string("weftd x/").size() - std::to_string(::getpid()).size() - 1, 'u');
  name_connection(*busy, use);
  EXPECT_EQ(busy->options.at("application_name"),
            "weftd " + host.substr(0, 1) + '/' + std::to_string(::getpid()) + ' ' + use)
      << "the server would cut off the end";
  auto named = parse_postgres_address("postgresql://db1/weft?application_name=mine");
  name_connection(*named, "store");
  EXPECT_EQ(named->options.at("application_name"), "mine");
}

TEST(PostgresAddress, NoPasswordIsTakenOrShown) {
  for (const char* url : {"postgresql://weft:secret@db1/weft", "postgresql://db1/weft?password=secret",
                          "postgresql://db1/weft?sslpassword=secret", "postgresql://weft:sec%zzret@db1/weft",
                          "postgresql://db1/weft?passwort=secret"})
    EXPECT_EQ(refused(url).find("secret"), std::string::npos) << url;
  EXPECT_NE(refused("postgresql://weft:secret@db1/weft").find("passfile"), std::string::npos);
  for (const char* url : {"", "mysql://db1/weft", "postgresql:///weft", "postgresql://db1/weft?service=x"})
    EXPECT_NE(refused(url), "") << url;
}

TEST(Dialect, TextsOfAnyBytesAreTextsOfPostgres) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  for (const std::string& bytes :
       {all, std::string(), std::string("plain"), std::string("\xC3\xA9 \xF0\x9F\x98\x80"),
        std::string("\xF4\x8F\xBC\x80\xF4\x8F\xBF\xBF"), std::string("\xED\xA0\x80"), std::string("\xF4\x90\x80\x80"),
        std::string("\xC0\x80\xE0\x80\xAF"), std::string("\xF4\x8F")}) {
    const std::string text = postgres::to_text(bytes);
    EXPECT_EQ(text.find('\0'), std::string::npos);
    EXPECT_EQ(postgres::from_text(text), bytes);
  }
  EXPECT_EQ(postgres::to_text("\xC3\xA9 plain"), "\xC3\xA9 plain");
}

TEST(Dialect, ParametersAreNumbered) {
  EXPECT_EQ(postgres::statement("INSERT INTO a VALUES (?, '?', ?) -- ?2"), "INSERT INTO a VALUES ($1, '?', $2) -- $2");
  EXPECT_EQ(postgres::statement("VALUES (?1, ?2, ?1)"), "VALUES ($1, $2, $1)");
}

class Postgres : public OnEachEngine {
 protected:
  const TempDir dir;
  PostgresServer& server = PostgresServer::shared();
};
INSTANTIATE_TEST_SUITE_P(On, Postgres, ::testing::Values(Engine::kPostgres), [](const auto&) { return "Postgres"; });

/// Calls until it succeeds, for at most 30 s.
bool in_time(const std::function<bool()>& call) {
  for (const auto start = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - start < 30s;) {
    if (call()) return true;
    std::this_thread::sleep_for(100ms);
  }
  return false;
}

Event opened(std::uint64_t incident) {
  return {at_second(1), incident, "opened", "", ""};
}

TEST_P(Postgres, WhatWaitedIsWrittenOnceWhenTheServerIsBack) {
  auto store = must_open(dir.path());
  ASSERT_TRUE(store->save_incidents({{make_incident(1)}}, {{opened(1)}}));
  server.kill();
  const auto refusal = store->save_incidents({{make_incident(2)}}, {{opened(2)}});
  ASSERT_FALSE(refusal);
  EXPECT_EQ(refusal.error().code, ErrorCode::kUnavailable) << refusal.error().message;
  EXPECT_EQ(store->status().incidents_waiting, 1U);
  EXPECT_FALSE(store->status().ok);
  const AuditRecord record{0, at_second(1), "kim", "approved", 1, 0, "", ""};
  EXPECT_FALSE(store->save_plans({}, nullptr, {{record}}));
  EXPECT_FALSE(store->restore(kNever));
  server.start();
  EXPECT_TRUE(in_time([&] { return store->save_plans({}, nullptr, {{record}}).has_value(); }));
  EXPECT_TRUE(store->maintain(at_second(2), {}));
  EXPECT_TRUE(store->status().ok) << store->status().message;
  EXPECT_EQ(store->restore(kNever)->incidents.size(), 2U);
  EXPECT_EQ(store->events(1)->size(), 1U);
  EXPECT_EQ(store->events(2)->size(), 1U);
  EXPECT_EQ(store->verify_audit()->records, 1U);
}

TEST_P(Postgres, AnIdleConnectionThatWasLostIsNotNoticed) {
  auto store = must_open(dir.path());
  ASSERT_TRUE(store->save_incidents({{make_incident(1)}}, {}));
  server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'weftd%'");
  EXPECT_TRUE(store->save_incidents({{make_incident(2)}}, {}));
  server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'weftd%'");
  EXPECT_EQ(store->restore(kNever)->incidents.size(), 2U);
}

/// Until a connection of weftd waits for `what`.
void until_it_waits(PostgresServer& server, const std::string& what) {
  server.run(
      "DO $$ BEGIN FOR i IN 1..300 LOOP PERFORM pg_stat_clear_snapshot(); EXIT WHEN EXISTS (SELECT FROM "
      "pg_stat_activity WHERE application_name LIKE 'weftd%' AND wait_event = '" +
      what + "'); PERFORM pg_sleep(0.1); END LOOP; END $$");
}

/// Saves a plan's record, and calls `cut` while COMMIT of the record's transaction hangs at `where`.
void save_and_cut(PostgresServer& server, SqlStore& store, const std::string& hangs, const std::function<void()>& cut,
                  bool stays) {
  const AuditRecord first{0, at_second(1), "kim", "approved", 1, 0, "", ""};
  const AuditRecord second{0, at_second(2), "kim", "rejected", 1, 0, "", ""};
  Result<void> planned;
  std::thread saver([&] { planned = store.save_plans({}, nullptr, {{first}}); });
  until_it_waits(server, hangs);
  cut();
  saver.join();
  ASSERT_FALSE(planned) << "a result that nobody knows was taken for success";
  EXPECT_NE(planned.error().message.find("it is not known yet"), std::string::npos) << planned.error().message;
  EXPECT_TRUE(in_time([&] { return store.save_plans({}, nullptr, {{first, second}}).has_value(); }));
  const auto trail = store.audit(0, 10);
  ASSERT_TRUE(trail) << trail.error().message;
  ASSERT_EQ(trail->size(), 2U) << "each is there once, " << (stays ? "for it had stayed" : "for it had not stayed");
  EXPECT_EQ((*trail)[0].what, "approved");
  EXPECT_EQ((*trail)[1].what, "rejected");
}

constexpr const char* kCutAll =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'weftd%'";

TEST_P(Postgres, ACommitThatStayedThoughItsAnswerWasLostIsNotRepeated) {
  auto store = must_open(dir.path());
  server.require_standby();
  save_and_cut(
      server, *store, "SyncRep",
      [&] {
        server.run(kCutAll);
        // Nobody waits for a standby that there is not.
        server.require_no_standby();
      },
      true);
}

TEST_P(Postgres, EventsOfSuchACommitAreThereOnce) {
  auto store = must_open(dir.path());
  server.require_standby();
  Result<void> saved;
  std::thread saver([&] { saved = store->save_incidents({{make_incident(1)}}, {{opened(1)}}); });
  until_it_waits(server, "SyncRep");
  // The server answers that it was committed, with a warning.
  server.run("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'weftd%'");
  saver.join();
  ASSERT_FALSE(saved) << "no standby has it";
  EXPECT_NE(saved.error().message.find("canceling wait for synchronous replication"), std::string::npos)
      << saved.error().message;
  server.require_no_standby();
  EXPECT_TRUE(in_time([&] { return store->save_incidents({}, {{opened(1)}}).has_value(); }));
  EXPECT_EQ(store->events(1)->size(), 2U);
}

TEST_P(Postgres, WhatCameBeforeThatWasKnownIsThereToo) {
  auto store = must_open(dir.path());
  server.require_standby();
  const AuditRecord first{0, at_second(1), "kim", "approved", 1, 0, "", ""};
  const AuditRecord second{0, at_second(2), "kim", "rejected", 1, 0, "", ""};
  const auto cancel_when_it_waits = [&](const std::function<Result<void>()>& save) {
    Result<void> saved;
    std::thread saver([&] { saved = save(); });
    until_it_waits(server, "SyncRep");
    server.run("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'weftd%'");
    saver.join();
    EXPECT_FALSE(saved) << "no standby has it";
  };
  cancel_when_it_waits([&] { return store->save_incidents({{make_incident(1)}}, {{opened(1)}}); });
  EXPECT_FALSE(store->save_incidents({{make_incident(2)}}, {{opened(2)}})) << "of the first it is not known";
  server.require_no_standby();
  EXPECT_TRUE(in_time([&] { return store->save_incidents({}, {}).has_value(); }));
  EXPECT_EQ(store->events(1)->size(), 1U);
  EXPECT_EQ(store->events(2)->size(), 1U);
  server.require_standby();
  cancel_when_it_waits([&] { return store->save_plans({}, nullptr, {{first}}); });
  EXPECT_FALSE(store->save_plans({}, nullptr, {{first, second}})) << "of the first it is not known";
  server.require_no_standby();
  EXPECT_TRUE(in_time([&] { return store->save_plans({}, nullptr, {{first, second}}).has_value(); }));
  EXPECT_EQ(store->verify_audit()->records, 2U);
}

TEST_P(Postgres, ACommitThatDidNotStayIsRepeated) {
  auto store = must_open(dir.path());
  {
    Database hand = by_hand(dir.path());
    hand.run(
        "CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NULL; END'");
    hand.run(
        "CREATE CONSTRAINT TRIGGER dawdle AFTER INSERT ON audit DEFERRABLE INITIALLY DEFERRED FOR EACH ROW "
        "EXECUTE FUNCTION dawdle()");
    ASSERT_TRUE(hand.outcome());
  }
  save_and_cut(
      server, *store, "PgSleep",
      [&] {
        server.run(kCutAll);
        Database hand = by_hand(dir.path());
        hand.run("DROP TRIGGER dawdle ON audit");
        EXPECT_TRUE(hand.outcome());
      },
      false);
}

TEST_P(Postgres, WhatAServerThatTookOverNeverHadIsMissed) {
  auto store = must_open(dir.path());
  store->lead(by_hand(dir.path()).number("SELECT epoch FROM weft_store"));
  ASSERT_TRUE(store->save_incidents({{make_incident(1)}}, {}));
  server.run(kCutAll);
  ASSERT_TRUE(store->save_incidents({{make_incident(1)}}, {}));
  EXPECT_EQ(store->status().losses, 0U) << "it is all there";
  Database hand = by_hand(dir.path());
  hand.run("CREATE TABLE before AS SELECT mark FROM weft_store");
  ASSERT_TRUE(store->save_incidents({{make_incident(2)}}, {}));
  // As on a server that had the first one last.
  hand.run("DELETE FROM incident WHERE id = 2; UPDATE weft_store SET mark = (SELECT mark FROM before)");
  ASSERT_TRUE(hand.outcome());
  server.run(kCutAll);
  ASSERT_TRUE(store->save_incidents({{make_incident(3)}}, {}));
  EXPECT_EQ(store->status().losses, 1U);
  server.run(kCutAll);
  ASSERT_TRUE(store->save_incidents({{make_incident(3)}}, {}));
  EXPECT_EQ(store->status().losses, 1U) << "it is said once";
}

TEST_P(Postgres, SaysThatNoStandbyHasWhatIsConfirmed) {
  EXPECT_THAT(must_open(dir.path())->status().cautions,
              testing::Contains(testing::HasSubstr("synchronous_standby_names is empty")));
  EXPECT_THAT(*check_store(dir.path(), {.url = url_of(dir.path())}), testing::HasSubstr("waits for no standby"));
  server.require_standby();
  const auto checked = check_store(dir.path(), {.url = url_of(dir.path())});
  server.require_no_standby();
  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_THAT(*checked, testing::Not(testing::HasSubstr("waits for no standby")));
}

TEST_P(Postgres, StatementsThatDoNotWaitForEachOtherAreAllDone) {
  must_open(dir.path());
  Database database = by_hand(dir.path());
  const std::string text(10'000, 'x');  // more in all than either side's buffers hold
  {
    Transaction transaction(database);
    Statement insert(database, "INSERT INTO told VALUES (?, ?)");
    for (int i = 0; i < 1201; ++i) insert.run(std::to_string(i), text);
    EXPECT_EQ(database.changes(), 1);
    EXPECT_EQ(database.number("SELECT count(*) FROM told"), 1201) << "what is asked in between sees them";
    Statement(database, "DELETE FROM told WHERE receiver < ?").run("2");
    EXPECT_GT(database.changes(), 300);
    EXPECT_TRUE(transaction.commit());
  }
  EXPECT_LT(database.number("SELECT count(*) FROM told"), 901);
}

TEST_P(Postgres, AFailureAmongThemLeavesNothingAndIsNoDoubt) {
  auto store = must_open(dir.path());
  store->lead(by_hand(dir.path()).number("SELECT epoch FROM weft_store"));
  Database database = by_hand(dir.path());
  database.connection().lead(by_hand(dir.path()).number("SELECT epoch FROM weft_store"));
  for (const bool looks : {false, true}) {
    Transaction transaction(database);
    Statement insert(database, "INSERT INTO told VALUES (?, ?)");
    for (const char* receiver : {"a", "b", "a", "c"}) insert.run(receiver, "text");
    if (looks) {
      EXPECT_EQ(database.changes(), 0);
    }
    const auto done = transaction.commit();
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().message.find("duplicate key"), std::string::npos) << done.error().message;
    EXPECT_FALSE(database.connection().unsettled()) << "COMMIT was not sent";
  }
  EXPECT_EQ(database.number("SELECT count(*) FROM told"), 0);
  Transaction transaction(database);
  Statement(database, "INSERT INTO told VALUES (?, ?)").run("a", "text");
  EXPECT_TRUE(transaction.commit()) << "the connection is as before";
}

TEST_P(Postgres, WhoOpensItLastHasIt) {
  auto first = must_open(dir.path());
  ASSERT_TRUE(first->save_incidents({{make_incident(1)}}, {{opened(1)}}));
  const TempDir other;
  auto second = SqlStore::open(other.path(), {.url = url_of(dir.path())});
  ASSERT_TRUE(second) << second.error().message;
  const auto saved = first->save_incidents({{make_incident(7)}}, {{opened(7)}});
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_NE(saved.error().message.find("another weftd has taken this database"), std::string::npos);
  EXPECT_NE(saved.error().message.find("process " + std::to_string(::getpid())), std::string::npos);
  EXPECT_TRUE(first->status().is_taken);
  EXPECT_TRUE((*second)->save_incidents({{make_incident(2)}}, {{opened(2)}}));
  EXPECT_FALSE((*second)->status().is_taken);
  EXPECT_EQ((*second)->restore(kNever)->incidents.size(), 2U);
}

TEST_P(Postgres, WhatReceiversWereToldIsKeptAndFollowsTheLeader) {
  auto store = must_open(dir.path());
  ASSERT_TRUE(store->save_told("events-1", "first"));
  ASSERT_TRUE(store->save_told("events-2", "other"));
  ASSERT_TRUE(store->save_told("events-1", "second"));
  const TempDir other;
  auto next = SqlStore::open(other.path(), {.url = url_of(dir.path())});
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_FALSE(store->save_told("events-1", "late"));
  EXPECT_EQ((*next)->restore(kNever)->told,
            (std::map<std::string, std::string>{{"events-1", "second"}, {"events-2", "other"}}));
}

TEST_P(Postgres, WhatIsNotOursOrNewerIsRefusedAndUntouched) {
  const std::string url = url_of(dir.path());
  EXPECT_EQ(look_at_postgres(url, state_schema())->state, "is reachable, and empty");
  by_hand(dir.path()).run("CREATE TABLE photos (name TEXT)");
  const auto theirs = open_postgres(url, state_schema());
  ASSERT_FALSE(theirs);
  EXPECT_NE(theirs.error().message.find("tables of another program"), std::string::npos) << theirs.error().message;
  EXPECT_EQ(by_hand(dir.path()).number("SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()"), 1);
  by_hand(dir.path()).run("DROP TABLE photos");
  must_open(dir.path());
  by_hand(dir.path()).run("UPDATE weft_store SET version = 999");
  const auto newer = open_postgres(url, state_schema());
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_NE(newer.error().message.find("has schema version 999"), std::string::npos);
  EXPECT_FALSE(look_at_postgres(url, state_schema()));
}

TEST_P(Postgres, NobodyThereIsSaidAtOnce) {
  const auto nobody = open_postgres("postgresql://weft@127.0.0.1:1/weft", state_schema());
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(nobody.error().message.find("postgresql://weft@127.0.0.1:1/weft: the database is not reachable"),
            std::string::npos)
      << nobody.error().message;
}

TEST_P(Postgres, ARefusalOfTheServerIsNoSilence) {
  std::string url = server.database_url("postgres");
  url.replace(url.find("postgres?"), 8, "nosuch");
  const auto refused = open_postgres(url, state_schema());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("nosuch: the database refuses the connection: "));
  EXPECT_THAT(refused.error().message, testing::HasSubstr("database \"nosuch\" does not exist"));
}

TEST_P(Postgres, SeesWhoStandsBy) {
  const std::string url = url_of(dir.path());
  const auto store = SqlStore::open(dir.path(), {.url = url});
  ASSERT_TRUE(store) << store.error().message;
  const auto seen = [&store] { return (*store)->standby()->value_or(StandbyView{"not known", {}}); };
  EXPECT_EQ(seen().holder, "");
  const auto own = Lease::start(url, "a, process 1", "a:1");
  ASSERT_TRUE(own);
  const auto connect = [&url](const std::string& name) {
    return Database(std::move(*PostgresConnection::open(*parse_postgres_address(url + "&application_name=" + name))));
  };
  const Database shard = connect("weftd%20b/7%20north%20lease"), reader = connect("weftd%20b/7%20store");
  EXPECT_EQ(seen().holder, "") << "the own lease, one of a shard, and what is no lease";
  Database other = connect("weftd%20weft-2.example/77%20lease");
  other.number("SELECT 1");
  EXPECT_EQ(seen().holder, "weft-2.example, process 77");
  EXPECT_TRUE(seen().is_there());
  EXPECT_LT(seen().seen, 5s);
  EXPECT_TRUE(seen().fabrics.empty()) << "it tells nothing";
  other.number("SELECT 1 /* sees the fabrics */");
  EXPECT_TRUE(seen().fabrics.empty()) << "an older weftd, which tells not which";
  other.number("SELECT 1 /* sees +0000000000000001-0000000000000002 */");
  EXPECT_EQ(seen().fabrics, (std::vector<FabricSight>{{"", true, {NodeGuid{1}}}, {"", false, {NodeGuid{2}}}}));
  const std::string long_query = "SELECT 1 /* " + std::string(1024, 'x') + " */ /* sees +0000000000000001 */";
  other.number(long_query.c_str());
  EXPECT_TRUE(seen().fabrics.empty()) << "the server shows the beginning alone";
  const TempDir elsewhere;
  const auto named = SqlStore::open(elsewhere.path(), {.url = url_of(elsewhere.path()) + "&application_name=mine"});
  ASSERT_TRUE(named);
  EXPECT_FALSE(*(*named)->standby()) << "ours is not found by its name, and nobody's is";
  const TempDir file;
  EXPECT_FALSE(*(*SqlStore::open(file.path(), {}))->standby());
}

TEST_P(Postgres, WarnsOfARoleThatMayMoreThanWeftdNeeds) {
  const std::string words =
      "its role weft is SUPERUSER, CREATEROLE, CREATEDB, REPLICATION, BYPASSRLS, which weftd does not need: whoever "
      "takes "
      "over weftd has that, too; give weftd a role of its own (createuser --pwprompt weft)";
  EXPECT_THAT(must_open(dir.path())->status().cautions, testing::Contains(words));
  EXPECT_THAT(*check_store(dir.path(), {.url = url_of(dir.path())}), testing::HasSubstr(words));
  server.run("CREATE ROLE broad LOGIN CREATEDB");
  server.run("CREATE SCHEMA broad AUTHORIZATION broad");
  std::string url = server.url("broad");
  url.replace(url.find("user=weft"), 9, "user=broad");
  const TempDir fresh;
  EXPECT_THAT(*check_store(fresh.path(), {.url = url}), testing::HasSubstr("its role broad is CREATEDB, which"));
  server.run("ALTER ROLE broad NOCREATEDB");
  EXPECT_THAT(*check_store(fresh.path(), {.url = url}), testing::Not(testing::HasSubstr("its role")));
  server.run("DROP SCHEMA broad");
  server.run("DROP ROLE broad");
}

}  // namespace
}  // namespace weft::store
