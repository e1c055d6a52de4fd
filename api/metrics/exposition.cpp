// SPDX-License-Identifier: Apache-2.0
#include "api/metrics/exposition.hpp"

#include <utility>

#include "api/metrics/collector_families.hpp"
#include "api/metrics/fabric_families.hpp"
#include "api/metrics/incident_families.hpp"
#include "api/metrics/remedy_families.hpp"

namespace weft::api {

Exposition::Exposition(std::shared_ptr<const Snapshot> snapshot, ScrapeTime now, MetricsFormat format,
                       Collectables collectables, MetricGroups groups)
    : snapshot_(std::move(snapshot)),
      now_(now),
      format_(format),
      groups_(groups),
      collectables_(std::move(collectables)),
      ports_(snapshot_, now, format, groups) {}

std::string_view Exposition::next() {
  text_.clear();
  const bool has_hosts = groups_.has(MetricGroup::kHosts);
  switch (part_) {
    case Part::kFabrics:
      append_fabric_families(text_, *snapshot_, now_.wall, format_, groups_);
      if (groups_.has(MetricGroup::kIncidents)) append_incident_families(text_, *snapshot_, now_.wall, format_);
      if (groups_.has(MetricGroup::kPlans)) append_remedy_families(text_, *snapshot_, format_);
      if (has_hosts) append_collector_states(text_, *snapshot_, format_);
      if (has_hosts) append_failing_sources(text_, *snapshot_, format_);
      if (has_hosts) append_config_drift(text_, *snapshot_, format_);
      part_ = Part::kHealth;
      if (!text_.empty()) return text_;
      [[fallthrough]];
    case Part::kHealth:
      if (groups_.has(MetricGroup::kHealth) && append_node_health(text_, *snapshot_, format_, health_position_))
        return text_;
      part_ = Part::kCollectors;
      [[fallthrough]];
    case Part::kCollectors:
      if (has_hosts && append_collectors(text_, *snapshot_, format_, collector_position_)) return text_;
      part_ = Part::kJobs;
      [[fallthrough]];
    case Part::kJobs:
      if (has_hosts && append_jobs(text_, *snapshot_, format_, job_position_)) return text_;
      part_ = Part::kPorts;
      [[fallthrough]];
    case Part::kPorts:
      if (const std::string_view piece = ports_.next(); !piece.empty()) return piece;
      part_ = Part::kDaemon;
      [[fallthrough]];
    case Part::kDaemon:
      if (groups_.has(MetricGroup::kSelf)) append_daemon_metrics(text_, collectables_, format_);
      if (format_ == MetricsFormat::kOpenMetrics) text_ += "# EOF\n";
      part_ = Part::kEnd;
      return text_;
    case Part::kEnd:
      break;
  }
  return {};
}

}  // namespace weft::api
