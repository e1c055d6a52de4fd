// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/host_sessions.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "daemon/adapters/store/store.hpp"
#include "tests/unit/daemon/programs/weftd/fakes.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

// The desk on a real store, in a directory of its own.
class HostSessionsTest : public ::testing::Test {
 protected:
  HostSessionsTest() {
    std::string name = (std::filesystem::temp_directory_path() / "weft-desk-XXXXXX").string();
    directory = mkdtemp(name.data());
    config.telemetry.max_collectors = 2;
    start();
  }
  ~HostSessionsTest() override {
    stop();
    std::filesystem::remove_all(directory);
  }
  void start() {
    auto opened = store::open_store(directory, {});
    ASSERT_TRUE(opened) << opened.error().message;
    store = std::move(*opened);
    auto restored = store->restore(kNever);
    ASSERT_TRUE(restored);
    lane.emplace(runtime::LaneOptions{.name = "store"});
    rules.emplace(config.analyzer, clock.now());
    desk.emplace(config.telemetry, std::move(restored->collectors), restored->incidents, *rules, *store, *lane, clock,
                 [this](std::function<void()> job) {
                   const std::lock_guard lock(mutex);
                   posted.push_back(std::move(job));
                 });
  }
  void stop() {
    lane->stop();
    desk.reset();
    lane.reset();
    store.reset();
    posted.clear();
  }
  /// Power is cut, and comes back: what was not on disk is gone.
  void crash() {
    stop();
    start();
  }
  /// Saves, and waits until that has come through.
  void save() {
    clock.time += 2s;
    desk->save();
    lane->stop();
    for (auto& job : std::exchange(posted, {})) job();
    lane.emplace(runtime::LaneOptions{.name = "store"});
  }
  std::shared_ptr<FakeStream> connect(const std::string& host, std::uint64_t spool = 1) {
    auto stream = std::make_shared<FakeStream>();
    desk->hello(stream, {.host = host, .spool = spool, .version = "1", .interval = 1s, .oldest_sequence = 0});
    return stream;
  }
  void send(const std::shared_ptr<FakeStream>& stream, std::uint64_t sequence, bool late = false) {
    HostBatch batch;
    batch.sequence = sequence;
    batch.is_late = late;
    desk->batch(stream, std::move(batch), 0s);
  }
  /// A reading of a host with one adapter.
  void tell(const std::shared_ptr<FakeStream>& stream, std::uint64_t sequence, std::uint64_t guid, bool late = false) {
    HostBatch batch;
    batch.sequence = sequence;
    batch.is_late = late;
    batch.reading.emplace();
    auto inventory = std::make_shared<HostInventory>();
    inventory->ports.emplace_back().node_guid = NodeGuid{guid};
    batch.reading->inventory = std::move(inventory);
    desk->batch(stream, std::move(batch), 0s);
  }
  HostView view() {
    const auto views = desk->views();
    return views && !views->empty() ? *views->front() : HostView{};
  }

  std::filesystem::path directory;
  config::WeftdConfig config;
  FakeClock clock;
  std::unique_ptr<store::Store> store;
  std::optional<runtime::Lane> lane;
  std::optional<analyzer::HostAnalyzer> rules;
  std::optional<HostSessions> desk;
  std::mutex mutex;
  std::vector<std::function<void()>> posted;
};

TEST_F(HostSessionsTest, AcknowledgesOnlyWhatIsOnDisk) {
  const auto stream = connect("a");
  EXPECT_EQ(stream->welcomed, 0U);
  send(stream, 1);
  send(stream, 2);
  EXPECT_EQ(stream->proceeded, 2);
  EXPECT_EQ(stream->acknowledged, 0U);
  save();
  EXPECT_EQ(stream->acknowledged, 2U);
}

