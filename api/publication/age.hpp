// SPDX-License-Identifier: Apache-2.0
#pragma once
// Durations as people say them.

#include <string>

#include "fabric/clock.hpp"

namespace weft::api {

/// "just now" below one second and for what lies ahead, then "12 s ago", "3 min ago", "2 h ago", "5 d ago".
std::string age_text(Duration age);

}  // namespace weft::api
