// SPDX-License-Identifier: Apache-2.0
// Subnets that another weftd, or this one after a start, knows under other names.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/daemon/programs/weftd/moved_switch_fixture.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

class OtherNamesTest : public MovedSwitchTest {
 protected:
  static constexpr const char *kOne = "mlx5_0-1", *kTwo = "mlx5_1-1";
  void begin_with(store::Restored restored, const std::vector<std::string>& names, bool leads = true) {
    start(std::move(restored));
    if (!leads) core->stand_by();
    for (const std::string& name : names) core->add_fabric(name, LinkLayer::kInfiniBand, name);
  }
  void sweep_pair(const std::string& of_before, const std::string& of_fabric, int seconds) {
    for (int i = 0; i < seconds; ++i) {
      sweep_as(of_before, before, 1);
      sweep_as(of_fabric, fabric, 1);
    }
  }
  store::Restored ledger_of_all(const std::vector<std::string>& names) {
    settle();
    store::Restored restored;
    for (const std::string& name : names)
      restored.fabrics.push_back({name, {.links = store.copy_of_links()[name]}, clock.time});
    restored.incidents = shown();
    restored.incident_ids = IdSeries(restored.incidents.size() + 1);
    return restored;
  }
  static void cut(fakes::FabricBuilder& subnet, const char* adapter, bool is_cut = true) {
    const PortIndex port = subnet.port_of(adapter, 1);
    is_cut ? subnet.unlink(port) : subnet.relink(port);
    subnet.silence(subnet.find(adapter), is_cut);
  }
  void degrade() {
    for (const PortIndex end : {fabric.port_of("host-2-0 mlx5_0", 1), fabric.port_towards("leaf-2", "host-2-0 mlx5_0")})
      fabric.port(end).width_active = WidthMask{1};
  }
  // leaf-0 and what hangs from it are all that is reached.
  void split(bool is_split = true) {
    for (const char* spine : {"spine-0", "spine-1"}) {
      const PortIndex uplink = fabric.port_towards("leaf-0", spine);
      is_split ? fabric.unlink(uplink) : fabric.relink(uplink);
    }
    for (NodeIndex node = 0; node < fabric.nodes().size(); ++node)
      if (const std::string& name = fabric.nodes()[node].name;
          name != "leaf-0" && name != "host-2-0 mlx5_0" && !name.starts_with("host-0-"))
        fabric.silence(node, is_split);
  }
  void expect_all_go_on(const store::Restored& ledger) {
    const auto now = shown();
    ASSERT_EQ(now.size(), ledger.incidents.size());
    for (std::size_t i = 0; i < now.size(); ++i) {
      EXPECT_EQ(now[i].id, ledger.incidents[i].id);
      EXPECT_TRUE(now[i].is_open()) << now[i].finding.summary;
      EXPECT_EQ(now[i].state, ledger.incidents[i].state);
    }
  }
};

TEST_F(OtherNamesTest, AreSwappedAtATakeover) {
  begin_with({}, {kOne, kTwo});
  sweep_pair(kOne, kTwo, 5);
  cut(before, "a-host-1-0 mlx5_0"), cut(fabric, "host-1-0 mlx5_0");
  degrade();
  sweep_pair(kOne, kTwo, 20);
  core->acknowledge(1, "anna", [](const auto&) {});
  const store::Restored ledger = ledger_of_all({kOne, kTwo});
  ASSERT_EQ(ledger.incidents.size(), 3U);
  cut(before, "a-host-1-0 mlx5_0", false), cut(fabric, "host-1-0 mlx5_0", false);
  begin_with({}, {kOne, kTwo}, false);
  sweep_pair(kTwo, kOne, 5);
  cut(before, "a-host-1-0 mlx5_0"), cut(fabric, "host-1-0 mlx5_0");
  sweep_pair(kTwo, kOne, 20);
  core->lead(ledger);
  sweep_pair(kTwo, kOne, 80);
  expect_all_go_on(ledger);
  for (const auto& [name, links] : store.copy_of_links())
    EXPECT_TRUE(name.find('@') == std::string::npos || links.empty());
}

// The two cables are swapped; the second subnet is found before the first one is stored under another name.
TEST_F(OtherNamesTest, AreSwappedWhileBothAreWatched) {
  begin_with({}, {kOne, kTwo});
  sweep_pair(kOne, kTwo, 5);
  for (auto [name, subnet] : {std::pair(kOne, &fabric), std::pair(kTwo, &before)}) {
    subnet->advance(clock.time - subnet->now());
    Sweep sweep = subnet->sweep();
    sweep.fabric = name;
    clock.time = sweep.finished;
    core->take_sweep(std::move(sweep));
  }
  settle();
  sweep_pair(kTwo, kOne, 80);
  EXPECT_EQ(publication.load()->fabrics.size(), 2U);
  for (const Incident& each : shown()) EXPECT_FALSE(each.is_open()) << each.finding.summary;
  for (const auto& [name, links] : store.copy_of_links())
    EXPECT_EQ(links.empty(), name != kOne && name != kTwo) << name;
}

