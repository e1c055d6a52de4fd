// SPDX-License-Identifier: Apache-2.0
#pragma once
// How old a reading may be.

#include <algorithm>

#include "analyzer/thresholds/thresholds.hpp"
#include "fabric/incident.hpp"
#include "fabric/sweep.hpp"

namespace weft::analyzer {

/// The signal of evidence that the counters of a node can be read no more, with when they were read last.
inline constexpr const char* kCountersReadAt = "counters_read_at";

/// It says that the counters of a node, or of several, can be read no more.
inline bool is_about_counters(const Finding& finding) {
  return finding.kind == IncidentKind::kTelemetryLost &&
         std::ranges::find(finding.evidence, kCountersReadAt, &Evidence::signal) != finding.evidence.end();
}

/// From one sweep to the next as it really is: the configured interval, or the sweep's own duration where that is
/// longer (a great fabric on a slow network).
inline Duration effective_interval(const Sweep& sweep) {
  return std::max({sweep.interval, sweep.finished - sweep.started, Duration(std::chrono::milliseconds(1))});
}

/// A reading of `sweep` that is older than this at its end is stale. Also the value for FabricView::stale_after.
inline Duration stale_after(const Sweep& sweep, const Thresholds& thresholds) {
  return effective_interval(sweep) * thresholds.stale_intervals;
}

}  // namespace weft::analyzer
