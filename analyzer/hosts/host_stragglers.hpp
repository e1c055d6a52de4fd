// SPDX-License-Identifier: Apache-2.0
#pragma once
// STRAGGLER: which host's port begins after the others of its job, again and again, so that all of them wait for it.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/hosts/host_state.hpp"
#include "analyzer/stragglers/straggler_tracker.hpp"
#include "fabric/snapshot.hpp"

namespace weft::analyzer {

/// A cohort is the ports of one job on one rail: of hosts with several adapters those of the same device name talk to
/// each other, as libraries of collectives do it. A host with several jobs counts for the first of them.
class HostStragglers {
 public:
  using Hosts = std::map<std::string, HostWatch, std::less<>>;

  explicit HostStragglers(const Thresholds& thresholds) : thresholds_(thresholds) {}

  /// Takes what new sweeps read of hosts' ports that collectors tell of too, which must stand at their places: between
  /// two readings of a collector falls one of a sweep.
  void watch(std::span<const FabricView> fabrics, Hosts& hosts);
  /// Compares the members of each cohort where it is time, and adds a finding for each host that is a straggler and is
  /// blamed for nothing else, neither in `findings` nor in what explain() was told. Bounded: O(ports · log ports) every
  /// two readings, O(ports) between.
  void judge(Hosts& hosts, TimePoint now, std::vector<Finding>& findings);
  /// What the rules of `fabric` say: a host that is slow because of it is no trouble of its own; its delays are added
  /// there as evidence.
  void explain(std::string_view fabric, const Hosts& hosts, std::vector<Finding>& findings, TimePoint now);

 private:
  struct Member {
    HostWatch* host = nullptr;
    PortWatch* port = nullptr;
  };
  using CohortKey = std::pair<std::string, std::string>;  ///< job, rail
  struct Explained {
    TimePoint at = kNever;
    std::unordered_set<NodeGuid> nodes;
  };

  void compare(Hosts& hosts, TimePoint now);
  bool is_explained(const PortWatch& port, TimePoint now, const std::vector<Finding>& findings) const;

  Thresholds thresholds_;
  TimePoint compared_ = kNever;
  std::uint64_t last_id_ = 0;
  struct Subnet {
    std::shared_ptr<const Sweep> sweep;   ///< the last one taken
    std::vector<RouteChurn> route_churn;  ///< when links between switches moved, of the last minutes
  };
  std::map<std::string, Subnet, std::less<>> subnets_;
  std::map<CohortKey, StragglerTracker> cohorts_;
  std::map<std::string, Explained, std::less<>> explained_;  ///< by fabric
};

}  // namespace weft::analyzer