TEST_F(OtherNamesTest, KeepWhatWasToldFirstAfterARestart) {
  begin_with({}, {kOne});
  sweep_as(kOne, fabric, 5);
  degrade();
  sweep_as(kOne, fabric, 20);
  core->acknowledge(1, "anna", [](const auto&) {});
  const store::Restored ledger = ledger_of_all({kOne});
  ASSERT_EQ(ledger.incidents.size(), 1U);
  begin_with(ledger, {kTwo});
  fabric.rediscover();
  sweep_as(kTwo, fabric, 90);
  const auto now = shown();
  EXPECT_TRUE(now[0].is_open());
  EXPECT_EQ(now[0].state, IncidentState::kAcknowledged);
  EXPECT_EQ(std::ranges::count_if(now, &Incident::is_open), 1);
}

// Since the port had that name hosts and a leaf were taken away.
TEST_F(OtherNamesTest, OfMonthsAgoAreForgotten) {
  begin_with({}, {kOne});
  sweep_as(kOne, fabric, 5);
  store::Restored old = ledger_of_all({kOne});
  old.fabrics[0].seen = clock.time - 24h * 200;
  cut(fabric, "host-1-0 mlx5_0");
  fabric.power_off(fabric.find("leaf-2"));
  for (const char* name : {"host-2-0 mlx5_0", "host-2-1 mlx5_0"}) fabric.silence(fabric.find(name));
  fabric.rediscover();
  begin_with({}, {kTwo});
  sweep_as(kTwo, fabric, 5);
  old.fabrics.push_back(ledger_of_all({kTwo}).fabrics[0]);
  begin_with(old, {kTwo});
  sweep_as(kTwo, fabric, 150);
  EXPECT_TRUE(shown().empty());
  EXPECT_TRUE(store.copy_of_links()[kOne].empty());
}

// It was lost when we led; the other one found it, under another name; we lead again.
TEST_F(OtherNamesTest, AreTheOthersWhereItFoundWhatWasLost) {
  begin_with({}, {"test"});
  sweep_for(5s);
  swap_subnets();
  sweep_for(80s);
  ASSERT_EQ(publication.load()->fabrics.size(), 2U);
  const std::string kept = publication.load()->fabrics[1].name;
  auto links = store.copy_of_links();
  core->stand_by();
  sweep_for(10s);
  store::Restored theirs;
  theirs.fabrics.push_back({"x", {.links = links["test"]}, clock.time});
  theirs.fabrics.push_back({"y", {.links = links[kept]}, clock.time});
  theirs.incident_ids = IdSeries(10);
  core->lead(theirs);
  sweep_for(80s);
  EXPECT_EQ(std::ranges::count_if(shown(), &Incident::is_open), 1) << "one subnet is lost";
  core->add_fabric("new", LinkLayer::kInfiniBand, "mlx5_7:1");
  for (int i = 0; i < 60; ++i) {
    sweep_as("test", fabric, 1);
    sweep_as("new", before, 1);
  }
  for (const Incident& each : shown()) EXPECT_FALSE(each.is_open()) << each.finding.summary;
}

TEST_F(OtherNamesTest, OfAFragmentThatTheOtherReadAsAWhole) {
  begin_with({}, {kOne});
  sweep_as(kOne, fabric, 5);
  cut(fabric, "host-2-0 mlx5_0");
  sweep_as(kOne, fabric, 20);
  const store::Restored ledger = ledger_of_all({kOne});
  ASSERT_EQ(ledger.incidents.size(), 1U);
  cut(fabric, "host-2-0 mlx5_0", false);
  begin_with({}, {kTwo}, false);
  sweep_as(kTwo, fabric, 10);
  cut(fabric, "host-2-0 mlx5_0");
  sweep_as(kTwo, fabric, 10);
  split();
  sweep_as(kTwo, fabric, 10);
  core->lead(ledger);
  sweep_as(kTwo, fabric, 740);
  split(false);
  sweep_as(kTwo, fabric, 60);
  const auto now = shown();
  EXPECT_TRUE(now[0].is_open()) << now[0].finding.summary;
  EXPECT_EQ(std::ranges::count_if(now, &Incident::is_open), 1);
}

// What is outside the fragment is lost, and not gone.
TEST_F(OtherNamesTest, OfAFragmentThatIsAllThatARestartFinds) {
  begin_with({}, {kOne});
  sweep_as(kOne, fabric, 5);
  cut(fabric, "host-2-0 mlx5_0");
  sweep_as(kOne, fabric, 20);
  const store::Restored ledger = ledger_of_all({kOne});
  split();
  fabric.rediscover();
  begin_with(ledger, {kTwo});
  sweep_as(kTwo, fabric, 720);
  const auto now = shown();
  EXPECT_TRUE(now[0].is_open());
  const auto is_told = [](const Incident& each) {
    return each.is_open() && each.finding.kind == IncidentKind::kTelemetryLost && each.finding.cause.fabric == kOne;
  };
  EXPECT_EQ(std::ranges::count_if(now, is_told), 1);
  EXPECT_EQ(verdict_of("host-1-0"), HealthVerdict::kUnknown);
  EXPECT_EQ(verdict_of("host-2-0"), HealthVerdict::kUnhealthy);
  EXPECT_EQ(verdict_of("host-0-1"), HealthVerdict::kHealthy);
  fabric = fakes::FabricBuilder::fat_tree(2, 3, 2);
  cut(fabric, "host-2-0 mlx5_0");
  fabric.advance(clock.time - fabric.now());
  sweep_as(kTwo, fabric, 90);
  EXPECT_EQ(std::ranges::count_if(shown(), &Incident::is_open), 1);
  EXPECT_EQ(verdict_of("host-1-0"), HealthVerdict::kHealthy);
}

}  // namespace
}  // namespace weft::daemon
