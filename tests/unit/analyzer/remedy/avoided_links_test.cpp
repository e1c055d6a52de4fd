// SPDX-License-Identifier: Apache-2.0
// Links that are avoided are no ways, but who has no other way still has them.

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "analyzer/places/place_finder.hpp"
#include "analyzer/remedy/capacity_guard.hpp"
#include "analyzer/remedy/tree_cache.hpp"
#include "tests/unit/analyzer/remedy/trees.hpp"

namespace weft::analyzer {
namespace {

// As the rule says it, for one link, in trees that are made for it alone.
std::optional<Shortfall> found_plainly(const Topology& topology, std::span<const PortKey> avoided,
                                       std::span<const JobLeaves> jobs, const CapacityLimits& limits, PortIndex link) {
  const FabricTree tree(topology, find_places(topology));
  const UplinkIndex uplink = tree.uplink_of(link);
  auto with_avoided = up_states(tree, topology);
  with_avoided[uplink] = 0;
  auto ways = with_avoided;
  for (const PortKey end : avoided)
    if (const UplinkIndex other = tree.uplink_of(topology.find_port(end)); other != kNoIndex) ways[other] = 0;
  if (auto found = LiveTree(tree, ways, jobs, limits).shortfall(uplink)) return found;
  auto parted = LiveTree(tree, with_avoided, jobs, limits).shortfall(uplink);
  return parted && parted->guard == Guard::kReachability ? parted : std::nullopt;
}

std::string text(const std::optional<Shortfall>& shortfall, const Topology& topology) {
  if (!shortfall) return "enough";
  return describe(*shortfall, FabricTree(topology, find_places(topology)), topology);
}

TEST(AvoidedLinks, AreAskedAsIfTheTreesWereMadeAnew) {
  std::mt19937 random(7);
  const auto draw = [&random](std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(random);
  };
  const auto size = [&draw](unsigned low, unsigned high) { return static_cast<unsigned>(draw(low, high)); };
  std::map<std::string, unsigned> met;
  for (unsigned round = 0; round < 40; ++round) {
    auto fabric = draw(0, 1) == 0 ? fakes::FabricBuilder::fat_tree(size(2, 5), size(2, 5), 1)
                                  : three_tiers(size(2, 3), size(1, 3), size(2, 3), size(1, 3));
    RemedySettings settings;
    CapacityLimits& limits = settings.limits.capacity;
    limits.leaf_share_idle = static_cast<double>(draw(0, 3)) / 10;
    limits.leaf_share_jobs = limits.job_share = limits.rail_share = static_cast<double>(draw(0, 5)) / 10;
    TreeCache trees(limits);
    std::vector<FabricView> fabrics(1);
    fabrics[0].name = fabric.name();
    std::vector<std::shared_ptr<const HostView>> hosts;
    std::vector<PortKey> avoided;
    for (unsigned step = 0; step < 10; ++step) {
      const auto before = fabric.topology();
      const FabricTree drawn(*before, find_places(*before));
      if (drawn.uplinks().size() < 2) break;
      const PortIndex some = drawn.uplinks()[draw(0, drawn.uplinks().size() - 1)].port;
      switch (draw(0, 9)) {
        case 0:
          if (fabric.port(some).is_up())
            fabric.unlink(some);
          else
            fabric.relink(some);
          break;
        case 1: {
          auto reading = std::make_shared<HostReading>();
          reading->jobs = {"slurm:" + std::to_string(draw(1, 2))};
          auto host = std::make_shared<HostView>();
          host->host = host_name(before->nodes()[draw(0, before->nodes().size() - 1)]);
          host->reading = std::move(reading);
          hosts.push_back(std::move(host));
          break;
        }
        case 2:
          avoided.clear();
          break;
        case 3: {
          const PortIndex peer = before->port(some).peer;
          fabric.unlink(some);
          fabric.port(some).peer = fabric.port(peer).peer = kNoIndex;
          break;
        }
        default:
          avoided.push_back(before->key_of(draw(0, 1) == 0 ? some : before->port(some).peer));
      }
      fabrics[0].sweep = std::make_shared<const Sweep>(fabric.sweep());
      const Topology& topology = *fabrics[0].sweep->topology;
      const RemedyView view{fabric.now(), fabrics, {}, hosts, {}};
      trees.set_avoided(avoided);
      LiveTree* tree = trees.tree(fabric.name(), view, {});
      ASSERT_NE(tree, nullptr);
      const HostIdentities identities;
      const RemedyStatus status;
      const SweepCounts counts;
      const GuardInput input{settings,
                             view,
                             {},
                             status,
                             {},
                             identities,
                             tree,
                             trees.with_avoided(fabric.name()),
                             trees.with_held(fabric.name()),
                             nullptr,
                             counts,
                             {}};
      const auto jobs = leaves_of_jobs(tree->tree(), topology, hosts);
      for (UplinkIndex uplink = 0; uplink < tree->tree().uplinks().size(); ++uplink) {
        const PortIndex link = tree->tree().uplinks()[uplink].port;
        const auto found = find_shortfall(input, uplink);
        const auto plain = found_plainly(topology, avoided, jobs, limits, link);
        ASSERT_EQ(text(found, topology), text(plain, topology))
            << "round " << round << " step " << step << ' ' << port_label(topology, link);
        ++met[!found ? "enough" : tree->shortfall_without(uplink) ? "short of ways" : "parted"];
      }
    }
  }
  EXPECT_GT(met["enough"], 500U);
  EXPECT_GT(met["short of ways"], 500U);
  EXPECT_GT(met["parted"], 20U);
}

}  // namespace
}  // namespace weft::analyzer
