// SPDX-License-Identifier: Apache-2.0
#include "fabric/site.hpp"

#include <gtest/gtest.h>

#include <set>

#include "fabric/id_series.hpp"

namespace weft {
namespace {

Site two_shards() {
  Site site;
  site.own = "north";
  site.shards = {{"north", 1, "a", 3, {"a:1", "b:1"}, {"ib0"}, {"gpu-0*", "login"}},
                 {"south", 2, "c", 1, {"c:1"}, {"ib0"}, {"gpu-*"}}};
  return site;
}

TEST(IdSeries, OfOneWeftdCountsAllNumbers) {
  IdSeries ids;
  EXPECT_EQ(ids.take(), 1U);
  EXPECT_EQ(ids.take(), 2U);
  ids.skip(1);
  EXPECT_EQ(ids.next(), 3U);
  ids.skip(7);
  EXPECT_EQ(ids.take(), 8U);
  EXPECT_EQ(IdSeries(0).take(), 1U);
  EXPECT_EQ(IdSeries::of_shard(5, 0), IdSeries(5));
}

TEST(IdSeries, OfShardsNeverMeet) {
  std::set<std::uint64_t> given;
  for (std::uint64_t shard = 1; shard < kMostShards; ++shard) {
    IdSeries ids = IdSeries::of_shard(1 + 7 * shard, shard);
    EXPECT_GE(ids.next(), 1 + 7 * shard);
    for (int i = 0; i < 50; ++i) {
      const std::uint64_t id = ids.take();
      EXPECT_EQ(id % kMostShards, shard);
      EXPECT_TRUE(given.insert(id).second) << id;
    }
  }
}

TEST(IdSeries, OfAShardGoesOnBehindWhatWasGiven) {
  IdSeries ids = IdSeries::of_shard(1, 2);
  EXPECT_EQ(ids.next(), 2U);
  ids.skip(2);
  EXPECT_EQ(ids.next(), 102U);
  ids.skip(350);
  EXPECT_EQ(ids.take(), 402U);
  EXPECT_EQ(IdSeries::of_shard(402, 2).next(), 402U);
  EXPECT_EQ(IdSeries::of_shard(403, 2).next(), 502U);
}

TEST(Site, AShardInWhichNobodyHasLedOwnsNothing) {
  Site site = two_shards();
  EXPECT_EQ(site.others().size(), 1U);
  EXPECT_EQ(site.collected_by("gpu-7")->name, "south");
  site.shards[1].is_new = true;
  EXPECT_TRUE(site.others().empty());
  EXPECT_EQ(site.collected_by("gpu-7"), nullptr) << "it has no weftd that hears collectors";
  site.own = "south";
  EXPECT_EQ(site.collected_by("gpu-7")->name, "south") << "it knows its own";
}

TEST(Site, LoopbackAddressesMeanWhoeverReadsThem) {
  for (const char* address : {"127.0.0.1:9641", "127.8.9.1:1", "127.1:1", "0.0.0.0:9641", "0:1", "[::1]:9641", "[::]:1",
                              "[0:0:0:0:0:0:0:1]:1", "[::ffff:127.0.0.1]:1", "localhost:9641", "LocalHost.:1"})
    EXPECT_TRUE(is_loopback_address(address)) << address;
  for (const char* address :
       {"mgmt1:9641", "10.0.0.127:1", "128.0.0.1:1", "[2001:db8::1]:1", "[::11]:1", "[1::]:1", "[::ffff:10.0.0.1]:1",
        "localhost.example:1", "notlocalhost:1", "me.localhost:1", "127host:1", ":1", ""})
    EXPECT_FALSE(is_loopback_address(address)) << address;
}

TEST(Site, AShardThatTheSiteListsNoMoreHasNoIdentity) {
  Site site = two_shards();
  site.database = "7.1";
  EXPECT_EQ(own_identity(site), "7.1/1/north");
  EXPECT_EQ(shard_identity(site, site.shards[1]), "7.1/2/south");
  site.is_left = true;
  EXPECT_EQ(own_identity(site), "");
}

TEST(Site, KnowsWhoGaveAnId) {
  Site site = two_shards();
  EXPECT_EQ(site.owner_of(301)->name, "north");
  EXPECT_EQ(site.owner_of(302)->name, "south");
  EXPECT_EQ(site.owner_of(303), nullptr);
  site.first_id = 40;
  site.elder = "south";
  EXPECT_EQ(site.owner_of(1)->name, "south") << "from the time when it was alone";
  EXPECT_EQ(site.owner_of(101)->name, "north");
  EXPECT_EQ(site.find("west"), nullptr);
}

TEST(Site, KnowsWhereACollectorBelongs) {
  const Site site = two_shards();
  EXPECT_EQ(site.collected_by("gpu-017")->name, "north") << "the first by name of those that match";
  EXPECT_EQ(site.collected_by("GPU-117")->name, "south");
  EXPECT_EQ(site.collected_by("login")->name, "north");
  EXPECT_EQ(site.collected_by("login2"), nullptr);
}

TEST(Site, PatternsMatchWholeNames) {
  for (const auto& [pattern, name] : {std::pair{"*", ""},
                                      {"*", "a"},
                                      {"a*b*c", "a-b-b-c"},
                                      {"?", "x"},
                                      {"gpu-1??", "gpu-123"},
                                      {"**", "x"},
                                      {"*-ib", "n1-ib"},
                                      {"", ""}})
    EXPECT_TRUE(matches_pattern(pattern, name)) << pattern << ' ' << name;
  for (const auto& [pattern, name] : {std::pair{"", "a"},
                                      {"a", ""},
                                      {"a*b", "a-b-c"},
                                      {"?", ""},
                                      {"gpu-1??", "gpu-12"},
                                      {"gpu-1", "gpu-12"},
                                      {"*a", "ab"}})
    EXPECT_FALSE(matches_pattern(pattern, name)) << pattern << ' ' << name;
  EXPECT_FALSE(matches_pattern("a*a*a*a*a*a*a*a*b", std::string(5000, 'a'))) << "in time";
}

TEST(Site, NamesOfShards) {
  EXPECT_TRUE(is_shard_name("north_2"));
  for (const std::string& name : {std::string(), std::string("2north"), std::string("North"), std::string("a-b"),
                                  std::string("a\"b"), std::string(33, 'a')})
    EXPECT_FALSE(is_shard_name(name)) << name;
}

TEST(Site, ARefusalNamesTheRightAddresses) {
  const Site site = two_shards();
  EXPECT_EQ(belongs_to("INC-301", *site.find("north")).message, "INC-301 belongs to shard north: ask a:1, b:1");
  const Error sent_on = elsewhere("gpu-1", *site.find("north"));
  EXPECT_EQ(sent_on.code, ErrorCode::kUnavailable);
  EXPECT_EQ(addresses_elsewhere(sent_on.message), (std::vector<std::string>{"a:1", "b:1"}));
  EXPECT_TRUE(addresses_elsewhere(belongs_to("INC-301", *site.find("north")).message).empty());
  EXPECT_EQ(belongs_to("INC-301", *site.find("north")).owners, (std::vector<std::string>{"a:1", "b:1"}));
  EXPECT_TRUE(addresses_elsewhere("x: elsewhere: gpu-1 belongs to shard north: ask a:1").empty());
  EXPECT_TRUE(addresses_elsewhere("standby: x leads: ask a:1").empty());
  EXPECT_TRUE(addresses_elsewhere("elsewhere: gpu-1 belongs to shard west").empty());
}

}  // namespace
}  // namespace weft
