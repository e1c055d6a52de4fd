// SPDX-License-Identifier: Apache-2.0
#pragma once
// A RemedyController between a journal, a world and a small fat tree, for tests that step through what it does.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "daemon/platform/logging/logging.hpp"
#include "daemon/platform/runtime/boot_time.hpp"
#include "daemon/programs/weftd/remedy_controller.hpp"
#include "tests/fakes/fabric_builder.hpp"
#include "tests/unit/daemon/programs/weftd/remedy_fakes.hpp"

namespace weft::daemon {

/// Nothing moves by itself: lanes work and posted jobs run only within settle() and pass().
class RemedyControllerTest : public ::testing::Test {
 protected:
  RemedyControllerTest() {
    set_log_level("off");
    fabric.route();
    clock.time = fabric.now();
    settings.actuators.fill("fake");
    settings.limits.verification.windows = 2;
  }
  ~RemedyControllerTest() override {
    journal.hold(false);
    world.hold("");
    stop_lanes();
  }

  static std::unique_ptr<runtime::Lane> make_lane(const char* name, std::size_t capacity) {
    return std::make_unique<runtime::Lane>(
        runtime::LaneOptions{.name = name, .capacity = capacity, .when_full = runtime::WhenFull::kRefuse});
  }
  void start(RemedyMemory restored = {}, std::size_t capacity = 64) {
    store_lane = make_lane("store", capacity);
    RemedyControllerOptions options;
    options.lane_capacity = capacity;
    options.hands_off_patience = std::chrono::milliseconds(200);
    if (hands_off_probe) options.hands_off_probe = hands_off_probe;
    options.settings = settings;
    for (const char* name : {"fake", "slow"}) options.actuators.push_back(std::make_unique<FakeActuator>(world, name));
    options.hands_off_file = hands_off_file;
    options.clock = *journal.restore_clock();
    options.permit = [this]() -> Result<ActPermit> {
      if (is_lease_held) return ActPermit{4, runtime::boot_time() + std::chrono::milliseconds(lease_left_ms)};
      return fail(ErrorCode::kUnavailable, "its lease is not renewed");
    };
    if (is_confirmed)
      options.confirm = [this]() -> Result<ActPermit> {
        clock.unseen = clock.unseen.load() + confirming_takes;
        if (*is_confirmed) return ActPermit{4, runtime::boot_time() + std::chrono::milliseconds(lease_left_ms)};
        return fail(ErrorCode::kUnavailable, "another weftd leads");
      };
    options.saw_epoch = [this](std::int64_t epoch) { epochs_seen.push_back(epoch); };
    options.patience = patience;
    controller.emplace(std::move(options), std::move(restored), journal, *store_lane, clock,
                       [this](std::function<void()> job) {
                         const std::lock_guard lock(mutex);
                         posted.push_back(std::move(job));
                       });
    controller->set_on_news([this] { ++news; });
  }
  void stop_lanes() {
    if (store_lane) store_lane->stop();
    if (controller) controller->stop_lanes();
  }
  /// weftd is killed, and started anew from what is on disk.
  void crash() {
    stop_lanes();
    posted.clear();
    controller.reset();
    start(journal.restored());
  }

  /// A sweep is published; what the snapshot then shows of plans.
  Snapshot look() {
    Snapshot snapshot;
    FabricView& view = snapshot.fabrics.emplace_back();
    view.name = fabric.name();
    view.watching = true;
    fabric.advance(std::max<Duration>(clock.time - fabric.now(), Duration::zero()));
    view.sweep = std::make_shared<const Sweep>(fabric.sweep());
    clock.time = fabric.now();
    snapshot.incidents = std::make_shared<const std::vector<std::shared_ptr<const Incident>>>(incidents);
    ActingWeftds nobody_else;
    nobody_else.manager = manager;
    controller->take_acting(fabric.name(), nobody_else, *fabric.topology());
    controller->complete(snapshot, {});
    return snapshot;
  }
  /// Plans as a snapshot shows them now.
  std::vector<Plan> shown() {
    std::vector<Plan> all;
    for (const auto& plan : *look().plans) all.push_back(*plan);
    return all;
  }
  /// The lane of the actuator "fake", which does all but what a test gives to "slow".
  runtime::Lane& actuate_lane() {
    for (runtime::Lane* lane : controller->lanes())
      if (lane->name() == "act-fake") return *lane;
    throw std::logic_error("no lane of the fake actuator");
  }
  static void drain(runtime::Lane& lane) {
    const auto done = std::make_shared<std::promise<void>>();  // shared: the lane may still be in set_value()
    while (!lane.post([done] { done->set_value(); })) std::this_thread::yield();
    done->get_future().wait();
  }
  bool run_one_posted() {
    std::function<void()> job;
    {
      const std::lock_guard lock(mutex);
      if (posted.empty()) return false;
      job = std::move(posted.front());
      posted.pop_front();
    }
    job();
    return true;
  }
  /// What the lanes do and what follows from it, until it is enough or nothing is under way.
  void settle(const std::function<bool()>& is_enough = [] { return false; }) {
    do {
      drain(*store_lane);
      for (runtime::Lane* lane : controller->lanes()) drain(*lane);
    } while (!is_enough() && run_one_posted());
  }
  /// All but the actuators goes on.
  void run_without_actuators() {
    do {
      drain(*store_lane);
      drain(*controller->lanes().front());
    } while (run_one_posted());
  }
  void settle_until_read() {
    settle([this] { return world.readings() > 0; });
  }
  /// Time passes as it does in weftd: a tick each second.
  void pass(Duration time) {
    for (const TimePoint end = clock.time + time; clock.time < end;) {
      clock.time += std::chrono::seconds(1);
      controller->tick();
      settle();
    }
  }

