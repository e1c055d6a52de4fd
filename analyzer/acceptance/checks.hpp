// SPDX-License-Identifier: Apache-2.0
#pragma once
// The checks of an acceptance, each over all fabrics. Pure: no clock.

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analyzer/acceptance/acceptance_watch.hpp"
#include "analyzer/acceptance/scope.hpp"
#include "analyzer/acceptance/tally.hpp"
#include "analyzer/ports/error_bounds.hpp"
#include "analyzer/thresholds/thresholds.hpp"
#include "fabric/acceptance.hpp"
#include "fabric/drift_report.hpp"
#include "fabric/incident.hpp"
#include "fabric/port_gauges.hpp"
#include "fabric/snapshot.hpp"

namespace weft::analyzer {

/// One fabric with what is known of its ports. All of it outlives the checks.
struct AcceptanceView {
  const FabricView* fabric = nullptr;
  AcceptanceScope scope;                   ///< empty while the fabric was never swept
  const AcceptanceWatch* watch = nullptr;  ///< null: none of its ports was watched yet

  /// The graph, or null before the first sweep.
  const Topology* topology() const { return fabric->sweep ? fabric->sweep->topology.get() : nullptr; }
};

/// All that the checks look at.
struct AcceptanceFacts {
  const AcceptanceRun& run;
  std::span<const AcceptanceView> views;
  const HostListPtr& hosts;  ///< with a collector; may be null
  const DriftReport* drift;  ///< null: not judged yet
  std::span<const std::shared_ptr<const Incident>> incidents;
  const Thresholds& thresholds;
  const ErrorBounds& bounds;  ///< at thresholds.error_confidence
  TimePoint now;

  /// A person names the run's window: what happened in it counts, even when it is over.
  bool has_window() const { return run.id != 0; }
};

/// The checks that have sweeps alone.
AcceptanceCheck check_presence(const AcceptanceFacts& facts, HostVerdicts& hosts);
/// Against FabricView::cabling.
AcceptanceCheck check_cabling(const AcceptanceFacts& facts, HostVerdicts& hosts);
/// Active width and speed, against those of both ends; on Ethernet, where ends tell no such thing, against most links
/// of the same switch.
AcceptanceCheck check_link_rate(const AcceptanceFacts& facts, HostVerdicts& hosts);
/// Symbol errors against the bits of the line, with a one-sided bound.
AcceptanceCheck check_bit_errors(const AcceptanceFacts& facts, HostVerdicts& hosts);
/// Code words that could not be repaired, against all; and repaired symbols against the bits.
AcceptanceCheck check_fec(const AcceptanceFacts& facts, HostVerdicts& hosts);
/// Counters of errors of which a good link has none.
AcceptanceCheck check_errors(const AcceptanceFacts& facts, HostVerdicts& hosts);
/// Open incidents, and of a window those that were open in it.
AcceptanceCheck check_incidents(const AcceptanceFacts& facts, HostVerdicts& hosts);
/// Against DriftReport.
AcceptanceCheck check_configuration(const AcceptanceFacts& facts, HostVerdicts& hosts);
/// What collectors read of modules.
AcceptanceCheck check_temperature(const AcceptanceFacts& facts, HostVerdicts& hosts);
/// Speed and lanes of adapters, against the most that they and their slots can.
AcceptanceCheck check_pcie(const AcceptanceFacts& facts, HostVerdicts& hosts);
/// What the uplinks of a switch sent.
AcceptanceCheck check_balance(const AcceptanceFacts& facts, HostVerdicts& hosts);

}  // namespace weft::analyzer
