#pragma once
// COUNTER_STUCK: a counter whose movement can no longer be seen.

#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/counters/rates.hpp"
#include "analyzer/detect/describe.hpp"
#include "analyzer/detect/thresholds.hpp"

namespace weft::analyzer {

/// Two ways to be stuck: an error counter at all ones (InfiniBand counters stick there until somebody clears them), and
/// a receive counter that stands still while the peer keeps sending.
class StuckCounters {
 public:
  explicit StuckCounters(const Thresholds& thresholds) : thresholds_(thresholds) {}

  void update(const Sweep& sweep, const LinkTable& table, const CounterPass& pass);
  void report(const Sweep& sweep, const Describe& describe, const CounterPass& pass,
              std::vector<Finding>& findings) const;

  /// Enough sweeps of this epoch were seen for a standing counter to have been noticed.
  bool warm() const { return sweeps_ > thresholds_.stuck_sweeps; }

 private:
  const Thresholds& thresholds_;
  std::uint64_t epoch_ = 0;
  unsigned sweeps_ = 0;
  std::vector<std::uint8_t> standing_;  ///< by port: consecutive sweeps without movement
};

}  // namespace weft::analyzer