TEST_F(HostSessionsTest, WhatWasTakenAndNotOnDiskComesAgainAndCountsOnce) {
  auto stream = connect("a");
  send(stream, 1);
  save();
  send(stream, 2);
  send(stream, 3);
  crash();
  stream = connect("a");
  EXPECT_EQ(stream->welcomed, 1U);
  send(stream, 2);
  send(stream, 3);
  save();
  EXPECT_EQ(stream->acknowledged, 3U);
  EXPECT_EQ(view().batches, 3U);
  EXPECT_EQ(view().lost_batches, 0U);
  crash();
  EXPECT_EQ(connect("a")->welcomed, 3U);
  EXPECT_EQ(view().batches, 3U);
}

TEST_F(HostSessionsTest, TheJobsOfAHostOutliveARestart) {
  using Jobs = std::vector<std::string>;
  const auto tell = [this](const std::shared_ptr<FakeStream>& stream, std::uint64_t sequence, Jobs jobs) {
    HostBatch batch;
    batch.sequence = sequence;
    batch.reading.emplace();
    batch.reading->inventory = std::make_shared<const HostInventory>();
    batch.reading->jobs = std::move(jobs);
    desk->batch(stream, std::move(batch), 0s);
  };
  auto stream = connect("a");
  tell(stream, 1, {"train-1"});
  save();
  send(stream, 2);  // which says nothing of jobs
  save();
  crash();
  HostView host = view();
  ASSERT_NE(jobs_of(host), nullptr);
  EXPECT_EQ(*jobs_of(host), Jobs{"train-1"});
  tell(connect("a"), 3, {});
  save();
  crash();
  host = view();
  ASSERT_NE(jobs_of(host), nullptr) << "it is known that none runs there";
  EXPECT_EQ(*jobs_of(host), Jobs{});
}

TEST_F(HostSessionsTest, IgnoresDuplicatesAndCountsGapsAndLateOnes) {
  auto stream = connect("a");
  send(stream, 10);  // of the first words of a host we know nothing before
  EXPECT_EQ(view().lost_batches, 0U);
  send(stream, 14, true);
  EXPECT_EQ(view().lost_batches, 3U);
  EXPECT_EQ(view().late_batches, 1U);
  save();
  stream = connect("a");
  send(stream, 12);
  send(stream, 14);
  EXPECT_EQ(view().batches, 2U);
  EXPECT_EQ(stream->acknowledged, 14U);
  EXPECT_EQ(desk->figures().duplicates, 2U);
}

TEST_F(HostSessionsTest, OfOneSpoolTheNewerStreamWinsAndAnotherSpoolWaits) {
  const auto first = connect("a");
  const auto other = connect("a", 2);
  ASSERT_TRUE(other->ended);
  EXPECT_EQ(other->ended->code, ErrorCode::kAlreadyExists);
  const auto newer = connect("a");
  ASSERT_TRUE(first->ended);
  EXPECT_EQ(newer->welcomed, 0U);
  send(first, 1);  // still on its way
  EXPECT_EQ(view().batches, 0U);
  send(newer, 1);
  desk->gone(first);
  EXPECT_EQ(view().state, CollectorState::kConnected);
  // One that has been silent for long does not keep its host.
  clock.time += 1min;
  const auto reinstalled = connect("a", 3);
  EXPECT_EQ(reinstalled->welcomed, 0U);
  send(reinstalled, 4);
  EXPECT_EQ(view().lost_batches, 3U);
}

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

TEST_F(HostSessionsTest, ForgetsWhoWasSentOnToItsShard) {
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

  desk->heard_in("south", "a", adapters);
  desk->heard_in("south", "nobody", adapters);
  desk->heard_in("north", "b", adapters);
  desk->heard_in("south", "b", adapters + 1);
  desk->heard_in("south", "c", 0);
  desk->heard_in("west", "d", adapters);
  EXPECT_EQ(names(), "abcd") << "connected here; ourselves; another machine; an older weftd; belongs to south";
  desk->heard_in("south", "b", adapters);
  EXPECT_EQ(names(), "acd") << "the same machine";
  desk->heard_in("south", "d", adapters + 1);
  EXPECT_EQ(names(), "ac") << "it belongs there, and is another machine now";
  clock.time += 3s;
  desk->heard_in("west", "c", adapters);
  desk->tick([](const std::string& host) { return host == "c" ? "INC-7" : ""; });
  EXPECT_EQ(desk->views()->size(), 2U) << "west does not know what is wrong with it";
  connect("c");
  EXPECT_EQ(names(), "ac") << "it came back first";
}

