// SPDX-License-Identifier: Apache-2.0
#pragma once
// Nodes that incidents of before a restart name, and that no sweep has found since.

#include <string>
#include <string_view>

#include "fabric/incident.hpp"
#include "fabric/topology.hpp"

namespace weft::analyzer {

/// The name of the node at one end of a link, by its label: "leaf-1 port 12 - dgx-04 mlx5_0 port 1". Where the graph
/// has the other end its name is taken off; names may have such words in them. Empty where the label does not fit.
std::string name_in(const Entity& link, PortKey end, const Topology& topology);
/// The finding's cause is a link that the node is an end of, and others are out of reach behind it.
bool is_switch_gone(const Finding& finding, NodeGuid node);
/// The name has a numbered device behind the host's: "dgx-04 mlx5_0". Switches, and the vendors' own descriptions, have
/// none.
bool is_adapter_name(const std::string& name);

}  // namespace weft::analyzer
