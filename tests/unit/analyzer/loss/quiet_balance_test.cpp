// SPDX-License-Identifier: Apache-2.0
// Packets that vanish, counted at moments when little passes: too few for hosts to tell where.
#include "analyzer/loss/quiet_balance.hpp"

#include <gtest/gtest.h>

#include "tests/unit/analyzer/loss/lossy_fabric.hpp"

namespace weft::analyzer {
namespace {

/// One moment each 20 s: what was missing by then, of 100 million packets in each step.
std::vector<QuietMoment> moments(const std::vector<float>& missing, float counted = 0) {
  std::vector<QuietMoment> all;
  for (const float packets : missing) {
    const auto n = static_cast<float>(all.size());
    all.push_back({.at = 20 * n, .passed = 1e8F * n, .missing = packets, .counted = counted * packets});
  }
  return all;
}

bool is_loss(const std::vector<QuietMoment>& all) {
  const auto vanished = compare_moments(all);
  return vanished && vanished->is_loss;
}

TEST(CompareMoments, ALossGrowsAgainAndAgain) {
  const auto vanished = compare_moments(moments({0, 4, 9, 11, 17, 20}));
  ASSERT_TRUE(vanished);
  EXPECT_TRUE(vanished->is_loss);
  EXPECT_DOUBLE_EQ(vanished->lost, 20);
  EXPECT_DOUBLE_EQ(vanished->noise, 0);
  EXPECT_FALSE(compare_moments(moments({0, 4, 9, 11, 17}))) << "too few moments";
}

TEST(CompareMoments, WhatComesBackIsNoLoss) {
  EXPECT_FALSE(is_loss(moments({0, 9, 1, 10, 4, 12, 20, 13})));
  EXPECT_TRUE(is_loss(moments({0, 9, 8, 19, 18, 30, 40}))) << "far more than the noise of one packet";
}

TEST(CompareMoments, OneEventIsNoLoss) {
  EXPECT_FALSE(is_loss(moments({0, 0, 500, 500, 500, 500, 501})));
  EXPECT_FALSE(is_loss(moments({0, 9, 18, 27, 27, 27, 27, 27, 27, 27}))) << "it has ended";
}

TEST(CompareMoments, WhatIsTooRareOrCountedIsNoLoss) {
  EXPECT_FALSE(is_loss(moments({0, 1, 2, 3, 4, 5, 6, 7}))) << "less than ten packets";
  auto rare = moments({0, 4, 9, 11, 17, 20});
  for (QuietMoment& moment : rare) moment.passed *= 10;
  EXPECT_FALSE(is_loss(rare)) << "20 of 5 thousand million";
  EXPECT_FALSE(is_loss(moments({0, 4, 9, 11, 17, 20}, 0.5F))) << "error counters tell of half of it";
  auto uncounted = moments({0, 4, 9, 11, 17, 20});
  for (QuietMoment& moment : uncounted) moment.passed = moment.missing;
  EXPECT_FALSE(is_loss(uncounted)) << "the other end does not count";
}

/// Jobs that send for two seconds and compute for three.
struct Iterations {
  void run(int count) {
    for (int i = 0; i < count; ++i) {
      for (int second = 0; second < 5; ++second) {
        for (Flow& flow : lossy.flows) flow.packets = second < 2 ? 10'000'000 : 100;
        balance.take(lossy.second());
      }
    }
  }
  LossyFabric lossy;
  QuietBalance balance;
};

TEST(QuietBalance, FindsTheCableAndTheSwitchThatLoseAFewPackets) {
  Iterations jobs;
  for (int i = 0; i < 4; ++i)
    jobs.lossy.flows.push_back({"host-0-" + std::to_string(i) + " mlx5_0", "host-1-" + std::to_string(i) + " mlx5_0"});
  jobs.run(40);
  EXPECT_TRUE(jobs.balance.losses().empty());
  const LossSuspect cable = jobs.lossy.cable("host-0-0 mlx5_0", "leaf-0");
  const LossSuspect device = jobs.lossy.device("leaf-1");
  jobs.lossy.lost_on[cable.sender] = 2e-7;  // two of ten million
  jobs.lossy.lost_in[device.node] = 2e-7;
  jobs.run(40);
  const std::vector<VanishingPoint> losses = jobs.balance.losses();
  ASSERT_EQ(losses.size(), 2U);
  EXPECT_EQ(losses[0].suspect, cable);
  EXPECT_EQ(losses[1].suspect, device);
  EXPECT_NEAR(losses[0].vanished.lost / losses[0].vanished.passed, 1e-7, 1e-7);
  const auto healthy = jobs.balance.of(jobs.lossy.cable("leaf-0", "host-0-0 mlx5_0"));
  ASSERT_TRUE(healthy);
  EXPECT_FALSE(healthy->is_loss);
  jobs.lossy.lost_on.clear();
  jobs.lossy.lost_in.clear();
  jobs.run(30);
  EXPECT_TRUE(jobs.balance.losses().empty());
}

TEST(QuietBalance, SaysNothingOfWhatIsNeverQuiet) {
  Iterations jobs;
  jobs.lossy.flows = {{"host-0-0 mlx5_0", "host-1-0 mlx5_0"}};
  const LossSuspect cable = jobs.lossy.cable("host-0-0 mlx5_0", "leaf-0");
  jobs.lossy.lost_on[cable.sender] = 1e-5;
  for (int i = 0; i < 300; ++i) jobs.balance.take(jobs.lossy.second());
  EXPECT_TRUE(jobs.balance.losses().empty());
  EXPECT_FALSE(jobs.balance.of(cable));
}

TEST(QuietBalance, BeginsAnewWithAClearedCounterAndAnotherCable) {
  Iterations jobs;
  jobs.lossy.flows = {{"host-0-0 mlx5_0", "host-1-0 mlx5_0"}};
  const LossSuspect cable = jobs.lossy.cable("host-0-0 mlx5_0", "leaf-0");
  jobs.lossy.lost_on[cable.sender] = 1e-6;
  jobs.run(40);
  ASSERT_TRUE(jobs.balance.of(cable));
  jobs.lossy.fabric.reset_counters(cable.sender);
  jobs.run(2);
  EXPECT_FALSE(jobs.balance.of(cable));
  jobs.run(40);
  ASSERT_TRUE(jobs.balance.of(cable));
  jobs.lossy.flows.clear();
  jobs.lossy.pull(cable.sender);
  jobs.run(2);
  EXPECT_TRUE(jobs.balance.losses().empty());
}

}  // namespace
}  // namespace weft::analyzer
