// SPDX-License-Identifier: Apache-2.0
// Whose mark is ours, and what the book does when it reads that of another weftd.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kOurId = "1c9e0b7a5d3f2468";
constexpr const char* kTheirId = "ffff0b7a5d3f2468";

/// A book of the store kOurId that acts by itself, with a link to isolate.
struct BookWithId : Book {
  explicit BookWithId(RemedyMemory memory = {}) : Book(automatic()) {
    memory.installation = kOurId;
    book.emplace(settings, std::move(memory), fabric.now());
    errors("leaf-0", "spine-0");
    book->review(look());
  }
  void read(std::vector<PlanMark> others, TargetState state = TargetState::kClear) {
    const auto now = orders();
    ASSERT_EQ(now.size(), 1U);
    book->answer_reading(now[0].number, TargetReading{state, "as read", std::move(others)}, fabric.now());
    book->review(look());
  }
};

TEST(Marks, EachOrderCarriesTheStoresId) {
  BookWithId b;
  const auto orders = b.orders();
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_EQ(orders[0].mark(), "PLAN-1.1c9e0b7a5d3f2468");
  EXPECT_THAT(orders[0].owner.plans, ElementsAre(1U));
}

TEST(Marks, AMarkWithoutAnIdIsOursWhereTheJournalHoldsItsPlan) {
  RemedyMemory memory;
  memory.ids = 9;
  Book plain;
  for (const bool holds : {true, false}) {
    Plan plan;
    plan.id = holds ? 7 : 5;
    plan.state = PlanState::kCommitted;
    plan.target = plain.link("leaf-1", "spine-1");
    plan.actuator = "fake";
    plan.finished = plain.fabric.now();
    plan.in_force = holds;
    memory.plans.push_back(plan);
  }
  BookWithId b(memory);
  const auto orders = b.orders();
  const auto read = std::ranges::find(orders, 7U, &RemedyOrder::plan);
  ASSERT_NE(read, orders.end());
  EXPECT_TRUE(read->owner.owns_reason("weft PLAN-7 INC-1: x"));
  EXPECT_FALSE(read->owner.owns_reason("weft PLAN-5 INC-1: x")) << "it was taken back: somebody else wrote that";
}

TEST(Marks, AnotherWeftdTripsTheBreakerBeforeAnythingIsDone) {
  BookWithId b;
  b.read({{3, kTheirId}});
  const RemedyStatus status = b.book->status(b.fabric.now());
  EXPECT_TRUE(status.breaker_tripped);
  EXPECT_THAT(status.breaker_reason, HasSubstr("another weftd acts here too, its mark PLAN-3.ffff0b7a5d3f2468"));
  EXPECT_THAT(status.others, ElementsAre(PlanMark{3, kTheirId}));
  const RemedyBatch batch = b.book->drain_changes(b.fabric.now());
  EXPECT_TRUE(batch.orders.empty()) << "nothing is sent";
  EXPECT_TRUE(batch.status_changed) << "it survives a restart";
  EXPECT_EQ(b.plan(1).state, PlanState::kApproved) << "it waits for a person's reset";
}

TEST(Marks, APersonsResetHoldsUntilTheOtherActsAgain) {
  for (const std::uint64_t later : {3U, 4U}) {
    RemedyMemory memory;
    memory.holds.others = {{3, kTheirId}};
    BookWithId b(memory);
    b.read({{later, kTheirId}});
    EXPECT_EQ(b.book->status(b.fabric.now()).breaker_tripped, later > 3) << "a mark that was left over trips it once";
  }
}

}  // namespace
}  // namespace weft::analyzer
