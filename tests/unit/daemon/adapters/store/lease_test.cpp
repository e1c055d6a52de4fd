// SPDX-License-Identifier: Apache-2.0
// The lease on a real PostgreSQL.

#include "daemon/adapters/store/lease.hpp"

#include <chrono>
#include <functional>
#include <thread>

#include "daemon/adapters/store/postgres_address.hpp"
#include "daemon/adapters/store/postgres_servers.hpp"
#include "daemon/adapters/store/store_mark.hpp"
#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

using namespace std::chrono_literals;

class LeaseTest : public OnEachEngine {
 protected:
  std::unique_ptr<Lease> start(const char* holder) {
    auto lease = Lease::start(url_of(dir.path()), holder, std::string(holder) + ":50051");
    if (lease) return std::move(*lease);
    ADD_FAILURE() << lease.error().message;
    return nullptr;
  }
  /// A store that reads until it leads.
  std::unique_ptr<SqlStore> follow(const TempDir& place) {
    auto store = SqlStore::open(place.path(), {.url = url_of(dir.path()), .stands_by = true});
    if (store) return std::move(*store);
    ADD_FAILURE() << store.error().message;
    return nullptr;
  }
  static bool in_time(const std::function<bool()>& call, std::chrono::seconds within) {
    for (const auto end = std::chrono::steady_clock::now() + within; std::chrono::steady_clock::now() < end;) {
      if (call()) return true;
      std::this_thread::sleep_for(50ms);
    }
    return false;
  }

  const TempDir dir, other;
  PostgresServer& server = PostgresServer::shared();
};
INSTANTIATE_TEST_SUITE_P(On, LeaseTest, ::testing::Values(Engine::kPostgres), [](const auto&) { return "Postgres"; });

TEST_P(LeaseTest, TheFirstLeadsTheSecondFollowsAndTakesWhatIsGivenBack) {
  const auto first = follow(dir), second = follow(other);
  const auto a = start("a");
  const auto led = a->view();
  ASSERT_TRUE(led.epoch);
  EXPECT_TRUE(led.is_held);
  first->lead(*led.epoch);
  ASSERT_TRUE(first->save_incidents({{make_incident(1)}}, {}));

  const auto b = start("b");
  EXPECT_FALSE(b->view().epoch);
  EXPECT_FALSE(b->permit().has_value());
  EXPECT_EQ(b->view().seen.holder, "a");
  EXPECT_EQ(b->view().seen.address, "a:50051");
  EXPECT_EQ(second->look(kNever)->incidents.size(), 1U);
  const auto refused = second->save_incidents({{make_incident(2)}}, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("another weftd has this database"), std::string::npos);

  // The sign that something was stored.
  const std::string mark = b->view().seen.mark;
  ASSERT_TRUE(first->save_incidents({{make_incident(3)}}, {}));
  EXPECT_TRUE(in_time([&] { return b->view().seen.mark != mark; }, 10s));

  std::this_thread::sleep_for(7s);
  EXPECT_FALSE(b->view().epoch) << "a beats";
  EXPECT_TRUE(a->permit().has_value());
  a->release();
  EXPECT_FALSE(a->permit().has_value());
  EXPECT_TRUE(in_time([&] { return b->permit().has_value(); }, 4s));
  EXPECT_EQ(b->view().epoch, *led.epoch + 1);
  EXPECT_FALSE(b->view().succeeds_unended) << "it was given back";
}

TEST_P(LeaseTest, AStandbyTellsTheLeaderWhatItSees) {
  const std::string url = url_of(dir.path());
  const auto leader = follow(dir);
  const auto a = start("a");
  ASSERT_TRUE(a->view().epoch);
  // As another process on another host is called.
  const auto b = Lease::start(url + "&application_name=weftd%20b/7%20lease", "b, process 7", "b:50051");
  ASSERT_TRUE(b) << b.error().message;
  std::vector<FabricSight> many;
  for (std::uint64_t i = 1; i <= 12; ++i)
    many.push_back({"rail", i % 2 == 0, {NodeGuid{1000 * i}, NodeGuid{1000 * i + 1}}});
  (*b)->tell_sight(many);
  const auto told = [&] {
    const auto standby = leader->standby();
    return standby && *standby ? (*standby)->fabrics : std::vector<FabricSight>{};
  };
  ASSERT_TRUE(in_time([&] { return told().size() == 12; }, 10s)) << "all of it is within what the server shows";
  EXPECT_EQ(told()[1], (FabricSight{"", true, {NodeGuid{2000}, NodeGuid{2001}}}));
  (*b)->tell_sight({});
  EXPECT_TRUE(in_time([&] { return told().empty(); }, 10s));
}

