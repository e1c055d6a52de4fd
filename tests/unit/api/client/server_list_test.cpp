// SPDX-License-Identifier: Apache-2.0
#include "api/client/server_list.hpp"

#include <gtest/gtest.h>

namespace weft::api {
namespace {

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

}  // namespace
}  // namespace weft::api
