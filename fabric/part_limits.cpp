// SPDX-License-Identifier: Apache-2.0
#include "fabric/part_limits.hpp"

#include <array>
#include <charconv>
#include <cstddef>

namespace weft {
namespace {

std::int64_t power_of_ten(unsigned digits) {
  std::int64_t power = 1;
  for (unsigned i = 0; i < digits; ++i) power *= 10;
  return power;
}

/// "70.5" with three digits: 70500.
std::optional<std::int64_t> parse_decimal(std::string_view text, unsigned digits) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  const std::size_t dot = text.find('.');
  std::string all(text.substr(0, dot));
  std::string part(dot == std::string_view::npos ? std::string_view() : text.substr(dot + 1));
  if (all.empty() || part.size() > digits) return std::nullopt;
  all += part + std::string(digits - part.size(), '0');
  std::uint64_t number = 0;
  constexpr std::size_t kMostDigits = 15;
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), number);
  if (error != std::errc{} || end != all.data() + all.size() || all.size() > kMostDigits) return std::nullopt;
  return is_negative ? -static_cast<std::int64_t>(number) : static_cast<std::int64_t>(number);
}

}  // namespace

PartLimits without_contradictions(PartLimits limits) {
  // A vendor that left the warnings empty.
  if (limits.low_warning && limits.high_warning && *limits.low_warning >= *limits.high_warning)
    limits.low_warning = limits.high_warning = std::nullopt;
  if (limits.low_alarm && limits.high_alarm && *limits.low_alarm >= *limits.high_alarm) return {};
  const bool contradict = (limits.high_warning && limits.high_alarm && *limits.high_warning > *limits.high_alarm) ||
                          (limits.low_warning && limits.low_alarm && *limits.low_warning < *limits.low_alarm);
  return contradict ? PartLimits{} : limits;
}

std::string decimal_text(std::int64_t value, unsigned digits) {
  const bool is_negative = value < 0;
  const auto size =
      is_negative ? std::uint64_t{0} - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  const auto power = static_cast<std::uint64_t>(power_of_ten(digits));
  std::string text = (is_negative ? "-" : "") + std::to_string(size / power);
  std::string part = std::to_string(size % power + power).substr(1);
  while (!part.empty() && part.back() == '0') part.pop_back();
  return part.empty() ? text : text + '.' + part;
}

std::string to_text(const PartLimits& limits, unsigned digits) {
  if (limits.is_empty()) return {};
  std::string text;
  for (const auto& limit : {limits.low_alarm, limits.low_warning, limits.high_warning, limits.high_alarm})
    text += (text.empty() ? "" : " ") + (limit ? decimal_text(*limit, digits) : "-");
  return text;
}

PartLimits parse_part_limits(std::string_view text, unsigned digits) {
  std::array<std::optional<std::int64_t>, 4> found;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t blank = text.find(' ');
    const std::string_view word = text.substr(0, blank);
    if (word.empty()) return {};
    if (word != "-") {
      found[i] = parse_decimal(word, digits);
      if (!found[i]) return {};
    }
    text = blank == std::string_view::npos ? std::string_view() : text.substr(blank + 1);
  }
  return without_contradictions({found[0], found[1], found[2], found[3]});
}

}  // namespace weft
