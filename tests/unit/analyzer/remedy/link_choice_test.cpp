// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/link_choice.hpp"
#include "analyzer/places/place_finder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/unit/analyzer/remedy/trees.hpp"

namespace weft::analyzer {
namespace {

// Every subset, each judged as a whole by every rule at every leaf: slow, and plain to see.
double least_harm(LiveTree& tree, const std::vector<BadLink>& bad, std::size_t most_out) {
  double least = 0;
  for (const BadLink& link : bad) least += link.harm;
  const double all = least;
  for (std::uint32_t set = 0; set < 1U << bad.size(); ++set) {
    if (static_cast<std::size_t>(std::popcount(set)) > most_out) continue;
    double harm = all;
    for (std::size_t i = 0; i < bad.size(); ++i)
      if ((set >> i & 1U) != 0) {
        tree.take_out(bad[i].uplink);
        harm -= bad[i].harm;
      }
    const auto is_short = tree.short_leaves(all_leaves(tree.tree()));
    if (std::ranges::none_of(is_short, [](std::uint8_t leaf) { return leaf != 0; })) least = std::min(least, harm);
    for (const BadLink& link : bad) tree.put_back(link.uplink);
  }
  return least;
}

TEST(LinkChoice, EqualsAnExhaustiveSearchOnSmallFabrics) {
  std::mt19937 random(7);
  const auto draw = [&random](unsigned low, unsigned high) {
    return std::uniform_int_distribution<unsigned>(low, high)(random);
  };
  unsigned searched = 0;
  for (unsigned round = 0; round < 300; ++round) {
    auto fabric = draw(0, 1) == 0 ? fakes::FabricBuilder::fat_tree(draw(2, 6), draw(2, 5), 1)
                                  : three_tiers(draw(1, 3), draw(1, 3), draw(2, 3), draw(1, 3));
    const auto topology = fabric.topology();
    const FabricTree tree(*topology, find_places(*topology));
    CapacityLimits limits;
    limits.leaf_share_jobs = draw(3, 9) / 10.0;
    limits.leaf_share_idle = draw(2, 8) / 10.0;
    limits.job_share = draw(3, 9) / 10.0;
    std::vector<JobLeaves> jobs;
    for (unsigned job = draw(0, 2); job > 0; --job) {
      JobLeaves& leaves = jobs.emplace_back();
      for (std::uint32_t leaf = 0; leaf < tree.leaves().size(); ++leaf)
        if (draw(0, 1) == 1) leaves.leaves.push_back(leaf);
    }
    LiveTree live(tree, up_states(tree, *topology), jobs, limits);
    std::vector<UplinkIndex> links(tree.uplinks().size());
    for (UplinkIndex i = 0; i < links.size(); ++i) links[i] = i;
    std::ranges::shuffle(links, random);
    std::vector<BadLink> bad;
    for (std::size_t i = 0; i < std::min<std::size_t>(links.size(), draw(1, 9)); ++i)
      bad.push_back({links[i], draw(1, 20) * 0.25});
    const std::size_t most_out = draw(1, 9);

    const LinkChoice choice = choose_links(live, bad, most_out);
    EXPECT_TRUE(choice.exact);
    EXPECT_LE(choice.out.size(), most_out);
    EXPECT_NEAR(choice.harm_left, least_harm(live, bad, most_out), 1e-9) << "round " << round;
    searched += choice.out.size() < bad.size();
    for (UplinkIndex i = 0; i < links.size(); ++i) EXPECT_TRUE(live.is_up(i)) << "the tree is as before";
    for (const std::uint32_t i : choice.out) live.take_out(bad[i].uplink);
    for (const std::uint8_t leaf : live.short_leaves(all_leaves(tree))) EXPECT_EQ(leaf, 0) << "round " << round;
  }
  EXPECT_GT(searched, 100U) << "most rounds ought to have needed a choice";
}

TEST(LinkChoice, TakesOutTheMostHarmfulLinkWhereOnlyOneMayGo) {
  CapacityLimits limits;
  limits.leaf_share_idle = 0.75;
  auto fabric = fakes::FabricBuilder::fat_tree(4, 2, 1);
  const auto topology = fabric.topology();
  const FabricTree tree(*topology, find_places(*topology));
  LiveTree live(tree, up_states(tree, *topology), {}, limits);
  std::vector<BadLink> bad;
  for (const char* spine : {"spine-0", "spine-1", "spine-2"})
    bad.push_back({tree.uplink_of(fabric.port_towards("leaf-0", spine)), spine == std::string("spine-1") ? 5.0 : 2.0});
  const LinkChoice choice = choose_links(live, bad, 10);
  EXPECT_EQ(choice.out, std::vector<std::uint32_t>{1});
  EXPECT_DOUBLE_EQ(choice.harm_left, 4);
}

TEST(LinkChoice, ReportsThatTheSearchWasCutOff) {
  CapacityLimits limits;
  limits.leaf_share_idle = 0.5;
  auto fabric = fakes::FabricBuilder::fat_tree(16, 2, 1);
  const auto topology = fabric.topology();
  const FabricTree tree(*topology, find_places(*topology));
  LiveTree live(tree, up_states(tree, *topology), {}, limits);
  std::vector<BadLink> bad;
  for (UplinkIndex i = 0; i < tree.uplinks().size(); ++i) bad.push_back({i, 1.0 + i * 0.001});
  const LinkChoice choice = choose_links(live, bad, 100, 20);
  EXPECT_FALSE(choice.exact);
  EXPECT_GT(choice.out.size(), 4U) << "what was found until then counts";
}

}  // namespace
}  // namespace weft::analyzer
