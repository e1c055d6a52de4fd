// SPDX-License-Identifier: Apache-2.0
#pragma once
// LINK_DEGRADED of a host's port, early: its light fades, or its error correction repairs ever more.

#include <cstdint>
#include <vector>

#include "analyzer/ports/drift.hpp"
#include "analyzer/ports/series_movement.hpp"
#include "analyzer/thresholds/thresholds.hpp"
#include "fabric/host.hpp"
#include "fabric/incident.hpp"

namespace weft::analyzer {

struct HostWatch;

/// One figure that tells how a link ages, against its own past.
struct HostTrend {
  /// Which figure is followed.
  enum class Kind : std::uint8_t {
    kReceivePower,   ///< of one lane; the drift is of −dBm
    kCorrectedBits,  ///< of the port; the drift is of log10 of bits repaired per bit received
  };
  std::uint32_t series = 0;
  std::uint32_t port = 0;  ///< position in HostWatch::ports
  Kind kind = Kind::kReceivePower;
  TimePoint taken = kNever;    ///< when the drift last got a figure
  std::uint64_t repaired = 0;  ///< since then
  bool was_reset = false;      ///< since then: nobody knows how much was repaired
  std::uint64_t rate = 0;      ///< of the port then, bit/s
  Drift drift;
};

/// Finds the figures again after the host's series or ports have changed.
void follow_trends(HostWatch& host, const HostInventory& inventory);
/// Adds up what moved, and takes what that says of them once a minute; of a reading that is late only the former.
void take_trends(HostWatch& host, const HostMovement& movement, bool is_late, const Thresholds& thresholds);
/// Adds to a LINK_DEGRADED that the port has already, or makes one. Ports that stand on a watched subnet are left to
/// its sweeps.
void report_trends(const HostWatch& host, const Thresholds& thresholds, TimePoint now, std::vector<Finding>& findings);

}  // namespace weft::analyzer
