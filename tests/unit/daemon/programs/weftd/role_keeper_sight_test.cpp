// SPDX-License-Identifier: Apache-2.0
// What a leader does about a database that is back, and about fabrics that it does not see.
#include "tests/unit/daemon/programs/weftd/role_keeper_testing.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

FabricSight sees(std::uint64_t guid, std::string name = {}) {
  return {std::move(name), true, {NodeGuid{guid}}};
}
FabricSight blind(std::uint64_t guid, std::string name = {}) {
  return {std::move(name), false, {NodeGuid{guid}}};
}

/// A leader, and a standby that is there.
class SightTest : public RoleKeeperTest {
 protected:
  SightTest() {
    view.epoch = ledger.leads = 7;
    view.is_held = true;
  }
  void other(std::vector<FabricSight> told, Duration seen = 1s) {
    const std::lock_guard lock(ledger.mutex);
    ledger.other = StandbyView{"b, process 2", seen, std::move(told)};
  }
};

TEST_F(SightTest, ALeaderGivesTheLeadToOneThatSeesWhatItLostForAMinute) {
  other({sees(1)}, 30s);
  sight = {blind(1, "x")};
  start(true);
  sweep(100);
  EXPECT_TRUE(yielded.empty()) << "it is not there";
  sight = {sees(1, "x")};
  other({sees(1)});
  sweep(10);
  sight = {blind(1, "x")};
  sweep(55);
  EXPECT_TRUE(yielded.empty()) << "not for a minute yet";
  sweep(10);
  ASSERT_EQ(yielded.size(), 1U);
  EXPECT_EQ(yielded[0], "this weftd has not seen x for a minute, and b, process 2 sees it");
  sweep(10);
  EXPECT_EQ(yielded.size(), 1U) << "told once";
  EXPECT_TRUE(lost.empty());
}

TEST_F(SightTest, ALeaderKeepsTheLeadWhereTheOtherWatchesAnotherSubnet) {
  other({sees(2)});  // maybe by the same name and prefix
  sight = {blind(1, "x")};
  start(true);
  sweep(100);
  other({});  // as one of an older version
  sweep(100);
  other({blind(1)});
  sweep(100);
  sight = {blind(1, "x"), blind(2, "y")};
  other({sees(2)});
  sweep(100);
  EXPECT_TRUE(yielded.empty()) << "nobody would watch x any more";
  other({sees(2), blind(1)});
  sweep(10);
  EXPECT_EQ(yielded.size(), 1U) << "neither sees x, and both watch it";
}

TEST_F(SightTest, TheOtherMustSeeAllThatTheLeaderSees) {
  other({sees(1)});
  sight = {blind(1, "x"), sees(2, "y")};
  start(true);
  sweep(100);
  other({sees(1), blind(2)});
  sweep(100);
  EXPECT_TRUE(yielded.empty());
  sight = {sees(1, "x"), blind(1, "z"), sees(2, "y")};
  other({sees(1), sees(2)});
  sweep(100);
  EXPECT_TRUE(yielded.empty()) << "the leader sees that subnet through another port";
  sight[0] = blind(1, "x");
  sweep(40);
  EXPECT_TRUE(yielded.empty()) << "not for a minute yet";
  sweep(30);
  ASSERT_EQ(yielded.size(), 1U);
  EXPECT_EQ(yielded[0], "this weftd has not seen x, z for a minute, and b, process 2 sees them");
}

TEST_F(SightTest, ALeaderThatJustGaveTheLeadAwayKeepsIt) {
  other({sees(1)});
  sight = {blind(1, "x")};
  yields_from = clock.steady() + 2min;
  start(true);
  sweep(100);
  EXPECT_TRUE(yielded.empty());
  sweep(30);
  EXPECT_EQ(yielded.size(), 1U);
}

TEST_F(SightTest, ALeadThatWasGivenIsNotGivenBackWithinTenMinutes) {
  view.epoch.reset();
  view.is_held = false;
  ledger.leads = 0;
  start(false);
  sweep(2);
  take_lease();
  other({sees(1)});
  sight = {blind(1, "x")};
  sweep(590);
  EXPECT_EQ(led, 1);
  EXPECT_TRUE(yielded.empty());
  sweep(20);
  EXPECT_EQ(yielded.size(), 1U);
}

TEST_F(SightTest, ALeadThatWasTakenFromADeadLeaderIsGivenAwayAfterAMinute) {
  view.epoch.reset();
  view.is_held = false;
  ledger.leads = 0;
  start(false);
  take_lease();
  view.succeeds_unended = true;
  other({sees(1)});
  sight = {blind(1, "x")};
  sweep(75);
  EXPECT_EQ(yielded.size(), 1U);
}

TEST_F(SightTest, ALeaderFirstEndsWhatAPlanIsChangingForSomeMinutes) {
  other({sees(1)});
  sight = {blind(1, "x")};
  is_changing = true;
  start(true);
  sweep(200);
  EXPECT_TRUE(yielded.empty());
  is_changing = false;
  sweep(1);
  EXPECT_EQ(yielded.size(), 1U);
}

TEST_F(SightTest, APlanThatCannotEndFromHereDoesNotKeepTheLeadForEver) {
  other({sees(1)});
  sight = {blind(1, "x")};
  is_changing = true;
  start(true);
  sweep(350);
  EXPECT_TRUE(yielded.empty());
  sweep(20);
  EXPECT_EQ(yielded.size(), 1U);
}

TEST_F(RoleKeeperTest, AStandbyTellsWhatItSees) {
  start(false);
  sight = {sees(1, "x"), blind(2, "y")};
  sweep(1);
  EXPECT_EQ(told_sight, sight);
  sight = {};
  sweep(1);
  EXPECT_TRUE(told_sight.empty());
  sight = {blind(1, "x")};
  sweep(100);
  EXPECT_TRUE(yielded.empty());
}

TEST_F(SightTest, AdvisesToStopOnlyWhereTheOtherSeesThatSubnetAndLosesNone) {
  start(true);
  sweep(3);
  const auto own = core->sights();
  ASSERT_EQ(own.size(), 1U);
  ASSERT_TRUE(own[0].is_seen);
  ASSERT_FALSE(own[0].switches.empty());
  const auto status = [&] {
    for (int i = 0; i < 8; ++i) {
      clock.time += 1s;
      role->tick();
      settle();
    }
    core->take_trouble("test", "the adapter is missing");
    core->show_store();
    return publication.load()->fabrics.at(0).status;
  };
  other({sees(4711)});
  EXPECT_EQ(status(), "waiting: the adapter is missing");
  const auto chosen = choose_switches(own[0].switches, 4);
  ASSERT_GE(chosen.size(), 3U);
  other({{"", true, {chosen[0]}}});
  EXPECT_EQ(status(), "waiting: the adapter is missing") << "it sees a fragment";
  other({{"", true, chosen}});
  EXPECT_EQ(status(),
            "waiting: the adapter is missing; b, process 2 stands by and sees it: systemctl stop weftd here lets that "
            "one lead");
  other({{"", false, chosen}});
  EXPECT_EQ(status(), "waiting: the adapter is missing");
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
