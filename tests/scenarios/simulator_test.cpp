// SPDX-License-Identifier: Apache-2.0
// The simulator alone: what flows, what waits, what counters show.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "fabric/graph/path.hpp"
#include "tests/scenarios/generate.hpp"
#include "tests/scenarios/simulator.hpp"

namespace weft::scenarios {
namespace {

constexpr double kNdr = 400e9;
constexpr double kLine = 0.97 * kNdr;

Plan small_tree() {
  return *lay_out({.levels = 2, .hosts = 64, .hosts_per_leaf = 8, .uplinks = 8});
}

Scenario silent_fabric() {
  Scenario scenario;
  scenario.fabric = {.levels = 2, .hosts = 64, .hosts_per_leaf = 8, .uplinks = 8};
  scenario.noisy = false;
  scenario.duration = 20;
  return scenario;
}

double utilisation(Simulator& simulator, PortIndex port) {
  return simulator.loads().sent[port] / kLine;
}

double waiting(Simulator& simulator, PortIndex port) {
  return static_cast<double>(simulator.loads().waiting[port]);
}

void run_until(Simulator& simulator, double at) {
  for (Tick tick; tick.at < at && simulator.next(tick);) {
  }
}

TEST(FatTree, HasTheSwitchesAndCablesOfItsShape) {
  const Plan two = small_tree();
  EXPECT_EQ(two.leaves.size(), 8U);
  EXPECT_EQ(two.spines.size(), 8U);
  EXPECT_EQ(two.cables().size(), 64U + 64U);
  EXPECT_EQ(Topology::validate(two.nodes, two.ports), "");
  const Plan three = *lay_out(
      {.levels = 3, .hosts = 1024, .hosts_per_leaf = 16, .uplinks = 16, .leaves_per_pod = 16, .core_uplinks = 16});
  EXPECT_EQ(three.spines.size(), 4U * 16U);
  EXPECT_EQ(three.cores.size(), 256U);
  EXPECT_EQ(three.cables().size(), 3U * 1024U);
  const Plan rails = *lay_out({.levels = 2, .hosts = 16, .rails = 4, .hosts_per_leaf = 8, .uplinks = 8});
  EXPECT_EQ(rails.leaves.size(), 8U);
  EXPECT_EQ(rails.ports[rails.access_port(5)].node, rails.leaves[1]) << "second rail of the second host";
  EXPECT_FALSE(lay_out({.levels = 4}));
  EXPECT_FALSE(lay_out({.levels = 2, .hosts = 16384, .hosts_per_leaf = 32, .uplinks = 32})) << "a spine of 512 ports";
  EXPECT_TRUE(lay_out(
      {.levels = 3, .hosts = 16384, .hosts_per_leaf = 32, .uplinks = 32, .leaves_per_pod = 32, .core_uplinks = 32}));
}

TEST(ForwardingTables, LeadEverywhereOnShortestWaysAndSpreadDestinations) {
  const Plan plan = small_tree();
  std::vector<PortIndex> peers;
  std::vector<std::uint8_t> usable;
  for (const Port& port : plan.ports) {
    peers.push_back(port.peer);
    usable.push_back(port.is_up());
  }
  const ForwardingTables tables(plan, peers, usable);
  std::vector<PortIndex> path;
  std::vector<unsigned> destinations(plan.ports.size(), 0);
  for (std::uint32_t from = 0; from < 64; ++from)
    for (std::uint32_t to = 0; to < 64; ++to) {
      if (from == to) continue;
      ASSERT_TRUE(tables.path(plan, peers, from, to, path));
      EXPECT_EQ(path.size(), from / 8 == to / 8 ? 2U : 4U);
    }
  for (std::uint32_t to = 8; to < 64; ++to) ++destinations[plan.port(plan.leaves[0], tables.port(plan.leaves[0], to))];
  for (unsigned uplink = 0; uplink < 8; ++uplink) EXPECT_EQ(destinations[plan.port(plan.leaves[0], 9 + uplink)], 7U);
  // Without one uplink there are other ways; without all of them there is none.
  for (unsigned uplink = 0; uplink < 8; ++uplink) usable[plan.port(plan.leaves[0], 9 + uplink)] = uplink == 7;
  EXPECT_TRUE(ForwardingTables(plan, peers, usable).path(plan, peers, 0, 63, path));
  usable[plan.port(plan.leaves[0], 16)] = 0;
  EXPECT_FALSE(ForwardingTables(plan, peers, usable).path(plan, peers, 0, 63, path));
}

TEST(FairRates, ShareABottleneckEvenlyAndLeaveNothingUnused) {
  // Two flows over one link of 10; one of them wants only 2.
  const Rates rates = fair_rates(std::vector<Flow>{{{0, 2}, 100}, {{1, 2}, 2}}, std::vector<double>{100, 100, 10});
  EXPECT_DOUBLE_EQ(rates.flows[0], 8);
  EXPECT_DOUBLE_EQ(rates.flows[1], 2);
  EXPECT_DOUBLE_EQ(rates.loads[2], 10);
  EXPECT_TRUE(rates.waits[0]) << "its source has more than gets through";
  EXPECT_FALSE(rates.waits[1]) << "this one offers no more than it gets";
  EXPECT_FALSE(rates.waits[2]) << "the bottleneck itself always sends";
}

TEST(FairRates, HoldUpWhatSharesABufferWithTheBlocked) {
  // Flow 0 crosses 0 and the full 1; flow 1 shares 0 with it and goes on to the idle 2; flow 2 shares 2 only.
  const Rates rates =
      fair_rates(std::vector<Flow>{{{0, 1}, 100}, {{3, 0, 2}, 100}, {{2}, 50}}, std::vector<double>{100, 10, 100, 100});
  EXPECT_DOUBLE_EQ(rates.flows[0], 10);
  EXPECT_DOUBLE_EQ(rates.flows[1], 10) << "head-of-line blocking";
  EXPECT_DOUBLE_EQ(rates.flows[2], 50);
  EXPECT_TRUE(rates.waits[3]) << "and it spreads to whatever is before";
  EXPECT_FALSE(rates.waits[2]);
}

TEST(FairRates, CreateNoTrafficAndExceedNoCapacity) {
  Random random(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> capacities(20);
    for (double& capacity : capacities) capacity = random.uniform(1, 100);
    std::vector<Flow> flows(1 + random.below(30));
    for (Flow& flow : flows) {
      flow.demand = random.uniform(0.1, 60);
      for (ResourceIndex at = random.below(4); at < 20; at += 1 + random.below(5)) flow.path.push_back(at);
    }
    const Rates rates = fair_rates(flows, capacities);
    std::vector<double> loads(20, 0);
    for (std::size_t i = 0; i < flows.size(); ++i) {
      EXPECT_LE(rates.flows[i], flows[i].demand * (1 + 1e-9));
      for (const ResourceIndex at : flows[i].path) loads[at] += rates.flows[i];
    }
    for (std::size_t at = 0; at < 20; ++at) {
      EXPECT_NEAR(loads[at], rates.loads[at], 1e-6);
      EXPECT_LE(loads[at], capacities[at] * (1 + 1e-9));
    }
  }
}

TEST(Simulator, WhatIsSentArrives) {
  Case made = generate("quiet", 3, Scale::kSmall);
  made.scenario.noisy = false;
  Simulator simulator(made.scenario, made.plan);
  // All ports are read at one moment here, unlike in a sweep.
  SampleTable start = SampleTable::of_group(CounterGroup::kEverySweep, made.plan.ports.size());
  SampleTable end = start;
  const auto read = [&](SampleTable& table) {
    Tick tick;
    EXPECT_TRUE(simulator.next(tick));
    for (PortIndex port = 0; port < table.rows(); ++port) simulator.registers().read(port, tick.at, table);
  };
  read(start);
  run_until(simulator, 100);
  read(end);
  const SampleTable::Column sent = end.column(CounterId::kTransmitBytes);
  const SampleTable::Column received = end.column(CounterId::kReceiveBytes);
  double bytes = 0;
  for (PortIndex port = 0; port < end.rows(); ++port) {
    const PortIndex peer = made.plan.ports[port].peer;
    if (peer == kNoIndex) continue;
    const auto out = static_cast<double>(end.value(port, sent) - start.value(port, sent));
    const auto in = static_cast<double>(end.value(peer, received) - start.value(peer, received));
    EXPECT_NEAR(out, in, 16 + out * 1e-9);
    bytes += out;
  }
  EXPECT_GT(bytes, 1e12) << "there was traffic";
}

TEST(Simulator, IncastFillsTheLastLinkAndHoldsUpAllSources) {
  const Plan plan = small_tree();
  Scenario scenario = silent_fabric();
  Fault fault{.kind = FaultKind::kIncast, .port = plan.access_port(0), .endpoints = {8, 16, 24, 32}, .start = 5};
  scenario.faults = {fault};
  Simulator simulator(scenario, plan);
  run_until(simulator, 10);
  EXPECT_NEAR(utilisation(simulator, fault.port), 1, 1e-6);
  EXPECT_LT(waiting(simulator, fault.port), 0.05) << "the root sends all the time";
  for (const std::uint32_t from : fault.endpoints) {
    EXPECT_NEAR(utilisation(simulator, plan.endpoint_port(from)), 0.25, 1e-6);
    EXPECT_NEAR(waiting(simulator, plan.endpoint_port(from)), 0.75, 1e-6);
  }
  EXPECT_LT(waiting(simulator, plan.endpoint_port(40)), 0.05) << "who has no part in it does not wait";
}

TEST(HarmLedger, KnowsWhoHeldUpWhomAndForHowLong) {
  const Plan plan = small_tree();
  Scenario scenario = silent_fabric();
  Fault fault{.kind = FaultKind::kIncast, .port = plan.access_port(0), .endpoints = {8, 16, 24, 32}, .start = 5};
  scenario.faults = {fault};
  Simulator simulator(scenario, plan);
  run_until(simulator, 15);
  const std::vector<ResourceIndex> root{fault.port};
  const std::vector<ResourceIndex> victim{plan.endpoint_port(8)};
  const std::vector<ResourceIndex> host{static_cast<ResourceIndex>(plan.ports.size())};
  EXPECT_TRUE(simulator.harm().congested(root, 15));
  EXPECT_FALSE(simulator.harm().congested(root, 7)) << "two sweeps may be a burst";
  EXPECT_TRUE(simulator.harm().ever_congested(root, 5, 15));
  EXPECT_FALSE(simulator.harm().ever_congested(root, 0, 5));
  EXPECT_FALSE(simulator.harm().congested(victim, 15)) << "who waits is not who holds up";
  EXPECT_FALSE(simulator.harm().congested(host, 15)) << "the link is full, the host takes all of it";
}

TEST(HarmLedger, TellsALinkFromTheHostBehindIt) {
  const Plan plan = small_tree();
  const LinkKey key = plan.link_of(plan.access_port(3));
  const Place link{EntityKind::kLink, key.low, key.high};
  const auto of_link = resources_of(plan, link, false);
  EXPECT_NE(std::ranges::find(of_link, plan.access_port(3)), of_link.end());
  EXPECT_NE(std::ranges::find(of_link, plan.endpoint_port(3)), of_link.end());
  for (const ResourceIndex host : resources_of(plan, link, true)) EXPECT_EQ(host, plan.ports.size() + 3);
  const Place leaf{EntityKind::kNode, {plan.nodes[plan.leaves[0]].guid, {}}, {}};
  EXPECT_EQ(resources_of(plan, leaf, false).size(), 2 * 8U) << "its uplinks in both directions";
}

TEST(Simulator, ADeadlockIsOnWaysThatMakeACircle) {
  const Plan plan = small_tree();
  Scenario scenario = silent_fabric();
  const PortIndex up = plan.port(plan.leaves[0], 9);
  const PortIndex back = plan.port(plan.leaves[1], 10);
  scenario.faults = {{.kind = FaultKind::kDeadlock, .port = up, .other = back, .start = 5, .end = 10}};
  Simulator simulator(scenario, plan);
  Tick tick;
  while (tick.at < 8) ASSERT_TRUE(simulator.next(tick));
  const auto circle_of = [&](const Routes& routes, std::uint32_t to) {
    const Path path =
        find_path(*tick.sweep->topology, routes, plan.endpoint_port(0), plan.ports[plan.endpoint_port(to)].lid);
    EXPECT_TRUE(path.arrived()) << to;
    return path.hops.size();
  };
  std::size_t longest = 0;
  for (std::uint32_t to = 16; to < 64; ++to) longest = std::max(longest, circle_of(*tick.sweep->routes, to));
  EXPECT_EQ(longest, 6U) << "by way of another leaf";
  EXPECT_EQ(waiting(simulator, up), 1);
  EXPECT_EQ(waiting(simulator, back), 1);
  while (tick.at < 15) ASSERT_TRUE(simulator.next(tick));
  for (std::uint32_t to = 16; to < 64; ++to) EXPECT_EQ(circle_of(*tick.sweep->routes, to), 4U);
}

TEST(Simulator, WhatHasComeForAHostThatTakesNothingStaysBeforeItsDoor) {
  const Plan plan = small_tree();
  Scenario scenario = silent_fabric();
  scenario.jobs = {{.kind = JobKind::kSteady, .members = {8}, .targets = {0}, .load = 0.5, .end = 8}};
  scenario.faults = {{.kind = FaultKind::kPfcStorm, .port = plan.access_port(0), .start = 5, .end = 15}};
  Simulator simulator(scenario, plan);
  SampleTable table = SampleTable::of_group(CounterGroup::kEverySweep, plan.ports.size());
  const auto waited = [&](double until) {
    run_until(simulator, until);
    simulator.registers().read(plan.access_port(0), until + 1, table);
    return table.value(plan.access_port(0), table.column(CounterId::kTransmitWait));
  };
  const auto at_ten = waited(10);
  EXPECT_GT(waited(12), at_ten) << "the sender has stopped at 8";
  const auto at_eighteen = waited(18);
  EXPECT_EQ(waited(19), at_eighteen);
}

TEST(Simulator, ASlowReceiverLetsItsLeafWaitAndEverybodyBeforeIt) {
  const Plan plan = small_tree();
  Scenario scenario = silent_fabric();
  scenario.jobs = {{.kind = JobKind::kSteady, .members = {8}, .targets = {0}, .load = 0.5}};
  scenario.faults = {{.kind = FaultKind::kSlowReceiver, .port = plan.access_port(0), .start = 5, .amount = 0.2}};
  Simulator simulator(scenario, plan);
  run_until(simulator, 3);
  EXPECT_LT(waiting(simulator, plan.access_port(0)), 0.05);
  run_until(simulator, 10);
  EXPECT_NEAR(utilisation(simulator, plan.access_port(0)), 0.2, 1e-6);
  EXPECT_NEAR(waiting(simulator, plan.access_port(0)), 0.8, 1e-6);
  EXPECT_NEAR(waiting(simulator, plan.endpoint_port(8)), 0.8, 1e-6);
}

TEST(Simulator, ALinkThatIsDownCountsAndIsRoutedAround) {
  const Plan plan = small_tree();
  Scenario scenario = silent_fabric();
  scenario.jobs = {{.kind = JobKind::kSteady, .members = {8}, .targets = {0}, .load = 0.5}};
  Simulator before(scenario, plan);
  run_until(before, 3);
  PortIndex uplink = kNoIndex;
  for (unsigned i = 0; i < 8; ++i)
    if (before.loads().sent[plan.port(plan.leaves[1], 9 + i)] > 1e9) uplink = plan.port(plan.leaves[1], 9 + i);
  ASSERT_NE(uplink, kNoIndex);
  scenario.faults = {{.kind = FaultKind::kLinkDown, .port = uplink, .start = 5, .end = 15}};
  Simulator simulator(scenario, plan);
  const std::uint64_t downed = simulator.registers().events(uplink, CounterId::kLinkDowned);
  run_until(simulator, 6);
  EXPECT_EQ(simulator.ports()[uplink].state, PortState::kDown);
  EXPECT_EQ(simulator.registers().events(uplink, CounterId::kLinkDowned), downed + 1);
  EXPECT_EQ(simulator.loads().sent[plan.endpoint_port(8)], 0) << "the switch discards until there is another way";
  run_until(simulator, 10);
  EXPECT_GT(simulator.loads().sent[plan.endpoint_port(8)], 1e9);
  run_until(simulator, 18);
  EXPECT_EQ(simulator.ports()[uplink].state, PortState::kActive);
}

TEST(Registers, NarrowCountersStickAtTheirWidth) {
  Registers registers(1);
  registers.set_widths(0, CounterWidths::kClassic);
  registers.set_rates(0, 50e9, 0, 1e6);
  registers.add(0, CounterId::kSymbolErrors, 70000);
  registers.add(0, CounterId::kLinkDowned, 254);
  SampleTable table = SampleTable::of_group(CounterGroup::kEverySweep, 1);
  registers.read(0, 1, table);
  const auto column = [&](CounterId id) { return table.column(id); };
  EXPECT_EQ(table.value(0, column(CounterId::kTransmitBytes)), 0xFFFFFFFFULL * 4) << "words of four bytes";
  EXPECT_TRUE(table.saturated(0, column(CounterId::kTransmitBytes)));
  EXPECT_FALSE(table.saturated(0, column(CounterId::kTransmitWait)));
  EXPECT_EQ(table.value(0, column(CounterId::kTransmitWait)), 1000000U);
  EXPECT_EQ(table.value(0, column(CounterId::kSymbolErrors)), 0xFFFFU);
  EXPECT_TRUE(table.saturated(0, column(CounterId::kSymbolErrors)));
  EXPECT_FALSE(table.saturated(0, column(CounterId::kLinkDowned)));
  EXPECT_FALSE(table.present(0, column(CounterId::kUnicastTransmitPackets)));
  registers.set_widths(0, CounterWidths::kWide);
  registers.read(0, 1, table);
  EXPECT_EQ(table.value(0, column(CounterId::kTransmitBytes)), 50'000'000'000U);
  EXPECT_EQ(table.value(0, column(CounterId::kSymbolErrors)), 70000U);
}

TEST(Simulator, SweepsCarryTheForwardingTablesThatTheFlowsFollow) {
  const Plan plan = small_tree();
  const Scenario scenario = silent_fabric();
  Simulator simulator(scenario, plan);
  Tick tick;
  ASSERT_TRUE(simulator.next(tick));
  const Sweep& sweep = *tick.sweep;
  ASSERT_NE(sweep.routes, nullptr);
  for (const std::uint32_t to : {1U, 9U, 63U}) {
    const Path path =
        find_path(*sweep.topology, *sweep.routes, plan.endpoint_port(0), plan.ports[plan.endpoint_port(to)].lid);
    EXPECT_TRUE(path.arrived());
    EXPECT_EQ(path.hops.size(), to < 8 ? 2U : 4U);
  }
}

/// What all readings of one counter add up to, by host.
class Heard {
 public:
  explicit Heard(Simulator& simulator, double until) {
    std::map<std::pair<std::string, std::size_t>, std::uint64_t> last;
    for (Tick tick; tick.at < until && simulator.next(tick);)
      for (const Delivery& delivery : tick.heard) {
        if (!delivery.batch.reading) continue;
        const HostReading& reading = *delivery.batch.reading;
        for (std::size_t i = 0; i < reading.values.size(); ++i) {
          const HostSeries& series = reading.inventory->series[i];
          const auto [before, is_new] = last.try_emplace({delivery.host, i}, reading.values[i]);
          const std::uint64_t mask = series.bits == 64 ? ~0ULL : (1ULL << series.bits) - 1;
          if (!is_new) moved_[{delivery.host, series.name}] += (reading.values[i] - before->second) & mask;
          if (series.behaviour == CounterBehaviour::kGauge)
            highest_[{delivery.host, series.name}] =
                std::max(highest_[{delivery.host, series.name}], reading.values[i]);
          before->second = reading.values[i];
        }
        jobs[delivery.host] = reading.jobs;
      }
  }
  double moved(const std::string& host, const std::string& name) { return static_cast<double>(moved_[{host, name}]); }
  std::uint64_t highest(const std::string& host, const std::string& name) { return highest_[{host, name}]; }
  std::map<std::string, std::vector<std::string>> jobs;

 private:
  std::map<std::pair<std::string, std::string>, std::uint64_t> moved_, highest_;
};

TEST(Collectors, TellOfLossesAtBothEndsOfTheFlowsThatCrossIt) {
  const Plan plan = small_tree();
  Scenario scenario = silent_fabric();
  scenario.jobs = {{.kind = JobKind::kRing, .members = {8, 16, 24}, .period = 1, .communication = 1, .load = 0.5}};
  scenario.faults = {{.kind = FaultKind::kLossOnLink, .port = plan.endpoint_port(16), .start = 2, .amount = 1e-3}};
  Simulator simulator(scenario, plan);
  Heard heard(simulator, 18);
  const double sent = heard.moved("node-0016", "transmit_packets");
  const double received = heard.moved("node-0024", "receive_packets");
  ASSERT_GT(sent, 1e6);
  const double lost = heard.moved("node-0016", "sequence_nak") + heard.moved("node-0016", "ack_timeout");
  EXPECT_NEAR(lost / sent, 1e-3 * 15 / 16, 1e-4) << "of sixteen seconds fifteen";
  EXPECT_NEAR(heard.moved("node-0024", "out_of_sequence") / received, 1e-3 * 15 / 16, 1e-4);
  for (const char* name : {"sequence_nak", "ack_timeout"}) {
    EXPECT_EQ(heard.moved("node-0008", name), 0);
    EXPECT_EQ(heard.moved("node-0024", name), 0);
  }
  EXPECT_EQ(heard.moved("node-0008", "out_of_sequence"), 0);
  EXPECT_EQ(heard.jobs["node-0016"], heard.jobs["node-0024"]);
  EXPECT_EQ(heard.jobs["node-0016"].size(), 1U);
  EXPECT_TRUE(heard.jobs["node-0001"].empty());
}

TEST(Collectors, TellOfStallsWhereTheHostIsSlow) {
  const Plan plan = small_tree();
  for (const FaultKind kind : {FaultKind::kSlowReceiver, FaultKind::kPcieStall}) {
    Scenario scenario = silent_fabric();
    scenario.jobs = {{.kind = JobKind::kSteady, .members = {8}, .targets = {0}, .load = 0.5}};
    scenario.faults = {{.kind = kind, .port = plan.access_port(0), .start = 5, .amount = 0.2}};
    Simulator simulator(scenario, plan);
    Heard heard(simulator, 18);
    EXPECT_GT(heard.highest("node-0000", "pcie_write_stall"), 30U);
    EXPECT_GE(heard.moved("node-0000", "pcie_write_stall_events"), 3);
    EXPECT_EQ(heard.highest("node-0000", "pcie_read_stall") > 0, kind == FaultKind::kPcieStall);
    EXPECT_EQ(heard.moved("node-0000", "out_of_buffer") > 0, kind == FaultKind::kSlowReceiver);
    EXPECT_EQ(heard.moved("node-0008", "rnr_nak") > 0, kind == FaultKind::kSlowReceiver);
    EXPECT_EQ(heard.highest("node-0008", "pcie_write_stall"), 0U);
  }
}

TEST(Collectors, TellOfRequestsThatFailWhileTheyDo) {
  const Plan plan = small_tree();
  Scenario scenario = silent_fabric();
  scenario.faults = {
      {.kind = FaultKind::kFailedTransfers, .port = plan.access_port(8), .start = 5, .end = 15, .amount = 20}};
  Simulator simulator(scenario, plan);
  Heard heard(simulator, 18);
  EXPECT_NEAR(heard.moved("node-0008", "retries_exhausted"), 200, 50);
  EXPECT_EQ(heard.moved("node-0008", "ack_timeout"), 8 * heard.moved("node-0008", "retries_exhausted"));
  EXPECT_EQ(heard.moved("node-0000", "retries_exhausted"), 0);
}

TEST(Simulator, WhatASwitchLosesIsMissingBehindItAndNowhereElse) {
  const Plan plan = small_tree();
  Scenario scenario = silent_fabric();
  scenario.jobs = {{.kind = JobKind::kSteady, .members = {8}, .targets = {0}, .load = 0.5}};
  scenario.faults = {{.kind = FaultKind::kLossInSwitch, .node = plan.leaves[0], .start = 1, .amount = 0.01}};
  Simulator simulator(scenario, plan);
  // What went in and did not come out, of all the leaf's ports at one moment.
  const auto missing = [&](NodeIndex node, double at) {
    double packets = 0;
    for (unsigned number = 1; number <= 16; ++number) {
      const Registers::Traffic traffic = simulator.registers().traffic(plan.port(node, number), at);
      packets += static_cast<double>(traffic.received_packets) - static_cast<double>(traffic.sent_packets);
    }
    return packets;
  };
  Tick tick;
  run_until(simulator, 2);
  ASSERT_TRUE(simulator.next(tick));
  const double first = tick.at;
  const double here = missing(plan.leaves[0], first);
  const double there = missing(plan.leaves[1], first);
  run_until(simulator, 15);
  ASSERT_TRUE(simulator.next(tick));
  const double expected = 0.01 * 0.5 * kNdr / 8 / kBytesOfPacket * (tick.at - first);
  EXPECT_NEAR(missing(plan.leaves[0], tick.at) - here, expected, expected * 0.05);
  EXPECT_NEAR(missing(plan.leaves[1], tick.at) - there, 0, 20) << "whole packets of sixteen ports";
}

TEST(Simulator, EqualSeedsGiveEqualSweeps) {
  const auto numbers = [](std::uint64_t seed) {
    const Case made = generate("two_at_once", seed, Scale::kSmall);
    Simulator simulator(made.scenario, made.plan);
    std::vector<std::uint64_t> all;
    for (Tick tick; simulator.next(tick);) {
      all.push_back(static_cast<std::uint64_t>(tick.now.time_since_epoch().count()));
      if (!tick.sweep) continue;
      const auto values = tick.sweep->counters->raw_values();
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  };
  const std::vector<std::uint64_t> once = numbers(5);
  EXPECT_EQ(once, numbers(5));
  EXPECT_NE(once, numbers(6));
}

}  // namespace
}  // namespace weft::scenarios
