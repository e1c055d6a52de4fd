// SPDX-License-Identifier: Apache-2.0
// Plans that are over are forgotten in time, but not while the trouble lasts that a person wants left alone.

#include <gtest/gtest.h>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

struct Lasting : Book {
  Lasting() : Book(automatic()) {
    settings.limits.retention = 24h;
    settings.limits.retained_plans = 1;
    book.emplace(settings, RemedyMemory{}, fabric.now());
    errors("leaf-0", "spine-0");
    book->review(look());
  }

  // The errors go on. Whether anything was sent meanwhile.
  bool acts_within(Duration time) {
    bool acted = false;
    for (; time > 0s; time -= 1h) {
      fabric.advance(1h);
      for (auto& incident : incidents) {
        auto later = std::make_shared<Incident>(*incident);
        for (Evidence& evidence : later->finding.evidence) evidence.observed = fabric.now();
        ++later->revision;
        incident = std::move(later);
      }
      for (int round = 0; round < 3; ++round) {
        book->review(look());
        for (const RemedyOrder& order : orders()) {
          acted |= order.kind == OrderKind::kAct;
          if (order.kind == OrderKind::kRead)
            book->answer_reading(order.number, TargetReading{TargetState::kClear, ""}, fabric.now());
        }
      }
    }
    return acted;
  }
};

TEST(Forgetting, WhatAPersonAbortedIsNotDoneAgainWhileItsIncidentIsOpen) {
  Lasting b;
  ASSERT_TRUE(b.book->abort(1, "never this one", "ann", b.fabric.now()));
  EXPECT_FALSE(b.acts_within(9 * 24h));
  EXPECT_EQ(b.book->all()->size(), 1U);
}

TEST(Forgetting, WhatAPersonRejectedIsNotProposedAgainWhileItsIncidentIsOpen) {
  Lasting b;
  b.settings.modes.fill(RemedyMode::kPropose);
  b.book.emplace(b.settings, RemedyMemory{}, b.fabric.now());
  b.book->review(b.look());
  b.fabric.advance(1min);
  ASSERT_TRUE(b.book->reject(1, "a link of the storage", "ann", b.fabric.now()));
  EXPECT_FALSE(b.acts_within(9 * 24h));
  ASSERT_EQ(b.book->all()->size(), 1U);
  auto over = std::make_shared<Incident>(*b.incidents[0]);
  over->state = IncidentState::kResolved;
  over->resolved = b.fabric.now();
  ++over->revision;
  b.incidents[0] = over;
  b.book->review(b.look());
  EXPECT_TRUE(b.book->all()->empty()) << "nothing asks for it any more";
}

}  // namespace
}  // namespace weft::analyzer
