// SPDX-License-Identifier: Apache-2.0
#pragma once
// LINK_DOWN, SWITCH_DOWN, NODE_DOWN and TELEMETRY_LOST in words.

#include <vector>

#include "analyzer/links/flaps.hpp"
#include "analyzer/links/outages.hpp"
#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {

/// One finding for each outage. A link that is known to flap is not reported as down before it has been down for
/// Thresholds::flap_down_hold.
void report_outages(const OutageReport& report, const Describe& describe, const LinkTable& table,
                    const FlapTracker& flaps, const Sweep& sweep, std::vector<Finding>& findings);

}  // namespace weft::analyzer
