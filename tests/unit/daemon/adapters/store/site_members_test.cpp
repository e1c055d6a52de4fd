// SPDX-License-Identifier: Apache-2.0
// What the weftd of a site tell each other, on a real PostgreSQL.

#include "tests/unit/daemon/adapters/store/site_testing.hpp"

namespace weft::store {
namespace {

class SiteMembers : public SiteTest {};
INSTANTIATE_TEST_SUITE_P(On, SiteMembers, ::testing::Values(Engine::kPostgres), [](const auto&) { return "Postgres"; });

TEST_P(SiteMembers, WeftdOfOneShardThatOwnOtherThingsAreTold) {
  ASSERT_TRUE(join_site(url, "north"));
  ASSERT_TRUE(join_site(url, "south"));
  SiteMember leader{"north", "a:1", "a, process 1", 4, "ib1\nib0\n", "gpu-*\nlogin-?\n", 1, "a", "here"};
  SiteMember standby{"north", "b:1", "b, process 2", 0, "", "login-?\ngpu-*\n", 1, "b", "here"};
  SiteMember south{"south", "c:1", "c, process 3", 2, "ib7\n", "", 2, "c", "here"};
  Database database = by_psql();
  const auto told = [&](const SiteMember& member) {
    EXPECT_TRUE(write_member(database, member));
    const Site site = read_site(database, "here");
    EXPECT_EQ(site.find("south")->disagreement, "");
    return site.find("north")->disagreement;
  };
  EXPECT_EQ(told(south) + told(leader), "");
  EXPECT_EQ(told(standby), "") << "it has not begun to watch";
  standby.fabrics = "ib0\nib1\n";
  EXPECT_EQ(told(standby), "") << "in any order";
  standby.fabrics = "ib7\n";
  EXPECT_EQ(
      told(standby),
      "its weftd at a:1 watches ib0, ib1, the one at b:1 ib7: a takeover changes what the shard owns. Compare the "
      "weftd.toml of both, site.shard first");
  standby.fabrics = leader.fabrics;
  leader.switches = "ib0 0x1 0x2 0x3\nib1 0x7\n";
  standby.switches = "ib0 0x3 0x4\n";
  EXPECT_EQ(told(leader) + told(standby), "") << "some are not seen by both";
  standby.switches = "ib0 0x3\nib1 0x8 0x9\n";
  EXPECT_EQ(told(standby),
            "its weftd at a:1 and the one at b:1 watch different subnets, which both call ib1: a takeover changes what "
            "the shard owns. Compare the weftd.toml of both, site.shard first");
  standby.switches = "";
  standby.collectors = "";
  EXPECT_EQ(
      told(standby),
      "its weftd at a:1 has site.collectors gpu-*, login-?, the one at b:1 none: a takeover changes what the shard "
      "owns. Compare the weftd.toml of both, site.shard first");
  database.run("UPDATE weft_site.weftd SET updated = now() - interval '3 minutes' WHERE seat = 'b'");
  EXPECT_EQ(read_site(database, "here").find("north")->disagreement, "") << "it was stopped";
}

// A backup reads all tables until it ends.
TEST_P(SiteMembers, AStartAndACheckWaitForNobodyWhoReads) {
  ASSERT_TRUE(join_site(url, "north"));
  Database reader = by_psql();
  reader.run(
      "BEGIN; LOCK TABLE weft_site.weftd, weft_site.shard, weft_site.site, weft_site.given IN ACCESS SHARE MODE");
  ASSERT_TRUE(reader.outcome());
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(join_site(url, "north")->number, 1U);
  EXPECT_EQ(join_site(url, "south")->number, 2U);
  EXPECT_TRUE(look_at_site(url, "north"));
  EXPECT_EQ(look_at_site(url, "west")->place.number, 3U);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
}

TEST_P(SiteMembers, AColumnThatIsMissingIsAddedWhenNobodyReads) {
  ASSERT_TRUE(join_site(url, "north"));
  by_psql().run("ALTER TABLE weft_site.weftd DROP COLUMN switches");
  auto reader = std::make_unique<Database>(by_psql());
  reader->run("BEGIN; SET application_name = E'pg_dump\x1b[2J'; LOCK TABLE weft_site.weftd IN ACCESS SHARE MODE");
  ASSERT_TRUE(reader->outcome());
  EXPECT_TRUE(look_at_site(url, "north")) << "a check waits for nobody";
  std::vector<std::string> told;
  const auto joined = join_site(url, "north", [&](const std::string& why) {
    told.push_back(why);
    // Others are not held up meanwhile for longer than a moment.
    EXPECT_EQ(by_psql().number("SELECT count(*) FROM weft_site.weftd"), 0);
    reader.reset();
  });
  ASSERT_TRUE(joined) << joined.error().message;
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].find(": the tables of the site are in use: pg_dump"), std::string::npos) << told[0];
  EXPECT_TRUE(told[0].ends_with("; a start waits for that")) << told[0];
  EXPECT_EQ(told[0].find('\x1b'), std::string::npos);
  EXPECT_TRUE(SiteRegistry::start(url, member("north", 1, "a:1")));
}

