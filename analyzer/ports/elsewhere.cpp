// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/elsewhere.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "analyzer/ports/freshness.hpp"
#include "analyzer/ports/link_table.hpp"

namespace weft::analyzer {
namespace {

bool is_up_since(const LinkState& link, TimePoint since) {
  return link.view == LinkView::kUp && link.up_read != kNever && link.up_read >= since;
}

/// A reading counts from when its answer was taken up, by so much after the port was read at most.
constexpr Duration kTakenUpLate = std::chrono::seconds(1);

/// Of a link that is up: it was not there yet when the cable was up where it was before.
bool came_after(const LinkState& link, const LostCable& cable) {
  return link.up_from != kNever && link.up_from + kTakenUpLate > cable.last_up;
}

bool is_switch(const LinkTable& table, NodeId node) {
  return table.nodes()[node].type == NodeType::kSwitch;
}

NodeId other_end(const LinkState& link, NodeId node) {
  return link.low_node == node ? link.high_node : link.low_node;
}

/// A switch that is one of `table`, and not only remembered there.
bool is_switch_of(const LinkTable& table, NodeGuid guid) {
  const NodeId node = table.find_node(guid);
  return node != kNoIndex && std::ranges::any_of(table.links_of(node), [&](LinkId id) {
           const LinkState& link = table.links()[id];
           return link.counts() && is_switch(table, other_end(link, node));
         });
}

bool has_moved(const LinkTable& there, NodeId node, const LostCable& cable, const LinkTable& here) {
  return std::ranges::any_of(there.links_of(node), [&](LinkId id) {
    const LinkState& link = there.links()[id];
    const NodeId other = other_end(link, node);
    return is_up_since(link, cable.since) && came_after(link, cable) && is_switch(there, other) &&
           !is_switch_of(here, there.nodes()[other].guid);
  });
}

/// The cable with one end at a switch that was moved.
Whereabouts with_its_switch(const LinkTable& there, const LostCable& cable, PortKey end, NodeGuid other,
                            const LinkTable& here) {
  if (const NodeId far = here.find_node(other); far != kNoIndex && is_switch(here, far)) return Whereabouts::kLeft;
  if (const LinkId id = there.find_link(cable.key); id != kNoIndex && is_up_since(there.links()[id], cable.since))
    return Whereabouts::kLeft;
  const Topology& topology = *there.topology();
  const PortIndex port = topology.find_port(end);
  const bool is_dead = port != kNoIndex && there.state_fresh(port) && topology.port(port).state == PortState::kDown;
  return is_dead ? Whereabouts::kDeadEnd : Whereabouts::kUnknown;
}

}  // namespace

Whereabouts whereabouts(const LinkTable& there, const LostCable& cable, const LinkTable& here) {
  if (!there.topology()) return Whereabouts::kUnknown;
  Whereabouts found = Whereabouts::kUnknown;
  for (const PortKey& end : {cable.key.low, cable.key.high}) {
    const PortIndex port = there.topology()->find_port(end);
    const LinkId id = port == kNoIndex ? kNoIndex : there.link_at(port);
    if (id == kNoIndex) continue;
    const LinkState& link = there.links()[id];
    if (link.key == cable.key || !is_up_since(link, cable.since)) continue;
    found = std::max(found, came_after(link, cable) ? Whereabouts::kLeft : Whereabouts::kDouble);
  }
  if (found != Whereabouts::kUnknown) return found;
  for (const auto& [end, other] :
       {std::pair(cable.key.low, cable.key.high.node), {cable.key.high, cable.key.low.node}}) {
    const NodeId node = there.find_node(end.node);
    if (node != kNoIndex && is_switch(there, node) && has_moved(there, node, cable, here))
      found = std::max(found, with_its_switch(there, cable, end, other, here));
  }
  return found;
}

bool MovedAdapters::has_left(const FabricView& here, NodeIndex adapter) const {
  const auto left = left_.find(here.name);
  if (left == left_.end() || !left->second) return false;
  const Topology& topology = *here.sweep->topology;
  const Node& node = topology.node(adapter);
  for (PortIndex port = node.first_port; port < node.first_port + node.port_entries(); ++port) {
    const PortKey key = topology.key_of(port);
    if (!std::ranges::binary_search(*left->second, key)) continue;
    const bool is_there = std::ranges::any_of(views_, [&](const FabricView& view) {
      if (view.name == here.name || !view.sweep || !view.sweep->topology || view.sweep->topology->is_ethernet() ||
          is_blind(view))
        return false;
      const Topology& other = *view.sweep->topology;
      const PortIndex at = other.find_port(key);
      const PortIndex peer = at == kNoIndex ? kNoIndex : other.port(at).peer;
      return peer != kNoIndex && other.port(peer).is_up() && other.node_of(other.port(peer)).reachable;
    });
    if (is_there) return true;
  }
  return false;
}

}  // namespace weft::analyzer
