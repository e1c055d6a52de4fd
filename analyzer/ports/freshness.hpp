// SPDX-License-Identifier: Apache-2.0
#pragma once
// How old a reading may be.

#include <algorithm>

#include "analyzer/thresholds/thresholds.hpp"
#include "fabric/incident.hpp"
#include "fabric/snapshot.hpp"
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

/// The port that the sweep asked through is down: of all others its graph only has what was seen before, or nothing.
inline bool is_own_port_down(const Sweep& sweep) {
  const PortIndex own = sweep.topology->find_port(sweep.local_port);
  return own != kNoIndex && sweep.topology->port(own).state == PortState::kDown;
}

/// Nobody reads the fabric now: there is no sweep of late, or our own port there is down.
inline bool is_blind(const FabricView& fabric) {
  if (!fabric.watching || !fabric.sweep) return !fabric.watching;
  return is_own_port_down(*fabric.sweep);
}

/// A reading of `sweep` that is older than this at its end is stale. Also the value for FabricView::stale_after.
inline Duration stale_after(const Sweep& sweep, const Thresholds& thresholds) {
  return effective_interval(sweep) * thresholds.stale_intervals;
}

}  // namespace weft::analyzer
