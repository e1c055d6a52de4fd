// SPDX-License-Identifier: Apache-2.0
// What waited while the database was away.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

using namespace std::chrono_literals;

class CatchUp : public OnEachEngine {
 protected:
  const TempDir dir;
  PostgresServer& server = PostgresServer::shared();
};
INSTANTIATE_TEST_SUITE_P(On, CatchUp, ::testing::Values(Engine::kPostgres), [](const auto&) { return "Postgres"; });

/// Calls until it succeeds, for at most 30 s.
bool catches_up(const std::function<bool()>& call) {
  for (const auto start = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - start < 30s;) {
    if (call()) return true;
    std::this_thread::sleep_for(100ms);
  }
  return false;
}

Event first_event(std::uint64_t incident) {
  return {at_second(1), incident, "opened", "", ""};
}

TEST_P(CatchUp, ItCatchesUpAndGivesNoIdAgainThatWasShown) {
  auto store = must_open(dir.path());
  ASSERT_TRUE(store->save_incidents({{make_incident(1)}}, {{first_event(1)}}));
  EXPECT_TRUE(store->catch_up()) << "nothing waits";
  server.kill();
  ASSERT_FALSE(store->save_incidents({{make_incident(2)}}, {{first_event(2)}}));
  ASSERT_FALSE(store->save_incidents({{make_incident(7)}}, {{first_event(7)}}));
  EXPECT_FALSE(store->catch_up());
  EXPECT_EQ(store->status().incidents_waiting, 2U);
  store.reset();
  server.start();
  ASSERT_TRUE(catches_up([&] { return SqlStore::open(dir.path(), {.url = url_of(dir.path())}).has_value(); }));
  store = must_open(dir.path());
  auto restored = store->restore(kNever);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(restored->incidents.size(), 1U);
  EXPECT_EQ(restored->incident_ids.next(), 8U) << "they were shown, and are not stored";
  server.kill();
  ASSERT_FALSE(store->save_incidents({{make_incident(8)}}, {{first_event(8)}}));
  ASSERT_FALSE(store->maintain(at_second(2), {}));
  server.start();
  EXPECT_TRUE(catches_up([&] { return store->catch_up().has_value(); }));
  EXPECT_EQ(store->status().incidents_waiting, 0U);
  EXPECT_TRUE(store->status().ok) << store->status().message;
  EXPECT_EQ(store->events(8)->size(), 1U);
  // Housekeeping that failed is over, too, once it could be done.
  server.kill();
  ASSERT_FALSE(store->maintain(at_second(3), {}));
  EXPECT_FALSE(store->status().ok);
  server.start();
  EXPECT_TRUE(catches_up([&] { return store->catch_up().has_value(); }));
  EXPECT_TRUE(store->status().ok) << store->status().message;
}

}  // namespace
}  // namespace weft::store
