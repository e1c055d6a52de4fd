// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/net/safe_text.hpp"

#include <algorithm>
#include <array>
#include <ctime>

namespace weft::net {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Bytes of the UTF-8 character that `text` begins with; 0 when it is none (RFC 3629, section 4).
std::size_t character_size(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xC2 && first <= 0xDF   ? 2
                           : first >= 0xE0 && first <= 0xEF ? 3
                           : first >= 0xF0 && first <= 0xF4 ? 4
                                                            : 0;
  if (size == 0 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  const unsigned char second = byte(1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool no_character = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
  return overlong || no_character ? 0 : size;
}

}  // namespace

std::string one_line(std::string_view text, std::size_t most) {
  std::string result;
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    if (result.size() + std::max<std::size_t>(size, 1) > most) break;
    const auto first = static_cast<unsigned char>(text.front());
    if (size == 0)
      result += '?';
    else if (first < 0x20 || first == 0x7F)
      result += ' ';
    else
      result += text.substr(0, size);
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return result;
}

std::string utc_text(TimePoint at) {
  const std::time_t time = std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

bool is_host_name(std::string_view text) {
  constexpr std::size_t kLongest = 253;  // RFC 1035, section 2.3.4
  return !text.empty() && text.size() <= kLongest && text.front() != '-' && text.front() != '.' &&
         std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') || c == '-' || c == '_' || c == '.';
         });
}

}  // namespace weft::net