TEST_P(LeaseTest, ALeaderThatDoesNotBeatIsReplacedAndItsWritesFail) {
  const auto first = follow(dir);
  auto a = start("a");
  first->lead(a->view().epoch.value_or(0));
  const auto b = start("b");
  a.reset();  // as if it were killed
  const auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(in_time([&] { return b->permit().has_value(); }, 10s));
  EXPECT_GE(std::chrono::steady_clock::now() - began, 3s) << "it may have acted until then";
  EXPECT_TRUE(b->view().succeeds_unended);
  const auto refused = first->save_incidents({{make_incident(1)}}, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("another weftd has taken this database (b)"), std::string::npos)
      << refused.error().message;
}

TEST_P(LeaseTest, ALeaderLearnsThatItWasReplacedAndTakesNothingBack) {
  must_open(dir.path());
  const auto a = start("a");
  ASSERT_TRUE(in_time([&] { return a->permit().has_value(); }, 10s)) << "whoever opened it beats no more";
  server.run("UPDATE \"" + dir.path().filename().string() + "\".weft_beat SET epoch = epoch + 1; UPDATE \"" +
             dir.path().filename().string() + "\".weft_store SET epoch = epoch + 1, holder = 'c'");
  EXPECT_TRUE(in_time([&] { return a->view().is_lost; }, 10s));
  EXPECT_FALSE(a->permit().has_value());
  EXPECT_EQ(a->view().seen.holder, "c");
  std::this_thread::sleep_for(6s);
  EXPECT_FALSE(a->view().epoch);
  EXPECT_TRUE(a->view().is_lost);
}

TEST_P(LeaseTest, OneOfTheSameEpochThatTookAnotherCopyOfTheDatabaseIsAnother) {
  must_open(dir.path());
  const auto a = start("a");
  ASSERT_TRUE(in_time([&] { return a->permit().has_value(); }, 10s)) << "whoever opened it beats no more";
  // Two servers took writes, each was led with this epoch, and one of them is left.
  const std::string schema = "\"" + dir.path().filename().string() + "\".";
  server.run("UPDATE " + schema + "weft_beat SET since = since + 1; UPDATE " + schema + "weft_store SET holder = 'c'");
  EXPECT_TRUE(in_time([&] { return a->view().is_lost; }, 10s));
  EXPECT_FALSE(a->permit().has_value());
  EXPECT_EQ(a->view().seen.holder, "c");
}

TEST_P(LeaseTest, WhoLocksItsRowIsNamedAndItIsTakenAfterwards) {
  follow(dir);
  start("a")->release();
  for (const char* lock : {"SELECT 1 FROM weft_beat FOR UPDATE", "SELECT 1 FROM weft_store FOR UPDATE",
                           "LOCK TABLE weft_beat IN ACCESS EXCLUSIVE MODE"}) {
    auto blocker = std::make_unique<Database>(by_hand(dir.path()));
    blocker->run((std::string("BEGIN; SET application_name = 'the blocker'; ") + lock).c_str());
    ASSERT_TRUE(blocker->outcome());
    const auto b = start("b");
    for (int i = 0; i < 100; ++i) {
      const LeaseView view = b->view();
      ASSERT_EQ(view.trouble.find("the row of the lease is locked: "), 0U) << lock << ": " << view.trouble;
      ASSERT_NE(view.trouble.find(": its tables are in use: the blocker, process "), std::string::npos) << view.trouble;
      std::this_thread::sleep_for(50ms);
    }
    EXPECT_FALSE(b->view().epoch);
    blocker.reset();
    EXPECT_TRUE(in_time([&] { return b->permit().has_value(); }, 5s)) << lock;
    EXPECT_EQ(b->view().trouble, "");
    b->release();
  }
}

