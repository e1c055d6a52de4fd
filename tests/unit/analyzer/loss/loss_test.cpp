// SPDX-License-Identifier: Apache-2.0
// Silent loss: who lost what, on which ways, and where the fabric's own packet counters do not add up.
#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/loss/loss_tracker.hpp"
#include "tests/unit/analyzer/loss/lossy_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

TEST(FindLosses, ACableThatManyFlowsCrossIsToldFromItsNeighbours) {
  for (const auto& [from, to] : {std::pair{"leaf-1", "spine-0"}, std::pair{"spine-1", "leaf-2"}}) {
    SCOPED_TRACE(from);
    LossyFabric lossy;
    lossy.all_to_all();
    lossy.lost_on[lossy.cable(from, to).sender] = 1e-3;
    lossy.second();
    const auto causes = lossy.find();
    ASSERT_EQ(causes.size(), 1U);
    EXPECT_EQ(causes[0].suspect, lossy.cable(from, to));
    EXPECT_GT(causes[0].confidence, 0.5);
    EXPECT_NEAR(causes[0].lost, 24 * 100, 100) << "four hosts, twelve destinations behind two spines, 100 of each";
  }
}

TEST(FindLosses, ADeviceExplainsItsCables) {
  for (const char* name : {"spine-0", "leaf-1"}) {
    LossyFabric lossy;
    lossy.all_to_all();
    lossy.lost_in[lossy.fabric.find(name)] = 1e-3;
    lossy.second();
    const auto causes = lossy.find();
    ASSERT_GE(causes.size(), 1U) << name;
    EXPECT_EQ(causes[0].suspect, lossy.device(name));
    EXPECT_EQ(causes.size(), 1U) << "nothing is left for its cables";
  }
}

TEST(FindLosses, FindsTwoCausesAtOnce) {
  LossyFabric lossy;
  lossy.flows = {{"host-0-0 mlx5_0", "host-1-0 mlx5_0"},
                 {"host-0-1 mlx5_0", "host-1-1 mlx5_0"},
                 {"host-2-0 mlx5_0", "host-3-0 mlx5_0"},
                 {"host-2-1 mlx5_0", "host-3-1 mlx5_0"}};
  lossy.lost_on[lossy.cable("leaf-1", "host-1-0 mlx5_0").sender] = 1e-3;
  lossy.lost_on[lossy.cable("host-2-1 mlx5_0", "leaf-2").sender] = 1e-3;
  lossy.second();
  const auto among = [&](const LossSuspect& suspect) {
    LossTestimony testimony;
    if (suspect == lossy.cable("leaf-1", "host-1-0 mlx5_0") || suspect == lossy.cable("host-2-1 mlx5_0", "leaf-2"))
      testimony.support = 10;
    return testimony;
  };
  const auto causes = lossy.find([&](const LossSuspect& suspect, double) { return among(suspect); });
  ASSERT_EQ(causes.size(), 2U);
  EXPECT_NE(causes[0].suspect, causes[1].suspect);
  for (const LossHypothesis& cause : causes) EXPECT_EQ(cause.testimony.support, 10);
}

TEST(FindLosses, NamesThePathOfASingleFlowWithLowConfidence) {
  LossyFabric lossy;
  lossy.flows = {{"host-0-0 mlx5_0", "host-1-0 mlx5_0"}, {"host-2-0 mlx5_0", "host-3-0 mlx5_0"}};
  lossy.lost_on[lossy.cable("leaf-0", "spine-0").sender] = 1e-3;
  lossy.lost_on[lossy.cable("leaf-0", "spine-1").sender] = 1e-3;
  lossy.second();
  std::vector<LossHypothesis> rivals;
  const auto causes = lossy.find({}, &rivals);
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_LT(causes[0].confidence, 0.6);
  EXPECT_GE(rivals.size(), 4U) << "the cables of its way";
}

