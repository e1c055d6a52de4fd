// SPDX-License-Identifier: Apache-2.0
// After a restart nobody knows the way to a link's ports before the first sweep of its fabric.

#include <gtest/gtest.h>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

/// PLAN-1 isolates a link, and its change was sent when weftd was killed.
struct Killed : Book {
  explicit Killed(const std::string& actuator = "infiniband_port", PlanState state = PlanState::kExecuting) {
    RemedyMemory memory;
    Plan& plan = memory.plans.emplace_back();
    plan.id = 1;
    plan.state = state;
    plan.target = link("leaf-1", "spine-0");
    plan.actuator = actuator;
    plan.requested_by = plan.approved_by = "ann";
    plan.intent = is_over(state) ? PlanIntent::kNone : PlanIntent::kApply;
    plan.in_force = is_over(state);
    plan.started = fabric.now();
    plan.finished = is_over(state) ? fabric.now() : kNever;
    plan.expires = fabric.now() + 1h;
    settings.sweepless = {"webhook"};
    book.emplace(settings, std::move(memory), fabric.now());
  }
  /// `is_known`: it is watched already.
  RemedyView unswept(bool is_known = true) {
    RemedyView view = look();
    views[0].sweep = nullptr;
    if (!is_known) views.clear();
    view.fabrics = views;
    return view;
  }
  std::size_t asked() {
    const auto batch = book->drain_changes(fabric.now());
    return batch.orders.size();
  }
};

TEST(FirstSweep, IsAwaitedAndThenThePlanIsReadAtOnce) {
  Killed b;
  for (int i = 0; i < 30; ++i) {
    b.book->review(b.unswept(i > 15));
    EXPECT_EQ(b.asked(), 0U) << "it could only fail";
    b.fabric.advance(1s);
  }
  EXPECT_EQ(b.plan(1).state, PlanState::kExecuting);
  EXPECT_EQ(b.plan(1).waits_for, "for the first sweep of " + b.fabric.name() +
                                     " since weftd was restarted, or took over: the state of the link cannot be read "
                                     "before");
  EXPECT_EQ(
      with_progress(std::make_shared<const std::vector<PlanPtr>>(std::vector<PlanPtr>{std::make_shared<const Plan>([&] {
                      Plan stored = b.plan(1);
                      stored.waits_for.clear();
                      return stored;
                    }())}),
                    *b.book)
          ->front()
          ->waits_for,
      b.plan(1).waits_for)
      << "people see it";
  EXPECT_EQ(b.plan(1).steps.size(), 1U) << "the journal need not";
  b.book->review(b.look());
  EXPECT_EQ(b.plan(1).waits_for, "");
  EXPECT_EQ(b.asked(), 1U);
}

TEST(FirstSweep, IsAwaitedAsLongWhereTheClockIsSet) {
  Killed b;
  const auto restart = [&b] {
    RemedyMemory memory;
    memory.plans = {b.plan(1)};
    b.book.emplace(b.settings, std::move(memory), b.fabric.now(), *b.look().steady);
  };
  const auto pass = [&b](int seconds) {
    std::size_t asked = 0;
    for (int i = 0; i < seconds; ++i) {
      b.book->review(b.unswept());
      for (const RemedyOrder& order : b.orders()) {
        ++asked;
        b.book->answer_reading(order.number, fail(ErrorCode::kInvalidArgument, "no sweep"), b.fabric.now());
      }
      b.fabric.advance(1s);
    }
    return asked;
  };
  restart();
  pass(5);
  b.set_forward += 2h;  // as by NTP after the machine was started
  b.fabric.advance(2h);
  EXPECT_EQ(pass(60), 0U);
  EXPECT_NE(b.plan(1).waits_for, "");
  EXPECT_GT(pass(300), 0U) << "not for ever";
  b.set_forward -= 100s;
  b.fabric.advance(-100s);
  pass(3);
  EXPECT_EQ(b.plan(1).waits_for.find("first sweep"), std::string::npos) << "weftd was not restarted";
}

TEST(FirstSweep, IsNotNeededByAWebhook) {
  Killed webhook("webhook");
  webhook.book->review(webhook.unswept());
  EXPECT_EQ(webhook.asked(), 1U);
  EXPECT_EQ(webhook.plan(1).waits_for, "");
}

TEST(FirstSweep, IsNotAwaitedForEverAndEndsEveryDelay) {
  Killed b;
  const TimePoint begun = b.fabric.now();
  unsigned failures = 0;
  const auto fail_readings = [&] {
    b.book->review(b.unswept(false));
    for (const RemedyOrder& order : b.orders()) {
      ++failures;
      b.book->answer_reading(order.number, fail(ErrorCode::kInvalidArgument, "it was not swept yet"), b.fabric.now());
    }
    b.fabric.advance(1s);
  };
  while (failures < 6) fail_readings();
  EXPECT_GE(b.fabric.now() - begun, b.settings.limits.verification.within);
  EXPECT_EQ(b.plan(1).waits_for,
            "its state cannot be read: it was not swept yet; the next try is 64 s after the last one");
  EXPECT_EQ(b.plan(1).state, PlanState::kExecuting);
  b.book->review(b.look());
  EXPECT_EQ(b.asked(), 1U) << "at once, and not after the delay of six failures";
}

TEST(FirstSweep, IsAwaitedByWhatIsHeldToo) {
  Killed b("infiniband_port", PlanState::kCommitted);
  b.book->review(b.unswept());
  EXPECT_EQ(b.asked(), 0U);
  b.book->review(b.look());
  EXPECT_EQ(b.asked(), 1U);
}

}  // namespace
}  // namespace weft::analyzer
