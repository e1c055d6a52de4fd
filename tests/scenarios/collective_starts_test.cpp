// SPDX-License-Identifier: Apache-2.0
// Members of a collective that compute each for its own time: what shows of it, and what cannot.
#include "tests/scenarios/collective_starts.hpp"

#include <gtest/gtest.h>

#include "tests/scenarios/generate.hpp"
#include "tests/scenarios/judge.hpp"
#include "tests/scenarios/simulator.hpp"

namespace weft::scenarios {
namespace {

constexpr std::uint32_t kSlow = 16;

/// A ring of eight hosts that compute a second, one of them `slowness` times as long, and then send for a second.
Scenario ring(const Plan& plan, double slowness, double period = 2, double communication = 0.5) {
  Scenario scenario;
  scenario.fabric = plan.spec;
  scenario.noisy = false;
  scenario.duration = 90;
  scenario.jobs = {{.kind = JobKind::kRing,
                    .members = {0, 4, 8, 12, kSlow, 20, 24, 28},
                    .period = period,
                    .communication = communication,
                    .load = 0.5}};
  scenario.faults = {
      {.kind = FaultKind::kStraggler, .port = plan.access_port(kSlow), .start = 20.5, .end = 80, .amount = slowness}};
  scenario.truths = truths_of(scenario, plan);
  return scenario;
}

Plan tree() {
  return *lay_out({.levels = 2, .hosts = 64, .hosts_per_leaf = 8, .uplinks = 8});
}

TEST(Straggler, LetsTheOthersSendTheirFirstAndWaitWithoutAStall) {
  const Plan plan = tree();
  const Scenario scenario = ring(plan, 3);
  Simulator simulator(scenario, plan);
  // It first sends from 0 to 1, computes to 2, …, so at 23 it has computed for one second of three.
  Tick tick;
  while (tick.at < 23.2 && simulator.next(tick)) {
  }
  const auto& iteration = simulator.beginnings().iterations().back();
  ASSERT_LT(iteration.silent + 1, tick.at);
  ASSERT_GT(iteration.last, tick.at);
  EXPECT_NEAR(iteration.last, iteration.silent + 3, 1e-6);
  EXPECT_NEAR(iteration.began[0], iteration.silent + 1, 1e-6);
  const double before = 8e6 / 8;  // bytes of keep-alives in a second
  const auto sent = [&](std::uint32_t endpoint, double from, double to) {
    const Registers& registers = simulator.registers();
    const PortIndex port = plan.endpoint_port(endpoint);
    return static_cast<double>(registers.traffic(port, to).sent_bytes - registers.traffic(port, from).sent_bytes);
  };
  EXPECT_NEAR(sent(0, tick.at, tick.at + 0.1), before * 0.1, 1e3) << "nobody sends more than that";
  for (PortIndex port = 0; port < plan.ports.size(); ++port) EXPECT_EQ(simulator.loads().waiting[port], 0);
  // What a collector, or a sweep, finds: from before the others began to after.
  std::map<std::string, double> moved;
  std::map<std::string, std::pair<double, double>> last;
  Simulator again(scenario, plan);
  for (Tick beat; beat.at < 23.9 && again.next(beat);)
    for (const Delivery& delivery : beat.heard) {
      const HostReading& reading = *delivery.batch.reading;
      const double at = seconds(reading.taken - beat.now) + beat.at;
      const auto bytes = static_cast<double>(reading.values[0]);
      if (at > iteration.silent + 1 && last.contains(delivery.host) && !moved.contains(delivery.host) &&
          last[delivery.host].first > iteration.silent)
        moved[delivery.host] = bytes - last[delivery.host].second;
      last[delivery.host] = {at, bytes};
    }
  ASSERT_TRUE(moved.contains("node-0016"));
  EXPECT_LT(moved["node-0016"], 2e6) << "it has not begun";
  for (const char* other : {"node-0000", "node-0012", "node-0020"}) {
    if (!moved.contains(other)) continue;
    EXPECT_GT(moved[other], kFirstSendBytes);
    EXPECT_LT(moved[other], kFirstSendBytes + 2e6);
  }
}

TEST(Straggler, IsFoundWhereItShowsAndMuteWhereItCannot) {
  const Plan plan = tree();
  const Outcome shows = judge(ring(plan, 3), plan);
  ASSERT_EQ(shows.verdicts.size(), 1U);
  EXPECT_TRUE(shows.verdicts[0].right_kind);
  EXPECT_EQ(shows.alarms.size(), 1U);
  EXPECT_EQ(shows.without_effect, 0U);
  // 0.1 s of computing that become 0.15 s: no reading falls there.
  const Outcome mute = judge(ring(plan, 1.5, 1, 0.9), plan);
  EXPECT_TRUE(mute.verdicts.empty());
  EXPECT_EQ(mute.without_effect, 1U);
}

TEST(CollectiveStarts, ShowADelayOnlyByTheOrderOfReadings) {
  const std::vector<Job> jobs{{.kind = JobKind::kRing, .members = {0, 1, 2, 3}}};
  const std::vector<std::vector<double>> readings{{10.5, 11.5}, {10.6, 11.6}, {10.7, 11.7}, {10.2, 12.5}};
  const auto visible = [&](double own_first, double own_last, double slow = 13) {
    CollectiveStarts beginnings;
    beginnings.keep();
    beginnings.add({.job = 0, .silent = 10, .began = {11, 11, 11, slow}, .last = slow});
    auto all = readings;
    all[3] = {own_first, own_last};
    return beginnings.visible(jobs, 3, all, 5, 20);
  };
  EXPECT_EQ(visible(10.2, 12.5), 1U);
  EXPECT_EQ(visible(10.65, 12.5), 0U) << "only one of the others was read silent after that: it may have begun unseen";
  EXPECT_EQ(visible(10.2, 11.55), 0U) << "when it was read, only one of the others had been read to have begun";
  EXPECT_EQ(visible(10.2, 11.63), 0U) << "no clock is so good";
  EXPECT_EQ(visible(10.2, 12.5, 11.4), 0U) << "it had begun by then";
  CollectiveStarts bursting;
  bursting.keep();
  bursting.add({.job = 0, .silent = 10, .began = {11, 11, 11, 13}, .last = 13});
  std::vector<Job> with_storage = jobs;
  with_storage.push_back({.kind = JobKind::kStorage, .members = {3}, .targets = {0}});
  bursting.begin_burst(1, 12);
  EXPECT_EQ(bursting.visible(with_storage, 3, readings, 5, 20), 0U) << "it sends to storage meanwhile";
}

TEST(CollectiveStarts, OfAPipelineTellNothingOfWhoOnlyReceives) {
  const std::vector<Job> jobs{{.kind = JobKind::kPipeline, .members = {4, 5, 6, 0, 1, 2}}};
  std::vector<std::vector<double>> readings(7, {10.5, 12});
  readings[0] = readings[4] = {10.2, 12.5};
  CollectiveStarts beginnings;
  beginnings.keep();
  beginnings.add({.job = 0, .silent = 10, .began = {13, 11, 11, 13, 11, 11}, .last = 13});
  EXPECT_EQ(beginnings.visible(jobs, 0, readings, 5, 20), 0U);
  EXPECT_EQ(beginnings.visible(jobs, 4, readings, 5, 20), 1U);
}

TEST(CollectiveStarts, TellABackgroundByReadingsThatCannotHaveAFirst) {
  const std::vector<Job> jobs{{.kind = JobKind::kRing, .members = {0, 1, 2, 3}}};
  const auto telling = [&](const std::vector<double>& readings, double from) {
    CollectiveStarts beginnings;
    beginnings.keep();
    beginnings.add({.job = 0, .silent = 10, .began = {11, 11, 11, 13}, .last = 13});
    return beginnings.telling(jobs, 3, readings, from, 20);
  };
  EXPECT_EQ(telling({9.5, 10.5, 11.5, 12.5, 13.5}, 5), 1U) << "from 10.5 to 11.5 it would have begun with the others";
  EXPECT_EQ(telling({9.5, 10.5, 11.5, 12.5, 13.5}, 15), 2U) << "when nothing was wrong yet";
  EXPECT_EQ(telling({9.7, 10.7, 12.7, 13.7}, 5), 0U) << "it may as well send less besides";
}

}  // namespace
}  // namespace weft::scenarios
