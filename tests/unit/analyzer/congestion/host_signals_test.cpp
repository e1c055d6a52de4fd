// SPDX-License-Identifier: Apache-2.0
// What a host's Ethernet port says of congestion.
#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/congestion/host_signals.hpp"
#include "tests/unit/analyzer/host_watching.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

/// One port that is read once a second, with counters that are moved by hand.
struct PausingHost : testing::Test {
  enum Counter {
    kPause3Sent,
    kPause3Received,
    kReceived,
    kReceivedPackets,
    kMarked,
    kSent,
    kSentPackets,
    kNotified,
    kNaks
  };

  PausingHost() {
    auto inventory = std::make_shared<HostInventory>();
    inventory->ports.push_back(watching.inventory->ports.front());
    const auto add = [&](const char* name, Direction direction = Direction::kNone,
                         std::uint8_t priority = kNoPriority) {
      HostSeries series{.device = "mlx5_0", .port = 1, .name = name, .direction = direction, .priority = priority};
      inventory->series.push_back(std::move(series));
    };
    add("pfc_pause", Direction::kTransmit, 3);
    add("pfc_pause", Direction::kReceive, 3);
    for (const char* name : {"receive_bytes", "receive_packets", "ecn_marked_packets", "transmit_bytes",
                             "transmit_packets", "cnp_handled", "sequence_nak"})
      add(name);
    watching.inventories[0] = inventory;
    watching.values[0].assign(inventory->series.size(), 0);
  }
  std::uint64_t& counter(Counter which) { return watching.values[0][which]; }
  /// Seconds in each of which the port pauses its switch for so many microseconds, and receives so many bytes.
  void paused(unsigned count, std::uint64_t microseconds, std::uint64_t bytes = 10'000'000'000) {
    for (unsigned i = 0; i < count; ++i) {
      counter(kPause3Sent) += microseconds;
      counter(kReceived) += bytes;
      counter(kReceivedPackets) += bytes / 4000;
      watching.seconds(1);
    }
  }
  HostWatching watching;
};

TEST_F(PausingHost, PausesOfAFewPercentAreThePlayOfBuffers) {
  paused(3600, 40'000);
  EXPECT_TRUE(watching.book.all()->empty());
}

TEST_F(PausingHost, AHostThatPausesItsSwitchIsSlow) {
  paused(5, 0);
  paused(3, 300'000);
  EXPECT_TRUE(watching.open().empty()) << "a burst";
  paused(2, 300'000);
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kSlowReceiver});
  const Incident slow = watching.open().front();
  EXPECT_EQ(slow.finding.cause.kind, EntityKind::kHostPort);
  EXPECT_EQ(slow.finding.severity, Severity::kWarning);
  const auto pause = std::ranges::find(slow.finding.evidence, "pfc_pause_sent", &Evidence::signal);
  ASSERT_NE(pause, slow.finding.evidence.end());
  EXPECT_NEAR(pause->value, 0.3, 1e-9);
  EXPECT_NE(pause->description.find("priority 3"), std::string::npos) << pause->description;
  paused(30, 0);
  EXPECT_TRUE(watching.open().empty());
}

TEST_F(PausingHost, AHostThatPausesAndTakesNothingIsAStorm) {
  paused(5, 0);
  paused(3, 1'000'000, 0);
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kPfcStorm});
  EXPECT_EQ(watching.open().front().finding.severity, Severity::kCritical);
}

TEST_F(PausingHost, WhatIsNotReadOrWasResetIsNoPause) {
  paused(5, 0);
  for (int i = 0; i < 20; ++i) {
    counter(kPause3Sent) = i % 2 == 0 ? 5'000'000'000 : 0;  // a driver that is loaded again and again
    watching.seconds(1);
    counter(kPause3Sent) = 0;
    watching.seconds(1);
  }
  EXPECT_EQ(std::ranges::count(watching.kinds(), IncidentKind::kPfcStorm), 0);
}

TEST(PortSignals, AreSharesOfWhatMovedBetweenTwoReadings) {
  HostWatch host;
  host.name = "node-0";
  host.interval = 1s;
  auto inventory = std::make_shared<HostInventory>();
  HostPort& port = inventory->ports.emplace_back();
  port.device = "mlx5_0";
  port.number = 1;
  port.state = PortState::kActive;
  port.rate_bits_per_second = 400'000'000'000;
  for (const char* name :
       {"transmit_bytes", "transmit_packets", "sequence_nak", "receive_packets", "ecn_marked_packets", "cnp_handled"})
    inventory->series.push_back({.device = "mlx5_0", .port = 1, .name = name});
  TimePoint now{1'700'000'000s};
  PortSlots slots;
  take_inventory(host, inventory, slots);
  HostSignals rule{CongestionThresholds{}};
  std::vector<std::uint32_t> followed;
  rule.follow(host, followed);
  host.memory.follow(*inventory, followed);
  const auto read = [&](std::vector<std::uint64_t> values, Duration later) {
    now += later;
    HostReading reading{
        .taken = now, .inventory = inventory, .values = std::move(values), .present = {}, .sources = {}, .jobs = {}};
    reading.present.assign(reading.values.size(), 1);
    HostMovement movement;
    host.memory.take(reading, movement);
    rule.take(host, movement);
    return rule.of(host.ports.front());
  };
  EXPECT_FALSE(read({0, 0, 0, 0, 0, 0}, 1s).goodput_bits_per_second) << "one reading is no rate";
  const PortSignals signals = read({4'000'000, 1000, 100, 2000, 500, 50}, 2s);
  EXPECT_DOUBLE_EQ(signals.sent_bits_per_second.value(), 16e6);
  EXPECT_DOUBLE_EQ(signals.goodput_bits_per_second.value(), 16e6 * 0.9);
  EXPECT_DOUBLE_EQ(signals.marked.value(), 0.25);
  EXPECT_DOUBLE_EQ(signals.notified.value(), 0.05);
  EXPECT_FALSE(signals.worst_pause_sent()) << "the driver does not tell of pauses";
  EXPECT_FALSE(read({4'000'100, 1001, 100, 2001, 500, 50}, 1s).marked) << "of one packet no share is made";
  EXPECT_FALSE(read({9'000'000, 3000, 100, 9000, 500, 50}, 60s).marked) << "a minute is missing";
}

}  // namespace
}  // namespace weft::analyzer
