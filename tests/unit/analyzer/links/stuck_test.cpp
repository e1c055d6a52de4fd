// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/analyzer/watch.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;

struct Stuck : testing::Test {
  Stuck() : watch(FabricBuilder::fat_tree(2, 3, 4)), port(watch.fabric.port_towards("leaf-1", "spine-0")) {
    peer = watch.fabric.ports()[port].peer;
    watch.sweeps(8);
  }
  Watch watch;
  PortIndex port;
  PortIndex peer = 0;
};

TEST_F(Stuck, AnErrorCounterAtAllOnesIsNamedUntilItIsCleared) {
  watch.fabric.set_counter(port, CounterId::kTransmitDiscards, 0xFFFF, true);
  watch.sweeps(1);
  const Incident stuck = watch.only();
  EXPECT_EQ(stuck.finding.kind, IncidentKind::kCounterStuck);
  EXPECT_EQ(stuck.finding.cause.kind, EntityKind::kPort);
  EXPECT_EQ(stuck.finding.cause.port, watch.fabric.key_of(port));
  EXPECT_NE(stuck.finding.summary.find("transmit_discards"), std::string::npos) << stuck.finding.summary;
  watch.restart();
  watch.sweeps(10);
  EXPECT_EQ(watch.only().id, stuck.id);
  watch.fabric.reset_counters(port);
  watch.sweeps(3);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST_F(Stuck, SeveralCountersOfAPortAreOneIncident) {
  watch.fabric.set_counter(port, CounterId::kTransmitDiscards, 0xFFFF, true);
  watch.fabric.set_counter(port, CounterId::kLocalLinkIntegrityErrors, 15, true);
  watch.sweeps(1);
  EXPECT_EQ(watch.only().finding.evidence.size(), 2U);
}

TEST_F(Stuck, A32BitTrafficCounterAtItsMaximumIsNotStuck) {
  watch.fabric.set_counter(port, CounterId::kTransmitBytes, 0xFFFF'FFFFULL * 4, true);
  watch.sweeps(5);
  EXPECT_TRUE(watch.book.all()->empty()) << watch.describe();
}

TEST_F(Stuck, AReceiverThatStandsStillWhileItsPeerSends) {
  const auto send = [&] { watch.fabric.add_counter(peer, CounterId::kTransmitPackets, 50'000); };
  watch.sweeps(4, send);
  EXPECT_TRUE(watch.open().empty()) << "readings at different moments look like that too";
  watch.sweeps(1, send);
  const Incident stuck = watch.only();
  EXPECT_EQ(stuck.finding.kind, IncidentKind::kCounterStuck);
  EXPECT_EQ(stuck.finding.cause.port, watch.fabric.key_of(port));
  watch.sweeps(1, [&] { send(), watch.fabric.add_counter(port, CounterId::kReceivePackets, 50'000); });
  watch.sweeps(3);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST_F(Stuck, IsFoundDespitePauseOfTheSender) {
  for (int burst = 0; burst < 5; ++burst) {
    watch.sweeps(1, [&] { watch.fabric.add_counter(peer, CounterId::kTransmitPackets, 50'000); });
    watch.sweeps(2);
  }
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kCounterStuck);
}

TEST_F(Stuck, OnALinkWithLittleTrafficItTakesLonger) {
  const auto trickle = [&] { watch.fabric.add_counter(peer, CounterId::kTransmitPackets, 400); };
  watch.sweeps(10, trickle);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  watch.sweeps(3, trickle);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kCounterStuck);
}

TEST_F(Stuck, CountersThatJumpBackAndForthAreStuck) {
  // A broken agent: now more than any link carries, now less than before; and errors with it.
  bool high = false;
  const auto jump = [&] {
    high = !high;
    watch.fabric.set_counter(port, CounterId::kTransmitBytes, high ? 1ULL << 50 : 17);
    watch.fabric.add_counter(port, CounterId::kLinkDowned, 40);
    watch.fabric.add_counter(port, CounterId::kSymbolErrors, 1'000'000);
  };
  watch.sweeps(3, jump);
  EXPECT_TRUE(watch.book.all()->empty()) << watch.describe();
  watch.sweeps(10, jump);
  const Incident stuck = watch.only();
  EXPECT_EQ(stuck.finding.kind, IncidentKind::kCounterStuck) << "and neither flaps nor errors of the link";
  EXPECT_EQ(stuck.finding.cause.port, watch.fabric.key_of(port));
  watch.sweeps(150);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST_F(Stuck, CountersClearedNowAndThenAreNotStuck) {
  for (int hour = 0; hour < 20; ++hour) {
    watch.fabric.reset_counters(port);
    watch.sweeps(60, [&] { watch.fabric.add_counter(port, CounterId::kTransmitBytes, 1'000'000); });
  }
  EXPECT_TRUE(watch.book.all()->empty()) << watch.describe();
}

TEST_F(Stuck, AnIdleLinkIsNotStuck) {
  watch.sweeps(20, [&] { watch.fabric.add_counter(peer, CounterId::kTransmitPackets, 10); });
  EXPECT_TRUE(watch.book.all()->empty()) << watch.describe();
}

}  // namespace
}  // namespace weft::analyzer
