// SPDX-License-Identifier: Apache-2.0
#include "api/client/server_list.hpp"

#include <gtest/gtest.h>

namespace weft::api {
namespace {

// A collector logs it once, while the database is away.
TEST(ServerList, AStandbysAgesDoNotMakeItsMessageAnother) {
  EXPECT_EQ(lasting_part("standby: weft2 leads at weft2:9641; incidents and plans shown here may be 17 s old; the "
                         "database has not answered for 17 s: Connection refused"),
            "standby: weft2 leads at weft2:9641");
  EXPECT_EQ(lasting_part("standby: nobody leads; it could not take over for 3 s: x"), "standby: nobody leads");
  EXPECT_EQ(lasting_part("no batch was stored for 60 s; retry"), "no batch was stored for 60 s; retry");
}

TEST(ServerList, TriesEachOnceBeforeAWait) {
  ServerList list({"a:1", "b:1", "c:1"});
  EXPECT_EQ(list.current(), "a:1");
  EXPECT_TRUE(list.try_next());
  EXPECT_EQ(list.current(), "b:1");
  EXPECT_TRUE(list.try_next());
  EXPECT_EQ(list.current(), "c:1");
  EXPECT_FALSE(list.try_next()) << "all three have failed";
  EXPECT_EQ(list.current(), "a:1");
  EXPECT_TRUE(list.try_next()) << "a new round";
}

TEST(ServerList, StaysWithTheOneThatServes) {
  ServerList list({"a:1", "b:1"});
  EXPECT_TRUE(list.try_next());
  list.serves();
  EXPECT_EQ(list.current(), "b:1");
  EXPECT_EQ(list.index(), 1U);
  EXPECT_TRUE(list.try_next()) << "its end is the first failure of a new round";
  EXPECT_EQ(list.current(), "a:1");
  EXPECT_FALSE(list.try_next());
  EXPECT_EQ(list.current(), "b:1");
}

TEST(ServerList, OneAddressIsAWholeRound) {
  ServerList list({"a:1"});
  EXPECT_FALSE(list.try_next());
  list.serves();
  EXPECT_FALSE(list.try_next());
  EXPECT_EQ(list.current(), "a:1");
}

TEST(IsStandby, OnlyTheBeginningOfTheMessageCounts) {
  EXPECT_TRUE(is_standby("standby: weft1 leads"));
  EXPECT_FALSE(is_standby("weft1 is on standby: ask weft2"));
  EXPECT_FALSE(is_standby("standby"));
  EXPECT_FALSE(is_standby(""));
}

TEST(ServerList, OthersThatAreNamedComeFirstAndOnce) {
  ServerList list({"a:1", "b:1"});
  EXPECT_FALSE(list.redirect({})) << "nobody was named";
  ASSERT_TRUE(list.redirect({"c:1", "d:1"}));
  EXPECT_EQ(list.current(), "c:1");
  EXPECT_GE(list.index(), 2U) << "it is none of the configured ones";
  EXPECT_FALSE(list.redirect({"a:1"})) << "two that name each other";
  EXPECT_TRUE(list.try_next());
  EXPECT_EQ(list.current(), "d:1");
  EXPECT_TRUE(list.try_next());
  EXPECT_EQ(list.current(), "a:1") << "after those that were named the configured ones";
  EXPECT_TRUE(list.try_next());
  EXPECT_FALSE(list.try_next()) << "now it waits";
  EXPECT_TRUE(list.redirect({"b:1"}));
  EXPECT_EQ(list.current(), "b:1");
  EXPECT_EQ(list.index(), 1U);
  EXPECT_EQ(list.size(), 2U) << "those that were named before are forgotten";
  list.serves();
  EXPECT_TRUE(list.redirect({"c:1"})) << "after a success anew";
}

}  // namespace
}  // namespace weft::api
