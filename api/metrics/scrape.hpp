// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the parameters of a scrape ask for: collect[], and names.

#include <cstdint>
#include <span>
#include <string>

#include "fabric/metric_groups.hpp"
#include "fabric/result.hpp"

namespace weft::api {

/// Whose names the families of a page have.
enum class MetricNames : std::uint8_t {
  kWeft,
  kNodeExporter,        ///< "node_exporter": its collector infiniband, on weft-collector's page
  kInfinibandExporter,  ///< "infiniband_exporter": on weftd's page
};

/// Which program has the page.
enum class MetricsProgram : std::uint8_t { kWeftd, kCollector };

/// What a scrape gets.
struct Scrape {
  MetricGroups groups = MetricGroups::all();
  MetricNames names = MetricNames::kWeft;
};

/// `collect`: every value of collect[], none for all groups that are `allowed` (metrics.groups); `names`: the value of
/// names, empty for Weft's own. kInvalidArgument for a group or names that `program` does not have; its text lists
/// those that there are, and says which program to ask.
Result<Scrape> scrape_of(MetricsProgram program, MetricGroups allowed, std::span<const std::string> collect,
                         const std::string& names);

}  // namespace weft::api
