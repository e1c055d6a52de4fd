// SPDX-License-Identifier: Apache-2.0
#pragma once
// Points of time in sentences.

#include <string>

#include "fabric/clock.hpp"

namespace weft {

/// "2026-01-31 14:00 UTC": the minute that `when` lies in.
std::string minute_text(TimePoint when);
/// "2026-01-31 14:00:07 UTC": the second that `when` lies in.
std::string second_text(TimePoint when);

}  // namespace weft
