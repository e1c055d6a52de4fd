// SPDX-License-Identifier: Apache-2.0
#pragma once
// The ways that packets may take through a routed Ethernet fabric, worked out from its cables alone.

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "fabric/topology.hpp"

namespace weft {

/// Equal-cost multipath: each switch spreads the flows to a destination evenly over all cables that lead to a neighbour
/// as near to it as any (RFC 2992; what BGP with AS paths of equal length gives in a fat tree, RFC 7938, 6.1). The cost
/// is the number of cables. Which of its ways one flow takes is a hash of its addresses that nobody knows: what is said
/// of flows here is what to expect of many. A cable is left out when an end is known to be down, not when nobody tells.
/// Immutable.
class Multipath {
 public:
  static constexpr std::uint8_t kUnreachable = std::numeric_limits<std::uint8_t>::max();

  /// Memory: an byte for each pair of a switch with hosts and a switch. Ways of more than 254 cables are none.
  explicit Multipath(std::shared_ptr<const Topology> topology);

  /// The topology that the paths were computed from.
  const std::shared_ptr<const Topology>& topology() const { return topology_; }

  /// May `cable`, seen from the port that sends into it, be used at all?
  bool is_usable(PortIndex sender) const;

  /// The ports by which `node` may send what is addressed to the host's port `to`, ascending; nothing where there is no
  /// way, or where `node` is the destination.
  std::vector<PortIndex> next_hops(NodeIndex node, PortIndex to) const;

  /// One direction of a cable, and how much of a great many flows passes it.
  struct Share {
    PortIndex sender = kNoIndex;
    double share = 0;  ///< 0 < share ≤ 1
    bool operator==(const Share&) const = default;
  };
  /// Every cable that a flow from the host's port `from` to the host's port `to` may take, in the order of travel:
  /// those nearer to `from` first, then by port. The first and the last have a share of 1. Empty where there is no way,
  /// or where both are one node's.
  std::vector<Share> shares(PortIndex from, PortIndex to) const;

  /// Is there any way from the host's port `from` to the host's port `to`? False where both are one node's.
  bool connects(PortIndex from, PortIndex to) const;

  /// May what comes over the cable from port `egress` leave the switch behind it by the port `next`?
  bool carries(PortIndex egress, PortIndex next) const;

  /// May a flow from the host's port `from` pass the cable that the switch's port `egress` sends into?
  bool may_pass(PortIndex from, PortIndex egress) const;

  /// Switches with hosts, ascending, to whose hosts the port may send; empty for a host's port, which sends everywhere.
  std::vector<NodeIndex> destinations_over(PortIndex egress) const;

 private:
  /// Cables from the switch `node` to an edge.
  std::uint8_t distance(std::uint32_t edge, NodeIndex node) const {
    return distances_[static_cast<std::size_t>(edge) * switches_ + switch_of_[node]];
  }
  /// Position of the switch that the host's port hangs on among edges_, or kNoIndex.
  std::uint32_t edge_of(PortIndex host_port) const;
  bool leads_to(PortIndex egress, std::uint32_t edge) const;

  std::shared_ptr<const Topology> topology_;
  std::size_t switches_ = 0;
  std::vector<std::uint32_t> switch_of_;  ///< by node: counts switches only; kNoIndex for hosts
  std::vector<NodeIndex> edges_;          ///< switches with hosts, ascending
  std::vector<std::uint32_t> position_;   ///< by node: in edges_, or kNoIndex
  std::vector<std::uint8_t> distances_;   ///< from each switch to an edge, edge after edge
};

}  // namespace weft
