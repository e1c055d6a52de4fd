// SPDX-License-Identifier: Apache-2.0
// The end of a link that a plan sets is chosen once: it is what is looked at and brought back, wherever weftd runs by
// then and whatever cables it knows.

#include <gmock/gmock.h>

#include "fabric/graph/directed_path.hpp"
#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

struct PlanEnd : Book {
  PlanEnd() { EXPECT_TRUE(book->request(RemedyAction::kIsolateLink, target, "why", "ann", look())); }
  RemedyOrder order() {
    book->review(look());
    const auto all = orders();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? RemedyOrder{} : all.front();
  }
  void tell(TargetState found) {
    book->answer_reading(order().number, TargetReading{found, ""}, fabric.now());
    book->review(look());
  }
  PortKey nearer_end() {
    return find_link_ends(*fabric.topology(), fabric.local_port(), make_link_key(target.port, target.peer))->ours;
  }
  // As when weftd is started anew on a host below the other leaf.
  void move() {
    RemedyMemory memory;
    for (const auto& plan : *book->all()) memory.plans.push_back(*plan);
    fabric.set_local_port(fabric.key_of(fabric.port_of("host-1-0 mlx5_0", 1)));
    book.emplace(settings, memory, fabric.now());
  }
  Entity target = link("leaf-1", "spine-0");
};

TEST(PlanEnd, IsChosenWhenItActsAndKept) {
  PlanEnd b;
  const PortKey chosen = b.nearer_end();
  b.tell(TargetState::kClear);
  const RemedyOrder act = b.order();
  ASSERT_EQ(act.kind, OrderKind::kAct);
  EXPECT_EQ(act.end, chosen);
  b.move();
  ASSERT_NE(b.nearer_end(), chosen);
  EXPECT_EQ(b.order().end, chosen) << "what was begun is read where it was sent";
}

TEST(PlanEnd, IsTheOneThatIsBroughtBack) {
  PlanEnd b;
  const PortKey chosen = b.nearer_end();
  b.tell(TargetState::kClear);
  b.book->answer_action(b.order().number, {}, b.fabric.now());
  b.fabric.unlink(b.fabric.port_towards("leaf-1", "spine-0"));
  b.fabric.route();
  b.tell(TargetState::kOurs);
  for (int i = 0; i < 5; ++i) {
    b.fabric.advance(1s);
    b.book->review(b.look());
  }
  ASSERT_EQ(b.plan(1).state, PlanState::kCommitted) << b.plan(1).outcome;
  b.move();
  EXPECT_EQ(b.order().end, chosen) << "whether it is still in force";
  const auto back = b.book->request(RemedyAction::kRestoreLink, b.target, "", "ann", b.look());
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->end, chosen);
  EXPECT_EQ(b.order().end, chosen);
}

// Two cables change places after the decision.
TEST(PlanEnd, IsNotSetOnceItsCableWasMoved) {
  PlanEnd b;
  const std::uint64_t reading = b.order().number;
  const PortIndex ours = b.fabric.port_towards("leaf-1", "spine-0"),
                  theirs = b.fabric.port_towards("leaf-2", "spine-1");
  const PortIndex spine0 = b.fabric.ports()[ours].peer, spine1 = b.fabric.ports()[theirs].peer;
  b.fabric.connect(ours, spine1);
  b.fabric.connect(theirs, spine0);
  b.fabric.route();
  b.book->answer_reading(reading, TargetReading{TargetState::kClear, ""}, b.fabric.now());
  b.book->review(b.look());
  EXPECT_TRUE(b.orders().empty());
  EXPECT_EQ(b.plan(1).state, PlanState::kExpired);
  EXPECT_THAT(b.plan(1).outcome, testing::HasSubstr("the cabling has changed: "));
  EXPECT_THAT(b.plan(1).outcome, testing::HasSubstr(" is now cabled to "));
}

// Its cable was pulled after the decision. The next one may be training at the moment of the change.
TEST(PlanEnd, IsNotSetWhileALinkThatWasReviewedAsUpIsDown) {
  PlanEnd b;
  const std::uint64_t reading = b.order().number;
  b.fabric.unlink(b.fabric.port_towards("leaf-1", "spine-0"));
  b.fabric.route();
  b.book->answer_reading(reading, TargetReading{TargetState::kClear, ""}, b.fabric.now());
  b.book->review(b.look());
  EXPECT_TRUE(b.orders().empty());
  EXPECT_EQ(b.plan(1).state, PlanState::kExpired);
  EXPECT_THAT(b.plan(1).outcome, testing::HasSubstr("the link went down meanwhile"));
}

TEST(PlanEnd, IsSetWhereAPersonAskedForALinkThatIsDown) {
  PlanEnd b;
  ASSERT_TRUE(b.book->reject(1, "", "ann", b.fabric.now()));
  b.fabric.unlink(b.fabric.port_towards("leaf-1", "spine-0"));
  b.fabric.route();
  const auto plan = b.book->request(RemedyAction::kIsolateLink, b.target, "it flaps", "ann", b.look());
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(b.verdict(*plan, Guard::kFreshData).explanation, testing::HasSubstr("the link is down"));
  b.tell(TargetState::kClear);
  const RemedyOrder act = b.order();
  ASSERT_EQ(act.kind, OrderKind::kAct);
  EXPECT_TRUE(act.down_as_reviewed);
}

