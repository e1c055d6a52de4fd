// SPDX-License-Identifier: Apache-2.0
#pragma once
// An acceptance as text.

#include <cstddef>
#include <ostream>
#include <string>

#include "daemon/programs/weftctl/client.hpp"
#include "fabric/clock.hpp"
#include "weft/v1/acceptance.pb.h"

namespace weft::ctl {

/// "PASS", "NOT_YET"; "-" where there is no report yet.
std::string verdict_text(v1::Acceptance::Verdict verdict);
/// kGood for PASS, kBadNews for FAIL, else kUnfinished: what is not measured is never a pass.
Exit exit_of(const v1::Acceptance& run);
/// "under way, ends 2026-01-31 12:00:00 UTC", "over since …", "ended by ann …", "judged at …".
std::string state_text(const v1::Acceptance& run);
/// "5 of 11 checks pass; failed: cabling, errors": what is known so far, in one line.
std::string progress_text(const v1::Acceptance& run);

/// Prints the run: what it is about, each check, each port that failed, and what could not be judged. `columns`: of the
/// terminal; 0: no limit.
void print_acceptance(std::ostream& out, const v1::Acceptance& run, std::size_t columns);

}  // namespace weft::ctl
