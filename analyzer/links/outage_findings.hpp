// SPDX-License-Identifier: Apache-2.0
#pragma once
// LINK_DOWN, SWITCH_DOWN, NODE_DOWN and TELEMETRY_LOST in words.

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/links/flaps.hpp"
#include "analyzer/links/outages.hpp"
#include "analyzer/ports/describe.hpp"
#include "analyzer/thresholds/thresholds.hpp"

namespace weft::analyzer {

/// What outages are told with. All must outlive the call.
struct OutageView {
  const Describe& describe;
  const LinkTable& table;
  const FlapTracker& flaps;
  const Sweep& sweep;
  std::span<const std::uint8_t> ranks;  ///< node_ranks() of the sweep's topology
  const Thresholds& thresholds;
};

/// One finding for each outage. A link that is known to flap is not reported as down before it has been down for
/// Thresholds::flap_down_hold.
void report_outages(const OutageReport& report, const OutageView& view, std::vector<Finding>& findings);

}  // namespace weft::analyzer
