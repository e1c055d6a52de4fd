// SPDX-License-Identifier: Apache-2.0
#pragma once
// All of one plan, and how automation stands, as a person reads them.

#include <ostream>
#include <string>

#include "fabric/clock.hpp"
#include "weft/v1/remedy.pb.h"

namespace weft::ctl {

/// What it is, why, what else could be done, what each guard says, how far it came, and what one may do next.
void print_plan(std::ostream& out, const v1::Plan& plan, TimePoint now);

/// What a plan of a dry run would do, what else could be done, and what each guard says of it.
void print_preview(std::ostream& out, const v1::Plan& plan);

/// The state, and what goes beside it: "VERIFYING 2/5", "COMMITTED (taken back)", "PROPOSED (refused)".
std::string plan_state_text(const v1::Plan& plan);

/// One line for each thing that stops automation; none when nothing does.
void print_stops(std::ostream& out, const v1::RemedyStatus& status);
/// Those, or that automation goes on; and its budget.
void print_automation(std::ostream& out, const v1::RemedyStatus& status);

}  // namespace weft::ctl
