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

#include "analyzer/ports/host_stalls.hpp"
#include "analyzer/ports/host_watch.hpp"
#include "analyzer/stragglers/straggler_tracker.hpp"
#include "fabric/snapshot.hpp"

namespace weft::analyzer {

/// A cohort is the ports of one job on one rail: of hosts with several adapters those of the same device name talk to
/// each other, as libraries of collectives do it. A host with several jobs counts for the first of them.
class HostStragglers {
 public:
  /// Keeps a copy of its limits.
  explicit HostStragglers(const StragglerThresholds& thresholds) : thresholds_(thresholds) {}

  /// The host's series or ports are others; `followed` gets the positions of what is asked for.
  void follow(const HostWatch& host, std::vector<std::uint32_t>& followed);
  /// Takes a reading of the host.
  void take(const HostWatch& host, const HostMovement& movement);
  /// Takes what new sweeps read of hosts' ports that collectors tell of too, which must stand at their places: between
  /// two readings of a collector falls one of a sweep.
  void watch(std::span<const FabricView> fabrics, const Hosts& hosts);
  /// Compares the members of each cohort where it is time (whoever `stalls` is to blame), and adds a finding for each
  /// host that is a straggler and is blamed for nothing else, neither in `findings` nor in what explain() was told.
  /// Bounded: O(ports · log ports) every two readings, O(ports) between.
  void judge(const Hosts& hosts, const HostStalls& stalls, TimePoint now, std::vector<Finding>& findings);
  /// What the rules of `fabric` say: a host that is slow because of it is no trouble of its own; its delays are added
  /// there as evidence.
  void explain(std::string_view fabric, const Hosts& hosts, std::vector<Finding>& findings, TimePoint now);

 private:
  /// Bytes that a port sent and received: what its counters said at first, and what they have moved since.
  struct Bytes {
    std::uint64_t sent = 0, received = 0;
    std::string job;               ///< that the port worked for when the members of its job were last compared
    bool was_new = false;          ///< one of them was never read before, or was reset
    std::uint32_t times_away = 0;  ///< PortWatch::times_away when the members of its job were last compared
    std::vector<FollowedSeries<std::uint64_t Bytes::*>> followed{};
    PortActivity activity{};
  };
  using CohortKey = std::pair<std::string, std::string>;  ///< job, rail
  struct Explained {
    TimePoint at = kNever;
    std::unordered_set<NodeGuid> nodes;
  };

  bool was_away(const HostWatch& host, const PortWatch& port);
  void compare(const Hosts& hosts, const HostStalls& stalls, TimePoint now);
  void add_delays(const HostWatch& host, const PortWatch& port, Finding& finding) const;
  bool is_explained(const PortWatch& port, TimePoint now, const std::vector<Finding>& findings) const;

  StragglerThresholds thresholds_;
  PerPort<Bytes> ports_;
  TimePoint compared_ = kNever;
  struct Subnet {
    std::shared_ptr<const Sweep> sweep;   ///< the last one taken
    std::vector<RouteChurn> route_churn;  ///< when links between switches moved, of the last minutes
  };
  std::map<std::string, Subnet, std::less<>> subnets_;
  std::map<CohortKey, StragglerTracker> cohorts_;
  std::map<std::string, Explained, std::less<>> explained_;  ///< by fabric
};

}  // namespace weft::analyzer
