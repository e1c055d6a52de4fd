// SPDX-License-Identifier: Apache-2.0
// A weftd that lost the lead goes on as a standby, also where the database is away just then.

#include "daemon/programs/weftd/runs.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace weft::daemon {
namespace {

const tl::unexpected<Error> kAway = fail(ErrorCode::kUnavailable, "the database is not reachable");

TEST(Runs, OneThatLostTheLeadIsTriedAgainWhileTheDatabaseIsAway) {
  std::vector<Result<RunEnd>> ends{RunEnd::kLost, kAway, fail(ErrorCode::kTimeout, "no answer"),
                                   RunEnd::kLost, kAway, RunEnd::kStopped};
  std::vector<bool> starts;
  unsigned pauses = 0;
  const auto run = [&](bool is_first) {
    starts.push_back(is_first);
    return ends[starts.size() - 1];
  };
  EXPECT_TRUE(run_until_stopped(run, [&](const Error&) { ++pauses; }));
  EXPECT_EQ(starts, (std::vector<bool>{true, false, false, false, false, false}));
  EXPECT_EQ(pauses, 3U);
}

TEST(Runs, TheFirstIsNotTriedAgain) {
  unsigned runs = 0;
  const auto ended = run_until_stopped(
      [&](bool) -> Result<RunEnd> {
        ++runs;
        return kAway;
      },
      [](const Error&) { FAIL(); });
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "the database is not reachable");
  EXPECT_EQ(runs, 1U);
}

TEST(Runs, WhatDoesNotPassEndsItAndSoDoesADatabaseThatStaysAway) {
  for (const auto& [code, most] : {std::pair{ErrorCode::kFailedPrecondition, 1U}, {ErrorCode::kUnavailable, 61U}}) {
    unsigned runs = 0;
    const auto ended = run_until_stopped(
        [&](bool starts) -> Result<RunEnd> {
          if (starts) return RunEnd::kLost;
          ++runs;
          return fail(code, "no");
        },
        [](const Error&) {});
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code, code);
    EXPECT_EQ(runs, most);
  }
}

}  // namespace
}  // namespace weft::daemon
