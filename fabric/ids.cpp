// SPDX-License-Identifier: Apache-2.0
#include "fabric/ids.hpp"

namespace weft {
namespace {

std::string hexadecimal(std::uint64_t value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "0x0000000000000000";
  for (std::size_t i = 0; i < 16; ++i) text[17 - i] = kDigits[(value >> (4 * i)) & 0xF];
  return text;
}

}  // namespace

std::string to_string(NodeGuid guid) {
  return hexadecimal(guid.value);
}
std::string to_string(PortGuid guid) {
  return hexadecimal(guid.value);
}

std::optional<std::uint64_t> parse_guid(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  std::uint64_t value = 0;
  int digits = 0;
  bool after_digit = false;
  for (const char c : text) {
    int digit = 0;
    if (c >= '0' && c <= '9') {
      digit = c - '0';
    } else if (c >= 'a' && c <= 'f') {
      digit = c - 'a' + 10;
    } else if (c >= 'A' && c <= 'F') {
      digit = c - 'A' + 10;
    } else if (c == ':' && after_digit) {
      after_digit = false;
      continue;
    } else {
      return std::nullopt;
    }
    if (++digits > 16) return std::nullopt;
    value = value << 4 | static_cast<std::uint64_t>(digit);
    after_digit = true;
  }
  if (digits == 0 || !after_digit) return std::nullopt;
  return value;
}

}  // namespace weft
