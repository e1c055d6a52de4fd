// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/schema.hpp"
#include "fabric/metric_groups.hpp"

// metrics.*: which series /metrics has.

namespace weft::config {
namespace {

constexpr Bounds kScrapeIntervals{1, kHour};
constexpr std::string_view kZerosHelp =
    "Show also the counters of errors, lanes, priorities and directions that were zero ever since. Without them a "
    "fabric has about a quarter of the series, and PromQL still sees the first increment: see "
    "metrics.scrape_interval.";
constexpr std::string_view kScrapeIntervalHelp =
    "The longest interval at which anybody scrapes /metrics. A counter that moves for the first time is shown at zero "
    "for one and a half times as long (at least 2 s longer), and then with its value, so that rate() and increase() of "
    "each scraper see the step. Raise it for a slower scraper; lower it to see first errors sooner. Incidents do not "
    "wait for it.";

}  // namespace

std::vector<Key> metrics_schema() {
  const std::span<const std::string_view> groups = metric_group_names();
  return {
      {"metrics.zeros", [](WeftdConfig& c) -> Field { return &c.metrics.zeros; }, {}, "", kZerosHelp},
      {"metrics.scrape_interval", [](WeftdConfig& c) -> Field { return &c.metrics.scrape_interval; }, kScrapeIntervals,
       "", kScrapeIntervalHelp},
      {"metrics.groups",
       [](WeftdConfig& c) -> Field { return &c.metrics.groups; },
       {},
       "",
       "Groups of metrics that /metrics has; a scrape may ask for some of them: /metrics?collect[]=ports. The alerts "
       "need fabrics, incidents, plans and self. Empty: all.",
       "",
       {groups.begin(), groups.end()}},
  };
}

std::vector<CollectorKey> collector_metrics_schema() {
  const std::span<const std::string_view> groups = collector_metric_group_names();
  return {
      {"metrics.zeros", [](CollectorConfig& c) -> Field { return &c.metrics.zeros; }, {}, "", kZerosHelp},
      {"metrics.scrape_interval", [](CollectorConfig& c) -> Field { return &c.metrics.scrape_interval; },
       kScrapeIntervals, "", kScrapeIntervalHelp},
      {"metrics.groups",
       [](CollectorConfig& c) -> Field { return &c.metrics.groups; },
       {},
       "",
       "Groups of metrics that /metrics has; a scrape may ask for some of them: /metrics?collect[]=ports. Empty: all.",
       "",
       {groups.begin(), groups.end()}},
  };
}

}  // namespace weft::config
