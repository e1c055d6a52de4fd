// SPDX-License-Identifier: Apache-2.0
#pragma once
// Signs that a host does not take what its port receives.

#include <cstdint>
#include <vector>

#include "analyzer/ports/host_watch.hpp"
#include "analyzer/thresholds/thresholds.hpp"

namespace weft::analyzer {

/// PCIe stalls and dropped packets of the ports of all hosts. A sign holds from its first moment until it was not seen
/// for half a minute.
class HostStalls {
 public:
  /// Keeps a copy of its limits.
  explicit HostStalls(const Thresholds& thresholds) : least_share_(thresholds.host_stall_ratio) {}

  /// The host's series or ports are others; `followed` gets the positions of what is asked for.
  void follow(const HostWatch& host, std::vector<std::uint32_t>& followed);
  /// Takes a reading of the host.
  void take(const HostWatch& host, const HostMovement& movement);

  /// Has PCIe stalled the port of late?
  bool is_stalled(const PortWatch& port, TimePoint now) const;
  /// What the host itself tells of not taking what `port` receives, added to what is known of that.
  void add(const PortWatch& port, TimePoint now, Finding& finding) const;

 private:
  struct Sign {
    double value = 0;          ///< the worst share of a second, 0..1; or packets
    TimePoint seen = kNever;   ///< the last time
    TimePoint began = kNever;  ///< of this run
  };
  struct Stall {
    Sign pcie_write, pcie_read;  ///< share of the time in which PCIe stalled
    Sign out_of_buffer;          ///< packets that found no receive request posted
    std::vector<FollowedSeries<Sign Stall::*>> followed;
  };

  void show(Sign& sign, double amount, bool is_share, TimePoint at) const;

  double least_share_;
  PerPort<Stall> stalls_;
};

}  // namespace weft::analyzer