  Entity link(const std::string& a, const std::string& b) const {
    const LinkKey key = fabric.link_of(fabric.port_towards(a, b));
    return {
        .kind = EntityKind::kLink, .fabric = fabric.name(), .port = key.low, .peer = key.high, .label = a + " - " + b};
  }
  /// How a person names the link.
  std::string name_of_link(const std::string& a, const std::string& b) const {
    return a + ':' + std::to_string(fabric.key_of(fabric.port_towards(a, b)).port.value);
  }
  /// A link has errors, by the word of both its ends: a reason to isolate it.
  void open_incident(const std::string& a, const std::string& b) {
    auto incident = std::make_shared<Incident>();
    incident->id = incidents.size() + 1;
    incident->finding.kind = IncidentKind::kLinkErrors;
    incident->finding.severity = Severity::kWarning;
    incident->finding.confidence = 0.9;
    incident->finding.cause = link(a, b);
    incident->opened = incident->updated = fabric.now();
    incident->beginnings = {fabric.now()};
    for (const PortKey end : {incident->finding.cause.port, incident->finding.cause.peer}) {
      Evidence evidence;
      evidence.signal = "error_rate";
      evidence.unit = "errors/bit";
      evidence.value = 1e-8;
      evidence.observed = fabric.now();
      evidence.where = {.kind = EntityKind::kPort, .fabric = fabric.name(), .port = end, .peer = {}, .label = ""};
      incident->finding.evidence.push_back(evidence);
    }
    incidents.push_back(std::move(incident));
  }
  /// PLAN-1 isolates a link, and waits for a person or goes on by itself.
  void start_with_plan(RemedyMode mode, std::size_t capacity = 64) {
    settings.modes.fill(mode);
    start({}, capacity);
    open_incident("leaf-0", "spine-0");
    look();
  }
  api::RemedyCommands::PlanCallback note_plan() {
    return [this](Result<Plan> answer) { plans.push_back(std::move(answer)); };
  }
  api::RemedyCommands::StatusCallback note_status() {
    return [this](Result<RemedyStatus> answer) { statuses.push_back(std::move(answer)); };
  }
  void expect_no_action_while(const std::function<void(bool)>& set_trouble) {
    start_with_plan(RemedyMode::kAuto);
    settle_until_read();
    set_trouble(true);
    const int writes = journal.writes();
    settle();
    EXPECT_EQ(journal.writes(), writes + 1) << "it is not tried again at once";
    EXPECT_EQ(journal.plan(1).intent, PlanIntent::kNone);
    pass(std::chrono::seconds(2));
    EXPECT_GT(journal.writes(), writes + 1) << "but with each tick";
    EXPECT_EQ(world.actions(), 0);
    set_trouble(false);
    look();
    settle();
    EXPECT_EQ(world.actions(), 1);
    EXPECT_EQ(journal.plan(1).state, PlanState::kVerifying);
  }

  fakes::FabricBuilder fabric = fakes::FabricBuilder::fat_tree(8, 4, 1);
  std::vector<std::shared_ptr<const Incident>> incidents;
  FakeClock clock;
  analyzer::RemedySettings settings;
  std::atomic<bool> is_lease_held = true;
  std::optional<std::atomic<bool>> is_confirmed;  ///< what the database says at the moment of an act; none: not asked
  Duration confirming_takes{};                    ///< used on the lane of the actuator
  std::vector<std::int64_t> epochs_seen;          ///< used on the lane, and between settle() and settle()
  std::atomic<int> lease_left_ms = 3'600'000;     ///< of each permit
  Duration patience{};                            ///< of a weftd that starts
  std::filesystem::path hands_off_file;
  HandsOffFile::Probe hands_off_probe;
  JournalStore journal;
  FakeWorld world{journal};
  std::mutex mutex;
  std::deque<std::function<void()>> posted;
  std::vector<Result<Plan>> plans;
  std::vector<Result<RemedyStatus>> statuses;
  int news = 0;
  std::unique_ptr<runtime::Lane> store_lane;
  ManagerSign manager = ManagerSign::kHeard;  ///< as the sweeper tells
  std::optional<RemedyController> controller;
};

/// A lane that does nothing until it is let go, and takes no more meanwhile. Its capacity must be one.
class BlockedLane {
 public:
  explicit BlockedLane(runtime::Lane& lane) {
    const auto started = std::make_shared<std::promise<void>>();
    EXPECT_TRUE(lane.post([started, open = open_.get_future().share()] {
      started->set_value();
      open.wait();
    }));
    started->get_future().wait();
    EXPECT_TRUE(lane.post([] {}));
  }
  void let_go() { open_.set_value(); }

 private:
  std::promise<void> open_;
};

}  // namespace weft::daemon
