// SPDX-License-Identifier: Apache-2.0
#include "fabric/list_text.hpp"

#include <algorithm>

namespace weft {

std::vector<std::string> split_list(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  std::vector<std::string> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    part.remove_prefix(std::min(part.find_first_not_of(kBlanks), part.size()));
    part = part.substr(0, part.find_last_not_of(kBlanks) + 1);
    parts.emplace_back(part);
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

std::string name_list(const std::vector<std::string>& names, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

bool counts_before(std::string_view a, std::string_view b) {
  const auto digits = [](std::string_view text) {
    const auto end = text.find_first_not_of("0123456789");
    return end == std::string_view::npos ? text.size() : end;
  };
  while (!a.empty() && !b.empty()) {
    const std::size_t of_a = digits(a), of_b = digits(b);
    if (of_a == 0 || of_b == 0) {
      if (a.front() != b.front()) return a.front() < b.front();
      a.remove_prefix(1);
      b.remove_prefix(1);
      continue;
    }
    const auto number = [](std::string_view text) {
      const auto start = text.find_first_not_of('0');
      return start == std::string_view::npos ? std::string_view() : text.substr(start);
    };
    const std::string_view left = number(a.substr(0, of_a)), right = number(b.substr(0, of_b));
    if (left.size() != right.size()) return left.size() < right.size();
    if (left != right) return left < right;
    a.remove_prefix(of_a);
    b.remove_prefix(of_b);
  }
  return a.size() < b.size();
}

}  // namespace weft
