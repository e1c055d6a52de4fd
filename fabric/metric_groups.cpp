// SPDX-License-Identifier: Apache-2.0
#include "fabric/metric_groups.hpp"

#include <algorithm>
#include <array>

namespace weft {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(MetricGroup::kCount)> kNames{
    "fabrics", "incidents", "plans", "health", "hosts", "ports", "traffic",
    "errors",  "details",   "rdma",  "gauges", "raw",   "self"};

std::string names_of(MetricGroups groups) {
  std::string text;
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (groups.has(static_cast<MetricGroup>(i))) text.append(text.empty() ? "" : ", ").append(kNames[i]);
  return text;
}

}  // namespace

std::span<const std::string_view> metric_group_names() {
  return kNames;
}

std::span<const std::string_view> collector_metric_group_names() {
  return std::span(kNames).subspan(static_cast<std::size_t>(MetricGroup::kPorts));
}

MetricGroup group_of(const CounterInfo& info) {
  if (info.family == CounterFamily::kRdmaError) return MetricGroup::kRdma;
  if (info.is_gauge) return MetricGroup::kGauges;
  if (!info.is_left_out_at_zero()) return MetricGroup::kTraffic;
  const bool is_part = info.instances > 1 || info.by_priority || info.by_direction || info.by_lane;
  return info.is_error && !is_part ? MetricGroup::kErrors : MetricGroup::kDetails;
}

Result<MetricGroups> metric_groups(std::span<const std::string> names, MetricGroups allowed, MetricGroups existing) {
  if (names.empty()) return allowed;
  MetricGroups chosen;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(kNames, name);
    if (found == kNames.end())
      return fail(ErrorCode::kInvalidArgument,
                  "'" + name + "' is no group of metrics; the groups are " + names_of(allowed));
    const auto group = static_cast<MetricGroup>(found - kNames.begin());
    if (!existing.has(group))
      return fail(ErrorCode::kInvalidArgument,
                  "the group '" + name + "' is on weftd's /metrics only; the groups here are " + names_of(allowed));
    if (!allowed.has(group))
      return fail(ErrorCode::kInvalidArgument,
                  "the group '" + name + "' is not in metrics.groups, which are " + names_of(allowed));
    chosen.add(group);
  }
  return chosen;
}

}  // namespace weft