TEST_F(HostSessionsTest, KeepsWhomAnotherShardHearsAsLongAsSomethingIsOpen) {
  const auto site = std::make_shared<Site>();
  site->own = "north";
  site->shards = {{.name = "north", .number = 1, .leader = "n", .collectors = {}},
                  {.name = "south", .number = 2, .leader = "s", .collectors = {}}};
  const auto begin = [&] {
    desk->show(site);
    return connect("a");
  };
  const auto stream = begin();
  tell(stream, 1, 7);
  const std::uint64_t adapters = view().adapters;
  save();
  desk->gone(stream);
  std::string open = "INC-7";
  const auto pass = [&](Duration span, bool heard) {
    clock.time += span;
    if (heard) desk->heard_in("south", "a", adapters);
    desk->tick([&](const std::string&) { return open; });
    return desk->views()->size();
  };
  EXPECT_EQ(pass(3s, true), 1U);
  EXPECT_NE(view().elsewhere.find("reports to shard south now, which does not know INC-7"), std::string::npos)
      << view().elsewhere;
  EXPECT_EQ(pass(config.telemetry.forget_after, true), 1U);
  EXPECT_EQ(pass(1h, true), 1U) << "its link is still down";
  save();
  crash();
  desk->show(site);
  EXPECT_EQ(pass(1s, false), 1U) << "south is asked first";
  EXPECT_EQ(pass(2s, true), 1U);
  EXPECT_EQ(pass(2min, true), 1U);
  EXPECT_EQ(pass(config.telemetry.forget_after - 1s, false), 1U);
  EXPECT_EQ(pass(2s, false), 0U) << "nobody hears it";
  crash();
  begin();
  tell(connect("a"), 1, 7);
  save();
  crash();
  desk->show(site);
  open.clear();
  EXPECT_EQ(pass(2s, true), 0U) << "it is over";
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
  desk->heard_in("south", "a", adapters);
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

TEST_F(HostSessionsTest, FlapPenaltiesAreSavedWithTheBatchesThatBroughtThem) {
  // A reading with the port, and an event that it went down.
  const auto tell = [this](const std::shared_ptr<FakeStream>& stream, std::uint64_t sequence) {
    HostBatch batch;
    batch.sequence = sequence;
    batch.reading.emplace();
    batch.reading->taken = clock.time;
    auto inventory = std::make_shared<HostInventory>();
    HostPort& port = inventory->ports.emplace_back();
    port.device = "mlx5_0";
    port.number = 1;
    port.state = PortState::kActive;
    batch.reading->inventory = inventory;
    LinkEvent& event = batch.events.emplace_back();
    event.at = clock.time;
    event.device = "mlx5_0";
    event.port = 1;
    desk->batch(stream, std::move(batch), 0s);
  };
  const auto flaps = [this] {
    const auto known = rules->flaps("a");
    return known.empty() ? 0U : known.front().state.flaps;
  };
  auto stream = connect("a");
  tell(stream, 1);
  EXPECT_EQ(flaps(), 1U);
  save();
  crash();
  EXPECT_EQ(flaps(), 1U);
  // What was not saved was not acknowledged: it comes again and counts once.
  stream = connect("a");
  tell(stream, 2);
  EXPECT_EQ(flaps(), 2U);
  crash();
  EXPECT_EQ(flaps(), 1U);
  stream = connect("a");
  tell(stream, 2);
  save();
  crash();
  EXPECT_EQ(flaps(), 2U);
}

// A failure that is no refusal must not be the last write.
TEST(HostSessions, WritesAgainAfterAStoreThatThrew) {
  class ThrowsOnce final : public IdleStore {
   public:
    Result<void> save_collectors(std::span<const store::CollectorMark>, std::span<const std::string>) override {
      if (++asked == 1) throw std::runtime_error("no memory");
      return {};
    }
    int asked = 0;
  };
  const config::WeftdConfig config;
  FakeClock clock;
  ThrowsOnce store;
  runtime::Lane lane({.name = "store"});
  runtime::Channel<std::function<void()>> posted("posted", 1, runtime::WhenFull::kBlock);
  analyzer::HostAnalyzer rules(config.analyzer, clock.now());
  HostSessions desk(config.telemetry, {}, {}, rules, store, lane, clock,
                    [&posted](std::function<void()> job) { posted.push(std::move(job)); });
  const auto stream = std::make_shared<FakeStream>();
  desk.hello(stream, {.host = "a", .spool = 1, .version = "1", .interval = 1s, .oldest_sequence = 0});
  HostBatch batch;
  batch.sequence = 1;
  desk.batch(stream, std::move(batch), 0s);
  for (const std::uint64_t on_disk : {0U, 1U}) {
    clock.time += 2s;
    desk.save();
    (*posted.pop())();
    EXPECT_EQ(stream->acknowledged, on_disk);
  }
  EXPECT_EQ(store.asked, 2);
  lane.stop();
}

TEST_F(HostSessionsTest, HoldsBackThoseWhoTellOfThePastWhileItIsBehind) {
  const auto stream = connect("a");
  desk->set_behind(true);
  send(stream, 1, true);
  EXPECT_EQ(stream->proceeded, 0);
  send(stream, 2);
  EXPECT_EQ(stream->proceeded, 1);
  desk->set_behind(false);
  EXPECT_EQ(stream->proceeded, 2);
  EXPECT_EQ(desk->figures().held_back, 1U);
}

TEST_F(HostSessionsTest, ShowsWhoIsSilent) {
  const auto stream = connect("a");
  EXPECT_EQ(view().state, CollectorState::kConnected);
  clock.time += 6s;
  desk->tick();
  EXPECT_EQ(view().state, CollectorState::kSilent);
  send(stream, 1);
  desk->tick();
  EXPECT_EQ(view().state, CollectorState::kConnected);
  desk->gone(stream);
  EXPECT_EQ(view().state, CollectorState::kDisconnected);
}

TEST_F(HostSessionsTest, SaysWhichValuesMovedWhereThatIsWanted) {
  auto inventory = std::make_shared<HostInventory>();
  inventory->series = std::vector<HostSeries>{{.device = "mlx5_0", .port = 1, .name = "out_of_sequence"}};
  const auto tell = [&](const std::shared_ptr<FakeStream>& stream, std::uint64_t sequence, std::uint64_t value) {
    HostBatch batch;
    batch.sequence = sequence;
    batch.reading.emplace();
    batch.reading->inventory = inventory;
    batch.reading->values = {value};
    batch.reading->present = {1};
    desk->batch(stream, std::move(batch), 0s);
  };
  auto stream = connect("a");
  tell(stream, 1, 0);
  EXPECT_EQ(view().moved, nullptr) << "not wanted: all values have series";
  desk->leave_out_zeros(6s);
  tell(stream, 2, 0);
  ASSERT_NE(view().moved, nullptr);
  EXPECT_EQ(view().moved->shown(0, 0, clock.time), ShownAs::kNot);
  tell(stream, 3, 5);
  EXPECT_EQ(view().moved->shown(0, 0, clock.time), ShownAs::kAtZero);
  EXPECT_EQ(view().moved->shown(0, 0, clock.time + 6s), ShownAs::kAsRead);
  clock.time += 2s;
  stream = connect("a", 2);  // its collector was restarted
  tell(stream, 1, 5);
  EXPECT_EQ(view().moved->shown(0, 0, clock.time), ShownAs::kAtZero) << "still, from the first movement on";
  EXPECT_EQ(view().moved->shown(0, 0, clock.time + 4s), ShownAs::kAsRead);
}

}  // namespace
}  // namespace weft::daemon
