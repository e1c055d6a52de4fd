// SPDX-License-Identifier: Apache-2.0
#pragma once
// The cabling of a cluster: fat trees of two and three levels, one adapter a host or rail-optimised; a subnet of
// InfiniBand, or an Ethernet fabric with equal-cost ways.

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/cable_plan.hpp"
#include "fabric/result.hpp"
#include "fabric/topology.hpp"

namespace weft::scenarios {

/// Adapter (host h, rail r) stands at leaf (h / hosts_per_leaf) · rails + r: with one rail an ordinary fat tree, with
/// more a rail-optimised one, where a leaf has the same rail of each of its hosts.
struct FatTreeSpec {
  unsigned levels = 2;          ///< of switches: 2 or 3
  unsigned hosts = 64;          ///< servers
  unsigned rails = 1;           ///< adapters in each
  unsigned hosts_per_leaf = 8;  ///< downlinks of a leaf
  unsigned uplinks = 8;         ///< of a leaf, one to each spine (of its pod)
  unsigned leaves_per_pod = 8;  ///< with three levels
  unsigned core_uplinks = 8;    ///< of a spine, with three levels
  SpeedMask speed = kSpeedNdr;  ///< of all links, four lanes each
  LinkLayer layer = LinkLayer::kInfiniBand;
  std::uint64_t hash = 0;  ///< of an Ethernet fabric: what its switches spread flows by
};

/// Where a node stands in the tree; greater is higher.
enum class Tier : std::uint8_t { kAdapter, kLeaf, kSpine, kCore };

/// Nodes and ports as on the day of the installation: every link Active at full width and speed. Names are
/// "node-0007 mlx5_2", "leaf-003", "spine-01", "core-00". On Ethernet a host's interface is "node-0007 eth2", a
/// switch's port 3 "swp3", and GUIDs follow from names; width and speed are those that make its rate, for the simulator
/// alone.
struct Plan {
  FatTreeSpec spec;
  std::vector<Node> nodes;
  std::vector<Port> ports;
  std::vector<Tier> tiers;                 ///< by node
  std::vector<NodeIndex> adapters;         ///< by endpoint: host · rails + rail
  std::vector<std::uint32_t> endpoint_of;  ///< by node; kNoIndex for a switch
  std::vector<NodeIndex> leaves;
  std::vector<NodeIndex> spines;
  std::vector<NodeIndex> cores;

  bool is_ethernet() const { return spec.layer == LinkLayer::kEthernet; }
  /// What the port is called on its host or switch, where it is an Ethernet fabric's.
  std::string interface_of(PortIndex port) const;
  PortIndex port(NodeIndex node, unsigned number) const {
    return nodes[node].first_port + number - nodes[node].lowest_port();
  }
  /// The only port of an endpoint's adapter.
  PortIndex endpoint_port(std::uint32_t endpoint) const { return nodes[adapters[endpoint]].first_port; }
  /// The leaf's port towards an endpoint.
  PortIndex access_port(std::uint32_t endpoint) const { return ports[endpoint_port(endpoint)].peer; }
  /// The endpoint at either end of the cable at `port`, kNoIndex between switches.
  std::uint32_t endpoint_at(PortIndex port) const {
    const std::uint32_t here = endpoint_of[ports[port].node];
    return here != kNoIndex || ports[port].peer == kNoIndex ? here : endpoint_of[ports[ports[port].peer].node];
  }
  Tier tier_of(PortIndex port) const { return tiers[ports[port].node]; }
  PortKey key_of(PortIndex port) const { return {nodes[ports[port].node].guid, ports[port].number}; }
  LinkKey link_of(PortIndex port) const { return make_link_key(key_of(port), key_of(ports[port].peer)); }
  /// One end of every cable, in the order of the ports.
  std::vector<PortIndex> cables() const;
};

/// kInvalidArgument when a switch would need more than 254 ports or a number makes no tree. On Ethernet also when some
/// of a switch's ports would have no cable: there a switch has the ports that are planned.
Result<Plan> lay_out(const FatTreeSpec& spec);
/// The cables of an Ethernet fabric, as people would write them down.
CablePlan cables_of(const Plan& plan);

}  // namespace weft::scenarios
