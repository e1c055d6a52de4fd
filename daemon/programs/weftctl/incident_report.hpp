// SPDX-License-Identifier: Apache-2.0
#pragma once
// All of one incident, for a person: what is to blame and how that is known.

#include <ostream>
#include <string>

#include "fabric/clock.hpp"
#include "weft/v1/incident.pb.h"

namespace weft::ctl {

/// "WARNING", or "WARNING (worst CRITICAL)" of an open incident that was worse; "CRITICAL" once it is resolved. A weftd
/// that is older than this program knows only the last one.
std::string listed_severity(const v1::Incident& incident);
/// What lists say of an incident: its summary while it is open, afterwards its headline.
const std::string& listed_summary(const v1::Incident& incident);
/// "OPEN", or "OPEN (silenced until 14:05 UTC)" while nobody is paged for it.
std::string listed_state(const v1::Incident& incident, TimePoint now);
/// When it was opened or last reopened. The first opening where the timeline does not tell, as of an older weftd.
const google::protobuf::Timestamp& present_beginning(const v1::Incident& incident);

/// How an incident is printed.
struct IncidentPage {
  bool plain = false;       ///< the drawing in ASCII
  std::size_t columns = 0;  ///< of the terminal; 0: no limit
  std::string url{};        ///< of weftd's page, as Status has it; empty: not known
};
/// What kind of trouble it is, the cause, since when, how sure, whom it hurts, a drawing, the evidence and the
/// timeline. Lists are cut with the number of what is left out.
void print_incident(std::ostream& out, const v1::Incident& incident, TimePoint now, const IncidentPage& page = {});

}  // namespace weft::ctl
