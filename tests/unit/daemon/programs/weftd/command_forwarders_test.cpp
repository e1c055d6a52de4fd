// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/command_forwarders.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace weft::daemon {
namespace {

/// Something that the main thread owns.
struct Counter {
  using Callback = std::function<void(Result<int>)>;
  void add(int number, const std::string& why, Callback callback) {
    total += number;
    reason = why;
    thread = std::this_thread::get_id();
    callback(total);
  }
  int total = 0;
  std::string reason;
  std::thread::id thread;
};

class MainThreadExecutorTest : public ::testing::Test {
 protected:
  Counter::Callback note() {
    return [this](Result<int> result) { answers.push_back(std::move(result)); };
  }

  std::vector<std::function<void()>> posted;
  Counter counter;
  std::vector<Result<int>> answers;
  MainThreadExecutor executor{[this](std::function<void()> job) { posted.push_back(std::move(job)); }};
};

TEST_F(MainThreadExecutorTest, CallsOnTheMainThreadAndAnswers) {
  std::thread([&] {
    executor.call(CommandKind::kChange, counter, &Counter::add, note(), 2, std::string("a server asks"));
  }).join();
  EXPECT_EQ(counter.total, 0) << "the main thread has not run";
  ASSERT_EQ(posted.size(), 1U);
  posted.front()();
  EXPECT_EQ(counter.total, 2);
  EXPECT_EQ(counter.reason, "a server asks");
  EXPECT_EQ(counter.thread, std::this_thread::get_id());
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(*answers[0], 2);
}

TEST_F(MainThreadExecutorTest, ACommandThatIsRefusedIsNotCalled) {
  MainThreadExecutor refusing{[](const std::function<void()>& job) { job(); },
                              [](CommandKind kind) {
                                return kind == CommandKind::kRead
                                           ? std::nullopt
                                           : std::optional<Error>({ErrorCode::kUnavailable, "standby: ask b"});
                              }};
  refusing.call(CommandKind::kChange, counter, &Counter::add, note(), 2, std::string());
  EXPECT_EQ(counter.total, 0);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].error().message, "standby: ask b");
  refusing.call(CommandKind::kRead, counter, &Counter::add, note(), 2, std::string());
  EXPECT_EQ(counter.total, 2);
}

TEST_F(MainThreadExecutorTest, AnswersAtOnceWhenItIsClosed) {
  executor.close();
  executor.call(CommandKind::kChange, counter, &Counter::add, note(), 2, std::string());
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(posted.empty());
  EXPECT_EQ(counter.total, 0);
}

}  // namespace
}  // namespace weft::daemon
