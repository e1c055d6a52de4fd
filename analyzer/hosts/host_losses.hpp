// SPDX-License-Identifier: Apache-2.0
#pragma once
// SILENT_LOSS: what hosts on a watched subnet lost, the ways between them, and the packet counters of the subnet.

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analyzer/hosts/host_state.hpp"
#include "analyzer/loss/loss_tracker.hpp"
#include "fabric/snapshot.hpp"

namespace weft::analyzer {

/// Silent packet loss on all watched subnets: one loss tracker for each of them.
class HostLosses {
 public:
  using Hosts = std::map<std::string, HostWatch, std::less<>>;

  explicit HostLosses(const LossThresholds& thresholds) : thresholds_(thresholds) {}

  /// Takes what is new of the subnets; one that is not among them any more is forgotten.
  void watch(std::span<const FabricView> fabrics);
  /// What the rules over a subnet say of it now: links that they blame for errors lose nothing silently.
  void apply_findings(std::span<const Finding> findings, TimePoint now);
  /// Ends the windows that are over and adds what is lost to `findings`. Hosts' ports must stand at their places.
  void judge(const Hosts& hosts, TimePoint now, std::vector<Finding>& findings);
  /// If one of `findings`, which judge() made, is the cause of what `trouble` says, it becomes part of that.
  bool absorb(const Finding& trouble, std::vector<Finding>& findings) const;
  /// Was that subnet judged at all?
  bool has_judged(std::string_view fabric) const;

 private:
  struct Subnet {
    std::unique_ptr<LossTracker> tracker;
    std::shared_ptr<const Sweep> sweep;
    TimePoint window_ended = kNever;
    std::map<LinkKey, TimePoint> errors{};  ///< links that are blamed for them, and when they last were
  };

  void end_window(const std::string& fabric, Subnet& subnet, const Hosts& hosts, TimePoint now) const;
  Finding tell(const std::string& fabric, const Subnet& subnet, const SilentLoss& loss) const;

  LossThresholds thresholds_;
  std::map<std::string, Subnet, std::less<>> subnets_;
};

}  // namespace weft::analyzer