TEST(FindLosses, TimeoutsWithoutMissingPacketsAreNoLossOnThePath) {
  LossyFabric lossy;
  lossy.all_to_all();
  lossy.second();
  EXPECT_TRUE(lossy.find().empty());
  lossy.totals["host-0-0 mlx5_0"].sent_again += 5000;
  EXPECT_TRUE(lossy.find().empty()) << "a peer has gone";
  lossy.totals["host-0-0 mlx5_0"].sent_again = 0;
  lossy.totals["host-1-0 mlx5_0"].out_of_sequence += 5000;
  EXPECT_TRUE(lossy.find().empty()) << "its own disorder";
}

TEST(FindLosses, AnEndIsHurtThatChanceHurtsInOneWindowOfAThousandAtMost) {
  // 6 of 60 million are expected on a healthy path; Poisson: 11 or more in 4.3 % of the windows, 18 in 0.007 %.
  const LossThresholds thresholds{.good_ratio = 1e-7, .bad_ratio = 3e-7};
  EXPECT_FALSE(has_sent_again({.sent = 60e6, .sent_again = 11, .jobs = {}}, thresholds));
  EXPECT_TRUE(has_sent_again({.sent = 60e6, .sent_again = 18, .jobs = {}}, thresholds));
  EXPECT_FALSE(has_missed({.received = 60e6, .out_of_sequence = 11, .jobs = {}}, thresholds));
  EXPECT_TRUE(has_missed({.received = 60e6, .out_of_sequence = 18, .jobs = {}}, thresholds));
}

TEST(FindLosses, InOneOfSeveralWindowsLessSaysThatAnEndMayBeHurt) {
  const LossThresholds thresholds{.good_ratio = 1e-7, .bad_ratio = 3e-7};
  EXPECT_FALSE(may_have_sent_again({.sent = 60e6, .sent_again = 10, .jobs = {}}, thresholds));
  EXPECT_TRUE(may_have_sent_again({.sent = 60e6, .sent_again = 12, .jobs = {}}, thresholds));
  EXPECT_FALSE(may_have_missed({.received = 60e6, .out_of_sequence = 10, .jobs = {}}, thresholds));
  EXPECT_TRUE(may_have_missed({.received = 60e6, .out_of_sequence = 12, .jobs = {}}, thresholds));
}

TEST(FindLosses, SayWhatOtherCablesOnTheWayTellOf) {
  LossyFabric lossy;
  lossy.flows = {{"host-0-0 mlx5_0", "host-1-0 mlx5_0"}};
  const LossSuspect bad = lossy.cable("leaf-1", "host-1-0 mlx5_0");
  lossy.lost_on[bad.sender] = 1e-3;
  lossy.second();
  const LossSuspect counts = lossy.cable("host-0-0 mlx5_0", "leaf-0");
  const auto causes = lossy.find([&](const LossSuspect& suspect, double) {
    return LossTestimony{.support = suspect == bad ? 10.0 : 0,
                         .counted = suspect == counts || suspect == bad ? 30.0 : 0};
  });
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].suspect, bad);
  EXPECT_EQ(causes[0].told_on_way, 30) << "its own are no others'";
}

TEST(FindLosses, OnlyPairsOfOneRailAndJobMayCommunicate) {
  const LossEnd a{.port = 1, .rail = 1, .jobs = {1, 2}};
  EXPECT_TRUE(may_talk(a, {.port = 2, .rail = 1, .jobs = {2}}));
  EXPECT_FALSE(may_talk(a, {.port = 2, .rail = 1, .jobs = {3}}));
  EXPECT_FALSE(may_talk(a, {.port = 2, .rail = 2, .jobs = {2}}));
  EXPECT_TRUE(may_talk(a, {.port = 2, .rail = 1, .jobs = {}})) << "storage serves everybody";
  EXPECT_FALSE(may_talk(a, a));
}

