// SPDX-License-Identifier: Apache-2.0
// The lease on a real PostgreSQL.

#include "daemon/adapters/store/lease.hpp"

#include <chrono>
#include <functional>
#include <thread>

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

// A database of a version that knew no beat.
TEST_P(LeaseTest, ATableThatIsMissingIsMade) {
  must_open(dir.path());
  by_hand(dir.path()).run("DROP TABLE weft_beat");
  const auto before = by_hand(dir.path()).number("SELECT epoch FROM weft_store");
  follow(dir);
  EXPECT_EQ(by_hand(dir.path()).number("SELECT epoch FROM weft_beat"), before + 1) << "an older weftd writes no more";
  EXPECT_EQ(by_hand(dir.path()).number("SELECT epoch FROM weft_store"), before + 1);
}

}  // namespace
}  // namespace weft::store
