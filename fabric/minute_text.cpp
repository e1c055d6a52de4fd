// SPDX-License-Identifier: Apache-2.0
#include "fabric/minute_text.hpp"

#include <array>
#include <chrono>
#include <cstdio>

namespace weft {

std::string minute_text(TimePoint when) {
  using namespace std::chrono;
  const auto day = floor<days>(when);
  const year_month_day date(day);
  const hh_mm_ss time(floor<minutes>(when - day));
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02u %02d:%02d UTC", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()));
  return text.data();
}

}  // namespace weft
