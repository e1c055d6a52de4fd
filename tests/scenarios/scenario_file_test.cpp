// SPDX-License-Identifier: Apache-2.0
// Scenario files: what they say, and what is said of bad ones.
#include "tests/scenarios/scenario_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/scenarios/judge.hpp"

namespace weft::scenarios {
namespace {

std::string why_not(const std::string& text) {
  const auto read = parse_scenario(text, "test");
  return read ? "" : read.error().message;
}

constexpr const char* kFabric = "fabric levels=2 hosts=64 hosts_per_leaf=8 uplinks=8\n";

TEST(ScenarioFile, SaysWhatItSays) {
  const auto read =
      parse_scenario(std::string(kFabric) +
                         "seed 9 # of mine\n\ninterval 10\nduration 600\ncollectors off\nnoise discards=50\n"
                         "job storage members=0-3,8 targets=60 period=30 load=0.5 from=5\n"
                         "fault errors at=leaf-003:9 amount=1e-9 from=100 to=200\n",
                     "mine");
  ASSERT_TRUE(read) << read.error().message;
  const Scenario& scenario = read->scenario;
  EXPECT_EQ(scenario.name, "mine");
  EXPECT_EQ(scenario.seed, 9U);
  EXPECT_EQ(scenario.interval, 10);
  EXPECT_EQ(scenario.noise.discards, 50);
  EXPECT_FALSE(scenario.collectors);
  ASSERT_EQ(scenario.jobs.size(), 1U);
  EXPECT_EQ(scenario.jobs[0].members, (std::vector<std::uint32_t>{0, 1, 2, 3, 8}));
  ASSERT_EQ(scenario.faults.size(), 1U);
  EXPECT_EQ(scenario.faults[0].amount, 1e-9);
  ASSERT_EQ(scenario.truths.size(), 1U) << "derived from the fault";
  EXPECT_EQ(scenario.truths[0].kind, IncidentKind::kLinkErrors);
  EXPECT_EQ(scenario.truths[0].end, 200);
}

TEST(ScenarioFile, NamesTheLineAndTheReason) {
  const std::string fabric = kFabric;
  EXPECT_EQ(why_not(""), "line 0: there is no fabric");
  EXPECT_EQ(why_not("fabric levels=2 hosts=64 hosts_per_leaf=8 uplinks=8 colour=red\n"),
            "line 1: does not know \"colour\"");
  EXPECT_EQ(why_not("fabric levels=5\n"), "line 1: levels must be from 0 to 3");
  EXPECT_EQ(why_not("fabric hosts=many\n"), "line 1: hosts wants a number, not \"many\"");
  EXPECT_EQ(why_not("fabric hosts=4096 hosts_per_leaf=8 uplinks=8\n"),
            "line 1: a spine would have more than 254 ports");
  EXPECT_EQ(why_not("fault link_down at=leaf-000:1\n"), "line 1: the fabric must come first");
  EXPECT_EQ(why_not(fabric + "\n\nduration 0\n"), "line 4: duration is out of range");
  EXPECT_EQ(why_not(fabric + "collectors maybe\n"), "line 2: \"maybe\" is neither on nor off");
  EXPECT_EQ(why_not(fabric + "job ring\n"), "line 2: a job wants members=");
  EXPECT_EQ(why_not(fabric + "job ring members=0-64\n"), "line 2: endpoints are from 0 to 63; \"0-64\" is not");
  EXPECT_EQ(why_not(fabric + "fault link_down at=leaf-009:1\n"), "line 2: there is no node leaf-009");
  EXPECT_EQ(why_not(fabric + "fault link_down at=leaf-000:17\n"), "line 2: leaf-000 has the ports 1 to 16");
  EXPECT_EQ(why_not(fabric + "fault link_down at=leaf-000:1 from=9 to=3\n"), "line 2: to must be after from");
  EXPECT_EQ(why_not(fabric + "fault incast at=leaf-000:1\n"), "line 2: this fault wants endpoints=");
  EXPECT_EQ(why_not(fabric + "fault slow_receiver at=leaf-000:9\n"),
            "line 2: this fault wants a port with a host behind it");
  EXPECT_EQ(why_not(fabric + "truth LINK_DOWN from=1\n"),
            "line 2: a truth wants a culprit: link=, port=, node= or fabric");
  EXPECT_NE(why_not(fabric + "fault gremlins at=leaf-000:1\n").find("line 2: a fault is one of link_down"),
            std::string::npos);
}

TEST(ScenarioFile, TheExamplesRun) {
  unsigned files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(WEFT_SCENARIO_EXAMPLES)) {
    const auto read = read_scenario(entry.path());
    ASSERT_TRUE(read) << read.error().message;
    const Outcome outcome = judge(read->scenario, read->plan);
    EXPECT_FALSE(outcome.verdicts.empty());
    for (const Alarm& alarm : outcome.alarms) EXPECT_TRUE(alarm.justified) << alarm.summary;
    ++files;
  }
  EXPECT_EQ(files, 3U);
  EXPECT_EQ(read_scenario("/nonexistent").error().code, ErrorCode::kNotFound);
}

TEST(ScenarioFile, SaysWhatIsAssumed) {
  const auto read =
      parse_scenario(std::string(kFabric) +
                         "assume manager_sweep=8 failing_reads=0.1 ways=4 flushes=on\n"
                         "fault manager_restart from=20 to=30\nfault driver_reload at=node-0007/mlx5_0 from=40 to=50\n"
                         "fault retraining at=leaf-003:9 from=60 to=61\n",
                     "assumed");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->scenario.assumptions.manager.sweep, 8);
  EXPECT_EQ(read->scenario.assumptions.manager.failing_reads, 0.1);
  EXPECT_EQ(read->scenario.assumptions.ways, 4U);
  EXPECT_TRUE(read->scenario.assumptions.flushes);
  EXPECT_EQ(read->scenario.faults.size(), 3U);
  for (const Truth& truth : read->scenario.truths) EXPECT_FALSE(truth.counts) << "nobody must be told of any";
  EXPECT_NE(why_not(std::string(kFabric) + "assume manager_sweep=-1\n"), "");
  EXPECT_NE(why_not(std::string(kFabric) + "assume flushes=maybe\n"), "");
  EXPECT_NE(why_not(std::string(kFabric) + "assume weather=fine\n"), "");
  EXPECT_NE(why_not(std::string(kFabric) + "fault node_reboot at=leaf-003\n"), "") << "no host";
}

}  // namespace
}  // namespace weft::scenarios
