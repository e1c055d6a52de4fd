#include "daemon/programs/weftd/command_forwarders.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <thread>

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

TEST(MainThreadExecutor, CallsOnTheMainThreadAndAnswers) {
  boost::asio::io_context main;
  MainThreadExecutor executor(main);
  Counter counter;
  std::optional<Result<int>> answer;
  const Counter::Callback note = [&answer](Result<int> result) { answer = std::move(result); };
  std::thread([&] { executor.call(counter, &Counter::add, note, 2, std::string("a server asks")); }).join();
  EXPECT_EQ(counter.total, 0) << "the main thread has not run";
  main.run();
  EXPECT_EQ(counter.total, 2);
  EXPECT_EQ(counter.reason, "a server asks");
  EXPECT_EQ(counter.thread, std::this_thread::get_id());
  ASSERT_TRUE(answer);
  EXPECT_EQ(**answer, 2);
}

TEST(MainThreadExecutor, AnswersAtOnceWhenItIsClosed) {
  boost::asio::io_context main;
  MainThreadExecutor executor(main);
  Counter counter;
  std::optional<Result<int>> answer;
  executor.close();
  executor.call(counter, &Counter::add,
                Counter::Callback([&answer](Result<int> result) { answer = std::move(result); }), 2, std::string());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(main.run(), 0U) << "nothing was posted";
  EXPECT_EQ(counter.total, 0);
}

}  // namespace
}  // namespace weft::daemon
