// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/maintenance_service.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <deque>
#include <filesystem>
#include <mutex>

#include "daemon/platform/logging/logging.hpp"
#include "tests/unit/daemon/programs/weftd/fakes.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

/// A desk on a real store in a directory of its own.
class Desk : public ::testing::Test {
 protected:
  Desk() {
    set_log_level("off");
    std::string name = (std::filesystem::temp_directory_path() / "weft-desk-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no temporary directory";
    dir = name;
    start();
  }
  ~Desk() override {
    lane->stop();
    desk.reset();
    store.reset();
    std::error_code ignored;
    std::filesystem::remove_all(dir, ignored);
  }
  void start() {
    auto opened = store::open_store(dir, {});
    ASSERT_TRUE(opened) << opened.error().message;
    store = std::move(*opened);
    lane = std::make_unique<runtime::Lane>(runtime::LaneOptions{
        .name = "store", .capacity = 8, .when_full = runtime::WhenFull::kRefuse, .on_failure = {}});
    auto restored = store->restore(clock.time - 24h);
    ASSERT_TRUE(restored);
    desk.emplace(
        limits, 24h, std::move(restored->maintenance), restored->maintenance_ids, *store, *lane, clock,
        [this](std::function<void()> job) {
          const std::lock_guard lock(mutex);
          posted.push_back(std::move(job));
        },
        [this] { ++changes; });
  }
  void restart() {
    lane->stop();
    desk.reset();
    store.reset();
    start();
  }
  /// The lane has done its work, and the main thread what was posted to it.
  void settle() {
    lane->stop();
    for (auto& job : std::exchange(posted, {})) job();
    lane = std::make_unique<runtime::Lane>(runtime::LaneOptions{
        .name = "store", .capacity = 8, .when_full = runtime::WhenFull::kRefuse, .on_failure = {}});
    MaintenanceList known = *desk->windows();
    desk.emplace(
        limits, 24h, std::move(known), 1, *store, *lane, clock,
        [this](std::function<void()> job) {
          const std::lock_guard lock(mutex);
          posted.push_back(std::move(job));
        },
        [this] { ++changes; });
  }
  MaintenanceWindow wanted(Duration length = 2h) const {
    MaintenanceWindow window;
    window.entity.kind = EntityKind::kNode;
    window.entity.label = "leaf-1";
    window.entity.port.node = NodeGuid{17};
    window.nodes = {NodeGuid{17}};
    window.from = clock.time;
    window.until = clock.time + length;
    window.reason = "new firmware";
    window.added_by = "ann";
    return window;
  }
  Result<MaintenanceWindow> add(MaintenanceWindow window) {
    Result<MaintenanceWindow> answer = fail(ErrorCode::kUnavailable, "no answer");
    desk->add(std::move(window), [&](Result<MaintenanceWindow> told) { answer = std::move(told); });
    settle();
    return answer;
  }
  Result<MaintenanceWindow> end(std::uint64_t id) {
    Result<MaintenanceWindow> answer = fail(ErrorCode::kUnavailable, "no answer");
    desk->end(id, "bob", [&](Result<MaintenanceWindow> told) { answer = std::move(told); });
    settle();
    return answer;
  }

  config::Maintenance limits;
  FakeClock clock;
  std::filesystem::path dir;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<runtime::Lane> lane;
  std::mutex mutex;
  std::deque<std::function<void()>> posted;
  std::optional<MaintenanceService> desk;
  int changes = 0;
};

TEST_F(Desk, AWindowCountsOnceItIsOnDisk) {
  int told = 0;
  desk->add(wanted(), [&](const Result<MaintenanceWindow>& window) {
    ++told;
    EXPECT_TRUE(window);
    EXPECT_EQ(desk->windows()->size(), 1U) << "shown before it is answered";
  });
  EXPECT_TRUE(desk->windows()->empty());
  EXPECT_EQ(told, 0);
  settle();
  EXPECT_EQ(told, 1);
  EXPECT_EQ(changes, 1);
  restart();
  ASSERT_EQ(desk->windows()->size(), 1U);
  EXPECT_EQ(desk->windows()->front().reason, "new firmware");
  EXPECT_EQ(desk->windows()->front().id, 1U);
  const auto second = add(wanted());
  ASSERT_TRUE(second);
  EXPECT_EQ(second->id, 2U);
}

TEST_F(Desk, WhatMakesNoWindowIsRefused) {
  const auto code_of = [&](MaintenanceWindow window) {
    const auto answer = add(std::move(window));
    return answer ? ErrorCode::kInternal : answer.error().code;
  };
  MaintenanceWindow bad = wanted();
  bad.reason.clear();
  EXPECT_EQ(code_of(bad), ErrorCode::kInvalidArgument);
  bad.reason = "  ";
  EXPECT_EQ(code_of(bad), ErrorCode::kInvalidArgument) << "blanks are none";
  bad = wanted();
  bad.reason = "two\nlines";
  EXPECT_EQ(code_of(bad), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(wanted(limits.longest + 1s)), ErrorCode::kInvalidArgument);
  bad = wanted();
  bad.from -= 5h;
  bad.until -= 5h;
  EXPECT_EQ(code_of(bad), ErrorCode::kInvalidArgument) << "it is over already";
  bad = wanted();
  bad.from += 24h * 400;
  bad.until += 24h * 400;
  EXPECT_EQ(code_of(bad), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(desk->windows()->empty());
  EXPECT_TRUE(add(wanted(limits.longest)));
}

TEST_F(Desk, TheirNumberIsBounded) {
  limits.max_windows = 2;
  ASSERT_TRUE(add(wanted()));
  ASSERT_TRUE(add(wanted()));
  const auto third = add(wanted());
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, ErrorCode::kResourceExhausted);
  ASSERT_TRUE(end(1));
  EXPECT_TRUE(add(wanted())) << "those that are over do not count";
}

TEST_F(Desk, EndsAreForTheRecordAndForgottenLater) {
  ASSERT_TRUE(add(wanted()));
  clock.time += 10min;
  const auto ended = end(1);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->ended, clock.time);
  EXPECT_EQ(ended->ended_by, "bob");
  EXPECT_EQ(state_at(*ended, clock.time), MaintenanceState::kOver);
  EXPECT_EQ(end(1).error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(end(9).error().code, ErrorCode::kNotFound);
  desk->tick();
  EXPECT_EQ(desk->windows()->size(), 1U);
  clock.time += 25h;
  desk->tick();
  EXPECT_TRUE(desk->windows()->empty());
}

TEST_F(Desk, WhoComesTooLateIsToldSo) {
  ErrorCode told = ErrorCode::kInternal;
  desk->add(wanted(), [&](const Result<MaintenanceWindow>& answer) { told = answer.error().code; });
  desk->stop();
  EXPECT_EQ(told, ErrorCode::kUnavailable);
  told = ErrorCode::kInternal;
  desk->end(1, "bob", [&](const Result<MaintenanceWindow>& answer) { told = answer.error().code; });
  EXPECT_EQ(told, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace weft::daemon
