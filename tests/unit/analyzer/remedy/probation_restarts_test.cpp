// SPDX-License-Identifier: Apache-2.0
// What becomes of a probation when weftd is started anew.

#include <gtest/gtest.h>

#include "fabric/plan_prospects.hpp"
#include "tests/unit/analyzer/remedy/probation.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

TEST(ProbationTime, BeginsAnewAfterARestartAndThePlanSaysSo) {
  for (const bool is_up : {true, false}) {
    Probation b;
    if (is_up) b.comes_up(5);
    RemedyMemory memory;
    memory.plans = {b.plan(1), b.plan(2)};
    b.book.emplace(b.settings, std::move(memory), b.fabric.now());
    EXPECT_EQ(b.plan(2).steps.back().what, is_up
                                               ? "weftd was restarted, or took over: its probation begins anew"
                                               : "weftd was restarted, or took over: its probation has not begun yet");
    EXPECT_EQ(b.plan(2).steps.back().who, "weftd");
    EXPECT_EQ(b.plan(2).windows_good, 0U) << "nobody looked yet";
    EXPECT_EQ(b.plan(2).was_up, is_up);
    if (!is_up) continue;
    const std::size_t steps = b.plan(2).steps.size();
    b.sweeps(1);
    EXPECT_EQ(b.plan(2).windows_good, 1U);
    EXPECT_EQ(b.plan(2).steps.size(), steps) << "it went on";
    EXPECT_EQ(b.plan(2).state, PlanState::kVerifying);
  }
}

TEST(ProbationTime, WaitsForTheFirstSweepAfterARestart) {
  Probation b;
  b.comes_up(5);
  RemedyMemory memory;
  memory.plans = {b.plan(1), b.plan(2)};
  b.book.emplace(b.settings, std::move(memory), b.fabric.now());
  RemedyView view = b.look();
  view.fabrics = {};
  for (int i = 0; i < 3; ++i) {
    view.now += 1s;
    b.book->review(view);
    EXPECT_EQ(without_advice(b.plan(2).waits_for),
              "for the first sweep of " + b.fabric.name() + " since weftd was restarted, or took over");
    EXPECT_EQ(b.plan(2).windows_good, 0U);
    EXPECT_EQ(b.plan(2).probation_until, kNever);
  }
  b.fabric.advance(3s);
  b.sweeps(1);
  EXPECT_EQ(b.plan(2).waits_for, "");
  EXPECT_EQ(b.plan(2).windows_good, 1U);
  EXPECT_EQ(b.plan(2).probation_until, b.fabric.now() + 29s);
}

TEST(AProbation, OfALinkThatWasUpAndIsDownAfterRestartsFailed) {
  Probation b;
  b.comes_up(5);
  for (int restarts = 0; restarts < 2; ++restarts) {
    RemedyMemory memory;
    memory.plans = {b.plan(1), b.plan(2)};
    b.book.emplace(b.settings, std::move(memory), b.fabric.now());
  }
  b.fabric.unlink(b.end);
  b.fabric.route();
  b.sweeps(1);
  EXPECT_EQ(b.plan(2).state, PlanState::kRollingBack);
  EXPECT_EQ(b.plan(2).outcome, "it failed again: the link went down");
}

}  // namespace
}  // namespace weft::analyzer