// A flapping link that is up in the last sweep, and down when the port is asked.
TEST(PlanEnd, IsJudgedAnewWhereThePortCouldNotBeSeen) {
  PlanEnd b;
  b.tell(TargetState::kClear);
  const RemedyOrder act = b.order();
  ASSERT_EQ(act.kind, OrderKind::kAct);
  EXPECT_FALSE(act.down_as_reviewed);
  const Result<void> unseen = fail(ErrorCode::kNotFound, "it is Down/Polling; nothing was set");
  b.book->answer_action(act.number, unseen, b.fabric.now());
  EXPECT_EQ(b.plan(1).state, PlanState::kExecuting);
  EXPECT_EQ(b.plan(1).started, kNever) << "no budget is spent";
  b.fabric.advance(1s);
  const RemedyOrder again = b.order();
  EXPECT_EQ(again.kind, OrderKind::kAct) << "it is up in the next sweep";
  std::uint64_t number = again.number;
  for (int i = 0; i < 10 && b.plan(1).state == PlanState::kExecuting; ++i) {
    b.book->answer_action(number, unseen, b.fabric.now());
    b.fabric.advance(1s);
    b.book->review(b.look());
    const auto orders = b.orders();
    number = orders.empty() ? 0 : orders.front().number;
  }
  EXPECT_EQ(b.plan(1).state, PlanState::kFailed) << "not for ever";
}

TEST(PlanEnd, AutomationWaitsUntilABadLinkIsUp) {
  Book b(automatic());
  b.errors("leaf-1", "spine-0");
  const PortIndex end = b.fabric.port_towards("leaf-1", "spine-0");
  b.fabric.unlink(end);
  b.fabric.route();
  b.book->review(b.look());
  EXPECT_EQ(b.plan(1).state, PlanState::kProposed);
  EXPECT_EQ(b.verdict(b.plan(1), Guard::kFreshData).result, GuardResult::kRefused);
  b.fabric.relink(end);
  b.fabric.route();
  b.book->review(b.look());
  EXPECT_EQ(b.plan(1).state, PlanState::kExecuting);
  const auto orders = b.orders();
  ASSERT_EQ(orders.size(), 1U);
  b.fabric.unlink(end);
  b.fabric.route();
  b.book->answer_reading(orders.front().number, TargetReading{TargetState::kClear, ""}, b.fabric.now());
  b.book->review(b.look());
  EXPECT_EQ(b.plan(1).state, PlanState::kApproved) << "it went down meanwhile: " << b.plan(1).outcome;
  EXPECT_TRUE(b.orders().empty());
}

// Both ends are up when it is brought back, and with other ports.
TEST(PlanEnd, IsNotBackWhileItIsCabledElsewhere) {
  PlanEnd b;
  b.tell(TargetState::kClear);
  b.book->answer_action(b.order().number, {}, b.fabric.now());
  const PortIndex ours = b.fabric.port_towards("leaf-1", "spine-0"),
                  theirs = b.fabric.port_towards("leaf-2", "spine-1");
  const PortIndex spine0 = b.fabric.ports()[ours].peer, spine1 = b.fabric.ports()[theirs].peer;
  b.fabric.unlink(ours);
  b.fabric.route();
  b.tell(TargetState::kOurs);
  const auto pass = [&](int sweeps) {
    for (int i = 0; i < sweeps; ++i) {
      b.fabric.advance(1s);
      b.book->review(b.look());
    }
  };
  pass(5);
  ASSERT_EQ(b.plan(1).state, PlanState::kCommitted) << b.plan(1).outcome;
  ASSERT_TRUE(b.book->request(RemedyAction::kRestoreLink, b.target, "", "ann", b.look()));
  b.tell(TargetState::kOurs);
  b.book->answer_action(b.order().number, {}, b.fabric.now());
  b.fabric.connect(ours, spine1);
  b.fabric.connect(theirs, spine0);
  b.fabric.route();
  b.tell(TargetState::kClear);
  ASSERT_EQ(b.plan(2).state, PlanState::kVerifying);
  pass(5);
  EXPECT_EQ(b.plan(2).windows_good, 0U);
}

TEST(PlanEnd, IsTheSamePortAfterADiscoveryThatNumbersAnew) {
  PlanEnd b;
  const std::uint64_t reading = b.order().number;
  const PortKey chosen = b.nearer_end();
  const PortIndex before = b.fabric.topology()->find_port(chosen);
  b.fabric.rediscover();
  b.fabric.route();
  ASSERT_NE(b.fabric.topology()->find_port(chosen), before) << "else it shows nothing";
  b.book->answer_reading(reading, TargetReading{TargetState::kClear, ""}, b.fabric.now());
  const RemedyOrder act = b.order();
  ASSERT_EQ(act.kind, OrderKind::kAct);
  EXPECT_TRUE(act.target.same_as(b.target));
  EXPECT_EQ(act.end, chosen);
}

}  // namespace
}  // namespace weft::analyzer
