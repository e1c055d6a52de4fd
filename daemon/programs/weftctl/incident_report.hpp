// SPDX-License-Identifier: Apache-2.0
#pragma once
// All of one incident, for a person: what is to blame and how that is known.

#include <ostream>
#include <string>

#include "fabric/clock.hpp"
#include "weft/v1/incident.pb.h"

namespace weft::ctl {

/// What lists show of an incident: its severity while it is open, afterwards its worst one; a weftd that is older than
/// this program knows only the last one.
v1::Incident::Severity listed_severity(const v1::Incident& incident);
/// The same of its summary: afterwards its headline.
const std::string& listed_summary(const v1::Incident& incident);

/// What kind of trouble it is, the cause, since when, how sure, whom it hurts, a drawing, the evidence and the
/// timeline. Lists are cut with the number of what is left out. `plain`: the drawing in ASCII.
void print_incident(std::ostream& out, const v1::Incident& incident, TimePoint now, bool plain);

}  // namespace weft::ctl
