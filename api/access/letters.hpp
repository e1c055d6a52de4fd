// SPDX-License-Identifier: Apache-2.0
#pragma once
// Letters of ASCII without regard to case, as names of hosts, headers and schemes are compared.

#include <algorithm>
#include <string_view>

namespace weft::api::access {

/// 'A' is 'a'.
constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
/// They differ in the case of letters at most.
constexpr bool same_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace weft::api::access