TEST(CountAgreeing, FindsLostPacketsDespitePacketsInFlight) {
  // 1e6 packets a second, one in 1000 lost, the receiver read 30 or 50 ms after the sender, every third time at rest.
  std::vector<double> in, missing, skew;
  for (int i = 0; i < 12; ++i) {
    in.push_back(1e6 * i);
    skew.push_back(i % 2 ? 0.03 : 0.05);
    missing.push_back(1e3 * i - (i % 3 == 0 ? 0 : 1e6 * skew.back()));
  }
  EXPECT_GE(count_agreeing(in, missing, skew, 1e-3, 100), 11U);
  EXPECT_LT(count_agreeing(in, missing, skew, 0, 100), 6U);
}

struct Balance {
  Balance() { lossy.flows = {{"host-0-0 mlx5_0", "host-1-0 mlx5_0"}, {"host-0-1 mlx5_0", "host-1-1 mlx5_0"}}; }
  void seconds(int count) {
    for (int i = 0; i < count; ++i) history.take(lossy.second());
  }
  LossyFabric lossy;
  PacketHistory history;
};

TEST(PacketHistory, SeesWhatALinkAndASwitchLose) {
  Balance balance;
  const PortIndex sender = balance.lossy.port("host-0-0 mlx5_0");
  balance.lossy.lost_on[sender] = 1e-3;
  balance.seconds(1);
  const TimePoint since = balance.lossy.last.started;
  balance.seconds(9);
  const PacketBalance bad = balance.history.of_link(sender, 9000, since);
  EXPECT_GT(bad.support, 5);
  EXPECT_NEAR(bad.passed, 9e6, 1);
  EXPECT_EQ(bad.counted, 0);
  EXPECT_LT(balance.history.of_link(balance.lossy.port("host-0-1 mlx5_0"), 9000, since).support, -5);
  EXPECT_LT(balance.history.of_switch(balance.lossy.fabric.find("leaf-0"), 9000, since).support, -5);
  Balance device;
  device.lossy.lost_in[device.lossy.fabric.find("leaf-0")] = 1e-3;
  device.seconds(10);
  EXPECT_GT(device.history.of_switch(device.lossy.fabric.find("leaf-0"), 18000, kNever).support, 5);
  EXPECT_LT(device.history.of_link(device.lossy.port("host-0-0 mlx5_0"), 9000, kNever).support, -5);
  EXPECT_EQ(device.history.of_link(device.lossy.port("host-3-0 mlx5_0"), 0, kNever).support, 0)
      << "nothing to ask of it";
}

TEST(PacketHistory, ALinkWithTooFewPacketsCannotHaveLostThem) {
  Balance balance;
  balance.seconds(8);
  EXPECT_LT(balance.history.of_link(balance.lossy.port("host-3-3 mlx5_0"), 5000, kNever).support, -5);
}

TEST(PacketHistory, IgnoresResetsAndUnreadPorts) {
  Balance balance;
  const PortIndex sender = balance.lossy.port("host-0-0 mlx5_0");
  balance.lossy.lost_on[sender] = 1e-3;
  balance.seconds(5);
  balance.lossy.fabric.reset_counters(sender);
  balance.seconds(2);
  EXPECT_EQ(balance.history.of_link(sender, 2000, kNever).support, 0) << "two moments since";
  balance.seconds(8);
  EXPECT_GT(balance.history.of_link(sender, 9000, kNever).support, 5);
  balance.lossy.fabric.freeze_counters(balance.lossy.fabric.find("leaf-0"));
  Balance unread;
  unread.lossy.lost_in[unread.lossy.fabric.find("leaf-0")] = 1e-3;
  unread.lossy.fabric.freeze_counters(unread.lossy.fabric.find("leaf-0"));
  unread.seconds(10);
  EXPECT_EQ(unread.history.of_switch(unread.lossy.fabric.find("leaf-0"), 18000, kNever).support, 0);
}

