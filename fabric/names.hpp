// SPDX-License-Identifier: Apache-2.0
#pragma once
// Enumerators and their words, by position.

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace weft {

/// The enumerator whose word it is; nullopt: nobody's.
template <typename Enum>
std::optional<Enum> parse_name(std::span<const char* const> names, std::string_view text) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (text == names[i]) return static_cast<Enum>(i);
  return std::nullopt;
}

/// Its word; "UNKNOWN" for a value that is none.
template <typename Enum>
const char* name_of(std::span<const char* const> names, Enum value) {
  const auto index = static_cast<std::size_t>(value);
  return index < names.size() ? names[index] : "UNKNOWN";
}

}  // namespace weft
