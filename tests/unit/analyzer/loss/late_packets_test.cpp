// SPDX-License-Identifier: Apache-2.0
// Receivers that count every packet behind a lost one as out of order, and receivers that count one.
#include "analyzer/loss/late_packets.hpp"

#include <gtest/gtest.h>

#include "tests/unit/analyzer/loss/lossy_fabric.hpp"

namespace weft::analyzer {
namespace {

TEST(WeighLatePackets, DividesByWhatEachLossMakesInTheSameJob) {
  std::vector<LossEnd> ends{
      {.sent_again = 100, .out_of_sequence = 0, .jobs = {1}},  {.sent_again = 0, .out_of_sequence = 4900, .jobs = {1}},
      {.sent_again = 20, .out_of_sequence = 100, .jobs = {1}}, {.sent_again = 40, .out_of_sequence = 0, .jobs = {2}},
      {.sent_again = 0, .out_of_sequence = 39, .jobs = {2}},   {.sent_again = 40, .out_of_sequence = 61, .jobs = {}}};
  weigh_late_packets(ends);
  EXPECT_NEAR(ends[1].out_of_sequence, 4900 * 120.0 / 5000, 1e-9);
  EXPECT_NEAR(ends[2].out_of_sequence, 100 * 120.0 / 5000, 1e-9);
  EXPECT_EQ(ends[4].out_of_sequence, 39) << "its adapters count what was lost";
  EXPECT_NEAR(ends[5].out_of_sequence, 61 * 200.0 / 5100, 1e-9) << "without a job: by all";
  EXPECT_EQ(ends[0].sent_again, 100);
}

TEST(WeighLatePackets, LeavesReceiversWhoseSendersCountNothing) {
  std::vector<LossEnd> ends{{.out_of_sequence = 500, .jobs = {1}}};
  weigh_late_packets(ends);
  EXPECT_EQ(ends[0].out_of_sequence, 500);
}

TEST(LatePackets, AFewLossesOfHealthyFlowsMakeNoReceiverHurt) {
  using namespace std::chrono_literals;
  LossyFabric lossy;
  for (int i = 0; i < 4; ++i)
    lossy.flows.push_back({"host-0-" + std::to_string(i) + " mlx5_0", "host-1-" + std::to_string(i) + " mlx5_0"});
  const LossSuspect cause = lossy.cable("host-0-0 mlx5_0", "leaf-0");
  lossy.lost_on[cause.sender] = 1e-4;
  LossTracker tracker{LossThresholds{}};
  for (int second = 0; second < 40; ++second) {
    tracker.take(lossy.second());
    // A hundred packets of its flow are under way behind each lost one; every other flow loses one a second.
    lossy.totals["host-1-0 mlx5_0"].out_of_sequence += 99 * 100;
    for (int i = 1; i < 4; ++i) {
      lossy.totals["host-0-" + std::to_string(i) + " mlx5_0"].sent_again += 1;
      lossy.totals["host-1-" + std::to_string(i) + " mlx5_0"].out_of_sequence += 100;
    }
    if (tracker.is_due(lossy.fabric.now(), 1s)) tracker.end_window(lossy.ends(), lossy.fabric.now());
  }
  ASSERT_EQ(tracker.losses().size(), 1U);
  EXPECT_EQ(tracker.losses()[0].suspect, cause);
  EXPECT_EQ(tracker.losses()[0].receivers.size(), 1U);
  EXPECT_NEAR(tracker.losses()[0].lost / tracker.losses()[0].passed, 1e-4, 2e-5);
}

}  // namespace
}  // namespace weft::analyzer
