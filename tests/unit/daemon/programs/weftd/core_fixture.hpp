// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the tests of Core share: a core with a small fabric, and a store that does what a test says.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "daemon/platform/logging/logging.hpp"
#include "daemon/programs/weftd/core.hpp"
#include "tests/fakes/fabric_builder.hpp"
#include "tests/unit/daemon/programs/weftd/fakes.hpp"

namespace weft::daemon {

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
  Result<void> save_links(std::string_view name, std::span<const KnownLink> links) override {
    {
      const std::lock_guard lock(mutex);
      links_of[std::string(name)].assign(links.begin(), links.end());
    }
    return count(links_asked);
  }
  Result<void> keep_apart(std::string_view name, const store::FabricMemory& kept) override {
    const std::lock_guard lock(mutex);
    if (refuses_apart) return fail(ErrorCode::kResourceExhausted, "disk full");
    links_of[kept.fabric] = kept.state.links;
    apart.emplace_back(name, kept.fabric);
    return {};
  }
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
  /// By fabric.
  std::map<std::string, std::vector<KnownLink>> copy_of_links() {
    const std::lock_guard lock(mutex);
    return links_of;
  }
  /// As keep_apart() was told of them: the name before, the name since.
  std::vector<std::pair<std::string, std::string>> copy_of_apart() {
    const std::lock_guard lock(mutex);
    return apart;
  }

  std::atomic<bool> refuses = false, refuses_apart = false, throws = false;
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
  std::map<std::string, std::vector<KnownLink>> links_of;
  std::vector<std::pair<std::string, std::string>> apart;
};

class CoreTest : public ::testing::Test {
 protected:
  CoreTest() {
    set_log_level("off");
    clock.time = fabric.now();
    config.infiniband.sweep_interval = std::chrono::seconds(1);
  }
  ~CoreTest() override {
    store.hold(false);
    lane->stop();
  }
  void start(store::Restored restored = {}, const RemedyMemory& plans = {}) {
    const auto post = [this](std::function<void()> job) {
      const std::lock_guard lock(mutex);
      posted.push_back(std::move(job));
    };
    remedies.emplace(RemedyControllerOptions{}, plans, store, *lane, clock, post);
    core.emplace(config, store, std::move(restored), *lane, *remedies, publication, clock, post);
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
      work_off();
      run_posted();
    }
  }
  // Until the lane has done all that it was asked.
  void work_off() {
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
  }
  void sweep(int times = 1) {
    for (int i = 0; i < times; ++i) {
      Sweep next = fabric.sweep();
      clock.time = next.finished;
      core->take_sweep(std::move(next));
    }
  }
  // A subnet under that name, second by second; all that follows from it is done.
  void sweep_as(const std::string& name, fakes::FabricBuilder& one, int seconds) {
    for (int i = 0; i < seconds; ++i) {
      one.advance(clock.time - one.now());
      Sweep next = one.sweep();
      next.fabric = name;
      clock.time = next.finished;
      core->take_sweep(std::move(next));
      core->tick();
      settle();
    }
  }
  // What is stored of that subnet, and all incidents.
  store::Restored ledger_of(const std::string& name) {
    settle();
    store::Restored restored;
    restored.fabrics.push_back({name, {.links = store.copy_of_links()[name]}, clock.time});
    restored.incidents = shown();
    restored.incident_ids = IdSeries(restored.incidents.size() + 1);
    return restored;
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

}  // namespace weft::daemon
