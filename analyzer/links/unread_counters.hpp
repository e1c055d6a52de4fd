// SPDX-License-Identifier: Apache-2.0
#pragma once
// Nodes that answer while their counters cannot be read.

#include <vector>

#include "analyzer/links/outage.hpp"

namespace weft::analyzer {

/// Questions for counters are routed by LID, those for states are not: while the subnet manager programs routes, nodes
/// answer the one and not the other, and that is no trouble of theirs.
class UnreadCounters {
 public:
  /// `thresholds` must outlive the object.
  explicit UnreadCounters(const Thresholds& thresholds) : thresholds_(thresholds) {}

  /// Adds to the outages of this sweep those whose counters have not been read for `patience`; those of several nodes
  /// are one, as long as one of them lasts. For as long the others are told of with what changes the routes.
  void judge(LinkTable& table, const Sweep& sweep, Duration patience, TimePoint now, std::vector<Outage>& outages);

 private:
  const Thresholds& thresholds_;
  bool several_ = false;  ///< they are told as one
};

}  // namespace weft::analyzer
