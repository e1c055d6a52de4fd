// SPDX-License-Identifier: Apache-2.0
#pragma once
// The daemon's own metrics, kept in a prometheus-cpp registry.

#include <memory>
#include <string>
#include <vector>

#include "api/metrics/negotiate.hpp"

namespace prometheus {
class Collectable;
}

namespace weft::api {

/// Registries whose metrics are appended to a scrape.
using Collectables = std::vector<std::shared_ptr<prometheus::Collectable>>;

/// Collects them and appends their text. Meant for tens of series: it copies them all.
void append_daemon_metrics(std::string& out, const Collectables& collectables, MetricsFormat format);

}  // namespace weft::api
