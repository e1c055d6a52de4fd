// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/timeline.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "tests/scenarios/scenario_file.hpp"

namespace weft::scenarios {
namespace {

using nlohmann::json;

const std::string kSmall = "fabric levels=2 hosts=8 hosts_per_leaf=4 uplinks=2 speed=HDR\nnoise off\nduration 20\n";

Result<std::vector<json>> lines_of(const std::string& text) {
  const auto scenario = parse_scenario(kSmall + text, "small");
  if (!scenario) return tl::unexpected<Error>(scenario.error());
  std::stringstream stream;
  if (const auto done = write_timeline(*scenario, stream); !done) return tl::unexpected<Error>(done.error());
  std::vector<json> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
  return lines;
}

TEST(Timeline, BeginsWithTheFabricAndAllOfItsPorts) {
  const auto lines = lines_of("");
  ASSERT_TRUE(lines) << lines.error().message;
  ASSERT_GT(lines->size(), 18U) << "a frame for each second";
  const json& fabric = lines->front();
  EXPECT_EQ(fabric["nodes"].size(), 12U);
  EXPECT_EQ(fabric["cables"].size(), 12U);
  EXPECT_EQ(fabric["nodes"][fabric["watcher"].get<std::size_t>()]["name"], "node-0000 mlx5_0");
  const json& first = (*lines)[1];
  EXPECT_EQ(first["ports"].size(), 24U);
  EXPECT_EQ(first["ports"][0]["state"]["joined"], true);
  EXPECT_EQ(first["ports"][0]["state"]["width"], 4);
  EXPECT_EQ(first["ports"][0]["state"]["speed"], "HDR");
  EXPECT_TRUE(first["ports"][0]["values"].contains("transmit_bytes"));
  EXPECT_TRUE(lines->back()["incidents"].empty());
}

TEST(Timeline, SaysWhatMovesAndWhatTheAnalyzerSaysOfIt) {
  const auto lines = lines_of("fault link_down at=leaf-001:2 from=5 to=12\nfault node_silent at=spine-001 from=9");
  ASSERT_TRUE(lines) << lines.error().message;
  double cut = 0;
  double back = 0;
  double silent = 0;
  for (std::size_t i = 2; i + 1 < lines->size(); ++i) {
    const json& frame = (*lines)[i];
    for (const json& entry : frame["ports"]) {
      if (!entry.contains("state")) continue;
      (entry["state"]["joined"] == false ? cut : back) = frame["at"];
    }
    if (!frame["silent"].empty() && silent == 0) silent = frame["at"];
  }
  EXPECT_NEAR(cut, 5, 1.5);
  EXPECT_NEAR(back, 12, 2.5) << "and Active a moment later";
  EXPECT_NEAR(silent, 9, 1.5);
  const json& incidents = lines->back()["incidents"];
  ASSERT_EQ(incidents.size(), 2U) << incidents;
  EXPECT_EQ(incidents[0]["kind"], "LINK_DOWN");
  EXPECT_EQ(incidents[0]["entity"], "link");
  EXPECT_EQ(incidents[1]["kind"], "TELEMETRY_LOST");
}

TEST(Timeline, TellsOfHostsAndWhatTheirCollectorsRead) {
  const auto lines = lines_of(
      "job all_to_all members=0-7 period=1 load=0.5\nfault loss_on_link at=leaf-000:5 amount=1e-3 from=5\n"
      "fault host_down at=node-0006/mlx5_0 from=12");
  ASSERT_TRUE(lines) << lines.error().message;
  const json& hosts = lines->front()["hosts"];
  ASSERT_EQ(hosts.size(), 8U);
  EXPECT_EQ(hosts[5]["name"], "node-0005");
  EXPECT_EQ(hosts[5]["jobs"], json({"slurm:1000"}));
  EXPECT_EQ(lines->front()["nodes"][hosts[5]["adapters"][0].get<std::size_t>()]["name"], "node-0005 mlx5_0");
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  double dark = 0;
  for (std::size_t i = 1; i + 1 < lines->size(); ++i) {
    const json& frame = (*lines)[i];
    if (!frame["dark"].empty() && dark == 0) {
      EXPECT_EQ(frame["dark"], json({6}));
      dark = frame["at"];
    }
    for (const json& entry : frame["hosts"]) {
      const json& errors = entry["devices"]["mlx5_0"];
      ASSERT_TRUE(errors.contains("sequence_nak") && errors.contains("out_of_buffer")) << errors;
      EXPECT_FALSE(errors.contains("transmit_bytes") || errors.contains("pcie_write_stall")) << errors;
      if (entry["host"] == 0) (frame["at"] < 5 ? before : after) = errors["sequence_nak"].get<std::uint64_t>();
    }
  }
  EXPECT_GT(after, before + 100) << "it sends over the bad link";
  EXPECT_NEAR(dark, 12, 1.5);
}

TEST(Timeline, FramesAreOfOneMomentSoThatNothingIsMissingOnCables) {
  const auto lines = lines_of("job steady members=0 targets=7 load=0.4");
  ASSERT_TRUE(lines) << lines.error().message;
  const json& fabric = lines->front();
  std::map<std::pair<int, int>, json> values;
  for (const json& entry : (*lines)[1]["ports"]) values[{entry["node"], entry["port"]}] = entry["values"];
  const auto begun = values;
  std::int64_t most = 0;
  for (std::size_t i = 2; i + 1 < lines->size(); ++i) {
    for (const json& entry : (*lines)[i]["ports"])
      if (entry.contains("values")) values[{entry["node"], entry["port"]}] = entry["values"];
    for (const json& cable : fabric["cables"]) {
      const std::pair<int, int> here{cable[0], cable[1]};
      const std::pair<int, int> there{cable[2], cable[3]};
      const auto moved = [&](const std::pair<int, int>& end, const char* counter) {
        return values[end][counter].get<std::int64_t>() - begun.at(end)[counter].get<std::int64_t>();
      };
      most = std::max(most, moved(here, "transmit_packets"));
      EXPECT_LE(std::abs(moved(here, "transmit_packets") - moved(there, "receive_packets")), 2);
      EXPECT_LE(std::abs(moved(there, "transmit_packets") - moved(here, "receive_packets")), 2);
    }
  }
  EXPECT_GT(most, 1'000'000) << "there is traffic";
}

TEST(Timeline, HasNoHostsWhereTheyHaveNoCollectors) {
  const auto lines = lines_of("collectors off\njob ring members=0-7");
  ASSERT_TRUE(lines) << lines.error().message;
  EXPECT_TRUE(lines->front()["hosts"].empty());
  EXPECT_FALSE((*lines)[1].contains("hosts"));
}

TEST(Timeline, RefusesWhatNoPortShows) {
  for (const char* fault :
       {"fault collector_death from=5 to=10", "fault crossed_cables at=leaf-000:5 other=leaf-001:6 from=5"})
    EXPECT_FALSE(lines_of(fault)) << fault;
}

}  // namespace
}  // namespace weft::scenarios
