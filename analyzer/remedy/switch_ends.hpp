// SPDX-License-Identifier: Apache-2.0
#pragma once
// Links of an Ethernet fabric that a switch lets us set: which end is set, and whether we would cut off ourselves.

#include <optional>
#include <string>

#include "analyzer/remedy/settings.hpp"
#include "analyzer/remedy/shape_guards.hpp"

namespace weft::analyzer {

/// The end of an Ethernet link whose switch is a gNMI target that lets us set its ports; nullopt: neither is. Of two
/// the one that is read now, then the one at the switch with more cables to other switches: should that be managed
/// through this very fabric, it is the one that is more surely reached without the link, to bring it back. Of equal
/// ones the lower. Counted over all known cables, so that links that come and go do not change the answer.
std::optional<PortKey> switch_end(const Entity& link, const RemedyView& view);

/// Guard::kOwnPath of an Ethernet link that `plan` takes out: not our own host's link, not the last way between its two
/// switches, and where `is_set_by_us` the switch that is set must be read now.
Verdict judge_ethernet_own_path(const Plan& plan, const RemedyView& view, bool is_set_by_us);

/// Why nobody is there to set a link's ports by gNMI, where that is configured: "neither leaf01 nor spine01 is a switch
/// of gnmi.targets that lets Weft set its ports".
std::string no_switch_end_text(const Entity& link, const RemedyView& view);

}  // namespace weft::analyzer
