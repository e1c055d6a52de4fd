// SPDX-License-Identifier: Apache-2.0
#pragma once
// In how many separate seconds of the last minutes a port had errors.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

#include "fabric/clock.hpp"
#include "fabric/topology.hpp"

namespace weft::analyzer {

/// Seconds say more than counts: one bad code word is many errors, and one burst is a few seconds. Readings a second
/// apart tell them one by one; a reading of more counts as one. Remembers ports that had errors within the longer
/// window, 200 bytes for each.
class ErroredSeconds {
 public:
  /// What NVIDIA's UFM counts symbol errors over, minutes (BER_THRESHOLDS_INTERVALS of its PDR deterministic plugin,
  /// github.com/Mellanox/ufm_sdk_3.0).
  static constexpr std::array<unsigned, 2> kWindows{12, 125};

  /// What one of the windows has.
  struct Count {
    unsigned seconds = 0;  ///< with errors
    unsigned minutes = 0;  ///< in which these were
    double spacing = 0;    ///< least time from a reading to one that had errors, seconds; 0 when there were none
  };

  /// The reading of `now`, `elapsed` seconds after the one before, had errors.
  void add(PortKey port, TimePoint now, double elapsed = 1);
  /// The port's link was trained anew: what was before says nothing of it.
  void forget(PortKey port);
  /// Forgets ports without errors in the longer window up to `now`.
  void expire(TimePoint now);
  /// Of kWindows[window] up to `now`.
  Count count(PortKey port, std::size_t window, TimePoint now) const;

 private:
  struct History {
    std::int64_t newest = 0;                  ///< minute since the epoch, of the last errors
    std::array<std::uint8_t, 125> seconds{};  ///< by minute modulo their number
    double spacing = 0;
  };
  static std::int64_t minute_of(TimePoint at);

  std::map<PortKey, History> ports_;
};

}  // namespace weft::analyzer