TEST(PacketHistory, CountsPacketsThatErrorCountersExplain) {
  Balance balance;
  const PortIndex sender = balance.lossy.port("host-0-0 mlx5_0");
  balance.seconds(3);
  balance.lossy.fabric.add_counter(balance.lossy.fabric.ports()[sender].peer, CounterId::kReceiveErrors, 700);
  balance.lossy.fabric.add_counter(sender, CounterId::kTransmitDiscards, 50);
  balance.seconds(3);
  EXPECT_EQ(balance.history.of_link(sender, 1000, kNever).counted, 750);
  EXPECT_EQ(balance.history.of_switch(balance.lossy.fabric.find("leaf-0"), 1000, kNever).counted, 750);
}

TEST(PacketHistory, CountsWhatGrewFromTheSweepBeforeOn) {
  Balance balance;
  const PortIndex sender = balance.lossy.port("host-0-0 mlx5_0");
  balance.seconds(3);
  const TimePoint since = balance.lossy.last.started + 1ms;
  balance.lossy.fabric.add_counter(sender, CounterId::kTransmitDiscards, 50);
  balance.seconds(3);
  EXPECT_EQ(balance.history.of_link(sender, 100, since).counted, 50);
  EXPECT_EQ(balance.history.of_switch(balance.lossy.fabric.find("leaf-0"), 100, since).counted, 50);
}

TEST(PacketHistory, ErrorCountersThatGoBackTellOnlyWhatTheyGrewBy) {
  Balance balance;
  const PortIndex sender = balance.lossy.port("host-0-0 mlx5_0");
  const NodeIndex leaf = balance.lossy.fabric.find("leaf-0");
  balance.lossy.fabric.set_counter(sender, CounterId::kReceiveErrors, 65535, true);
  balance.seconds(2);
  balance.lossy.fabric.add_counter(sender, CounterId::kTransmitDiscards, 40);
  balance.seconds(2);
  balance.lossy.fabric.set_counter(sender, CounterId::kReceiveErrors, 3);
  balance.seconds(2);
  balance.lossy.fabric.add_counter(sender, CounterId::kTransmitDiscards, 2);
  balance.seconds(2);
  EXPECT_EQ(balance.history.of_link(sender, 100, kNever).counted, 42);
  EXPECT_EQ(balance.history.of_switch(leaf, 100, kNever).counted, 42);
  balance.lossy.fabric.reset_counters(sender);
  balance.seconds(2);
  EXPECT_EQ(balance.history.of_switch(leaf, 100, kNever).counted, 0) << "the neighbour's counters began anew";
  balance.lossy.fabric.add_counter(sender, CounterId::kTransmitDiscards, 5);
  balance.seconds(2);
  EXPECT_EQ(balance.history.of_switch(leaf, 100, kNever).counted, 5);
}

/// The tracker, window after window of five seconds.
struct Tracking {
  void windows(int count) {
    for (int i = 0; i < count; ++i) {
      for (int second = 0; second < 5; ++second) tracker.take(lossy.second());
      if (tracker.is_due(lossy.fabric.now(), 1s)) tracker.end_window(lossy.ends(), lossy.fabric.now());
    }
  }
  LossyFabric lossy;
  LossTracker tracker{LossThresholds{}};
};

TEST(LossTracker, OpensAfterTwoWindowsAndEndsAfterQuietOnes) {
  Tracking tracking;
  tracking.lossy.all_to_all();
  tracking.windows(static_cast<int>(LossThresholds{}.quiet_windows));
  EXPECT_FALSE(tracking.tracker.has_judged()) << "the first one only began it";
  tracking.windows(1);
  EXPECT_TRUE(tracking.tracker.has_judged());
  EXPECT_TRUE(tracking.tracker.losses().empty());
  const LossSuspect cause = tracking.lossy.cable("leaf-1", "spine-0");
  tracking.lossy.lost_on[cause.sender] = 1e-3;
  tracking.windows(1);
  EXPECT_TRUE(tracking.tracker.losses().empty()) << "one window is not enough";
  tracking.windows(1);
  ASSERT_EQ(tracking.tracker.losses().size(), 1U);
  const SilentLoss& loss = tracking.tracker.losses()[0];
  EXPECT_EQ(loss.suspect, cause);
  EXPECT_GT(loss.confidence, 0.9);
  EXPECT_GT(loss.support, 0) << "the packet counters agree";
  EXPECT_EQ(loss.senders.size(), 4U);
  EXPECT_GT(loss.receivers.size(), 4U);
  tracking.lossy.lost_on.clear();
  tracking.windows(static_cast<int>(LossThresholds{}.quiet_windows) - 1);
  EXPECT_EQ(tracking.tracker.losses().size(), 1U) << "a job may just compute";
  tracking.windows(1);
  EXPECT_TRUE(tracking.tracker.losses().empty());
}

