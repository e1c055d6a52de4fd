// SPDX-License-Identifier: Apache-2.0
#pragma once
// The graph of one subnet, or of one Ethernet fabric, as last seen: nodes, ports and cables. A value: built by
// discovery or from a plan of the cables, then never changed.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fabric/ids.hpp"
#include "fabric/link_rate.hpp"

namespace weft {

/// NodeInfo.NodeType (vol. 1, 14.2.5.3).
enum class NodeType : std::uint8_t { kUnknown = 0, kChannelAdapter = 1, kSwitch = 2, kRouter = 3 };
/// "ca", "switch", "router", "unknown": the value of the metric label node_type.
const char* to_string(NodeType type);

/// PortInfo.PortState (vol. 1, 14.2.5.6).
enum class PortState : std::uint8_t { kUnknown = 0, kDown = 1, kInitialize = 2, kArmed = 3, kActive = 4 };
/// "Down", "Initialize", "Armed", "Active", "Unknown".
const char* to_string(PortState state);

/// PortInfo.PortPhysicalState (vol. 1, 14.2.5.6).
enum class PortPhysicalState : std::uint8_t {
  kUnknown = 0,
  kSleep = 1,
  kPolling = 2,
  kDisabled = 3,
  kTraining = 4,
  kLinkUp = 5,
  kLinkErrorRecovery = 6,
  kPhyTest = 7,
};
/// The standard's name: "Polling", "PortConfigurationTraining", "LinkUp", …
const char* to_string(PortPhysicalState state);

/// A switch, adapter or router: what NodeInfo and NodeDescription say of it.
struct Node {
  NodeGuid guid;
  std::uint64_t system_image_guid = 0;
  NodeType type = NodeType::kUnknown;
  std::uint16_t port_count = 0;  ///< external ports only; NodeInfo.NumPorts
  std::uint32_t vendor_id = 0;   ///< IEEE OUI
  std::uint16_t device_id = 0;
  bool enhanced_port0 = false;    ///< SwitchInfo: port 0 has counters of its own
  bool aggregation_node = false;  ///< a switch's SHARP engine, seen as a channel adapter
  bool name_is_given = false;     ///< an operator wrote it down, in the node name map; the node did not say it itself
  bool reachable = true;     ///< a way over links that are up leads to it; whether it answers is state_read_at's matter
  PortIndex first_port = 0;  ///< its ports stand together in Topology::ports(), lowest number first
  /// For people: from the node name map, else the description; never a key. Its GUID, of an adapter that nobody named.
  std::string name;
  std::string description;  ///< NodeDescription as valid UTF-8 (bad bytes replaced)

  /// 0 for a switch, 1 otherwise.
  std::uint8_t lowest_port() const { return type == NodeType::kSwitch ? 0 : 1; }
  /// How many entries it has in Topology::ports().
  std::uint32_t port_entries() const { return port_count + (type == NodeType::kSwitch ? 1U : 0U); }
};

/// A port and the cable at it, as last read.
struct Port {
  NodeIndex node = kNoIndex;
  PortIndex peer = kNoIndex;        ///< other end of the cable; kept as last seen while the link is down
  PortGuid guid;                    ///< of a channel adapter's port, or of the switch for each of its ports
  std::uint64_t ethernet_rate = 0;  ///< bits per second of an Ethernet link; 0 while down, unknown, or InfiniBand
  float wait_tick_seconds = 0;      ///< length of one transmit_wait tick at the present rate; 0 when unknown
  Lid lid;                          ///< of the port, or of the switch's port 0
  PortNum number;
  PortState state = PortState::kUnknown;
  PortPhysicalState physical_state = PortPhysicalState::kUnknown;
  WidthMask width_active = 0;  ///< meaningless, and 0 here, while the port is down
  WidthMask width_enabled = 0;
  WidthMask width_supported = 0;
  SpeedMask speed_active = 0;  ///< meaningless, and 0 here, while the port is down
  SpeedMask speed_enabled = 0;
  SpeedMask speed_supported = 0;
  std::uint8_t lid_mask_control = 0;  ///< LMC

