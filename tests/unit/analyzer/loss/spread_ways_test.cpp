// SPDX-License-Identifier: Apache-2.0
// Losses of flows that take other ways than the forwarding tables name.
#include "analyzer/loss/spread_ways.hpp"

#include <gtest/gtest.h>

#include "tests/unit/analyzer/loss/lossy_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

struct SpreadWays : testing::Test {
  bool may_be() {
    return may_be_spread(*fabric.sweep().topology, [this](PortIndex port) -> std::optional<double> {
      const auto found = sent.find(port);
      return found == sent.end() ? unknown : found->second;
    });
  }
  void send(const std::string& leaf, double first, double second) {
    sent[fabric.port_towards(leaf, "spine-0")] = first;
    sent[fabric.port_towards(leaf, "spine-1")] = second;
  }
  fakes::FabricBuilder fabric = fakes::FabricBuilder::fat_tree(2, 4, 4);
  std::map<PortIndex, double> sent;
  std::optional<double> unknown = 0.0;
};

TEST_F(SpreadWays, ShowInUplinksThatCarryTheSame) {
  EXPECT_FALSE(may_be()) << "nobody sends";
  send("leaf-0", 1e6, 1.1e6);
  send("leaf-1", 3e6, 2.9e6);
  send("leaf-2", 10, 900);
  EXPECT_TRUE(may_be()) << "what leaf-2 sends is too little to show anything";
  send("leaf-1", 3e6, 1e6);
  EXPECT_FALSE(may_be());
}

TEST_F(SpreadWays, ShowNothingWhereUplinksAreNotRead) {
  send("leaf-0", 1e6, 1e6);
  unknown.reset();
  EXPECT_TRUE(may_be());
  sent.erase(fabric.port_towards("leaf-0", "spine-1"));
  EXPECT_FALSE(may_be());
}

/// Four hosts of a leaf send to hosts to which its table leads over the first spine.
struct SpreadLoss : testing::Test {
  SpreadLoss() {
    const Sweep first = lossy.fabric.sweep();
    const PortIndex up = lossy.fabric.port_towards("leaf-0", "spine-0");
    for (const std::string& to : lossy.hosts) {
      const Path path =
          find_path(*first.topology, *first.routes, lossy.port("host-0-0 mlx5_0"), lossy.fabric.lid_of(to));
      if (path.hops.size() == 4 && path.hops[1].from == up) targets.push_back(to);
    }
    for (int i = 0; i < 4; ++i)
      for (const std::string& to : targets)
        lossy.flows.push_back({"host-0-" + std::to_string(i) + " mlx5_0", to, 100'000});
  }
  void seconds(int count) {
    for (int i = 0; i < count; ++i) {
      tracker.take(lossy.second());
      if (tracker.is_due(lossy.fabric.now(), 1s)) tracker.end_window(lossy.ends(), lossy.fabric.now());
    }
  }
  LossyFabric lossy;
  std::vector<std::string> targets;
  LossTracker tracker{LossThresholds{}};
};

TEST_F(SpreadLoss, IsFoundOnACableThatNoTableLeadsTo) {
  ASSERT_GE(targets.size(), 4U);
  lossy.spread = true;
  const LossSuspect cause = lossy.cable("leaf-0", "spine-1");
  lossy.lost_on[cause.sender] = 1e-3;
  seconds(40);
  ASSERT_EQ(tracker.losses().size(), 1U);
  EXPECT_EQ(tracker.losses()[0].suspect, cause);
  EXPECT_TRUE(tracker.losses()[0].spread);
}

TEST_F(SpreadLoss, IsNoneWhereTheTablesSayTheSameAsTheTraffic) {
  const LossSuspect cause = lossy.cable("leaf-0", "spine-0");
  lossy.lost_on[cause.sender] = 1e-3;
  seconds(40);
  ASSERT_EQ(tracker.losses().size(), 1U);
  EXPECT_EQ(tracker.losses()[0].suspect, cause);
  EXPECT_FALSE(tracker.losses()[0].spread);
}

}  // namespace
}  // namespace weft::analyzer
