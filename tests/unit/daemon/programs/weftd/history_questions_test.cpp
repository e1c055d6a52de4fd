// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/history_questions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "tests/unit/daemon/programs/weftd/fakes.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

/// What is answered for that time, of a history that is nowhere.
Error ask(TimePoint from, TimePoint to, const FakeClock& clock) {
  HistoryQuestions questions({.state_dir = "/nonexistent/weft"}, 24h, clock);
  std::promise<Error> refused;
  questions.read({.fabric = "ib0", .ports = {{}}, .from = from, .to = to, .step = 1min}, [&](const auto& answer) {
    refused.set_value(answer ? Error{ErrorCode::kInternal, "it was read"} : answer.error());
  });
  Error error = refused.get_future().get();
  questions.stop();
  return error;
}

TEST(HistoryQuestions, RefuseATimeThatIsNotKept) {
  const FakeClock clock;
  const TimePoint now = clock.now();
  for (const auto& [from, to] : {std::pair{now - 48h, now}, {now - 48h, now - 24h}, {now - 24h - 3min, now}}) {
    const Error error = ask(from, to, clock);
    EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(error.message, "port history is kept for 1 d (store.history_retention), and that is longer ago");
  }
  HistoryQuestions questions({.state_dir = "/nonexistent/weft"}, 24h, clock);
  std::optional<Error> refused;
  questions.read_stall({.fabric = "ib0", .from = now - 48h, .to = now, .step = 1h},
                       [&](const auto& answer) { refused = answer.error(); });
  ASSERT_TRUE(refused) << "it is refused at once";
  EXPECT_EQ(refused->code, ErrorCode::kInvalidArgument);
  // What follows is read, and there is nothing to read.
  for (const auto& [from, to] : {std::pair{now - 24h - 1min, now}, {now - 1h, now}, {now - 26h, now - 23h}})
    EXPECT_NE(ask(from, to, clock).code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace weft::daemon
