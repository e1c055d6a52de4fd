// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/link_choice.hpp"
#include "analyzer/places/place_finder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/unit/analyzer/remedy/trees.hpp"

namespace weft::analyzer {
namespace {

// Every subset, in the order of the links, each link judged by every rule when it goes: slow, and plain to see.
double least_harm(LiveTree& tree, const std::vector<BadLink>& bad) {
  double all = 0, least = 0;
  for (const BadLink& link : bad) all += tree.is_up(link.uplink) ? link.harm : 0;
  for (const BadLink& link : bad) least += link.harm;
  const double down = least - all;
  for (std::uint32_t set = 0; set < 1U << bad.size(); ++set) {
    double harm = all;
    bool may_go = true;
    std::vector<UplinkIndex> out;
    for (std::size_t i = 0; i < bad.size() && may_go; ++i) {
      if ((set >> i & 1U) == 0 || !tree.is_up(bad[i].uplink)) continue;
      tree.take_out(bad[i].uplink);
      out.push_back(bad[i].uplink);
      may_go = !tree.shortfall(bad[i].uplink);
      harm -= bad[i].harm;
    }
    if (may_go) least = std::min(least, down + harm);
    for (const UplinkIndex uplink : out) tree.put_back(uplink);
  }
  return least;
}

// `some_down`: some links are down before.
void compare_with_exhaustive_search(unsigned seed, bool some_down) {
  std::mt19937 random(seed);
  const auto draw = [&random](unsigned low, unsigned high) {
    return std::uniform_int_distribution<unsigned>(low, high)(random);
  };
  unsigned searched = 0;
  for (unsigned round = 0; round < 2000; ++round) {
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
    std::vector<std::uint8_t> up = up_states(tree, *topology);
    if (some_down)
      for (std::uint8_t& link : up) link = draw(0, 7) != 0;
    LiveTree live(tree, up, jobs, limits);
    std::vector<UplinkIndex> links(tree.uplinks().size());
    for (UplinkIndex i = 0; i < links.size(); ++i) links[i] = i;
    std::ranges::shuffle(links, random);
    std::vector<BadLink> bad;
    for (std::size_t i = 0; i < std::min<std::size_t>(links.size(), draw(1, 9)); ++i)
      bad.push_back({links[i], draw(1, 20) * 0.25});

    const LinkChoice choice = LinkChooser(live).choose(bad);
    EXPECT_TRUE(choice.exact);
    EXPECT_NEAR(choice.harm_left, least_harm(live, bad), 1e-9) << "round " << round;
    searched += choice.out.size() < bad.size();
    for (UplinkIndex i = 0; i < links.size(); ++i) EXPECT_EQ(live.is_up(i), up[i] != 0) << "the tree is as before";
    for (const std::uint32_t i : choice.out) {
      live.take_out(bad[i].uplink);
      EXPECT_FALSE(live.shortfall(bad[i].uplink)) << "round " << round;
    }
  }
  EXPECT_GT(searched, 700U) << "most rounds ought to have needed a choice";
}

TEST(LinkChoice, EqualsAnExhaustiveSearchOnSmallFabrics) {
  compare_with_exhaustive_search(7, false);
}

TEST(LinkChoice, EqualsAnExhaustiveSearchWhereLinksAreDownAlready) {
  compare_with_exhaustive_search(8, true);
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
  const LinkChoice choice = LinkChooser(live).choose(bad);
  EXPECT_EQ(choice.out, std::vector<std::uint32_t>{1});
  EXPECT_DOUBLE_EQ(choice.harm_left, 4);
}

// One leaf in each of six pods may lose two of its eight uplinks, and four of them are bad.
struct SixPods {
  static constexpr unsigned kPods = 6;
  // To choose among four links takes six checks, and a quarter is kept for a second try; among all 24 thousands.
  static constexpr std::size_t kChecksOfAPod = 8;
  fakes::FabricBuilder fabric = three_tiers(kPods, 2, 8, 2);
  std::shared_ptr<const Topology> topology = fabric.topology();
  FabricTree tree{*topology, find_places(*topology)};
  CapacityLimits limits{.leaf_share_idle = 0.75, .rail_share = 0.5};
  LiveTree live{tree, up_states(tree, *topology), {}, limits};
  LinkChooser chooser{live};
  std::vector<BadLink> bad;

  UplinkIndex uplink(unsigned pod, unsigned agg) {
    const std::string of = std::to_string(pod);
    return tree.uplink_of(fabric.port_towards("leaf-" + of + "-0", "agg-" + of + '-' + std::to_string(agg)));
  }
  void add(unsigned pod) {
    for (unsigned agg = 0; agg < 4; ++agg) bad.push_back({uplink(pod, agg), 2.0 + agg});
  }
};

TEST(LinkChoice, SearchesEachPodByItself) {
  SixPods six;
  for (unsigned pod = 0; pod < SixPods::kPods; ++pod) six.add(pod);
  const LinkChoice choice = six.chooser.choose(six.bad, SixPods::kPods * SixPods::kChecksOfAPod);
  EXPECT_TRUE(choice.exact);
  EXPECT_EQ(choice.out, (std::vector<std::uint32_t>{2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23}));
}

TEST(LinkChoice, IsRememberedUntilTheFabricChanges) {
  SixPods six;
  for (unsigned pod = 0; pod + 1 < SixPods::kPods; ++pod) six.add(pod);
  ASSERT_TRUE(six.chooser.choose(six.bad, 10'000).exact);
  // Trouble in another pod: those of before are not searched again.
  six.add(SixPods::kPods - 1);
  EXPECT_TRUE(six.chooser.choose(six.bad, SixPods::kChecksOfAPod).exact);
  EXPECT_EQ(six.chooser.choose(six.bad, 0).out.size(), 2 * SixPods::kPods);
  six.live.change(six.uplink(0, 7), false);
  const LinkChoice after = six.chooser.choose(six.bad, 10'000);
  EXPECT_TRUE(after.exact);
  EXPECT_EQ(after.out, (std::vector<std::uint32_t>{3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23}))
      << "the first leaf can spare only one more";
}

TEST(LinkChoice, TakesOutManyThatCostLittleWhereAllAreAlikeAndTimeIsShort) {
  CapacityLimits limits;
  limits.leaf_share_idle = 0.75;
  auto fabric = three_tiers(2, 2, 4, 8);
  const auto topology = fabric.topology();
  const FabricTree tree(*topology, find_places(*topology));
  LiveTree live(tree, up_states(tree, *topology), {}, limits);
  // A leaf may lose eight of its 32 ways: one of its own uplinks, or eight cores.
  std::vector<BadLink> bad;
  const auto add = [&](const std::string& a, const std::string& b) {
    bad.push_back({tree.uplink_of(fabric.port_towards(a, b)), 1});
  };
  add("leaf-0-0", "agg-0-0");
  add("leaf-0-1", "agg-0-1");
  for (unsigned core = 0; core < 4; ++core) {
    add("agg-0-2", "core-2-" + std::to_string(core));
    add("agg-0-3", "core-3-" + std::to_string(core));
  }
  const LinkChoice choice = LinkChooser(live).choose(bad, 20);
  EXPECT_FALSE(choice.exact);
  EXPECT_EQ(choice.out.size(), 8U);
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
  const LinkChoice choice = LinkChooser(live).choose(bad, 20);
  EXPECT_FALSE(choice.exact);
  EXPECT_GT(choice.out.size(), 4U) << "what was found until then counts";
}

}  // namespace
}  // namespace weft::analyzer