// The first of them holds the place of who waits next, which is an exclusive lock, too (heavyweight, of a tuple).
TEST_P(LeaseTest, WhoWaitsForTheSameRowIsNotNamed) {
  follow(dir);
  start("a")->release();
  auto blocker = std::make_unique<Database>(by_hand(dir.path()));
  blocker->run("BEGIN; SET application_name = 'the blocker'; SELECT 1 FROM weft_beat FOR UPDATE");
  ASSERT_TRUE(blocker->outcome());
  const auto b = start("b"), c = start("c");
  for (int i = 0; i < 100; ++i) {
    for (const LeaseView& view : {b->view(), c->view()}) {
      ASSERT_NE(view.trouble.find(": its tables are in use: the blocker, process "), std::string::npos) << view.trouble;
      ASSERT_EQ(view.trouble.find(" lease, process "), std::string::npos) << view.trouble;
    }
    std::this_thread::sleep_for(50ms);
  }
}

// An end of that other lock is far away: it is the one who holds the row that can be ended.
TEST_P(LeaseTest, WhoHoldsItsRowAndWaitsForSomethingElseIsNamed) {
  follow(dir);
  start("a")->release();
  server.run("DROP TABLE IF EXISTS public.payroll; CREATE TABLE public.payroll AS SELECT 1 AS x");
  for (const char* other_lock : {"SELECT pg_advisory_xact_lock(77)", "UPDATE public.payroll SET x = x + 1"}) {
    auto root = std::make_unique<Database>(by_hand(dir.path()));
    root->run((std::string("BEGIN; SET application_name = 'the root'; ") + other_lock).c_str());
    ASSERT_TRUE(root->outcome());
    const ConnectionHandle holder = connect_within(10s, parse_postgres_address(url_of(dir.path()))->options);
    ASSERT_TRUE(holder);
    PQclear(PQexec(holder.get(), "BEGIN; SET application_name = 'the holder'; SELECT 1 FROM weft_beat FOR UPDATE"));
    ASSERT_EQ(PQtransactionStatus(holder.get()), PQTRANS_INTRANS) << PQerrorMessage(holder.get());
    ASSERT_EQ(PQsendQuery(holder.get(), other_lock), 1);
    const auto b = start("b"), c = start("c");
    for (int i = 0; i < 40; ++i) {
      for (const LeaseView& view : {b->view(), c->view()}) {
        ASSERT_NE(view.trouble.find(": its tables are in use: the holder, process "), std::string::npos)
            << other_lock << ": " << view.trouble;
        ASSERT_EQ(view.trouble.find("the root"), std::string::npos) << view.trouble;
        ASSERT_EQ(view.trouble.find(" lease, process "), std::string::npos) << view.trouble;
      }
      std::this_thread::sleep_for(50ms);
    }
  }
  server.run("DROP TABLE public.payroll");
}

// As a role that is told of its own sessions alone.
TEST_P(LeaseTest, WhatCommitsWaitForIsSaidByBothAndNobodyIsBlamed) {
  std::string url = url_of(dir.path());
  url.replace(url.find("user=weft"), 9, "user=plain");
  server.have_plain_role();
  server.run("ALTER SCHEMA \"" + dir.path().filename().string() + "\" OWNER TO plain");
  ASSERT_TRUE(SqlStore::open(other.path(), {.url = url, .stands_by = true}));
  const auto a = Lease::start(url, "a", "a:50051"), b = Lease::start(url, "b", "b:50051");
  ASSERT_TRUE(a && b);
  EXPECT_TRUE((*a)->view().epoch);
  std::this_thread::sleep_for(3s);
  EXPECT_EQ((*b)->view().trouble, "");
  server.require_standby();
  const auto say = [&] {
    const auto says = [](const Lease& lease) {
      return lease.view().trouble.find(
                 ": its commits wait for a synchronous standby that is not connected (pg_stat_replication): start "
                 "it") != std::string::npos;
    };
    return says(**a) && says(**b);
  };
  EXPECT_TRUE(in_time(say, 15s)) << (*a)->view().trouble << '\n' << (*b)->view().trouble;
  for (int i = 0; i < 120; ++i) {  // for longer than the server waits with a commit
    EXPECT_TRUE(say()) << (*a)->view().trouble << '\n' << (*b)->view().trouble;
    std::this_thread::sleep_for(100ms);
  }
  EXPECT_GT((*b)->view().unfit, 10s);
  EXPECT_LT(*(*b)->view().silence, 4s) << "it reads";
  server.require_no_standby();
  EXPECT_TRUE(in_time([&] { return (*a)->view().is_held || (*b)->view().is_held; }, 10s));
  EXPECT_TRUE(in_time([&] { return (*a)->view().trouble.empty() && (*b)->view().trouble.empty(); }, 10s))
      << (*a)->view().trouble << '\n'
      << (*b)->view().trouble;
}

