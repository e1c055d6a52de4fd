// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/switch_ends.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "fabric/graph/directed_path.hpp"
#include "fabric/host_names.hpp"
#include "fabric/switch_target.hpp"

namespace weft::analyzer {
namespace {

const Topology* topology_of(const Entity& link, const RemedyView& view) {
  const FabricView* fabric = view.fabric(link.fabric);
  return fabric && fabric->sweep && view.is_ethernet_link(link) ? fabric->sweep->topology.get() : nullptr;
}

/// The gNMI target that is the switch of the port; null: none is.
const SwitchTarget* target_of(const Topology& topology, PortIndex port, const RemedyView& view) {
  const Node& node = topology.node_of(topology.port(port));
  if (!view.switches || node.type != NodeType::kSwitch) return nullptr;
  const auto found = std::ranges::find_if(
      *view.switches, [&node](const SwitchTarget& target) { return same_host(target.name, host_name(node)); });
  return found == view.switches->end() ? nullptr : &*found;
}

/// Cables to other switches.
std::size_t ways_of(const Topology& topology, PortIndex port) {
  std::size_t count = 0;
  for (const Port& each : topology.ports_of(topology.node_of(topology.port(port))))
    if (each.peer != kNoIndex && topology.node_of(topology.port(each.peer)).type == NodeType::kSwitch) ++count;
  return count;
}

std::string switch_name(const Topology& topology, PortIndex port) {
  return std::string(host_name(topology.node_of(topology.port(port))));
}

}  // namespace

std::optional<PortKey> switch_end(const Entity& link, const RemedyView& view) {
  const Topology* const topology = topology_of(link, view);
  if (!topology) return std::nullopt;
  std::optional<PortKey> best;
  std::tuple<bool, std::size_t> best_weight;
  const LinkKey ends = make_link_key(link.port, link.peer);
  for (const PortKey end : {ends.low, ends.high}) {
    const PortIndex port = topology->find_port(end);
    const SwitchTarget* const target = port == kNoIndex ? nullptr : target_of(*topology, port, view);
    if (!target || !target->sets_ports()) continue;
    const std::tuple weight{target->state == SwitchTargetState::kReading, ways_of(*topology, port)};
    if (best && weight <= best_weight) continue;
    best = end;
    best_weight = weight;
  }
  return best;
}

Verdict judge_ethernet_own_path(const Plan& plan, const RemedyView& view, bool is_set_by_us) {
  const auto refused = [](std::string why) { return Verdict{GuardResult::kRefused, std::move(why)}; };
  const Topology* const topology = topology_of(plan.target, view);
  const PortIndex port = topology ? topology->find_port(plan.target.port) : kNoIndex;
  const PortIndex peer = port == kNoIndex ? kNoIndex : topology->port(port).peer;
  if (peer == kNoIndex) return refused("the link is not in the fabric as it was last read");
  bool is_between_switches = true;
  for (const PortIndex end : {port, peer}) {
    const Node& node = topology->node_of(topology->port(end));
    is_between_switches = is_between_switches && node.type == NodeType::kSwitch;
    if (node.type != NodeType::kSwitch && same_host(host_name(node), view.own_host))
      return refused("the link is on weftd's own path into the fabric: " + view.own_host + " is its host");
  }
  if (const auto end = is_set_by_us ? (plan.end ? plan.end : switch_end(plan.target, view)) : std::nullopt) {
    const PortIndex set = topology->find_port(*end);
    const SwitchTarget* const target = set == kNoIndex ? nullptr : target_of(*topology, set, view);
    if (!target || target->state != SwitchTargetState::kReading)
      return refused((target ? target->name : "its switch") +
                     " does not answer by gNMI now: what is shut there could not be enabled again");
  }
  // Of access links the next guard says it.
  if (is_between_switches && is_bridge(*topology, make_link_key(plan.target.port, plan.target.peer)))
    return refused("it is the last path that is up between " + switch_name(*topology, port) + " and " +
                   switch_name(*topology, peer) +
                   ": weftd and collectors may reach one of them, or what is behind it, by this fabric alone");
  const bool is_here = std::ranges::any_of(topology->nodes(), [&view](const Node& node) {
    return node.type != NodeType::kSwitch && same_host(host_name(node), view.own_host);
  });
  return {GuardResult::kPassed, (is_here ? "weftd's host " + view.own_host + ", collectors and switches"
                                         : std::string("collectors and switches")) +
                                    " keep a path to each other without it"};
}

std::string no_switch_end_text(const Entity& link, const RemedyView& view) {
  const Topology* const topology = topology_of(link, view);
  std::array<std::string, 2> names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const PortIndex port = topology ? topology->find_port(i == 0 ? link.port : link.peer) : kNoIndex;
    names[i] = port == kNoIndex ? "its switch" : switch_name(*topology, port);
  }
  return "neither " + names[0] + " nor " + names[1] + " is a switch of gnmi.targets that lets Weft set its ports";
}

}  // namespace weft::analyzer
