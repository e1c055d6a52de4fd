// SPDX-License-Identifier: Apache-2.0
#pragma once
// Durations and times as people say them.

#include <string>

#include "fabric/clock.hpp"

namespace weft::api {

/// "just now" below one second and for what lies ahead, then "12 s ago", "3 min ago", "2 h ago", "5 d ago".
std::string age_text(Duration age);
/// What lists say behind an incident's state: " (silenced until 14:05 UTC)", with a date instead of the time from a day
/// on; empty when the silence is over, and for kNever.
std::string silence_text(TimePoint until, TimePoint now);

}  // namespace weft::api
