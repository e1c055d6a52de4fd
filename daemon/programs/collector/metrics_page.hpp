// SPDX-License-Identifier: Apache-2.0
#pragma once
// The collector's own /metrics: its host's ports under the names that weftd gives them, and figures of itself.

#include <memory>
#include <string>

#include "api/metrics/negotiate.hpp"
#include "api/metrics/scrape_time.hpp"
#include "daemon/programs/collector/own_figures.hpp"
#include "fabric/host.hpp"
#include "fabric/metric_groups.hpp"

namespace weft::collector {

/// The whole page; families of other groups are left out.
std::string metrics_page(std::shared_ptr<const HostView> host, const OwnFigures& figures, api::ScrapeTime now,
                         api::MetricsFormat format, MetricGroups groups = MetricGroups::of_collector());

}  // namespace weft::collector
