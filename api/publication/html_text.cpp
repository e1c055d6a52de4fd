// SPDX-License-Identifier: Apache-2.0
#include "api/publication/html_text.hpp"

#include "api/publication/utf8.hpp"

namespace weft::api {

std::string html_text(std::string_view text) {
  std::string result;
  for (const char c : valid_utf8(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        // HTML allows no other control characters (WHATWG, 3.2.1).
        if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == '\x7f')
          result += kReplacementCharacter;
        else
          result += c;
    }
  }
  return result;
}

}  // namespace weft::api
