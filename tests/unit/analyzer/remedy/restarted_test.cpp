// SPDX-License-Identifier: Apache-2.0
// Plans that weftd goes on with after a restart or a takeover.

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

/// A link between leaf-1 and spine-0 that is on its probation, PLAN-2, for 20 sweeps.
struct OnProbation : Book {
  OnProbation() {
    settings.limits.verification.probation = 30s;
    Plan& out = memory.plans.emplace_back();
    out.id = 1;
    out.state = PlanState::kCommitted;
    out.target = link("leaf-1", "spine-0");
    out.started = out.finished = fabric.now() - 2h;
    Plan back = out;
    back.id = 2;
    back.undoes = 1;
    back.action = RemedyAction::kRestoreLink;
    back.state = PlanState::kVerifying;
    back.intent = PlanIntent::kApply;
    back.requested_by = back.approved_by = "ann";
    back.started = fabric.now() - 1min;
    back.finished = kNever;
    back.expires = fabric.now() + 1h;
    back.windows_good = 20;
    back.actuator = "fake";
    memory.plans.push_back(std::move(back));
  }
  void restart() {
    RemedyMemory copy;
    copy.plans = memory.plans;
    book.emplace(settings, std::move(copy), fabric.now(), fabric.now().time_since_epoch());
  }
  void power(bool is_on, bool with_target) {
    for (int leaf = 0; leaf < 4; ++leaf) {
      const PortIndex port = fabric.port_towards("leaf-" + std::to_string(leaf), "spine-0");
      if (!is_on)
        fabric.unlink(port);
      else if (with_target || leaf != 1)
        fabric.relink(port);
    }
    fabric.route();
  }
  RemedyMemory memory;
};

TEST(Restarted, ALinkWhoseSwitchIsDownMayTrainAfterIt) {
  OnProbation b;
  b.power(false, true);
  b.restart();
  b.book->review(b.look());
  b.power(true, false);
  b.book->review(b.look());
  EXPECT_EQ(b.plan(2).state, PlanState::kVerifying) << b.plan(2).outcome;
  b.power(true, true);
  for (int i = 0; i < 40; ++i) b.book->review(b.look());
  EXPECT_EQ(b.plan(2).state, PlanState::kCommitted) << b.plan(2).outcome;
}

TEST(Restarted, ALinkWhoseSwitchNoSweepHasFoundWaitsForIt) {
  OnProbation b;
  b.restart();
  fakes::FabricBuilder whole = fakes::FabricBuilder::fat_tree(8, 4, 1);
  whole.route();
  b.power(false, true);
  b.fabric.silence(b.fabric.find("spine-0"));
  b.fabric.rediscover();
  b.fabric.route();
  for (int i = 0; i < 20; ++i) b.book->review(b.look());
  EXPECT_EQ(b.plan(2).state, PlanState::kVerifying);
  EXPECT_NE(b.plan(2).waits_for.find("no sweep has found spine-0 (0x"), std::string::npos) << b.plan(2).waits_for;
  whole.advance(b.fabric.now() - whole.now());
  b.fabric = std::move(whole);
  b.fabric.unlink(b.fabric.port_towards("leaf-1", "spine-0"));
  b.fabric.route();
  b.book->review(b.look());
  EXPECT_EQ(b.plan(2).state, PlanState::kVerifying) << b.plan(2).outcome;
}

/// PLAN-1, by ann, which has isolated the link of leaf-0 and spine-0 and verifies that.
Plan being_verified(const Book& b) {
  Plan plan;
  plan.id = 1;
  plan.action = RemedyAction::kIsolateLink;
  plan.state = PlanState::kVerifying;
  plan.intent = PlanIntent::kApply;
  plan.in_force = true;
  plan.requested_by = plan.approved_by = "ann";
  plan.target = b.link("leaf-0", "spine-0");
  plan.started = b.fabric.now();
  plan.expires = b.fabric.now() + 1h;
  plan.actuator = "fake";
  return plan;
}

