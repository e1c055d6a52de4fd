// SPDX-License-Identifier: Apache-2.0
// A site on a real PostgreSQL.

#include "daemon/adapters/store/site_table.hpp"

#include <functional>
#include <thread>

#include "daemon/adapters/store/copy.hpp"
#include "daemon/adapters/store/lease.hpp"
#include "daemon/adapters/store/postgres_address.hpp"
#include "daemon/adapters/store/postgres_schema.hpp"
#include "daemon/adapters/store/schema.hpp"
#include "daemon/adapters/store/site_registry.hpp"
#include "tests/unit/daemon/adapters/store/site_testing.hpp"
#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

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
  EXPECT_EQ(read_site(database, "").elder, "elder");
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

TEST_P(SiteTest, AShardThatIsTakenOutIsToldSoAndIsNotEnteredAgain) {
  ASSERT_TRUE(join_site(url, "north"));
  ASSERT_TRUE(join_site(url, "south"));
  const auto north = SiteRegistry::start(url, member("north", 1, "a:1"));
  const auto south = SiteRegistry::start(url, member("south", 2, "c:1"));
  ASSERT_TRUE(north && south);
  EXPECT_FALSE((*south)->site()->is_left);
  Database database = by_psql();
  database.run("DELETE FROM weft_site.shard WHERE name = 'south'");
  ASSERT_TRUE(database.outcome());
  const SitePtr left = next_of(**south, [](const Site& site) { return site.is_left; });
  EXPECT_TRUE(left->is_left);
  ASSERT_EQ(left->shards.size(), 1U);
  EXPECT_EQ(left->shards[0].name, "south");
  EXPECT_EQ(next_of(**north, [](const Site& site) { return site.shards.size() == 1; })->find("south"), nullptr);
  EXPECT_EQ(database.number("SELECT count(*) FROM weft_site.shard"), 1);
  (*south)->tell("c, process 1", 7, "ib9\n");
  EXPECT_EQ(SiteRegistry::start(url, member("south", 2, "c:1")).error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(join_site(url, "west")->number, 3U);

  const auto back = join_site(url, "south");
  EXPECT_EQ(back->number, 2U) << "its ids are known by it";
  EXPECT_TRUE(back->is_new);
  EXPECT_FALSE(back->is_unused);
  const SitePtr again = next_of(**south, [](const Site& site) { return !site.is_left; });
  EXPECT_EQ(again->shards.size(), 3U);
  EXPECT_EQ(again->find("south")->epoch, 7) << "what it was told meanwhile is told now";
}

TEST_P(SiteTest, AShardThatGaveIdsComesBackWithThem) {
  ASSERT_TRUE(join_site(url, "north"));
  const auto south = open(dir, "south");
  ASSERT_TRUE(south);
  ASSERT_TRUE(south->save_incidents({{make_incident(2)}}, {}));
  Database database = by_psql();
  database.run("DELETE FROM weft_site.shard WHERE name = 'south'");
  ASSERT_TRUE(database.outcome());
  const auto back = join_site(url, "south");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->number, 2U);
}

TEST_P(SiteTest, TheNameOfAStartThatFailedDoesNotStay) {
  ASSERT_TRUE(join_site(url, "north"));
  const auto mistyped = join_site(url, "sotuh");
  ASSERT_TRUE(mistyped);
  EXPECT_TRUE(mistyped->is_new && mistyped->is_unused);
  Database database = by_psql();
  SiteMember self = member("sotuh", 2, "c:1"), second = member("sotuh", 2, "d:1");
  ASSERT_TRUE(write_member(database, self));
  ASSERT_TRUE(write_member(database, second));
  EXPECT_EQ(leave_site(url, "sotuh", *mistyped, self.seat), false) << "the other weftd of its pair has started";
  database.run("DELETE FROM weft_site.weftd WHERE seat = 'd:1'");
  EXPECT_EQ(leave_site(url, "sotuh", *mistyped, self.seat), true);
  EXPECT_EQ(read_site(database, "").find("sotuh"), nullptr);
  EXPECT_EQ(database.number("SELECT count(*) FROM pg_namespace WHERE nspname = 'weft_shard_sotuh'"), 0);
  EXPECT_EQ(join_site(url, "south")->number, 2U) << "nobody ever used it";
  EXPECT_EQ(join_site(url, "west")->number, 3U);

  const auto east = join_site(url, "east");
  const auto store = open(dir, "east");
  ASSERT_TRUE(store);
  ASSERT_TRUE(store->save_incidents({{make_incident(4)}}, {}));
  EXPECT_EQ(leave_site(url, "east", *east, "e:1"), false) << "it gave an id";
  EXPECT_EQ(join_site(url, "east")->number, 4U);
}

