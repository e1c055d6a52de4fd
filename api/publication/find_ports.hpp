// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ports by the names that people call them by. Pure: no I/O.

#include <string>
#include <string_view>
#include <vector>

#include "fabric/snapshot.hpp"

namespace weft::api {

/// How often the name of a link is parted at a dash into two ends, one of which may be there: names of nodes may have
/// such a dash in them as well.
inline constexpr std::size_t kMostPartings = 16;

/// A port of one of the fabrics.
struct FoundPort {
  const FabricView* fabric;
  PortIndex port;
};

/// The ports that are called so: "leaf-1 port 12" or "leaf-1:12" on InfiniBand; on Ethernet, where numbers are nobody's
/// names, "leaf01 swp3", "gpu-01 eth2", or the same with a colon. The node goes by name, host name or GUID.
std::vector<FoundPort> find_ports(const Snapshot& snapshot, std::string_view name);

/// What may be the name of a node in a text that people write for a node, a port or a link: the text itself, and what
/// stands before a port's name in it and in the first end of a link. At most 64.
std::vector<std::string> node_names_in(std::string_view text);

/// NODE:PORT of the first end in the label of a link or port: of "leaf-1 port 7 - spine-0 port 3", "leaf01 swp7". Other
/// texts as they are.
std::string first_end(const std::string& label);
/// NODE:PORT of the label of one port: of "leaf-1 port 7", "leaf01 swp7". Other texts as they are.
std::string end_of(std::string label);

}  // namespace weft::api
