// SPDX-License-Identifier: Apache-2.0
#include "fabric/graph/path.hpp"

#include <algorithm>

namespace weft {

const char* to_string(PathEnd end) {
  switch (end) {
    case PathEnd::kArrived:
      return "arrived";
    case PathEnd::kNoRoute:
      return "no route";
    case PathEnd::kNotRead:
      return "table not read";
    case PathEnd::kNoCable:
      return "no cable";
    case PathEnd::kLinkDown:
      return "link down";
    case PathEnd::kLoop:
      return "loop";
    case PathEnd::kWrongNode:
      return "wrong node";
    case PathEnd::kNoSuchPort:
      return "no such port";
  }
  return "unknown";
}

LidOwners::LidOwners(const Topology& topology) {
  const auto ports = topology.ports();
  for (PortIndex index = 0; index < ports.size(); ++index) {
    const Port& port = ports[index];
    if (!port.lid.is_unicast()) continue;
    // A switch's external ports carry port 0's LID, if any: port 0 stands for all.
    if (topology.node_of(port).type == NodeType::kSwitch && port.number.value != 0) continue;
    const std::size_t count = std::size_t{1} << std::min<unsigned>(port.lid_mask_control, 7);
    if (owners_.size() < port.lid.value + count) owners_.resize(port.lid.value + count, kNoIndex);
    for (std::size_t i = 0; i < count; ++i) {
      PortIndex& owner = owners_[port.lid.value + i];
      // Of two that claim one LID, as after a change, the one that is up has it.
      if (owner == kNoIndex || (!topology.port(owner).is_up() && port.is_up())) owner = index;
    }
  }
}

namespace {

bool has_lid(const Topology& topology, NodeIndex node, Lid lid) {
  for (const Port& port : topology.ports_of(topology.node(node))) {
    const unsigned span = 1U << std::min<unsigned>(port.lid_mask_control, 7);
    if (port.lid.is_unicast() && lid >= port.lid && lid.value < port.lid.value + span) return true;
  }
  return false;
}

// Takes the cable at `out`; false, with the reason noted, when there is no way.
bool take_cable(const Topology& topology, PortIndex out, Path& path) {
  const Port& port = topology.port(out);
  path.way_out = out;
  if (port.peer == kNoIndex) {
    path.end = PathEnd::kNoCable;
    return false;
  }
  path.hops.push_back({out, port.peer});
  // Of an end out of reach the state is an old one: the other end knows better.
  const auto stopped = [](PortState state) { return state == PortState::kDown || state == PortState::kInitialize; };
  if (stopped(port.state) || stopped(topology.port(port.peer).state)) {
    path.end = PathEnd::kLinkDown;
    return false;
  }
  path.way_out = kNoIndex;
  path.node = topology.port(port.peer).node;
  return true;
}

}  // namespace

Path find_path(const Topology& topology, const Routes& routes, PortIndex from, Lid to) {
  Path path;
  path.node = topology.port(from).node;
  if (has_lid(topology, path.node, to)) {
    path.end = PathEnd::kArrived;
    return path;
  }
  if (topology.node(path.node).type != NodeType::kSwitch && !take_cable(topology, from, path)) return path;
  while (true) {
    const Node& node = topology.node(path.node);
    if (has_lid(topology, path.node, to)) {
      path.end = PathEnd::kArrived;
      return path;
    }
    if (node.type != NodeType::kSwitch) {
      path.end = PathEnd::kWrongNode;
      return path;
    }
    const auto egress = routes.egress(path.node, to);
    if (!egress) {
      path.end = PathEnd::kNotRead;
      return path;
    }
    // Port 0 is the switch itself, and it does not have the LID.
    if (*egress == kNoEgress || egress->value == 0 || egress->value > node.port_count) {
      path.end = *egress == kNoEgress ? PathEnd::kNoRoute
                 : egress->value == 0 ? PathEnd::kWrongNode
                                      : PathEnd::kNoSuchPort;
      return path;
    }
    if (!take_cable(topology, node.first_port + egress->value, path)) return path;
    const auto seen = [&](const PathHop& hop) { return topology.port(hop.from).node == path.node; };
    if (std::ranges::any_of(path.hops, seen)) {
      path.end = PathEnd::kLoop;
      return path;
    }
  }
}

std::string describe_end(const Topology& topology, const Path& path, Lid to) {
  const std::string lid = "LID " + std::to_string(to.value);
  const std::string name = path.node == kNoIndex ? std::string("the path") : topology.node(path.node).name;
  switch (path.end) {
    case PathEnd::kArrived:
      return path.hops.empty() ? name + " has " + lid + " itself" : lid + " is reached at " + name;
    case PathEnd::kNoRoute:
      return name + " has no route to " + lid + " and drops its packets";
    case PathEnd::kNotRead:
      return "the forwarding table of " + name + " was not read yet";
    case PathEnd::kNoCable:
      return "the route to " + lid + " leads to " + port_label(topology, path.way_out) + ", which has no cable";
    case PathEnd::kLinkDown:
      return "the route to " + lid + " leads to " + port_label(topology, path.way_out) + ", whose link is not up";
    case PathEnd::kLoop:
      return "the routes to " + lid + " form a loop: they return to " + name;
    case PathEnd::kWrongNode:
      return "the routes to " + lid + " end at " + name + ", which does not have it";
    case PathEnd::kNoSuchPort:
      return "the table of " + name + " has a nonexistent port for " + lid;
  }
  return {};
}

std::vector<Lid> destinations_over(const Topology& topology, const Routes& routes, const LidOwners& owners,
                                   PortIndex egress) {
  std::vector<Lid> lids;
  const Port& port = topology.port(egress);
  const Routes::Table* table = routes.table(port.node);
  if (!table || port.number.value == 0 || port.number.value > kMostSubnetPorts) return lids;
  for (std::uint16_t number = 0; number < table->blocks.size(); ++number) {
    const RouteBlock* block = routes.block(port.node, number);
    if (!block) continue;
    for (std::size_t i = 0; i < block->size(); ++i) {
      const Lid lid{static_cast<std::uint16_t>(number * kRouteBlockSize + i)};
      if ((*block)[i] == port.number.value && lid <= table->top && owners.owner(lid) != kNoIndex) lids.push_back(lid);
    }
  }
  return lids;
}

}  // namespace weft