TEST_P(SiteTest, AShardIsNewUntilItLeads) {
  ASSERT_TRUE(join_site(url, "north"));
  Database database = by_psql();
  const auto is_new = [&] { return read_site(database, "here").find("north")->is_new; };
  SiteMember self = member("north", 1, "a:1");
  EXPECT_TRUE(is_new());
  ASSERT_TRUE(write_member(database, self));
  EXPECT_TRUE(is_new()) << "it stands by, or was killed at its start";
  self.epoch = 1;
  ASSERT_TRUE(write_member(database, self));
  EXPECT_FALSE(is_new());
  self.epoch = 0;
  ASSERT_TRUE(write_member(database, self));
  ASSERT_TRUE(join_site(url, "north"));
  EXPECT_FALSE(is_new()) << "a leader that starts again";
  database.run("DELETE FROM weft_site.shard WHERE name = 'north'");
  ASSERT_TRUE(join_site(url, "north"));
  EXPECT_FALSE(is_new()) << "what it owns is missing until it is back";
  database.run("ALTER TABLE weft_site.shard DROP COLUMN has_led");
  EXPECT_FALSE(is_new()) << "a site of an older weftd";
  ASSERT_TRUE(join_site(url, "south"));
  EXPECT_FALSE(is_new());
  EXPECT_TRUE(read_site(database, "here").find("south")->is_new);
}

TEST_P(SiteTest, TheSchemaOfAShardIsForThatShardAlone) {
  const TempDir fourth;
  ASSERT_TRUE(open(dir, "north"));
  for (const StoreOptions& options :
       {StoreOptions{.url = shard_url(url, "north")}, {.url = url + "&options=-c%20search_path%3Dweft_shard_north"}}) {
    const auto refused = SqlStore::open(other.path(), options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kFailedPrecondition);
    EXPECT_NE(refused.error().message.find("its schema is that of shard north"), std::string::npos)
        << refused.error().message;
    EXPECT_EQ(check_store(other.path(), options).error().message, refused.error().message);
  }
  EXPECT_TRUE(SqlStore::open(third.path(), {.url = url})) << "a schema of its own in the same database";
  EXPECT_TRUE(open(dir, "north"));
}

TEST_P(SiteTest, NoFirstShardBeginsWithoutWhatWasThereBefore) {
  const TempDir former, fresh;
  {
    const auto alone = SqlStore::open(former.path(), {.url = url});
    ASSERT_TRUE(alone) << alone.error().message;
    ASSERT_TRUE((*alone)->save_incidents({{make_incident(1)}}, {}));
  }
  // Also where the directory does not know any more, or is that of another host.
  for (const TempDir* place : {&former, &fresh}) {
    const auto checked = check_store(place->path(), {.url = url, .shard = "north"});
    const auto opened = SqlStore::open(place->path(), {.url = url, .shard = "north"});
    ASSERT_FALSE(checked) << *checked;
    ASSERT_FALSE(opened);
    EXPECT_EQ(checked.error().message, opened.error().message);
    EXPECT_NE(checked.error().message.find("ALTER SCHEMA public RENAME TO weft_shard_north"), std::string::npos)
        << checked.error().message;
  }
  by_psql().run("ALTER SCHEMA public RENAME TO weft_shard_north");
  const auto checked = check_store(former.path(), {.url = url, .shard = "north"});
  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_EQ(checked->find("a copy of it"), std::string::npos) << *checked;
  EXPECT_NE(checked->find("and goes on with it as shard north"), std::string::npos) << *checked;
  const auto north = open(former, "north");
  ASSERT_TRUE(north);
  EXPECT_EQ(north->restore(kNever)->incidents.size(), 1U);
}

