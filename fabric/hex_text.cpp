// SPDX-License-Identifier: Apache-2.0
#include "fabric/hex_text.hpp"

#include <string_view>

namespace weft {

std::string hex_text(std::span<const unsigned char> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 0xFU];
  }
  return text;
}

}  // namespace weft
