// SPDX-License-Identifier: Apache-2.0
// What is not cut without a person, and what others took out.

#include <gtest/gtest.h>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

void look_again(analyzer::Book& book) {
  book.fabric.advance(std::chrono::seconds(1));
  book.book->review(book.look());
}

TEST(ShapeOfTheFabric, IsToldWithEachPlan) {
  analyzer::Book book(automatic());
  book.errors("leaf-0", "spine-0");
  look_again(book);
  const Plan plan = book.plan(1);
  EXPECT_EQ(book.verdict(plan, Guard::kAlternative).explanation,
            "it connects two switches; shape of the fabric: fat tree (100 % of the cables between switches lead to the "
            "next tier)");
  EXPECT_EQ(plan.approved_by, "weftd");
}

TEST(ShapeOfTheFabric, IsolatesNothingByItselfWhereItIsUnclear) {
  analyzer::Book book(automatic());
  // Six more switches in a row, with two cables across: no tree, and nothing else that is known.
  for (unsigned at = 0; at < 6; ++at) {
    const std::string name = "row-" + std::to_string(at);
    book.fabric.add_switch(name, 6);
    const NodeIndex host = book.fabric.add_adapter(name + "-host mlx5_0");
    book.fabric.connect(book.fabric.nodes()[host].first_port, book.fabric.port_of(name, 1));
    if (at > 0)
      book.fabric.connect(book.fabric.port_of(name, 2), book.fabric.port_of("row-" + std::to_string(at - 1), 3));
    if (at > 2 && at < 5)
      book.fabric.connect(book.fabric.port_of(name, 4), book.fabric.port_of("row-" + std::to_string(at - 3), 5));
  }
  book.errors("leaf-0", "spine-0");
  look_again(book);
  look_again(book);
  const Plan plan = book.plan(1);
  EXPECT_EQ(plan.state, PlanState::kProposed);
  EXPECT_EQ(plan.approved_by, "");
  const std::string& why = book.verdict(plan, Guard::kAlternative).explanation;
  EXPECT_NE(why.find("unclear"), std::string::npos) << why;
  EXPECT_NE(why.find("only a person may approve it"), std::string::npos) << why;
}

TEST(Budgets, CountLinksThatOthersDisabled) {
  analyzer::Book book;
  book.settings.limits.budget.out_per_switch = 2;
  book.errors("leaf-0", "spine-0");
  look_again(book);
  const Plan before = book.plan(1);
  EXPECT_EQ(book.verdict(before, Guard::kBudget).result, GuardResult::kPassed);
  for (const char* spine : {"spine-5", "spine-6"}) {
    const PortIndex port = book.fabric.port_towards("leaf-0", spine);
    book.fabric.unlink(port);
    book.fabric.port(port).physical_state = PortPhysicalState::kDisabled;
  }
  look_again(book);
  const Plan plan = book.plan(1);
  EXPECT_EQ(
      book.verdict(plan, Guard::kBudget).explanation,
      "maximum of links of one switch isolated or avoided reached: 2 at leaf-0 (remedy.limits.budget.out_per_switch), "
      "with 2 links that others took out");
}

}  // namespace
}  // namespace weft::analyzer
