// SPDX-License-Identifier: Apache-2.0
// What a leader does about a database that is back, and about fabrics that it does not see.
#include "tests/unit/daemon/programs/weftd/role_keeper_testing.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

TEST_F(RoleKeeperTest, ALeaderThatSeesNothingGivesTheLeadToOneThatSeesAll) {
  view.epoch = ledger.leads = 7;
  view.is_held = true;
  ledger.other = StandbyView{"b, process 2", 1s, false};
  sight = {1, 2};
  start(true);
  sweep(100);
  EXPECT_TRUE(yielded.empty()) << "it sees a part";
  sight = {0, 2};
  sweep(100);
  EXPECT_TRUE(yielded.empty()) << "the other sees no more";
  ledger.other->sees = true;
  ledger.other->seen = 30s;
  sweep(10);
  EXPECT_TRUE(yielded.empty()) << "it is not there";
  ledger.other->seen = 1s;
  sight = {2, 2};
  sweep(10);
  sight = {0, 2};
  sweep(55);
  EXPECT_TRUE(yielded.empty()) << "not for a minute yet";
  ASSERT_FALSE(publication.load()->fabrics.empty());
  sweep(10);
  ASSERT_EQ(yielded.size(), 1U);
  EXPECT_EQ(yielded[0], "this weftd has seen no fabric for a minute, and b, process 2 sees them");
  sweep(10);
  EXPECT_EQ(yielded.size(), 1U) << "told once";
  EXPECT_TRUE(lost.empty());
}

TEST_F(RoleKeeperTest, ALeaderThatJustGaveTheLeadAwayKeepsIt) {
  view.epoch = ledger.leads = 7;
  view.is_held = true;
  ledger.other = StandbyView{"b, process 2", 1s, true};
  sight = {0, 1};
  yields_from = clock.steady() + 2min;
  start(true);
  sweep(100);
  EXPECT_TRUE(yielded.empty());
  sweep(30);
  EXPECT_EQ(yielded.size(), 1U);
}

TEST_F(RoleKeeperTest, AStandbyTellsWhatItSees) {
  start(false);
  sight = {1, 2};
  sweep(1);
  EXPECT_FALSE(told_sight);
  sight = {2, 2};
  sweep(1);
  EXPECT_TRUE(told_sight);
  sight = {0, 0};
  sweep(1);
  EXPECT_FALSE(told_sight) << "it has found none yet";
  sight = {0, 2};
  sweep(100);
  EXPECT_TRUE(yielded.empty());
}

TEST_F(RoleKeeperTest, WhatWaitedIsWrittenAsSoonAsTheLeaseIsRenewed) {
  view.epoch = ledger.leads = 7;
  view.is_held = true;
  start(true);
  sweep(2);
  EXPECT_EQ(ledger.catches_up, 0) << "nothing waits";
  ledger.waiting = 1;
  ledger.away = true;
  view.is_held = false;
  view.trouble = "Connection refused";
  sweep(3);
  EXPECT_EQ(ledger.catches_up, 0) << "the database is away";
  view.is_held = true;
  view.trouble.clear();
  sweep(3);
  EXPECT_GT(ledger.catches_up, 1) << "the lease has a connection of its own: it is tried again";
  EXPECT_LE(ledger.catches_up, 4) << "not at every look";
  ledger.away = false;
  sweep(2);
  EXPECT_EQ(ledger.waiting, 0U);
  const int done = ledger.catches_up;
  sweep(3);
  EXPECT_EQ(ledger.catches_up, done);
}

}  // namespace
}  // namespace weft::daemon
