// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/cli/duration.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace weft::usage {
namespace {

struct TimeUnit {
  std::string_view name;
  std::int64_t size;  ///< in nanoseconds
};
constexpr std::array<TimeUnit, 7> kTimeUnits{{{"ns", 1},
                                              {"us", 1'000},
                                              {"ms", 1'000'000},
                                              {"s", 1'000'000'000},
                                              {"m", 60'000'000'000},
                                              {"h", 3'600'000'000'000},
                                              {"d", 86'400'000'000'000}}};

/// Takes one number with its unit from the front of the text; nullopt when it does not begin with that.
std::optional<double> take_part(std::string_view& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc{} || number < 0 || !std::isfinite(number)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  const std::string_view name = text.substr(0, text.find_first_of("0123456789."));
  const auto* const unit = std::ranges::find(kTimeUnits, name, &TimeUnit::name);
  if (unit == kTimeUnits.end()) return std::nullopt;
  text.remove_prefix(name.size());
  return number * static_cast<double>(unit->size);
}

}  // namespace

tl::expected<Duration, std::string> parse_duration(std::string_view text) {
  double total = 0;
  do {
    const std::optional<double> part = take_part(text);
    if (!part)
      return tl::unexpected<std::string>(
          "is not a duration; give a number and a unit (ns, us, ms, s, m, h, d), such as \"250ms\", or a sum such as "
          "\"1h30m\"");
    total += *part;
  } while (!text.empty());
  if (total > 9.2e18) return tl::unexpected<std::string>("is too long; at most 106000d");
  return Duration(std::llround(total));
}

std::string format_duration(Duration duration) {
  const std::int64_t value = duration.count();
  if (value <= 0) return "0s";
  std::size_t i = kTimeUnits.size() - 1;
  while (value % kTimeUnits[i].size != 0) --i;
  return std::to_string(value / kTimeUnits[i].size) + std::string(kTimeUnits[i].name);
}

}  // namespace weft::usage
