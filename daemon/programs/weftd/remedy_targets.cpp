// SPDX-License-Identifier: Apache-2.0
// Which link or host people mean.

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "analyzer/remedy/candidates.hpp"
#include "api/publication/derived.hpp"
#include "api/publication/find_ports.hpp"
#include "daemon/programs/weftd/remedy_controller.hpp"
#include "fabric/host_names.hpp"

namespace weft::daemon {
namespace {

using analyzer::PlanPtr;

constexpr std::string_view kBetweenEnds = " - ";

bool has_dash(std::string_view text) {
  return text.find(kBetweenEnds) != std::string_view::npos;
}

const Node& node_of(const api::FoundNode& found) {
  return found.fabric->sweep->topology->node(found.node);
}

// One node may be seen in several fabrics: an adapter in two subnets, or all of a subnet that another of our ports
// watches since the first was lost. Of those where that port has a cable, the one that is watched, and whose name plans
// know.
const api::FoundNode& best_of(const std::vector<api::FoundNode>& seen, unsigned number,
                              const std::vector<PlanPtr>& plans) {
  const auto is_known = [&plans](const std::string& fabric) {
    return std::ranges::any_of(plans, [&](const PlanPtr& plan) {
      return (plan->in_force || plan->unresolved || is_under_way(plan->state)) && plan->target.fabric == fabric;
    });
  };
  const auto rank = [&](const api::FoundNode& found) {
    const Topology& topology = *found.fabric->sweep->topology;
    const PortIndex port = topology.find_port({node_of(found).guid, {static_cast<std::uint16_t>(number)}});
    return std::tuple(port != kNoIndex && topology.link_of(port).has_value(), found.fabric->watching,
                      is_known(found.fabric->name));
  };
  return *std::ranges::max_element(seen, {}, rank);
}

std::string name_of(const Topology& topology, PortKey key) {
  const PortIndex port = topology.find_port(key);
  return port == kNoIndex ? to_string(key.node) + " port " + std::to_string(key.port.value)
                          : port_label(topology, port);
}

}  // namespace

Result<Entity> RemedyController::find_target(RemedyAction action, const std::string& text) {
  if (action == RemedyAction::kDrainNode || action == RemedyAction::kUndrainNode) {
    Result<Entity> host = plans_.find_host(text, view());
    if (!host && host.error().code == ErrorCode::kNotFound && api::is_before_first_sweep(seen_))
      return fail(ErrorCode::kFailedPrecondition, api::not_swept_text(text));
    return host;
  }
  return find_link(text);
}

// What a plan holds in a fabric that was not swept yet: the plan knows both ends, by their names of then.
const Entity* RemedyController::find_held(const std::string& text) const {
  const std::string end = api::end_of(text);
  for (const PlanPtr& plan : *shown_) {
    const Entity& link = plan->target;
    if ((!plan->in_force && !plan->unresolved) || link.kind != EntityKind::kLink) continue;
    const bool is_swept = std::ranges::any_of(
        seen_.fabrics, [&link](const FabricView& fabric) { return fabric.name == link.fabric && fabric.sweep; });
    if (is_swept) continue;
    if (same_name(link.label, text)) return &link;
    std::size_t tried = 0;
    for (std::size_t at = link.label.find(kBetweenEnds); at != std::string::npos && tried < api::kMostPartings;
         at = link.label.find(kBetweenEnds, at + 1), ++tried) {
      const std::string near = link.label.substr(0, at), far = link.label.substr(at + kBetweenEnds.size());
      if (same_name(api::end_of(near), end) || same_name(api::end_of(far), end) ||
          same_name(far + std::string(kBetweenEnds) + near, text))
        return &link;
    }
  }
  return nullptr;
}

// One end, or the label of a link as plans and incidents print it, either way round: "leaf-1 port 7 - spine-0 port 3".
// Names of nodes may look like parts of such labels.
Result<Entity> RemedyController::find_link(const std::string& text) const {
  if (const Entity* held = find_held(text)) return *held;
  const Result<LinkEnd> alone = find_end(text);
  // A host is found by what stands before a dot, whatever follows: that is no name with a dash in it.
  if (alone && (!has_dash(text) || has_dash(name_of(*alone->fabric->sweep->topology, alone->end)))) return alone->link;
  std::optional<Error> trouble;
  std::size_t tried = 0;
  for (std::size_t at = text.find(kBetweenEnds); at != std::string::npos && tried < api::kMostPartings;
       at = text.find(kBetweenEnds, at + 1), ++tried) {
    const std::string far_name = text.substr(at + kBetweenEnds.size());
    const Result<LinkEnd> near = find_end(text.substr(0, at));
    if (!near) {
      if (!trouble) trouble = near.error();
      continue;
    }
    const Entity& link = near->link;
    const PortKey far = link.port == near->end ? link.peer : link.port;
    for (const api::FoundPort& found : api::find_ports(seen_, far_name))
      if (found.fabric == near->fabric && found.fabric->sweep->topology->key_of(found.port) == far) return link;
    const Topology& topology = *near->fabric->sweep->topology;
    trouble = Error{ErrorCode::kFailedPrecondition,
                    name_of(topology, near->end) + " is cabled to " + name_of(topology, far) + ", not to " + far_name};
  }
  return tl::unexpected<Error>(trouble ? *trouble : alone.error());
}

Result<RemedyController::LinkEnd> RemedyController::find_end(const std::string& text) const {
  Result<LinkEnd> as_it_is = find_written_end(text);
  const std::string end = api::end_of(text);
  return as_it_is || end == text ? as_it_is : find_written_end(end);
}

Result<RemedyController::LinkEnd> RemedyController::find_written_end(const std::string& text) const {
  // On Ethernet ports go by their names: "leaf01:swp3".
  for (const api::FoundPort& found : api::find_ports(seen_, text)) {
    const Topology& topology = *found.fabric->sweep->topology;
    if (topology.is_ethernet() && topology.link_of(found.port))
      return LinkEnd{analyzer::link_entity(found.fabric->name, topology, found.port), topology.key_of(found.port),
                     found.fabric};
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size())
    return fail(ErrorCode::kInvalidArgument, "'" + text + "' is not a link: name one of its ends as NODE:PORT");
  const std::string name = text.substr(0, colon);
  const auto nodes = api::find_nodes(seen_, name, api::kMostNodes);
  if (nodes.empty())
    return api::is_before_first_sweep(seen_) ? fail(ErrorCode::kFailedPrecondition, api::not_swept_text(name))
                                             : fail(ErrorCode::kNotFound, "no node named '" + name + "'");
  const auto is_another = [&nodes](const api::FoundNode& each) { return node_of(each).guid != node_of(nodes[0]).guid; };
  if (std::ranges::any_of(nodes, is_another))
    return fail(ErrorCode::kInvalidArgument, api::several_nodes_text(name, nodes));
  // Numbers there are our own, and change with the cabling file.
  if (nodes[0].fabric->sweep->topology->is_ethernet())
    return fail(ErrorCode::kNotFound, "no port of '" + name + "' with a cable is named '" + text.substr(colon + 1) +
                                          "': on Ethernet ports have names, as in \"leaf01:swp3\"");
  unsigned number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + colon + 1, end, number);
  if (read.ec != std::errc() || read.ptr != end || number == 0 || number > node_of(nodes[0]).port_count)
    return fail(ErrorCode::kNotFound, api::no_such_port_text(node_of(nodes[0]), text.substr(colon + 1)));
  const PortKey key{node_of(nodes[0]).guid, {static_cast<std::uint16_t>(number)}};
  const FabricView* fabric = best_of(nodes, number, *shown_).fabric;
  const Topology& topology = *fabric->sweep->topology;
  const PortIndex port = topology.find_port(key);
  // A subnet that was discovered while the link was out does not know it; its plan does, by the name that the subnet
  // had then.
  if (port != kNoIndex)
    for (const PlanPtr& plan : *shown_)
      if ((plan->in_force || plan->unresolved) && plan->target.kind == EntityKind::kLink &&
          (plan->target.fabric != fabric->name || !topology.link_of(port)) &&
          (plan->target.port == key || plan->target.peer == key))
        return LinkEnd{plan->target, key, fabric};
  if (port == kNoIndex || !topology.link_of(port))
    return fail(ErrorCode::kNotFound, "no cable was ever seen at '" + text + "'");
  return LinkEnd{analyzer::link_entity(fabric->name, topology, port), key, fabric};
}

}  // namespace weft::daemon
