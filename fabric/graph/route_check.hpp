// SPDX-License-Identifier: Apache-2.0
#pragma once
// Do forwarding tables bring everything where it belongs, without a circle of waiting? Pure functions, complete: every
// pair of adapters is followed. InfiniBand Architecture Specification, vol. 1, 14.2.5.10 (tables).

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fabric/graph/path.hpp"
#include "fabric/places.hpp"

namespace weft {

/// What following the tables from every adapter's port that is up to every other's LID gave.
struct Reachability {
  std::uint64_t pairs = 0;    ///< of a sending port and a LID of another port
  std::uint64_t lost = 0;     ///< of these: do not arrive
  std::uint64_t unknown = 0;  ///< of these: lead to a part of a table that was not read
  PortIndex from = kNoIndex;  ///< one pair that does not arrive, or is not known; find_path() tells why
  Lid to;
  /// Every pair was followed to its end, and arrived. False where there is no pair at all: no data is not healthy.
  bool all_arrive() const { return pairs > 0 && lost == 0 && unknown == 0; }
};

/// O(LIDs × switches): each table entry is looked at once.
Reachability check_reachability(const Topology& topology, const Routes& routes);

/// Does any table send anything that somebody has over the link, in either direction? Entries of a switch that nothing
/// leads to count as well. O(LIDs).
bool is_routed_over(const Topology& topology, const Routes& routes, const LidOwners& owners, LinkKey link);

/// Which way tables lead through the tiers of a tree.
struct RouteReview {
  std::uint64_t destinations = 0;  ///< LIDs that were followed from every switch with senders
  std::uint64_t known = 0;         ///< … and how many there are
  std::uint64_t lost = 0;          ///< pairs of a sending port and such a LID that do not arrive
  NodeIndex turn = kNoIndex;       ///< a switch that is entered from above and left upwards; kNoIndex: none was met
  Lid turn_to;                     ///< for which LID
};

/// Follows the tables to at most `most` LIDs, evenly spread. Ways that lead up and then down alone have no credit loop
/// in a tree, whichever links are missing; one that turns from down to up may close one. Nodes out of reach neither
/// send nor are sent to. O(most × switches).
RouteReview review_routes(const Topology& topology, const Routes& routes, std::span<const std::uint8_t> tiers,
                          std::size_t most);

/// Pairs of a sending port and a LID of another port, both of them there before and now, that arrived and are lost now:
/// what came or left meanwhile does not count, nor an adapter whose own cable is down, that was out of reach before, or
/// that its own switch leads nobody to: the subnet manager took it out because it does not answer.
/// Follows at most `most` LIDs, evenly spread; nodes out of reach neither send nor are sent to. O(most × switches).
/// `towards`: the nodes that are not reached any more are added to it.
std::uint64_t count_newly_lost(const Topology& topology_before, const Routes& before, const Topology& topology,
                               const Routes& routes, std::size_t most, std::vector<NodeIndex>* towards = nullptr);

/// A circle of ports that each wait for the next one to take what they send: the one thing that the channel dependency
/// graph of routes without deadlock does not have (Dally and Seitz, Deadlock-Free Message Routing, IEEE Transactions on
/// Computers C-36, 1987). Only what adapters send to adapters counts, along the entries that it does follow. All of it
/// is taken to be in one virtual lane: engines that spread it over several (LASH, DFSSSP) may have circles here that
/// are none. Empty: there is none. Otherwise the sending ports, each cabled to the switch of the next, the last to that
/// of the first. O(LIDs × switches).
std::vector<PortIndex> find_credit_loop(const Topology& topology, const Routes& routes);

}  // namespace weft