TEST_P(SiteMembers, AnotherStartThatHangsIsNamedAndNotWaitedForByAnybodyWhoOnlyLooks) {
  ASSERT_TRUE(join_site(url, "north"));
  auto hanging = std::make_unique<Database>(by_psql());
  hanging->run("BEGIN; SET application_name = 'weftd mgmt2/7 start'; SELECT pg_advisory_xact_lock(8313759)");
  ASSERT_TRUE(hanging->outcome());
  const auto began = std::chrono::steady_clock::now();
  const auto looked = look_at_site(url, "south");
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(3));
  ASSERT_FALSE(looked);
  EXPECT_EQ(looked.error().code, ErrorCode::kTimeout);
  EXPECT_NE(looked.error().message.find("weftd mgmt2/7 start, process "), std::string::npos) << looked.error().message;
  std::vector<std::string> told;
  const auto joined = join_site(url, "south", [&](const std::string& why) {
    told.push_back(why);
    hanging.reset();
  });
  ASSERT_TRUE(joined) << joined.error().message;
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].find("weftd mgmt2/7 start, process "), std::string::npos) << told[0];
}

TEST_P(SiteMembers, AStartThatHangsEndsNoOtherInAnyOfItsSteps) {
  const auto joined = join_site(url, "north");
  ASSERT_TRUE(joined);
  std::unique_ptr<Database> hanging;
  const auto hang = [&] {
    hanging = std::make_unique<Database>(by_psql());
    hanging->run("BEGIN; SET application_name = 'weftd mgmt2/7 start'; SELECT pg_advisory_xact_lock(8313759)");
    ASSERT_TRUE(hanging->outcome());
  };
  std::vector<std::string> told;
  const auto tell = [&](const std::string& why) {
    told.push_back(why);
    hanging.reset();
  };
  hang();
  StoreOptions options;
  options.url = url;
  options.shard = "north";
  options.on_caution = tell;
  const auto opened = open_store(dir.path(), options);
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_FALSE(told.empty());
  EXPECT_NE(told[0].find("weftd mgmt2/7 start, process "), std::string::npos) << told[0];
  EXPECT_TRUE(told[0].ends_with("; a start waits for that")) << told[0];
  // Nor does the entry of one that failed stay.
  const auto mistyped = join_site(url, "sotuh");
  ASSERT_TRUE(mistyped);
  told.clear();
  hang();
  const auto left = leave_site(url, "sotuh", *mistyped, "a:1", tell);
  ASSERT_TRUE(left) << left.error().message;
  EXPECT_TRUE(*left);
  EXPECT_EQ(told.size(), 1U);
}

