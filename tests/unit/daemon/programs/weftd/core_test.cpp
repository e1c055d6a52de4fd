// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/core.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <stdexcept>

#include "daemon/platform/logging/logging.hpp"
#include "tests/fakes/fabric_builder.hpp"
#include "tests/unit/daemon/programs/weftd/fakes.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

// A store that waits, refuses or throws when a test says so, and counts what it is asked.
class FakeStore final : public IdleStore {
 public:
  Result<void> save_incidents(std::span<const Incident> incidents, std::span<const store::Event> happened) override {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return !held; });
    if (throws) throw std::runtime_error("no memory");
    if (refuses) return fail(ErrorCode::kResourceExhausted, "disk full");
    for (const Incident& incident : incidents) saved[incident.id] = incident;
    for (const store::Event& event : happened) words.push_back(event.what);
    return {};
  }
  Result<void> save_maintenance(const MaintenanceWindow&) override { return count(windows_asked); }
  Result<void> save_links(std::string_view, std::span<const KnownLink>) override { return count(links_asked); }
  Result<void> save_conditions(std::string_view, std::span<const FlapState>, std::span<const ErrorState>) override {
    return count(conditions_asked);
  }
  Result<void> save_nodes(std::string_view, const Topology&, TimePoint) override { return count(nodes_asked); }
  Result<void> save_collectors(std::span<const store::CollectorMark> told, std::span<const std::string>) override {
    const std::lock_guard lock(mutex);
    if (!told.empty()) incidents_before_marks = static_cast<int>(saved.size());
    return {};
  }

  void hold(bool on) {
    {
      const std::lock_guard lock(mutex);
      held = on;
    }
    changed.notify_all();
  }
  std::vector<std::string> copy_of_words() {
    const std::lock_guard lock(mutex);
    return words;
  }
  std::map<std::uint64_t, Incident> copy_of_saved() {
    const std::lock_guard lock(mutex);
    return saved;
  }

  std::atomic<bool> refuses = false, throws = false;
  /// How many incidents were on disk when collectors' marks were last written; -1: none were.
  std::atomic<int> incidents_before_marks = -1;
  std::atomic<int> links_asked = 0, conditions_asked = 0, nodes_asked = 0, windows_asked = 0;

 private:
  Result<void> count(std::atomic<int>& counter) {
    ++counter;
    if (refuses) return fail(ErrorCode::kResourceExhausted, "disk full");
    return {};
  }
  std::mutex mutex;
  std::condition_variable changed;
  bool held = false;
  std::map<std::uint64_t, Incident> saved;
  std::vector<std::string> words;
};

class CoreTest : public ::testing::Test {
 protected:
  CoreTest() {
    set_log_level("off");
    clock.time = fabric.now();
    config.infiniband.sweep_interval = 1s;
  }
  ~CoreTest() override {
    store.hold(false);
    lane->stop();
  }
  void start(store::Restored restored = {}) {
    const auto post = [this](std::function<void()> job) {
      const std::lock_guard lock(mutex);
      posted.push_back(std::move(job));
    };
    remedies.emplace(RemedyControllerOptions{}, RemedyMemory{}, store, *lane, clock, post);
    core.emplace(config, ExpectedCabling{}, store, std::move(restored), *lane, *remedies, publication, clock, post);
  }
  // What the main thread would do: everything that was posted to it.
  void run_posted() {
    while (true) {
      std::function<void()> job;
      {
        const std::lock_guard lock(mutex);
        if (posted.empty()) return;
        job = std::move(posted.front());
        posted.pop_front();
      }
      job();
    }
  }
  // Until the lane has done all that it was asked, and main all that followed from it.
  void settle() {
    for (int round = 0; round < 3; ++round) {
      std::mutex done_mutex;
      std::condition_variable done_changed;
      bool done = false;
      while (!lane->post([&] {
        const std::lock_guard lock(done_mutex);
        done = true;
        done_changed.notify_all();
      })) {
      }
      std::unique_lock lock(done_mutex);
      done_changed.wait(lock, [&] { return done; });
      lock.unlock();
      run_posted();
    }
  }
  void sweep(int times = 1) {
    for (int i = 0; i < times; ++i) {
      Sweep next = fabric.sweep();
      clock.time = next.finished;
      core->take_sweep(std::move(next));
    }
  }
  std::vector<Incident> shown() const {
    std::vector<Incident> list;
    for (const auto& incident : *publication.load()->incidents) list.push_back(*incident);
    return list;
  }
  std::uint64_t open_one() {
    sweep(3);
    fabric.unlink(fabric.port_towards("leaf-1", "spine-0"));
    sweep(3);
    settle();
    EXPECT_EQ(shown().size(), 1U);
    return shown().empty() ? 0 : shown().front().id;
  }
  api::Commands::Callback note_answer() {
    return [this](Result<Incident> result) { answers.push_back(std::move(result)); };
  }

