// SPDX-License-Identifier: Apache-2.0
#pragma once
// What lies on the ways between two ends, as suspects: along forwarding tables, or over equal-cost ways.

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/loss/loss_finder.hpp"

namespace weft::analyzer {

/// Suspects as numbers: cables by their sending port, then devices.
using SuspectId = std::uint32_t;
/// What a way crosses, and with which share of many flows: 1, or less with equal-cost ways.
using Crossing = std::pair<SuspectId, double>;

/// Numbers the suspects of one fabric and follows paths over them.
class LossPaths {
 public:
  /// What `input` refers to outlives it.
  explicit LossPaths(const LossInput& input) : input_(input), ports_(input.topology.ports().size()) {}

  /// The id of the cable at `sender`, in the direction in which that port sends.
  SuspectId cable(PortIndex sender) const { return sender; }
  /// The id of a device.
  SuspectId device(NodeIndex node) const { return static_cast<SuspectId>(ports_ + node); }
  /// True for a cable, false for a device.
  bool is_cable(SuspectId id) const { return id < ports_; }
  /// The suspect with that id.
  LossSuspect suspect(SuspectId id) const {
    if (is_cable(id)) return {.sender = id, .node = kNoIndex};
    return {.sender = kNoIndex, .node = static_cast<NodeIndex>(id - ports_)};
  }

  /// The cables and devices between two ends, by their numbers; false where the way is not known.
  bool walk(PortIndex from, PortIndex to, std::vector<Crossing>& suspects);

 private:
  bool walk_tables(PortIndex from, PortIndex to, std::vector<Crossing>& suspects) const;
  bool walk_equal_costs(PortIndex from, PortIndex to, std::vector<Crossing>& suspects);

  const LossInput& input_;
  std::size_t ports_;
  std::unordered_map<std::uint64_t, std::vector<Crossing>>
      between_;  ///< by both switches: what their hosts' ways cross
};

/// Equal-cost ways look alike to hosts. Where no hypothesis of `found`, likeliest first, is as sure as `certainty`, but
/// all that is likely hangs on one switch, the switch with its cables (LossHypothesis::around) becomes the first.
void gather_around(const Topology& topology, double certainty, std::vector<LossHypothesis>& found);

/// Each of the hypothesis' ends once.
void sort_out(LossHypothesis& hypothesis);

}  // namespace weft::analyzer
