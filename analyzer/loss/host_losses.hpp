// SPDX-License-Identifier: Apache-2.0
#pragma once
// SILENT_LOSS: what hosts on a watched subnet lost, the ways between them, and the packet counters of the subnet.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analyzer/loss/loss_tracker.hpp"
#include "analyzer/loss/quiet_balance.hpp"
#include "analyzer/ports/host_watch.hpp"
#include "fabric/snapshot.hpp"

namespace weft::analyzer {

/// Silent packet loss on all watched subnets: one loss tracker for each of them, and what each host's port has sent,
/// received and lost since this process listens.
class HostLosses {
 public:
  /// Keeps a copy of its limits.
  explicit HostLosses(const LossThresholds& thresholds) : thresholds_(thresholds) {}

  /// The host's series or ports are others; `followed` gets the positions of what is asked for.
  void follow(const HostWatch& host, std::vector<std::uint32_t>& followed);
  /// Takes a reading of the host.
  void take(const HostWatch& host, const HostMovement& movement);

  /// Takes what is new of the subnets; one that is not among them any more is forgotten.
  void watch(std::span<const FabricView> fabrics);
  /// What the rules over a subnet say of it now: links that they blame for errors lose nothing silently.
  void apply_findings(std::span<const Finding> findings, TimePoint now);
  /// What it says is full now: what hosts lose there are drops of congestion, unless counters that are read tell of
  /// none.
  void apply_congestion(const Finding& congestion, TimePoint now);
  /// Ends the windows that are over and adds what is lost to `findings`. Hosts' ports must stand at their places.
  void judge(const Hosts& hosts, TimePoint now, std::vector<Finding>& findings);
  /// If one of `findings`, which judge() made, is the cause of what `trouble` says, it becomes part of that.
  bool absorb(const Finding& trouble, std::vector<Finding>& findings) const;
  /// Was that subnet judged at all?
  bool has_judged(std::string_view fabric) const;

 private:
  struct Subnet {
    std::unique_ptr<LossTracker> tracker;
    std::unique_ptr<LossTracker> rare;  ///< the same over longer windows: losses that show in minutes only
    std::shared_ptr<const Sweep> sweep;
    QuietBalance balance{};
    TimePoint weighed = kNever;           ///< when that was last compared with what hosts sent again
    std::vector<double> sent_again{};     ///< packets of all hosts, at that time and before, the last one last
    std::vector<SilentLoss> vanishing{};  ///< what it showed then
    /// Hosts' ports that lost packets in short windows, and when they last did; as long as longer ones remember it.
    std::map<PortIndex, TimePoint> senders{}, receivers{};
    std::map<LinkKey, TimePoint> errors{};  ///< links that are blamed for them, and when they last were
    std::map<LinkKey, TimePoint> full{};    ///< links that are congested, and when they last were
  };

  struct Transfers {
    TransferTotals totals;
    std::uint8_t kinds = 0;  ///< what of it its driver tells: bits of TransferKind
    std::vector<FollowedSeries<std::uint64_t TransferTotals::*>> followed;

    /// Sent, received and at least one figure of lost packets are known.
    bool complete() const;
  };

  /// Is it known what the port sends, receives and loses on that subnet?
  bool is_end_on(const std::string& fabric, const PortWatch& port) const;
  /// The longest time between two readings of a host on that subnet, but for the slowest tenth of the hosts.
  Duration reading_on(const std::string& fabric, const Hosts& hosts) const;
  /// The ports of hosts that are read often enough for windows so long.
  std::vector<TransferEnd> ends_on(const std::string& fabric, const Topology& topology, const Hosts& hosts,
                                   Duration window) const;
  /// Notes whose losses show in short windows, and forgets what the longer ones do not remember any more.
  static void remember_hurt(Subnet& subnet, TimePoint now);
  /// Packets that vanish must have been sent again: where hosts did not, counters do not agree about what they count.
  void weigh_balance(const std::string& fabric, Subnet& subnet, const Hosts& hosts, TimePoint now) const;
  /// What loses packets now: of rare losses only those that do not show in short windows too, and whose hosts lose
  /// nothing else.
  std::vector<SilentLoss> losses_on(const Subnet& subnet) const;
  Finding tell(const std::string& fabric, const Subnet& subnet, const SilentLoss& loss) const;

  LossThresholds thresholds_;
  std::map<std::string, Subnet, std::less<>> subnets_;
  PerPort<Transfers> transfers_;
};

}  // namespace weft::analyzer