  /// The port is Active: it carries data.
  bool is_up() const { return state == PortState::kActive; }
  /// The present data rate after line coding; 0 while it is down or not known.
  double bits_per_second() const {
    return ethernet_rate != 0 ? static_cast<double>(ethernet_rate) : link_bits_per_second(width_active, speed_active);
  }
};

/// The same GUID answered at two places. The second node is shown here, never merged into the first.
struct DuplicateGuid {
  NodeGuid guid;
  PortKey first_seen_behind;   ///< the neighbour's port through which the node of the graph is reached
  PortKey second_seen_behind;  ///< the neighbour's port behind which the other one answers
  std::string second_description;
  bool operator==(const DuplicateGuid&) const = default;
};

/// Immutable graph. Indices are stable within one epoch: nodes that vanish stay, marked unreachable.
class Topology {
 public:
  Topology() = default;
  /// `nodes` and `ports` must agree: each node's ports stand at first_port … first_port + port_entries() - 1 and name
  /// the node; every peer is in range and mutual. Use validate() on data that came from outside.
  /// Of an Ethernet fabric GUIDs are made from names, a host's interface is a channel adapter with one port, and
  /// `port_names` has an interface's name for each port; it is empty on InfiniBand, where numbers are the names.
  Topology(std::uint64_t epoch, std::vector<Node> nodes, std::vector<Port> ports, std::vector<DuplicateGuid> duplicates,
           LinkLayer layer = LinkLayer::kInfiniBand, std::vector<std::string> port_names = {});

  /// Changes when indices may mean something else: a new discovery from nothing.
  std::uint64_t epoch() const { return epoch_; }
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const Port> ports() const { return ports_; }
  std::span<const DuplicateGuid> duplicates() const { return duplicates_; }
  LinkLayer layer() const { return layer_; }
  bool is_ethernet() const { return layer_ == LinkLayer::kEthernet; }
  /// "swp3"; empty where ports have numbers only.
  std::string_view port_name(PortIndex index) const {
    return index < port_names_.size() ? std::string_view(port_names_[index]) : std::string_view();
  }

  const Node& node(NodeIndex index) const { return nodes_[index]; }
  const Port& port(PortIndex index) const { return ports_[index]; }
  const Node& node_of(const Port& port) const { return nodes_[port.node]; }
  std::span<const Port> ports_of(const Node& node) const {
    return std::span<const Port>(ports_).subspan(node.first_port, node.port_entries());
  }

  /// Position of the node, or kNoIndex.
  NodeIndex find_node(NodeGuid guid) const;
  /// Position of the port, or kNoIndex when the node or the number does not exist.
  PortIndex find_port(PortKey key) const;
  /// The port's identity that survives a new discovery.
  PortKey key_of(PortIndex index) const { return {nodes_[ports_[index].node].guid, ports_[index].number}; }
  /// The cable at `index`, or nullopt when no peer was ever seen.
  std::optional<LinkKey> link_of(PortIndex index) const;

  /// What the constructor demands, checked; the first contradiction in words, or empty.
  static std::string validate(std::span<const Node> nodes, std::span<const Port> ports);

 private:
  std::uint64_t epoch_ = 0;
  LinkLayer layer_ = LinkLayer::kInfiniBand;
  std::vector<std::string> port_names_;
  std::vector<Node> nodes_;
  std::vector<Port> ports_;
  std::vector<DuplicateGuid> duplicates_;
  std::unordered_map<NodeGuid, NodeIndex> by_guid_;
};

/// The host that an adapter sits in, from its name: "dgx-04 mlx5_5", "dgx-04 HCA-1" → "dgx-04"; a switch, a router or a
/// name of one word gives the whole name. Health is asked and given for hosts. Unless the name is given, this is what
/// the node claims: analyzer/remedy/host_identity.hpp says whether anybody confirms it.
std::string_view host_name(const Node& node);

/// Of an Ethernet fabric: nobody reads either end of the cable at the port. Up or down, what passes it, or that
/// anything is wrong, is not known.
bool is_unread(const Topology& topology, PortIndex index);

/// "leaf-1 port 12" for people; on Ethernet "leaf01 swp12", and a host's interface by its node's name, "gpu-01 eth2".
std::string port_label(const Topology& topology, PortIndex index);

}  // namespace weft
