// SPDX-License-Identifier: Apache-2.0
// Collectors that are not heard any more: they moved to another shard, or are forgotten.
#include "tests/unit/daemon/programs/weftd/host_sessions_desk.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

TEST_F(HostSessionsTest, ForgetsWhoWasAwayForLongAndRemembersNotTooMany) {
  for (const char* host : {"a", "b", "c", "d"}) desk->gone(connect(host));
  EXPECT_EQ(connect("e")->ended->code, ErrorCode::kResourceExhausted);
  save();
  clock.time += config.telemetry.forget_after + 1s;
  desk->tick();
  EXPECT_TRUE(desk->views()->empty());
  save();
  crash();
  EXPECT_EQ(desk->views(), nullptr);
  EXPECT_EQ(connect("e")->welcomed, 0U);
}

TEST_F(HostSessionsTest, ForgetsWhoWasSentOnToItsShardWhenThatHearsIt) {
  const auto stream = connect("a"), other = connect("b");
  send(stream, 1);
  send(other, 1);
  save();
  desk->gone(other);
  auto site = std::make_shared<Site>();
  site->own = "north";
  site->shards = {{.name = "north", .number = 1, .leader = "n", .collectors = {}},
                  {.name = "south", .number = 2, .leader = "s", .addresses = {"south:9641"}, .collectors = {"a", "b"}}};
  desk->show(site);
  desk->tick();
  EXPECT_EQ(desk->views()->size(), 2U) << "nobody knows where they are";
  EXPECT_EQ(connect("a")->ended->message, "elsewhere: a belongs to shard south: ask south:9641");
  desk->gone(stream);
  desk->tick();
  EXPECT_EQ(desk->views()->size(), 2U) << "south may be down: it did not say that it hears it";
  EXPECT_EQ(view().elsewhere, "");
  heard_in("south", "a", 0);
  desk->tick();
  ASSERT_EQ(desk->views()->size(), 1U);
  EXPECT_EQ(view().host, "b") << "it never came, and may be down";
  save();
  crash();
  desk->tick();
  EXPECT_EQ(view().host, "b");
}

