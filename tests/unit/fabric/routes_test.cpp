// SPDX-License-Identifier: Apache-2.0
#include "fabric/routes.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

RouteBlock filled(std::uint8_t port) {
  RouteBlock block;
  block.fill(port);
  return block;
}

TEST(Routes, WhatWasNotReadIsAbsentAndWhatIsBeyondTheTopIsDropped) {
  RouteTables book(3);
  EXPECT_EQ(book.publish(), nullptr);
  EXPECT_TRUE(book.set_top(5, Lid{100}));
  EXPECT_FALSE(book.set_top(5, Lid{100}));
  EXPECT_TRUE(book.set_block(5, 1, filled(7)));
  EXPECT_FALSE(book.set_block(5, 1, filled(7)));
  EXPECT_FALSE(book.set_block(5, 2, filled(7))) << "beyond the top";
  const auto routes = book.publish();
  EXPECT_EQ(routes->epoch(), 3U);
  EXPECT_EQ(routes->egress(5, Lid{64}), PortNum{7});
  EXPECT_EQ(routes->egress(5, Lid{100}), PortNum{7});
  EXPECT_EQ(routes->egress(5, Lid{101}), kNoEgress);
  EXPECT_EQ(routes->egress(5, Lid{1}), std::nullopt);
  EXPECT_EQ(routes->egress(5, Lid{0}), kNoEgress);
  EXPECT_EQ(routes->egress(4, Lid{64}), std::nullopt);
  EXPECT_EQ(routes->egress(6, Lid{64}), std::nullopt);
  EXPECT_EQ(book.publish(), routes) << "nothing changed";
}

TEST(Routes, WhatWasGivenOutStaysAsItWas) {
  RouteTables book(1);
  book.set_top(0, Lid{127});
  book.set_block(0, 0, filled(1));
  book.set_block(0, 1, filled(2));
  const auto before = book.publish();
  book.set_block(0, 0, filled(9));
  book.set_top(0, Lid{63});
  const auto after = book.publish();
  EXPECT_EQ(before->egress(0, Lid{5}), PortNum{1});
  EXPECT_EQ(before->egress(0, Lid{70}), PortNum{2});
  EXPECT_EQ(after->egress(0, Lid{5}), PortNum{9});
  EXPECT_EQ(after->egress(0, Lid{70}), kNoEgress);
  EXPECT_GT(after->revision(), before->revision());
}

TEST(Routes, EqualBlocksStandInMemoryOnce) {
  RouteTables book(1);
  for (NodeIndex node = 0; node < 500; ++node) {
    book.set_top(node, Lid{0xBFFF});
    for (std::uint16_t number = 0; number < kMostRouteBlocks; ++number)
      book.set_block(node, number, filled(static_cast<std::uint8_t>(number % 20)));
  }
  EXPECT_EQ(book.pooled_blocks(), 20U);
}

TEST(Routes, BlocksNobodyUsesAreGivenBackAndNothingIsMixedUp) {
  RouteTables book(1);
  const auto numbered = [](std::uint32_t number) {
    RouteBlock block = filled(0);
    for (std::size_t i = 0; i < 4; ++i) block[i] = static_cast<std::uint8_t>(number >> (8 * i));
    return block;
  };
  book.set_top(0, Lid{0xBFFF});
  std::shared_ptr<const Routes> first;
  for (std::uint32_t round = 0; round < 40; ++round) {
    for (std::uint16_t number = 0; number < kMostRouteBlocks; ++number)
      book.set_block(0, number, numbered(round * kMostRouteBlocks + number));
    const auto routes = book.publish();
    if (!first) first = routes;
    for (std::uint16_t number = 0; number < kMostRouteBlocks; ++number)
      ASSERT_EQ(*routes->block(0, number), numbered(round * kMostRouteBlocks + number)) << round;
  }
  EXPECT_LT(book.pooled_blocks(), 12 * std::size_t{kMostRouteBlocks});
  for (std::uint16_t number = 0; number < kMostRouteBlocks; ++number)
    ASSERT_EQ(*first->block(0, number), numbered(number));
}

}  // namespace
}  // namespace weft
