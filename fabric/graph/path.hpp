// SPDX-License-Identifier: Apache-2.0
#pragma once
// The way of packets through a subnet, worked out from its graph and its forwarding tables. Pure functions.

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/routes.hpp"
#include "fabric/topology.hpp"

namespace weft {

/// One cable of a path, in the direction of travel.
struct PathHop {
  PortIndex from = kNoIndex;  ///< sends
  PortIndex to = kNoIndex;    ///< receives
  bool operator==(const PathHop&) const = default;
};

/// How a walk along the tables ended.
enum class PathEnd : std::uint8_t {
  kArrived,
  kNoRoute,     ///< a switch has no entry for the LID: it drops
  kNotRead,     ///< the part of a switch's table that decides was not read
  kNoCable,     ///< the table names a port with nothing behind it
  kLinkDown,    ///< … or with a link that is not up, the last hop
  kLoop,        ///< a switch was reached a second time
  kWrongNode,   ///< it ends at an adapter or router that does not have the LID
  kNoSuchPort,  ///< the table names a port that the switch does not have
};
/// "arrived", "no route", …
const char* to_string(PathEnd end);

/// The cables that a packet crosses, and how its path ends.
struct Path {
  std::vector<PathHop> hops;
  PathEnd end = PathEnd::kNotRead;
  NodeIndex node = kNoIndex;     ///< where it ended
  PortIndex way_out = kNoIndex;  ///< the port at which it went wrong, of kNoCable and kLinkDown
  /// True when the packet reaches the port that has the LID.
  bool arrived() const { return end == PathEnd::kArrived; }
};

/// The ports that LIDs belong to, LMC ranges included (vol. 1, 4.1.3). O(ports) to make, O(1) to ask.
class LidOwners {
 public:
  /// Of two ports that claim one LID, the one that is up owns it.
  explicit LidOwners(const Topology& topology);
  /// The port, a switch's port 0, or kNoIndex when nobody has it.
  PortIndex owner(Lid lid) const { return lid.value < owners_.size() ? owners_[lid.value] : kNoIndex; }
  /// From this LID on nobody has any.
  std::size_t end() const { return owners_.size(); }

 private:
  std::vector<PortIndex> owners_;
};

/// Where a packet goes that `from` sends to `to`. `from` is an adapter's port, or any port of a switch, which then
/// stands for the switch itself. Tables are those last read: with adaptive routing a switch may send a packet through
/// another port of the group that the table's port belongs to, which no standard attribute tells.
Path find_path(const Topology& topology, const Routes& routes, PortIndex from, Lid to);

/// One sentence for people: "leaf-3 has no route to LID 17".
std::string describe_end(const Topology& topology, const Path& path, Lid to);

/// LIDs, ascending, that the switch of `egress` sends through that port, of those that somebody has. Empty for a port
/// that is no switch's external one: a host sends everything through it.
std::vector<Lid> destinations_over(const Topology& topology, const Routes& routes, const LidOwners& owners,
                                   PortIndex egress);

}  // namespace weft
