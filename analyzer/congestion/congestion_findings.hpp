// SPDX-License-Identifier: Apache-2.0
#pragma once
// CONGESTION_INCAST, CONGESTION_UNEVEN_LOAD, CONGESTION_OVERSUBSCRIBED, SLOW_RECEIVER, PFC_STORM, DEADLOCK in
// words; and congestion that has a known fault for its cause, of the link itself or of one beside it, as part of what
// is said of that.

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "analyzer/congestion/congestion_tracker.hpp"
#include "analyzer/ports/describe.hpp"
#include "analyzer/ports/link_table.hpp"
#include "analyzer/ports/rates.hpp"

namespace weft::analyzer {

/// The congestion rules of one fabric: finds roots, follows them over time and makes findings of them.
class Congestion {
 public:
  explicit Congestion(const CongestionThresholds& thresholds)
      : thresholds_(thresholds), finder_(thresholds), tracker_(thresholds) {}

  /// Judges one sweep and adds to `findings`, which must hold what the other rules found: a link that one of them
  /// blames is the cause of what waits for it. `marks`: what hosts tell of ports of this fabric.
  void report(const Sweep& sweep, const CounterPass& pass, std::span<const float> line_rates, const LinkTable& table,
              const Describe& describe, std::span<const MarkedPort> marks, std::vector<Finding>& findings);

 private:
  void mark_suspects(const Topology& topology, std::span<const Finding> findings);
  /// The fault that took the other ways from a root, if it is one alone; else null.
  Finding* only_reason(const CongestionRoot& root, std::vector<Finding>& findings) const;

  const CongestionThresholds& thresholds_;
  CongestionFinder finder_;
  CongestionTracker tracker_;
  std::vector<std::uint8_t> suspects_;  ///< by port
  std::vector<std::uint32_t> faults_;   ///< by port: the finding that blames its link or says it is down, from 1
  void take_marks(const Topology& topology, std::span<const MarkedPort> marks);
  std::span<const PortIndex> known_roots(const Topology& topology);
  std::vector<PortMarks> marks_;  ///< by port; empty where nobody tells
  std::vector<PortIndex> known_;
  std::uint64_t epoch_ = 0;  ///< that the tracker's indices belong to
  struct Told {
    bool folded = false;  ///< as part of a fault: what is left of it after that fault is no trouble of its own
    unsigned left = 0;    ///< sweeps until that is forgotten
  };
  std::unordered_map<PortKey, Told> told_;  ///< by SteadyCongestion::key
};

}  // namespace weft::analyzer
