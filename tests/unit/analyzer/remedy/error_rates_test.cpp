// SPDX-License-Identifier: Apache-2.0
// Which of several links with errors goes, when not all of them may.

#include <gtest/gtest.h>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

struct ThreeBadUplinks : ::testing::Test {
  // Of eight ways up six are needed: two of the three may go.
  ThreeBadUplinks() {
    book.errors("leaf-0", "spine-0", 1e-6);
    book.errors("leaf-0", "spine-1", 1e-2);
    book.errors("leaf-0", "spine-2", 1e-5);
    review();
  }
  void review() {
    book.fabric.advance(std::chrono::seconds(1));
    book.book->review(book.look());
  }
  bool is_outdone(std::uint64_t id) const {
    const Plan plan = book.plan(id);
    const GuardVerdict& verdict = book.verdict(plan, Guard::kLeafCapacity);
    return verdict.result == GuardResult::kRefused && verdict.explanation.starts_with("to isolate the ");
  }
  void set_rate(std::size_t at, double rate) {
    auto incident = std::make_shared<Incident>(*book.incidents[at]);
    for (Evidence& evidence : incident->finding.evidence) evidence.value = rate;
    ++incident->revision;
    book.incidents[at] = std::move(incident);
  }
  analyzer::Book book;
};

TEST_F(ThreeBadUplinks, ThoseThatLoseMostGoThoughEachStallsItsFlow) {
  EXPECT_TRUE(is_outdone(1));
  EXPECT_FALSE(is_outdone(2));
  EXPECT_FALSE(is_outdone(3));
}

TEST_F(ThreeBadUplinks, ALinkThatGotWorseSinceIsPreferred) {
  set_rate(0, 1e-3);
  review();
  EXPECT_FALSE(is_outdone(1));
  EXPECT_TRUE(is_outdone(3));
}

// Every kind of trouble is weighed on one scale.
TEST_F(ThreeBadUplinks, ALinkThatFlapsAllTheTimeGoesBeforeLinksWithFewErrors) {
  set_rate(1, 1e-11);
  set_rate(2, 1e-10);
  auto flap = std::make_shared<Incident>(*book.incidents[0]);
  flap->finding.kind = IncidentKind::kLinkFlap;
  flap->finding.evidence.clear();
  flap->beginnings.assign(60, book.fabric.now());
  flap->updated = book.fabric.now();
  ++flap->revision;
  book.incidents[0] = std::move(flap);
  review();
  EXPECT_FALSE(is_outdone(1)) << "it takes all of a job's time";
  EXPECT_TRUE(is_outdone(2));
  EXPECT_FALSE(is_outdone(3));
}

TEST_F(ThreeBadUplinks, TheNumbersOfAProposalAreThoseOfNow) {
  const auto harm = [&] {
    const Plan plan = book.plan(2);
    return std::ranges::find(plan.candidates, RemedyAction::kNothing, &Candidate::action)->harm_ratio;
  };
  EXPECT_GT(harm(), 0.1);
  set_rate(1, 1e-15);
  const auto refused = book.book->approve(2, 0, "anna", book.look());
  ASSERT_FALSE(refused) << "doing nothing costs less by now";
  EXPECT_NE(refused.error().message.find("BENEFIT"), std::string::npos) << refused.error().message;
  EXPECT_LT(harm(), 0.01);
}

}  // namespace
}  // namespace weft::analyzer
