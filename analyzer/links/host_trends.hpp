// SPDX-License-Identifier: Apache-2.0
#pragma once
// LINK_DEGRADED of a host's port, early: its light fades, or its error correction repairs ever more.

#include <cstdint>
#include <vector>

#include "analyzer/links/link_trend.hpp"
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
  struct Trend {
    std::uint32_t series = 0;
    std::uint8_t lane = kNoLane;
    LinkTrend trend;
  };
  using Trends = std::vector<Trend>;

  Thresholds thresholds_;
  PerPort<Trends> trends_;
};

}  // namespace weft::analyzer
