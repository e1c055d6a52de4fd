// SPDX-License-Identifier: Apache-2.0
#pragma once
// Switches and hosts that were down and are back, but wait for their links to become active.

#include <functional>
#include <span>
#include <vector>

#include "analyzer/links/outage.hpp"

namespace weft::analyzer {

/// A switch or host that comes back stays its own outage until its links are active or the patience with the subnet
/// manager is over: one cause is one incident.
class Returns {
 public:
  /// `minimum_sweeps`: a return is followed for at least so many sweeps.
  explicit Returns(unsigned minimum_sweeps) : minimum_sweeps_(minimum_sweeps) {}

  /// One more sweep, which `table` has observed. `is_dark` tells whether a node is out of reach. Returns the outages of
  /// what is coming back; what went down again is none of them.
  std::vector<Outage> follow(const LinkTable& table, const std::function<bool(NodeId)>& is_dark, Duration patience,
                             TimePoint now);
  /// The outages of this sweep, to be looked for in the next one.
  void remember(std::span<const Outage> outages);
  /// True while anything is down as a whole or coming back.
  bool is_waiting() const { return !down_.empty() || !returns_.empty(); }

 private:
  struct Return {
    Outage outage;
    TimePoint since = kNever;
    unsigned sweeps = 0;
  };

  unsigned minimum_sweeps_;
  std::vector<Outage> down_;  ///< whole switches and hosts of the last sweep
  std::vector<Return> returns_;
};

}  // namespace weft::analyzer
