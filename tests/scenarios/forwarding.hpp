// SPDX-License-Identifier: Apache-2.0
#pragma once
// Linear forwarding tables by destination, as OpenSM's engine updn computes them: with them, which flows meet on a link
// is a fact and no chance. On Ethernet the hash of a flow's ends picks one of the equal-cost ways, and it stays there.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fabric/graph/multipath.hpp"
#include "tests/scenarios/fat_tree.hpp"

namespace weft::scenarios {

/// The cables of a fabric at some time.
struct Cabling {
  std::vector<PortIndex> peers;      ///< by port; kNoIndex: none
  std::vector<std::uint8_t> usable;  ///< by port: it is Active
};
/// As the fabric was built, every cable Active.
Cabling cabling_of(const Plan& plan);

/// For each destination every switch sends through one of the ports that lead there on a shortest way that never turns
/// up again once it went down: the one that the fewest destinations were given so far, the lowest number among equals
/// (OpenSM, osm_ucast_updn.c and osm_ucast_mgr.c: destinations in the order of their LIDs).
class ForwardingTables {
 public:
  /// `peers` is the cable at each port (kNoIndex: none), `usable` whether the port is Active.
  ForwardingTables(const Plan& plan, std::span<const PortIndex> peers, std::span<const std::uint8_t> usable);

  /// Of InfiniBand: number of the port through which the switch sends what is meant for the endpoint; 0 when there is
  /// no way.
  std::uint8_t port(NodeIndex node, std::uint32_t endpoint) const { return table_[row_[node] * endpoints_ + endpoint]; }
  /// Somebody sets it otherwise, as a routing engine without deadlock avoidance might.
  void send(NodeIndex node, std::uint32_t endpoint, PortNum port) {
    table_[row_[node] * endpoints_ + endpoint] = static_cast<std::uint8_t>(port.value);
  }
  /// The sending ports on the way, the adapter's own first. False, and an unfinished path, when there is no way.
  bool path(const Plan& plan, std::span<const PortIndex> peers, std::uint32_t from, std::uint32_t to,
            std::vector<PortIndex>& ports) const;
  /// Of InfiniBand with adaptive routing: one of the ways that are as long as the table's, by their number `way`;
  /// wherever the table sends up, another port that leads up is taken. False where that is none.
  bool spread_path(const Plan& plan, std::span<const PortIndex> peers, std::uint32_t from, std::uint32_t to,
                   unsigned way, std::vector<PortIndex>& ports) const;

 private:
  /// Of Ethernet: the port by which the switch sends the flow; kNoIndex when there is no way.
  PortIndex hashed(const Plan& plan, NodeIndex node, std::uint32_t from, std::uint32_t to) const;

  std::shared_ptr<const Multipath> multipath_;  ///< of Ethernet
  std::size_t endpoints_ = 0;
  std::vector<std::size_t> row_;  ///< by node; switches only
  std::vector<std::uint8_t> table_;
};

}  // namespace weft::scenarios
