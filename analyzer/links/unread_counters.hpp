// SPDX-License-Identifier: Apache-2.0
#pragma once
// Nodes that answer while their counters cannot be read.

#include <unordered_set>
#include <vector>

#include "analyzer/links/outage.hpp"

namespace weft::analyzer {

/// Questions for counters are routed by LID, those for states are not: while the subnet manager programs routes, nodes
/// answer the one and not the other, and that is no trouble of theirs.
class UnreadCounters {
 public:
  /// `thresholds` must outlive the object.
  explicit UnreadCounters(const Thresholds& thresholds) : thresholds_(thresholds) {}

  /// How long the subnet manager is given, and whether it is at work now: then it is given several times as long.
  struct Manager {
    Duration patience{};
    bool is_busy = false;
  };

  /// That the counters of its nodes can be read is known, where the incident says that they no longer can. After a
  /// restart; of nodes whose counters were never read nobody expects it.
  void remember(const Incident& incident);

  /// Adds to the outages of this sweep those whose counters have not been read for as long; those of several nodes of
  /// which none was told before are one, until they have been too few for that for as long. Until then they are told of
  /// with what changes the routes.
  void judge(LinkTable& table, const Sweep& sweep, Manager manager, TimePoint now, std::vector<Outage>& outages);

 private:
  const Thresholds& thresholds_;
  TimePoint several_at_ = kNever;              ///< the last sweep with several; kNever: they are not told as one
  std::unordered_set<NodeGuid> remembered_{};  ///< and not read since
  std::unordered_set<NodeGuid> told_{};        ///< each, and not read since
};

}  // namespace weft::analyzer