TEST_F(HostSessionsTest, ForgetsWhomAnotherShardHears) {
  for (const char* host : {"a", "b", "c", "d"}) {
    const auto stream = connect(host);
    tell(stream, 1, 7);
    if (*host != 'a') desk->gone(stream);
  }
  auto site = std::make_shared<Site>();
  site->own = "north";
  site->shards = {{.name = "north", .number = 1, .leader = "n", .collectors = {}},
                  {.name = "south", .number = 2, .leader = "s", .collectors = {"d"}},
                  {.name = "west", .number = 3, .leader = "w", .collectors = {}}};
  desk->show(site);
  const auto names = [this] {
    std::string text;
    desk->tick();
    for (const auto& host : *desk->views()) text += host->host;
    return text;
  };
  const std::uint64_t adapters = view().adapters;
  ASSERT_NE(adapters, 0U);
  EXPECT_TRUE(desk->lost(10).empty()) << "they may be back in a moment";
  clock.time += 3s;
  EXPECT_EQ(desk->lost(10), (std::vector<std::string>{"b", "c", "d"}));
  EXPECT_EQ(desk->lost(2), (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(desk->lost(2), (std::vector<std::string>{"d", "b"})) << "the next ones";

  heard_in("south", "a", adapters);
  heard_in("south", "nobody", adapters);
  heard_in("north", "b", adapters);
  heard_in("south", "b", adapters + 1);
  heard_in("south", "c", 0);
  heard_in("west", "d", adapters);
  EXPECT_EQ(names(), "abcd") << "connected here; ourselves; another machine; an older weftd; belongs to south";
  heard_in("south", "b", adapters);
  EXPECT_EQ(names(), "acd") << "the same machine";
  heard_in("south", "d", adapters + 1);
  EXPECT_EQ(names(), "ac") << "it belongs there, and is another machine now";
  clock.time += 3s;
  heard_in("west", "c", adapters);
  desk->tick([](const std::string& host) { return host == "c" ? "INC-7" : ""; });
  EXPECT_EQ(desk->views()->size(), 2U) << "west does not know what is wrong with it";
  connect("c");
  EXPECT_EQ(names(), "ac") << "it came back first";
}

// A host that moved to south and is kept for what is open of it.
class KeptHostTest : public HostSessionsTest {
 protected:
  void SetUp() override {
    auto two = std::make_shared<Site>();
    two->own = "north";
    two->shards = {{.name = "north", .number = 1, .leader = "n", .collectors = {}},
                   {.name = "south", .number = 2, .leader = "s", .collectors = {}}};
    site = std::move(two);
    desk->show(site);
    const auto stream = connect("a");
    tell(stream, 1, 7);
    adapters = view().adapters;
    save();
    desk->gone(stream);
    EXPECT_EQ(pass(3s, kHears), 1U);
  }
  enum Answer { kNone, kHears, kKnows, kHasNotRead, kDenies };
  /// Time passes, then south answers so, or not at all.
  std::size_t pass(Duration span, Answer answer) {
    clock.time += span;
    steps.until = clock.time;
    HeardThere there{.host = "a", .adapters = adapters, .is_connected = answer == kHears, .heard = heard_there};
    if (answer == kHears) heard_there = clock.time;
    if (answer == kHasNotRead) {
      there.adapters = 0;
      there.heard = clock.time;
    }
    if (answer == kDenies) desk->answered("south", std::vector<std::string>{"a"}, {});
    if (answer != kNone && answer != kDenies) desk->answered("south", std::vector<std::string>{"a"}, {there});
    desk->tick([&](const std::string&) { return open; }, steps);
    return desk->views()->size();
  }
  void restart() {
    save();
    crash();
    desk->show(site);
  }

  SitePtr site;
  std::uint64_t adapters = 0;
  std::string open = "INC-7";
  TimePoint heard_there = weft::kNever;
  ClockMemory steps;
};

TEST_F(KeptHostTest, StaysAsLongAsSomethingIsOpenAndItIsHeard) {
  EXPECT_NE(view().elsewhere.find("reports to shard south now, which does not know INC-7"), std::string::npos)
      << view().elsewhere;
  EXPECT_EQ(pass(config.telemetry.forget_after, kHears), 1U);
  EXPECT_EQ(pass(1h, kHears), 1U) << "its link is still down";
  restart();
  EXPECT_EQ(pass(2min, kHears), 1U);
  EXPECT_EQ(pass(config.telemetry.forget_after - 1s, kNone), 1U);
  EXPECT_EQ(pass(2s, kKnows), 1U) << "it is only just old, and south has to say so once more";
  EXPECT_EQ(pass(1s, kKnows), 0U) << "nobody hears it";
}

TEST_F(KeptHostTest, LeavesWhenNothingIsOpenAndItIsHeardThere) {
  open.clear();
  EXPECT_EQ(pass(2min, kNone), 1U) << "south may have lost it: nobody else watches it";
  EXPECT_NE(view().elsewhere.find("reported to shard south last, which is not known to hear it now"), std::string::npos)
      << view().elsewhere;
  EXPECT_EQ(pass(2s, kHears), 0U);
}

TEST_F(KeptHostTest, NoAnswerIsNoKnowledge) {
  EXPECT_EQ(pass(config.telemetry.forget_after + 1s, kNone), 1U);
  EXPECT_EQ(pass(30 * 24h, kNone), 1U) << "south hangs";
  EXPECT_NE(view().elsewhere.find("is not known to hear it now and does not know INC-7"), std::string::npos)
      << view().elsewhere;
  EXPECT_EQ(pass(2s, kHasNotRead), 1U) << "south has just started, and has read nothing yet";
  EXPECT_EQ(pass(2s, kHears), 1U);
  EXPECT_EQ(pass(config.telemetry.forget_after + 1s, kNone), 1U);
  EXPECT_EQ(pass(2s, kDenies), 0U) << "south says that it knows no such host";
}

TEST_F(KeptHostTest, WhatTheOtherShardHeardOutlivesARestart) {
  EXPECT_EQ(pass(config.telemetry.forget_after, kHears), 1U);
  restart();
  EXPECT_EQ(pass(2min, kNone), 1U) << "south does not answer";
  EXPECT_EQ(pass(config.telemetry.forget_after - 10min, kDenies), 1U) << "it was heard there before the restart";
  EXPECT_EQ(pass(10min, kNone), 1U);
  EXPECT_EQ(pass(1s, kDenies), 0U);
}

TEST_F(KeptHostTest, AStandbyDoesNotTakeItForOneThatIsHeardHere) {
  EXPECT_EQ(pass(10min, kHears), 1U);
  save();
  auto restored = store->restore(weft::kNever);
  ASSERT_TRUE(restored);
  ASSERT_EQ(restored->collectors.size(), 1U);
  EXPECT_EQ(clock.time - restored->collectors[0].last_seen, 1min + 2s);
  desk->follow(std::move(restored->collectors));
  EXPECT_EQ(view().state, CollectorState::kDisconnected);
}

TEST_F(HostSessionsTest, NobodyIsForgottenBecauseAClockWasSet) {
  const auto stream = connect("a");
  send(stream, 1);
  desk->gone(stream);
  ClockMemory memory{.until = clock.time, .steps = {}, .steady = {}, .boot = {}};
  const Duration step = config.telemetry.forget_after + 1h;
  clock.time += step;
  desk->tick({}, memory);
  ASSERT_EQ(desk->views()->size(), 1U) << "before the step is noted";
  memory.steps = {{.at = memory.until, .by = step}};
  memory.until = clock.time += 1s;
  desk->tick({}, memory);
  ASSERT_EQ(desk->views()->size(), 1U);
  memory.until = clock.time += config.telemetry.forget_after - 10s;
  desk->tick({}, memory);
  ASSERT_EQ(desk->views()->size(), 1U);
  memory.until = clock.time += 10s;
  desk->tick({}, memory);
  EXPECT_TRUE(desk->views()->empty());
}

TEST_F(HostSessionsTest, KnowsAMachineByItsAdapters) {
  auto stream = connect("a");
  EXPECT_EQ(view().adapters, 0U) << "nothing was read yet";
  tell(stream, 1, 7, true);
  EXPECT_EQ(view().adapters, 0U) << "what waited may be of the machine that the disk was copied from";
  tell(stream, 2, 7);
  const std::uint64_t adapters = view().adapters;
  EXPECT_NE(adapters, 0U);
  save();
  crash();
  EXPECT_EQ(view().adapters, 0U) << "nothing was read since";
  auto site = std::make_shared<Site>();
  site->own = "north";
  site->shards = {{.name = "north", .number = 1, .leader = "n", .collectors = {}},
                  {.name = "south", .number = 2, .leader = "s", .collectors = {}}};
  desk->show(site);
  heard_in("south", "a", adapters);
  desk->tick();
  EXPECT_TRUE(desk->views()->empty()) << "it moved while we were away";
  stream = connect("a");
  tell(stream, 1, 7);
  EXPECT_EQ(view().adapters, adapters) << "whenever it is read, and wherever";
  stream = connect("a");
  EXPECT_EQ(view().adapters, 0U) << "another machine may have come with the disk";
  tell(stream, 2, 8);
  EXPECT_NE(view().adapters, adapters);
  EXPECT_NE(view().adapters, 0U);
}

}  // namespace
}  // namespace weft::daemon
