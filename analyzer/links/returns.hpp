// SPDX-License-Identifier: Apache-2.0
#pragma once
// Switches and hosts that were down and are back, but wait for their links to become active.

#include <functional>
#include <span>
#include <vector>

#include "analyzer/links/outage.hpp"
#include "fabric/incident.hpp"

namespace weft::analyzer {

/// A switch or host that comes back stays its own outage until its links are active or the patience with the subnet
/// manager is over: one cause is one incident.
class Returns {
 public:
  /// `minimum_sweeps`: a return is followed for at least so many sweeps.
  explicit Returns(unsigned minimum_sweeps) : minimum_sweeps_(minimum_sweeps) {}

  /// An incident that was open when the process before ended: its switch or host is looked for in the next sweep. Once
  /// `table` knows its links.
  void remember(const LinkTable& table, const Incident& incident);
  /// One more sweep, which `table` has observed. `blamed` are the switches that are down in it, and `is_dark` tells
  /// whether a node does not answer. Returns the outages of what is coming back; what is down, or down again, is none
  /// of them. Requests that it misses on its way do not end its return.
  std::vector<Outage> follow(const LinkTable& table, std::span<const Outage> blamed,
                             const std::function<bool(NodeId)>& is_dark, Duration patience, TimePoint now);
  /// The outages of this sweep, to be looked for in the next one.
  void remember(std::span<const Outage> outages);
  /// True while anything is down as a whole or coming back.
  bool is_waiting() const { return !known_.empty(); }

 private:
  struct Known {
    Outage outage;                  ///< as it was last blamed
    TimePoint back_since = kNever;  ///< kNever while it is down
    unsigned sweeps = 0;            ///< since it is back
  };

  unsigned minimum_sweeps_;
  std::vector<Known> known_;  ///< whole switches and hosts, until all of their links are active again
};

}  // namespace weft::analyzer
