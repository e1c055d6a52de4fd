// SPDX-License-Identifier: Apache-2.0
#pragma once
// A link that a plan took out, and another one brings back on probation.

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {

inline RemedySettings a_short_probation() {
  RemedySettings settings;
  settings.limits.verification.probation = std::chrono::seconds(30);
  return settings;
}

/// PLAN-1 isolated a link.
struct Isolated : Book {
  Isolated() : Book(a_short_probation()) {
    EXPECT_TRUE(book->request(RemedyAction::kIsolateLink, target, "why", "ann", look()));
    tell(TargetState::kClear);
    act();
    fabric.unlink(end);
    fabric.route();
    tell(TargetState::kOurs);
    sweeps(5);
    EXPECT_EQ(plan(1).state, PlanState::kCommitted) << plan(1).outcome;
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
  /// Nobody sweeps for so many seconds.
  void no_sweeps(int count) {
    for (int i = 0; i < count; ++i) {
      fabric.advance(std::chrono::seconds(1));
      RemedyView view{fabric.now(), views, incidents, hosts, health, maintenance};
      view.steady = fabric.now().time_since_epoch() - set_forward;
      view.managers = managers.empty() ? nullptr : &managers;
      book->review(view);
    }
  }
  /// So many sweeps, in which nothing but readings is asked, and the target is read to be given back.
  void sweeps_that_read_it_back(int count) {
    for (int i = 0; i < count; ++i) {
      sweeps(1);
      for (const RemedyOrder& order : orders()) {
        ASSERT_EQ(order.kind, OrderKind::kRead);
        book->answer_reading(order.number, TargetReading{TargetState::kClear, ""}, fabric.now());
      }
    }
  }
  void comes_up(int then) {
    fabric.relink(end);
    fabric.route();
    sweeps(then);
  }
  Entity target = link("leaf-1", "spine-0");
  PortIndex end = fabric.port_towards("leaf-1", "spine-0");
};

/// PLAN-2 gives it back.
struct Probation : Isolated {
  Probation() {
    EXPECT_TRUE(book->request(RemedyAction::kRestoreLink, target, "", "ann", look()));
    tell(TargetState::kOurs);
    act();
    tell(TargetState::kClear);
    EXPECT_EQ(plan(2).state, PlanState::kVerifying);
  }
  /// All links of that switch go down, or come up again except for this one.
  void all_of(const char* spine, bool up) {
    for (int leaf = 0; leaf < 4; ++leaf) {
      const PortIndex port = fabric.port_towards("leaf-" + std::to_string(leaf), spine);
      if (!up)
        fabric.unlink(port);
      else if (port != end)
        fabric.relink(port);
    }
    fabric.route();
  }
  /// It is up, and leaf-1 may lose no other link.
  void is_up_where_guards_forbid_to_isolate() {
    fabric.relink(end);
    fabric.route();
    sweeps(2);
    for (const char* spine : {"spine-1", "spine-2", "spine-3", "spine-4", "spine-5"})
      fabric.unlink(fabric.port_towards("leaf-1", spine));
    fabric.route();
    sweeps(1);
  }
};

}  // namespace weft::analyzer
