// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far a host's series moved from one reading to the next: differenced once, for all rules.

#include <cstdint>
#include <vector>

#include "analyzer/ports/counter_delta.hpp"
#include "fabric/host.hpp"

namespace weft::analyzer {

/// One series of a reading, against the last reading that had it.
struct SeriesMovement {
  std::uint64_t value = 0;  ///< as it was read
  CounterDelta delta;       ///< all zero where there is nothing to compare with, and of a gauge
  bool present = false;     ///< it was read this time; if not, nothing else here means anything
  bool known = false;       ///< it was read before
  bool successive = false;  ///< the reading before had it as well: it moved within HostMovement::elapsed

  /// It moved by exactly `delta.moved` within HostMovement::elapsed.
  bool is_exact() const { return successive && !delta.was_reset && !delta.at_least; }
};

/// One reading of a host, against the one before.
struct HostMovement {
  TimePoint taken = kNever;
  Duration elapsed{};  ///< since the reading before; zero of the first, negative after the clock was set back
  /// By position in HostInventory::series. Only those that somebody follows are filled in.
  std::vector<SeriesMovement> series;
};

/// The last values of those series of one host that rules follow. 16 bytes for each of them.
class SeriesMemory {
 public:
  /// From now on readings are of `inventory`, and `followed` are the positions that rules ask for, in any order and
  /// more than once. Series that were followed before keep their values, wherever they stand now.
  void follow(const HostInventory& inventory, std::vector<std::uint32_t> followed);
  /// Compares a reading of that inventory with what is remembered, and remembers it. Overwrites `movement`, which may
  /// be used for all hosts in turn.
  void take(const HostReading& reading, HostMovement& movement);

 private:
  struct Last {
    std::uint64_t value = 0;
    std::uint32_t series = 0;
    std::uint8_t bits = 0;  ///< of the series, as is `behaviour`: the list of series is long, and not looked at
    CounterBehaviour behaviour = CounterBehaviour::kWraps;
    bool known = false;
    bool successive = false;  ///< the last reading had it
  };

  SeriesList series_;
  std::vector<Last> last_;  ///< ascending by `series`
  TimePoint taken_ = kNever;
};

}  // namespace weft::analyzer
