// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/runtime/lane.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <future>
#include <stdexcept>
#include <string>

namespace weft::runtime {
namespace {

TEST(Lane, RunsJobsInOrderAndStopFinishesWhatIsQueued) {
  std::string order;
  {
    Lane lane({.name = "test", .capacity = 8});
    for (const char c : std::string("abcdef")) EXPECT_TRUE(lane.post([&order, c] { order += c; }));
    lane.stop();
    EXPECT_FALSE(lane.post([&order] { order += '!'; }));
    EXPECT_EQ(lane.figures().done, 6U);
  }
  EXPECT_EQ(order, "abcdef");
}

TEST(Lane, TheThreadBearsItsNameAndBlocksSignals) {
  Lane lane({.name = "a-name-longer-than-the-kernel-keeps"});
  std::promise<std::pair<std::string, bool>> seen;
  lane.post([&] {
    char name[32] = {};
    pthread_getname_np(pthread_self(), name, sizeof name);
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    seen.set_value({name, sigismember(&mask, SIGTERM) == 1});
  });
  const auto [name, blocked] = seen.get_future().get();
  EXPECT_EQ(name, "a-name-longer-t");
  EXPECT_TRUE(blocked);
  sigset_t ours;
  pthread_sigmask(SIG_SETMASK, nullptr, &ours);
  EXPECT_EQ(sigismember(&ours, SIGTERM), 0);
}

TEST(Lane, RefusesWhenFullAndCounts) {
  Lane lane({.name = "test", .capacity = 1, .when_full = WhenFull::kRefuse});
  std::promise<void> begun;
  std::promise<void> go;
  lane.post([&] {
    begun.set_value();
    go.get_future().wait();
  });
  begun.get_future().wait();
  EXPECT_TRUE(lane.post([] {}));
  EXPECT_FALSE(lane.post([] {}));
  EXPECT_GT(lane.figures().running.count(), 0);
  EXPECT_EQ(lane.figures().queue.depth, 1U);
  EXPECT_EQ(lane.figures().queue.refused, 1U);
  go.set_value();
  lane.stop();
  EXPECT_EQ(lane.figures().done, 2U);
  EXPECT_GT(lane.figures().busy.count(), 0);
  EXPECT_EQ(lane.figures().running.count(), 0);
}

TEST(Lane, AJobThatThrowsIsCountedAndToldAndTheLaneGoesOn) {
  std::string told;
  bool went_on = false;
  Lane lane({.name = "test", .on_failure = [&](const std::string& what) { told = what; }});
  lane.post([] { throw std::runtime_error("broken"); });
  lane.post([&] { went_on = true; });
  lane.stop();
  EXPECT_EQ(told, "broken");
  EXPECT_TRUE(went_on);
  EXPECT_EQ(lane.figures().failed, 1U);
  EXPECT_EQ(lane.figures().done, 2U);
}

}  // namespace
}  // namespace weft::runtime
