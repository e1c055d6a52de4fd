// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/known_links.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "fabric/sight.hpp"

namespace weft::daemon {

std::vector<NodeGuid> switches_at(std::span<const KnownLink> links) {
  std::vector<NodeGuid> switches;
  for (const KnownLink& link : links) {
    if (link.low.type == NodeType::kSwitch) switches.push_back(link.key.low.node);
    if (link.high.type == NodeType::kSwitch) switches.push_back(link.key.high.node);
  }
  return choose_switches(switches, switches.size());
}

LinkKey own_cable(const Topology& topology, PortKey local_port) {
  const PortIndex own = topology.find_port(local_port);
  const PortIndex peer = own == kNoIndex ? kNoIndex : topology.port(own).peer;
  return peer == kNoIndex ? LinkKey{} : make_link_key(local_port, topology.key_of(peer));
}

bool are_of_subnet(std::span<const KnownLink> links, std::span<const NodeGuid> reached, const LinkKey& own) {
  const auto known = switches_at(links);
  if (are_one_subnet(reached, known)) return true;
  return have_half(reached, known) && own.low.node && std::ranges::any_of(links, [&](const KnownLink& link) {
           return link.key.low.node == own.low.node && link.key.high.node == own.high.node;
         });
}

void add_state(AnalyzerState& state, const AnalyzerState& more) {
  std::set<LinkKey> known;
  for (const KnownLink& link : state.links) known.insert(link.key);
  std::ranges::copy_if(more.links, std::back_inserter(state.links),
                       [&](const KnownLink& link) { return !known.contains(link.key); });
  std::ranges::copy(more.flaps, std::back_inserter(state.flaps));
  std::ranges::copy(more.errors, std::back_inserter(state.errors));
  std::ranges::copy(more.fec_baselines, std::back_inserter(state.fec_baselines));
}

bool MovedLinks::has(const Entity& cause) const {
  if (cause.kind == EntityKind::kLink)
    return std::ranges::find(along, make_link_key(cause.port, cause.peer), &KnownLink::key) != along.end();
  const auto is_of = [&cause](PortKey end) {
    return cause.kind == EntityKind::kNode ? end.node == cause.port.node : end == cause.port;
  };
  if (cause.kind != EntityKind::kNode && cause.kind != EntityKind::kPort) return false;
  if (std::ranges::find(switches, cause.port.node) != switches.end()) return true;
  // A switch that stays may be an end of what goes along.
  return std::ranges::any_of(along, [&](const KnownLink& link) {
    return (link.low.type != NodeType::kSwitch && is_of(link.key.low)) ||
           (link.high.type != NodeType::kSwitch && is_of(link.key.high));
  });
}

MovedLinks moved_links(std::span<const KnownLink> links, std::span<const NodeGuid> found, const Topology& seen) {
  MovedLinks moved;
  const auto is_found = [&](const KnownEnd& end, PortKey key) {
    return end.type == NodeType::kSwitch && has_switch(found, key.node);
  };
  for (const KnownLink& link : links) {
    const bool low = is_found(link.low, link.key.low), high = is_found(link.high, link.key.high);
    if (low) moved.switches.push_back(link.key.low.node);
    if (high) moved.switches.push_back(link.key.high.node);
    const PortKey& other = low ? link.key.high : link.key.low;
    const bool is_switch = (low ? link.high : link.low).type == NodeType::kSwitch;
    if (!low && !high)
      moved.stay.push_back(link);
    else if ((low && high) || (!is_switch && seen.find_node(other.node) != kNoIndex))
      moved.along.push_back(link);
    else if (!is_switch)
      moved.stay.push_back(link);
  }
  return moved;
}

}  // namespace weft::daemon
