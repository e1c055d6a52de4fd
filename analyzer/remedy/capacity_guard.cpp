// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/capacity_guard.hpp"

#include <string>
#include <utility>

namespace weft::analyzer {
namespace {

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

std::optional<Shortfall> find_shortfall(const GuardInput& in, UplinkIndex uplink) {
  if (const auto& found = in.tree->shortfall_without(uplink)) return found;
  // Who has no other way still has the links that are avoided: over them nobody must lose anybody either. Nor over
  // those that a plan is thought to hold, and that may be the last way all the same.
  for (LiveTree* wider : {in.tree_with_held, in.tree_with_avoided}) {
    if (!wider) continue;
    const auto& parted = wider->shortfall_without(uplink);
    if (parted && parted->guard == Guard::kReachability) return parted;
  }
  return std::nullopt;
}

Verdict judge_capacity(Guard guard, const GuardInput& in, const Topology& topology, bool ethernet,
                       const std::optional<Shortfall>& shortfall) {
  const auto refused = [](std::string why) { return Verdict{GuardResult::kRefused, std::move(why)}; };
  if (guard == Guard::kReachability && in.routes && in.routes->turn != kNoIndex)
    return refused("routes turn from down to up at " + topology.node(in.routes->turn).name + " on the path to LID " +
                   std::to_string(in.routes->turn_to.value) +
                   ": only up-down routes are known to be free of credit loops");
  if (in.outdone && guard == in.outdone->guard) return refused(in.outdone->why);
  if (shortfall && shortfall->guard == guard) return refused(describe(*shortfall, in.tree->tree(), topology));
  if (shortfall && shortfall->guard < guard) return {GuardResult::kNotNeeded, "already refused"};
  return {GuardResult::kPassed, what_is_left(guard, in.routes, ethernet)};
}

}  // namespace weft::analyzer