TEST(LossTracker, TwoBurstsOfDifferentHostsAreNoLoss) {
  Tracking tracking;
  tracking.lossy.all_to_all();
  tracking.windows(2);
  for (int i = 0; i < 4; ++i) {
    tracking.lossy.totals["host-0-" + std::to_string(i) + " mlx5_0"].sent_again += 3000;
    tracking.lossy.totals["host-1-" + std::to_string(i) + " mlx5_0"].out_of_sequence += 3000;
    tracking.windows(1);
    EXPECT_TRUE(tracking.tracker.losses().empty());
  }
}

TEST(LossTracker, ChanceEventsBesideALossThatIsCountedAreNoLoss) {
  // A cable with errors, which tells of them, goes on losing packets; elsewhere timers run out once, and packets come
  // out of order once.
  Tracking tracking;
  tracking.tracker = LossTracker{{.patience_windows = 1}};
  tracking.lossy.flows = {{"host-0-0 mlx5_0", "host-1-0 mlx5_0"},
                          {"host-2-0 mlx5_0", "host-3-0 mlx5_0"},
                          {"host-3-0 mlx5_0", "host-2-0 mlx5_0"}};
  const PortIndex sender = tracking.lossy.port("host-0-0 mlx5_0");
  tracking.lossy.lost_on[sender] = 1e-3;
  for (int i = 0; i < 10; ++i) {
    tracking.lossy.fabric.add_counter(tracking.lossy.fabric.ports()[sender].peer, CounterId::kReceiveErrors, 5000);
    if (i == 4) tracking.lossy.totals["host-2-0 mlx5_0"].sent_again += 3000;
    if (i == 6) tracking.lossy.totals["host-3-0 mlx5_0"].out_of_sequence += 3000;
    tracking.windows(1);
    EXPECT_TRUE(tracking.tracker.losses().empty()) << i;
  }
}

TEST(LossTracker, DropsThatLinksOfOneWayCountAddUpToNoSilentLoss) {
  // One flow, on whose way now this, now that link drops packets and counts them: none counts nearly all.
  LossyFabric lossy;
  lossy.flows = {{"host-0-0 mlx5_0", "host-1-0 mlx5_0"}};
  const LossThresholds thresholds{
      .window = 30s, .good_ratio = 1e-7, .bad_ratio = 3e-7, .patience_windows = 1, .quiet_windows = 2};
  LossTracker tracker{thresholds, 28};
  const PortIndex sender = lossy.port("host-0-0 mlx5_0");
  const PortIndex last = lossy.cable("leaf-1", "host-1-0 mlx5_0").sender;
  const PortIndex middle = lossy.fabric.ports()[last].peer;
  for (int second = 0; second < 240; ++second) {
    if (second % 30 == 10) {
      lossy.fabric.add_counter(second % 60 < 30 ? sender
                               : second < 120   ? last
                                                : middle,
                               CounterId::kTransmitDiscards, 20);
      lossy.totals["host-0-0 mlx5_0"].sent_again += 20;
      lossy.totals["host-1-0 mlx5_0"].out_of_sequence += 20;
    }
    tracker.take(lossy.second());
    if (tracker.is_due(lossy.fabric.now(), 1s)) tracker.end_window(lossy.ends(), lossy.fabric.now());
    EXPECT_TRUE(tracker.losses().empty()) << second;
  }
}

