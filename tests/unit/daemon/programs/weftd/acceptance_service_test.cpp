// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/acceptance_service.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "analyzer/places/place_finder.hpp"
#include "daemon/platform/logging/logging.hpp"
#include "tests/fakes/fabric_builder.hpp"
#include "tests/unit/daemon/programs/weftd/fakes.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

/// Keeps what it is given, in memory, or refuses.
class RunStore final : public IdleStore {
 public:
  Result<void> save_acceptance(const AcceptanceRun& run, std::span<const std::uint64_t> forgotten) override {
    const std::lock_guard lock(mutex);
    if (refuses) return fail(ErrorCode::kResourceExhausted, "disk full");
    saved[run.id] = std::make_shared<const AcceptanceRun>(run);
    for (const std::uint64_t id : forgotten) saved.erase(id);
    return {};
  }
  AcceptanceList all() {
    const std::lock_guard lock(mutex);
    AcceptanceList list;
    for (const auto& [id, run] : saved) list.push_back(run);
    return list;
  }
  bool refuses = false;

 private:
  std::mutex mutex;
  std::map<std::uint64_t, AcceptancePtr> saved;
};

/// A service over a small fat tree of 4X HDR links that is swept each 30 s.
class AcceptanceServiceTest : public ::testing::Test {
 protected:
  AcceptanceServiceTest() : fabric(fakes::FabricBuilder::fat_tree(2, 3, 2)) {
    set_log_level("off");
    fabric.set_interval(30s);
    clock.time = fabric.now();
    start_service({}, 1);
    publish();
  }
  ~AcceptanceServiceTest() override { lane.stop(); }
  void start_service(AcceptanceList known, IdSeries ids) {
    service.emplace(
        thresholds, std::move(known), ids, store, lane, publication, clock,
        [this](std::function<void()> job) {
          const std::lock_guard lock(mutex);
          posted.push_back(std::move(job));
        },
        [this] { ++changes; });
  }
  void publish() {
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->taken = clock.time;
    snapshot->incidents = std::make_shared<const std::vector<std::shared_ptr<const Incident>>>();
    if (view.sweep) snapshot->fabrics.push_back(view);
    publication.publish(std::move(snapshot));
  }
  void sweep(int times = 1) {
    for (int i = 0; i < times; ++i) {
      Sweep next = fabric.sweep();
      clock.time = next.finished;
      view.name = next.fabric;
      view.watching = true;
      view.stale_after = 90s;
      view.sweep = std::make_shared<const Sweep>(std::move(next));
      view.places = std::make_shared<const Places>(analyzer::find_places(*view.sweep->topology));
      publish();
      service->take_sweep(view);
      service->tick();
      settle();
    }
  }
  /// The lane has done its work, and the main thread what was posted to it.
  void settle() {
    std::mutex done_mutex;
    std::condition_variable changed;
    bool done = false;
    lane.post([&] {
      const std::lock_guard lock(done_mutex);
      done = true;
      changed.notify_all();
    });
    {
      std::unique_lock lock(done_mutex);
      changed.wait(lock, [&] { return done; });
    }
    std::deque<std::function<void()>> jobs;
    {
      const std::lock_guard lock(mutex);
      jobs.swap(posted);
    }
    for (auto& job : jobs) job();
  }
  static AcceptanceRun wanted(Duration length = 30min) {
    AcceptanceRun run;
    run.length = length;
    run.who = "ann";
    return run;
  }
  Result<AcceptanceRun> started(AcceptanceRun run) {
    Result<AcceptanceRun> answer = fail(ErrorCode::kInternal, "no answer");
    service->start(std::move(run), [&](Result<AcceptanceRun> told) { answer = std::move(told); });
    settle();
    return answer;
  }
  Result<AcceptanceRun> ended(std::uint64_t id) {
    Result<AcceptanceRun> answer = fail(ErrorCode::kInternal, "no answer");
    service->end(id, "bob", [&](Result<AcceptanceRun> told) { answer = std::move(told); });
    settle();
    return answer;
  }
  const AcceptanceRun& shown(std::uint64_t id) {
    for (const AcceptancePtr& run : *service->runs())
      if (run->id == id) return *run;
    ADD_FAILURE() << "no run " << id;
    static const AcceptanceRun none;
    return none;
  }
  AcceptanceVerdict verdict(std::uint64_t id) {
    const auto report = shown(id).report;
    return report ? report->verdict : AcceptanceVerdict::kNotMeasured;
  }

  fakes::FabricBuilder fabric;
  FabricView view;
  analyzer::Thresholds thresholds;
  RunStore store;
  FakeClock clock;
  api::Publication publication;
  runtime::Lane lane{runtime::LaneOptions{
      .name = "store", .capacity = 600, .when_full = runtime::WhenFull::kRefuse, .on_failure = {}}};
  std::mutex mutex;
  std::deque<std::function<void()>> posted;
  int changes = 0;
  std::optional<AcceptanceService> service;
};

