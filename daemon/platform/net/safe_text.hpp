// SPDX-License-Identifier: Apache-2.0
#pragma once
// What others wrote, made fit to be shown, logged and sent on.

#include <cstddef>
#include <string>
#include <string_view>

#include "fabric/clock.hpp"

namespace weft::net {

/// `text` on one line: control characters become spaces, what is no UTF-8 becomes '?', and what goes past `most` bytes
/// is cut off between two characters.
std::string one_line(std::string_view text, std::size_t most = 500);

/// RFC 3339 in UTC and whole seconds: "2026-11-21T20:00:00Z".
std::string utc_text(TimePoint at);

/// Letters, digits, '-', '_' and '.', at most 253, none of '-', '.' in front: safe as an argument and in an address.
bool is_host_name(std::string_view text);

}  // namespace weft::net