TEST(LossTracker, ALinkTellsOfWhatItDroppedWheneverInAWindow) {
  // Between two sweeps that are remembered; at the beginning of the first window, and at the end of the last one.
  const LossThresholds thresholds{
      .window = 30s, .good_ratio = 1e-7, .bad_ratio = 3e-7, .patience_windows = 1, .quiet_windows = 2};
  LossyFabric lossy;
  lossy.flows = {{"host-0-0 mlx5_0", "host-1-0 mlx5_0"}};
  LossTracker tracker{thresholds, 28};
  const PortIndex sender = lossy.port("host-0-0 mlx5_0");
  for (int second = 0; second < 300; ++second) {
    if (second % 180 == 92 || second % 180 == 147) {
      lossy.fabric.add_counter(sender, CounterId::kTransmitDiscards, 20);
      lossy.totals["host-0-0 mlx5_0"].sent_again += 20;
      lossy.totals["host-1-0 mlx5_0"].out_of_sequence += 20;
    }
    tracker.take(lossy.second());
    if (tracker.is_due(lossy.fabric.now(), 1s)) tracker.end_window(lossy.ends(), lossy.fabric.now());
    EXPECT_TRUE(tracker.losses().empty()) << second;
  }
}

TEST(LossTracker, WhatALinkCountsAsErrorsIsNotSilent) {
  Tracking tracking;
  tracking.lossy.flows = {{"host-0-0 mlx5_0", "host-1-0 mlx5_0"}};
  const PortIndex sender = tracking.lossy.port("host-0-0 mlx5_0");
  tracking.lossy.lost_on[sender] = 1e-3;
  for (int i = 0; i < 10; ++i) {
    tracking.lossy.fabric.add_counter(tracking.lossy.fabric.ports()[sender].peer, CounterId::kReceiveErrors, 5000);
    tracking.windows(1);
    EXPECT_TRUE(tracking.tracker.losses().empty());
  }
}

TEST(LossTracker, ErrorCountersThatAreClearedHideNoLoss) {
  Tracking tracking;
  tracking.lossy.flows = {{"host-0-0 mlx5_0", "host-1-0 mlx5_0"}};
  const PortIndex sender = tracking.lossy.port("host-0-0 mlx5_0");
  tracking.lossy.lost_on[sender] = 1e-3;
  tracking.lossy.fabric.set_counter(sender, CounterId::kReceiveErrors, 5000);
  tracking.windows(8);
  ASSERT_EQ(tracking.tracker.losses().size(), 1U);
  tracking.lossy.fabric.set_counter(sender, CounterId::kReceiveErrors, 0);
  for (int i = 0; i < 8; ++i) {
    tracking.windows(1);
    ASSERT_EQ(tracking.tracker.losses().size(), 1U) << i;
    EXPECT_EQ(tracking.tracker.losses()[0].suspect, tracking.lossy.cable("host-0-0 mlx5_0", "leaf-0"));
  }
}

TEST(LossTracker, WhatALinkCannotCountAnyMoreIsNotCalledSilentWithoutPacketsMissing) {
  Tracking tracking;
  tracking.lossy.flows = {{"host-0-0 mlx5_0", "host-1-0 mlx5_0"}};
  const PortIndex sender = tracking.lossy.port("host-0-0 mlx5_0");
  tracking.lossy.fabric.set_counter(tracking.lossy.fabric.ports()[sender].peer, CounterId::kReceiveErrors, 0xFFFF,
                                    true);
  for (int i = 0; i < 10; ++i) {
    // They arrive and are thrown away: all counts agree.
    tracking.lossy.totals["host-0-0 mlx5_0"].sent_again += 5000;
    tracking.lossy.totals["host-1-0 mlx5_0"].out_of_sequence += 5000;
    tracking.windows(1);
    EXPECT_TRUE(tracking.tracker.losses().empty());
  }
  tracking.lossy.lost_on[sender] = 1e-2;
  tracking.windows(6);
  ASSERT_EQ(tracking.tracker.losses().size(), 1U);
  EXPECT_EQ(tracking.tracker.losses()[0].suspect, tracking.lossy.cable("host-0-0 mlx5_0", "leaf-0"));
}

