// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/capacity_guard.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft::analyzer {
namespace {

// Who has no other way still has the links that are avoided: over them nobody must lose anybody either.
std::optional<Shortfall> find_parted(const GuardInput& in, const Topology& topology, UplinkIndex uplink) {
  LiveTree& tree = *in.tree;
  std::vector<UplinkIndex> avoided;
  for (const PortIndex end : in.shape ? in.shape->avoided : std::span<const PortIndex>()) {
    const UplinkIndex other = tree.tree().uplink_of(end);
    const PortIndex peer = topology.port(end).peer;
    const bool is_way = other != kNoIndex && other != uplink && !tree.is_up(other) && peer != kNoIndex;
    if (!is_way || !topology.port(end).is_up() || !topology.port(peer).is_up()) continue;
    tree.put_back(other);
    avoided.push_back(other);
  }
  if (avoided.empty()) return std::nullopt;
  const bool was_up = tree.is_up(uplink);
  tree.take_out(uplink);
  std::optional<Shortfall> parted = tree.shortfall(uplink);
  if (was_up) tree.put_back(uplink);
  for (const UplinkIndex other : avoided) tree.take_out(other);
  if (parted && parted->guard != Guard::kReachability) parted.reset();
  return parted;
}

std::string routes_today(const RouteReview* routes) {
  if (!routes) return "; the forwarding tables have not been read yet";
  return ", as now for " + std::to_string(routes->destinations) + " of " + std::to_string(routes->known) +
         " checked destinations";
}

std::string what_is_left(Guard guard, const RouteReview* routes, bool ethernet) {
  switch (guard) {
    case Guard::kReachability:
      if (ethernet) return "all leaves keep an up-down path to each other, by the cabling file";
      return "all leaves keep an up-down path to each other; no credit loop, provided that the subnet manager uses "
             "up-down routes only" +
             routes_today(routes);
    case Guard::kLeafCapacity:
      return "all leaves keep their share of uplink paths";
    case Guard::kJobCapacity:
      return "all leaves of one job keep their share of common spines";
    default:
      return "all rails keep their share of uplinks";
  }
}

}  // namespace

std::optional<Shortfall> find_shortfall(const GuardInput& in, const Topology& topology, UplinkIndex uplink) {
  if (const auto& found = in.tree->shortfall_without(uplink)) return found;
  return find_parted(in, topology, uplink);
}

Verdict judge_capacity(Guard guard, const GuardInput& in, const Topology& topology, bool ethernet,
                       const std::optional<Shortfall>& shortfall) {
  const auto refused = [](std::string why) { return Verdict{GuardResult::kRefused, std::move(why)}; };
  if (guard == Guard::kReachability && in.routes && in.routes->turn != kNoIndex)
    return refused("routes turn from down to up at " + topology.node(in.routes->turn).name + " on the path to LID " +
                   std::to_string(in.routes->turn_to.value) +
                   ": only up-down routes are known to be free of credit loops");
  if (guard == Guard::kLeafCapacity && in.outdone) return refused(*in.outdone);
  if (shortfall && shortfall->guard == guard) return refused(describe(*shortfall, in.tree->tree(), topology));
  if (shortfall && shortfall->guard < guard) return {GuardResult::kNotNeeded, "already refused"};
  return {GuardResult::kPassed, what_is_left(guard, in.routes, ethernet)};
}

}  // namespace weft::analyzer
