// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is wrong with one host's ports, as findings.

#include <vector>

#include "analyzer/hosts/host_state.hpp"

namespace weft::analyzer {

/// LINK_DOWN, LINK_FLAP and LINK_DEGRADED of one port. On a watched subnet only what an event says at once
/// (`at_once`): the sweeps go on from there.
void report_link(const HostWatch& host, PortWatch& port, bool at_once, const Thresholds& thresholds, TimePoint now,
                 std::vector<Finding>& findings);
/// RDMA_ERRORS of one port; forgets what has been quiet for long.
void report_troubles(const HostWatch& host, PortWatch& port, const Thresholds& thresholds, TimePoint now,
                     std::vector<Finding>& findings);

/// What the host itself tells of not taking what `port` receives, added to what the subnet says of that.
void add_stalls(const PortWatch& port, const Thresholds& thresholds, TimePoint now, Finding& finding);

}  // namespace weft::analyzer
