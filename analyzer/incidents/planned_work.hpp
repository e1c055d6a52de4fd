// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which findings announced work explains: those on what it is about, and those that follow from them.

#include <functional>
#include <span>
#include <vector>

#include "fabric/maintenance.hpp"

namespace weft::analyzer {

/// Why what was planned by that window (Finding::maintenance) is so no more: "the maintenance window ended", "PLAN-1
/// does not hold it any more".
std::string over_text(std::uint64_t window);

/// Sets Finding::maintenance where a window that is active explains the finding, makes it INFO and says so in its
/// summary. A window explains what is on its entity or on a part of it; a host all of whose dead links are such parts;
/// and trouble of transfers, congestion or sight of those whom planned outages affect, those of `open` and those among
/// `findings`. What `began_before(finding)` says was open when the work began stays as it is.
void mark_planned(std::vector<Finding>& findings, const MaintenanceList& windows,
                  std::span<const std::shared_ptr<const Incident>> open,
                  const std::function<bool(const Finding&)>& began_before, TimePoint now);

}  // namespace weft::analyzer
