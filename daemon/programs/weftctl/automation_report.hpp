// SPDX-License-Identifier: Apache-2.0
#pragma once
// How automation as a whole stands, as a person reads it.

#include <ostream>
#include <string>

#include "weft/v1/remedy.pb.h"

namespace weft::ctl {

/// One line for each thing that stops automation, and for each subnet manager that does not answer; none when nothing
/// does. `since`: when persons stopped it, as of brake_since(); empty: not known.
void print_stops(std::ostream& out, const v1::RemedyStatus& status, const std::string& since = {});
/// The brake that is about to be released, the circuit breaker or hands-off; then as print_stops(), without that one.
void print_release(std::ostream& out, const v1::RemedyStatus& status, bool is_breaker);
/// What Weft does by itself and what it proposes, in one line.
void print_modes(std::ostream& out, const v1::RemedyStatus& status);
/// How the brake of the hands-off file is released. `why`: RemedyStatus.hands_off_by_file.
const char* file_release_text(const std::string& why);
/// Those, or that automation goes on; and its budget.
void print_automation(std::ostream& out, const v1::RemedyStatus& status, const std::string& since = {});
/// So many links are named where there is more to read.
inline constexpr int kFewLinks = 5;
/// How many links and hosts plans hold, how many are on probation, the links that others took out (of more than `most`
/// the first), and as print_undone(); nothing where there are none.
void print_held(std::ostream& out, const v1::RemedyStatus& status, int most = kFewLinks);
/// How many links and hosts others gave back while plans held them; nothing where there are none.
void print_undone(std::ostream& out, const v1::RemedyStatus& status);

}  // namespace weft::ctl