TEST_P(SiteMembers, WhatIsTooLongOrSteersATerminalIsNotShown) {
  ASSERT_TRUE(join_site(url, "north"));
  SiteMember first = member("north", 1, "a:1"), second = member("north", 1, "b:1");
  first.epoch = 4;
  first.holder = "h\nSome other line";
  Database database = by_psql();
  const auto told = [&] {
    EXPECT_TRUE(write_member(database, first) && write_member(database, second));
    return read_site(database, "here").find("north")->disagreement;
  };
  for (int i = 0; i < 1000; ++i) {
    first.collectors += "gpu-" + std::to_string(i) + "\n";
    if (i != 500) second.collectors += "gpu-" + std::to_string(i) + "\n";
  }
  EXPECT_EQ(told().find("its weftd at a:1 has site.collectors gpu-500, the one at b:1 gpu-0, "), 0U) << told();
  EXPECT_NE(told().find(" and 991 more: a takeover"), std::string::npos) << told();
  second.collectors = "a\x1b[2J\u202e" + std::string(500, 'x') + "\n";
  EXPECT_NE(told().find("the one at b:1 a?[2J?xxx"), std::string::npos) << told();
  EXPECT_LT(told().size(), 600U);
  second.collectors = std::string(3'000'000, 'x');
  EXPECT_EQ(told(), "its weftd at b:1 tells more than a weftd would: that is not read");
  second.collectors.clear();
  for (int i = 0; i < 200'000; ++i) second.collectors += "a\n";
  EXPECT_LT(told().size(), 600U);
  const auto checked = look_at_site(url, "north");
  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_NE(checked->owner.find("was last led by h?Some other line, which"), std::string::npos) << checked->owner;
  second.address = "b\x1b[31m:9641";
  told();
  EXPECT_EQ(read_site(database, "here").find("north")->addresses, std::vector<std::string>{"a:1"});
}

TEST_P(SiteMembers, AWeftdThatEndsDisagreesWithNobody) {
  ASSERT_TRUE(join_site(url, "north"));
  SiteMember right = member("north", 1, "a:1"), wrong = member("north", 1, "b:1");
  wrong.collectors = "gpu-*\n";
  const auto leader = SiteRegistry::start(url, right);
  auto mistaken = SiteRegistry::start(url, wrong);
  ASSERT_TRUE(leader && mistaken);
  EXPECT_NE(next_of(**leader, [](const Site& site) { return !site.find("north")->disagreement.empty(); })
                ->find("north")
                ->disagreement,
            "");
  mistaken->reset();
  const SitePtr site = next_of(**leader, [](const Site& each) { return each.find("north")->disagreement.empty(); });
  EXPECT_EQ(site->find("north")->disagreement, "");
  EXPECT_EQ(site->find("north")->addresses, (std::vector<std::string>{"a:1", "b:1"})) << "it may be back";
}

TEST_P(SiteMembers, TheRegistryTellsTheOthers) {
  ASSERT_TRUE(join_site(url, "north"));
  ASSERT_TRUE(join_site(url, "south"));
  const auto leader =
      SiteRegistry::start(url, {"north", "a:1", "a, process 1", 4, "ib0\nib1\n", "gpu-*\n", 1, "a", "here"});
  ASSERT_TRUE(leader) << leader.error().message;
  SiteMember second = member("north", 1, "b:1");
  second.collectors = "gpu-*\n";
  const auto standby = SiteRegistry::start(url, second);
  const auto south = SiteRegistry::start(url, member("south", 2, "c:1"));
  ASSERT_TRUE(standby && south);
  const SitePtr site = (*south)->site();
  EXPECT_EQ(site->own, "south");
  const SiteShard north = *site->find("north");
  EXPECT_EQ(north, (SiteShard{"north", 1, "a, process 1", 4, {"a:1", "b:1"}, {"ib0", "ib1"}, {"gpu-*"}}));
  EXPECT_EQ(site->find("south")->leader, "") << "nobody leads there";
}

TEST_P(SiteMembers, ATakeoverIsWrittenAtOnce) {
  ASSERT_TRUE(join_site(url, "north"));
  SiteMember self = member("north", 1, "a:1");
  const auto registry = SiteRegistry::start(url, self);
  ASSERT_TRUE(registry) << registry.error().message;
  Database database = by_psql();
  const auto began = std::chrono::steady_clock::now();
  (*registry)->tell("a, process 1", 7, "ib0\n");
  while (read_site(database, "here").find("north")->epoch != 7 &&
         std::chrono::steady_clock::now() - began < kReadSiteEvery)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_LT(std::chrono::steady_clock::now() - began, kReadSiteEvery / 2) << "not only when the site is read again";
}

TEST_P(SiteMembers, TwoWeftdBehindOneAddressAreTwo) {
  ASSERT_TRUE(join_site(url, "north"));
  SiteMember first = member("north", 1, "virtual:1"), second = first;
  first.seat = "a";
  first.epoch = 4;
  first.fabrics = "ib0\n";
  second.seat = "b";
  second.holder = "b, process 2";
  const auto leader = SiteRegistry::start(url, first);
  const auto standby = SiteRegistry::start(url, second);
  ASSERT_TRUE(leader && standby);
  Database database = by_psql();
  const SiteShard north = *read_site(database, "here").find("north");
  EXPECT_EQ(north, (SiteShard{"north", 1, "virtual:1, process 1", 4, {"virtual:1"}, {"ib0"}, {}}));
  second.epoch = 5;
  EXPECT_TRUE(write_member(database, second));
  EXPECT_EQ(read_site(database, "here").find("north")->leader, "b, process 2") << "the newest of those that led";
}

TEST_P(SiteMembers, LoopbackAddressesOfOtherMachinesAreNotFollowed) {
  ASSERT_TRUE(join_site(url, "north"));
  SiteMember north = member("north", 1, "127.0.0.1:9641");
  const auto registry = SiteRegistry::start(url, north);
  ASSERT_TRUE(registry);
  Database database = by_psql();
  EXPECT_EQ(read_site(database, "here").find("north")->addresses, std::vector<std::string>{"127.0.0.1:9641"});
  for (const char* machine : {"there", ""}) {
    const SiteShard seen = *read_site(database, machine).find("north");
    EXPECT_TRUE(seen.addresses.empty());
    EXPECT_NE(seen.trouble.find("127.0.0.1:9641 is a loopback address of another host"), std::string::npos)
        << seen.trouble;
  }
  north.address = "mgmt1:9641";
  EXPECT_TRUE(write_member(database, north));
  EXPECT_EQ(read_site(database, "there").find("north")->addresses, std::vector<std::string>{"mgmt1:9641"});
  EXPECT_EQ(read_site(database, "there").find("north")->trouble, "");
  EXPECT_NE(read_site(database, "there").database, "");
  EXPECT_NE(loopback_name(), "");
  EXPECT_EQ(loopback_name(), loopback_name());
}

}  // namespace
}  // namespace weft::store
