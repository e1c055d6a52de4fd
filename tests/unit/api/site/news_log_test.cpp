// SPDX-License-Identifier: Apache-2.0
#include "api/site/news_log.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "weft/v1/incident.pb.h"

namespace weft::api {
namespace {

using Event = v1::WatchIncidentsResponse;

class NewsLogTest : public ::testing::Test {
 protected:
  void put(const std::string& id, std::uint64_t revision) {
    Event event;
    event.mutable_incident()->set_id(id);
    event.mutable_incident()->set_revision(revision);
    log.put(id, event, [](const Event& before, const Event& now) {
      return before.incident().revision() == now.incident().revision();
    });
  }
  void complete() {
    log.complete([](const Event& event) { return event; });
  }
  /// What a reader at `place` is told: "INC-1 4", "INC-2 gone".
  std::vector<std::string> read(NewsLog<Event>::Place& place) {
    std::vector<std::string> told;
    while (const auto* entry = log.after(place))
      told.push_back(entry->key + ' ' + (entry->is_gone ? "gone" : std::to_string(entry->event.incident().revision())));
    return told;
  }
  using Lines = std::vector<std::string>;

  NewsLog<Event> log;
};

TEST_F(NewsLogTest, AReaderGetsTheLatestOfEachThingOnce) {
  log.begin();
  NewsLog<Event>::Place early = 0, late = 0;
  put("INC-1", 1);
  put("INC-2", 1);
  EXPECT_EQ(read(early), (Lines{"INC-1 1", "INC-2 1"}));
  put("INC-1", 2);
  put("INC-1", 3);
  put("INC-2", 1);
  EXPECT_EQ(read(early), Lines{"INC-1 3"});
  EXPECT_EQ(read(early), Lines{});
  EXPECT_EQ(read(late), (Lines{"INC-2 1", "INC-1 3"}));
  EXPECT_EQ(late, log.end());
}

TEST_F(NewsLogTest, WhatAnotherStreamDoesNotTellIsGone) {
  log.begin();
  NewsLog<Event>::Place place = 0;
  put("INC-1", 1);
  put("INC-2", 1);
  complete();
  EXPECT_EQ(read(place).size(), 2U);
  log.begin();
  put("INC-2", 1);
  put("INC-3", 1);
  complete();
  EXPECT_EQ(read(place), (Lines{"INC-3 1", "INC-1 gone"}));
  log.begin();
  put("INC-1", 1);
  EXPECT_EQ(read(place), Lines{"INC-1 1"}) << "it is back, as it was";
}

TEST_F(NewsLogTest, WhatIsGoneIsKeptForThoseWhoDoNotKnow) {
  log.begin();
  put("INC-1", 1);
  put("INC-2", 1);
  const auto before = log.end();
  for (const char* id : {"INC-1", "INC-2", "INC-1"}) log.remove(id, Event());
  log.remove("INC-9", Event());
  EXPECT_EQ(log.gone(), 2U);
  log.prune(before);
  EXPECT_EQ(log.gone(), 2U);
  log.prune(before + 1);
  EXPECT_EQ(log.gone(), 1U);
  NewsLog<Event>::Place place = before;
  EXPECT_EQ(read(place), Lines{"INC-2 gone"});
  log.prune(log.end());
  EXPECT_EQ(log.gone(), 0U);
}

TEST_F(NewsLogTest, AFrontIsForgottenWithoutATrace) {
  for (const char* key : {"ib0\n", "ib0\nport", "ib00\n", "ib\n"}) put(key, 1);
  log.forget("ib0\n");
  NewsLog<Event>::Place place = 0;
  EXPECT_EQ(read(place), (Lines{"ib00\n 1", "ib\n 1"}));
}

TEST_F(NewsLogTest, ItHoldsNoMoreThanItsBound) {
  Event large;
  large.mutable_incident()->set_summary(std::string(1U << 20, 'x'));
  const auto never = [](const Event&, const Event&) { return false; };
  for (int i = 0; i < 100; ++i) log.put("INC-1", large, never);
  EXPECT_FALSE(log.is_full()) << "one of them is kept";
  for (int i = 0; i < 64 && !log.is_full(); ++i) log.put("INC-" + std::to_string(i), large, never);
  EXPECT_TRUE(log.is_full());
  log.forget("INC-");
  EXPECT_FALSE(log.is_full());
}

}  // namespace
}  // namespace weft::api
