// SPDX-License-Identifier: Apache-2.0
#pragma once
// An incident as a small drawing: what is to blame, what waits for it or hangs from it.

#include <string>
#include <vector>

#include "daemon/programs/weftctl/drawing.hpp"
#include "weft/v1/incident.pb.h"

namespace weft::ctl {

/// Lines of a drawing: the links that wait for congestion as a tree, a bad link with the hosts behind it, a dead switch
/// or host with its cables. Empty where a drawing would say no more than the summary.
std::vector<std::string> drawing_of(const v1::Incident& incident, const Pen& pen);

/// The ports on the path from one that waits (of those that send most, where they are known) to where the waiting ends.
/// Empty when nobody waits.
std::vector<std::string> path_of(const v1::Incident& incident);

/// What people call a thing; its identity where it has no name.
std::string label_of(const v1::Entity& entity);

}  // namespace weft::ctl
