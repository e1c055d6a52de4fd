// SPDX-License-Identifier: Apache-2.0
// The gate opens, and then the actuator is slow: it reads before it acts, and its partner may take its time.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/daemon/programs/weftd/remedy_fixture.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class LateActsTest : public RemedyControllerTest {
 protected:
  std::vector<RemedyOrder> acts() const {
    std::vector<RemedyOrder> all;
    for (const FakeWorld::Asked& asked : world.asked())
      if (asked.is_action) all.push_back(asked.order);
    return all;
  }
};

TEST_F(LateActsTest, NothingIsSentTenSecondsAfterTheGuardsLooked) {
  const Duration before = runtime::boot_time();
  start_with_plan(RemedyMode::kAuto);
  settle();
  ASSERT_EQ(acts().size(), 1U);
  const auto last = actuate::last_moment(acts().front());
  ASSERT_TRUE(last);
  EXPECT_GE(*last, before + kLongestDecision);
  EXPECT_LE(*last, runtime::boot_time() + kLongestDecision) << "the lease holds for an hour";
}

TEST_F(LateActsTest, NothingIsSentAfterTheLeaseThatEndsBeforeThat) {
  lease_left_ms = 5000;
  start_with_plan(RemedyMode::kAuto);
  settle();
  ASSERT_EQ(acts().size(), 1U);
  EXPECT_EQ(actuate::last_moment(acts().front()), acts().front().permit->until);
}

TEST_F(LateActsTest, WhatTheGuardsSawTooLongAgoIsJudgedAnew) {
  is_confirmed.emplace(true);
  confirming_takes = kLongestDecision;
  start_with_plan(RemedyMode::kAuto);
  settle([this] { return !acts().empty(); });
  confirming_takes = {};
  look();  // sweeps went on meanwhile
  settle();
  look();
  settle();
  std::string story;
  for (const PlanStep& step : journal.plan(1).steps) story += step.what + '\n';
  EXPECT_THAT(story, HasSubstr("held before it was sent: the time to send it is over"));
  EXPECT_EQ(acts().size(), 2U);
  EXPECT_EQ(journal.plan(1).state, PlanState::kVerifying) << story;
}

TEST_F(LateActsTest, AnActuatorThatIsAlwaysTooSlowEndsThePlan) {
  is_confirmed.emplace(true);
  confirming_takes = kLongestDecision;
  start_with_plan(RemedyMode::kAuto);
  for (int round = 0; round < 10; ++round) {
    settle([this, before = acts().size()] { return acts().size() > before; });
    look();  // sweeps went on meanwhile
  }
  settle();
  EXPECT_EQ(acts().size(), settings.limits.readings);
  EXPECT_EQ(journal.plan(1).state, PlanState::kFailed);
  EXPECT_THAT(journal.plan(1).outcome, HasSubstr("nothing was changed: fake was too slow 5 times"));
  EXPECT_EQ(journal.plan(1).started, kNever) << "it costs no budget";
}

}  // namespace
}  // namespace weft::daemon
