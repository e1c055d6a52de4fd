// SPDX-License-Identifier: Apache-2.0
#pragma once
// Commands as users write them, checked, whichever way they come.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fabric/clock.hpp"
#include "fabric/result.hpp"
#include "weft/v1/incident.pb.h"

namespace weft::api {

/// "PLAN-7" or "7"; kInvalidArgument.
Result<std::uint64_t> plan_id(const std::string& text);
/// "INC-17" or "17"; kInvalidArgument.
Result<std::uint64_t> incident_id(const std::string& text);
/// Texts of people stand in logs, tables and schedulers: kInvalidArgument for one with control characters (C0, DEL,
/// C1), line ends among them. `what` begins the sentence.
Result<void> plain_text(std::string_view what, std::string_view text);
/// Whether a caller may say that this is who asks. Nothing may be said; kInvalidArgument for blanks alone, control
/// characters, and for the names of Weft's own parts ("weftd", "file", "slurm", …), in whichever case.
Result<void> check_claim(std::string_view who);
/// A reason that may be empty: at most 1024 bytes, for it goes into the record and to schedulers, whole or not at all.
Result<std::string> short_enough_reason(const std::string& reason);
/// A reason that must be given.
Result<std::string> given_reason(const std::string& reason);
/// Until when to be silent: a time to come; kInvalidArgument.
Result<TimePoint> silence_end(const v1::SilenceIncidentRequest& request, TimePoint now);

/// Text for the record, which is kept long: cut between two characters where it has more than `longest` bytes.
std::string for_the_record(const std::string& text, std::size_t longest);
/// The same for who asks: the name that is `known`, and beside it the one he `claims`: "root (uid 0), for ann". Where
/// nobody is known, what he claims, else his address. At most 256 bytes; control characters are '?'.
std::string who_asks(const std::string& known, const std::string& claims, const std::string& address);

}  // namespace weft::api
