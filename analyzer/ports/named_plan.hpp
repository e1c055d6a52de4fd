// SPDX-License-Identifier: Apache-2.0
#pragma once
// A plan that names its nodes, as the graph that is expected of a subnet.

#include <memory>
#include <span>
#include <vector>

#include "analyzer/ports/link_table.hpp"
#include "fabric/cable_plan.hpp"
#include "fabric/cabling_differences.hpp"
#include "fabric/topology.hpp"

namespace weft::analyzer {

/// A plan by the GUIDs of a subnet.
struct PlanOnSubnet {
  std::shared_ptr<const Topology> topology;
  std::vector<IgnoredCable> ignored;  ///< that are not in it, in the order of the plan
};

/// The nodes and cables of `plan`, whose ports are numbers, with the GUIDs of the nodes that it names; as
/// infiniband::parse_topology_file() would give it. A node of the plan is, in this order:
///  - that of this GUID ("0x2c5eab0300b87b40");
///  - the node of `seen` with this name or description;
///  - a managed switch of `seen` whose description is "MF0;NAME:MODEL/U1": NAME, and of a director's module
///    "MF0;NAME:MODEL/L16/U2": "NAME/L16/U2";
///  - the one adapter in `seen` of a host of this name;
///  - a node of `known`, which was seen before.
/// Of any other node the GUID is guid_of_name(), and it is a switch if it has a cable at a port above 4. Where a name
/// fits more than one node nothing is expected of the cables there; a node of `seen` that is not reachable does not
/// count where a reachable one has its name. Of two cables at one port, whose node has two names, the first one counts.
PlanOnSubnet plan_on_subnet(const CablePlan& plan, const Topology& seen, std::span<const KnownNode> known);

/// The same of an Ethernet fabric that was found, whose ports have names. A node of the plan is the one switch of
/// `seen` with its name, and an interface of a host that with its node's; a port that is not seen there gets a number
/// behind those that are. Where a name is that of two nodes nothing is expected of the cables there.
PlanOnSubnet plan_on_ethernet(const CablePlan& plan, const Topology& seen);

}  // namespace weft::analyzer