TEST_P(LeaseTest, WithoutTheDatabaseItIsNotHeldAndItIsWhenThatIsBack) {
  must_open(dir.path());
  const auto b = start("b");
  ASSERT_TRUE(in_time([&] { return b->permit().has_value(); }, 10s)) << "whoever opened it beats no more";
  server.kill();
  EXPECT_TRUE(in_time([&] { return !b->permit().has_value(); }, 10s));
  EXPECT_FALSE(b->view().is_lost);
  EXPECT_NE(b->view().trouble, "");
  server.start();
  EXPECT_TRUE(in_time([&] { return b->permit().has_value(); }, 20s)) << b->view().trouble;
  EXPECT_EQ(b->view().trouble, "");
}

TEST_P(LeaseTest, AHangingTransactionOfTheOldLeaderDoesNotHoldTheTakeoverUp) {
  const auto first = follow(dir);
  auto a = start("a");
  Database hung(std::move(*PostgresConnection::open(*parse_postgres_address(url_of(dir.path())))));
  hung.connection().lead(a->view().epoch.value_or(0));
  Transaction begun(hung);  // its row of weft_store is locked
  ASSERT_FALSE(hung.failed());
  const auto b = start("b");
  a.reset();
  EXPECT_TRUE(in_time([&] { return b->permit().has_value(); }, 10s));
}

// The clock of a virtual machine stands still while that is paused: the lease seems to hold, and another leads.
TEST_P(LeaseTest, AnActIsConfirmedByTheDatabaseAndNotByTheClock) {
  must_open(dir.path());
  const auto a = start("a");
  ASSERT_TRUE(in_time([&] { return a->confirm().has_value(); }, 10s)) << "whoever opened it beats no more";
  EXPECT_EQ(a->confirm()->epoch, *a->view().epoch);
  const std::string schema = '"' + dir.path().filename().string() + "\".";
  const auto n = [&] { return by_hand(dir.path()).number("SELECT n FROM weft_beat"); };
  const std::int64_t before = n();
  ASSERT_TRUE(a->confirm());
  EXPECT_GT(n(), before) << "it beats";
  server.run("UPDATE " + schema + "weft_beat SET epoch = epoch + 1; UPDATE " + schema +
             "weft_store SET epoch = epoch + 1, holder = 'c'");
  EXPECT_FALSE(a->confirm().has_value()) << "at once, whenever it beat last";
  EXPECT_TRUE(a->view().is_lost);
}

TEST_P(LeaseTest, WithoutTheDatabaseNothingIsConfirmed) {
  must_open(dir.path());
  const auto a = start("a");
  ASSERT_TRUE(in_time([&] { return a->confirm().has_value(); }, 10s));
  server.kill();
  EXPECT_FALSE(a->confirm().has_value()) << "although it beat a moment ago";
  server.start();
  EXPECT_TRUE(in_time([&] { return a->confirm().has_value(); }, 20s));
}

