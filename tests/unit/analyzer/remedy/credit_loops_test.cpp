// SPDX-License-Identifier: Apache-2.0
// What the guards take for granted of routes, and what becomes of a plan when the subnet manager lays others.

#include <gtest/gtest.h>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

struct Routed : Book {
  Routed() : Book(automatic()) {
    settings.limits.verification.windows = 6;
    book.emplace(settings, RemedyMemory{}, fabric.now());
  }
  void send(const std::string& at, const std::string& to, const std::string& through) {
    fabric.send(fabric.find(at), fabric.lid_of(to), fabric.ports()[fabric.port_towards(at, through)].number);
  }
  // What is for host-1-0 goes down to leaf-2 and up again.
  void turn() {
    send("leaf-0", "host-1-0 mlx5_0", "spine-3");
    send("spine-3", "host-1-0 mlx5_0", "leaf-2");
    send("leaf-2", "host-1-0 mlx5_0", "spine-4");
  }
  // Everything that is ordered is done, and routes leave the link; then `more` happens, with every sweep.
  template <typename More>
  void run(unsigned sweeps, More more) {
    for (unsigned i = 0; i < sweeps; ++i) {
      fabric.advance(1s);
      const RemedyView view = look();
      for (int round = 0; round < 4; ++round) {
        book->review(view);
        for (const RemedyOrder& order : orders()) {
          const PortIndex end = fabric.topology()->find_port(order.target.port);
          const bool out = takes_out(order.action);
          if (order.kind == OrderKind::kRead) {
            book->answer_reading(order.number, TargetReading{state, ""}, fabric.now());
            continue;
          }
          state = out ? TargetState::kOurs : TargetState::kClear;
          book->answer_action(order.number, {}, fabric.now());
          out ? fabric.unlink(end) : fabric.relink(end);
          fabric.route();
          more();
        }
      }
    }
  }
  TargetState state = TargetState::kClear;
};

TEST(CreditLoops, TheGuardSaysWhatItTakesForGranted) {
  Routed b;
  b.errors("leaf-0", "spine-0");
  b.book->review(b.look());
  const GuardVerdict verdict = b.verdict(b.plan(1), Guard::kReachability);
  EXPECT_EQ(verdict.result, GuardResult::kPassed);
  EXPECT_NE(verdict.explanation.find("as now for 4 of 4 checked destinations"), std::string::npos)
      << verdict.explanation;
}

TEST(CreditLoops, NothingIsTakenOutWhereRoutesTurnFromDownToUp) {
  Routed b;
  b.turn();
  const auto asked =
      b.book->request(RemedyAction::kIsolateLink, b.link("leaf-3", "spine-0"), "looks bad", "ann", b.look());
  ASSERT_FALSE(asked);
  EXPECT_TRUE(
      asked.error().message.starts_with("REACHABILITY: routes turn from down to up at leaf-2 on the path to LID"))
      << asked.error().message;
}

TEST(CreditLoops, RoutesThatBeginToTurnAreRolledBack) {
  Routed b;
  b.errors("leaf-0", "spine-0");
  b.run(12, [&] { b.turn(); });
  EXPECT_EQ(b.plan(1).state, PlanState::kRolledBack) << b.plan(1).outcome;
  EXPECT_EQ(b.plan(1).outcome, "routes then turned from down to up at leaf-2");
}

TEST(CreditLoops, SoIsWhatMakesAdaptersLoseEachOther) {
  Routed b;
  b.errors("leaf-0", "spine-0");
  b.run(12, [&] { b.fabric.send(b.fabric.find("leaf-3"), b.fabric.lid_of("host-1-0 mlx5_0"), kNoEgress); });
  EXPECT_EQ(b.plan(1).state, PlanState::kRolledBack) << b.plan(1).outcome;
  EXPECT_EQ(b.plan(1).outcome, "1 pair of adapters lost their path, to host-1-0 mlx5_0");
}

TEST(CreditLoops, OtherwiseItIsCommitted) {
  Routed b;
  b.errors("leaf-0", "spine-0");
  b.run(12, [] {});
  EXPECT_EQ(b.plan(1).state, PlanState::kCommitted) << b.plan(1).outcome;
}

}  // namespace
}  // namespace weft::analyzer
