// SPDX-License-Identifier: Apache-2.0
// Pairs of adapters that a plan costs their path, while hosts come and go.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// Sweeps of two seconds in which routes that stay are seen to be laid, and then to be worse.
constexpr unsigned kLong = 12;

// A plan for leaf-0 - spine-0, up to its end.
struct Verified : Book {
  Verified() : Book(fakes::FabricBuilder::fat_tree(8, 4, 4), automatic()) {
    settings.limits.verification.windows = 6;
    book.emplace(settings, RemedyMemory{}, fabric.now());
    errors("leaf-0", "spine-0");
  }
  // leaf-3 sends nothing to the hosts of leaf-1 any more: 16 pairs.
  void lose() {
    for (int host = 0; host < 4; ++host)
      fabric.send(fabric.find("leaf-3"), fabric.lid_of("host-1-" + std::to_string(host) + " mlx5_0"), kNoEgress);
  }
  void leave(const std::string& name) {
    fabric.power_off(fabric.find(name));
    fabric.rediscover();
    fabric.route();
  }
  void leave_once(const std::string& name) {
    if (!std::exchange(left, true)) leave(name);
  }
  bool is_undone() const { return plan(1).state == PlanState::kRollingBack || plan(1).state == PlanState::kRolledBack; }
  // What is ordered is done, the subnet is discovered anew, and then `more` happens to its routes.
  void run(unsigned sweeps, const std::function<void()>& more) {
    for (unsigned i = 0; i < sweeps; ++i) {
      fabric.advance(1s);
      const RemedyView view = look();
      for (int round = 0; round < 4; ++round) {
        book->review(view);
        for (const RemedyOrder& order : orders()) {
          if (order.kind == OrderKind::kRead) {
            book->answer_reading(order.number, TargetReading{state, ""}, fabric.now());
            continue;
          }
          const bool out = takes_out(order.action);
          state = out ? TargetState::kOurs : TargetState::kClear;
          const PortIndex end = fabric.topology()->find_port(order.target.port);
          if (out)
            fabric.unlink(end);
          else if (fabric.ports()[end].peer != kNoIndex)  // else the discovery forgot the cable
            fabric.relink(end);
          book->answer_action(order.number, {}, fabric.now());
          fabric.route();
          more();
        }
      }
    }
  }
  TargetState state = TargetState::kClear;
  bool left = false;
};

TEST(LostPairs, AreRolledBack) {
  Verified v;
  v.run(kLong, [&] { v.lose(); });
  EXPECT_EQ(v.plan(1).state, PlanState::kRolledBack);
  EXPECT_EQ(
      v.plan(1).outcome,
      "16 pairs of adapters lost their path, to host-1-0 mlx5_0, host-1-1 mlx5_0, host-1-2 mlx5_0, host-1-3 mlx5_0");
}

// It lays them switch by switch, and each sweep sees a few more.
TEST(LostPairs, AreAwaitedWhileTheManagerLaysRoutes) {
  Verified v;
  v.run(2, [&] { v.lose(); });
  for (int i = 0; i < 20; ++i) {
    const Lid other = v.fabric.lid_of("host-2-" + std::to_string(i % 4) + " mlx5_0");
    v.fabric.send(v.fabric.find("spine-1"), other, i % 8 < 4 ? kNoEgress : PortNum{3});
    v.run(1, [] {});
  }
  EXPECT_EQ(v.plan(1).state, PlanState::kVerifying) << v.plan(1).outcome;
  v.fabric.route();
  v.run(8, [] {});
  EXPECT_EQ(v.plan(1).state, PlanState::kCommitted) << v.plan(1).outcome;
}

// It may also be that it is busy, and the tables are those of before for some seconds.
TEST(LostPairs, AreAwaitedForSomeSeconds) {
  Verified v;
  v.run(6, [&] { v.lose(); });
  EXPECT_EQ(v.plan(1).state, PlanState::kVerifying) << v.plan(1).outcome;
  v.fabric.route();
  v.run(8, [] {});
  EXPECT_EQ(v.plan(1).state, PlanState::kCommitted) << v.plan(1).outcome;
}

// An incident of its own: no other link could lead to it.
TEST(LostPairs, ToAnAdapterWhoseOwnCableIsDownAreNotThePlansDoing) {
  Verified v;
  v.run(12, [&] {
    const PortIndex cable = v.fabric.port_towards("leaf-2", "host-2-1 mlx5_0");
    if (!std::exchange(v.left, true)) v.fabric.unlink(cable);
    for (const char* leaf : {"leaf-0", "leaf-1", "leaf-2", "leaf-3"})
      v.fabric.send(v.fabric.find(leaf), v.fabric.lid_of("host-2-1 mlx5_0"), kNoEgress);
  });
  EXPECT_EQ(v.plan(1).state, PlanState::kCommitted) << v.plan(1).outcome;
}

// The subnet manager took its routes away for that, and has not given them back.
TEST(LostPairs, ToAnAdapterThatWasSilentBeforeAreNotThePlansDoing) {
  Verified v;
  const NodeIndex silent = v.fabric.find("host-2-1 mlx5_0");
  v.fabric.silence(silent);
  v.run(12, [&] {
    v.fabric.silence(silent, false);
    for (const char* leaf : {"leaf-0", "leaf-1", "leaf-2", "leaf-3"})
      v.fabric.send(v.fabric.find(leaf), v.fabric.lid_of("host-2-1 mlx5_0"), kNoEgress);
  });
  EXPECT_EQ(v.plan(1).state, PlanState::kCommitted) << v.plan(1).outcome;
}

TEST(LostPairs, AreRolledBackWhileAHostLeaves) {
  Verified v;
  v.run(kLong, [&] {
    v.leave_once("host-2-3 mlx5_0");
    v.lose();
  });
  EXPECT_TRUE(v.is_undone()) << to_string(v.plan(1).state);
  EXPECT_THAT(v.plan(1).outcome, HasSubstr("16 pairs of adapters lost their path"));
}

TEST(LostPairs, OfBeforeAreNotThePlansDoing) {
  Verified v;
  v.lose();
  v.run(12, [&] {
    v.leave_once("host-2-3 mlx5_0");
    v.lose();
  });
  EXPECT_EQ(v.plan(1).state, PlanState::kCommitted) << v.plan(1).outcome;
}

// Whether the link that is out was the last way to it nobody knows: it is not taken for verified.
TEST(LostPairs, OfAnEndThatLeavesAreNotVerified) {
  Verified v;
  v.run(12, [&] { v.leave_once("leaf-0"); });
  EXPECT_NE(v.plan(1).state, PlanState::kCommitted) << v.plan(1).outcome;
}

}  // namespace
}  // namespace weft::analyzer
