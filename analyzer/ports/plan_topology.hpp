// SPDX-License-Identifier: Apache-2.0
#pragma once
// From the plan of its cables to the graph of an Ethernet fabric.

#include <memory>
#include <string_view>

#include "fabric/cable_plan.hpp"
#include "fabric/result.hpp"
#include "fabric/topology.hpp"

namespace weft::analyzer {

/// In the order in which people count: "swp2" comes before "swp10".
bool comes_before(std::string_view a, std::string_view b);

/// The GUID of a node that has a name and no GUID: an EUI-64 with the bit of locally administered ones (IEEE 802,
/// 8.2.2), the same for the same name for ever, which incidents and history rely on.
NodeGuid guid_of_name(std::string_view name);

/// Every switch of the plan as a switch whose ports 1, 2, … are those named, in the order of comes_before(), behind a
/// port 0 that nothing is known of; every interface of a host as a channel adapter "HOST INTERFACE" with one port. All
/// states are unknown. The same plan, in whatever order, gives the same topology with the same epoch.
/// Fails with kInvalidArgument for a switch with more than kMostPorts ports, and for two names with one GUID.
Result<std::shared_ptr<const Topology>> make_topology(const CablePlan& plan);

}  // namespace weft::analyzer
