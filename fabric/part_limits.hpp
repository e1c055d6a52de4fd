// SPDX-License-Identifier: Apache-2.0
#pragma once
// The limits that a module or adapter names itself, as a fact: "-5 0 70 75". Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft {

/// Limits in the unit of the gauge that they are of (fabric/counters.hpp): thousandths of a degree Celsius,
/// microamperes, nanowatts. What is not known is absent.
struct PartLimits {
  std::optional<std::int64_t> low_alarm{};
  std::optional<std::int64_t> low_warning{};
  std::optional<std::int64_t> high_warning{};
  std::optional<std::int64_t> high_alarm{};

  bool operator==(const PartLimits&) const = default;
  /// None is known.
  bool is_empty() const { return !low_alarm && !low_warning && !high_warning && !high_alarm; }
};

/// The limits without those that contradict each other: warnings that are none (vendors leave them empty), or all where
/// an alarm is within the warnings.
PartLimits without_contradictions(PartLimits limits);
/// A value in a greater unit: 70500 with three digits is "70.5".
std::string decimal_text(std::int64_t value, unsigned digits);
/// Low alarm, low warning, high warning and high alarm in the unit that is 10^digits of the gauge's, "-" for what is
/// not known: "- - 105 120". Empty when none is.
std::string to_text(const PartLimits& limits, unsigned digits);
/// The reverse, without_contradictions(); empty where anything is not understood.
PartLimits parse_part_limits(std::string_view text, unsigned digits);

}  // namespace weft
