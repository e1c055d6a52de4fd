// SPDX-License-Identifier: Apache-2.0
#pragma once
// Durations as people write them: in a configuration, on a command line.

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "fabric/clock.hpp"

namespace weft::usage {

/// A number with or without a fraction and its unit, or a sum of such: "250ms", "1.5s", "15m", "3d", "1h30m". Units are
/// ns, us, ms, s, m, h and d. Never negative. An error is a clause for the text that stands before it: "is not a
/// duration; …", "is too long; …".
tl::expected<Duration, std::string> parse_duration(std::string_view text);

/// In the largest unit that divides it: "1s", "90m", "0s". parse_duration() gives the same again.
std::string format_duration(Duration duration);

}  // namespace weft::usage