  fakes::FabricBuilder fabric = fakes::FabricBuilder::fat_tree(2, 3, 2);
  config::WeftdConfig config;
  FakeClock clock{TimePoint{}};
  FakeStore store;
  api::Publication publication;
  std::mutex mutex;
  std::deque<std::function<void()>> posted;
  std::vector<Result<Incident>> answers;
  std::optional<runtime::Lane> lane{
      std::in_place, runtime::LaneOptions{.name = "store", .capacity = 64, .when_full = runtime::WhenFull::kRefuse}};
  std::optional<RemedyController> remedies;
  std::optional<Core> core;
};

TEST_F(CoreTest, NoIncidentIsShownBeforeItIsOnDisk) {
  start();
  core->add_fabric("test");
  sweep(3);
  settle();
  store.hold(true);
  fabric.unlink(fabric.port_towards("leaf-1", "spine-0"));
  sweep(5);
  core->tick();
  run_posted();
  EXPECT_TRUE(publication.load()->fabrics.front().watching) << "pictures go out meanwhile";
  EXPECT_LE(clock.time - publication.load()->taken, 2s);
  EXPECT_TRUE(shown().empty());
  store.hold(false);
  settle();
  ASSERT_EQ(shown().size(), 1U);
  EXPECT_EQ(store.copy_of_saved().size(), 1U);
}

TEST_F(CoreTest, TheRecordTellsAnIncidentsLifeAndNothingTwice) {
  start();
  core->add_fabric("test");
  const std::uint64_t id = open_one();
  for (int i = 0; i < 3; ++i) core->acknowledge(id, "ann", note_answer());
  settle();
  EXPECT_EQ(answers.size(), 3U) << "each gets its answer";
  fabric.relink(fabric.port_towards("leaf-1", "spine-0"));
  sweep(8);
  settle();
  fabric.unlink(fabric.port_towards("leaf-1", "spine-0"));
  sweep(3);
  settle();
  std::vector<std::string> words = store.copy_of_words();
  std::erase(words, "updated");
  EXPECT_EQ(words, (std::vector<std::string>{"opened", "acknowledged", "resolved", "reopened"}));
}

TEST_F(CoreTest, WhatIsShownIsNeverNewerThanWhatIsOnDisk) {
  start();
  core->add_fabric("test");
  const std::uint64_t id = open_one();
  store.hold(true);
  core->acknowledge(id, "ann", note_answer());
  fabric.relink(fabric.port_towards("leaf-1", "spine-0"));
  sweep(8);
  EXPECT_EQ(shown().front().state, IncidentState::kOpen);
  store.hold(false);
  settle();
  EXPECT_EQ(shown().front().state, IncidentState::kResolved);
  EXPECT_EQ(store.copy_of_saved().at(id).revision, shown().front().revision);
}

TEST_F(CoreTest, AStoreThatRefusesDoesNotStopTheShowing) {
  start();
  core->add_fabric("test");
  store.refuses = true;
  const std::uint64_t id = open_one();
  EXPECT_NE(id, 0U);
  core->acknowledge(id, "ann", note_answer());
  settle();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_FALSE(answers.front()) << "it is not on disk, and that is said";
  EXPECT_EQ(shown().front().state, IncidentState::kAcknowledged);
}

TEST_F(CoreTest, AStoreThatThrowsDoesNotStopTheShowing) {
  start();
  core->add_fabric("test");
  store.throws = true;
  const std::uint64_t id = open_one();
  core->acknowledge(id, "ann", note_answer());
  settle();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_FALSE(answers.front());
}

