// SPDX-License-Identifier: Apache-2.0
#include "fabric/number_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace weft {
namespace {

/// The greatest whole number up to which a double is exact.
constexpr double kExact = 9'007'199'254'740'992;

std::string printed(const char* format, double value) {
  std::array<char, 32> text;
  const int length = std::snprintf(text.data(), text.size(), format, value);
  return std::string(text.data(), static_cast<std::size_t>(length));
}

/// "3.2e-11" for printf's "3.2e-11", "3e-9" for its "3e-09", "4e12" for its "4e+12".
std::string scientific(double value) {
  std::string text = printed("%.2e", value);
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return text;  // no number
  std::string digits = text.substr(0, e);
  while (digits.back() == '0') digits.pop_back();
  if (digits.back() == '.') digits.pop_back();
  const bool negative = text[e + 1] == '-';
  std::string exponent = text.substr(e + 2);
  exponent.erase(0, std::min(exponent.find_first_not_of('0'), exponent.size() - 1));
  return digits + (negative ? "e-" : "e") + exponent;
}

/// With the greatest prefix that leaves at least 1.
std::string prefixed(double value, std::string_view unit) {
  constexpr std::array<const char*, 6> kPrefixes{"", "k", "M", "G", "T", "P"};
  std::size_t step = 0;
  // 999.5 would be rounded to 1,000.
  for (; value >= 999.5 && step + 1 < kPrefixes.size(); ++step) value /= 1000;
  return short_number(value) + ' ' + kPrefixes[step] + std::string(unit);
}

std::string seconds_in_words(double seconds) {
  const double size = std::abs(seconds);
  if (size == 0 || !std::isfinite(size)) return short_number(seconds) + " s";
  if (size < 1e-3) return short_number(seconds * 1e6) + " us";
  if (size < 1) return short_number(seconds * 1e3) + " ms";
  constexpr double kLongest = 1e9;  // of Duration, nearly 10^10
  if (seconds < 120 || size > kLongest) return short_number(seconds) + " s";
  return short_duration(std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds)));
}

}  // namespace

std::string short_number(double value) {
  const double size = std::abs(value);
  if (!std::isfinite(value)) return printed("%.3g", value);
  if (size == 0) return "0";  // "-0" is no number for people
  if (size < 1e-4 || size >= 1e12) return scientific(value);
  if (size < 999.5) return printed("%.3g", value);
  const double scale = std::pow(10, std::floor(std::log10(size)) - 2);
  return (value < 0 ? "-" : "") +
         count_text(static_cast<std::uint64_t>(std::llround(std::round(size / scale) * scale)));
}

std::string count_text(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string rate_text(double bits_per_second) {
  return bits_per_second > 0 ? prefixed(bits_per_second, "b/s") : "0";
}

std::string bits_text(double bits) {
  return prefixed(bits, "bit");
}

std::string share_text(double ratio) {
  return short_number(100 * ratio) + " %";
}

std::string short_duration(Duration duration) {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  const auto in_units = [whole](std::int64_t length, const char* unit, std::int64_t smaller, const char* smaller_unit) {
    const std::int64_t rest = whole % length / smaller;
    return std::to_string(whole / length) + unit + (rest > 0 ? ' ' + std::to_string(rest) + smaller_unit : "");
  };
  if (whole >= 86400) return in_units(86400, " d", 3600, " h");
  if (whole >= 3600) return in_units(3600, " h", 60, " min");
  if (whole >= 60) return in_units(60, " min", 1, " s");
  return std::to_string(whole) + " s";
}

std::string quantity_text(double value, std::string_view unit) {
  if (unit == "Gb/s") return rate_text(value * 1e9);
  if (unit == "s") return seconds_in_words(value);
  const bool is_count = !unit.empty() && unit.find('/') == std::string_view::npos && value >= 0 && value < kExact &&
                        value == std::floor(value);
  const std::string number = is_count ? count_text(static_cast<std::uint64_t>(value)) : short_number(value);
  return unit.empty() ? number : number + ' ' + std::string(unit);
}

}  // namespace weft
