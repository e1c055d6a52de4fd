// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/analyzer/watch.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;
constexpr WidthMask k1X = 1;

struct Degraded : testing::Test {
  Degraded() : watch(FabricBuilder::fat_tree(2, 3, 4)), end(watch.fabric.port_towards("leaf-1", "spine-0")) {
    watch.sweeps(3);
    peer = watch.fabric.ports()[end].peer;
  }
  Watch watch;
  PortIndex end;
  PortIndex peer = 0;
};

TEST_F(Degraded, ANarrowLinkNamesItsWidths) {
  watch.fabric.port(end).width_active = watch.fabric.port(peer).width_active = k1X;
  watch.sweeps(1);
  const Incident slow = watch.only();
  EXPECT_EQ(slow.finding.kind, IncidentKind::kLinkDegraded);
  EXPECT_EQ(link_of(slow), watch.fabric.link_of(end));
  EXPECT_NE(slow.finding.summary.find("1X of 4X"), std::string::npos) << slow.finding.summary;
  watch.restart();
  watch.sweeps(5);
  EXPECT_EQ(watch.only().id, slow.id);
  watch.fabric.relink(end);
  watch.sweeps(3);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST_F(Degraded, ASlowLinkNamesItsSpeeds) {
  watch.fabric.port(end).speed_active = watch.fabric.port(peer).speed_active = kSpeedEdr;
  watch.sweeps(1);
  EXPECT_NE(watch.only().finding.summary.find("EDR of HDR"), std::string::npos) << watch.only().finding.summary;
}

TEST_F(Degraded, AnXdrLinkIsDegradedAtNdrAndNotAtXdr) {
  for (const PortIndex port : {end, peer}) {
    Port& xdr = watch.fabric.port(port);
    xdr.speed_active = kSpeedXdr;
    xdr.speed_supported = xdr.speed_enabled = static_cast<SpeedMask>(xdr.speed_supported | kSpeedNdr | kSpeedXdr);
  }
  watch.sweeps(5);
  EXPECT_TRUE(watch.book.all()->empty()) << watch.describe();
  for (const PortIndex port : {end, peer}) watch.fabric.port(port).speed_active = kSpeedNdr;
  watch.sweeps(1);
  EXPECT_NE(watch.only().finding.summary.find("NDR of XDR"), std::string::npos) << watch.only().finding.summary;
}

TEST_F(Degraded, TheMaximumOfOneEndIsNotDegraded) {
  for (const PortIndex port : {end, peer}) watch.fabric.port(port).speed_active = kSpeedEdr;
  watch.fabric.port(peer).speed_supported = kSpeedSdr | kSpeedEdr;
  watch.sweeps(5);
  EXPECT_TRUE(watch.book.all()->empty()) << watch.describe();
}

TEST_F(Degraded, AConfiguredSpeedIsNotDegraded) {
  for (const PortIndex port : {end, peer}) watch.fabric.port(port).speed_active = kSpeedEdr;
  watch.fabric.port(end).speed_enabled = kSpeedSdr | kSpeedEdr;
  watch.sweeps(5);
  EXPECT_TRUE(watch.book.all()->empty()) << watch.describe();
}

TEST_F(Degraded, OneReadingThatIsAheadOfTheOtherIsNone) {
  watch.fabric.port(end).width_active = k1X;
  watch.sweeps(1);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST_F(Degraded, ALinkHeldToOneLaneAmongWideOnesIsReportedAsSuch) {
  for (const PortIndex port : {end, peer})
    watch.fabric.port(port).width_active = watch.fabric.port(port).width_enabled = k1X;
  watch.sweeps(1);
  const Incident slow = watch.only();
  EXPECT_EQ(slow.finding.kind, IncidentKind::kLinkDegraded);
  EXPECT_NE(slow.finding.summary.find("enabled widths"), std::string::npos) << slow.finding.summary;
  EXPECT_LT(slow.finding.confidence, 0.9);
}

TEST_F(Degraded, ReportsNothingWhereAllLinksAreNarrow) {
  for (PortIndex port = 0; port < watch.fabric.ports().size(); ++port)
    watch.fabric.port(port).width_active = watch.fabric.port(port).width_enabled = k1X;
  watch.sweeps(5);
  EXPECT_TRUE(watch.book.all()->empty()) << watch.describe();
}

TEST_F(Degraded, BeingDownIsNoRecovery) {
  watch.fabric.port(end).width_active = watch.fabric.port(peer).width_active = k1X;
  watch.sweeps(2);
  watch.fabric.unlink(end);
  watch.sweeps(10);
  ASSERT_EQ(watch.open().size(), 2U) << watch.describe();
  EXPECT_EQ(watch.open()[0].finding.kind, IncidentKind::kLinkDegraded);
  EXPECT_EQ(watch.open()[1].finding.kind, IncidentKind::kLinkDown);
}

}  // namespace
}  // namespace weft::analyzer
