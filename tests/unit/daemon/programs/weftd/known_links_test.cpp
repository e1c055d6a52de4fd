// SPDX-License-Identifier: Apache-2.0
// Which subnet known links are of, and what goes along with a switch that is moved.

#include "daemon/programs/weftd/known_links.hpp"

#include <gtest/gtest.h>

#include "tests/fakes/fabric_builder.hpp"

namespace weft::daemon {
namespace {

constexpr std::uint64_t kHost = 0x1000;

KnownLink between(std::uint64_t a, std::uint64_t b) {
  const auto end = [](std::uint64_t guid) {
    return KnownEnd{"", guid >= kHost ? NodeType::kChannelAdapter : NodeType::kSwitch};
  };
  return {{{NodeGuid{a}, PortNum{1}}, {NodeGuid{b}, PortNum{1}}}, end(a), end(b)};
}
/// Leaves 1, 2 and 3, spines 4 and 5; our own host is at leaf 1.
std::vector<KnownLink> tree() {
  std::vector<KnownLink> links{between(1, kHost), between(2, kHost + 1)};
  for (std::uint64_t leaf = 1; leaf <= 3; ++leaf)
    for (std::uint64_t spine = 4; spine <= 5; ++spine) links.push_back(between(leaf, spine));
  return links;
}
std::vector<NodeGuid> guids(std::initializer_list<std::uint64_t> list) {
  std::vector<NodeGuid> all;
  for (const std::uint64_t guid : list) all.push_back(NodeGuid{guid});
  return all;
}
const LinkKey kNoCable{}, kOwn = between(1, kHost).key;

TEST(KnownLinks, AFragmentIsOfTheSubnet) {
  EXPECT_TRUE(are_of_subnet(tree(), guids({1, 2, 3, 4, 5}), kNoCable));
  for (const std::uint64_t one : {1, 2, 3, 4, 5}) EXPECT_TRUE(are_of_subnet(tree(), guids({one}), kNoCable)) << one;
  EXPECT_TRUE(are_of_subnet(tree(), guids({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}), kNoCable)) << "it has grown";
  EXPECT_TRUE(are_of_subnet(tree(), guids({2, 3, 4, 5, 6}), kNoCable)) << "one was replaced";
  const auto one_link = std::vector{between(1, kHost)};
  EXPECT_TRUE(are_of_subnet(one_link, guids({1, 2, 3, 4, 5}), kNoCable)) << "no more of it was known";
}

TEST(KnownLinks, OneSwitchInCommonMakesNoSubnet) {
  EXPECT_FALSE(are_of_subnet(tree(), guids({11, 12, 13, 14, 15}), kOwn));
  EXPECT_FALSE(are_of_subnet(tree(), guids({2, 11, 12, 13, 14, 15}), kNoCable));
  EXPECT_FALSE(are_of_subnet(tree(), guids({1, 11, 12, 13, 14, 15}), kOwn)) << "our own leaf was moved with us";
  EXPECT_FALSE(are_of_subnet(tree(), guids({2, 11}), kNoCable));
  EXPECT_FALSE(are_of_subnet({}, guids({1}), kOwn));
  EXPECT_FALSE(are_of_subnet(tree(), {}, kOwn));
}

TEST(KnownLinks, WhereHalfOfTheSwitchesStayedOurOwnCableDecides) {
  const std::vector<KnownLink> two{between(1, kHost), between(1, 2)};
  EXPECT_TRUE(are_of_subnet(two, guids({1, 3}), kOwn)) << "the other one was replaced";
  EXPECT_FALSE(are_of_subnet(two, guids({2, 3}), between(2, kHost).key)) << "our cable was put into another switch";
  EXPECT_FALSE(are_of_subnet(two, guids({1, 3}), kNoCable));
}

TEST(KnownLinks, WhatHangsFromASwitchThatWasMovedGoesAlong) {
  fakes::FabricBuilder seen;
  for (const std::uint64_t guid : {2, 11, 4}) seen.node(seen.add_switch(std::to_string(guid), 4)).guid = NodeGuid{guid};
  seen.node(seen.find("4")).reachable = false;  // it was seen before, in the subnet from before
  seen.node(seen.add_adapter("a")).guid = NodeGuid{kHost + 1};
  const auto moved = moved_links(tree(), guids({2, 11}), *seen.topology());
  ASSERT_EQ(moved.along.size(), 1U);
  EXPECT_EQ(moved.along[0].key, between(2, kHost + 1).key);
  EXPECT_EQ(moved.stay.size(), tree().size() - 3) << "its cables to spines are gone";
  EXPECT_TRUE(moved.has({EntityKind::kNode, {}, {NodeGuid{2}, {}}, {}, {}}));
  EXPECT_FALSE(moved.has({EntityKind::kNode, {}, {NodeGuid{4}, {}}, {}, {}}));
}

}  // namespace
}  // namespace weft::daemon
