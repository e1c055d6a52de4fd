// SPDX-License-Identifier: Apache-2.0
#pragma once
// Acceptance of a fabric, rack or link: pass or fail, by what was measured and by what is not known.

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analyzer/acceptance/acceptance_watch.hpp"
#include "analyzer/ports/error_bounds.hpp"
#include "analyzer/thresholds/thresholds.hpp"
#include "fabric/acceptance.hpp"
#include "fabric/snapshot.hpp"

namespace weft::analyzer {

/// Judges runs. It remembers nothing of them.
class AcceptanceJudge {
 public:
  /// `thresholds` must outlive it. Takes some milliseconds.
  explicit AcceptanceJudge(const Thresholds& thresholds)
      : thresholds_(thresholds), bounds_(thresholds.error_confidence) {}

  /// How the run stands at `now`. `watches` has by fabric what was counted; run.length is how long each port must have
  /// been watched without a break. A run without an id has no window: what a port did before its last break is not
  /// held against it. O(ports).
  AcceptanceReport judge(const AcceptanceRun& run, const Snapshot& snapshot,
                         const std::map<std::string, AcceptanceWatch>& watches, TimePoint now) const;

 private:
  const Thresholds& thresholds_;
  ErrorBounds bounds_;
};

}  // namespace weft::analyzer
