#pragma once
// CONGESTION_INCAST, CONGESTION_UNEVEN_LOAD, CONGESTION_OVERSUBSCRIBED, SLOW_RECEIVER, DEADLOCK in words; and
// congestion that has a link's own fault for its cause as part of what is said of that link.

#include <optional>
#include <span>
#include <vector>

#include "analyzer/congestion/congestion_tracker.hpp"
#include "analyzer/counters/rates.hpp"
#include "analyzer/detect/describe.hpp"
#include "analyzer/detect/link_table.hpp"

namespace weft::analyzer {

class Congestion {
 public:
  explicit Congestion(const CongestionThresholds& thresholds)
      : thresholds_(thresholds), finder_(thresholds), tracker_(thresholds) {}

  /// Judges one sweep and adds to `findings`, which must hold what the other rules found: a link that one of them
  /// blames is the cause of what waits for it.
  void report(const Sweep& sweep, const CounterPass& pass, std::span<const float> line_rates, const LinkTable& table,
              const Describe& describe, std::vector<Finding>& findings);

 private:
  void mark_suspects(const Topology& topology, std::span<const Finding> findings);

  const CongestionThresholds& thresholds_;
  CongestionFinder finder_;
  CongestionTracker tracker_;
  std::vector<std::uint8_t> suspects_;  ///< by port
};

}  // namespace weft::analyzer
