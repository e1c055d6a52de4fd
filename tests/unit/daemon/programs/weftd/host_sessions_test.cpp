// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "tests/unit/daemon/programs/weftd/host_sessions_desk.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

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

TEST_F(HostSessionsTest, TheModuleOfAPortOutlivesARestart) {
  auto stream = connect("a");
  const auto plug = [&](std::uint64_t sequence, const char* serial) {
    HostBatch batch;
    batch.sequence = sequence;
    batch.reading.emplace();
    batch.reading->taken = clock.time;
    auto inventory = std::make_shared<HostInventory>();
    HostPort& port = inventory->ports.emplace_back();
    port.device = "mlx5_0";
    port.number = 1;
    batch.reading->inventory = std::move(inventory);
    auto facts = std::make_shared<FactTable>();
    facts->ports.push_back({"mlx5_0", 1, {{ConfigFact::kModuleSerial, FactSource::kEthtool, serial}}});
    batch.reading->facts = std::move(facts);
    desk->batch(stream, std::move(batch), Duration::zero());
  };
  plug(1, "MT0001");
  save();
  plug(2, "MT0002");
  save();
  crash();
  const std::vector<PortStay> stays = rules->modules().stays("a");
  ASSERT_EQ(stays.size(), 2U);
  EXPECT_EQ(stays[0].module, "serial MT0001");
  EXPECT_NE(stays[0].to, kNever);
  EXPECT_EQ(stays[1].module, "serial MT0002");
  EXPECT_EQ(stays[1].to, kNever);
}

TEST_F(HostSessionsTest, APortThatWasUpAtTheLastAcknowledgementIsMissedAfterARestart) {
  const auto tell = [this](const std::shared_ptr<FakeStream>& stream, std::uint64_t sequence, bool is_up) {
    HostBatch batch;
    batch.sequence = sequence;
    batch.reading.emplace();
    auto inventory = std::make_shared<HostInventory>();
    for (std::uint8_t number = 1; number <= 2; ++number) {
      HostPort& port = inventory->ports.emplace_back();
      port.device = "mlx5_0";
      port.number = number;
      port.state = is_up && number == 1 ? PortState::kActive : PortState::kDown;
    }
    batch.reading->inventory = std::move(inventory);
    batch.reading->taken = clock.time;
    desk->batch(stream, std::move(batch), 0s);
  };
  auto stream = connect("a");
  tell(stream, 1, true);
  save();
  tell(stream, 2, true);
  save();
  ASSERT_EQ(stream->acknowledged, 2U) << "nothing waits in its spool";
  crash();
  stream = connect("a");
  tell(stream, 3, false);
  const auto findings = rules->judge(clock.now()).findings;
  ASSERT_EQ(findings.size(), 1U) << "and of the port that was always down nothing is said";
  EXPECT_EQ(findings.front().kind, IncidentKind::kLinkDown);
  EXPECT_EQ(findings.front().cause.label, "a mlx5_0 port 1");
  // It is not written again with each batch, and stays.
  save();
  crash();
  tell(connect("a"), 4, false);
  EXPECT_EQ(rules->judge(clock.now()).findings.size(), 1U);
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
  EXPECT_EQ(view().moved->shown(0, 0, clock.steady()), ShownAs::kNot);
  tell(stream, 3, 5);
  EXPECT_EQ(view().moved->shown(0, 0, clock.steady()), ShownAs::kAtZero);
  EXPECT_EQ(view().moved->shown(0, 0, clock.steady() + 6s), ShownAs::kAsRead);
  clock.time += 2s;
  stream = connect("a", 2);  // its collector was restarted
  tell(stream, 1, 5);
  EXPECT_EQ(view().moved->shown(0, 0, clock.steady()), ShownAs::kAtZero) << "still, from the first movement on";
  EXPECT_EQ(view().moved->shown(0, 0, clock.steady() + 4s), ShownAs::kAsRead);
}

}  // namespace
}  // namespace weft::daemon
