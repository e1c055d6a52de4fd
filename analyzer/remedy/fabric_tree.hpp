// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tiers of a fat tree: which links lead up from which switch, and whose hosts depend on them.

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fabric/places.hpp"
#include "fabric/topology.hpp"

namespace weft::analyzer {

/// Position in FabricTree::uplinks().
using UplinkIndex = std::uint32_t;

/// A cable between two tiers of switches.
struct Uplink {
  NodeIndex child = kNoIndex;  ///< nearer to the adapters
  NodeIndex parent = kNoIndex;
  PortIndex port = kNoIndex;  ///< the child's
};

/// The tiers as they are cabled, whether their links are up or not. Cables between switches of one tier lead nowhere
/// up and do not count. Immutable; O(ports) to make.
class FabricTree {
 public:
  /// `missing`: cables that are known of, though the topology does not have them: both ends were down when it was
  /// discovered. Without them what is out already would be forgotten as soon as weftd is started anew.
  FabricTree(const Topology& topology, const Places& places,
             std::span<const std::pair<PortIndex, PortIndex>> missing = {});

  /// All uplinks of the tree.
  std::span<const Uplink> uplinks() const { return uplinks_; }
  /// The uplink that the port is an end of; kNoIndex for any other port.
  UplinkIndex uplink_of(PortIndex port) const { return port < by_port_.size() ? by_port_[port] : kNoIndex; }
  /// Uplinks of a switch, those whose child it is.
  std::span<const UplinkIndex> up(NodeIndex node) const { return list(up_, up_first_, node); }
  /// Uplinks whose parent it is.
  std::span<const UplinkIndex> down(NodeIndex node) const { return list(down_, down_first_, node); }
  /// Switches with adapters or routers, of whatever tier, ascending.
  std::span<const NodeIndex> leaves() const { return leaves_; }
  /// Position in leaves(), or kNoIndex.
  std::uint32_t leaf_of(NodeIndex node) const { return leaf_of_[node]; }
  /// Rail of a leaf, a position in Places::rail_names; kNoIndex where its adapters are not all of one.
  std::uint32_t rail_of(std::uint32_t leaf) const { return rails_[leaf]; }
  /// How many rails there are, 0 where adapters have none.
  std::uint32_t rail_count() const { return static_cast<std::uint32_t>(rail_names_.size()); }
  /// Name of a rail, as in Places::rail_names.
  const std::string& rail_name(std::uint32_t rail) const { return rail_names_[rail]; }
  /// Switches in the order of their tiers, the lowest first; kNoIndex for what is no switch of the tree.
  std::uint32_t order_of(NodeIndex node) const { return order_of_[node]; }
  /// The nodes in the order of order_of().
  std::span<const NodeIndex> in_order() const { return in_order_; }
  std::uint8_t tier(NodeIndex node) const { return tiers_[node]; }    ///< as Places::tiers
  std::span<const std::uint8_t> all_tiers() const { return tiers_; }  ///< by node
  /// It is of the highest tier among the switches that uplinks join it with.
  bool is_top(NodeIndex node) const { return is_top_[node] != 0; }
  /// The highest tier.
  std::uint8_t tiers() const { return top_; }
  /// How many nodes the topology has.
  std::size_t nodes() const { return tiers_.size(); }

 private:
  static std::span<const UplinkIndex> list(const std::vector<UplinkIndex>& all, const std::vector<std::uint32_t>& first,
                                           NodeIndex node) {
    return std::span<const UplinkIndex>(all).subspan(first[node], first[node + 1] - first[node]);
  }
  void find_tops();
  void find_rails(const Topology& topology, const Places& places);

  std::vector<Uplink> uplinks_;
  std::vector<UplinkIndex> by_port_;
  std::vector<UplinkIndex> up_, down_;
  std::vector<std::uint32_t> up_first_, down_first_;
  std::vector<NodeIndex> leaves_;
  std::vector<std::uint32_t> leaf_of_, rails_;
  std::vector<std::string> rail_names_;
  std::vector<NodeIndex> in_order_;
  std::vector<std::uint32_t> order_of_;
  std::vector<std::uint8_t> tiers_, is_top_;
  std::uint8_t top_ = 0;
};

}  // namespace weft::analyzer
