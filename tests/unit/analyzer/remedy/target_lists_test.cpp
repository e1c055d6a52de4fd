// SPDX-License-Identifier: Apache-2.0
// Switches on the deny list by the GUID that their ports have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/remedy/target_lists.hpp"
#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

constexpr std::uint64_t kPortGuid = 0x0ec0de0200000fff;

/// All ports of leaf-0 have a PortGUID that is not the GUID of the node.
struct OwnPortGuids : Book {
  explicit OwnPortGuids(RemedySettings with) : Book(std::move(with)) {
    const Node& leaf = fabric.nodes()[fabric.find("leaf-0")];
    for (PortIndex port = leaf.first_port; port < leaf.first_port + leaf.port_entries(); ++port)
      fabric.port(port).guid = PortGuid{kPortGuid};
  }
  GuardResult lists(const std::string& leaf) {
    const auto seen = book->preview(RemedyAction::kIsolateLink, link(leaf, "spine-0"), "why", "ann", look());
    return seen ? verdict(*seen, Guard::kLists).result : GuardResult::kNotNeeded;
  }
};

TEST(SwitchPortGuids, MeanTheSwitchOnTheDenyList) {
  for (const char* entry : {"0x0ec0de0200000fff", "0ec0:de02:0000:0fff"}) {
    RemedySettings settings;
    settings.deny = {entry};
    OwnPortGuids b(settings);
    EXPECT_EQ(b.lists("leaf-0"), GuardResult::kRefused) << entry;
    EXPECT_EQ(b.lists("leaf-1"), GuardResult::kPassed) << entry;
  }
}

TEST(SwitchPortGuids, OneThatMatchesNothingIsFound) {
  RemedySettings settings;
  settings.deny = {"0x0ec0de0200000fff", "0x0ec0de0200000ffe"};
  OwnPortGuids b(settings);
  EXPECT_THAT(entries_without_target(settings, b.look()), ::testing::ElementsAre("0x0ec0de0200000ffe"));
  const Node& leaf = b.fabric.nodes()[b.fabric.find("leaf-1")];
  settings.deny = {to_string(leaf.guid)};
  EXPECT_TRUE(entries_without_target(settings, b.look()).empty());
}

TEST(SwitchPortGuids, OfAnAdapterMeanThatPort) {
  RemedySettings settings;
  settings.deny = {"0x0ec0de0100000fff"};
  Book b(settings);
  b.fabric.port(b.fabric.port_towards("host-0-0 mlx5_0", "leaf-0")).guid = PortGuid{0x0ec0de0100000fff};
  const auto seen =
      b.book->preview(RemedyAction::kIsolateLink, b.link("host-0-0 mlx5_0", "leaf-0"), "", "ann", b.look());
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(b.verdict(*seen, Guard::kLists).result, GuardResult::kRefused);
}

}  // namespace
}  // namespace weft::analyzer
