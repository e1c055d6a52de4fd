// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a watcher is sent next: pure state, no gRPC, so that every slowness can be tested without waiting.

#include <set>
#include <string>
#include <utility>

#include "api/grpc/ledger.hpp"
#include "fabric/snapshot.hpp"
#include "weft/v1/health.pb.h"
#include "weft/v1/incident.pb.h"
#include "weft/v1/remedy.pb.h"

namespace weft::api {

/// Incidents: those there are, then the mark, then changes. The latest revision of each; none is ever left at an old
/// one.
class IncidentFeed {
 public:
  /// What a watcher is sent.
  using Message = v1::WatchIncidentsResponse;
  /// Resolved ones too, where the request says so.
  explicit IncidentFeed(const v1::WatchIncidentsRequest& request) : include_resolved_(request.include_resolved()) {}
  /// The next message that the snapshot gives cause for; false when the watcher knows all of it.
  bool next(const Snapshot& snapshot, Message& message);

 private:
  bool include_resolved_;
  bool initial_ = true;
  Ledger<std::uint64_t> told_;
};

/// Plans: those there are, then the mark, then changes, like incidents.
class PlanFeed {
 public:
  /// What a watcher is sent.
  using Message = v1::WatchPlansResponse;
  /// Plans that are over too, where the request says so.
  explicit PlanFeed(const v1::WatchPlansRequest& request) : include_ended_(request.include_ended()) {}
  /// The next message that the snapshot gives cause for; false when the watcher knows all of it.
  bool next(const Snapshot& snapshot, Message& message);

 private:
  bool include_ended_;
  bool initial_ = true;
  Ledger<std::uint64_t> told_;
};

/// Verdicts: those there are, then the mark, then changes of verdict, action or reasons (not of the data's age).
class HealthFeed {
 public:
  /// What a watcher is sent.
  using Message = v1::WatchHealthResponse;
  /// Of the nodes that the request names; of all where it names none.
  explicit HealthFeed(const v1::WatchHealthRequest& request) : nodes_(request.nodes().begin(), request.nodes().end()) {}
  /// The next message that the snapshot gives cause for; false when the watcher knows all of it.
  bool next(const Snapshot& snapshot, Message& message);

 private:
  std::set<std::string> nodes_;  ///< empty: all
  bool initial_ = true;
  /// By name and first GUID: two switches may share a name.
  Ledger<std::pair<std::string, std::uint64_t>> told_;
};

}  // namespace weft::api
