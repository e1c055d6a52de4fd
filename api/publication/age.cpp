// SPDX-License-Identifier: Apache-2.0
#include "api/publication/age.hpp"

#include <array>
#include <ctime>

namespace weft::api {

std::string age_text(Duration age) {
  using namespace std::chrono;
  const auto whole = duration_cast<std::chrono::seconds>(age).count();
  if (whole < 1) return "just now";
  if (whole < 60) return std::to_string(whole) + " s ago";
  if (whole < 3600) return std::to_string(whole / 60) + " min ago";
  if (whole < 48 * 3600) return std::to_string(whole / 3600) + " h ago";
  return std::to_string(whole / 86400) + " d ago";
}

std::string silence_text(TimePoint until, TimePoint now) {
  if (until <= now) return {};
  const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(until.time_since_epoch()).count();
  std::tm parts{};
  if (gmtime_r(&seconds, &parts) == nullptr) return {};
  std::array<char, 64> buffer;
  const bool is_soon = until - now < std::chrono::hours(24);
  const std::size_t length = std::strftime(buffer.data(), buffer.size(), is_soon ? "%H:%M UTC" : "%Y-%m-%d", &parts);
  return " (silenced until " + std::string(buffer.data(), length) + ")";
}

}  // namespace weft::api
