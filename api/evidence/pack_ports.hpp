// SPDX-License-Identifier: Apache-2.0
#pragma once
// The ports of an evidence pack: what identifies each, how it is, and what could not be told of it.

#include <memory>
#include <string>
#include <vector>

#include "api/evidence/pack.hpp"
#include "fabric/incident.hpp"
#include "fabric/snapshot.hpp"

namespace weft::api {

/// Adds ports of one fabric, in this order, with their nodes, as long as the pack has room. Sets the ports that the
/// history is asked for.
void add_ports(const std::shared_ptr<const Snapshot>& snapshot, const FabricView& fabric,
               const std::vector<PortIndex>& ports, TimePoint now, BegunEvidence& begun);
/// A port that no fabric has now: its history may be there.
void add_gone(const std::shared_ptr<const Snapshot>& snapshot, const std::string& fabric, PortKey port,
              const std::string& label, BegunEvidence& begun);
/// The ports that an incident is about: those of its cause; of a fabric or of settings those that are affected.
void add_ports_of(const std::shared_ptr<const Snapshot>& snapshot, const Finding& finding, TimePoint now,
                  BegunEvidence& begun);
/// A port and the other end of its cable.
std::vector<PortIndex> with_peer(const Topology& topology, PortIndex index);

}  // namespace weft::api
