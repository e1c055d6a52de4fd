// SPDX-License-Identifier: Apache-2.0
#pragma once
// LINK_DEGRADED of a host's port, early: its light fades, or its error correction repairs ever more.

#include <cstdint>
#include <vector>

#include "analyzer/ports/drift.hpp"
#include "analyzer/ports/host_watch.hpp"
#include "analyzer/thresholds/thresholds.hpp"

namespace weft::analyzer {

/// The figures that tell how the links of hosts' ports age, each against its own past.
class HostTrends {
 public:
  /// Keeps a copy of its limits.
  explicit HostTrends(const Thresholds& thresholds) : thresholds_(thresholds) {}

  /// The host's series or ports are others; `followed` gets the positions of what is asked for. The figures of a port
  /// keep their past.
  void follow(const HostWatch& host, std::vector<std::uint32_t>& followed);
  /// Adds up what moved, and takes what that says once a minute; of a reading that is late only the former.
  void take(const HostWatch& host, const HostMovement& movement, bool is_late);
  /// Adds to a LINK_DEGRADED that the port has already, or makes one. Ports that stand on a watched subnet are left to
  /// its sweeps.
  void report(const HostWatch& host, TimePoint now, std::vector<Finding>& findings) const;

 private:
  enum class Figure : std::uint8_t {
    kReceivePower,   ///< of one lane; the drift is of −dBm
    kCorrectedBits,  ///< of the port; the drift is of log10 of bits repaired per bit received
  };
  struct Trend {
    std::uint32_t series = 0;
    Figure figure = Figure::kReceivePower;
    std::uint8_t lane = kNoLane;
    bool was_reset = false;      ///< since `taken`: nobody knows how much was repaired
    TimePoint taken = kNever;    ///< when the drift last got a figure
    std::uint64_t repaired = 0;  ///< since then
    std::uint64_t rate = 0;      ///< of the port then, bit/s
    Drift drift;
  };
  using Trends = std::vector<Trend>;

  void take(Trend& trend, std::uint64_t value, const PortWatch& port, TimePoint at) const;
  void report(const HostWatch& host, const PortWatch& port, const Trend& trend, TimePoint now,
              std::vector<Finding>& findings) const;
  bool is_worse(const Trend& trend) const;
  Evidence power_evidence(const Trend& trend, const PortWatch& port, const Entity& where, TimePoint now) const;

  Thresholds thresholds_;
  PerPort<Trends> trends_;
};

}  // namespace weft::analyzer
