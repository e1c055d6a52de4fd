// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/act_gate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

RemedyOrder order_to(RemedyAction action, std::uint64_t number = 1) {
  RemedyOrder order;
  order.number = number;
  order.plan = 7;
  order.kind = OrderKind::kAct;
  order.action = action;
  order.target.label = "leaf-0 - spine-0";
  order.decided = 100s;
  return order;
}

TEST(ActGate, LetsNothingStartBeforeItIsTold) {
  ActGate gate;
  gate.admit(1);
  EXPECT_TRUE(gate.start(order_to(RemedyAction::kRestoreLink), 100s, kNever));
  EXPECT_TRUE(gate.under_way().empty());
}

TEST(ActGate, TellsWhatIsUnderWayUntilItEnds) {
  ActGate gate;
  gate.stop({});
  gate.admit(1);
  const TimePoint now{5h};
  EXPECT_EQ(gate.start(order_to(RemedyAction::kDrainNode), 105s, now), std::nullopt);
  gate.stop({"all automation is stopped: ann", {}});
  const OrderUnderWay expected{7, RemedyAction::kDrainNode, "leaf-0 - spine-0", now};
  EXPECT_THAT(gate.under_way(), ::testing::ElementsAre(expected));
  gate.keep([](std::uint64_t) { return false; });
  EXPECT_EQ(gate.under_way().size(), 1U) << "it has begun, wanted or not";
  gate.finish(1);
  EXPECT_TRUE(gate.under_way().empty());
}

TEST(ActGate, StopsWhatWaits) {
  ActGate gate;
  gate.admit(1);
  gate.stop({"all automation is stopped: ann", {}});
  EXPECT_EQ(gate.start(order_to(RemedyAction::kDrainNode), 100s, kNever), "all automation is stopped: ann");
  gate.stop({});
  EXPECT_THAT(gate.start(order_to(RemedyAction::kDrainNode), 100s, kNever).value(), HasSubstr("ended or changed"))
      << "what was held once needs a new order";
}

TEST(ActGate, TheBreakerStopsWhatItIsToStop) {
  ActGate gate;
  gate.stop({{}, "the circuit breaker is tripped"});
  for (const std::uint64_t number : {1, 2}) gate.admit(number);
  RemedyOrder stopped = order_to(RemedyAction::kRestoreLink, 1);
  stopped.breaker_stops = true;
  EXPECT_EQ(gate.start(stopped, 100s, kNever), "the circuit breaker is tripped");
  EXPECT_FALSE(gate.start(order_to(RemedyAction::kIsolateLink, 2), 100s, kNever)) << "whoever made the order knows";
}

TEST(ActGate, StopsWhatWasDecidedTooLongAgo) {
  ActGate gate;
  gate.stop({});
  for (const std::uint64_t number : {1, 2, 3}) gate.admit(number);
  EXPECT_FALSE(gate.start(order_to(RemedyAction::kIsolateLink, 1), 110s, kNever));
  EXPECT_THAT(gate.start(order_to(RemedyAction::kIsolateLink, 2), 111s, kNever).value(), HasSubstr("11 s ago"));
  RemedyOrder back = order_to(RemedyAction::kRestoreLink, 3);
  back.decided.reset();
  EXPECT_FALSE(gate.start(back, 999s, kNever)) << "no guard was asked";
}

TEST(ActGate, StopsWhatItsPlanDoesNotWantAnyMore) {
  ActGate gate;
  gate.stop({});
  gate.admit(1);
  gate.admit(2);
  gate.keep([](std::uint64_t order) { return order == 2; });
  EXPECT_TRUE(gate.start(order_to(RemedyAction::kIsolateLink, 1), 100s, kNever));
  EXPECT_FALSE(gate.start(order_to(RemedyAction::kIsolateLink, 2), 100s, kNever));
}

// Whoever was told of what is under way, after the stop, was told of all that is ever sent.
TEST(ActGate, NothingStartsBetweenTheStopAndItsReport) {
  for (int round = 0; round < 200; ++round) {
    ActGate gate;
    gate.stop({});
    constexpr std::uint64_t kOrders = 20;
    for (std::uint64_t number = 1; number <= kOrders; ++number) gate.admit(number);
    std::atomic<std::uint64_t> started = 0;
    std::thread lane([&] {
      for (std::uint64_t number = 1; number <= kOrders; ++number)
        if (!gate.start(order_to(RemedyAction::kIsolateLink, number), 100s, kNever)) ++started;
    });
    gate.stop({"stopped", {}});
    const std::size_t reported = gate.under_way().size();
    lane.join();
    ASSERT_EQ(started, reported);
  }
}

}  // namespace
}  // namespace weft::daemon
