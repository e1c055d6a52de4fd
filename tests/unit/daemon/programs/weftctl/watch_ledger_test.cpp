// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/watch_ledger.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "weft/v1/incident.pb.h"

namespace weft::ctl {
namespace {

using Ids = std::vector<std::string>;

/// Stands for a message of a watch.
struct Event {
  enum Type { INITIAL, INITIAL_COMPLETE, CHANGED, EXPIRED, MISSING_SHARDS };
  Type type() const { return kind; }
  void set_type(Type type) { kind = type; }
  Type kind = INITIAL;
  std::string id = {};
  std::uint64_t revision = 0;
  bool is_over = false;
  Ids missing = {};
  const Ids& missing_shards() const { return missing; }
};

class WatchLedgerTest : public testing::Test {
 protected:
  /// What is shown of these events: "CHANGED INC-1 4".
  Ids show(const std::vector<Event>& events) {
    static constexpr std::array kNames{"INITIAL", "COMPLETE", "CHANGED", "EXPIRED", "MISSING"};
    Ids lines;
    for (Event event : events)
      ledger.take(
          event, {.id = event.id, .revision = event.revision, .is_over = event.is_over, .is_wanted = !event.is_over},
          Event::EXPIRED, [](Event& of) -> std::string& { return of.id; },
          [&](const Event& shown) {
            std::string line = kNames.at(shown.type());
            if (!shown.id.empty()) line += ' ' + shown.id;
            if (shown.revision != 0) line += ' ' + std::to_string(shown.revision);
            for (const std::string& shard : shown.missing) line += ' ' + shard;
            lines.push_back(line);
          });
    return lines;
  }
  static constexpr bool kOver = true;
  WatchLedger ledger;
};

TEST_F(WatchLedgerTest, TheFirstStreamIsShownAsItIsButForWhatWasOver) {
  ledger.begin();
  EXPECT_EQ(show({{Event::INITIAL, "INC-1", 4}, {Event::INITIAL, "INC-2", 9, kOver}, {Event::INITIAL_COMPLETE}}),
            (Ids{"INITIAL INC-1 4", "COMPLETE"}));
  EXPECT_EQ(show({{Event::CHANGED, "INC-1", 5}, {Event::CHANGED, "INC-1", 6, kOver}, {Event::EXPIRED, "INC-2"}}),
            (Ids{"CHANGED INC-1 5", "CHANGED INC-1 6", "EXPIRED INC-2"}));
}

TEST_F(WatchLedgerTest, AFurtherStreamRepeatsNothingAndLosesNothing) {
  ledger.begin();
  show({{Event::INITIAL, "INC-1", 4},
        {Event::INITIAL, "INC-2", 1},
        {Event::INITIAL, "INC-3", 7, kOver},
        {Event::INITIAL_COMPLETE}});
  ledger.begin();
  EXPECT_EQ(show({{Event::INITIAL, "INC-1", 4},
                  {Event::INITIAL, "INC-2", 2, kOver},
                  {Event::INITIAL, "INC-3", 7, kOver},
                  {Event::INITIAL, "INC-4", 2, kOver},
                  {Event::INITIAL, "INC-5", 1},
                  {Event::INITIAL_COMPLETE}}),
            (Ids{"CHANGED INC-2 2", "CHANGED INC-4 2", "CHANGED INC-5 1"}))
      << "two were resolved between the streams, one of which had been opened there";
}

TEST_F(WatchLedgerTest, AStreamThatBreaksAtItsBeginningIsCompletedByTheNext) {
  ledger.begin();
  EXPECT_EQ(show({{Event::INITIAL, "INC-1", 4}}), Ids{"INITIAL INC-1 4"});
  ledger.begin();
  EXPECT_EQ(show({{Event::INITIAL, "INC-1", 4}, {Event::INITIAL, "INC-2", 1}, {Event::INITIAL_COMPLETE}}),
            (Ids{"INITIAL INC-2 1", "COMPLETE"}));
}

TEST_F(WatchLedgerTest, ShardsThatDoNotAnswerAreShownWhenTheyChange) {
  const Event complete{.kind = Event::INITIAL_COMPLETE, .missing = {"south"}};
  ledger.begin();
  EXPECT_EQ(show({{Event::INITIAL, "INC-1", 4}, {Event::CHANGED, "INC-2", 9, kOver}, complete}),
            (Ids{"INITIAL INC-1 4", "CHANGED INC-2 9", "COMPLETE south"}));
  ledger.begin();
  EXPECT_EQ(show({{Event::INITIAL, "INC-1", 4}, complete}), Ids{}) << "south may keep INC-2";
  EXPECT_EQ(show({{.kind = Event::MISSING_SHARDS}, {.kind = Event::MISSING_SHARDS}}), Ids{"MISSING"});
  ledger.begin();
  EXPECT_EQ(show({{Event::INITIAL, "INC-1", 4}, complete}), Ids{"MISSING south"}) << "another weftd does not reach it";
  ledger.begin();
  EXPECT_EQ(show({{Event::INITIAL, "INC-1", 4}, {Event::INITIAL_COMPLETE}}), (Ids{"EXPIRED INC-2", "MISSING"}));
}

TEST(MissingShards, ALineForEachThatChanges) {
  MissingShards missing;
  v1::WatchIncidentsResponse event;
  EXPECT_EQ(missing.take(event.missing_shards()), "");
  event.add_missing_shards("south");
  event.add_missing_shards("west");
  EXPECT_EQ(
      missing.take(event.missing_shards()),
      "shard south does not answer: what it owns is not told\nshard west does not answer: what it owns is not told\n");
  event.mutable_missing_shards()->RemoveLast();
  EXPECT_EQ(missing.take(event.missing_shards()), "shard west answers again\n");
  EXPECT_EQ(missing.names(), std::set<std::string>{"south"});
}

TEST_F(WatchLedgerTest, AServerThatLagsBehindShowsNothingOld) {
  ledger.begin();
  show({{Event::INITIAL, "INC-1", 4}, {Event::INITIAL_COMPLETE}});
  ledger.begin();
  EXPECT_EQ(show({{Event::INITIAL, "INC-1", 2},
                  {Event::INITIAL_COMPLETE},
                  {Event::CHANGED, "INC-1", 3},
                  {Event::CHANGED, "INC-1", 4},
                  {Event::CHANGED, "INC-1", 5}}),
            Ids{"CHANGED INC-1 5"});
}

TEST_F(WatchLedgerTest, WhatIsOverAndNoLongerKeptIsGone) {
  ledger.begin();
  show({{Event::INITIAL, "INC-1", 1}, {Event::INITIAL, "INC-2", 1, kOver}, {Event::INITIAL_COMPLETE}});
  ledger.begin();
  EXPECT_EQ(show({{Event::INITIAL_COMPLETE}}), Ids{"EXPIRED INC-2"})
      << "an open one that a server does not know yet is not gone";
  ledger.begin();
  EXPECT_EQ(show({{Event::INITIAL_COMPLETE}}), Ids{});
}

TEST_F(WatchLedgerTest, OfOneRevisionTheTextCounts) {
  const std::string id = "PLAN-1";
  EXPECT_TRUE(ledger.is_news({.id = id, .revision = 2, .text = "1 of 3"}));
  EXPECT_FALSE(ledger.is_news({.id = id, .revision = 2, .text = "1 of 3"}));
  EXPECT_TRUE(ledger.is_news({.id = id, .revision = 2, .text = "2 of 3"}));
  EXPECT_FALSE(ledger.is_news({.id = id, .revision = 1, .text = "0 of 3"}));
}

}  // namespace
}  // namespace weft::ctl
