// SPDX-License-Identifier: Apache-2.0
#pragma once
// Nodes that are lost in one subnet and answer in another one: they were moved there.

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "fabric/incident.hpp"
#include "fabric/snapshot.hpp"
#include "fabric/sweep.hpp"

namespace weft::analyzer {

/// The link at that port is up, as one of its ends has said after `since`.
bool is_link_up(const Sweep& sweep, PortIndex port, TimePoint since);
/// Some port of that node was read after `since`.
bool has_answered(const Sweep& sweep, NodeIndex node, TimePoint since);

/// What the last sweeps of other subnets say.
class OtherSubnets {
 public:
  /// There are none.
  OtherSubnets() = default;
  /// InfiniBand subnets that are read, none of them the one that asks, seen through another port. Each has a topology.
  explicit OtherSubnets(std::vector<std::shared_ptr<const Sweep>> sweeps) : sweeps_(std::move(sweeps)) {}

  /// The subnet in which the link at that port of an adapter or router is up, as a reading after `since` says; null:
  /// none. The ports of one adapter may be in several subnets.
  const Sweep* find_port(PortKey port, TimePoint since = kNever) const;
  /// The subnet in which that switch has answered after `since`; null: none.
  const Sweep* find_switch(NodeGuid guid, TimePoint since = kNever) const;
  /// That of find_switch() for a port of a switch, else that of find_port().
  const Sweep* find_end(PortKey end, bool is_switch, TimePoint since) const {
    return is_switch ? find_switch(end.node, since) : find_port(end, since);
  }
  /// The subnet in which that node answers, with whichever port; null: none.
  const Sweep* find_node(NodeGuid guid) const;
  /// The subnet of that name is among them.
  bool has(std::string_view fabric) const;
  /// Their graphs, in order.
  std::vector<std::shared_ptr<const Topology>> graphs() const;

 private:
  std::vector<std::shared_ptr<const Sweep>> sweeps_;
};

/// Adapters that have a place in two subnets that are shown, and answer in the other one.
class MovedAdapters {
 public:
  /// `views` must outlive it. Of GUIDs that are double (DUPLICATE_GUID is open) nobody knows where they are.
  MovedAdapters(std::span<const FabricView> views, std::span<const std::shared_ptr<const Incident>> incidents);
  /// The adapter, which does not answer in `here`, is up in another subnet that is read.
  bool has_left(const FabricView& here, NodeIndex adapter) const;

 private:
  struct Subnet {
    std::string_view name;
    OtherSubnets alone;
  };
  std::vector<Subnet> subnets_;   ///< that are read
  std::vector<NodeGuid> double_;  ///< sorted
};

}  // namespace weft::analyzer
