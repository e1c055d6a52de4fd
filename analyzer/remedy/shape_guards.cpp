// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/shape_guards.hpp"

#include <optional>

#include "analyzer/remedy/live_tree.hpp"
#include "fabric/graph/directed_path.hpp"

namespace weft::analyzer {
namespace {

std::string engine_name(RoutingEngine engine) {
  return std::string("routing engine ") + to_string(engine) + ' ';
}

Verdict judge_torus_2qos(const CabledShape& fabric, PortIndex port) {
  const RingBreaks breaks = ring_breaks(fabric, port);
  if (breaks.twice != kNoIndex)
    return {GuardResult::kRefused, "a ring of " + fabric.topology.node(breaks.twice).name +
                                       " is already in pieces: torus-2QoS refuses to route such a torus"};
  if (!breaks.is_told)
    return {GuardResult::kNeedsPerson,
            "rings of two or four switches are concerned: the cables do not tell which of them torus-2QoS sees"};
  if (breaks.of_own > 1)
    return {GuardResult::kRefused,
            "its ring would be broken at " + std::to_string(breaks.of_own) +
                " places: torus-2QoS routes round one, and refuses a torus with a ring in pieces"};
  return {GuardResult::kPassed,
          "no ring would be broken at more than one place: torus-2QoS routes the long way round "
          "without credit loops"};
}

}  // namespace

Verdict judge_connection(const Topology& topology, PortIndex port) {
  const auto name = [&](PortIndex end) { return topology.node_of(topology.port(end)).name; };
  const std::string ends = name(port) + " and " + name(topology.port(port).peer);
  if (is_bridge(topology, *topology.link_of(port)))
    return {GuardResult::kRefused, ends + " would have no path to each other"};
  return {GuardResult::kPassed, ends + " keep a path to each other, and so do all hosts"};
}

Verdict judge_routing(const CabledShape& fabric, PortIndex port, RoutingEngine engine) {
  constexpr auto kAsk = GuardResult::kNeedsPerson;
  const bool is_torus = fabric.shape.shape == Shape::kTorus;
  const std::string shape = to_string(fabric.shape.shape);
  if (fabric.topology.is_ethernet())
    return {kAsk, "how the switches of an Ethernet " + shape + " route round a link is not known"};
  if (is_torus && engine == RoutingEngine::kTorus2Qos) return judge_torus_2qos(fabric, port);
  if (routes_any_fabric(engine)) {
    const std::string says = engine_name(engine) + "routes any fabric without credit loops" +
                             (engine == RoutingEngine::kNue ? "" : ", as long as its virtual lanes suffice");
    if (!is_torus) return {GuardResult::kPassed, says};
    return {kAsk, says + "; in a torus automation trusts torus-2QoS alone"};
  }
  switch (engine) {
    case RoutingEngine::kUnknown:
      return {kAsk, "the routing engine is not known (remedy.routing_engine): in a " + shape +
                        " it decides whether a way round closes a credit loop"};
    case RoutingEngine::kDor:
      if (is_torus)
        return {GuardResult::kRefused, "a way round breaks the order of dimensions that " + engine_name(engine) +
                                           "is free of credit loops by"};
      [[fallthrough]];
    case RoutingEngine::kMinHop:
    case RoutingEngine::kSssp:
      return {kAsk, engine_name(engine) + "does not keep a " + shape + " free of credit loops"};
    case RoutingEngine::kUpDn:
    case RoutingEngine::kDnUp:
      return {kAsk, engine_name(engine) + "may find no roots in a " + shape + ", and then OpenSM routes with minhop"};
    default:
      return {kAsk, engine_name(engine) + "does not route a " + shape + ": OpenSM then routes with minhop"};
  }
}

Verdict judge_bisection(std::span<const CrossSection> sections, const CapacityLimits& limits) {
  std::optional<std::string> asked;
  std::string kept;
  double least = 2;
  for (const CrossSection& section : sections) {
    const std::uint32_t left = section.kept - std::min(section.kept, 1U);
    const std::uint64_t needed =
        needed_of(section.designed, section.is_busy ? limits.leaf_share_jobs : limits.leaf_share_idle);
    const std::string says = section.name + " would keep " + std::to_string(left) + " of " +
                             std::to_string(section.designed) + "; " + std::to_string(needed) +
                             " are needed (remedy.limits.capacity." +
                             (section.is_busy ? "leaf_share_jobs" : "leaf_share_idle") + ')';
    if (left < needed && !section.has_detour) return {GuardResult::kRefused, says};
    if (left < needed && !asked)
      asked = says + "; there is a detour through other groups: only a person may approve it";
    const double share = static_cast<double>(left) / static_cast<double>(std::max(section.designed, 1U));
    if (share >= least) continue;
    least = share;
    kept = says;
  }
  if (asked) return {GuardResult::kNeedsPerson, *asked};
  return {GuardResult::kPassed, kept};
}

}  // namespace weft::analyzer
