// SPDX-License-Identifier: Apache-2.0
#pragma once
// HostSessions on a real store, for tests.

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/adapters/store/store.hpp"
#include "daemon/programs/weftd/host_sessions.hpp"
#include "tests/unit/daemon/programs/weftd/fakes.hpp"

namespace weft::daemon {

/// The sessions on a real store, in a directory of its own.
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
    clock.time += std::chrono::seconds(2);
    desk->save();
    lane->stop();
    for (auto& job : std::exchange(posted, {})) job();
    lane.emplace(runtime::LaneOptions{.name = "store"});
  }
  std::shared_ptr<FakeStream> connect(const std::string& host, std::uint64_t spool = 1) {
    auto stream = std::make_shared<FakeStream>();
    desk->hello(
        stream,
        {.host = host, .spool = spool, .version = "1", .interval = std::chrono::seconds(1), .oldest_sequence = 0});
    return stream;
  }
  void send(const std::shared_ptr<FakeStream>& stream, std::uint64_t sequence, bool late = false) {
    HostBatch batch;
    batch.sequence = sequence;
    batch.is_late = late;
    desk->batch(stream, std::move(batch), Duration::zero());
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
    desk->batch(stream, std::move(batch), Duration::zero());
  }
  /// `shard` hears a collector of that name with these adapters.
  void heard_in(const std::string& shard, const std::string& name, std::uint64_t adapters) {
    desk->answered(shard, std::vector{name}, {{.host = name, .adapters = adapters, .is_connected = true}});
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

}  // namespace weft::daemon