TEST_P(LeaseTest, ADatabaseThatWentBackIsTakenAboveWhatTheDirectoryKnows) {
  {
    const auto store = follow(dir);
    const auto a = start("a");
    for (int turn = 0; turn < 3; ++turn) {
      a->know(*a->view().epoch + 10);
      ASSERT_TRUE(a->raise());
    }
    store->lead(*a->view().epoch);
    ASSERT_TRUE(store->save_incidents({{make_incident(1)}}, {}));
    a->release();
  }
  const std::int64_t highest = by_hand(dir.path()).number("SELECT epoch FROM weft_store");
  EXPECT_GT(highest, 30);
  // A backup of the first day.
  by_hand(dir.path()).run("UPDATE weft_beat SET epoch = 1");
  by_hand(dir.path()).run("UPDATE weft_store SET epoch = 1");
  by_hand(dir.path()).run("UPDATE last_use SET epoch = 1");
  const auto store = follow(dir);
  EXPECT_EQ(*marked_epoch(dir.path()), highest);
  const auto b = Lease::start(url_of(dir.path()), "b", "b:50051", *marked_epoch(dir.path()));
  ASSERT_TRUE(b) << b.error().message;
  EXPECT_EQ((*b)->view().epoch, highest + 1);
  EXPECT_EQ((*b)->view().went_back_from, highest);
  EXPECT_EQ(by_hand(dir.path()).number("SELECT epoch FROM weft_store"), highest + 1);
  EXPECT_EQ(by_hand(dir.path()).number("SELECT epoch FROM weft_beat"), highest + 1);
}

TEST_P(LeaseTest, ALeaderRisesAboveWhatTheWorldShowsBeforeItActs) {
  const auto store = follow(dir);
  const auto a = start("a");
  const auto b = start("b");
  const std::int64_t epoch = *a->view().epoch;
  store->lead(epoch);
  ASSERT_TRUE(store->save_incidents({{make_incident(1)}}, {}));
  a->know(epoch + 7);
  EXPECT_FALSE(a->permit().has_value());
  EXPECT_FALSE(a->confirm().has_value());
  EXPECT_TRUE(a->view().must_rise);
  EXPECT_TRUE(a->view().is_held) << "nobody else leads";
  EXPECT_EQ(a->raise(), epoch + 8);
  EXPECT_EQ(a->raise(), epoch + 8) << "it is above";
  EXPECT_EQ(a->permit()->epoch, epoch + 8);
  EXPECT_EQ(a->view().went_back_from, epoch + 7);
  EXPECT_FALSE(store->save_incidents({{make_incident(2)}}, {})) << "with the epoch before";
  store->lead(epoch + 8);
  EXPECT_TRUE(store->save_incidents({{make_incident(2)}}, {}));
  b->know(epoch + 100);
  EXPECT_FALSE(b->raise()) << "it does not lead";
  // One that another replaced raises nothing.
  const std::string schema = '"' + dir.path().filename().string() + "\".";
  server.run("UPDATE " + schema + "weft_beat SET epoch = 90; UPDATE " + schema +
             "weft_store SET epoch = 90, holder = 'c'");
  a->know(95);
  EXPECT_FALSE(a->raise());
  EXPECT_EQ(by_hand(dir.path()).number("SELECT epoch FROM weft_store"), 90);
}

// A database of a version that knew no beat.
TEST_P(LeaseTest, ATableThatIsMissingIsMade) {
  must_open(dir.path());
  by_hand(dir.path()).run("DROP TABLE weft_beat");
  const auto before = by_hand(dir.path()).number("SELECT epoch FROM weft_store");
  follow(dir);
  EXPECT_EQ(by_hand(dir.path()).number("SELECT epoch FROM weft_beat"), before + 1) << "an older weftd writes no more";
  EXPECT_EQ(by_hand(dir.path()).number("SELECT epoch FROM weft_store"), before + 1);
}

TEST_P(LeaseTest, AfterAMigrationOfWhatNobodyHadItLeadsAtOnce) {
  must_open(dir.path());
  by_hand(dir.path()).run("DROP TABLE weft_beat");
  by_hand(dir.path()).run("UPDATE weft_store SET holder = ''");
  const auto store = follow(dir);
  const auto lease = start("a");
  EXPECT_TRUE(lease->view().epoch) << "it does not stand by to itself: " << lease->view().seen.holder;
  EXPECT_FALSE(lease->view().succeeds_unended);
}

TEST_P(LeaseTest, AfterAMigrationOfWhatAnotherHadItWaitsForThat) {
  must_open(dir.path());
  by_hand(dir.path()).run("DROP TABLE weft_beat");
  const auto store = follow(dir);
  const auto lease = start("a");
  EXPECT_FALSE(lease->view().epoch) << "the other may act for some seconds more";
  EXPECT_TRUE(in_time([&] { return lease->permit().has_value(); }, 10s));
  EXPECT_TRUE(lease->view().succeeds_unended);
}

}  // namespace
}  // namespace weft::store
