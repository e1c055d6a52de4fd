// SPDX-License-Identifier: Apache-2.0
#pragma once
// The nodes beside a link that a plan takes out: whoever stops answering then has lost a way by it.

#include <string>
#include <vector>

#include "fabric/incident.hpp"
#include "fabric/snapshot.hpp"

namespace weft::analyzer {

/// Which end of a link is nearer to us now, and so the one to set; nullopt for anything else, and where it cannot be
/// told. `fabric`: the target's; may be null.
std::optional<PortKey> end_to_set(const Entity& target, const FabricView* fabric);

/// Whether the sweep read the state of ports at one end of the link at least; what it says of a link that it did not
/// read is of before.
bool is_link_read(const Entity& link, const Sweep& sweep);

/// Whether the sweep read the state of that port itself. Of an Ethernet fabric, where hosts tell it, no sweep does.
bool is_port_read(PortIndex port, const Sweep& sweep);

/// Those at both ends of the link, and those that have a cable to one of them, which are reachable and answered within
/// the last `stale_intervals` sweeps. By GUID, ascending. Empty when the link is not in the fabric as last swept.
std::vector<NodeGuid> answering_neighbours(const Entity& link, const FabricView& fabric, unsigned stale_intervals);

/// Which of `before` answer no more, in words; empty: all do. A neighbour whose own link is down is left out: it was
/// switched off or started anew.
std::string silent_neighbours(const std::vector<NodeGuid>& before, const Entity& link, const FabricView& fabric,
                              unsigned stale_intervals);

}  // namespace weft::analyzer