// A collector that is told "safe" sends it never again: what it led to must be on disk before.
TEST_F(CoreTest, NoBatchIsAcknowledgedBeforeItsIncidentIsOnDisk) {
  start();
  const auto stream = std::make_shared<FakeStream>();
  core->hosts().hello(stream, {.host = "node-0", .spool = 1, .version = "1", .interval = 1s, .oldest_sequence = 0});
  HostBatch reading;
  reading.sequence = 1;
  auto inventory = std::make_shared<HostInventory>();
  HostPort& port = inventory->ports.emplace_back();
  port.device = "mlx5_0";
  port.number = 1;
  port.state = PortState::kActive;
  reading.reading.emplace();
  reading.reading->taken = clock.time;
  reading.reading->inventory = inventory;
  core->hosts().batch(stream, std::move(reading), 0s);
  HostBatch event;
  event.sequence = 2;
  LinkEvent& down = event.events.emplace_back();
  down.at = clock.time;
  down.device = "mlx5_0";
  down.port = 1;
  store.throws = true;
  core->hosts().batch(stream, std::move(event), 0s);
  core->take_hosts();
  clock.time += 2s;
  core->tick();
  settle();
  EXPECT_EQ(store.copy_of_saved().size(), 0U);
  EXPECT_EQ(stream->acknowledged, 0U);
  store.throws = false;
  clock.time += 1s;
  core->tick();
  settle();
  EXPECT_EQ(store.copy_of_saved().size(), 1U);
  EXPECT_EQ(store.incidents_before_marks, 1);
  EXPECT_EQ(stream->acknowledged, 2U);
}

// A collector may tell of a port in the moment after the first sweep that knows it: both are one port, and one
// incident.
TEST_F(CoreTest, AnEventRightAfterTheFirstSweepBlamesTheSweptLink) {
  start();
  core->add_fabric("test");
  const PortIndex adapter = fabric.port_of("host-1-0 mlx5_0", 1);
  const auto stream = std::make_shared<FakeStream>();
  core->hosts().hello(stream, {.host = "node-0", .spool = 1, .version = "1", .interval = 1s, .oldest_sequence = 0});
  HostBatch reading;
  reading.sequence = 1;
  auto inventory = std::make_shared<HostInventory>();
  HostPort& port = inventory->ports.emplace_back();
  port.device = "mlx5_0";
  port.number = 1;
  port.port_guid = fabric.ports()[adapter].guid;
  port.state = PortState::kActive;
  reading.reading.emplace();
  reading.reading->taken = clock.time;
  reading.reading->inventory = inventory;
  core->hosts().batch(stream, std::move(reading), 0s);
  core->tick();
  sweep(1);
  HostBatch event;
  event.sequence = 2;
  LinkEvent& down = event.events.emplace_back();
  down.at = clock.time;
  down.device = "mlx5_0";
  down.port = 1;
  core->hosts().batch(stream, std::move(event), 0s);
  core->take_hosts();
  settle();
  ASSERT_EQ(shown().size(), 1U);
  EXPECT_EQ(shown().front().finding.cause.kind, EntityKind::kLink);
  EXPECT_EQ(shown().front().finding.cause.fabric, fabric.name());
}

TEST_F(CoreTest, TheCableOfALinkThatWasTakenOutBeforeARestartIsKnown) {
  const PortIndex end = fabric.port_towards("leaf-1", "spine-0");
  const LinkKey out = fabric.link_of(end);
  store::Restored restored;
  store::FabricMemory& memory = restored.fabrics.emplace_back();
  memory.fabric = "test";
  memory.state.links.push_back({out, {"leaf-1", NodeType::kSwitch}, {"spine-0", NodeType::kSwitch}});
  fabric.unlink(end);
  fabric.rediscover();
  start(std::move(restored));
  core->add_fabric("test");
  sweep(1);
  settle();
  const Topology& shown = *publication.load()->fabrics.front().sweep->topology;
  EXPECT_EQ(shown.link_of(shown.find_port(out.low)), out);
}

TEST_F(CoreTest, AFullLaneIsTriedAgain) {
  lane.emplace(runtime::LaneOptions{.name = "store", .capacity = 1, .when_full = runtime::WhenFull::kRefuse});
  start();
  core->add_fabric("test");
  sweep(3);
  settle();
  store.hold(true);
  fabric.unlink(fabric.port_towards("leaf-1", "spine-0"));
  sweep(5);
  store.hold(false);
  for (int i = 0; i < 5; ++i) {
    core->tick();
    settle();
  }
  EXPECT_EQ(shown().size(), 1U);
}

TEST_F(CoreTest, EveryCommandIsAnsweredOnce) {
  start();
  core->add_fabric("test");
  const std::uint64_t id = open_one();
  store.hold(true);
  core->acknowledge(id, "ann", note_answer());
  core->silence(id, clock.time + 1h, "ann", note_answer());
  core->acknowledge(id + 99, "ann", note_answer());
  EXPECT_EQ(answers.size(), 1U) << "that there is none such is known at once";
  store.hold(false);
  settle();
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0].error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(answers[1] && answers[2]);
  EXPECT_EQ(answers[1]->state, IncidentState::kAcknowledged);
  EXPECT_EQ(answers[2]->silenced_until, clock.time + 1h);
  EXPECT_EQ(shown().front().silenced_until, clock.time + 1h) << "answered when it is shown";
}

