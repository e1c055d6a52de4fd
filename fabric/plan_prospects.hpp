// SPDX-License-Identifier: Apache-2.0
#pragma once
// What weftd adds to why a plan waits (Plan::waits_for), for people: what becomes of it, and whether it may be left.

#include <string>
#include <string_view>

namespace weft {

/// Of a failed return whose link is well by now: it is not taken out again.
inline constexpr std::string_view kWillBeginAnew = "; its link is up again: its probation begins anew then";
/// How the sentence begins by which a person may end it and leave its target in service; it stands last, and only
/// where weftd would not refuse that now.
inline constexpr std::string_view kMayBeLeft = "; to end it and leave the ";

/// Whether weftd says that the plan which waits so may be ended, and its target left in service.
inline bool may_be_left(std::string_view waits_for) {
  return waits_for.find(kMayBeLeft) != std::string_view::npos;
}
/// Whether the probation of what waits so begins anew, instead of its link being taken out again.
inline bool begins_anew(std::string_view waits_for) {
  return waits_for.find(kWillBeginAnew) != std::string_view::npos;
}
/// `waits_for` without how it may be left.
inline std::string without_advice(std::string_view waits_for) {
  return std::string(waits_for.substr(0, waits_for.find(kMayBeLeft)));
}

}  // namespace weft
