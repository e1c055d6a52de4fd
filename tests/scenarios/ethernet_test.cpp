// SPDX-License-Identifier: Apache-2.0
// Ethernet fabrics of the simulator: which way flows take, what collectors tell, what sweeps show and what they hide.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "tests/scenarios/generate.hpp"
#include "tests/scenarios/scenario_file.hpp"
#include "tests/scenarios/simulator.hpp"
#include "tests/scenarios/timeline.hpp"

namespace weft::scenarios {
namespace {

constexpr double kEthernetNdr = 400e9;

FatTreeSpec ethernet_tree() {
  return {.levels = 2, .hosts = 64, .hosts_per_leaf = 8, .uplinks = 8, .layer = LinkLayer::kEthernet};
}

Scenario silent_fabric(bool switch_collectors) {
  Scenario scenario;
  scenario.fabric = ethernet_tree();
  scenario.noisy = false;
  scenario.duration = 20;
  scenario.switch_collectors = switch_collectors;
  return scenario;
}

/// The last sweep of the scenario.
Sweep last_sweep(const Scenario& scenario, const Plan& plan) {
  Simulator simulator(scenario, plan);
  Sweep last;
  for (Tick tick; simulator.next(tick);)
    if (tick.sweep) last = std::move(*tick.sweep);
  return last;
}

std::uint64_t value(const Sweep& sweep, const Plan& plan, PortIndex port, CounterId id) {
  const PortIndex row = sweep.topology->find_port(plan.key_of(port));
  return sweep.counters->value(row, sweep.counters->column(id));
}

TEST(EthernetFatTree, HasTheNamesThatPeopleGive) {
  const Plan plan = *lay_out(ethernet_tree());
  EXPECT_EQ(plan.nodes[plan.adapters[3]].name, "node-0003 eth0");
  EXPECT_EQ(plan.interface_of(plan.access_port(3)), "swp4");
  const CablePlan cables = cables_of(plan);
  EXPECT_EQ(cables.cables.size(), 128U);
  EXPECT_EQ(std::ranges::count(cables.nodes, true, &CablePlan::Node::is_switch), 16);
  FatTreeSpec half = ethernet_tree();
  half.hosts = 60;
  EXPECT_FALSE(lay_out(half)) << "ports without a cable are not in the plan";
}

TEST(EthernetFatTree, SweepsHaveThePortsOfThePlan) {
  for (const bool rails : {false, true}) {
    Scenario scenario = silent_fabric(true);
    if (rails) scenario.fabric = {.hosts = 16, .rails = 4, .hosts_per_leaf = 8, .layer = LinkLayer::kEthernet};
    const Plan plan = *lay_out(scenario.fabric);
    const Sweep sweep = last_sweep(scenario, plan);
    ASSERT_TRUE(sweep.topology->is_ethernet());
    ASSERT_EQ(sweep.topology->ports().size(), plan.ports.size());
    for (PortIndex port = 0; port < plan.ports.size(); ++port) {
      const PortIndex there = sweep.topology->find_port(plan.key_of(port));
      ASSERT_NE(there, kNoIndex);
      if (plan.ports[port].peer == kNoIndex) continue;
      EXPECT_EQ(sweep.topology->port_name(there), plan.interface_of(port));
      EXPECT_EQ(sweep.topology->key_of(sweep.topology->port(there).peer), plan.key_of(plan.ports[port].peer));
      EXPECT_EQ(sweep.topology->port(there).state, PortState::kActive);
      EXPECT_EQ(sweep.topology->port(there).bits_per_second(), kEthernetNdr);
    }
  }
}

TEST(EthernetFlows, StayOnOneOfTheirEqualCostWaysAndUseAllOfThem) {
  const Plan plan = *lay_out({.levels = 3,
                              .hosts = 64,
                              .hosts_per_leaf = 4,
                              .uplinks = 4,
                              .leaves_per_pod = 4,
                              .core_uplinks = 4,
                              .layer = LinkLayer::kEthernet});
  const auto [peers, usable] = cabling_of(plan);
  const ForwardingTables tables(plan, peers, usable);
  const Multipath multipath(std::make_shared<const Topology>(1, plan.nodes, plan.ports, std::vector<DuplicateGuid>{}));
  std::vector<PortIndex> path, again;
  std::set<PortIndex> used, possible;
  for (std::uint32_t from = 0; from < 8; ++from)
    for (std::uint32_t to = 16; to < 64; ++to) {
      ASSERT_TRUE(tables.path(plan, peers, from, to, path));
      ASSERT_TRUE(tables.path(plan, peers, from, to, again));
      EXPECT_EQ(path, again);
      const auto shares = multipath.shares(plan.endpoint_port(from), plan.endpoint_port(to));
      for (const Multipath::Share& share : shares) possible.insert(share.sender);
      for (const PortIndex port : path) {
        EXPECT_TRUE(std::ranges::any_of(shares, [&](const auto& share) { return share.sender == port; }));
        used.insert(port);
      }
    }
  EXPECT_GT(used.size(), possible.size() * 9 / 10);
}

TEST(EthernetCounters, AHostThatTakesLittlePausesItsSwitchAndThatItsSenders) {
  for (const bool switches : {false, true}) {
    Scenario scenario = silent_fabric(switches);
    scenario.jobs = {{.kind = JobKind::kSteady, .members = {8}, .targets = {0}, .load = 0.5}};
    scenario.faults = {{.kind = FaultKind::kSlowReceiver,
                        .port = lay_out(scenario.fabric)->access_port(0),
                        .start = 0,
                        .amount = 0.1}};
    const Plan plan = *lay_out(scenario.fabric);
    scenario.duration = 10;
    const Sweep before = last_sweep(scenario, plan);
    scenario.duration = 20;
    const Sweep after = last_sweep(scenario, plan);
    const auto waited = [&](PortIndex port) {
      const auto moved = static_cast<double>(value(after, plan, port, CounterId::kTransmitWait) -
                                             value(before, plan, port, CounterId::kTransmitWait));
      return moved / 1e6 / seconds(after.finished - before.finished);
    };
    EXPECT_NEAR(waited(plan.access_port(0)), 0.9, 0.1) << "of the switch: mirrored, or its own";
    EXPECT_NEAR(waited(plan.endpoint_port(8)), 0.9, 0.1);
    EXPECT_NEAR(waited(plan.endpoint_port(20)), 0, 0.01);
  }
}

TEST(EthernetSweeps, OfWhatNobodyReadsNothingIsKnown) {
  for (const bool switches : {false, true}) {
    const Scenario scenario = silent_fabric(switches);
    const Plan plan = *lay_out(scenario.fabric);
    const Sweep sweep = last_sweep(scenario, plan);
    for (PortIndex port = 0; port < plan.ports.size(); ++port) {
      if (plan.ports[port].peer == kNoIndex) continue;
      const PortIndex row = sweep.topology->find_port(plan.key_of(port));
      const bool known = switches || plan.endpoint_at(port) != kNoIndex;
      EXPECT_EQ(sweep.state_read_at[row] != kNever, known);
      EXPECT_EQ(sweep.counters->read_at(row) != kNever, known);
    }
    EXPECT_NE(sweep.multipath, nullptr);
    EXPECT_EQ(sweep.routes, nullptr);
  }
}

TEST(EthernetSweeps, EqualSeedsGiveEqualOnes) {
  const auto numbers = [](std::uint64_t seed) {
    const Case made = generate("ethernet_incast", seed, Scale::kSmall);
    const Sweep last = last_sweep(made.scenario, made.plan);
    const auto values = last.counters->raw_values();
    return std::vector<std::uint64_t>(values.begin(), values.end());
  };
  EXPECT_EQ(numbers(5), numbers(5));
  EXPECT_NE(numbers(5), numbers(6));
}

constexpr const char* kEthernetFabric = "fabric levels=2 hosts=64 hosts_per_leaf=8 uplinks=8 layer=ethernet\n";

TEST(EthernetFiles, SayWhoIsReadAndWhatCanBeKnown) {
  const std::string loss = std::string(kEthernetFabric) + "fault loss_on_link at=leaf-000:9 from=20 to=60\n";
  // Hosts of one leaf to those of one other: either leaf explains it. To those of many: theirs alone.
  const std::string pipeline = "job pipeline members=0-15\n", all = "job all_to_all members=0-63\n";
  const auto hidden = [&](const std::string& text) {
    const auto read = parse_scenario(text, "test");
    EXPECT_TRUE(read) << read.error().message;
    return read->scenario.truths.front().hidden;
  };
  EXPECT_TRUE(hidden(loss + pipeline));
  EXPECT_FALSE(hidden(loss + all));
  EXPECT_FALSE(hidden(loss + pipeline + "switch_collectors on\n"));
  EXPECT_FALSE(parse_scenario("fabric hosts=64 layer=carrier_pigeon\n", "test"));
}

TEST(EthernetFiles, HaveNoTimeline) {
  const auto read = parse_scenario(std::string(kEthernetFabric), "test");
  ASSERT_TRUE(read) << read.error().message;
  std::ostringstream out;
  EXPECT_FALSE(write_timeline(*read, out));
}

}  // namespace
}  // namespace weft::scenarios
