// SPDX-License-Identifier: Apache-2.0
// Until when what came back is on probation.

#include <gtest/gtest.h>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

RemedySettings a_short_probation() {
  RemedySettings settings;
  settings.limits.verification.probation = 30s;
  return settings;
}

/// PLAN-1 isolated a link, and PLAN-2 gives it back.
struct Probation : Book {
  Probation() : Book(a_short_probation()) {
    EXPECT_TRUE(book->request(RemedyAction::kIsolateLink, target, "why", "ann", look()));
    tell(TargetState::kClear);
    act();
    fabric.unlink(end);
    fabric.route();
    tell(TargetState::kOurs);
    sweeps(5);
    EXPECT_EQ(plan(1).state, PlanState::kCommitted) << plan(1).outcome;
    EXPECT_TRUE(book->request(RemedyAction::kRestoreLink, target, "", "ann", look()));
    tell(TargetState::kOurs);
    act();
    tell(TargetState::kClear);
    EXPECT_EQ(plan(2).state, PlanState::kVerifying);
  }
  std::uint64_t next() {
    book->review(look());
    const auto all = orders();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? 0 : all.front().number;
  }
  void tell(TargetState found) {
    book->answer_reading(next(), TargetReading{found, ""}, fabric.now());
    book->review(look());
  }
  void act() { book->answer_action(next(), {}, fabric.now()); }
  void sweeps(int count) {
    for (int i = 0; i < count; ++i) book->review(look());  // each sweep takes a second
  }
  Entity target = link("leaf-1", "spine-0");
  PortIndex end = fabric.port_towards("leaf-1", "spine-0");
};

TEST(ProbationTime, BeginsWhenTheLinkIsUpAndMovesWithEachSweep) {
  Probation b;
  b.sweeps(3);
  EXPECT_EQ(b.plan(2).probation_until, kNever) << "it is not up yet";
  EXPECT_EQ(b.plan(2).waits_for, "the link does not come up");
  const auto waits = b.book->all();
  b.fabric.relink(b.end);
  b.fabric.route();
  b.sweeps(1);
  ASSERT_EQ(b.plan(2).windows_good, 1U);
  ASSERT_EQ(b.plan(2).windows_needed, 30U);
  EXPECT_EQ(b.plan(2).waits_for, "");
  EXPECT_EQ(with_progress(waits, *b.book)->back()->waits_for, "");
  EXPECT_EQ(b.plan(2).probation_until, b.fabric.now() + 29s);
  const TimePoint until = b.plan(2).probation_until;
  const auto stored = b.book->all();
  b.sweeps(10);
  EXPECT_EQ(b.plan(2).probation_until, until) << "all is well";
  EXPECT_EQ(with_progress(stored, *b.book)->back()->probation_until, until);
  b.sweeps(20);
  EXPECT_EQ(b.plan(2).state, PlanState::kCommitted) << b.plan(2).outcome;
  EXPECT_EQ(b.plan(2).probation_until, kNever);
}

TEST(ProbationTime, IsNoneOfWhatIsTakenOut) {
  Probation b;
  EXPECT_EQ(b.plan(1).probation_until, kNever);
}

}  // namespace
}  // namespace weft::analyzer
