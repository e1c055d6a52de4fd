// SPDX-License-Identifier: Apache-2.0
// What real fabrics do: that each assumption shows in what is read, and changes nothing else.
#include "tests/scenarios/assumptions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/scenarios/habits.hpp"
#include "tests/scenarios/simulator.hpp"
#include "tests/scenarios/wire_speeds.hpp"

namespace weft::scenarios {
namespace {

/// What all readings of one counter add up to, by host and name; and the jobs that each host told last.
struct Told {
  std::map<std::pair<std::string, std::string>, double> moved;
  std::map<std::string, std::vector<std::string>> jobs;
  bool has(const std::string& host, const std::string& name) const { return moved.contains({host, name}); }
};

Told listen(Simulator& simulator, double until) {
  Told told;
  std::map<std::pair<std::string, std::size_t>, std::uint64_t> last;
  for (Tick tick; tick.at < until && simulator.next(tick);)
    for (const Delivery& delivery : tick.heard) {
      if (!delivery.batch.reading) continue;
      const HostReading& reading = *delivery.batch.reading;
      told.jobs[delivery.host] = reading.jobs;
      for (std::size_t i = 0; i < reading.values.size(); ++i) {
        const auto [before, is_new] = last.try_emplace({delivery.host, i}, reading.values[i]);
        told.moved[{delivery.host, reading.inventory->series[i].name}] +=
            static_cast<double>(reading.values[i] - before->second);
        before->second = reading.values[i];
      }
    }
  return told;
}

struct Assumed : testing::Test {
  explicit Assumed(LinkLayer layer = LinkLayer::kInfiniBand) {
    scenario.fabric = {.levels = 2, .hosts = 64, .hosts_per_leaf = 8, .uplinks = 8, .layer = layer};
    scenario.noisy = false;
    scenario.duration = 30;
    plan = *lay_out(scenario.fabric);
  }
  Scenario scenario;
  Plan plan;
};
struct AssumedOfEthernet : Assumed {
  AssumedOfEthernet() : Assumed(LinkLayer::kEthernet) {
    scenario.switch_collectors = true;
    scenario.jobs = {{.kind = JobKind::kSteady, .members = {8, 16, 24, 32}, .targets = {5}, .load = 0.9}};
  }
};

TEST(Assumptions, LeaveTheFabricAndItsFaultAsTheyAre) {
  const Case plain = generate("loss_on_link", 3, Scale::kSmall);
  const Case spread = generate("loss_on_link+adaptive_routing", 3, Scale::kSmall);
  ASSERT_EQ(spread.scenario.faults.size(), 1U);
  EXPECT_EQ(spread.scenario.faults[0].port, plain.scenario.faults[0].port);
  EXPECT_EQ(spread.scenario.faults[0].amount, plain.scenario.faults[0].amount);
  EXPECT_EQ(spread.scenario.name, "loss_on_link+adaptive_routing/3");
  EXPECT_GT(spread.scenario.assumptions.ways, 1U);
}

TEST(Assumptions, EachHostHasABackgroundOfItsOwn) {
  const Case plain = generate("quiet", 3, Scale::kSmall);
  Case beside = generate("quiet+background", 3, Scale::kSmall);
  ASSERT_EQ(beside.scenario.jobs.size(), plain.scenario.jobs.size() + 1);
  Job& job = beside.scenario.jobs.back();
  ASSERT_EQ(job.kind, JobKind::kSteady);
  ASSERT_EQ(job.shares.size(), beside.plan.adapters.size());
  const auto [least, most] = std::ranges::minmax(job.shares);
  EXPECT_GE(least, 1.0 / 3);
  EXPECT_LE(most, 3);
  EXPECT_GT(most, 2 * least);
  beside.scenario.jobs = {job};
  beside.scenario.noisy = false;
  Simulator simulator(beside.scenario, beside.plan);
  const Told told = listen(simulator, 20);
  const auto moved = [&](std::uint32_t endpoint) {
    const NodeIndex adapter = beside.plan.adapters[endpoint * beside.plan.spec.rails];
    return told.moved.at({std::string(host_name(beside.plan.nodes[adapter])), "transmit_bytes"});
  };
  std::vector<double> all;
  for (std::uint32_t host = 0; host < beside.plan.spec.hosts; ++host) all.push_back(moved(host));
  EXPECT_GT(std::ranges::max(all), 1.5 * std::ranges::min(all));
}

TEST(Assumptions, AndHabitsHaveGroupsThatCanBeGenerated) {
  for (const std::string& group : further_groups()) {
    if (is_whole_day(group)) continue;
    const Case made = generate(group, 2, Scale::kSmall);
    EXPECT_EQ(made.scenario.group, group);
    EXPECT_GT(made.plan.nodes.size(), 0U);
    for (const Truth& truth : made.scenario.truths) EXPECT_LE(truth.start, made.scenario.duration) << group;
  }
  Random random(1);
  Case made = generate("quiet", 1, Scale::kSmall);
  EXPECT_FALSE(assume("no_such", random, made));
  EXPECT_FALSE(live("no_such", random, made));
}

TEST(Assumptions, LossesAreThoseOfCorrOpt) {
  Random random(7);
  unsigned rare = 0, gross = 0;
  constexpr unsigned kDraws = 20000;
  for (unsigned i = 0; i < kDraws; ++i) {
    const double loss = loss_of_corropt(random);
    ASSERT_GE(loss, 1e-8);
    ASSERT_LE(loss, 1e-2);
    rare += loss < 1e-5;
    gross += loss >= 1e-3;
  }
  EXPECT_NEAR(rare / static_cast<double>(kDraws), 0.4723, 0.02);
  EXPECT_NEAR(gross / static_cast<double>(kDraws), 0.1267, 0.02);
}

TEST(WireSpeeds, AreThoseOfTheLinkUpToNdr) {
  const auto up_to = [](SpeedMask speed) { return static_cast<SpeedMask>(speed * 2 - 1); };
  for (const SpeedMask speed : {kSpeedQdr, kSpeedEdr, kSpeedHdr, kSpeedNdr}) {
    const SpeedMask all = static_cast<SpeedMask>(up_to(speed) & ~kSpeedFdr10);
    const WireSpeeds read = read_from_wire({speed, all, all});
    EXPECT_EQ(read.active, speed);
    EXPECT_EQ(read.enabled, all);
    EXPECT_EQ(read.supported, all);
  }
}

TEST_F(Assumed, AdaptiveRoutingSpreadsAFlowOverAllUplinks) {
  scenario.jobs = {{.kind = JobKind::kSteady, .members = {8}, .targets = {0}, .load = 0.8}};
  scenario.assumptions.ways = 8;
  Simulator simulator(scenario, plan);
  Tick tick;
  ASSERT_TRUE(simulator.next(tick));
  const double all = simulator.loads().sent[plan.endpoint_port(8)];
  ASSERT_GT(all, 1e9);
  for (unsigned uplink = 9; uplink <= 16; ++uplink)
    EXPECT_NEAR(simulator.loads().sent[plan.port(plan.leaves[1], uplink)], all / 8, all * 1e-6);
  EXPECT_NEAR(simulator.loads().sent[plan.access_port(0)], all, all * 1e-6);
}

TEST_F(AssumedOfEthernet, MarksAreAllThatShowsWithoutPauses) {
  const std::string receiver = "node-0005", sender = "node-0008";
  Simulator pausing(scenario, plan);
  const Told paused = listen(pausing, 20);
  EXPECT_GT(paused.moved.at({sender, "pfc_pause"}), 1e6) << "microseconds";
  EXPECT_FALSE(paused.has(receiver, "ecn_marked_packets"));
  scenario.assumptions.marks_only = true;
  Simulator marking(scenario, plan);
  const Told marked = listen(marking, 20);
  EXPECT_EQ(marked.moved.at({sender, "pfc_pause"}), 0);
  EXPECT_GT(marked.moved.at({receiver, "ecn_marked_packets"}), 1e5);
  EXPECT_GT(marked.moved.at({sender, "cnp_handled"}), 1e3);
  EXPECT_EQ(marked.moved.at({"node-0040", "cnp_handled"}), 0);
  EXPECT_FALSE(marking.harm().episodes(5).empty()) << "its senders wait all the same";
}

TEST_F(AssumedOfEthernet, AFullLinkLosesAndCountsWhatItLoses) {
  scenario.assumptions.full_link_loss = 1e-5;
  Simulator simulator(scenario, plan);
  const Told told = listen(simulator, 20);
  EXPECT_GT(told.moved.at({"node-0005", "out_of_sequence"}), 100);
  EXPECT_GT(told.moved.at({"node-0008", "sequence_nak"}), 10);
  const double dropped =
      static_cast<double>(simulator.registers().events(plan.access_port(5), CounterId::kTransmitDiscards));
  EXPECT_NEAR(dropped, told.moved.at({"node-0005", "out_of_sequence"}), dropped * 0.3);
}

TEST_F(Assumed, LatePacketsAreCountedForEachThatIsLost) {
  scenario.jobs = {{.kind = JobKind::kSteady, .members = {8}, .targets = {0}, .load = 0.8}};
  scenario.faults = {{.kind = FaultKind::kLossOnLink, .port = plan.endpoint_port(8), .start = 1, .amount = 1e-3}};
  scenario.assumptions.late_packets = 100;
  Simulator simulator(scenario, plan);
  const Told told = listen(simulator, 25);
  const double lost = told.moved.at({"node-0008", "sequence_nak"});
  ASSERT_GT(lost, 1000);
  EXPECT_NEAR(told.moved.at({"node-0000", "out_of_sequence"}) / lost, 80, 8) << "eight tenths of the line rate";
}

TEST_F(Assumed, AJobThatEndsFlushesAndIsToldNoMore) {
  scenario.jobs = {{.kind = JobKind::kRing, .members = {8, 16, 24}, .load = 0.5, .end = 10},
                   {.kind = JobKind::kRing, .members = {8, 16, 24}, .load = 0.5, .start = 15}};
  scenario.assumptions.flushes = true;
  const auto until = [&](double at) {
    Simulator simulator(scenario, plan);
    return listen(simulator, at);
  };
  const Told first = until(8), between = until(13), second = until(20);
  EXPECT_EQ(first.moved.at({"node-0016", "response_completion_error"}), 0);
  EXPECT_GE(between.moved.at({"node-0016", "response_completion_error"}), 20);
  EXPECT_EQ(between.moved.at({"node-0017", "response_completion_error"}), 0);
  ASSERT_EQ(first.jobs.at("node-0016").size(), 1U);
  EXPECT_TRUE(between.jobs.at("node-0016").empty());
  ASSERT_EQ(second.jobs.at("node-0016").size(), 1U);
  EXPECT_NE(first.jobs.at("node-0016")[0], second.jobs.at("node-0016")[0]);
}

TEST(Habits, ADrainedHostRebootsAndNobodyMustSaySo) {
  const Case made = generate("node_reboot", 4, Scale::kSmall);
  ASSERT_EQ(made.scenario.faults.size(), 1U);
  const std::uint32_t endpoint = made.plan.endpoint_of[made.scenario.faults[0].node];
  for (const Job& job : made.scenario.jobs) EXPECT_EQ(std::ranges::count(job.members, endpoint), 0) << "it was drained";
  ASSERT_EQ(made.scenario.truths.size(), 1U);
  EXPECT_FALSE(made.scenario.truths[0].counts);
  EXPECT_FALSE(made.scenario.truths[0].host.empty());
}

TEST(Habits, ABusyDayHasAThousandPortsAndTheDefaultInterval) {
  const Case made = generate("busy_day", 1, Scale::kSmall);
  EXPECT_EQ(made.plan.cables().size() * 2, 1024U);
  EXPECT_EQ(made.scenario.interval, 1);
  EXPECT_EQ(made.scenario.duration, kSecondsOfDay);
  EXPECT_GE(made.scenario.faults.size(), 9U);
  for (const Truth& truth : made.scenario.truths) EXPECT_FALSE(truth.counts) << "there is nothing to be found";
}

}  // namespace
}  // namespace weft::scenarios