// A weftd that stood by has such a sweep. What landed late since then was read by the leader, and is read once more
// now: that reading may fall into the change.
TEST(Restarted, ASweepOfBeforeATakeoverIsNoSightOfALinkThatIsOut) {
  Book b;
  RemedyMemory memory;
  Plan& out = memory.plans.emplace_back(being_verified(b));
  out.state = PlanState::kCommitted;
  out.finished = b.fabric.now() - 1min;
  RemedyView before = b.look();
  b.fabric.advance(5min);
  b.book.emplace(b.settings, std::move(memory), b.fabric.now(), b.fabric.now().time_since_epoch());
  before.now = b.fabric.now();
  before.steady = b.fabric.now().time_since_epoch();
  b.book->review(before);
  EXPECT_EQ(b.answer(TargetState::kClear), 1U);
  EXPECT_TRUE(b.plan(1).in_force) << "one sight is none";
  b.fabric.unlink(b.fabric.port_towards("leaf-0", "spine-0"));
  for (int i = 0; i < 5; ++i) b.sweep(), b.answer(TargetState::kOurs);
  EXPECT_TRUE(b.plan(1).in_force);
}

// What is stored by the way are good sweeps; bad ones that came after them are not stored.
TEST(Restarted, AnIsolationNeedsAllItsGoodSweepsAnew) {
  Book b;
  b.settings.limits.verification.windows = 10;
  RemedyMemory memory;
  Plan& plan = memory.plans.emplace_back(being_verified(b));
  plan.started -= 1min;
  plan.windows_good = 9;
  b.fabric.unlink(b.fabric.port_towards("leaf-0", "spine-0"));
  b.fabric.route();
  b.book.emplace(b.settings, std::move(memory), b.fabric.now(), b.fabric.now().time_since_epoch());
  for (int i = 0; i < 3; ++i) b.book->review(b.look());
  EXPECT_EQ(b.plan(1).state, PlanState::kVerifying) << b.plan(1).outcome;
  EXPECT_LE(b.plan(1).windows_good, 3U);
}

// Restarts that come sooner than a verification may take must not keep it for ever.
TEST(Restarted, AnIsolationThatDoesNotHelpIsUndoneForAllRestarts) {
  Book b;
  b.settings.limits.verification.within = 60s;
  b.settings.limits.verification.windows = 10;
  Plan plan = being_verified(b);
  b.fabric.port(b.fabric.port_towards("leaf-0", "spine-0")).physical_state = PortPhysicalState::kPolling;
  const auto run = [&](int restarts) {
    for (int i = 0; i < restarts; ++i) {
      RemedyMemory memory;
      memory.ids = 2;
      memory.plans = {plan};
      b.book.emplace(b.settings, std::move(memory), b.fabric.now(), b.fabric.now().time_since_epoch());
      for (int sweep = 0; sweep < 20; ++sweep) b.sweep();  // 40 s
      plan = b.plan(1);
    }
  };
  run(4);
  EXPECT_EQ(plan.state, PlanState::kVerifying) << plan.outcome;
  run(1);
  EXPECT_EQ(plan.state, PlanState::kRollingBack) << plan.waits_for;
  EXPECT_NE(plan.outcome.find("it did not help: "), std::string::npos) << plan.outcome;
}

TEST(Restarted, APlanThatIsAboutToActWaitsForWhatOthersTookOut) {
  for (const bool by_person : {false, true}) {
    Book b(by_person ? proposing() : automatic());
    b.errors("leaf-0", "spine-0");
    b.book->set_avoided_ports("ufm", {{}, *b.look().steady});
    b.sweep();
    if (by_person) {
      ASSERT_TRUE(b.book->approve(1, 0, "ann", b.look()));
    }
    b.sweep();
    RemedyMemory memory;
    memory.ids = 2;
    memory.plans = {b.plan(1)};
    b.book.emplace(b.settings, std::move(memory), b.fabric.now(), *b.look().steady);
    b.book->set_avoided_ports("ufm", {});
    int acts = 0;
    const auto sweeps = [&](int count) {
      for (int i = 0; i < count; ++i) {
        b.sweep();
        for (const RemedyOrder& order : b.orders())
          if (order.kind == OrderKind::kRead)
            b.book->answer_reading(order.number, TargetReading{TargetState::kClear, ""}, b.fabric.now());
          else
            ++acts;
      }
    };
    sweeps(6);
    EXPECT_EQ(acts, 0);
    EXPECT_EQ(b.plan(1).state, PlanState::kExecuting) << b.plan(1).outcome;
    EXPECT_EQ(b.plan(1).waits_for, "ufm has not told yet which links are avoided");
    b.book->set_avoided_ports("ufm", {{}, *b.look().steady});
    sweeps(4);
    EXPECT_EQ(acts, 1) << b.plan(1).outcome;
  }
}

}  // namespace
}  // namespace weft::analyzer
