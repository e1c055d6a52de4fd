// SPDX-License-Identifier: Apache-2.0
// A site on a real PostgreSQL.

#include "daemon/adapters/store/site_table.hpp"

#include <thread>

#include "daemon/adapters/store/copy.hpp"
#include "daemon/adapters/store/lease.hpp"
#include "daemon/adapters/store/postgres_address.hpp"
#include "daemon/adapters/store/site_registry.hpp"
#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

class SiteTest : public OnEachEngine {
 protected:
  void SetUp() override {
    OnEachEngine::SetUp();
    if (!IsSkipped()) url = PostgresServer::shared().database_url(dir.path().filename().string());
  }
  std::unique_ptr<SqlStore> open(const TempDir& place, const std::string& shard) const {
    auto store = SqlStore::open(place.path(), {.url = url, .shard = shard});
    if (store) return std::move(*store);
    ADD_FAILURE() << store.error().message;
    return nullptr;
  }
  Database by_psql() const { return Database(std::move(*PostgresConnection::open(*parse_postgres_address(url)))); }

  const TempDir dir, other, third;
  std::string url;
};
INSTANTIATE_TEST_SUITE_P(On, SiteTest, ::testing::Values(Engine::kPostgres), [](const auto&) { return "Postgres"; });

TEST_P(SiteTest, EachShardHasRowsAndIdsOfItsOwn) {
  const auto north = open(dir, "north"), south = open(other, "south");
  ASSERT_TRUE(north && south);
  EXPECT_EQ(north->restore(kNever)->incident_ids.next(), 1U);
  EXPECT_EQ(south->restore(kNever)->incident_ids.next(), 2U);
  EXPECT_EQ(south->restore(kNever)->maintenance_ids.next(), 2U);
  EXPECT_EQ(south->restore_remedies(kNever)->ids.next(), 2U);
  ASSERT_TRUE(north->save_incidents({{make_incident(1)}}, {}));
  ASSERT_TRUE(south->save_incidents({{make_incident(2)}}, {}));
  EXPECT_EQ(north->restore(kNever)->incidents.size(), 1U);
  EXPECT_EQ(north->restore(kNever)->incident_ids.next(), 101U);
  EXPECT_EQ(south->restore(kNever)->incidents.front().id, 2U);
  EXPECT_EQ(south->restore(kNever)->incident_ids.next(), 102U);
}

TEST_P(SiteTest, AShardKeepsItsNumber) {
  EXPECT_EQ(join_site(url, "north")->number, 1U);
  EXPECT_EQ(join_site(url, "south")->number, 2U);
  EXPECT_EQ(join_site(url, "north")->number, 1U);
  Database database = by_psql();
  database.run("DELETE FROM weft_site.shard WHERE name = 'south'");
  ASSERT_TRUE(database.outcome());
  EXPECT_EQ(join_site(url, "west")->number, 3U) << "numbers are not used again";
  database.run("UPDATE weft_site.site SET last_number = 99");
  EXPECT_EQ(join_site(url, "east").error().code, ErrorCode::kResourceExhausted);
}

TEST_P(SiteTest, ShardsThatBeginTogetherGetNumbersOfTheirOwn) {
  Result<SitePlace> places[2];
  std::thread one([&] { places[0] = join_site(url, "north"); });
  std::thread two([&] { places[1] = join_site(url, "south"); });
  one.join();
  two.join();
  for (const auto& place : places) ASSERT_TRUE(place) << place.error().message;
  EXPECT_NE(places[0]->number, places[1]->number);
}

TEST_P(SiteTest, OnlyTheFirstShardBringsIdsOfItsOwn) {
  Database database = by_psql();
  for (const char* shard : {"elder", "younger"}) {
    const TempDir alone;
    database.run(("CREATE SCHEMA " + shard_schema(shard)).c_str());
    ASSERT_TRUE(database.outcome());
    const auto store = SqlStore::open(alone.path(), {.url = shard_url(url, shard)});
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_TRUE((*store)->save_incidents({{make_incident(41)}}, {}));
  }
  const auto elder = join_site(url, "elder");
  ASSERT_TRUE(elder) << elder.error().message;
  EXPECT_EQ(elder->first_id, 42U);
  EXPECT_EQ(elder->ids(42).next(), 101U);
  const auto second = join_site(url, "second");
  EXPECT_EQ(second->ids(1).next(), 102U) << "ids below were given by the elder";
  const auto refused = join_site(url, "younger");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(read_site(database).elder, "elder");
}

