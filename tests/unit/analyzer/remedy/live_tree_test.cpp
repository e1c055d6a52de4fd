// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/live_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <random>
#include <set>

#include "analyzer/places/place_finder.hpp"
#include "tests/unit/analyzer/remedy/trees.hpp"

namespace weft::analyzer {
namespace {

struct Fixture {
  explicit Fixture(fakes::FabricBuilder built, std::vector<JobLeaves> jobs = {}, CapacityLimits limits = {})
      : fabric(std::move(built)),
        topology(fabric.topology()),
        tree(*topology, find_places(*topology)),
        live(tree, up_states(tree, *topology), jobs, limits) {}

  UplinkIndex uplink(const std::string& a, const std::string& b) const {
    return tree.uplink_of(fabric.port_towards(a, b));
  }
  std::uint32_t leaf(const std::string& name) const { return tree.leaf_of(fabric.find(name)); }

  fakes::FabricBuilder fabric;
  std::shared_ptr<const Topology> topology;
  FabricTree tree;
  LiveTree live;
};

TEST(FabricTree, FindsTiersAndWaysUp) {
  const Fixture f(three_tiers(2, 3, 4, 2));
  EXPECT_EQ(f.tree.tiers(), 3);
  EXPECT_EQ(f.tree.leaves().size(), 6U);
  EXPECT_EQ(f.tree.uplinks().size(), 2U * 3 * 4 + 2U * 4 * 2);
  EXPECT_EQ(f.live.ways(f.fabric.find("leaf-1-2")), 8U);
  EXPECT_EQ(f.live.ways(f.fabric.find("agg-0-0")), 2U);
  EXPECT_EQ(f.live.ways(f.fabric.find("core-0-0")), 1U);
  EXPECT_EQ(f.tree.uplink_of(f.fabric.port_of("leaf-0-0", 1)), kNoIndex) << "an access link leads to no tier";
}

TEST(LiveTree, TakingOutAndPuttingBackIsAsBefore) {
  Fixture f(three_tiers(2, 3, 4, 2));
  const UplinkIndex core = f.uplink("agg-0-1", "core-1-0");
  f.live.take_out(core);
  EXPECT_EQ(f.live.ways(f.fabric.find("agg-0-1")), 1U);
  EXPECT_EQ(f.live.ways(f.fabric.find("leaf-0-0")), 7U);
  EXPECT_EQ(f.live.ways(f.fabric.find("leaf-1-0")), 8U) << "another pod";
  f.live.put_back(core);
  EXPECT_EQ(f.live.ways(f.fabric.find("leaf-0-0")), 8U);
  EXPECT_FALSE(f.live.shortfall(core));
}

TEST(LiveTree, ALeafKeepsItsShareOfWaysUp) {
  CapacityLimits limits;
  limits.leaf_share_idle = 0.75;
  Fixture f(fakes::FabricBuilder::fat_tree(8, 4, 2), {}, limits);
  // Of eight ways six are needed.
  for (const char* spine : {"spine-0", "spine-1"}) {
    f.live.take_out(f.uplink("leaf-0", spine));
    EXPECT_FALSE(f.live.shortfall(f.uplink("leaf-0", spine))) << spine;
  }
  f.live.take_out(f.uplink("leaf-0", "spine-2"));
  const auto shortfall = f.live.shortfall(f.uplink("leaf-0", "spine-2"));
  ASSERT_TRUE(shortfall);
  EXPECT_EQ(shortfall->guard, Guard::kLeafCapacity);
  EXPECT_EQ(describe(*shortfall, f.tree, *f.topology),
            "leaf-0 would keep 5 of 8 uplink paths; 6 are needed (remedy.limits.capacity.leaf_share_idle)");
}

TEST(LiveTree, MoreIsAskedWhereAJobRuns) {
  Fixture f(fakes::FabricBuilder::fat_tree(8, 4, 2), {JobLeaves{"slurm:1", {0, 1}}});
  const UplinkIndex link = f.uplink("leaf-0", "spine-0");
  f.live.take_out(link);
  ASSERT_TRUE(f.live.shortfall(link)) << "nine tenths of eight is eight";
  EXPECT_EQ(f.live.shortfall(link)->guard, Guard::kLeafCapacity);
  const UplinkIndex idle = f.uplink("leaf-3", "spine-0");
  f.live.take_out(idle);
  EXPECT_FALSE(f.live.shortfall(idle)) << "nobody works there";
}

TEST(LiveTree, TwoLeavesOfAJobKeepCommonSpines) {
  CapacityLimits limits;
  limits.leaf_share_jobs = 0.5;
  limits.job_share = 0.7;
  Fixture f(fakes::FabricBuilder::fat_tree(10, 3, 1), {JobLeaves{"slurm:1", {0, 1}}}, limits);
  // Two links lost at each of them, at different spines: either leaf has eight ways, both together six spines.
  for (const char* spine : {"spine-0", "spine-1"}) f.live.take_out(f.uplink("leaf-0", spine));
  f.live.take_out(f.uplink("leaf-1", "spine-2"));
  EXPECT_FALSE(f.live.shortfall(f.uplink("leaf-1", "spine-2")));
  f.live.take_out(f.uplink("leaf-1", "spine-3"));
  const auto shortfall = f.live.shortfall(f.uplink("leaf-1", "spine-3"));
  ASSERT_TRUE(shortfall);
  EXPECT_EQ(describe(*shortfall, f.tree, *f.topology),
            "leaf-1 and leaf-0, which share a job, would keep 6 of 10 common spines; 7 are needed "
            "(remedy.limits.capacity.job_share)");
  f.live.take_out(f.uplink("leaf-2", "spine-9"));
  EXPECT_FALSE(f.live.shortfall(f.uplink("leaf-2", "spine-9"))) << "not of that job";
}

TEST(LiveTree, NobodyIsCutOff) {
  CapacityLimits limits;
  limits.leaf_share_idle = 0;
  Fixture f(three_tiers(2, 2, 2, 1), {}, limits);
  f.live.take_out(f.uplink("agg-0-0", "core-0-0"));
  EXPECT_FALSE(f.live.shortfall(f.uplink("agg-0-0", "core-0-0")));
  f.live.take_out(f.uplink("agg-0-1", "core-1-0"));
  const auto shortfall = f.live.shortfall(f.uplink("agg-0-1", "core-1-0"));
  ASSERT_TRUE(shortfall) << "the pods have lost each other, though every leaf still has its ways within";
  EXPECT_EQ(shortfall->guard, Guard::kReachability);
}

TEST(LiveTree, WaysThatMeetNowhereAreNone) {
  CapacityLimits limits;
  limits.leaf_share_idle = 0;
  Fixture f(fakes::FabricBuilder::fat_tree(2, 2, 1), {}, limits);
  f.live.take_out(f.uplink("leaf-0", "spine-0"));
  f.live.take_out(f.uplink("leaf-1", "spine-1"));
  const auto shortfall = f.live.shortfall(f.uplink("leaf-1", "spine-1"));
  ASSERT_TRUE(shortfall) << "each has a spine, and not the same one";
  EXPECT_EQ(describe(*shortfall, f.tree, *f.topology), "leaf-1 and leaf-0 would have no path to each other");
}

TEST(LiveTree, ALeafThatIsGoneAlreadyStopsNobody) {
  auto fabric = fakes::FabricBuilder::fat_tree(8, 4, 1);
  for (unsigned spine = 0; spine < 8; ++spine)
    fabric.unlink(fabric.port_towards("leaf-3", "spine-" + std::to_string(spine)));
  Fixture f(std::move(fabric));
  const UplinkIndex link = f.uplink("leaf-0", "spine-0");
  f.live.take_out(link);
  EXPECT_FALSE(f.live.shortfall(link));
}

TEST(LiveTree, ARailKeepsItsUplinks) {
  // Two rails: adapter 0 of each host ends at one leaf, adapter 1 at the other.
  fakes::FabricBuilder fabric;
  for (unsigned spine = 0; spine < 4; ++spine) fabric.add_switch("spine-" + std::to_string(spine), 2);
  for (unsigned rail = 0; rail < 2; ++rail) {
    const std::string leaf = "leaf-" + std::to_string(rail);
    fabric.add_switch(leaf, 6);
    for (unsigned spine = 0; spine < 4; ++spine)
      fabric.connect(fabric.port_of(leaf, static_cast<std::uint8_t>(3 + spine)),
                     fabric.port_of("spine-" + std::to_string(spine), static_cast<std::uint8_t>(rail + 1)));
    for (unsigned host = 0; host < 2; ++host) {
      const std::string name = "host-" + std::to_string(host) + " mlx5_" + std::to_string(rail);
      fabric.add_adapter(name);
      fabric.connect(fabric.port_of(name, 1), fabric.port_of(leaf, static_cast<std::uint8_t>(host + 1)));
    }
  }
  CapacityLimits limits;
  limits.rail_share = 0.9;
  Fixture f(std::move(fabric), {}, limits);
  ASSERT_EQ(f.tree.rail_count(), 2U);
  const UplinkIndex link = f.uplink("leaf-1", "spine-2");
  f.live.take_out(link);
  const auto shortfall = f.live.shortfall(link);
  ASSERT_TRUE(shortfall);
  EXPECT_EQ(describe(*shortfall, f.tree, *f.topology),
            "rail 1 would keep 3 of 4 uplinks; 4 are needed (remedy.limits.capacity.rail_share)");
}

// Eight leaves, of which two have no adapters yet, under eight spines.
fakes::FabricBuilder with_empty_leaves() {
  auto fabric = fakes::FabricBuilder::fat_tree(8, 8, 1);
  for (const char* host : {"host-6-0 mlx5_0", "host-7-0 mlx5_0"}) {
    const PortIndex port = fabric.nodes()[fabric.find(host)].first_port;
    const PortIndex peer = fabric.ports()[port].peer;
    fabric.port(port).peer = fabric.port(peer).peer = kNoIndex;
  }
  return fabric;
}

TEST(LiveTree, LeavesWithoutAdaptersAreNoWaysUp) {
  CapacityLimits limits;
  limits.leaf_share_idle = 0.75;
  Fixture f(with_empty_leaves(), {}, limits);
  EXPECT_EQ(f.tree.leaves().size(), 6U);
  EXPECT_EQ(f.live.designed_ways(f.fabric.find("leaf-0")), 8U) << "one by each spine";
  for (const char* spine : {"spine-0", "spine-1"}) {
    f.live.take_out(f.uplink("leaf-0", spine));
    EXPECT_FALSE(f.live.shortfall(f.uplink("leaf-0", spine)));
  }
  f.live.take_out(f.uplink("leaf-0", "spine-2"));
  EXPECT_TRUE(f.live.shortfall(f.uplink("leaf-0", "spine-2")));
}

TEST(LiveTree, APodOfAggregationSwitchesThatIsOffRefusesNothing) {
  auto fabric = three_tiers(5, 4, 4, 2);
  for (unsigned leaf = 0; leaf < 4; ++leaf)
    for (unsigned agg = 0; agg < 4; ++agg) {
      const PortIndex port = fabric.port_towards("leaf-4-" + std::to_string(leaf), "agg-4-" + std::to_string(agg));
      const PortIndex peer = fabric.ports()[port].peer;
      fabric.port(port).peer = fabric.port(peer).peer = kNoIndex;
    }
  for (unsigned agg = 0; agg < 4; ++agg) fabric.power_off(fabric.find("agg-4-" + std::to_string(agg)));
  Fixture f(std::move(fabric));
  EXPECT_EQ(f.live.ways(f.fabric.find("leaf-0-0")), 8U);
  const UplinkIndex link = f.uplink("agg-0-0", "core-0-0");
  f.live.take_out(link);
  EXPECT_FALSE(f.live.shortfall(link));
}

TEST(LiveTree, AGatewayAtASpineKeepsItsWayAndHidesNoOther) {
  auto fabric = fakes::FabricBuilder::fat_tree(8, 4, 2);
  const NodeIndex spine = fabric.add_switch("spine-new", 5);
  for (unsigned leaf = 0; leaf < 4; ++leaf) {
    const PortIndex port = fabric.port_towards("leaf-" + std::to_string(leaf), "spine-0");
    const PortIndex peer = fabric.ports()[port].peer;
    fabric.port(port).peer = fabric.port(peer).peer = kNoIndex;
    fabric.connect(port, fabric.nodes()[spine].first_port + leaf + 1);
  }
  const NodeIndex gateway = fabric.add_adapter("gateway mlx5_0");
  fabric.connect(fabric.nodes()[gateway].first_port, fabric.nodes()[spine].first_port + 5);
  Fixture f(std::move(fabric));
  EXPECT_EQ(f.live.designed_ways(f.fabric.find("leaf-0")), 8U) << "that spine is one";
  const auto without = [&f](const char* name) { return f.live.shortfall_without(f.uplink("leaf-0", name)); };
  EXPECT_FALSE(without("spine-1"));
  ASSERT_TRUE(without("spine-new")) << "no way up and down leads from leaf-0 to the gateway then";
  EXPECT_EQ(without("spine-new")->guard, Guard::kReachability);
}

// The switches that ways up from a switch lead to, itself first, followed cable by cable.
std::set<NodeIndex> reached(const FabricTree& tree, const std::vector<std::uint8_t>& up, NodeIndex node) {
  std::set<NodeIndex> all{node};
  for (const UplinkIndex index : tree.up(node))
    if (up[index] != 0) all.merge(reached(tree, up, tree.uplinks()[index].parent));
  return all;
}

std::size_t shared_in(const FabricTree& tree, const std::set<NodeIndex>& a, const std::set<NodeIndex>& b,
                      unsigned tier) {
  std::vector<NodeIndex> both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return static_cast<std::size_t>(
      std::ranges::count_if(both, [&](NodeIndex node) { return tier == 0 || tree.tier(node) == tier; }));
}

// Pairs of leaves of which one has its ways through `uplink`, one by one: the rule that is broken first.
std::optional<Guard> broken_by_hand(const FabricTree& tree, const std::vector<std::uint8_t>& up,
                                    const std::vector<JobLeaves>& jobs, double share, UplinkIndex uplink) {
  const std::vector<std::uint8_t> all_up(up.size(), 1);
  std::vector<std::set<NodeIndex>> now, designed;
  for (const NodeIndex leaf : tree.leaves()) {
    now.push_back(reached(tree, up, leaf));
    designed.push_back(reached(tree, all_up, leaf));
  }
  bool job_short = false;
  for (std::uint32_t a = 0; a < now.size(); ++a) {
    if (!now[a].contains(tree.uplinks()[uplink].child)) continue;
    for (std::uint32_t b = 0; b < now.size(); ++b) {
      if (a == b || shared_in(tree, designed[a], designed[b], 0) == 0) continue;
      if (shared_in(tree, now[a], now[b], 0) == 0) return Guard::kReachability;
      const bool mates = std::ranges::any_of(jobs, [&](const JobLeaves& job) {
        return std::ranges::binary_search(job.leaves, a) && std::ranges::binary_search(job.leaves, b);
      });
      unsigned tier = 2;
      while (shared_in(tree, designed[a], designed[b], tier) == 0) ++tier;
      const auto needed =
          std::ceil(share * static_cast<double>(shared_in(tree, designed[a], designed[b], tier)) - 1e-9);
      job_short = job_short || (mates && static_cast<double>(shared_in(tree, now[a], now[b], tier)) < needed);
    }
  }
  return job_short ? std::optional(Guard::kJobCapacity) : std::nullopt;
}

TEST(LiveTree, PairsAreJudgedAsIfEachWereLookedAt) {
  std::mt19937 random(11);
  const auto draw = [&random](unsigned low, unsigned high) {
    return std::uniform_int_distribution<unsigned>(low, high)(random);
  };
  std::map<std::optional<Guard>, unsigned> met;
  for (unsigned round = 0; round < 600; ++round) {
    auto fabric = draw(0, 1) == 0 ? fakes::FabricBuilder::fat_tree(draw(2, 6), draw(2, 5), 1)
                                  : three_tiers(draw(2, 3), draw(1, 3), draw(2, 3), draw(1, 3));
    const auto topology = fabric.topology();
    const FabricTree tree(*topology, find_places(*topology));
    CapacityLimits limits;
    limits.leaf_share_jobs = limits.leaf_share_idle = 0;
    limits.job_share = draw(3, 9) / 10.0;
    std::vector<JobLeaves> jobs(draw(0, 2));
    for (JobLeaves& job : jobs)
      for (std::uint32_t leaf = 0; leaf < tree.leaves().size(); ++leaf)
        if (draw(0, 2) > 0) job.leaves.push_back(leaf);
    std::vector<std::uint8_t> up(tree.uplinks().size());
    LiveTree live(tree, std::vector<std::uint8_t>(up.size(), 1), jobs, limits);
    for (UplinkIndex i = 0; i < up.size(); ++i)
      if ((up[i] = draw(0, 5) != 0) == 0) live.take_out(i);
    // Leaves that are cut off are a matter of their own.
    if (std::ranges::any_of(all_leaves(tree), [&](std::uint32_t leaf) { return !live.is_alive(leaf); })) continue;
    const UplinkIndex uplink = draw(0, static_cast<unsigned>(up.size()) - 1);
    const auto shortfall = live.shortfall(uplink);
    const auto guard = shortfall ? std::optional(shortfall->guard) : std::nullopt;
    EXPECT_EQ(guard, broken_by_hand(tree, up, jobs, limits.job_share, uplink)) << "round " << round;
    EXPECT_EQ(live.is_short(uplink), shortfall.has_value());
    ++met[guard];
  }
  EXPECT_GT(met[std::nullopt], 50U);
  EXPECT_GT(met[Guard::kReachability], 20U);
  EXPECT_GT(met[Guard::kJobCapacity], 50U);
}

TEST(LiveTree, ALeafThatIsSwitchedOffStopsNobodyWhileItWouldHaveEnough) {
  auto fabric = three_tiers(2, 4, 4, 4);
  for (unsigned agg = 0; agg < 4; ++agg) fabric.unlink(fabric.port_towards("leaf-0-3", "agg-0-" + std::to_string(agg)));
  Fixture f(std::move(fabric));
  const auto take = [&f](const char* agg, const char* core) {
    f.live.take_out(f.uplink(agg, core));
    return f.live.shortfall(f.uplink(agg, core));
  };
  EXPECT_FALSE(take("agg-0-0", "core-0-0")) << "leaf-0-3 has no way up, and not because of this link";
  for (const char* core : {"core-1-0", "core-1-1", "core-1-2"}) EXPECT_FALSE(take("agg-0-1", core));
  // All other leaves of the pod go as well: what they need when they are back is kept.
  for (unsigned leaf = 0; leaf < 3; ++leaf)
    for (unsigned agg = 0; agg < 4; ++agg)
      f.live.take_out(f.uplink("leaf-0-" + std::to_string(leaf), "agg-0-" + std::to_string(agg)));
  const auto shortfall = take("agg-0-2", "core-2-0");
  ASSERT_TRUE(shortfall);
  EXPECT_EQ(shortfall->guard, Guard::kLeafCapacity);
  EXPECT_EQ(shortfall->kept, 11U);
}

}  // namespace
}  // namespace weft::analyzer