TEST_P(SiteTest, ACheckFailsWhereAStartWouldAndChangesNothing) {
  Database database = by_psql();
  const auto found = check_store(dir.path(), {.url = url, .shard = "north"});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_NE(found->find("shard north would be new, with number 1"), std::string::npos) << *found;
  EXPECT_EQ(database.number("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'weft%'"), 0);

  const auto same = [&](const std::string& address, const std::string& shard) {
    const auto checked = check_store(other.path(), {.url = address, .shard = shard});
    const auto opened = SqlStore::open(other.path(), {.url = address, .shard = shard});
    EXPECT_FALSE(checked) << *checked;
    EXPECT_FALSE(opened);
    if (checked || opened) return std::string();
    EXPECT_EQ(checked.error().message, opened.error().message);
    return checked.error().message;
  };
  // A state directory of before the site, whose tables were not renamed.
  const decltype(third) former;
  ASSERT_TRUE(SqlStore::open(former.path(), {.url = url}));
  const auto early = check_store(former.path(), {.url = url, .shard = "north"});
  ASSERT_FALSE(early) << *early;
  EXPECT_NE(early.error().message.find(", a weftd of no site, and shard north is empty"), std::string::npos);
  EXPECT_NE(early.error().message.find("ALTER SCHEMA public RENAME TO weft_shard_north"), std::string::npos)
      << early.error().message;
  EXPECT_EQ(SqlStore::open(former.path(), {.url = url, .shard = "north"}).error().message, early.error().message);
  EXPECT_EQ(database.number("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'weft%'"), 0)
      << "else the schema could not be renamed";

  PostgresServer::shared().have_plain_role();
  ASSERT_TRUE(database.outcome());
  std::string plain = url;
  plain.replace(plain.find("user=weft"), 9, "user=plain");
  EXPECT_NE(same(plain, "north").find("may not make schemas"), std::string::npos);
  database.run(
      "CREATE SCHEMA weft_site AUTHORIZATION plain; CREATE SCHEMA weft_shard_north; GRANT USAGE ON SCHEMA "
      "weft_shard_north TO plain");
  ASSERT_TRUE(database.outcome());
  EXPECT_NE(same(plain, "north")
                .find("the role plain may not make tables in the schema weft_shard_north: let its owner run "
                      "GRANT CREATE ON SCHEMA weft_shard_north TO plain"),
            std::string::npos);
  database.run("DROP SCHEMA weft_site CASCADE; DROP SCHEMA weft_shard_north");

  ASSERT_TRUE(join_site(url, "first"));
  database.run(("CREATE SCHEMA " + shard_schema("grown")).c_str());
  ASSERT_TRUE(database.outcome());
  {
    const auto grown = SqlStore::open(third.path(), {.url = shard_url(url, "grown")});
    ASSERT_TRUE(grown);
    ASSERT_TRUE((*grown)->save_incidents({{make_incident(41)}}, {}));
  }
  EXPECT_NE(same(url, "grown").find("only the first shard of a site may bring them"), std::string::npos);
  database.run("UPDATE weft_site.site SET last_number = 99");
  EXPECT_NE(same(url, "late").find("the site has had 99 shards"), std::string::npos);
  EXPECT_EQ(database.number("SELECT count(*) FROM weft_site.shard"), 1);
}

TEST_P(SiteTest, ASchemaThatAPoolerDroppedIsNoticed) {
  const auto refused = look_at_postgres(shard_url(url, "nowhere"), state_schema());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("weft_shard_nowhere is not there"), std::string::npos)
      << refused.error().message;
}

}  // namespace
}  // namespace weft::store