TEST_P(SiteTest, NoShardIsGivenIdsOfOthersByACopy) {
  const auto quietly = [](const CopyProgress&) {};
  const TempDir alone, elsewhere, aside;
  ASSERT_TRUE(SqlStore::open(alone.path(), {})->get()->save_incidents({{make_incident(1), make_incident(2)}}, {}));
  const auto refused = [&](const std::filesystem::path& source, const std::string& shard) {
    const auto copied = copy_store(source, shard_url(url, shard), quietly);
    return copied ? std::string() : copied.error().message;
  };
  ASSERT_TRUE(join_site(url, "north"));
  ASSERT_TRUE(join_site(url, "south"));
  const std::string why = refused(alone.path(), "south");
  EXPECT_NE(why.find("INC-1 "), std::string::npos) << why;
  EXPECT_NE(why.find("shard south has number 2"), std::string::npos) << why;
  EXPECT_EQ(by_psql().number("SELECT count(*) FROM pg_tables WHERE schemaname = 'weft_shard_south'"), 0)
      << "nothing was made there";
  // A shard that comes later is told before it is copied, and not when it starts.
  Database database = by_psql();
  database.run("CREATE SCHEMA weft_shard_west");
  EXPECT_NE(refused(alone.path(), "west").find("only the first shard of a site may bring them"), std::string::npos);
  // Its own go there and back.
  {
    const auto south = open(other, "south");
    ASSERT_TRUE(south->save_incidents({{make_incident(2), make_incident(102)}}, {}));
  }
  const std::string own = shard_url(url, "south");
  const auto there = copy_store(own, elsewhere.path(), quietly);
  ASSERT_TRUE(there) << there.error().message;
  database.run("DROP SCHEMA weft_shard_south CASCADE");
  database.run("CREATE SCHEMA weft_shard_south");
  ASSERT_TRUE(database.outcome());
  EXPECT_EQ(refused(elsewhere.path(), "south"), "");
}

TEST_P(SiteTest, TheElderBringsItsIdsBack) {
  const TempDir aside;
  const auto quietly = [](const CopyProgress&) {};
  Database database = by_psql();
  database.run("CREATE SCHEMA weft_shard_north");
  {
    const auto store = SqlStore::open(third.path(), {.url = shard_url(url, "north")});
    ASSERT_TRUE((*store)->save_incidents({{make_incident(41)}}, {}));
  }
  ASSERT_TRUE(join_site(url, "north"));
  ASSERT_TRUE(join_site(url, "south"));
  ASSERT_TRUE(copy_store(shard_url(url, "north"), aside.path(), quietly));
  database.run("DROP SCHEMA weft_shard_north CASCADE");
  database.run("CREATE SCHEMA weft_shard_north");
  const auto back = copy_store(aside.path(), shard_url(url, "north"), quietly);
  EXPECT_TRUE(back) << back.error().message;
}

TEST_P(SiteTest, TheRegistryTellsTheOthers) {
  ASSERT_TRUE(join_site(url, "north"));
  ASSERT_TRUE(join_site(url, "south"));
  const auto leader = SiteRegistry::start(url, {"north", "a:1", "a, process 1", 4, "ib0\nib1\n", "gpu-*\n"});
  ASSERT_TRUE(leader) << leader.error().message;
  const auto standby = SiteRegistry::start(url, {"north", "b:1", "b, process 2"});
  const auto south = SiteRegistry::start(url, {"south", "c:1", "c, process 3"});
  ASSERT_TRUE(standby && south);
  const SitePtr site = (*south)->site();
  EXPECT_EQ(site->own, "south");
  const SiteShard north = *site->find("north");
  EXPECT_EQ(north, (SiteShard{"north", 1, "a, process 1", 4, {"a:1", "b:1"}, {"ib0", "ib1"}, {"gpu-*"}}));
  EXPECT_EQ(site->find("south")->leader, "") << "nobody leads there";
}

TEST_P(SiteTest, ASchemaThatAPoolerDroppedIsNoticed) {
  const auto refused = look_at_postgres(shard_url(url, "nowhere"), state_schema());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("weft_shard_nowhere is not there"), std::string::npos)
      << refused.error().message;
}

}  // namespace
}  // namespace weft::store
