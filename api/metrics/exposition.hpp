// SPDX-License-Identifier: Apache-2.0
#pragma once
// A whole scrape, piece by piece, from one immutable snapshot: no second copy of series or text ever exists.

#include <memory>
#include <string>
#include <string_view>

#include "api/metrics/daemon_metrics.hpp"
#include "api/metrics/negotiate.hpp"
#include "api/metrics/port_families.hpp"
#include "api/metrics/scrape_time.hpp"
#include "fabric/snapshot.hpp"

namespace weft::api {

/// The text of one scrape.
class Exposition {
 public:
  /// `collectables` are the daemon's own metrics, appended at the end. Families of other
  /// groups are left out.
  Exposition(std::shared_ptr<const Snapshot> snapshot, ScrapeTime now, MetricsFormat format,
             Collectables collectables = {}, MetricGroups groups = MetricGroups::all());

  /// The next piece, seldom more than 192 KiB; good until the next call. Empty at the end.
  std::string_view next();

 private:
  enum class Part { kFabrics, kHealth, kCollectors, kJobs, kPorts, kDaemon, kEnd };

  std::shared_ptr<const Snapshot> snapshot_;
  ScrapeTime now_;
  MetricsFormat format_;
  MetricGroups groups_;
  Collectables collectables_;
  PortFamilies ports_;
  Part part_ = Part::kFabrics;
  std::size_t health_position_ = 0;
  std::size_t collector_position_ = 0;
  std::size_t job_position_ = 0;
  std::string text_;
};

}  // namespace weft::api