TEST_F(CoreTest, WhatTheDiskRefusedOfAFabricIsOfferedAgain) {
  start();
  core->add_fabric("test");
  store.refuses = true;
  sweep();
  settle();
  EXPECT_EQ(store.links_asked, 1);
  EXPECT_EQ(store.nodes_asked, 1);
  store.refuses = false;
  sweep();
  settle();
  EXPECT_EQ(store.links_asked, 2) << "after a restart nobody would know which links there were";
  EXPECT_EQ(store.nodes_asked, 2);
  sweep();
  settle();
  EXPECT_EQ(store.links_asked, 2) << "unchanged and on disk";
}

TEST_F(CoreTest, AtTheEndNobodyIsLeftWithoutAnAnswer) {
  start();
  core->add_fabric("test");
  const std::uint64_t id = open_one();
  store.hold(true);
  core->acknowledge(id, "ann", note_answer());
  core->silence(id, clock.time + 1h, "ann", note_answer());
  store.hold(false);
  lane->stop();
  run_posted();
  core->stop();
  core->acknowledge(id, "ann", note_answer());
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_TRUE(answers[0]) << "it was on disk in time";
  for (const std::size_t i : {1U, 2U}) {
    ASSERT_FALSE(answers[i]);
    EXPECT_EQ(answers[i].error().code, ErrorCode::kUnavailable);
  }
}

TEST_F(CoreTest, WhatIsOpenInASubnetThatIsNotWatchedAnyMoreResolves) {
  Incident old;
  old.id = 7;
  old.revision = 1;
  old.finding.kind = IncidentKind::kTelemetryLost;
  old.finding.cause.fabric = "gone";
  old.opened = old.updated = clock.time - 1h;
  store::Restored restored;
  restored.incidents = {old};
  restored.incident_ids = 8;
  start(restored);
  core->add_fabric("test");
  sweep();
  core->tick();
  settle();
  EXPECT_TRUE(shown().front().is_open()) << "its adapter may yet be found";
  fabric.advance(15min);
  sweep();
  core->tick();
  settle();
  EXPECT_FALSE(shown().front().is_open());
  EXPECT_EQ(store.copy_of_saved().at(7).state, IncidentState::kResolved);
}

TEST_F(CoreTest, WhatIsOpenInASubnetThatIsTakenAwayResolves) {
  start();
  core->add_fabric("test");
  open_one();
  core->remove_fabric("test");
  settle();
  ASSERT_EQ(shown().size(), 1U);
  EXPECT_FALSE(shown().front().is_open());
}

TEST_F(CoreTest, ResolvedIncidentsLeaveThePictureWhenTheyAreOld) {
  config.incidents.retention = 1h;
  start();
  core->add_fabric("test");
  open_one();
  fabric.relink(fabric.port_towards("leaf-1", "spine-0"));
  sweep(8);
  settle();
  ASSERT_FALSE(shown().front().is_open());
  fabric.advance(2h);
  sweep(2);  // with the first one the clock is looked at: it may have been set
  settle();
  EXPECT_TRUE(shown().empty());
}

TEST_F(CoreTest, AClockThatIsSetBackHidesNoSilence) {
  start();
  core->add_fabric("test");
  sweep(3);
  settle();
  clock.time -= 1h;
  for (int i = 0; i < 60; ++i) {
    clock.time += 500ms;
    core->tick();
    settle();
  }
  ASSERT_EQ(shown().size(), 1U);
  EXPECT_EQ(shown().front().finding.kind, IncidentKind::kTelemetryLost);
  EXPECT_LE(clock.time - publication.load()->taken, 2s);
}

TEST_F(CoreTest, SilenceIsTroubleAndEndsWithTheNextSweeps) {
  start();
  core->add_fabric("test");
  sweep(3);
  core->take_trouble("test", "mlx5_0 is gone");
  settle();
  ASSERT_EQ(shown().size(), 1U);
  EXPECT_EQ(shown().front().finding.kind, IncidentKind::kTelemetryLost);
  EXPECT_FALSE(core->is_watching("test"));
  sweep(4);
  settle();
  EXPECT_FALSE(shown().front().is_open());
  EXPECT_TRUE(core->is_watching("test"));
}

}  // namespace
}  // namespace weft::daemon
