// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ways through a subnet by directed route: out of this port, then that one (InfiniBand Architecture Specification,
// vol. 1, 14.2.2). They need no LIDs and no forwarding tables. Which end of a link can be set, and undone later
// without the link itself. Pure functions of the graph.

#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/result.hpp"
#include "fabric/topology.hpp"

namespace weft {

/// Ports to leave by, the first one on our own node. Empty: our own node.
using DirectedPath = std::vector<PortNum>;
/// InitialPath of a datagram holds 63 hops (14.2.1.2); one is kept for a look at the other side of the port at the end.
inline constexpr std::size_t kMostRouteHops = 62;

/// Over which links a way may lead.
enum class RouteOver : std::uint8_t {
  kLinksUp,  ///< those that are up now: a way for a datagram
  kCables,   ///< all whose two ends are known, up or not: what stays so while links come and go
};

/// The shortest way from `from`, the port that we send through, to `to`, but not over the link `avoiding`. Only
/// switches pass datagrams on. nullopt when there is none, when it would be longer than kMostRouteHops, or when either
/// is not in the graph. Of several equal ones the one by the lowest ports. O(ports).
std::optional<DirectedPath> find_directed_path(const Topology& topology, PortKey from, NodeGuid to,
                                               const std::optional<LinkKey>& avoiding,
                                               RouteOver over = RouteOver::kLinksUp);

/// Taken out, it parts its two ends: no other links that are up lead from one to the other; on Ethernet, where not all
/// are read, none that are known to be up. What lies behind either of
/// them is then cut off from what lies behind the other. False where an end is not in the graph.
bool is_bridge(const Topology& topology, LinkKey link);

/// A link between two switches and how each end is reached without it.
struct LinkEnds {
  PortKey ours;   ///< the end to be set: nearer to our own port
  PortKey other;  ///< its other end
  std::optional<DirectedPath> way_to_ours;
  std::optional<DirectedPath> way_to_other;
  /// Both ends are reached without it. Else it is the last way to one of them: taken out, it would cut that off.
  bool has_way_round() const { return way_to_ours.has_value() && way_to_other.has_value(); }
};

/// Which end of `link` is taken out and brought back through `local_port`: `set`, the one that was chosen before,
/// else the nearer one. Nearness is counted over all cables that are
/// known, so that links that come and go do not change the answer; of two equal ends it is the lower one. An end that
/// is not in the graph, cut off by the very link, is never ours unless it was chosen before. A link without a known
/// cable at its ends, as after a discovery that found it down, is taken at its word. kInvalidArgument: neither end is
/// in the graph, we are not, or `set` is no end of the link. kFailedPrecondition: an end is no switch's external port
/// (an access link has no way round), the two are not cabled to each other any more, or it is the link we sit on.
Result<LinkEnds> find_link_ends(const Topology& topology, PortKey local_port, LinkKey link,
                                const std::optional<PortKey>& set = std::nullopt);

}  // namespace weft
