// SPDX-License-Identifier: Apache-2.0
#include "collectors/gnmi/leaf_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "fabric/counters.hpp"

namespace weft::gnmi {
namespace {

/// Where "/…[name=PORT]/…" is told of Ethernet1, neighbour 7, priority 3, queue q.
std::string told_path(std::string text) {
  const auto put = [&](const std::string& from, const std::string& to) {
    if (const std::size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  };
  put("{PORT}", "Ethernet1");
  put("=PORT", "=Ethernet1");
  put("=NEIGHBOUR", "=7");
  put("=PRIORITY", "=3");
  put("=PART", "=q");
  put("/*/", "/Ethernet*/");
  return text;
}

bool says(const Leaf& leaf, std::string_view word) {
  return leaf.path.find(word) != std::string_view::npos;
}

TEST(LeafTable, EachRowIsFoundAtItsPath) {
  const LeafIndex index;
  std::set<std::string_view> paths;
  for (const Leaf& leaf : leaves()) {
    EXPECT_TRUE(paths.insert(leaf.path).second) << leaf.path;
    const std::string told = told_path(std::string(leaf.path));
    const auto path = parse_path(told);
    ASSERT_TRUE(path) << told;
    const auto place = index.find(*path);
    ASSERT_TRUE(place) << told;
    EXPECT_EQ(place->leaf, &leaf) << told;
    EXPECT_EQ(place->port, says(leaf, "PORT}") || says(leaf, "PORT]") ? "Ethernet1" : "") << told;
    EXPECT_EQ(place->neighbour, says(leaf, "NEIGHBOUR") ? "7" : "") << told;
    EXPECT_EQ(place->part, says(leaf, "PART") ? "q" : "") << told;
    EXPECT_EQ(place->priority, says(leaf, "PRIORITY") ? 3 : leaf.priority) << told;
  }
}

TEST(LeafTable, CountersAreThoseOfTheCatalogue) {
  for (const Leaf& leaf : leaves()) {
    if (leaf.kind != LeafKind::kCounter) {
      EXPECT_TRUE(leaf.counter.empty()) << leaf.path;
      continue;
    }
    const CounterInfo* const info = find_counter(leaf.counter);
    ASSERT_NE(info, nullptr) << leaf.counter;
    EXPECT_TRUE(info->on_hosts) << leaf.counter;
    EXPECT_EQ(info->by_direction, leaf.direction != Direction::kNone) << leaf.path;
    const bool has_priority = leaf.priority != kNoPriority || says(leaf, "PRIORITY");
    EXPECT_EQ(info->by_priority, has_priority) << leaf.path;
  }
}

TEST(LeafTable, EachGroupAsksForRows) {
  const LeafIndex index;
  for (const Group& group : groups())
    for (const std::string_view text : group.paths) {
      const auto path = parse_path(text);
      ASSERT_TRUE(path) << text;
      const auto is_below = [&](const Leaf& leaf) {
        const auto row = parse_path(leaf.path);
        if (row->elements.size() < path->elements.size()) return false;
        for (std::size_t i = 0; i < path->elements.size(); ++i)
          if (row->elements[i].name != "*" && row->elements[i].name != path->elements[i].name) return false;
        return true;
      };
      EXPECT_TRUE(std::ranges::any_of(leaves(), is_below)) << text;
    }
}

TEST(LeafTable, WhatIsInNoRowIsNotFound) {
  const LeafIndex index;
  for (const auto text :
       {"/interfaces", "/interfaces/interface[name=a]/state", "/interfaces/interface[name=a]/config/enabled",
        "/interfaces/interface/state/oper-status", "/interfaces/interface[id=a]/state/oper-status",
        "/interfaces/interface[name=*]/state/oper-status", "/interfaces/interface[name=]/state/oper-status",
        "/qos/interfaces/interface[interface-id=a]/pfc/statistics/pfc-priority[index=8]/pfc-pause-frames-received",
        "/qos/interfaces/interface[interface-id=a]/pfc/statistics/pfc-priority[index=33]/pfc-pause-frames-received"})
    EXPECT_FALSE(index.find(*parse_path(text))) << text;
  const std::string longest = "/interfaces/interface[name=" + std::string(65, 'x') + "]/state/oper-status";
  EXPECT_FALSE(index.find(*parse_path(longest)));
}

TEST(LeafTable, ModulesInNamesAreNoPartOfThem) {
  const LeafIndex index;
  const auto place = index.find(*parse_path("/openconfig-interfaces:interfaces/interface[name=a]/state/oper-status"));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->port, "a");
}

TEST(LeafTable, VendorsPartsAreAskedForWhereTheirModelsAre) {
  const std::vector<std::string> sonic{"openconfig-interfaces", "sonic-db"};
  for (const Group& group : groups()) {
    EXPECT_EQ(is_asked_for(group, {}), group.model == Model::kOpenConfig) << group.name;
    EXPECT_EQ(is_asked_for(group, sonic), group.model == Model::kOpenConfig || group.model == Model::kSonicCounters)
        << group.name;
  }
}

}  // namespace
}  // namespace weft::gnmi