TEST_F(AcceptanceServiceTest, ARunPassesWhenItsTimeIsOverAndNotBefore) {
  sweep(2);
  const auto run = started(wanted());
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->id, 1U);
  EXPECT_EQ(run->until, clock.time + 30min);
  EXPECT_EQ(store.all().size(), 1U) << "on disk before it is told";
  sweep(30);
  EXPECT_TRUE(shown(1).runs());
  EXPECT_EQ(verdict(1), AcceptanceVerdict::kNotYet);
  sweep(40);
  EXPECT_FALSE(shown(1).runs());
  EXPECT_EQ(verdict(1), AcceptanceVerdict::kPass);
  EXPECT_TRUE(shown(1).ended_by.empty());
  ASSERT_EQ(store.all().size(), 1U);
  EXPECT_EQ(*store.all().front()->report, *shown(1).report);
  const auto report = shown(1).report;
  sweep(5);
  EXPECT_EQ(shown(1).report, report) << "what is over does not change";
}

TEST_F(AcceptanceServiceTest, OneThatIsEndedBeforeItsTimeIsNoPass) {
  sweep(2);
  ASSERT_TRUE(started(wanted()));
  sweep(5);
  const auto over = ended(1);
  ASSERT_TRUE(over) << over.error().message;
  EXPECT_EQ(over->ended_by, "bob");
  EXPECT_EQ(over->report->verdict, AcceptanceVerdict::kNotYet);
  EXPECT_EQ(ended(1).error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(ended(2).error().code, ErrorCode::kNotFound);
}

TEST_F(AcceptanceServiceTest, AfterARestartReadingsBeginAnewForTheWholeLength) {
  sweep(2);
  ASSERT_TRUE(started(wanted()));
  sweep(50);
  const TimePoint start = shown(1).started;
  service->stop();
  start_service(store.all(), 2);
  EXPECT_TRUE(shown(1).runs());
  sweep(1);
  EXPECT_EQ(shown(1).started, start);
  EXPECT_GT(shown(1).watched_since, start + 20min);
  EXPECT_EQ(shown(1).until, shown(1).watched_since + 30min);
  EXPECT_EQ(store.all().front()->until, shown(1).until);
  sweep(20);
  EXPECT_TRUE(shown(1).runs());
  EXPECT_EQ(verdict(1), AcceptanceVerdict::kNotYet) << "25 min of before do not count";
  sweep(50);
  EXPECT_EQ(verdict(1), AcceptanceVerdict::kPass);
  EXPECT_EQ(started(wanted())->id, 2U);
}

TEST_F(AcceptanceServiceTest, WhatIsKnownNowIsJudgedByWhatWasReadSinceTheStart) {
  sweep(2);
  const auto judged = [&] {
    clock.time += 1s;  // not twice at once
    Result<AcceptanceRun> answer = fail(ErrorCode::kInternal, "no answer");
    service->judge(wanted(0s), [&](Result<AcceptanceRun> told) { answer = std::move(told); });
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? answer->report->verdict : AcceptanceVerdict::kNotMeasured;
  };
  EXPECT_EQ(judged(), AcceptanceVerdict::kNotYet);
  sweep(60);
  EXPECT_EQ(judged(), AcceptanceVerdict::kPass);
  EXPECT_TRUE(service->runs()->empty()) << "nothing is kept of it";
}

TEST_F(AcceptanceServiceTest, WhatDoesNotReachTheDiskDoesNotBegin) {
  sweep(2);
  store.refuses = true;
  EXPECT_FALSE(started(wanted()));
  EXPECT_TRUE(service->runs()->empty());
  store.refuses = false;
  ASSERT_TRUE(started(wanted(1min)));
  sweep(1);
  store.refuses = true;
  sweep(20);
  EXPECT_TRUE(shown(2).runs()) << "its end is not stored";
  store.refuses = false;
  sweep(1);
  EXPECT_FALSE(shown(2).runs());
}

TEST_F(AcceptanceServiceTest, BoundsHold) {
  EXPECT_EQ(started(wanted(0s)).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(started(wanted(std::chrono::hours(31 * 24))).error().code, ErrorCode::kInvalidArgument);
  for (std::size_t i = 0; i < kMostAcceptancesAtOnce; ++i) ASSERT_TRUE(started(wanted()));
  EXPECT_EQ(started(wanted()).error().code, ErrorCode::kResourceExhausted);
  for (std::uint64_t id = 1; id <= kMostAcceptancesAtOnce; ++id) ASSERT_TRUE(ended(id));
  for (std::size_t i = 0; i < kMostAcceptancesKept; ++i) {
    const auto run = started(wanted());
    ASSERT_TRUE(run);
    ASSERT_TRUE(ended(run->id));
  }
  EXPECT_EQ(service->runs()->size(), kMostAcceptancesKept);
  EXPECT_EQ(store.all().size(), kMostAcceptancesKept) << "the oldest are forgotten";
  EXPECT_EQ(service->runs()->front()->id, kMostAcceptancesAtOnce + 1);
}

TEST_F(AcceptanceServiceTest, WhoComesTooLateIsTold) {
  Result<AcceptanceRun> answer = fail(ErrorCode::kInternal, "no answer");
  service->start(wanted(), [&](Result<AcceptanceRun> told) { answer = std::move(told); });
  service->stop();
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(started(wanted()).error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace weft::daemon