TEST(LossTracker, LossesOnAFullLinkAreItsDropsWhereNobodyReadsThem) {
  for (const bool is_read : {false, true}) {
    Tracking tracking;
    tracking.lossy.flows = {{"host-0-0 mlx5_0", "host-1-0 mlx5_0"}, {"host-2-0 mlx5_0", "host-1-0 mlx5_0"}};
    if (!is_read) tracking.lossy.fabric.freeze_counters(tracking.lossy.fabric.find("leaf-1"));
    const LossSuspect full = tracking.lossy.cable("leaf-1", "host-1-0 mlx5_0");
    tracking.lossy.lost_on[full.sender] = 1e-3;
    tracking.tracker.set_condemned({}, {tracking.lossy.fabric.link_of(full.sender)});
    tracking.windows(8);
    EXPECT_EQ(tracking.tracker.losses().size(), is_read ? 1U : 0U) << "counters that are read tell of no drop";
    tracking.tracker.set_condemned({}, {});
    tracking.windows(8);
    EXPECT_EQ(tracking.tracker.losses().size(), 1U);
  }
}

TEST(LossTracker, ForgetsRivalsWhoseCableWasPulled) {
  Tracking tracking;
  tracking.lossy.flows = {{"host-0-0 mlx5_0", "host-1-0 mlx5_0"}};
  for (NodeIndex node = 0; node < tracking.lossy.fabric.nodes().size(); ++node)
    tracking.lossy.fabric.freeze_counters(node);
  tracking.lossy.lost_on[tracking.lossy.port("host-0-0 mlx5_0")] = 1e-3;
  tracking.windows(10);
  ASSERT_EQ(tracking.tracker.losses().size(), 1U);
  const auto rivals = tracking.tracker.losses()[0].rivals;
  const auto rival = std::ranges::find_if(rivals, [](const auto& one) { return one.first.sender != kNoIndex; });
  ASSERT_NE(rival, rivals.end());
  tracking.lossy.flows.clear();
  tracking.lossy.pull(rival->first.sender);
  tracking.tracker.take(tracking.lossy.second());
  ASSERT_EQ(tracking.tracker.losses().size(), 1U) << "its own cable is where it was";
  const auto& left = tracking.tracker.losses()[0].rivals;
  EXPECT_EQ(left.size(), rivals.size() - 1);
  EXPECT_TRUE(std::ranges::none_of(left, [&](const auto& one) { return one.first == rival->first; }));
}

TEST(LossTracker, TotalsThatBeginAnewHideNoLoss) {
  Tracking tracking;
  tracking.lossy.all_to_all();
  tracking.lossy.lost_on[tracking.lossy.cable("leaf-1", "spine-0").sender] = 1e-3;
  tracking.windows(6);
  ASSERT_EQ(tracking.tracker.losses().size(), 1U);
  tracking.lossy.totals["host-3-3 mlx5_0"] = {};
  for (int i = 0; i < 10; ++i) {
    tracking.windows(1);
    ASSERT_EQ(tracking.tracker.losses().size(), 1U) << i;
    EXPECT_EQ(tracking.tracker.losses()[0].suspect, tracking.lossy.cable("leaf-1", "spine-0"));
  }
}

TEST(LossTracker, ReportsNothingWithoutRoutes) {
  Tracking tracking;
  tracking.lossy.all_to_all();
  tracking.lossy.lost_on[tracking.lossy.cable("leaf-1", "spine-0").sender] = 1e-3;
  for (int i = 0; i < 20; ++i) {
    Sweep sweep = tracking.lossy.second();
    sweep.routes = nullptr;
    tracking.tracker.take(sweep);
    EXPECT_FALSE(tracking.tracker.is_due(tracking.lossy.fabric.now(), 1s));
  }
  EXPECT_FALSE(tracking.tracker.has_judged());
}

}  // namespace
}  // namespace weft::analyzer
