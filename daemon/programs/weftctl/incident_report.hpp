// SPDX-License-Identifier: Apache-2.0
#pragma once
// All of one incident, for a person: what is to blame and how that is known.

#include <ostream>

#include "fabric/clock.hpp"
#include "weft/v1/incident.pb.h"

namespace weft::ctl {

/// What kind of trouble it is, the cause, since when, how sure, whom it hurts, a drawing and the evidence. Lists are
/// cut with the number of what is left out. `plain`: the drawing in ASCII.
void print_incident(std::ostream& out, const v1::Incident& incident, TimePoint now, bool plain);

}  // namespace weft::ctl
