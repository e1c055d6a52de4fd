// SPDX-License-Identifier: Apache-2.0
#include "api/metrics/scrape.hpp"

#include <gtest/gtest.h>

namespace weft::api {
namespace {

std::string refusal(MetricsProgram program, const std::string& names) {
  const auto scrape = scrape_of(program, MetricGroups::all(), {}, names);
  if (scrape) return "";
  EXPECT_EQ(scrape.error().code, ErrorCode::kInvalidArgument);
  return scrape.error().message;
}

TEST(Scrape, NamesAreThoseOfTheProgram) {
  const auto own = scrape_of(MetricsProgram::kWeftd, MetricGroups::all(), {}, "");
  ASSERT_TRUE(own);
  EXPECT_EQ(own->names, MetricNames::kWeft);
  EXPECT_EQ(own->groups, MetricGroups::all());
  const auto theirs = scrape_of(MetricsProgram::kCollector, MetricGroups::of_collector(), {}, "node_exporter");
  ASSERT_TRUE(theirs);
  EXPECT_EQ(theirs->names, MetricNames::kNodeExporter);
  const auto of_sweep = scrape_of(MetricsProgram::kWeftd, MetricGroups::all(), {}, "infiniband_exporter");
  ASSERT_TRUE(of_sweep);
  EXPECT_EQ(of_sweep->names, MetricNames::kInfinibandExporter);
}

TEST(Scrape, OthersAreRefusedAndSayWhereToAsk) {
  EXPECT_EQ(refusal(MetricsProgram::kWeftd, "node_exporter"),
            "names=node_exporter is on weft-collector's /metrics, of each host");
  EXPECT_EQ(refusal(MetricsProgram::kCollector, "infiniband_exporter"),
            "names=infiniband_exporter is on weftd's /metrics");
  for (const MetricsProgram program : {MetricsProgram::kWeftd, MetricsProgram::kCollector})
    EXPECT_EQ(refusal(program, "telegraf"),
              "there are no names 'telegraf'; there are names=node_exporter on weft-collector's /metrics and "
              "names=infiniband_exporter on weftd's");
}

TEST(Scrape, GroupsAreThoseOfTheProgram) {
  const std::vector<std::string> hosts{"hosts"};
  EXPECT_TRUE(scrape_of(MetricsProgram::kWeftd, MetricGroups::all(), hosts, ""));
  EXPECT_FALSE(scrape_of(MetricsProgram::kCollector, MetricGroups::of_collector(), hosts, ""));
}

}  // namespace
}  // namespace weft::api
