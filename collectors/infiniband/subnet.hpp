// SPDX-License-Identifier: Apache-2.0
#pragma once
// The subnet as the sweeper knows it while it works: the graph plus how to reach each node and what its agents can do.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "collectors/infiniband/mad_codec.hpp"
#include "collectors/infiniband/node_name_map.hpp"
#include "collectors/infiniband/performance_codec.hpp"
#include "fabric/topology.hpp"

namespace weft::infiniband {

/// What is known of a node's performance management agent.
struct PerformanceAgent {
  bool known = false;  ///< ClassPortInfo was read
  PerformanceAgentInfo info;
  std::optional<std::uint8_t> tick;  ///< PortSamplesControl.Tick, where there is one
  bool tick_asked = false;
  std::uint8_t unsupported_details = 0;  ///< bit for each entry of kDetailAttributes the agent does not have
  std::array<std::uint8_t, 8> details_unanswered{};  ///< by bit: sweeps in a row without an answer
  std::uint8_t service_level = 0;
  bool service_level_known = false;
  bool service_level_refused = false;  ///< the subnet administrator has no path record of it
  /// It sits beside the subnet manager: asked for nothing that it may lack. A request that the adapter itself leaves
  /// unanswered goes up to the subnet manager's program, and OpenSM 3.3.23 does not survive it.
  bool spared = false;
  bool beside_subnet_manager = false;  ///< PortInfo.CapabilityMask.IsSM of one of its ports: master or standby
};

/// How the sweeper gets on with a node.
struct Reach {
  bool by_lid = true;               ///< subnet management by LID; else by directed route until `try_lid_at`
  std::uint64_t try_lid_at = 0;     ///< sweep number
  std::uint32_t lid_failures = 0;   ///< in a row: answered by directed route, not by LID
  std::uint32_t silent_sweeps = 0;  ///< sweeps in a row without an answer
  std::uint64_t ask_again_at = 0;   ///< sweep number: back-off grows with silent_sweeps
  NodeIndex parent = kNoIndex;      ///< next hop towards us in the tree of directed routes
  PortNum parent_exit;              ///< the parent's port that leads here
  std::uint8_t hops = 0;
  bool has_other_key = false;       ///< it says that the M_Key of our requests is not its own
  std::uint64_t ask_vendor_at = 0;  ///< sweep number: until then it is not asked for ExtendedPortInfo
};

/// What ExtendedPortInfo said of a port's link.
struct VendorSpeeds {
  VendorPortInfo info;
  std::uint64_t ask_at = 0;  ///< sweep number: when to ask again
};

/// Mutable graph. Nodes are only ever added within one epoch.
class Subnet {
 public:
  explicit Subnet(std::uint64_t epoch) : epoch_(epoch) {}

  std::size_t node_count() const { return nodes_.size(); }
  std::size_t port_count() const { return ports_.size(); }
  Node& node(NodeIndex index) { return nodes_[index]; }
  const Node& node(NodeIndex index) const { return nodes_[index]; }
  Port& port(PortIndex index) { return ports_[index]; }
  const Port& port(PortIndex index) const { return ports_[index]; }
  Reach& reach(NodeIndex index) { return reach_[index]; }
  const Reach& reach(NodeIndex index) const { return reach_[index]; }
  PerformanceAgent& agent(NodeIndex index) { return agents_[index]; }
  /// Capabilities of port 0 of a switch, which stand for all of its ports.
  PortCapabilities& switch_capabilities(NodeIndex index) { return switch_capabilities_[index]; }

  /// Position of the node, or kNoIndex.
  NodeIndex find(NodeGuid guid) const;
  /// Position of a port of `node`, or kNoIndex when it has no such port.
  PortIndex port_of(NodeIndex node, PortNum number) const;
  /// The port's GUID and number.
  PortKey key_of(PortIndex port) const { return {nodes_[ports_[port].node].guid, ports_[port].number}; }

  /// Adds a node and its ports, all of unknown state. The first one added is the one we sit on.
  NodeIndex add(const NodeInfo& info);
  /// Takes over what the PortInfo of our own port says of the subnet manager (the kernel's files may be older).
  void note_subnet_manager(PortIndex port, const PortInfo& info);
  /// LID of the master subnet manager, as our port knows it.
  Lid subnet_manager_lid() const { return subnet_manager_lid_; }
  /// Service level on which the subnet manager is reached.
  std::uint8_t subnet_manager_sl() const { return subnet_manager_sl_; }
  /// The node that we sit on.
  NodeIndex local_node() const { return 0; }
  /// The port of local_node() that we ask through.
  PortNum local_port() const { return local_port_; }
  void set_local_port(PortNum port) { local_port_ = port; }

  /// Makes `a` and `b` the two ends of one cable, and of no other. True when that is news.
  bool connect(PortIndex a, PortIndex b);
  /// Takes over a PortInfo, and what ExtendedPortInfo said of that link before; true when anything a person or a rule
  /// would see has changed.
  bool update(PortIndex port, const PortInfo& info);
  /// What ExtendedPortInfo said of the port's link; forgotten when the link goes down.
  VendorSpeeds& vendor_speeds(PortIndex port) { return vendor_speeds_[port]; }
  /// Takes over an ExtendedPortInfo; true as of update().
  bool update_vendor_speeds(PortIndex port, const VendorPortInfo& info);
  /// Sets the node's description and the name for people, which is from `names` where that has one.
  void describe(NodeIndex node, std::span<const std::uint8_t> description, const NodeNameMap& names);

  /// Finds the shortest directed route to every node over links that no end known to be fresh calls down, and
  /// marks all others unreachable. Returns whether any node's reachability changed. O(ports).
  bool recompute_routes();
  /// The route to `node`; nullopt when it is unreachable or too far.
  std::optional<DirectedRoute> route_to(NodeIndex node) const;

  /// Is the port, which says it is up, up in this subnet? The other port of an adapter may be in another one, whose
  /// LIDs are not ours: it is here only when we sit on it or know its cable's other end.
  bool is_here(PortIndex port) const;

  /// GUIDs that answered at two places.
  std::vector<DuplicateGuid>& duplicates() { return duplicates_; }

  /// Something a Topology shows has changed since the last publish().
  void mark_changed() { changed_ = true; }
  /// True when anything has changed since the last publish().
  bool changed() const { return changed_; }
  /// External ports whose link is up, of nodes that answer, behind which nobody ever did. O(ports).
  std::uint32_t silent_neighbors() const;
  /// The graph as an immutable value.
  std::shared_ptr<const Topology> publish();

 private:
  bool link_usable(const Port& port) const;

  std::uint64_t epoch_;
  PortNum local_port_{1};
  Lid subnet_manager_lid_;
  std::uint8_t subnet_manager_sl_ = 0;
  bool changed_ = true;
  std::vector<Node> nodes_;
  std::vector<Port> ports_;
  std::vector<Reach> reach_;
  std::vector<PerformanceAgent> agents_;
  std::vector<VendorSpeeds> vendor_speeds_;  // by port
  std::vector<PortCapabilities> switch_capabilities_;
  std::vector<DuplicateGuid> duplicates_;
  std::unordered_map<NodeGuid, NodeIndex> by_guid_;
  std::vector<NodeIndex> queue_;  // of recompute_routes, kept for its memory
};

}  // namespace weft::infiniband
