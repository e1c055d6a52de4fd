// SPDX-License-Identifier: Apache-2.0
// What was wrong with a cable ends when its host is put into another place; and GUIDs that two subnets have.

#include <algorithm>
#include <string>
#include <utility>

#include "tests/unit/analyzer/lost_cables.hpp"

namespace weft::analyzer {
namespace {

struct MovedTrouble : LostCables {
  void degrade() {
    for (const PortIndex end : {own(), here.fabric.port_of(kHost, 1)})
      here.fabric.port(end).width_active = WidthMask{1};
    sweeps(10);
    ASSERT_EQ(open_here(), Kinds{IncidentKind::kLinkDegraded}) << here.describe();
  }
  PortIndex own() const { return here.fabric.port_towards("leaf-1", kHost); }
  void take_away() {
    here.fabric.power_off(here.fabric.find(kHost));
    sweeps(60);
  }
};

TEST_F(MovedTrouble, OfANarrowCableEndsInTheOtherSubnet) {
  degrade();
  take_away();
  plug_there(kHost);
  sweeps(20);
  EXPECT_TRUE(here.open().empty()) << here.describe();
  restart();
  sweeps(60);
  EXPECT_TRUE(here.open().empty()) << here.describe();
}

TEST_F(MovedTrouble, OfANarrowCableEndsAtAnotherPortOfItsSubnet) {
  degrade();
  const PortIndex before = own(), place = here.fabric.port_towards("leaf-0", "host-0-3 mlx5_0");
  const auto width = here.fabric.port(place).width_active;
  here.fabric.unlink(before);
  here.fabric.unlink(place);
  sweeps(60);
  here.fabric.port(here.fabric.port_of("host-0-3 mlx5_0", 1)).peer = kNoIndex;
  here.fabric.port(before).peer = kNoIndex;
  here.fabric.connect(place, here.fabric.port_of(kHost, 1));
  for (const PortIndex end : {place, here.fabric.port_of(kHost, 1)}) here.fabric.port(end).width_active = width;
  sweeps(60);
  EXPECT_EQ(std::ranges::count(open_here(), IncidentKind::kLinkDegraded), 0) << here.describe();
}

TEST_F(MovedTrouble, OfACableWithErrorsEndsInTheOtherSubnet) {
  const PortIndex port = own();
  for (int i = 0; i < 200; ++i) {
    here.fabric.add_counter(port, CounterId::kSymbolErrors, 5000);
    sweeps(1);
  }
  ASSERT_EQ(open_here(), Kinds{IncidentKind::kLinkErrors}) << here.describe();
  take_away();
  EXPECT_EQ(std::ranges::count(open_here(), IncidentKind::kLinkErrors), 1) << "nobody knows that it would be better";
  plug_there(kHost);
  sweeps(60);
  EXPECT_TRUE(here.open().empty()) << here.describe();
  restart();
  sweeps(60);
  EXPECT_TRUE(here.open().empty()) << here.describe();
}

TEST_F(MovedTrouble, OfAGuidInTwoSubnetsEndsThoughTheOtherOneHasAnotherName) {
  const PortIndex place = plug_there(kHost);
  sweeps(5);
  ASSERT_EQ(open_here(), Kinds{kDouble});
  there.fabric.unlink(place);
  sweeps(5);
  here.analyzer.rename_subnet(there.name, "test-3");
  there.name = "test-3";
  there.analyzer = FabricAnalyzer(there.name, {});
  sweeps(kBroughtUp);
  EXPECT_EQ(std::ranges::count(open_here(), kDouble), 0) << here.describe();
}

// The other weftd takes over, whose names for the two subnets sort the other way.
TEST_F(MovedTrouble, OfAGuidInTwoSubnetsIsToldOnceByBothWeftd) {
  plug_there(kHost);
  sweeps(5);
  ASSERT_EQ(open_here(), Kinds{kDouble});
  const std::vector<Incident> ledger = here.open();
  here.name = "zz", there.name = "aa";
  for (Watch* const each : {&here, &there}) each->analyzer = FabricAnalyzer(each->name, {});
  sweeps(10);
  IncidentManager book(IncidentPolicy{}, ledger, 100);
  static_cast<void>(book.rename("test", "zz", here.fabric.now(), {}));
  static_cast<void>(book.rename("test-2", "aa", here.fabric.now(), {}));
  for (Watch* const each : {&here, &there})
    for (const IncidentPtr& incident : *book.all()) each->analyzer.remember(*incident);
  for (int i = 0; i < 40; ++i)
    for (Watch* const each : {&here, &there}) {
      sweeps(1);
      static_cast<void>(book.update(each->name, each->analysis.findings, each->analysis.coverage, each->fabric.now()));
    }
  ASSERT_EQ(book.all()->size(), 1U);
  const Incident& only = *book.all()->front();
  EXPECT_TRUE(only.is_open());
  EXPECT_TRUE(
      std::ranges::any_of(only.finding.evidence, [](const Evidence& each) { return each.where.fabric == "aa"; }));
}

}  // namespace
}  // namespace weft::analyzer
