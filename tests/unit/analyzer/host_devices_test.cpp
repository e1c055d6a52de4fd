// SPDX-License-Identifier: Apache-2.0
// Devices of hosts that come, go and change their names.
#include <gtest/gtest.h>

#include "tests/unit/analyzer/host_watching.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

TEST(HostDevices, AnAdapterThatFallsOffTheBusIsTroubleThoughItIsClosedFirst) {
  HostWatching watching;
  watching.seconds(3);
  watching.event(false, 0, true);
  EXPECT_TRUE(watching.open().empty()) << "somebody may have set it down";
  watching.event(false);
  EXPECT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkDown});
  auto without = std::make_shared<HostInventory>();
  watching.inventories[0] = without;
  watching.values[0].clear();
  watching.seconds(20);
  EXPECT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkDown});
}

TEST(HostDevices, ADeviceThatVanishesIsDownAndASilentHostIsNeitherUpNorDown) {
  HostWatching watching;
  watching.seconds(3);
  auto own = std::make_shared<HostInventory>();
  const auto before = std::exchange(watching.inventories[0], own);
  const auto values = std::exchange(watching.values[0], {});
  watching.seconds(5);
  EXPECT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkDown});
  watching.silent[0] = 1;
  watching.seconds(20);
  EXPECT_EQ(watching.kinds(), (Kinds{IncidentKind::kLinkDown, IncidentKind::kTelemetryLost}));
  watching.silent[0] = 0;
  watching.inventories[0] = before;
  watching.values[0] = values;
  watching.seconds(10);
  EXPECT_TRUE(watching.open().empty());
}

TEST(HostDevices, ADeviceTakenOutForGoodIsForgottenAfterADay) {
  HostWatching watching;
  // The first of two ports goes; the counters of the second are still followed afterwards.
  auto two = std::make_shared<HostInventory>(*watching.inventory);
  HostPort second = two->ports.front();
  second.device = "mlx5_1";
  second.netdev = "eth1";
  two->ports.push_back(second);
  HostSeries series = two->series[2];
  series.device = second.device;
  two->series = std::vector{series};
  watching.inventories[0] = two;
  watching.values[0] = {0};
  watching.seconds(3);
  auto one = std::make_shared<HostInventory>(*two);
  one->ports.erase(one->ports.begin());
  watching.inventories[0] = one;
  watching.seconds(5);
  EXPECT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkDown});
  watching.now += 23h;
  watching.seconds(5);
  EXPECT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkDown});
  // A collector that is silent says nothing of its devices.
  watching.silent[0] = 1;
  watching.now += 2h;
  watching.seconds(10);
  EXPECT_EQ(watching.kinds(), (Kinds{IncidentKind::kLinkDown, IncidentKind::kTelemetryLost}));
  watching.silent[0] = 0;
  watching.seconds(70);
  EXPECT_TRUE(watching.open().empty());
  watching.values[0][0] += 1;
  watching.seconds(1);
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kRdmaErrors});
  EXPECT_EQ(watching.open().front().finding.cause.device, "mlx5_1");
}

TEST(HostDevices, APortThatGotAnotherNameIsNotGone) {
  HostWatching watching;
  // The interface was there first; its RDMA device comes later, and a bond's takes that one's place.
  HostPort& port = watching.port();
  port.device = "eth0";
  port.number = 0;
  watching.seconds(5);
  for (const char* name : {"mlx5_0", "rocep59s0", "mlx5_bond_0"}) {
    watching.port().device = name;
    watching.port().number = 1;
    watching.seconds(10);
    EXPECT_TRUE(watching.book.all()->empty()) << name;
  }
  watching.set_up(false);
  watching.seconds(3);
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkDown}) << "it was up, under whatever name";
  EXPECT_EQ(watching.open().front().finding.cause.device, "mlx5_bond_0");
  // While it is down it changes its name again: that is one incident at a time.
  watching.port().device = "mlx5_0";
  watching.seconds(10);
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkDown});
  EXPECT_EQ(watching.open().front().finding.cause.device, "mlx5_0");
}

TEST(HostDevices, APortWithoutAnInterfaceIsKnownByItsGuid) {
  HostWatching watching;
  watching.port().netdev.clear();
  watching.port().port_guid = {0x0a7fbc1245efd23c};
  watching.seconds(5);
  watching.port().device = "ibp23s0";
  watching.seconds(10);
  EXPECT_TRUE(watching.book.all()->empty());
}

TEST(HostDevices, TroubleOfAVirtualFunctionEndsWithIt) {
  HostWatching watching;
  watching.port().is_virtual_function = true;
  watching.seconds(3);
  watching.values[0][2] += 1;
  watching.seconds(1);
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kRdmaErrors});
  watching.inventories[0] = std::make_shared<HostInventory>();
  watching.values[0].clear();
  watching.seconds(5);
  EXPECT_TRUE(watching.open().empty());
}

}  // namespace
}  // namespace weft::analyzer
