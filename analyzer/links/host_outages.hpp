// SPDX-License-Identifier: Apache-2.0
#pragma once
// Is a host down, or only its link? Seen from the fabric both look alike; the host's collector knows.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analyzer/ports/host_watch.hpp"
#include "analyzer/thresholds/thresholds.hpp"
#include "fabric/incident.hpp"

namespace weft::analyzer {

/// A collector that is heard after its host's link went down has a host that runs: LINK_DOWN. When it is not heard for
/// two of its intervals, or falls silent later, and no other link of the host is up, the host is down or cut off:
/// NODE_DOWN, until its link is up or it has been heard again for sm_patience. Until one of the two is known, a
/// LINK_DOWN of the host is held back; where the two intervals are longer than collector_silence_minimum it never is.
class HostOutages {
 public:
  /// Keeps a copy of its limits.
  explicit HostOutages(const Thresholds& thresholds)
      : longest_(thresholds.collector_silence_minimum), quiet_(thresholds.sm_patience) {}

  /// An incident that was open when the process before ended: a host that was down is, until it is heard or its link
  /// is up.
  void remember(const Incident& incident);
  /// Decides on each LINK_DOWN among the findings of one subnet's sweep. `host_at`: the host that an adapter belongs
  /// to, or null.
  void apply(std::vector<Finding>& findings, const std::function<const HostWatch*(NodeGuid)>& host_at, TimePoint now);

  /// A collector that falls silent may have moved to another shard: one that has spoken since its link went down is
  /// silent only when that shard had time to say so.
  void set_others(bool has_others) { has_others_ = has_others; }

  /// NODE_DOWN tells of the host, or did a moment ago: that its collector is silent, too, is no trouble of its own.
  bool is_told(const std::string& host, TimePoint now) const;

 private:
  struct Link {
    TimePoint since = kNever;  ///< when it was first said to be down
    TimePoint last = kNever;
    bool can_tell = false;          ///< its collector was not lost before, and reports often
    bool is_host = false;           ///< it is told as NODE_DOWN
    TimePoint back_since = kNever;  ///< of these: when the collector spoke again
  };

  bool is_held(Finding& finding, const HostWatch& host, NodeGuid adapter, TimePoint now);

  Duration longest_, quiet_;
  bool has_others_ = false;
  std::map<std::string, Link> links_;      ///< by identity
  std::map<std::string, TimePoint> told_;  ///< by host: when NODE_DOWN last told of it
};

}  // namespace weft::analyzer
