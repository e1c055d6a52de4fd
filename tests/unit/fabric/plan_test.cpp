// SPDX-License-Identifier: Apache-2.0
#include "fabric/plan.hpp"

#include <gtest/gtest.h>

#include <set>

namespace weft {
namespace {

TEST(Plan, NamesRoundTrip) {
  EXPECT_EQ(parse_plan_name(plan_name(7)), 7U);
  EXPECT_EQ(parse_plan_name("plan-7"), 7U);
  EXPECT_EQ(parse_plan_name("7"), 7U);
  for (const char* bad : {"", "PLAN-", "PLAN-x", "INC-7", "7 ", "-7", "99999999999999999999"})
    EXPECT_FALSE(parse_plan_name(bad)) << bad;
}

template <typename Enum, typename Parse>
void expect_words(Parse parse, std::size_t count) {
  std::set<std::string> words;
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<Enum>(i);
    EXPECT_EQ(parse(to_string(value)), value);
    words.insert(to_string(value));
  }
  EXPECT_EQ(words.size(), count) << "each has a word of its own";
  EXPECT_FALSE(parse("NONSENSE"));
}

TEST(Plan, EveryWordIsReadBack) {
  expect_words<RemedyAction>(parse_remedy_action, static_cast<std::size_t>(RemedyAction::kCount));
  expect_words<RemedyMode>(parse_remedy_mode, 3);
  expect_words<PlanState>(parse_plan_state, static_cast<std::size_t>(PlanState::kCount));
  expect_words<Guard>(parse_guard, static_cast<std::size_t>(Guard::kCount));
  expect_words<GuardResult>(parse_guard_result, 3);
  expect_words<PlanIntent>(parse_plan_intent, static_cast<std::size_t>(PlanIntent::kCount));
}

TEST(Entity, IsTheSameExactlyWhenItsIdentityIs) {
  std::vector<Entity> entities;
  for (int kind = 0; kind <= static_cast<int>(EntityKind::kHost); ++kind)
    for (unsigned variant = 0; variant < 64; ++variant) {
      Entity entity;
      entity.kind = static_cast<EntityKind>(kind);
      entity.fabric = (variant & 1) != 0 ? "a" : "b";
      entity.port = {{(variant & 2) != 0 ? 1U : 2U}, {static_cast<std::uint8_t>((variant & 4) != 0 ? 1 : 2)}};
      entity.peer = {{3}, {static_cast<std::uint8_t>((variant & 8) != 0 ? 1 : 2)}};
      entity.host = (variant & 16) != 0 ? "h" : "i";
      entity.device = (variant & 32) != 0 ? "mlx5_0" : "mlx5_1";
      entity.label = std::to_string(variant);
      entities.push_back(entity);
    }
  for (const Entity& a : entities)
    for (const Entity& b : entities)
      ASSERT_EQ(a.same_as(b), a.identity() == b.identity()) << a.identity() << ' ' << b.identity();
}

}  // namespace
}  // namespace weft
