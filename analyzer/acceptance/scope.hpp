// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which ports of a fabric an acceptance is about.

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fabric/acceptance.hpp"
#include "fabric/snapshot.hpp"

namespace weft::analyzer {

/// Of one topology, by its indices.
struct AcceptanceScope {
  std::vector<PortIndex> ports;         ///< ascending, each once, external ports only; of each cable both ends
  std::vector<NodeIndex> switches;      ///< that were selected, ascending
  std::vector<std::string> hosts;       ///< that were selected, or are at the ports; sorted, each once
  std::vector<AcceptanceTarget> found;  ///< targets of the run that are there
};

/// What of the run is in that topology. Everything where it has no targets.
AcceptanceScope select_ports(const AcceptanceRun& run, const Topology& topology);

/// The host at one of the two ends of the cable at `port`, in the spelling of the adapter's name; empty: at none.
std::string_view host_at(const Topology& topology, PortIndex port);

}  // namespace weft::analyzer
