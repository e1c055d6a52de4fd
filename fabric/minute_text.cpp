// SPDX-License-Identifier: Apache-2.0
#include "fabric/minute_text.hpp"

#include <array>
#include <chrono>
#include <cstdio>

namespace weft {
namespace {

/// With seconds, or without.
std::string time_text(TimePoint when, bool has_seconds) {
  using namespace std::chrono;
  const auto day = floor<days>(when);
  const year_month_day date(day);
  const hh_mm_ss time(floor<std::chrono::seconds>(when - day));
  std::array<char, 64> text{};
  const int length = std::snprintf(text.data(), text.size(), "%04d-%02u-%02u %02d:%02d", static_cast<int>(date.year()),
                                   static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                                   static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()));
  if (has_seconds)
    std::snprintf(text.data() + length, text.size() - static_cast<std::size_t>(length), ":%02d",
                  static_cast<int>(time.seconds().count()));
  return std::string(text.data()) + " UTC";
}

}  // namespace

std::string minute_text(TimePoint when) {
  return time_text(when, false);
}

std::string second_text(TimePoint when) {
  return time_text(when, true);
}

}  // namespace weft
