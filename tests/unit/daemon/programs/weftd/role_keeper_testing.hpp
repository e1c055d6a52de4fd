// SPDX-License-Identifier: Apache-2.0
#pragma once
// A weftd of a pair, with a lease that the test sets.

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/platform/logging/logging.hpp"
#include "daemon/programs/weftd/role_keeper.hpp"
#include "tests/fakes/fabric_builder.hpp"
#include "tests/unit/daemon/programs/weftd/fakes.hpp"

namespace weft::daemon {

/// What both weftd of a pair share.
class SharedLedger final : public IdleStore {
 public:
  Result<store::Restored> restore(TimePoint) override {
    const std::lock_guard lock(mutex);
    if (away) return fail(ErrorCode::kUnavailable, "the database is not reachable");
    store::Restored restored;
    for (const auto& [id, incident] : incidents) restored.incidents.push_back(incident);
    restored.incident_ids = 100;
    restored.collectors = collectors;
    restored.told = {{"events-1", "as told"}};
    return restored;
  }
  Result<void> save_incidents(std::span<const Incident> changed, std::span<const store::Event>) override {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(leads) << "a standby wrote";
    for (const Incident& incident : changed) incidents[incident.id] = incident;
    return {};
  }
  Result<void> save_links(std::string_view, std::span<const KnownLink>) override { return expect_leader(); }
  Result<void> save_clock(const ClockMemory&) override { return expect_leader(); }
  Result<void> save_collectors(std::span<const store::CollectorMark>, std::span<const std::string>) override {
    return expect_leader();
  }
  Result<void> append_history(std::shared_ptr<const Sweep>, HostListPtr, Duration) override {
    const std::lock_guard lock(mutex);
    ++moments;
    return {};
  }
  void lead(std::int64_t epoch) override {
    const std::lock_guard lock(mutex);
    leads = epoch;
  }
  Result<void> catch_up() override {
    const std::lock_guard lock(mutex);
    ++catches_up;
    if (away) return fail(ErrorCode::kUnavailable, "the database is not reachable");
    waiting = 0;
    return {};
  }
  store::StoreStatus status() const override {
    const std::lock_guard lock(mutex);
    store::StoreStatus status;
    status.incidents_waiting = waiting;
    status.ok = waiting == 0;
    status.is_taken = is_taken;
    return status;
  }
  Result<std::optional<StandbyView>> standby() override {
    const std::lock_guard lock(mutex);
    ++looks_for_standby;
    if (away) return fail(ErrorCode::kUnavailable, "the database is not reachable");
    return other;
  }

  mutable std::mutex mutex;
  std::size_t waiting = 0;  ///< incidents
  int catches_up = 0;
  bool away = false;
  bool is_taken = false;
  std::map<std::uint64_t, Incident> incidents;
  std::vector<store::CollectorMark> collectors;
  std::int64_t leads = 0;  ///< epoch
  int moments = 0;
  std::optional<StandbyView> other;
  int looks_for_standby = 0;

 private:
  Result<void> expect_leader() {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(leads) << "a standby wrote";
    return {};
  }
};

class RoleKeeperTest : public ::testing::Test {
 protected:
  RoleKeeperTest() {
    set_log_level("off");
    clock.time = fabric.now();
    config.infiniband.sweep_interval = std::chrono::seconds(1);
    view.seen = {7, 40, "a, process 1", "a:50051", clock.time, "first"};
    view.silence = std::chrono::seconds(0);
  }
  ~RoleKeeperTest() override { lane->stop(); }

  void start(bool leads) {
    const auto post = [this](std::function<void()> job) {
      const std::lock_guard lock(mutex);
      posted.push_back(std::move(job));
    };
    remedies.emplace(RemedyControllerOptions{}, RemedyMemory{}, ledger, *lane, clock, post);
    if (!leads) remedies->stand_by();
    core.emplace(config, ledger, *ledger.restore(kNever), *lane, *remedies, publication, clock, post);
    if (!leads) core->stand_by();
    core->add_fabric("test");
    RoleKeeper::Options options;
    options.lease = [this] { return view; };
    options.raise = [this]() -> std::optional<std::int64_t> {
      if (!raised) return std::nullopt;
      view.must_rise = false;
      view.epoch = view.seen.epoch = *raised;
      view.went_back_from = *raised - 1;
      return raised;
    };
    options.leads = leads;
    options.on_lead = [this](const std::map<std::string, std::string>& told) {
      ++led;
      told_before = told;
    };
    options.sight = [this] { return sight; };
    options.tell_sight = [this](const std::vector<FabricSight>& sees) { told_sight = sees; };
    options.is_changing = [this] { return is_changing; };
    options.yields_from = yields_from;
    options.on_yield = [this](const std::string& why) { yielded.push_back(why); };
    options.on_lost = [this](const std::string& why) { lost.push_back(why); };
    role.emplace(std::move(options), config, ledger, *lane, *core, *remedies, clock, post);
    settle();
  }
  // Until the lane has done all that it was asked, and main all that followed from it.
  void settle() {
    for (int round = 0; round < 3; ++round) {
      std::mutex done_mutex;
      std::condition_variable changed;
      bool done = false;
      lane->post([&] {
        const std::lock_guard lock(done_mutex);
        done = true;
        changed.notify_all();
      });
      std::unique_lock lock(done_mutex);
      changed.wait(lock, [&] { return done; });
      lock.unlock();
      while (true) {
        std::unique_lock jobs(mutex);
        if (posted.empty()) break;
        const auto job = std::move(posted.front());
        posted.pop_front();
        jobs.unlock();
        job();
      }
    }
  }
  void sweep(int times) {
    for (int i = 0; i < times; ++i) {
      Sweep next = fabric.sweep();
      clock.time = next.finished;
      role->tick();
      core->take_sweep(std::move(next));
      core->tick();
      settle();
    }
  }
  std::vector<Incident> shown() const {
    std::vector<Incident> list;
    for (const auto& incident : *publication.load()->incidents) list.push_back(*incident);
    return list;
  }
  static store::CollectorMark mark_of(const std::string& host, TimePoint heard) {
    store::CollectorMark mark;
    mark.host = host;
    mark.first_seen = mark.last_seen = heard;
    return mark;
  }
  void take_lease() {
    view.epoch = 8;
    view.is_held = true;
    view.seen = {8, 41, "b, process 2", "b:50051", clock.time, view.seen.mark};
  }

  fakes::FabricBuilder fabric = fakes::FabricBuilder::fat_tree(2, 3, 2);
  config::WeftdConfig config;
  FakeClock clock{TimePoint{}};
  SharedLedger ledger;
  store::LeaseView view;
  std::optional<std::int64_t> raised;  ///< what raise() gives
  int led = 0;
  std::map<std::string, std::string> told_before;
  std::vector<std::string> lost, yielded;
  std::vector<FabricSight> sight{{"test", true, {NodeGuid{1}}}}, told_sight;
  bool is_changing = false;
  Duration yields_from{};
  api::Publication publication;
  std::mutex mutex;
  std::deque<std::function<void()>> posted;
  std::optional<runtime::Lane> lane{
      std::in_place, runtime::LaneOptions{.name = "store", .capacity = 64, .when_full = runtime::WhenFull::kRefuse}};
  std::optional<RemedyController> remedies;
  std::optional<Core> core;
  std::optional<RoleKeeper> role;
};

}  // namespace weft::daemon
