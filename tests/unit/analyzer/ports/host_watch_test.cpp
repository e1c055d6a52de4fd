// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/host_watch.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

/// One host, whose readings are taken as HostAnalyzer does it.
struct WatchedHost : testing::Test {
  WatchedHost() { host.name = "node-0"; }
  void read() {
    HostReading reading;
    reading.taken = now += 1s;
    reading.inventory = std::make_shared<const HostInventory>(told);
    take_inventory(host, reading.inventory, slots);
    take_states(host, reading);
  }
  HostPort& tell(const char* device, const char* netdev, PortState state = PortState::kActive) {
    HostPort& port = told.ports.emplace_back();
    port.device = device;
    port.number = 1;
    port.netdev = netdev;
    port.state = state;
    port.rate_bits_per_second = 100;
    return port;
  }

  HostInventory told;
  HostWatch host;
  PortSlots slots;
  TimePoint now{1'700'000'000s};
};

TEST_F(WatchedHost, APortThatIsRenamedKeepsItsSlot) {
  tell("eth0", "eth0");
  read();
  const PortSlot slot = host.ports.front().slot;
  told.ports.front().device = "mlx5_0";
  read();
  ASSERT_EQ(host.ports.size(), 1U);
  EXPECT_EQ(host.ports.front().label, "node-0 mlx5_0 port 1 (eth0)");
  EXPECT_EQ(host.ports.front().slot.id, slot.id);
}

TEST_F(WatchedHost, APortFallsOnceAndIsAwayAsLongAsItIsDown) {
  tell("mlx5_0", "eth0");
  read();
  PortWatch& port = host.ports.front();
  EXPECT_FALSE(port.fell);
  EXPECT_EQ(port.rate, 100U);
  told.ports.front().state = PortState::kDown;
  read();
  EXPECT_TRUE(port.fell);
  EXPECT_EQ(port.changed, now);
  EXPECT_EQ(port.rate, 0U);
  const std::uint32_t away = port.times_away;
  read();
  EXPECT_FALSE(port.fell);
  EXPECT_GT(port.times_away, away);
  told.ports.front().state = PortState::kInitialize;
  read();
  EXPECT_FALSE(port.up) << "the subnet manager has the word";
}

TEST_F(WatchedHost, AnEventIsHeardAtOnceAndOneThatIsLateSaysNothingOfNow) {
  tell("mlx5_0", "eth0");
  read();
  LinkEvent event;
  event.at = now;
  event.device = "mlx5_0";
  event.port = 1;
  event.reason = "No cable";
  LinkEvent past = event;
  past.up = true;
  EXPECT_TRUE(take_event(host, event, true)->up);
  EXPECT_TRUE(take_event(host, past, true)->up) << "it came up again since";
  const PortWatch* const port = take_event(host, event, false);
  EXPECT_TRUE(port->fell);
  EXPECT_EQ(port->reason, "No cable");
  EXPECT_FALSE(port->set_down);
  event.administrative = true;
  EXPECT_TRUE(take_event(host, event, false)->set_down);
  event.device = "mlx5_9";
  EXPECT_EQ(take_event(host, event, false), nullptr);
}

TEST_F(WatchedHost, WhatNobodyWouldMissIsForgottenAtOnceAndTheRestAfterItsTime) {
  tell("mlx5_0", "eth0");
  tell("mlx5_1", "eth1", PortState::kDown);
  tell("mlx5_2", "eth2").is_virtual_function = true;
  read();
  told.ports.clear();
  for (int i = 0; i < 3; ++i) read();
  ASSERT_EQ(host.ports.size(), 1U) << "never up; made for others";
  EXPECT_TRUE(is_gone(host.ports.front()));
  EXPECT_FALSE(forget_missing(host, 1h, now, slots));
  EXPECT_TRUE(forget_missing(host, 1h, now + 1h, slots));
  EXPECT_TRUE(host.ports.empty());
}

TEST_F(WatchedHost, CountersOfAWholeDeviceCountForItsFirstPort) {
  tell("mlx5_0", "eth0");
  tell("mlx5_1", "eth1");
  told.series = std::vector<HostSeries>{{.device = "mlx5_1", .port = 0, .name = "wanted"},
                                        {.device = "mlx5_1", .port = 1, .name = "wanted", .is_raw = true},
                                        {.device = "mlx5_2", .port = 1, .name = "wanted"},
                                        {.device = "mlx5_0", .port = 1, .name = "other"}};
  read();
  std::vector<std::uint32_t> followed;
  std::vector<std::string> found;
  const auto wanted = [](const HostSeries& series) {
    return series.name == "wanted" ? std::optional(7) : std::nullopt;
  };
  follow_series(host, followed, wanted, [&](const PortWatch& port, const FollowedSeries<int>& series) {
    found.push_back(port.device);
    EXPECT_EQ(series.series, 0U);
    EXPECT_EQ(series.what, 7);
  });
  EXPECT_EQ(followed, std::vector<std::uint32_t>{0});
  EXPECT_EQ(found, std::vector<std::string>{"mlx5_1"});
}

TEST(PerPort, NothingOfAForgottenPortIsLeftToTheNextInItsPlace) {
  PortSlots slots;
  PerPort<int> memory;
  const PortSlot first = slots.take();
  const PortSlot second = slots.take();
  memory[second] = 2;
  memory[first] = 1;
  EXPECT_EQ(memory[second], 2);
  slots.give_back(first);
  const PortSlot third = slots.take();
  EXPECT_EQ(third.place, first.place);
  EXPECT_EQ(std::as_const(memory)[third], 0);
  EXPECT_EQ(memory[third], 0);
  EXPECT_EQ(std::as_const(memory)[first], 0) << "it is another's place";
  EXPECT_EQ(std::as_const(memory)[slots.take()], 0);
}

TEST(PerPort, MemoriesOfManyPortsStayWhereTheyAre) {
  PortSlots slots;
  PerPort<std::uint64_t> memory;
  std::vector<PortSlot> taken;
  for (int i = 0; i < 100; ++i) taken.push_back(slots.take());
  std::uint64_t& early = memory[taken[0]];
  for (const PortSlot& slot : taken) memory[slot] = slot.id;
  EXPECT_EQ(&early, &memory[taken[0]]);
  for (const PortSlot& slot : taken) EXPECT_EQ(std::as_const(memory)[slot], slot.id) << slot.place;
}

}  // namespace
}  // namespace weft::analyzer
