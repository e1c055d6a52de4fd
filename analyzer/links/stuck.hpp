// SPDX-License-Identifier: Apache-2.0
#pragma once
// COUNTER_STUCK: a counter whose movement can no longer be seen.

#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/ports/describe.hpp"
#include "analyzer/ports/rates.hpp"
#include "analyzer/thresholds/thresholds.hpp"

namespace weft::analyzer {

/// Three ways: an error counter at all ones (InfiniBand counters stick there until somebody clears them), a receive
/// counter that stands still while the peer keeps sending, and counters that jump about: a reading that is impossible
/// or goes back, again and again, comes from a broken agent and no link.
class StuckCounters {
 public:
  explicit StuckCounters(const Thresholds& thresholds) : thresholds_(thresholds) {}

  /// Takes one sweep. Starts anew with each epoch of the topology.
  void update(const Sweep& sweep, const LinkTable& table, const CounterPass& pass);
  /// Adds a COUNTER_STUCK for each port whose counters cannot be trusted.
  void report(const Sweep& sweep, const Describe& describe, const CounterPass& pass,
              std::vector<Finding>& findings) const;

  /// Enough sweeps of this epoch were seen for a standing counter to have been noticed.
  bool warm() const { return sweeps_ > thresholds_.stuck_sweeps; }

 private:
  const Thresholds& thresholds_;
  std::uint64_t epoch_ = 0;
  unsigned sweeps_ = 0;
  struct Jumps {
    double count = 0;    ///< readings that went back or were impossible; old ones fade
    bool stuck = false;  ///< it exceeded stuck_jumps and has not decayed to 1 since
  };
  void follow_jumps(const CounterPass& pass);
  std::map<PortIndex, Jumps> jumps_;
  struct Standing {
    std::uint8_t sweeps = 0;  ///< without movement since it last moved, in which the peer sent
    float packets = 0;        ///< that the peer sent in them
  };
  bool stands(const Standing& standing) const;
  std::vector<Standing> standing_;  ///< by port
};

}  // namespace weft::analyzer
