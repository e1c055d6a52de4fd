// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far a host's counter moved between two readings, whatever its driver makes of the top.

#include <cstdint>

#include "fabric/counters.hpp"

namespace weft::analyzer {

/// Movement of a counter between two readings.
struct CounterDelta {
  std::uint64_t moved = 0;  ///< at least so much
  bool was_reset = false;   ///< it went back: a driver was loaded anew, somebody cleared it
  bool at_least = false;    ///< it stands at its top and sticks there
};

/// From `before` to `after`, both of a counter `bits` wide (1 to 64; 0 is taken for 64). A decrease is a wrap when a
/// counter that wraps has come round by less than a quarter of its range; else it was reset, and what it counted since
/// is not taken for movement: nobody knows since when.
constexpr CounterDelta counter_delta(std::uint64_t before, std::uint64_t after, unsigned bits,
                                     CounterBehaviour behaviour) {
  const std::uint64_t top = bits == 0 || bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  if (behaviour == CounterBehaviour::kGauge) return {};
  const bool stuck = behaviour == CounterBehaviour::kSticks && after >= top;
  if (after >= before) return {after - before, false, stuck};
  const std::uint64_t round = (after - before) & top;
  if (behaviour == CounterBehaviour::kWraps && before <= top && round <= top / 4) return {round, false, false};
  return {0, true, stuck};
}

}  // namespace weft::analyzer
