// SPDX-License-Identifier: Apache-2.0
#include "api/publication/html_text.hpp"

#include <algorithm>
#include <array>

#include "api/publication/utf8.hpp"

namespace weft::api {
namespace {

/// They turn the direction of what follows (Unicode 15, annex 9): a name with one makes the rest of its line look like
/// another text.
constexpr std::array<std::string_view, 12> kTurning{"\u061C", "\u200E", "\u200F", "\u202A", "\u202B", "\u202C",
                                                    "\u202D", "\u202E", "\u2066", "\u2067", "\u2068", "\u2069"};

/// HTML allows no other control characters (WHATWG, 3.2.1).
bool is_control(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == '\x7f';
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string result;
  const std::string valid = valid_utf8(text);
  for (std::string_view rest = valid; !rest.empty();) {
    const std::string_view letter = rest.substr(0, std::max<std::size_t>(utf8_sequence_length(rest), 1));
    rest.remove_prefix(letter.size());
    if (letter == "&")
      result += "&amp;";
    else if (letter == "<")
      result += "&lt;";
    else if (letter == ">")
      result += "&gt;";
    else if (letter == "\"")
      result += "&quot;";
    else if (is_control(letter.front()) || std::ranges::find(kTurning, letter) != kTurning.end())
      result += kReplacementCharacter;
    else
      result += letter;
  }
  return result;
}

}  // namespace weft::api
