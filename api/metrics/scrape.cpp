// SPDX-License-Identifier: Apache-2.0
#include "api/metrics/scrape.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace weft::api {
namespace {

struct NamesOf {
  std::string_view value;
  MetricNames names;
  MetricsProgram program;
};
constexpr std::array kNamesOf{
    NamesOf{"node_exporter", MetricNames::kNodeExporter, MetricsProgram::kCollector},
    NamesOf{"infiniband_exporter", MetricNames::kInfinibandExporter, MetricsProgram::kWeftd},
};

Result<MetricNames> names_of_value(MetricsProgram program, const std::string& value) {
  if (value.empty()) return MetricNames::kWeft;
  const auto found = std::ranges::find(kNamesOf, value, &NamesOf::value);
  if (found == kNamesOf.end())
    return fail(ErrorCode::kInvalidArgument,
                "there are no names '" + value +
                    "'; there are names=node_exporter on weft-collector's /metrics and names=infiniband_exporter on "
                    "weftd's");
  if (found->program != program)
    return fail(ErrorCode::kInvalidArgument, program == MetricsProgram::kWeftd
                                                 ? "names=" + value + " is on weft-collector's /metrics, of each host"
                                                 : "names=" + value + " is on weftd's /metrics");
  return found->names;
}

}  // namespace

Result<Scrape> scrape_of(MetricsProgram program, MetricGroups allowed, std::span<const std::string> collect,
                         const std::string& names) {
  const MetricGroups existing =
      program == MetricsProgram::kCollector ? MetricGroups::of_collector() : MetricGroups::all();
  const auto groups = metric_groups(collect, allowed, existing);
  if (!groups) return tl::unexpected(groups.error());
  const auto chosen = names_of_value(program, names);
  if (!chosen) return tl::unexpected(chosen.error());
  return Scrape{*groups, *chosen};
}

}  // namespace weft::api
